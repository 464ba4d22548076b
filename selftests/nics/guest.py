# SPDX-License-Identifier: GPL-2.0
"""What tests of a network card's driver have in common: cases, loading, traffic, unplugging."""

import contextlib
from pathlib import Path

from lib import build, ktap, vfio_user
from lib.checks import expect, wait_until
from pair import PROGRAMS

HERE = Path(__file__).resolve().parent


def files(kernel):
    """What goes into a guest that tests network cards."""
    ours = {f"/bin/{name}": build.program(kernel, HERE / f"{name}.c") for name in PROGRAMS}
    return {**vfio_user.guest_tools(), **ours}


class Guest:
    """A guest with cards. A case also fails when the kernel complains, or a card reached what it must not."""

    module = ""         # to load; it brings the others

    def __init__(self, suite, vm, models, macs):
        self.suite, self.vm, self.models, self.macs = suite, vm, models, macs
        self.has_complaint = False

    @contextlib.contextmanager
    def case(self, name):
        with self.suite.case(name):
            try:
                yield
            finally:
                for line in [] if self.vm.lost else self.vm.kernel_complaints():
                    ktap.say(f"# kernel: {line}")
                    self.has_complaint = True
            expect("complaints of the kernel", self._take_complaint(), False)
            for model in self.models:
                if model.process.poll() is None:
                    expect(f"accesses of {model.socket.name} to what is not mapped", model.violations(), [])

    def _take_complaint(self):
        had, self.has_complaint = self.has_complaint, False
        return had

    def load(self):
        """Returns the interfaces in the order of the models."""
        self.vm.run(f"modprobe {self.module}", timeout=240)
        by_address = wait_until("all cards have an interface", self._interfaces, 120)
        return [by_address[mac] for mac in self.macs]

    def _interfaces(self):
        by_address = dict(line.split() for line in self.vm.run(
            "for i in /sys/class/net/eth*; do echo $(cat $i/address) ${i##*/}; done").splitlines())
        return by_address if all(mac in by_address for mac in self.macs) else None

    def log(self):
        return self.vm.run("dmesg")

    def device(self, nic):
        """Its PCI address."""
        return nic.run(f"basename $(readlink /sys/class/net/{nic.interface}/device)").strip()

    def interface(self, device):
        return self.vm.run(f"ls /sys/bus/pci/devices/{device}/net").strip()

    def check_traffic(self, pair):
        pair.ping()
        pair.check_tcp()
