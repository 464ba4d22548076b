#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Does a device on path bounce get to see any address that is not in the pool?

Asked from the host's side: QEMU tells where the rings of the running device are, and what is in them is read from the
guest's memory. (Packed rings are not used on this path, so only split ones are read.) Every buffer that the driver
has handed over has to be in the pool, and so has every indirect table and every buffer in one. For that to be many,
the host holds the disks' requests back.
"""

import contextlib
import struct
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

sys.path[1:1] = [str(Path(__file__).resolve().parents[1] / part) for part in ("", "virtio")]

# pylint: disable=wrong-import-position
import guest
import pool
from lib import build, checks, image, kernels, ktap, vm
from lib.checks import expect

DISK_MIB = 4
POOL_MIB = 64
# Of a disk: one for each CPU.
QUEUES = 2
# In a queue that is busy: a request of 64 KiB has a header, a status, an indirect table, and pages.
FEWEST_BUFFERS = 4
# At which the host serves a held disk, in bytes a second: a request is held for some seconds.
HELD_RATE = 16 << 10
RING_PACKED = "VIRTIO_F_RING_PACKED"

INTERFACES = {
    "modern, split": "disable-legacy=on,packed=off",
    "modern, packed": "disable-legacy=on,packed=on",
    "transitional, split": "disable-legacy=off,packed=off",
    "legacy, split": "disable-legacy=off,disable-modern=on,packed=off",
}


class Target(NamedTuple):
    kind: str
    interface: str
    slot: int

    def ident(self):
        return {"blk": "blk", "net": "nic"}[self.kind] + str(self.slot)

    def arguments(self, home):
        more = INTERFACES[self.interface]
        if self.kind == "net":
            return guest.net(self.slot, more)
        path = home / f"disk{self.slot}"
        path.write_bytes(b"".join(image.random_blocks(DISK_MIB, self.slot)))
        return pool.held_blk(self.slot, path, guest.joined(f"addr={self.slot:#x},num-queues={QUEUES}", more))


TARGETS = [Target(kind, interface, slot) for slot, (kind, interface) in enumerate(
    ((kind, interface) for interface in INTERFACES for kind in ("blk", "net")), start=3)]


# --- virtqueues, as they are in the guest's memory (VIRTIO 1.3, 2.7) ---

class Descriptor(NamedTuple):
    address: int
    length: int
    flags: int
    following: int      # the number of the next descriptor

    def is_indirect(self):
        return bool(self.flags & 4)

    def has_next(self):
        return bool(self.flags & 1)


DESCRIPTOR_SIZE = 16


class Memory:
    """The guest's, read by QEMU."""

    def __init__(self, machine, home):
        self.machine = machine
        self.file = home / "memory"

    def read(self, address, size):
        self.machine.qmp("pmemsave", val=address, size=size, filename=str(self.file))
        return self.file.read_bytes()

    def word(self, address):
        return struct.unpack("<H", self.read(address, 2))[0]

    def table(self, address, count):
        text = self.read(address, count * DESCRIPTOR_SIZE)
        return [Descriptor(*fields) for fields in struct.iter_unpack("<QIHH", text)]


def handed_over(memory, queue):
    """The descriptors that the driver has made available and the device has not used.

    The guest runs on meanwhile, so they are read after what says that they are there.
    """
    size = queue["vring-num"]
    used = memory.word(queue["vring-used"] + 2)
    available = memory.word(queue["vring-avail"] + 2)
    heads = [memory.word(queue["vring-avail"] + 4 + position % size * 2)
             for position in range(used, used + (available - used) % (1 << 16))]
    table = memory.table(queue["vring-desc"], size)
    return [descriptor for head in heads for descriptor in chain(table, head)]


def chain(table, head):
    links = [table[head]]
    while links[-1].has_next():
        links.append(table[links[-1].following])
    return links


