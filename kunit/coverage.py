# SPDX-License-Identifier: GPL-2.0
"""Which lines of the units a run of the suites has executed, by gcov."""

import base64
import json
import re

from lib import build
from lib.failure import Failure

# Percent of all lines that the suites have to run.
WANTED = 90
# Where gcov's data files are in the guest: by the path at which the objects were built.
GUEST_DIR = f"/sys/kernel/debug/gcov{build.MOUNT_POINT}"


def report(kernel, guest, build_dir):
    """Print what of each unit was executed, and the lines that were not; returns a complaint if it is too little."""
    for stale in build_dir.rglob("*.gcda"):
        stale.unlink()
    for name, data in fetch(guest):
        (build_dir / name).write_bytes(data)
    total = covered = 0
    for source, lines in sorted(executed_lines(kernel, build_dir).items()):
        missed = [number for number, count in sorted(lines.items()) if not count]
        total += len(lines)
        covered += len(lines) - len(missed)
        print(f"# coverage {percent(len(lines) - len(missed), len(lines))}  {source:28}"
              f" {'missed: ' + ranges(missed) if missed else ''}".rstrip())
    print(f"# coverage {percent(covered, total)}  all {total} lines")
    return [f"fewer than {WANTED} % of the lines were run"] if 100 * covered < WANTED * total else []


def fetch(guest):
    """The names and contents of the data files of the units, the suites' own left out."""
    found = guest.run(f"cd {GUEST_DIR} && find . -name '*.gcda' -not -path './kunit/*' | "
                      "while read f; do echo \"${f#./}\"; base64 -w 0 \"$f\"; echo; done", timeout=120).splitlines()
    for name, text in zip(found[::2], found[1::2]):
        yield name, base64.b64decode(text)


def executed_lines(kernel, build_dir):
    """Source file -> {line number: how often it was executed}."""
    data_files = [str(path.relative_to(build_dir)) for path in sorted(build_dir.rglob("*.gcda"))]
    script = f"cd {build.MOUNT_POINT} && gcov --stdout --json-format \"$@\""
    status, output = build.run_in_root(kernel, build_dir, ["sh", "-c", script, "sh", *data_files])
    if status:
        raise Failure(f"gcov failed: {output}")
    files = {}
    for line in output.splitlines():
        if not line.startswith("{"):
            continue
        for file in json.loads(line)["files"]:
            source = file["file"].removeprefix(f"{build.MOUNT_POINT}/")
            # Inline functions of headers, the kernel's and ours, are counted in every unit that uses them.
            if re.fullmatch(r"(?!kunit/)[\w/-]+\.c", source):
                lines = files.setdefault(source, {})
                for entry in file["lines"]:
                    number = entry["line_number"]
                    lines[number] = lines.get(number, 0) + entry["count"]
    return files


def percent(part, whole):
    return f"{100 * part / whole:5.1f} %"


def ranges(numbers):
    """[3, 4, 5, 9] as "3-5, 9"."""
    groups = []
    for number in numbers:
        if groups and groups[-1][1] == number - 1:
            groups[-1][1] = number
        else:
            groups.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in groups)
