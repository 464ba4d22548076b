# SPDX-License-Identifier: GPL-2.0
"""A guest to run commands in.

    with VM(kernel, devices=["-device", "virtio-rng-pci"], kos=[modules["virtio_dma"]]) as vm:
        vm.run("modprobe virtio_dma; modprobe virtio_rng")
        assert not vm.kernel_complaints()
"""

import os
import re
import subprocess
import time

from . import accel as accelerator
from . import initramfs
from .failure import Failure
from .kernels import DEBUG_LINE
from .paths import OUT
from .qemu import Qemu, command

# What the kernel says when something is wrong, whoever is to blame.
COMPLAINTS = re.compile("|".join([
    r"BUG:", r"WARNING:", r"Oops:", r"general protection", r"Call Trace", r"hung task", r"blocked for more than",
    r"DMAR:.*[Ff]ault", r"KASAN", r"UBSAN", r"refcount_t", r"scheduling while atomic", r"Bad page",
    r"DMA-API:.*device driver", r"Kernel panic",
]))
# Modules of ours are neither in the kernel's tree (bit 12) nor signed (bit 13); KUnit says that it ran (bit 18).
TAINT_EXPECTED = 1 << 12 | 1 << 13 | 1 << 18
KMEMLEAK = "/sys/kernel/debug/kmemleak"
# kmemleak passes over what was allocated in the last 5 seconds.
KMEMLEAK_AGE = 6
# The exit status of a script that was killed at its timeout.
KILLED = 137


class CommandFailed(Exception):
    def __init__(self, script, status, output):
        self.script, self.status, self.output = script, status, output
        what = "was killed at its timeout" if status == KILLED else f"exited with {status}"
        super().__init__(f"in the guest {shortened(script)!r} {what}: {output.strip()[-2000:]}")


class GuestLost(Exception):
    """The guest is gone or silent; the text ends with the last lines of its serial log."""


class VM:
    BOOT_DEADLINE = 120

    def __init__(self, kernel, devices=(), append="", mem="1G", cpus=2, machine="q35", accel=None,
                 kos=(), files=None, name="guest", serial_log=None, boot_timeout=BOOT_DEADLINE, program=None,
                 cpu=None, stock_modules=()):
        self.kernel = kernel
        self.accel = accelerator.choose(accel or os.environ.get("ACCEL") or "auto", kernel)
        self.lost = None
        self.seen_lines = 0
        self.seen_taint = TAINT_EXPECTED
        argv = command(kernel, self.accel, machine, cpus, mem, append, devices, program, cpu)
        serial_log = serial_log or OUT / "test" / kernel.line / f"{name}.serial.log"
        self.qemu = Qemu(argv, initramfs.image(kernel, kos, files, stock_modules), serial_log)
        try:
            self._answer_of(self.qemu.agent.wait_ready, boot_timeout, waiting_for="boot")
            self._answer_of(self.qemu.qmp.negotiate, waiting_for="QMP greeting")
        except BaseException:
            self.stop()
            raise

    def __enter__(self):
        return self

    def __exit__(self, exception, *_):
        try:
            if self.kernel.line == DEBUG_LINE and not exception and not self.lost:
                leaks = self.memory_leaks()
                if leaks:
                    raise Failure("\n".join(["memory was leaked in the guest:", *leaks]))
        finally:
            self.stop()

    def stop(self):
        self.qemu.stop()

    def run(self, script, timeout=60):
        """The output of a shell script that must succeed."""
        status, output = self.try_run(script, timeout)
        if status:
            raise CommandFailed(script, status, output)
        return output

    def try_run(self, script, timeout=60):
        """Returns (exit status, output) of a shell script; the status is KILLED when it took too long."""
        status, output = self._answer_of(self.qemu.agent.execute, script, timeout,
                                         waiting_for=f"answer to {shortened(script)!r}")
        return status, output.decode("utf-8", "replace")

    def qmp(self, name, **arguments):
        return self._answer_of(self.qemu.qmp.command, name, **arguments, waiting_for=f"answer to QMP {name}")

    def wait_event(self, name, timeout=30, **data):
        """The data of the next QMP event of that name with these values; TimeoutError when none comes."""
        try:
            return self.qemu.qmp.wait_event(name, timeout, **data)
        except EOFError:
            raise self._guest_lost(f"QMP event {name}", 0) from None

    def kernel_complaints(self):
        """What the kernel complained about since the last call; empty when all is well."""
        # Filtered in the guest: a serial line is slow for a whole log.
        taint, lines, *found = self.run(f"""
            dmesg > /run/dmesg
            cat /proc/sys/kernel/tainted
            wc -l < /run/dmesg
            tail -n +{self.seen_lines + 1} /run/dmesg | grep -E '{COMPLAINTS.pattern}'
            true""").splitlines()
        taint, self.seen_lines = int(taint), int(lines)
        if taint & ~self.seen_taint:
            found.append(f"kernel tainted: {taint & ~TAINT_EXPECTED:#x}")
        self.seen_taint |= taint
        return found

    def memory_leaks(self):
        """What kmemleak reports, in its own words; empty when all is well. For the debug kernel only."""
        # It reports what two scans have found unreferenced and unchanged.
        return self.run(f"""
            sleep {KMEMLEAK_AGE}
            echo scan >{KMEMLEAK}
            echo scan >{KMEMLEAK}
            cat {KMEMLEAK}""", timeout=300).splitlines()

    def _answer_of(self, ask, *args, waiting_for, **kwargs):
        if self.lost:
            raise GuestLost(f"guest lost earlier: {self.lost}")
        start = time.monotonic()
        try:
            return ask(*args, **kwargs)
        except (EOFError, TimeoutError, ConnectionError):
            raise self._guest_lost(waiting_for, time.monotonic() - start) from None

    def _guest_lost(self, waiting_for, waited):
        self.lost = f"no {waiting_for} in {waited:.0f} s"
        log = self.qemu.serial_log
        lines = [f"guest {self._how_it_is()}: {self.lost}"]
        complaints = [line for line in self.qemu.serial_lines() if COMPLAINTS.search(line)]
        if complaints:
            lines += ["its last complaints:", *complaints[-5:]]
        lines.append(f"last lines of {log}:")
        return GuestLost("\n".join(lines + (self.qemu.serial_lines()[-15:] or ["(empty)"])))

    def _how_it_is(self):
        try:
            return f"ended (exit status {self.qemu.process.wait(1)} of QEMU)"
        except subprocess.TimeoutExpired:
            return "is silent"


def shortened(script):
    return script if len(script) <= 100 else script[:100] + "..."
