# SPDX-License-Identifier: GPL-2.0
"""One virtio device of the guest as virtio_dma shows it: its path, and what proves that the path is in force."""

from typing import NamedTuple

from lib.failure import Failure

ACCESS_PLATFORM = 33
COUNTERS = ("maps", "unmaps", "map_bytes", "map_failures", "allocs", "bounced_to_device", "bounced_from_device")


class PathRefused(Exception):
    """The module will not have this device on this path here; the text is the module's reason."""


class Snapshot(NamedTuple):
    path: str
    state: str
    offered: str        # yes or no: the device has the platform feature
    accepted: bool      # the driver took the platform feature
    counters: dict


class Bounced(NamedTuple):
    """What went through the kernel's bounce pool, by its own tracepoint."""
    hits: int = 0
    bytes: int = 0


class Device:
    def __init__(self, vm, address):
        self.vm = vm
        self.address = address
        self.sysfs = vm.run(f"echo /sys/bus/pci/devices/{address}/virtio*").strip()

    def choose(self, path):
        """Bind the driver again over that path."""
        status, output = self.vm.try_run(f"echo {path} >{self.sysfs}/dma/path")
        if not status:
            return
        reason = self.vm.run("dmesg | grep 'virtio_dma: path' | tail -n 1").strip().partition("virtio_dma: ")[2]
        if "not supported" in output:
            raise PathRefused(reason.partition(" refused: ")[2])
        raise Failure(f"{self.address} does not change to path {path}: {reason or output.strip()}")

    def snapshot(self):
        names = ("dma/path", "dma/state", "dma/offered", "features", *(f"dma/{name}" for name in COUNTERS))
        values = self.vm.run(f"cd {self.sysfs} && cat {' '.join(names)}").split("\n")
        path, state, offered, features, *counters = values[:len(names)]
        return Snapshot(path, state, offered, features[ACCESS_PLATFORM] == "1", dict(zip(COUNTERS, map(int, counters))))


class BounceTrace:
    """Counts what the kernel bounces, for all devices, in a `with` block."""

    EVENT = "/sys/kernel/tracing/events/swiotlb/swiotlb_bounced/enable"
    COUNT = r"""
        awk '/ swiotlb_bounced: / {
            for (i = 1; i <= NF; i++) {
                if ($i == "dev_name:") device = $(i + 1)
                if ($i ~ /^size=/) size = substr($i, 6)
            }
            hits[device]++; bytes[device] += size
        }
        END { for (device in hits) print device, hits[device], bytes[device] }' /sys/kernel/tracing/trace
    """

    def __init__(self, vm):
        self.vm = vm
        self.bounced = {}

    def __enter__(self):
        self.vm.run(f"echo >/sys/kernel/tracing/trace; echo 1 >{self.EVENT}")
        return self

    def __exit__(self, failure, *rest):
        if failure:
            return
        self.vm.run(f"echo 0 >{self.EVENT}")
        for line in self.vm.run(self.COUNT).splitlines():
            device, hits, count = line.split()
            self.bounced[device] = Bounced(int(hits), int(count))

    def of(self, device):
        return self.bounced.get(device.address, Bounced())
