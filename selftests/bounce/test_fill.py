#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Does a read that ends before its buffer does leave the rest of the buffer as it was?

A 9p file system without a cache hands the pages of a program to the device. The device writes as much as the file
has; what the driver copies back is all of the buffer. So what a bounce buffer is filled with first is seen by the
program: its own old bytes (preserve, the policy for 9p), or zeros, which only shows that this test sees a difference.
"""

import sys
import tempfile
from pathlib import Path

sys.path[1:1] = [str(Path(__file__).resolve().parents[1] / part) for part in ("", "virtio")]

# pylint: disable=wrong-import-position
import guest
import pool
from guest import expect_dma
from lib import build, checks, image, kernels, ktap, vm
from lib.checks import expect

SHARE = 4
MOUNT = "/tmp/mnt"
# Large enough for the driver to take the pages as they are, which it does above 1 KiB.
SIZES = (1, 100, 4095, 5000, 70000)
BUFFER = 128 << 10

# Path, policy, and whether the old bytes are kept.
CASES = [
    ("off", "auto", True),
    ("direct", "auto", True),
    ("bounce", "auto", True),
    ("bounce", "preserve", True),
    ("bounce", "zero", False),
]


def make_files(directory):
    for size in SIZES:
        (directory / str(size)).write_bytes(next(image.random_blocks(1, seed=size))[:size])
    (directory / "from-host").write_bytes(next(image.random_blocks(1, seed=1)))


def check_short_read(machine, directory, size, kept):
    said = machine.run(f"/bin/short_read {MOUNT}/{size} {BUFFER} > /tmp/read").strip()
    got = machine.run("sha256sum < /tmp/read").split()[0]
    expect("the file's content", got, image.sha256(directory / str(size)))
    rest = BUFFER - size
    intact = f"read {size}, kept {rest} of {rest}"
    # from 6.8 on the driver hands over no more than the page that the file ends in, so some bytes are kept at any rate
    expect(f"all kept, as {said!r} says", said == intact, kept)


def test_policy(suite, machine, directory, path, fill, kept):
    what = "keeps the old bytes" if kept else "loses them"
    with checks.case(suite, machine, f"9p, {path}, fill={fill}: loaded"):
        expect("insmod says", pool.load(machine, f"9p={path}", fill=fill), "")
        machine.run("modprobe 9pnet_virtio; modprobe 9p")
        device = guest.Device(machine, SHARE)
        expect_dma(device, path=path, state="stock" if path == "off" else "attached")
        guest.check_share(machine, SHARE, directory)
        machine.run(f"mkdir -p {MOUNT}; mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 share{SHARE} {MOUNT}")
    for size in SIZES:
        with checks.case(suite, machine, f"9p, {path}, fill={fill}: a read of {size} bytes {what}"):
            check_short_read(machine, directory, size, kept)
    with checks.case(suite, machine, f"9p, {path}, fill={fill}: unloaded"):
        machine.run(f"umount {MOUNT}; rmmod 9p; rmmod 9pnet_virtio; rmmod virtio_dma")


def main():
    suite = ktap.Suite("fill")
    kernel = kernels.wanted()
    modules = build.build(kernel)
    program = build.program(kernel, Path(__file__).with_name("short_read.c"))
    with tempfile.TemporaryDirectory(prefix="guest-drivers-") as home:
        directory = Path(home)
        make_files(directory)
        with vm.VM(kernel, devices=guest.share(SHARE, directory), kos=modules.values(),
                   files={"/bin/short_read": program}, name="fill") as machine:
            machine.run("modprobe virtio_pci")
            for case in CASES:
                test_policy(suite, machine, directory, *case)
    suite.finish()


if __name__ == "__main__":
    main()
