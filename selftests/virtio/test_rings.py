#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Does each path carry data over each kind of virtqueue and each transport that QEMU has?

Virtqueues: split and packed. Transports: PCI modern, transitional (both interfaces, Linux takes the modern one) and
legacy; MMIO modern and legacy. A packed virtqueue needs a modern interface. All PCI devices are in one guest,
and change their path by sysfs; the MMIO devices of each interface are in a guest of their own, and
have their path by a rule for the device's name.
"""

import contextlib
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

# pylint: disable=wrong-import-position
import guest
from lib import build, checks, image, kernels, ktap, vm
from lib.checks import expect

PATHS = ("off", "direct", "platform", "swiotlb", "bounce")
# The paths that run operations of ours.
COUNTED_PATHS = ("direct", "bounce")
COPYING_PATHS = ("swiotlb", "bounce")
VERSION_1 = 32
RING_PACKED = 34
DISK_MIB = 2
SWIOTLB = "iommu=soft swiotlb=32768"
# Before 6.0 the kernel's pool cannot serve one device only; test_attach_contract sees to it that it is refused.
KERNELS_WITHOUT_SWIOTLB = ["5.10"]

TRANSPORTS = {
    "modern": "disable-legacy=on,disable-modern=off",
    "transitional": "disable-legacy=off,disable-modern=off",
    "legacy": "disable-legacy=off,disable-modern=on",
}
RINGS = {
    "split": "packed=off",
    "packed": "packed=on",
}


class Target(NamedTuple):
    """A device under test; its slot is where QEMU has it, and names what is behind it."""
    kind: str           # "blk" or "net"
    ring: str
    transport: str
    slot: int
    path: str = ""      # the one that a rule gives it; "" for one that tries all of them

    def ident(self):
        """The device's id in QEMU."""
        return {"blk": "blk", "net": "nic"}[self.kind] + str(self.slot)


class Bench:
    """A guest and what is behind its devices."""

    def __init__(self, machine, home, echo):
        self.vm = machine
        self.home = home
        self.echo = echo
        self.bounces = guest.Bounces(machine)

    def load(self, bus_driver, rules=None):
        self.vm.run(f"modprobe {bus_driver}")
        expect("insmod says", guest.load(self.vm, rules), "")
        self.vm.run("modprobe virtio_blk; modprobe virtio_net")

    def handle(self, target):
        if target.kind == "net":
            return guest.Nic(self.vm, target.slot)
        return guest.Disk(self.vm, target.slot, image_file(self.home, target))

    def check_path(self, device, dma_device, target, path):
        """The device is on that path, and moves data over it and over no other."""
        before = device.dma()
        expect("path", before["path"], path)
        expect("state", before["state"], "stock" if path == "off" else "attached")
        expect("driver", device.driver(), f"virtio_{target.kind}")
        check_features(device, target, path)
        guest.check_little_data(device, self.echo, DISK_MIB)
        expect("our operations made addresses", device.dma()["maps"] > before["maps"],
               path in COUNTED_PATHS)
        expect("bounced", self.bounces.of(dma_device) > 0, path == "swiotlb")


def check_features(device, target, path):
    """The driver's feature word; that of the device is another."""
    expect("the driver's ACCESS_PLATFORM", device.feature(guest.ACCESS_PLATFORM), path != "off")
    # Where a mapping can fail for want of space the module shows no packed virtqueue: stock drivers lose requests.
    expect("the driver's RING_PACKED", device.feature(RING_PACKED),
           target.ring == "packed" and path not in COPYING_PATHS)
    expect("the driver's VERSION_1", device.feature(VERSION_1), target.transport != "legacy")


def image_file(home, target):
    return home / f"disk{target.slot}"


def make_image(home, target):
    path = image_file(home, target)
    path.write_bytes(b"".join(image.random_blocks(DISK_MIB, seed=target.slot)))
    return path


def possible_paths(kernel, paths):
    return [path for path in paths if path != "swiotlb" or kernel.line not in KERNELS_WITHOUT_SWIOTLB]


# --- PCI ---

PCI_TARGETS = [
    Target(kind, ring, transport, slot) for slot, (transport, ring, kind) in enumerate((
        (transport, ring, kind) for transport in TRANSPORTS for ring in RINGS for kind in ("blk", "net")
        if (transport, ring) != ("legacy", "packed")), start=2)
]


def pci_arguments(home, target):
    more = guest.joined(TRANSPORTS[target.transport], RINGS[target.ring])
    if target.kind == "net":
        return guest.net(target.slot, more)
    return guest.blk(target.slot, make_image(home, target), more)


