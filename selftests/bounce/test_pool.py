#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Is the pool of path bounce sound: its memory, its parameters, and the DMA operations on top of it?

The pool by itself and the DMA operations are tried by modules in the guest, which say what they found in its log.
The parameters are tried from outside: what is refused leaves every device as it was, in one line.
"""

import os
import random
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

DISK, NIC = 4, 5
DISK_MIB = 8
DEFAULT = 32
# A pool that does not grow, so that it can be filled.
FIXED = 64

# --- the pool and the operations, from inside the guest ---

POOL_SIZES = (4, 6, 32, 200)
ROUNDS = 50000
# The module's parameter fill, and what a NIC's buffers are filled with then.
FILLS = {"auto": "zero", "preserve": "preserve", "none": "none"}
RESULT = re.compile(r"(not )?ok \d+ (.*)")


def seed():
    return int(os.environ.get("SEED") or random.randrange(1, 1 << 31))


def without_name(lines, module):
    return [line.removeprefix(f"{module}: ") for line in lines if "taint" not in line]


def test_pool_alone(suite, machine, mib):
    with checks.case(suite, machine, f"the pool alone, {mib} MiB"):
        log = checks.Log(machine)
        status, said = machine.try_run(f"insmod /ko/vdma_pool_test.ko mib={mib} rounds={ROUNDS} seed={seed()} && "
                                       "rmmod vdma_pool_test", timeout=120)
        lines = without_name(log.lines(), "vdma_pool_test")
        for line in lines:
            ktap.say(f"# {line}")
        expect("insmod", (status, said.strip()), (0, ""))
        expect("the verdict", lines[-1:], ["passed"])


def test_operations(suite, machine, fill):
    """One case for each of the module's, by what it prints."""
    lines = []
    with checks.case(suite, machine, f"fill={fill}: all cases ran"):
        expect("insmod says", pool.load(machine, "net=bounce", fill=fill, pool_mb=FIXED, pool_max_mb=FIXED), "")
        machine.run("modprobe virtio_net")
        guest.expect_dma(guest.Nic(machine, NIC), state="attached", path="bounce")
        log, number = checks.Log(machine), seed()
        ktap.say(f"# seed={number}")
        machine.try_run(f"insmod /ko/vdma_dma_test.ko device={guest.pci_name(NIC)} fill={FILLS[fill]} seed={number}",
                        timeout=200)
        lines = without_name(log.lines(), "vdma_dma_test")
        results = [line for line in lines if RESULT.match(line)]
        expect("the plan", lines[-1:], [f"1..{len(results)}"])
        suite.check(results, "no case ran")
    machine.try_run("rmmod vdma_dma_test")
    with checks.case(suite, machine, f"fill={fill}: unloads"):
        machine.run("rmmod virtio_net && rmmod virtio_dma")
    pass_on(suite, f"fill={fill}: ", lines)


def pass_on(suite, prefix, lines):
    said = []
    for line in lines:
        result = RESULT.match(line)
        if not result:
            said.append(line.removeprefix("# "))
            continue
        with suite.case(prefix + result.group(2)):
            if result.group(1):
                raise ktap.CheckFailed("\n".join(said))
            for text in said:
                ktap.say(f"# {text}")
        said.clear()


# --- parameters ---

# What is written, and how the one line on it ends; memory is that of a guest of 1 GiB.
TOO_SMALL = r"pool_mb=\d+ refused: a pool has 4 MiB or more"
TOO_LARGE = r"pool_mb=\d+ refused: more than three quarters of the guest's \d+ MiB"
NO_NUMBER = r"[`'].*' invalid for parameter [`']pool_mb'"
BAD_PARAMETERS = [
    ("pool_mb", "3", TOO_SMALL),
    ("pool_mb", "900", TOO_LARGE),
    ("pool_mb", "2000", TOO_LARGE),
    ("pool_mb", "8192", TOO_LARGE),
    ("pool_mb", "4294967295", TOO_LARGE),
    ("pool_mb", "-64", NO_NUMBER),
    ("pool_mb", "many", NO_NUMBER),
    ("pool_mb", "64M", NO_NUMBER),
    ("pool_mb", "8G", NO_NUMBER),
    ("pool_mb", "4294967360", NO_NUMBER),
    ("pool_mb", "", NO_NUMBER),
    ("pool_max_mb", "3", TOO_SMALL.replace("pool_mb", "pool_max_mb")),
    ("pool_max_mb", "900", TOO_LARGE.replace("pool_mb", "pool_max_mb")),
    ("pool_max_mb", "4294967295", TOO_LARGE.replace("pool_mb", "pool_max_mb")),
    ("pool_max_mb", "64M", NO_NUMBER.replace("pool_mb", "pool_max_mb")),
    ("fill", "junk", "fill=junk refused: use auto, preserve, zero or none"),
    ("fill", "", "fill= refused: use auto, preserve, zero or none"),
    ("fill", "zero,none", "fill=zero,none refused: use auto, preserve, zero or none"),
]


def test_bad_parameter(suite, machine, disk, bad):
    name, value, wanted = bad
    with checks.case(suite, machine, f"{name}={value!r} is refused, the device is as before"):
        log = checks.Log(machine)
        said = pool.load(machine, "blk=bounce", **{name: value})
        machine.try_run("rmmod virtio_dma")     # so that one failure does not bring others
        suite.check(said, "it was loaded")
        # busybox tries another way to load a module that was refused, so a line may be there twice
        lines = sorted({line for line in log.of_module() if "taint" not in line})
        suite.check(len(lines) == 1, f"the lines on it are {lines}")
        suite.check(re.fullmatch("virtio_dma: " + wanted, lines[0]), f"the line is {lines[0]!r}, want {wanted!r}")
        expect("driver", disk.driver(), "virtio_blk")
        disk.check_read(size=1)


