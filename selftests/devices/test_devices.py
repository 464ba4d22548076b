#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Do the device models build without a warning, and does what they stand on do what it says, whatever a client sends?"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

# pylint: disable=wrong-import-position
from lib import child, ktap, vfio_user

FUZZ_MESSAGES = 600000
FUZZ_SEEDS = (1, 2, 3)
DEADLINE = 300
TAP = re.compile(r"(not )?ok \d+ - (.+)")


def run(program, *arguments):
    status, output = child.run(["env", "CMOCKA_MESSAGE_OUTPUT=TAP", str(vfio_user.PROGRAMS / "checked" / program),
                                *map(str, arguments)], timeout=DEADLINE)
    return status, output.splitlines()


def run_unit_tests(suite, program):
    """Each of cmocka's tests is a case of ours; one that ends the program is one too many."""
    status, lines = run(program)
    failed = False
    for line in lines:
        match = TAP.match(line)
        if match:
            with suite.case(f"{program}: {match.group(2)}"):
                failed |= bool(match.group(1))
                suite.check(not match.group(1), "\n".join(lines))
    if status and not failed:
        with suite.case(f"{program}: runs to its end"):
            suite.check(False, "\n".join(lines[-40:]))


def main():
    suite = ktap.Suite("devices")
    with suite.case("the models build"):
        vfio_user.make("all")
    with suite.case("the tests build, with ASan and UBSan"):
        vfio_user.make("tests")
    for source in sorted(vfio_user.SOURCES.glob("tests/*_test.c")):
        run_unit_tests(suite, source.stem)
    for fuzzer in sorted(vfio_user.SOURCES.glob("tests/*fuzz.c")):
        for seed in FUZZ_SEEDS:
            with suite.case(f"{fuzzer.stem}: {FUZZ_MESSAGES} messages, seed {seed}"):
                status, lines = run(fuzzer.stem, FUZZ_MESSAGES, seed)
                suite.check(not status, "\n".join(lines[-40:]))
    suite.finish()


if __name__ == "__main__":
    main()