class Device:
    """As QEMU sees it."""

    def __init__(self, machine, memory, target):
        self.machine = machine
        self.memory = memory
        self.path = f"/machine/peripheral/{target.ident()}/virtio-backend"

    def has_packed_rings(self):
        status = self.machine.qmp("x-query-virtio-status", path=self.path)
        return any(text.startswith(RING_PACKED) for text in status["guest-features"]["transports"])

    def queues(self):
        """Those that the driver has set up."""
        count = self.machine.qmp("x-query-virtio-status", path=self.path)["num-vqs"]
        queues = [self.machine.qmp("x-query-virtio-queue-status", path=self.path, queue=number)
                  for number in range(count)]
        return [queue for queue in queues if queue["vring-desc"]]

    def parts(self, queue):
        """(what, address, length) of all that the device reads and writes to run the queue."""
        size = queue["vring-num"]
        lengths = {"vring-desc": size * DESCRIPTOR_SIZE, "vring-avail": 6 + 2 * size, "vring-used": 6 + 8 * size}
        return [(f"{part} of queue {queue['queue-index']}", queue[part], length) for part, length in lengths.items()]

    def buffers(self, queue):
        """(what, address, length) of all that the driver has handed over."""
        found = []
        for descriptor in handed_over(self.memory, queue):
            found.append((f"buffer in queue {queue['queue-index']}", descriptor.address, descriptor.length))
            if descriptor.is_indirect():
                found += self.indirect(descriptor)
        return found

    def indirect(self, descriptor):
        table = self.memory.table(descriptor.address, descriptor.length // DESCRIPTOR_SIZE)
        return [("buffer in an indirect table", entry.address, entry.length) for entry in table]


def check_inside(chunks, places):
    outside = [f"{what} at {address:#x}, {length} bytes" for what, address, length in places
               if not any(address in chunk and address + length - 1 in chunk for chunk in chunks)]
    expect("outside of the pool", outside, [])


# --- cases ---

class Bench:
    def __init__(self, machine, home):
        self.machine, self.home = machine, home
        self.memory = Memory(machine, home)

    def handle(self, target):
        if target.kind == "net":
            return guest.Nic(self.machine, target.slot)
        return guest.Disk(self.machine, target.slot, self.home / f"disk{target.slot}")

    def check(self, target, inside=True):
        device = Device(self.machine, self.memory, target)
        expect("packed rings", device.has_packed_rings(), False)
        chunks = pool.chunks(self.machine)
        busy = self.busy_disk if target.kind == "blk" else self.busy_nic
        with busy(target):
            queues = device.queues()
            rings = [part for queue in queues for part in device.parts(queue)]
            buffers = checks.wait_until("buffers are handed over", lambda: self.buffers(target, device, queues))
        ktap.say(f"# {len(queues)} queues, {len(buffers)} buffers")
        if not inside:
            return rings, buffers, chunks
        check_inside(chunks, rings)
        check_inside(chunks, buffers)
        return None

    def buffers(self, target, device, queues):
        """Those of all queues that are to have some; None until they have."""
        wanted = QUEUES if target.kind == "blk" else 1      # of a NIC's queues only the first receives
        found = [device.buffers(queue) for queue in queues[:wanted]]
        enough = len(found) == wanted and all(len(buffers) >= FEWEST_BUFFERS for buffers in found)
        return sum(found, []) if enough else None

    @contextlib.contextmanager
    def busy_disk(self, target):
        """Each CPU, and so each queue, hands a read and a write over; the host sits on all but the first."""
        node = self.handle(target).node()
        pool.hold(self.machine, target.slot, HELD_RATE)
        self.machine.run("".join(
            f"taskset -c {cpu} dd if={node} of=/dev/null bs=64k count=1 skip={cpu} iflag=direct 2>/dev/null &\n"
            f"taskset -c {cpu} dd if=/dev/urandom of={node} bs=64k count=1 seek={4 + cpu} iflag=fullblock "
            f"oflag=direct conv=notrunc 2>/dev/null &\n" for cpu in range(QUEUES)))
        yield
        pool.hold(self.machine, target.slot, pool.NO_LIMIT)
        checks.wait_until("all requests have ended", lambda: not self.machine.run("pidof dd || true").strip())

    @contextlib.contextmanager
    def busy_nic(self, target):
        """An interface that is up has handed over all of its receive buffers."""
        nic = self.handle(target)
        nic.up()
        nic.check_ping()
        yield
        nic.down()


def test(suite, bench):
    machine = bench.machine
    with checks.case(suite, machine, "loaded, all devices bounce"):
        machine.run("modprobe virtio_pci")
        # which does not grow: where it lies is asked before what is in the rings
        expect("insmod says", pool.load(machine, "blk=bounce,net=bounce", pool_mb=POOL_MIB, pool_max_mb=POOL_MIB), "")
        machine.run("modprobe virtio_blk; modprobe virtio_net")
        for target in TARGETS:
            guest.expect_dma(bench.handle(target), state="attached", path="bounce")
    for target in TARGETS:
        with checks.case(suite, machine, f"{target.kind}, {target.interface}: rings and buffers are in the pool"):
            bench.check(target)
            if target.kind == "blk":
                bench.handle(target).check_read(size=DISK_MIB)
    for target in TARGETS[:2]:
        with checks.case(suite, machine, f"{target.kind}, {target.interface}: on path direct they are not"):
            bench.handle(target).choose("direct")
            rings, buffers, chunks = bench.check(target, inside=False)
            for _, address, _ in rings + buffers:
                expect(f"{address:#x} in the pool", any(address in chunk for chunk in chunks), False)


def main():
    suite = ktap.Suite("addresses")
    kernel = kernels.wanted()
    modules = build.build(kernel)
    with contextlib.ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="guest-drivers-")))
        devices = [argument for target in TARGETS for argument in target.arguments(home)]
        machine = stack.enter_context(vm.VM(kernel, devices=devices, kos=modules.values(), name="addresses"))
        test(suite, Bench(machine, home))
    suite.finish()


if __name__ == "__main__":
    main()
