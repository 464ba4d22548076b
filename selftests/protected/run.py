#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""`make run-protected`: guests that share only a part of their memory, on a machine that protects none.

Three rows: the stock drivers, which fail; path bounce, with its pool in a window; path swiotlb, the kernel's own pool.
Then what was found of secrets in private memory, in what the host can see.
"""

import os
import sys
from pathlib import Path

sys.path[1:1] = [str(Path(__file__).resolve().parents[1] / part) for part in ("", "compare")]

# pylint: disable=wrong-import-position
import disk
import leak
import net
import report
import rig
import row
from layout import HALVES, WINDOW
from lib import accel, build, child, image, kernels, ktap
from lib.failure import Failure
from lib.paths import OUT
from lib.stage import stage
from lib.vm import CommandFailed, GuestLost
from netserver import Netserver

TESTS = disk.TESTS + net.TESTS
SEARCH_COLUMN = 22
# Path, and parameters of the module.
SEARCHES = (("bounce", {"fill": "zero"}), ("bounce", {"fill": "preserve"}), ("swiotlb", {}))


class Run:
    def __init__(self, kernel, modules, accelerator, image_path, port):
        self.kernel, self.modules, self.accelerator = kernel, modules, accelerator
        self.image_path, self.port = image_path, port
        self.files = leak.program(kernel)

    def guest(self, memory):
        return rig.Rig(self.kernel, self.modules, memory, self.image_path, self.port, files=self.files,
                       accel=self.accelerator,
                       serial_log=OUT / "run" / f"protected-{memory.name}.serial.log")

    def stock(self):
        """Returns ({}, {device: how it failed}, {}): a backend that gave up has no memory any more."""
        with stage("off: the stock drivers"), self.guest(WINDOW) as protected:
            return {}, row.fails(protected), {}

    def path(self, path, memory, searches):
        """One row, and the searches in the same guest: (row, [result])."""
        with stage(f"{path}: {memory.what}"), self.guest(memory) as protected:
            protected.load(path)
            figures, evidence = row.works(protected, path, measure=True)
            sent = row.sent(protected)
            results = []
            for parameters in searches:
                protected.unload()
                protected.load(path, **parameters)
                results.append(leak.Leak(protected).search())
            complaints = protected.vm.kernel_complaints()
            if complaints:
                raise Failure("the guest's kernel complained:\n" + "\n".join(complaints))
            return (figures, evidence, sent), results


def main():
    child.exit_on_sigterm()
    out = OUT / "run"
    out.mkdir(parents=True, exist_ok=True)
    kernel = kernels.wanted()
    modules = build.build(kernel)
    rows, results = {}, []
    accelerator = accel.choose(os.environ.get("ACCEL") or "auto", kernel)
    with image.image(disk.image_mib(accelerator), directory=out) as image_path, Netserver() as netserver:
        run = Run(kernel, modules, accelerator, image_path, netserver.port)
        rows["off"] = run.stock()
        for path, memory in (("bounce", WINDOW), ("swiotlb", HALVES)):
            searches = [parameters for name, parameters in SEARCHES if name == path]
            rows[path], found = run.path(path, memory, searches)
            results += found
    print_rows(kernel, rows)
    print_searches(results)


def print_rows(kernel, rows):
    print(f"\n{kernel.release}: a disk and a network card in processes that are sent shared memory only\n")
    print(report.row("path", [test.name for test in TESTS]))
    print(report.row("", [test.unit for test in TESTS]))
    for path, (figures, _, _) in rows.items():
        print(report.row(path, [report.significant(figures[test.name]["value"]) if figures else "fails"
                                for test in TESTS]))
    for what, part in (("what happened", 1), ("what the backends were sent, by /proc/PID/maps", 2)):
        print(f"\n{what}:")
        for path, columns in rows.items():
            for device, text in columns[part].items():
                print(f"  {path:9} {device:5} {text}")


def print_searches(results):
    print("\nsecrets in private memory, and how many pieces of 16 bytes of them were in shared memory at a time:")
    print_search("", [" ".join([path, *(f"{name}={value}" for name, value in parameters.items())])
                      for path, parameters in SEARCHES])
    for source in leak.SOURCES:
        print_search(source, [result.hits[source] for result in results])
    print_search("searched", [f"{result.passes} x {result.searched >> 20} MiB" for result in results])


def print_search(first, cells):
    print(f"  {first:24}" + "".join(f"{cell:>{SEARCH_COLUMN}}" for cell in cells))


if __name__ == "__main__":
    try:
        main()
    except (Failure, GuestLost, CommandFailed, ktap.CheckFailed, OSError) as failure:
        sys.exit(f"make run-protected: {failure}")
    except KeyboardInterrupt:
        sys.exit("\nmake run-protected: interrupted")
