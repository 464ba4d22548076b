#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Runs the KUnit suites on the debug kernel and prints their KTAP; fails on any report of the kernel, too.

SUITE in the environment says which suites run: those that have it in their name. Without it all run.
"""

import argparse
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "selftests"))

# pylint: disable=wrong-import-position
import coverage
from lib import build, child, kernels, vm
from lib.failure import Failure
from lib.paths import OUT

OUT_DIR = OUT / "kunit"
SUITES_DEADLINE = 300
TIME_STAMP = re.compile(r"^\[ *\d+\.\d+\] ")
RESULT = re.compile(r" *(not )?ok \d+")

# The pool of the kernel's SWIOTLB is for the suites that attach path swiotlb, the memory set aside for the windows.
APPEND = "iommu=soft swiotlb=16384 memmap=8M$0x60000000"
# Whatever the task that asks for it allocates may be made to fail, quietly, whether or not it may sleep.
FAULT_INJECTION = """
for fault in failslab fail_page_alloc; do
	echo N >/sys/kernel/debug/$fault/ignore-gfp-wait
	echo 0 >/sys/kernel/debug/$fault/verbose
done
echo 0 >/sys/kernel/debug/fail_page_alloc/min-order
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--coverage", action="store_true", help="print which lines the suites ran")
    arguments = parser.parse_args()
    child.exit_on_sigterm()

    kernel = kernels.debug()
    modules = build.build(kernel, out_dir=OUT_DIR, extra_make_args=["KUNIT=1", "GCOV_PROFILE=y"])
    append = f"{APPEND} kunit.enable=1 kunit.filter_glob=*{os.environ.get('SUITE', '')}*"
    with vm.VM(kernel, append=append, mem="2G", kos=modules.values(), serial_log=OUT_DIR / "serial.log") as guest:
        guest.run(FAULT_INJECTION)
        results = [line for module in modules for line in run_suites(guest, module)]
        complaints = guest.kernel_complaints() + guest.memory_leaks()
        if arguments.coverage:
            complaints += coverage.report(kernel, guest, OUT_DIR / kernel.release)
    conclude(results, complaints)


def run_suites(guest, module):
    """Loads a module of suites; prints, and returns, what the kernel said meanwhile."""
    seen = guest.run("dmesg | wc -l").strip()
    guest.run(f"modprobe {module} && rmmod {module}", timeout=SUITES_DEADLINE)
    lines = [TIME_STAMP.sub("", line) for line in guest.run(f"dmesg | tail -n +{int(seen) + 1}").splitlines()]
    print("\n".join(lines), flush=True)
    return lines


def conclude(results, complaints):
    failed = [line.strip() for line in results if line.lstrip().startswith("not ok")]
    passed = sum(bool(RESULT.match(line)) for line in results) - len(failed)
    if complaints:
        print("\n".join(["complaints, of the kernel's log, of kmemleak, or of coverage:", *complaints]))
    print(f"# results: {passed} ok, {len(failed)} not ok; complaints: {len(complaints) or 'none'}")
    if not passed:
        raise Failure(f"no suite ran: is there one with SUITE={os.environ.get('SUITE')} in its name?")
    if failed or complaints:
        sys.exit(1)


if __name__ == "__main__":
    try:
        main()
    except (Failure, vm.CommandFailed, vm.GuestLost) as failure:
        sys.exit(str(failure))
    except KeyboardInterrupt:
        sys.exit(130)
