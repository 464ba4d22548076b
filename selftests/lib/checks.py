# SPDX-License-Identifier: GPL-2.0
"""Assertions that tell what they got, waiting for what takes its own time, and the log of a guest's kernel."""

import contextlib
import hashlib
import re
import time

from . import ktap


def expect(what, got, want):
    if got != want:
        raise ktap.CheckFailed(f"{what}: got {got!r}, want {want!r}")


def expect_at_least(what, got, least):
    if got < least:
        raise ktap.CheckFailed(f"{what}: got {got}, want {least} or more")


def expect_in(what, text, part):
    if part not in text:
        raise ktap.CheckFailed(f"{what}: no {part!r} in {text!r}")


def wait_until(what, condition, timeout=60):
    """For what the kernel or a driver does in its own time: the first true value of condition()."""
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise ktap.CheckFailed(f"not within {timeout} s: {what}")
        time.sleep(0.1)


@contextlib.contextmanager
def case(suite, vm, name):
    """A case that also fails when the kernel complains meanwhile."""
    with suite.case(name):
        try:
            yield
        except Exception:
            report_complaints(vm)
            raise
        expect("complaints of the kernel", report_complaints(vm), [])


def report_complaints(vm):
    complaints = [] if vm.lost else vm.kernel_complaints()
    for line in complaints:
        ktap.say(f"# kernel: {line}")
    return complaints


class Log:
    """The kernel's messages from now on."""

    def __init__(self, vm):
        self.vm = vm
        self.mark = hashlib.sha256(str(time.monotonic_ns()).encode()).hexdigest()[:16]
        vm.run(f"echo {self.mark} > /dev/kmsg")

    def lines(self):
        """Without their time stamps."""
        text = self.vm.run(f"dmesg | sed '1,/{self.mark}/d'")
        return [re.sub(r"^\[ *[0-9.]+\] ", "", line) for line in text.splitlines()]

    def of_module(self, module="virtio_dma"):
        return [line for line in self.lines() if f"{module}: " in line]
