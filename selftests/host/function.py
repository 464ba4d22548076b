# SPDX-License-Identifier: GPL-2.0
"""A PCI function as the guest has it, by way of our test modules mmio_probe and pba_disk, and of msix_pba."""

import json
from typing import NamedTuple

from lib.checks import expect

from kvm_host import bind

PROBE = "/sys/module/mmio_probe/parameters"
NO_REGISTER = -1


class Place(NamedTuple):
    """A register."""

    bar: int
    offset: int

    def __str__(self):
        return f"BAR {self.bar} {self.offset:#06x}"


class Reads(NamedTuple):
    """What reading a register many times gave."""

    count: int
    ns: int         # for all of them
    value: int      # the last


class Function:
    def __init__(self, guest, name):
        self.guest, self.name = guest, name
        self.run = guest.run
        self.address = guest.addresses[name]
        self.directory = f"/sys/bus/pci/devices/{self.address}"
        lines = self.run(f"cat {self.directory}/resource").splitlines()
        self.bars = [int(line.split()[0], 16) for line in lines]

    def bind(self, driver):
        bind(self.run, self.address, driver)

    def guest_address(self, place):
        """Where the guest accesses it."""
        return self.bars[place.bar] + place.offset

    def read(self, place, count):
        text = self.run(f"echo {self.address} {place.bar} {place.offset:#x} {count} >{PROBE}/read && cat {PROBE}/read")
        count_read, ns, value = text.split()
        expect("reads done", int(count_read), count)
        return Reads(count, int(ns), int(value, 0))

    def write(self, place, value):
        self.run(f"echo {self.address} {place.bar} {place.offset:#x} {value} >{PROBE}/write")

    def mask(self, vector):
        """Behind the driver's back: it still expects interrupts."""
        self.run(f"echo {self.address} {vector} 1 >{PROBE}/mask")

    def unmask(self, vector):
        self.run(f"echo {self.address} {vector} 0 >{PROBE}/mask")

    def interrupts(self):
        """Those of vector 0, of a function with a driver of ours."""
        return int(self.run(f"cat {self.directory}/interrupts"))

    def measure(self, place):
        """What msix_pba says of a page after it has read there: the verdict, and how often it did."""
        report = json.loads(self.run(f"""
            echo bar{place.bar}+{place.offset:#x} >{self.directory}/msix_pba/measure
            cat {self.directory}/msix_pba/json"""))
        measured, = report["measurement"]["places"]
        expect("what msix_pba read", (measured["bar"], measured["offset"]), tuple(place))
        return report["measurement"]["verdict"], measured["reads"]

    def layout(self):
        """Table and PBA as msix_pba sees them."""
        report = json.loads(self.run(f"cat {self.directory}/msix_pba/json"))
        return tuple(Place(report[name]["bar"], report[name]["offset"]) for name in ("table", "pba"))


class Disk(Function):
    """An NVMe disk with our own driver."""

    def __init__(self, guest, name):
        super().__init__(guest, name)
        self.bind("pba_disk")

    def read_blocks(self, count, hot_register=NO_REGISTER):
        """Reads blocks from random places, and that register of BAR 0 in each request; returns the ns for all."""
        text = self.run(f"""
            cd {self.directory}
            echo {hot_register} >hot_register && echo {count} >read_blocks && cat read_blocks""")
        count_read, ns = map(int, text.split())
        expect("blocks read", count_read, count)
        return ns

    def admin_command(self):
        """With one interrupt of vector 0."""
        self.run(f"echo 1 >{self.directory}/admin_command")
