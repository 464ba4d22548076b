#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""`make run`: what each DMA path costs on a stock kernel in a guest, against the unmodified driver.

In one boot the devices are bound again over one path after the other, round after round, so that each
figure has its counterpart from a moment before.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

# pylint: disable=wrong-import-position
import disk
import guest
import net
import options as knobs
import page
import proof
import report
from device import BounceTrace, PathRefused
from lib import accel, build, child, image, kernels, qemu
from lib.failure import Failure
from lib.paths import OUT
from lib.stage import stage
from lib.vm import VM, CommandFailed, GuestLost
from netserver import Netserver

TESTS = disk.TESTS + net.TESTS


def main():
    child.exit_on_sigterm()
    options = knobs.from_environment()
    out = OUT / "run"
    out.mkdir(parents=True, exist_ok=True)
    kernel = kernels.kernel(options.line)
    modules = build.build(kernel)
    accelerator = accel.choose(options.accel, kernel)
    with image.image(disk.image_mib(accelerator), directory=out) as disk_image, Netserver() as netserver:
        comparison = Comparison(options, kernel, accelerator, disk_image, netserver.port)
        comparison.run(modules, out / "serial.log")
    print_results(comparison)
    results = comparison.as_json()
    report.write_json(out / "report.json", results)
    page.write(out / "report.html", results)
    print()
    for what, name in (("all figures", "report.json"), ("as a page", "report.html"), ("guest's console", "serial.log")):
        print(f"{what:16} {os.path.relpath(out / name)}")


class Comparison:
    def __init__(self, options, kernel, accelerator, disk_image, port):
        self.options = options
        self.kernel = kernel
        self.accelerator = accelerator
        self.disk_image = disk_image
        self.port = port
        self.rounds = []            # per round {path: {test: figure}}
        self.proofs = []            # per round {path: {device: evidence}}
        self.refused = {}           # path -> {device: the module's reason}

    def run(self, modules, serial_log):
        with stage(f"booting {self.kernel.release}, {self.options.cpus} CPUs, {self.options.mem} MiB"):
            vm = VM(self.kernel, guest.devices(self.options, self.disk_image), guest.append(self.options),
                    f"{self.options.mem}M", self.options.cpus, accel=self.accelerator,
                    kos=modules.values(), serial_log=serial_log)
        with vm:
            self.argv = vm.qemu.argv
            vm.run(guest.load_modules(self.options))
            self.devices = [disk.Disk(vm, self.disk_image), net.Net(vm, self.port)]
            for number in range(self.options.runs):
                paths = rotated(self.options.paths, number)
                with stage(f"round {number + 1} of {self.options.runs}: {', '.join(paths)}"):
                    self.run_round(vm, paths)
            complaints = vm.kernel_complaints()
            if complaints:
                raise Failure("the guest's kernel complained:\n" + "\n".join(complaints))

    def run_round(self, vm, paths):
        figures, proofs = {}, {}
        for path in paths:
            figures[path], proofs[path] = self.run_path(vm, path)
        self.rounds.append(figures)
        self.proofs.append(proofs)

    def run_path(self, vm, path):
        """Returns ({test: figure}, {device: evidence}) for the devices that take the path."""
        willing = [device for device in self.devices if self.bind(device, path)]
        before = {device: device.snapshot() for device in willing}
        with BounceTrace(vm) as trace:
            verified = {device: device.verify() for device in willing}
        figures, evidence = {}, {}
        for device in willing:
            measured, moved = device.measure()
            figures.update(measured)
            after = device.snapshot()
            verified_bytes, must_bounce = verified[device]
            bounced = trace.of(device)
            wrong = proof.objections(path, before[device], after, verified_bytes + moved, bounced, must_bounce)
            if wrong:
                raise Failure(f"{device.name} was not on path {path}: {'; '.join(wrong)}")
            evidence[device.name] = proof.evidence(path, before[device], after, bounced)
        return figures, evidence

    def bind(self, device, path):
        try:
            device.bind(path)
            return True
        except PathRefused as reason:
            self.refused.setdefault(path, {})[device.name] = str(reason)
            device.bind("off")
            return False

    def summary(self):
        return report.summary(TESTS, self.options.paths, self.rounds)

    def as_json(self):
        commands = {test.name: device.command(test)
                    for device, tests in zip(self.devices, (disk.TESTS, net.TESTS)) for test in tests}
        return {
            "when": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
            "options": self.options._asdict(),
            "accelerator": self.accelerator,
            "kernel": self.kernel.release,
            "qemu": qemu_version(),
            "command_line": self.argv,
            "cache_mode": guest.CACHE_MODE,
            "image_mib": disk.image_mib(self.accelerator),
            "commands": commands,
            "units": {test.name: test.unit for test in TESTS},
            "rounds": self.rounds,
            "proofs": self.proofs,
            "refused": self.refused,
            "summary": self.summary(),
        }


def rotated(paths, count):
    """No path is always the first, or always after the same one."""
    count %= len(paths)
    return paths[count:] + paths[:count]


def qemu_version():
    return subprocess.run([qemu.binary(), "--version"], stdout=subprocess.PIPE, text=True,
                          check=True).stdout.splitlines()[0]


def print_results(comparison):
    options = comparison.options
    print(f"\n{comparison.kernel.release}, {comparison.accelerator.upper()}, {options.ring} rings, "
          f"median of {options.runs} rounds; disk cache {guest.CACHE_MODE}\n")
    print(report.table(TESTS, options.paths, comparison.summary()))
    print("\nproof that each row ran on its path (last round):")
    for path in options.paths:
        for device, evidence in comparison.proofs[-1][path].items():
            print(f"  {path:9} {device}: {evidence}")
        for device, reason in comparison.refused.get(path, {}).items():
            print(f"  {path:9} {device}: n/a: {reason}")


if __name__ == "__main__":
    try:
        main()
    except (Failure, GuestLost, CommandFailed, OSError) as failure:
        sys.exit(f"make run: {failure}")
    except KeyboardInterrupt:
        sys.exit("\nmake run: interrupted")
