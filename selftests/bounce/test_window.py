#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Does the pool live in the window that the host names, and nowhere else?

The guest leaves a range of its memory alone (memmap= on its command line). What is no such range is refused, in one
line that says why, and every device is as before.
"""

import re
import sys
from pathlib import Path

sys.path[1:1] = [str(Path(__file__).resolve().parents[1] / part) for part in ("", "virtio")]

# pylint: disable=wrong-import-position
import guest
import pool
from guest import MIB
from lib import build, checks, image, kernels, ktap, vm
from lib.checks import expect, expect_in

DISK, DEVICE = 4, 5
DISK_MIB = 8
MEMORY = 512 * MIB
WINDOW, SIZE = 0x10000000, 128 * MIB
# Set aside, too, but it is more than the guest has.
BEYOND, BEYOND_SIZE = MEMORY, 64 * MIB
SET_ASIDE = f"memmap={SIZE // MIB}M${WINDOW:#x} memmap={BEYOND_SIZE // MIB}M${BEYOND:#x}"
# Where the kernel has the configuration space of QEMU's q35 machine.
ECAM = 0xb0000000
CLAIMED = "virtio_dma pool"

# What is written, and the one line on it.
REFUSED = [
    (dict(pool_phys="0x10000000"), r"pool_phys= refused: a window has both, pool_phys= and pool_size="),
    (dict(pool_size="128M"), r"pool_size= refused: a window has both, pool_phys= and pool_size="),
    (dict(pool_phys="here", pool_size="128M"), r"pool_phys=here refused: no physical address, as 0x30000000 or 768M"),
    (dict(pool_phys="256M", pool_size="all"), r"pool_size=all refused: no number of bytes, as 0x10000000 or 256M"),
    (dict(pool_phys="256M", pool_size="0"), r"pool_size=0 refused: there is nothing in it"),
    (dict(pool_phys="0x10000800", pool_size="64M"), r"it must begin and end at a multiple of 64 KiB and of a page"),
    (dict(pool_phys="256M", pool_size="67108863"), r"it must begin and end at a multiple of 64 KiB and of a page"),
    (dict(pool_phys="0xfffffffffff00000", pool_size="64M"), r"it ends behind the last address of 64 bits"),
    (dict(pool_phys="256M", pool_size="0xfffffffffffff0000"), r"pool_size=\w+ refused: no number of bytes.*"),
    (dict(pool_phys="256M", pool_size="0xffffffffffff0000"), r"it ends behind the last address of 64 bits"),
    (dict(pool_phys="4096T", pool_size="64M"), r"it ends above what this machine can address"),
    (dict(pool_phys="256M", pool_size="1M"), r"a pool has 4 MiB or more|pool_mb=1 refused: a pool has 4 MiB or more"),
    (dict(pool_phys="64M", pool_size="64M"),
     r"the kernel uses memory there: boot with memmap=64M\$0x4000000"),
    (dict(pool_phys=f"{WINDOW:#x}", pool_size="256M"),
     r"the kernel uses memory there: boot with memmap=256M\$0x10000000"),
    (dict(pool_phys="0x0fff0000", pool_size="64M"),
     r"the kernel uses memory there: boot with memmap=65536K\$0xfff0000"),
    (dict(pool_phys=f"{BEYOND:#x}", pool_size="64M"),
     r"there is no memory behind part of it: give the guest more, or name less"),
    (dict(pool_phys=f"{ECAM:#x}", pool_size="64M"),
     r"/proc/iomem shows what else is there: name memory that nothing else has"),
    (dict(pool_phys="256M", pool_size="64M", pool_mb=65), r"pool_mb=65 refused: more than the 64 MiB of its window"),
    (dict(pool_phys="256M", pool_size="64M", pool_mb=3), r"pool_mb=3 refused: a pool has 4 MiB or more"),
]


def expect_refused(suite, machine, disk, parameters, wanted):
    text = " ".join(f"{name}={value}" for name, value in parameters.items())
    with checks.case(suite, machine, f"{text} is refused, the device is as before"):
        log = checks.Log(machine)
        said = pool.load(machine, "blk=bounce", **parameters)
        machine.try_run("rmmod virtio_dma")     # so that one failure does not bring others
        suite.check(said, "it was loaded")
        # busybox tries another way to load a module that was refused, so a line may be there twice
        lines = sorted({line for line in log.of_module() if "taint" not in line})
        suite.check(len(lines) == 1, f"the lines on it are {lines}")
        pattern = rf"virtio_dma: (window of \d+ bytes at \w+ \(pool_phys=, pool_size=\) refused: )?({wanted})"
        suite.check(re.fullmatch(pattern, lines[0]), f"the line is {lines[0]!r}, want {wanted!r}")
        expect("driver", disk.driver(), "virtio_blk")
        suite.check(CLAIMED not in machine.run("cat /proc/iomem"), "what was refused is still claimed")
        disk.check_read(size=1)


def memory_bar(machine, slot):
    """The address of the first memory BAR of a device."""
    lines = machine.run(f"cat /sys/bus/pci/devices/{guest.pci_name(slot)}/resource").splitlines()
    return next(int(line.split()[0], 16) for line in lines if int(line.split()[2], 16) & 0x200)


def test_over_a_device(suite, machine, disk):
    bar = memory_bar(machine, DEVICE) & ~0xffff
    name = guest.pci_name(DEVICE).replace(".", r"\.")
    expect_refused(suite, machine, disk, dict(pool_phys=f"{bar:#x}", pool_size="4M"),
                   rf"PCI device (0000:\w\w:\w\w\.\d|{name}) is there: name memory that nothing else has")


def claims(machine):
    """{range: name} of what /proc/iomem shows of ours."""
    lines = [line.strip().split(" : ") for line in machine.run("cat /proc/iomem").splitlines()]
    return [where for where, name in lines if name == CLAIMED]


def test_pool_in_window(suite, machine, disk, size, **parameters):
    text = " ".join(f"{name}={value}" for name, value in parameters.items()) or "nothing more said"
    with checks.case(suite, machine, f"a pool of {size // MIB} MiB in a window of 64 MiB, {text}"):
        machine.run("rmmod virtio_blk")
        log = checks.Log(machine)
        expect("insmod says", pool.load(machine, "blk=bounce", pool_phys=f"{WINDOW:#x}", pool_size="64M",
                                        **parameters), "")
        expect("claimed", claims(machine), [f"{WINDOW:08x}-{WINDOW + 64 * MIB - 1:08x}"])
        machine.run("modprobe virtio_blk")
        guest.expect_dma(disk, state="attached", path="bounce")
        expect("the pool", pool.chunks(machine), [range(WINDOW, WINDOW + size)])
        expect_in("log", "\n".join(log.of_module()), f"pool of {size // MIB} MiB, largest buffer ")
        disk.check_data()
        suite.check(disk.dma()["bounced_to_device"] > 4 * MIB, "nothing bounced")
        machine.run("rmmod virtio_blk && rmmod virtio_dma")
        expect("claimed after unloading", claims(machine), [])
        machine.run("modprobe virtio_blk")


# --- the window of a platform hook ---

def ultravisor(machine, phys, size):
    """Load the module that plays an Ultravisor; returns what insmod says: '' when it worked."""
    return machine.try_run(f"insmod /ko/virtio_dma_ultravisor.ko window_phys={phys} window_size={size}")[1].strip()


def told(log):
    return "\n".join(log.of_module())


def test_hook(suite, machine, disk, nic):
    with checks.case(suite, machine, "an Ultravisor's hook: all devices bounce, in its window"):
        machine.run("rmmod virtio_blk")
        expect("insmod says", pool.load(machine), "")
        expect("insmod of the hook says", ultravisor(machine, WINDOW, 64 * MIB), "")
        machine.run("modprobe virtio_blk; modprobe virtio_net")
        for device in disk, nic:
            guest.expect_dma(device, state="attached", path="bounce", reason="hook ultravisor")
        expect("the pool", pool.chunks(machine), [range(WINDOW, WINDOW + 64 * MIB)])
        disk.check_data()
        nic.up()
        nic.check_ping()
        nic.down()
    with checks.case(suite, machine, "the window stays the pool's when the hook has gone, and the hook may come again"):
        machine.run("rmmod virtio_dma_ultravisor")
        disk.check_data()
        expect("insmod of the hook says", ultravisor(machine, WINDOW, 64 * MIB), "")
        machine.run("rmmod virtio_dma_ultravisor")
        log = checks.Log(machine)
        suite.check(ultravisor(machine, WINDOW, 32 * MIB), "another window was taken")
        expect_in("log", told(log), "hook ultravisor refused: it wants the pool at 0x10000000, 33554432 bytes, but it "
                                    "is to lie at 0x10000000, 67108864 bytes")
        machine.run("rmmod virtio_blk && rmmod virtio_net && rmmod virtio_dma")
        expect("claimed after unloading", claims(machine), [])


def test_hook_refused(suite, machine, disk):
    with checks.case(suite, machine, "a hook with a window that is the kernel's memory is refused"):
        expect("insmod says", pool.load(machine, "blk=bounce"), "")
        log = checks.Log(machine)
        suite.check(ultravisor(machine, 64 * MIB, 64 * MIB), "it was taken")
        expect_in("log", told(log), "window of 67108864 bytes at 0x4000000 (hook ultravisor) refused: the kernel uses "
                                    "memory there: boot with memmap=64M$0x4000000")
        suite.check(not guest.loaded(machine, "virtio_dma_ultravisor"), "it is loaded")
    with checks.case(suite, machine, "a hook with a window is refused when the pool has been made elsewhere"):
        machine.run("modprobe virtio_blk")
        guest.expect_dma(disk, state="attached", path="bounce")
        log = checks.Log(machine)
        suite.check(ultravisor(machine, WINDOW, 64 * MIB), "it was taken")
        expect_in("log", told(log), "hook ultravisor refused: it wants the pool at 0x10000000, but that is made "
                                    "already; load it before the first device is bounced")
        disk.check_data()
        machine.run("rmmod virtio_blk && rmmod virtio_dma")
    with checks.case(suite, machine, "a hook's window is to be that of the parameters: refused, taken"):
        expect("insmod says", pool.load(machine, pool_phys=WINDOW, pool_size="64M"), "")
        log = checks.Log(machine)
        suite.check(ultravisor(machine, WINDOW + 64 * MIB, 64 * MIB), "it was taken")
        expect_in("log", told(log), "but it is to lie at 0x10000000, 67108864 bytes; load virtio_dma with these, or "
                                    "without pool_phys=")
        expect("insmod of the hook says", ultravisor(machine, WINDOW, 64 * MIB), "")
        machine.run("modprobe virtio_blk")
        guest.expect_dma(disk, state="attached", path="bounce", reason="hook ultravisor")
        disk.check_data()
        machine.run("rmmod virtio_blk; rmmod virtio_dma_ultravisor; rmmod virtio_dma; modprobe virtio_blk")


def main():
    suite = ktap.Suite("window")
    kernel = kernels.wanted()
    modules = build.build(kernel)
    with image.image(DISK_MIB, seed=DISK) as disk_image:
        devices = guest.blk(DISK, disk_image) + guest.net(DEVICE)
        with vm.VM(kernel, devices=devices, kos=modules.values(), mem=f"{MEMORY // MIB}M", append=SET_ASIDE,
                   name="window") as machine:
            disk = guest.Disk(machine, DISK, disk_image)
            machine.run("modprobe virtio_pci; modprobe virtio_blk")
            for parameters, wanted in REFUSED:
                expect_refused(suite, machine, disk, parameters, wanted)
            test_over_a_device(suite, machine, disk)
            test_pool_in_window(suite, machine, disk, 64 * MIB)
            test_pool_in_window(suite, machine, disk, 8 * MIB, pool_mb=8)
            test_hook(suite, machine, disk, guest.Nic(machine, DEVICE))
            test_hook_refused(suite, machine, disk)
    suite.finish()


if __name__ == "__main__":
    main()
