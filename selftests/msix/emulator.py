# SPDX-License-Identifier: GPL-2.0
"""What QEMU itself knows of its devices: where it has put table and PBA, and which accesses it has seen."""

import re
from typing import NamedTuple

REGION = re.compile(r"^ *([0-9a-f]{16})-([0-9a-f]{16}) \(prio -?\d+, [^)]*\): (\S+)", re.MULTILINE)
# Not from the beginning of a line: what the guest writes on its console is in between.
ACCESS = re.compile(r"memory_region_ops_(read|write) cpu -?\d+ mr \S+ addr 0x([0-9a-f]+) value \S+ size (\d+)")
ACCESS_EVENTS = "memory_region_ops_*"
# These are not among the events.
UNANSWERED = re.compile(r"Invalid (read|write) at addr 0x([0-9A-F]+), size (\d+)")


class Structure(NamedTuple):
    """The table or the PBA."""
    bar: int
    offset: int
    bytes: int
    bar_bytes: int


class Access(NamedTuple):
    kind: str           # read or write
    address: int
    size: int


def monitor(vm, command):
    return vm.qmp("human-monitor-command", **{"command-line": command}).replace("\r", "")


def bars(vm, slot):
    """{number: addresses} of the memory BARs of the function at that slot of the first bus."""
    bus = next(bus for bus in vm.qmp("query-pci") if bus["bus"] == 0)
    device = next(device for device in bus["devices"] if device["slot"] == slot)
    return {region["bar"]: range(region["address"], region["address"] + region["size"])
            for region in device["regions"] if region["type"] == "memory" and region["address"] != -1}


def structures(vm, slot):
    """(table, PBA) of that function, by QEMU's memory map."""
    found = {}
    for first, last, name in REGION.findall(monitor(vm, "info mtree")):
        first, last = int(first, 16), int(last, 16)
        for bar, addresses in bars(vm, slot).items():
            if name in ("msix-table", "msix-pba") and first in addresses:
                found[name] = Structure(bar, first - addresses.start, last - first + 1, len(addresses))
    return found["msix-table"], found["msix-pba"]


def accesses(pattern, text):
    return [Access(kind, int(address, 16), int(size)) for kind, address, size in pattern.findall(text)]


class Accesses:
    """Every access of the guest to emulated memory and ports while this was entered, by QEMU's own trace."""

    def __init__(self, vm):
        self.vm = vm
        self.log = vm.qemu.serial_log
        self.all = []
        self.unanswered = []    # where no device is, such as in a BAR that is disabled

    def __enter__(self):
        self.begin = self.log.stat().st_size
        monitor(self.vm, f"trace-event {ACCESS_EVENTS} on")
        monitor(self.vm, "log guest_errors")
        return self

    def __exit__(self, *_):
        if self.vm.lost:
            return
        monitor(self.vm, "log none")
        monitor(self.vm, f"trace-event {ACCESS_EVENTS} off")
        text = self.log.read_bytes()[self.begin:].decode("utf-8", "replace").replace("\r", "")
        self.all, self.unanswered = accesses(ACCESS, text), accesses(UNANSWERED, text)

    def to_bars(self, slot):
        """{(BAR, offset, kind, size): count} of those to the BARs of that function."""
        counts = {}
        for bar, addresses in bars(self.vm, slot).items():
            for access in self.all:
                if access.address in addresses:
                    key = (bar, access.address - addresses.start, access.kind, access.size)
                    counts[key] = counts.get(key, 0) + 1
        return counts
