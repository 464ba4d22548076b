# SPDX-License-Identifier: GPL-2.0
"""What QEMU itself knows of its devices: where it has put table and PBA, and which accesses it has seen."""

import contextlib
import re
from typing import NamedTuple

REGION = re.compile(r"^ *([0-9a-f]{16})-([0-9a-f]{16}) \(prio -?\d+, (?:i/o|ram|ramd|rom)\): (\S+)", re.MULTILINE)
ACCESS = re.compile(r"memory_region_(ops|subpage)_(read|write) cpu \d+ (?:mr|offset|\S+)? ?\S* addr (0x[0-9a-f]+) "
                    r"value 0x[0-9a-f]+ size (\d+)")
ACCESS_EVENTS = "memory_region_ops_*"


class Structure(NamedTuple):
    """As in the layout of the module, from the other side."""
    bar: int
    offset: int
    bytes: int
    bar_bytes: int


def structures(vm, slot):
    """(table, PBA) of the function at that slot of the first bus, as they are in QEMU's memory map."""
    bars = [region for bus in vm.qmp("query-pci") for device in bus["devices"]
            if bus["bus"] == 0 and device["slot"] == slot for region in device["regions"]
            if region["type"] == "memory" and region["address"] != -1]
    found = {}
    for first, last, name in set(REGION.findall(monitor(vm, "info mtree"))):
        first, last = int(first, 16), int(last, 16)
        for bar in bars:
            if name in ("msix-table", "msix-pba") and 0 <= first - bar["address"] < bar["size"]:
                found[name] = Structure(bar["bar"], first - bar["address"], last - first + 1, bar["size"])
    return found["msix-table"], found["msix-pba"]


def bar_address(vm, slot, bar):
    return next(region["address"] for bus in vm.qmp("query-pci") for device in bus["devices"]
                if bus["bus"] == 0 and device["slot"] == slot for region in device["regions"] if region["bar"] == bar)


def monitor(vm, command):
    return vm.qmp("human-monitor-command", **{"command-line": command}).replace("\r", "")


class Access(NamedTuple):
    kind: str
    address: int
    size: int


class Accesses:
    """Every access to an emulated region while it was entered, by QEMU's own trace."""

    def __init__(self, vm):
        self.vm = vm
        self.seen = []

    def __enter__(self):
        self.begin = self.vm.qemu.serial_log.stat().st_size
        self._trace(True)
        return self

    def __exit__(self, *_):
        with contextlib.suppress(Exception):
            self._trace(False)
        with open(self.vm.qemu.serial_log, "rb") as log:
            log.seek(self.begin)
            text = log.read().decode("utf-8", "replace")
        self.text = text

    def _trace(self, enable):
        self.vm.qmp("trace-event-set-state", name=ACCESS_EVENTS, enable=enable)
