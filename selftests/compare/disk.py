# SPDX-License-Identifier: GPL-2.0
"""The disk: what is written and read to compare paths, and to see that no byte is lost on the way."""

import re
from typing import NamedTuple

import guest
from device import Device
from lib import image
from lib.failure import Failure

# The last of the image: read by the guest and never written; written by the guest and read by the host.
VERIFIED_MIB = 4
DEADLINE = 300


class DdTest(NamedTuple):
    name: str
    block: str
    direction: str      # "write" or "read"
    unit: str = "MB/s"


TESTS = (DdTest("dd write 8M", "8M", "write"), DdTest("dd read 8M", "8M", "read"),
         DdTest("dd write 4K", "4K", "write"), DdTest("dd read 4K", "4K", "read"))
# How many blocks, so that one takes a good part of a second.
COUNTS = {"tcg": {"8M": 32, "4K": 4096}, "kvm": {"8M": 256, "4K": 65536}}
BLOCK_SIZE = {"8M": 8 << 20, "4K": 4 << 10}


def timed_mib(accel):
    return max(COUNTS[accel][block] * size for block, size in BLOCK_SIZE.items()) >> 20


def image_mib(accel):
    return timed_mib(accel) + 2 * VERIFIED_MIB


class Disk(Device):
    name = "disk"

    def __init__(self, vm, image_path):
        super().__init__(vm, guest.DISK_ADDRESS)
        self.image = image_path
        self.counts = COUNTS[vm.accel]
        self.read_area = timed_mib(vm.accel)
        self.write_area = self.read_area + VERIFIED_MIB
        self.node = "/dev/vda"

    def bind(self, path):
        self.choose(path)
        self.vm.run(f"i=0; while ! [ -b {self.node} ]; do i=$((i + 1)); [ $i -lt 100 ] || exit 1; sleep 0.1; done")

    def verify(self):
        """Random data both ways, compared; returns (bytes moved, bytes that a bounce pool must have seen)."""
        read = self.vm.run(f"dd if={self.node} bs=1M skip={self.read_area} count={VERIFIED_MIB} iflag=direct "
                           "2>/dev/null | sha256sum").split()[0]
        self._compare("read", read, self.read_area)
        written = self.vm.run(
            f"dd if=/dev/urandom of=/tmp/data bs=1M count={VERIFIED_MIB} 2>/dev/null; sha256sum /tmp/data; "
            f"dd if=/tmp/data of={self.node} bs=1M seek={self.write_area} oflag=direct 2>/dev/null").split()[0]
        self._compare("written", written, self.write_area)
        moved = 2 * VERIFIED_MIB << 20
        return moved, moved

    def _compare(self, what, checksum, area):
        if image.sha256(self.image, area << 20, VERIFIED_MIB << 20) != checksum:
            raise Failure(f"data corrupted: what the guest has {what} is not what is in the image")

    def command(self, test):
        count = self.counts[test.block]
        # By its path, or busybox's shell would take its own dd, which tells no time.
        if test.direction == "write":
            return f"/bin/dd if=/dev/zero of={self.node} bs={test.block} count={count} oflag=direct"
        return f"/bin/dd if={self.node} of=/dev/null bs={test.block} count={count} iflag=direct"

    def measure(self):
        """Returns ({test name: figure}, bytes moved)."""
        figures, moved = {}, 0
        for test in TESTS:
            output = self.vm.run(f"{self.command(test)} 2>&1", timeout=DEADLINE)
            size, seconds = re.search(r"(\d+) bytes .* copied, ([\d.e-]+) s", output).groups()
            figures[test.name] = {"value": int(size) / float(seconds) / 1e6}
            moved += int(size)
        return figures, moved