def test_pci(suite, kernel, modules, home, echo):
    devices = [argument for target in PCI_TARGETS for argument in pci_arguments(home, target)]
    with vm.VM(kernel, devices=devices, append=f"{guest.REGISTERS_READABLE} {SWIOTLB}",
               kos=modules.values(), name="rings-pci") as machine:
        bench = Bench(machine, home, echo)
        with checks.case(suite, machine, "pci: loaded, all devices are routed"):
            bench.load("virtio_pci")
            for target in PCI_TARGETS:
                expect(f"state of slot {target.slot}", bench.handle(target).dma()["state"], "attached")
        for target in PCI_TARGETS:
            for path in possible_paths(kernel, PATHS):
                name = f"pci {target.transport}, {target.ring}, {target.kind}, {path}"
                with checks.case(suite, machine, name):
                    device = bench.handle(target)
                    device.choose(path)
                    bench.check_path(device, guest.pci_name(target.slot), target, path)
                    # A legacy interface has no place for the bit, and an MMIO device does not let the word be read.
                    if target.transport != "legacy":
                        expect("ACCESS_PLATFORM in the device's feature word",
                               guest.device_saw_access_platform(machine, target.slot), False)


# --- MMIO ---

# Only QEMU's microvm has virtio-mmio. It tells the guest of its devices by ACPI. Without KVM there is nothing that the
# guest could measure its TSC against, so we tell it some frequency: its clock may be wrong, but it runs.
MICROVM = "microvm,pic=off,pit=off,rtc=on"
MICROVM_APPEND = f"{SWIOTLB} tsc_early_khz=2000000"
# Where it has the registers of the devices.
MMIO_BASE, MMIO_SIZE = 0xfeb00000, 0x200
MMIO_PATHS = ["direct", "platform", "swiotlb", "bounce"]
MMIO_INTERFACES = {
    # QEMU's switch for all devices, and the virtqueues that they can have
    "legacy": ("on", ["split"]),
    "modern": ("off", ["split", "packed"]),
}


def mmio_targets(interface, kernel):
    rings = MMIO_INTERFACES[interface][1]
    kinds = ((ring, kind, path) for ring in rings for kind in ("blk", "net")
             for path in possible_paths(kernel, MMIO_PATHS))
    return [Target(kind, ring, interface, slot, path) for slot, (ring, kind, path) in enumerate(kinds, start=1)]


def mmio_arguments(home, target):
    more = guest.joined(f"id={target.ident()}", f"bus=virtio-mmio-bus.{target.slot}", RINGS[target.ring])
    if target.kind == "net":
        return guest.netdev(target.slot) + ["-device", f"virtio-net-device,netdev=net{target.slot},{more}"]
    disk = f"disk{target.slot}"
    return guest.backing(disk, make_image(home, target)) + ["-device", f"virtio-blk-device,drive={disk},{more}"]


def mmio_names(machine):
    """What the guest calls the MMIO devices, by slot: the address tells which is which."""
    names = {}
    for line in machine.run("modprobe virtio_mmio; grep LNRO0005 /proc/iomem").splitlines():
        addresses, name = line.strip().split(" : ")
        start = int(addresses.split("-")[0], 16)
        names[(start - MMIO_BASE) // MMIO_SIZE] = name.split()[0]
    return names


def test_mmio(suite, kernel, modules, home, echo, interface):
    targets = mmio_targets(interface, kernel)
    devices = ["-global", f"virtio-mmio.force-legacy={MMIO_INTERFACES[interface][0]}"]
    devices += [argument for target in targets for argument in mmio_arguments(home, target)]
    with vm.VM(kernel, machine=MICROVM, devices=devices, append=MICROVM_APPEND, kos=modules.values(),
               name=f"rings-mmio-{interface}") as machine:
        bench, names = Bench(machine, home, echo), {}
        with checks.case(suite, machine, f"mmio {interface}: load with a rule for each MMIO device"):
            names = mmio_names(machine)
            bench.load("virtio_mmio", ",".join(f"{names[target.slot]}={target.path}" for target in targets))
        for target in targets:
            with checks.case(suite, machine, f"mmio {interface}, {target.ring}, {target.kind}, {target.path}"):
                device = bench.handle(target)
                device.dir = f"/sys/bus/platform/devices/{names[target.slot]}/virtio*"
                expect("reason", device.dma()["reason"], "rule for the device")
                bench.check_path(device, names[target.slot], target, target.path)


def main():
    suite = ktap.Suite("rings")
    kernel = kernels.wanted()
    modules = build.build(kernel)
    with contextlib.ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="guest-drivers-")))
        echo = stack.enter_context(guest.Echo())
        test_pci(suite, kernel, modules, home, echo)
        for interface in MMIO_INTERFACES:
            test_mmio(suite, kernel, modules, home, echo, interface)
    suite.finish()


if __name__ == "__main__":
    main()