def free_memory(machine):
    """In bytes, with what is only cached given back.

    What CPUs have in their lists of free pages, now and then a whole 4 MiB block, is free, though not "MemFree".
    """
    pages = machine.run("sync; echo 3 > /proc/sys/vm/drop_caches; "
                        "awk '$1 == \"nr_free_pages\" || $1 == \"count:\" { print $2 }' /proc/zoneinfo")
    return sum(map(int, pages.split())) << 12


def test_memory_comes_back(suite, machine, mib, rounds=3):
    """The first round does not count: the kernel keeps some of what it needs then."""
    slack = MIB
    with checks.case(suite, machine, f"unloading gives {mib} MiB back"):
        for number in range(rounds + 1):
            before = free_memory(machine)
            expect("insmod says", pool.load(machine, "blk=bounce", pool_mb=mib), "")
            machine.run("modprobe virtio_blk")
            expect("size of the pool", pool.figures(machine)["size"], mib * MIB)
            taken = before - free_memory(machine)
            suite.check(taken >= mib * MIB - slack, f"only {taken} bytes are taken for a pool of {mib} MiB")
            machine.run("rmmod virtio_blk && rmmod virtio_dma")
            if number == 0:
                start = free_memory(machine)
        lost = start - free_memory(machine)
        ktap.say(f"# {lost} bytes less are free after {rounds} rounds")
        suite.check(lost < slack, f"{lost} bytes did not come back in {rounds} rounds")


def test_without_swiotlb(suite, machine, disk):
    with checks.case(suite, machine, "no SWIOTLB: bounce works"):
        text = machine.run("cat /sys/kernel/debug/swiotlb/io_tlb_nslabs 2>/dev/null || echo 0")
        expect("slots of the kernel's pool", text.strip(), "0")
        log = checks.Log(machine)
        expect("insmod says", pool.load(machine, "blk=bounce"), "")
        machine.run("modprobe virtio_blk")
        guest.expect_dma(disk, state="attached", path="bounce")
        expect_in("log", "\n".join(log.of_module()), f"pool of {DEFAULT} MiB, largest buffer ")
        disk.check_data()
        machine.run("rmmod virtio_blk && rmmod virtio_dma")


def test_half_of_memory(kernel, suite, modules, disk_image):
    """Half of a small guest's memory: either it is had, or the device is refused and works on `off`."""
    with vm.VM(kernel, devices=guest.blk(DISK, disk_image), kos=modules.values(), mem="512M",
               name="pool-512M") as machine:
        disk = guest.Disk(machine, DISK, disk_image)
        with checks.case(suite, machine, "pool_mb=256 in a guest of 512 MiB"):
            machine.run("modprobe virtio_pci")
            expect("insmod says", pool.load(machine, "blk=bounce", pool_mb=256), "")
            machine.run("modprobe virtio_blk")
            if disk.dma()["state"] == "refused":
                expect_in("dma/refused", disk.dma()["refused"], "load virtio_dma with a smaller pool_mb")
                disk.choose("off")
            else:
                expect("size of the pool", pool.figures(machine)["size"], 256 * MIB)
            ktap.say(f"# {disk.dma()['path']}")
            disk.check_data()
        with checks.case(suite, machine, "no memory for the pool: the device is refused, works on `off`"):
            machine.run("rmmod virtio_blk && rmmod virtio_dma")
            test_no_memory(suite, machine, disk)


def test_no_memory(suite, machine, disk):
    """The pool is made when the first device needs it, and something else may have the memory by then."""
    free = free_memory(machine) // MIB
    wanted = 200
    machine.run(f"mkdir -p /tmp/ballast && mount -t tmpfs -o size=100% none /tmp/ballast && "
                f"dd if=/dev/zero of=/tmp/ballast/file bs=1M count={free - wanted // 2} 2>/dev/null")
    log = checks.Log(machine)
    expect("insmod says", pool.load(machine, "blk=bounce", pool_mb=wanted), "")
    machine.run("modprobe virtio_blk")
    guest.expect_dma(disk, state="refused", path="bounce",
                     refused="there is no memory for its pool: load virtio_dma with a smaller pool_mb")
    expect_in("log", "\n".join(log.of_module()), f"no pool of {wanted} MiB: error -12")
    machine.run("rm /tmp/ballast/file; umount /tmp/ballast")
    disk.choose("off")
    disk.check_data()
    suite.check(not machine.run("dmesg | grep -i 'out of memory' || true"), "the kernel killed something")


def main():
    suite = ktap.Suite("pool")
    kernel = kernels.wanted()
    modules = build.build(kernel)
    with image.image(DISK_MIB, seed=DISK) as disk_image:
        with vm.VM(kernel, devices=guest.blk(DISK, disk_image) + guest.net(NIC), kos=modules.values(),
                   name="pool") as machine:
            disk = guest.Disk(machine, DISK, disk_image)
            machine.run("modprobe virtio_pci; modprobe virtio_blk")
            for bad in BAD_PARAMETERS:
                test_bad_parameter(suite, machine, disk, bad)
            machine.run("rmmod virtio_blk")
            test_without_swiotlb(suite, machine, disk)
            test_memory_comes_back(suite, machine, 200)
            for mib in POOL_SIZES:
                test_pool_alone(suite, machine, mib)
            for fill in FILLS:
                test_operations(suite, machine, fill)
        test_half_of_memory(kernel, suite, modules, disk_image)
    suite.finish()


if __name__ == "__main__":
    main()
