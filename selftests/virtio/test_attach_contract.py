#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Does every device get exactly the paths that the attach contract allows, and do its data arrive?

Each cell of the contract (virtio-dma/policy.c) is a device of its own with a rule of its own, so that what
is refused is refused at probe. There is one guest for each kind of IOMMU domain; it holds all cells of that kind.
"""

import contextlib
import itertools
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

# pylint: disable=wrong-import-position
import guest
from lib import build, checks, image, kernels, ktap, vm
from lib.checks import expect, expect_in

PATHS = ("off", "direct", "platform", "swiotlb", "bounce")
# The paths that run operations of ours, and the counters that these move.
COUNTED_PATHS = ("direct", "bounce")
COUNTERS = ("maps", "unmaps", "map_bytes")
BY_RULE = "rule for the device"
LEFT_ALONE = "left alone: type without a test; name it in a rule to route it"
FIRST_SLOT = 2
DISK_MIB = 2
# On x86 the kernel gives its bounce pool back in a small guest, unless it is told that it is needed.
SWIOTLB = "iommu=soft swiotlb=32768"


class Domain(NamedTuple):
    name: str
    devices: list
    append: str
    group_type: str     # how the type of the guest's IOMMU groups begins; "" where there are no groups


DOMAINS = [
    Domain("none", [], "", ""),
    Domain("identity", ["-device", "intel-iommu"], "intel_iommu=on iommu=pt", "identity"),
    Domain("translated", ["-device", "intel-iommu"], "intel_iommu=on", "DMA"),
]

# What makes QEMU offer VIRTIO_F_ACCESS_PLATFORM or not.
OFFERED = {
    "no": "",
    "yes": guest.OFFERING + ",ats=on",
}

# The cells that are refused, and what the sentence has in it that says why.
REFUSED = {
    # offered, domain, path
    ("no", "translated", "platform"): "IOMMU addresses are not what this device takes",
    ("yes", "translated", "direct"): "an IOMMU translates this device's addresses",
    ("yes", "translated", "swiotlb"): "an IOMMU translates this device's addresses",
    ("yes", "translated", "bounce"): "an IOMMU translates this device's addresses",
}
# Before 6.0 the kernel's pool cannot serve one device only.
KERNELS_WITHOUT_SWIOTLB = ["5.10"]
NO_SWIOTLB = "this kernel's SWIOTLB cannot serve one device only"


class Cell(NamedTuple):
    kind: str           # "blk" or "net"
    offered: str
    path: str
    slot: int

    def refusal(self, domain, kernel):
        """What the sentence has in it that says why the device must be refused; None if it must work."""
        why = REFUSED.get((self.offered, domain.name, self.path))
        if not why and self.path == "swiotlb" and kernel.line in KERNELS_WITHOUT_SWIOTLB:
            return NO_SWIOTLB
        return why


CELLS = [Cell(*cell, slot) for slot, cell in
         enumerate(itertools.product(["blk", "net"], OFFERED, PATHS), FIRST_SLOT)]
# 9p has no rule: what goes round the IOMMU, or does not, must go on doing so.
SHARE_SLOTS = dict(zip(OFFERED, itertools.count(FIRST_SLOT + len(CELLS))))


class Bench:
    """One guest with a device for every cell, and what is behind the devices."""

    def __init__(self, domain, kernel, modules, home, echo):
        self.domain = domain
        self.kernel = kernel
        self.home = home
        self.echo = echo
        arguments = [self._device(cell) for cell in CELLS] + [self._share(offered) for offered in OFFERED]
        # Where SWIOTLB is of no use it must not be asked for: before 6.0 that turns the IOMMU off.
        swiotlb = "" if kernel.line in KERNELS_WITHOUT_SWIOTLB else SWIOTLB
        append = f"{guest.REGISTERS_READABLE} {swiotlb} {domain.append}"
        self.vm = vm.VM(kernel, devices=itertools.chain(domain.devices, *arguments), append=append,
                        kos=modules.values(), name=f"attach_contract-{domain.name}")
        self.bounces = guest.Bounces(self.vm)

    def _device(self, cell):
        if cell.kind == "net":
            return guest.net(cell.slot, OFFERED[cell.offered])
        image_file = self._image_file(cell)
        image_file.write_bytes(random_data(DISK_MIB, cell.slot))
        return guest.blk(cell.slot, image_file, OFFERED[cell.offered])

    def _image_file(self, cell):
        return self.home / f"disk{cell.slot}"

    def _share(self, offered):
        slot = SHARE_SLOTS[offered]
        directory = self.share_directory(offered)
        directory.mkdir()
        (directory / "from-host").write_bytes(random_data(1, slot))
        return guest.share(slot, directory, OFFERED[offered])

    def share_directory(self, offered):
        return self.home / f"share{SHARE_SLOTS[offered]}"

    def load(self):
        rules = ",".join(f"{guest.pci_name(cell.slot)}={cell.path}" for cell in CELLS)
        self.vm.run("modprobe virtio_pci")
        expect("insmod says", guest.load(self.vm, rules), "")
        expect("virtio_dma is loaded", guest.loaded(self.vm), True)
        self.vm.run("modprobe virtio_blk; modprobe virtio_net; modprobe 9pnet_virtio; modprobe 9p")

    def handle(self, cell):
        if cell.kind == "net":
            return guest.Nic(self.vm, cell.slot)
        return guest.Disk(self.vm, cell.slot, self._image_file(cell))

    def check_domain(self, slot):
        """Is the device in the column of the contract that is meant?"""
        group = f"/sys/bus/pci/devices/{guest.pci_name(slot)}/iommu_group"
        group_type = self.vm.run(f"[ ! -e {group} ] || cat {group}/type").strip()
        wanted = self.domain.group_type
        expect("type of the IOMMU group", group_type[:len(wanted) or None], wanted)


def random_data(mib, seed):
    return b"".join(image.random_blocks(mib, seed))


def check_works(bench, cell, path, reason):
    """The device moves data on that path, and what moves them is what should."""
    device = bench.handle(cell)
    before = device.dma()
    expect_files(before, path=path, state="stock" if path == "off" else "attached", reason=reason, refused="",
                 offered=cell.offered)
    expect("driver", device.driver(), f"virtio_{cell.kind}")
    expect("the driver's ACCESS_PLATFORM", device.feature(guest.ACCESS_PLATFORM),
           cell.offered == "yes" or path != "off")
    guest.check_little_data(device, bench.echo, DISK_MIB)
    after = device.dma()
    moved = {name for name in COUNTERS if after[name] > before[name]}
    expect("counters that moved", moved, set(COUNTERS) if path in COUNTED_PATHS else set())
    expect("failed mappings", after["map_failures"], 0)
    expect("bounced", bench.bounces.of(guest.pci_name(cell.slot)) > 0, path == "swiotlb")
    check_device_saw(bench, cell, cell.offered == "yes")


def check_refused(bench, cell, why):
    device = bench.handle(cell)
    files = device.dma()
    expect_files(files, path=cell.path, state="refused", reason=BY_RULE, offered=cell.offered)
    expect_in("refused", files["refused"], why)
    expect_in("dmesg", bench.vm.run("dmesg | grep 'virtio_dma: path .* refused'"),
              f"{device.name()}: virtio_dma: path {cell.path} refused: {files['refused']}")
    # What the device was told is no question here: its register still has what the firmware's disk driver wrote.
    expect("driver", device.driver(), "")

    device.choose("off")
    check_works(bench, cell, "off", "sysfs")


def expect_files(files, **wanted):
    expect("dma/", {name: files[name] for name in wanted}, wanted)


def check_device_saw(bench, cell, wanted):
    expect("ACCESS_PLATFORM in the device's feature word",
           guest.device_saw_access_platform(bench.vm, cell.slot), wanted)


def check_share_left_alone(bench, offered):
    slot = SHARE_SLOTS[offered]
    device = guest.Device(bench.vm, slot)
    bench.check_domain(slot)
    expect_files(device.dma(), path="off", state="stock", offered=offered, reason=LEFT_ALONE)
    expect("the driver's ACCESS_PLATFORM", device.feature(guest.ACCESS_PLATFORM), offered == "yes")
    guest.check_share(bench.vm, slot, bench.share_directory(offered))


def test_domain(suite, bench):
    with checks.case(suite, bench.vm, f"{bench.domain.name}: load with a rule for every device"):
        bench.load()
    for cell in CELLS:
        with checks.case(suite, bench.vm, f"{bench.domain.name}: {cell.kind}, offered {cell.offered}, {cell.path}"):
            bench.check_domain(cell.slot)
            why = cell.refusal(bench.domain, bench.kernel)
            if why:
                check_refused(bench, cell, why)
            else:
                check_works(bench, cell, cell.path, BY_RULE)
    for offered in OFFERED:
        with checks.case(suite, bench.vm, f"{bench.domain.name}: 9p, offered {offered}, no rule"):
            check_share_left_alone(bench, offered)


def main():
    suite = ktap.Suite("attach_contract")
    kernel = kernels.wanted()
    modules = build.build(kernel)
    for domain in DOMAINS:
        with contextlib.ExitStack() as stack:
            home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="guest-drivers-")))
            echo = stack.enter_context(guest.Echo())
            bench = Bench(domain, kernel, modules, home, echo)
            stack.enter_context(bench.vm)
            test_domain(suite, bench)
    suite.finish()


if __name__ == "__main__":
    main()
