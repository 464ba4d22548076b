#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Does all that a device can ask for get through a pool, however small, and what if several ask for it all?

The smallest pool that can be had serves three disks and a NIC. Requests of every size end, with the right data; none is
tried again for ever. A device that saturates the pool neither stops the others nor is it lost itself, and whatever
happens, the pool is as empty as before when its users are gone.
"""

import contextlib
import re
import sys
from pathlib import Path

sys.path[1:1] = [str(Path(__file__).resolve().parents[1] / part) for part in ("", "virtio")]

# pylint: disable=wrong-import-position
import guest
import pool
from guest import MIB, expect_dma
from lib import build, checks, image, kernels, ktap, vm
from lib.checks import expect

DISK, OTHER_DISK, NIC, PLUGGED_DISK = 4, 5, 6, 7
DISK_MIB = 16
SMALLEST, DEFAULT = 4, 32
BYTES = {"16k": 16 << 10, "64k": 64 << 10, "256k": 256 << 10, "512k": 512 << 10, "1M": MIB, "8M": 8 * MIB}
# How many blocks of each size are moved.
BLOCKS = {"16k": 32, "64k": 32, "256k": 16, "512k": 8, "1M": 4, "8M": 2}
# Of these one request at most is on its way for one dd.
SINGLE_BLOCKS = {block: count for block, count in BLOCKS.items() if BYTES[block] <= MIB}
LARGEST_BLOCK = {"8M": 2}
FEW_BLOCKS = {"64k": 16}
PATHS = ("off", "direct", "platform", "bounce")
# What has not ended by then is being tried again for ever.
DEADLINE = 90
SHARED_OUT, FULL = "the device has its share of the bounce pool", "the bounce pool is full"
FAILURE = re.compile(f"virtio-pci (\\S+): virtio_dma: ({SHARED_OUT}|{FULL}): "
                     r"wanted (\d+) bytes, free (\d+) of (\d+), largest run (\d+); raise pool_max_mb \(now (\d+)\)")
# At which the host serves a disk that it is to hold back, in bytes a second.
HELD_RATE = 1 * MIB
# Reads of 1 MiB each that a held disk is asked for.
JOBS = 8
HOOK_BOUNCE, HOOK_BLK = 5, 2     # of enum virtio_dma_path; of the virtio device types


class Bench:
    """A guest with its devices."""

    def __init__(self, suite, machine, images, echo):
        self.suite, self.vm, self.echo = suite, machine, echo
        self.disk = guest.Disk(machine, DISK, images[DISK])
        self.other = guest.Disk(machine, OTHER_DISK, images[OTHER_DISK])
        self.plugged = guest.Disk(machine, PLUGGED_DISK, images[PLUGGED_DISK], behind_port=True)
        self.nic = guest.Nic(machine, NIC)

    def case(self, name):
        return checks.case(self.suite, self.vm, name)

    def load(self, rules="blk=bounce,net=bounce", **parameters):
        expect("insmod says", pool.load(self.vm, rules, **parameters), "")
        self.load_drivers()

    def load_drivers(self):
        self.vm.run("modprobe virtio_blk; modprobe virtio_net")

    def unload(self):
        self.vm.run("rmmod virtio_blk; rmmod virtio_net; rmmod virtio_dma")

    def expect_no_failure(self, devices, counter="map_failures"):
        for device in devices:
            expect(f"{counter} of {device.name()}", device.dma()[counter], 0)


def transfer(bench, disk, blocks):
    """A script that writes and reads data with every block size; it prints a checksum of what it read for each."""
    data, node = f"/tmp/data-{disk.slot}", disk.node()
    bench.vm.run(f"head -c {DISK_MIB * MIB} /dev/urandom > {data}")
    return "".join(f"""
        dd if={data} of={node} bs={block} count={count} oflag=direct conv=fsync,notrunc 2>/dev/null || echo failed
        dd if={node} bs={block} count={count} iflag=direct 2>/dev/null | sha256sum | cut -d ' ' -f 1
        """ for block, count in blocks.items())


def expect_transferred(bench, disk, sums, blocks):
    """With the script's output: all arrived, and is on the host."""
    wanted = bench.vm.run("".join(f"dd if=/tmp/data-{disk.slot} bs={block} count={count} 2>/dev/null | sha256sum\n"
                                  for block, count in blocks.items())).split()[::2]
    expect(f"data read from {disk.node()} in blocks of {', '.join(blocks)}", sums.split(), wanted)
    block, count = list(blocks.items())[-1]
    size = count * BYTES[block]
    expect(f"data in the image of {disk.node()}", image.sha256(disk.path, 0, size), wanted[-1])


@contextlib.contextmanager
def traffic(bench):
    """Data go to the host and back all the while, and are compared."""
    bench.nic.up()
    bench.vm.run(f"""rm -f /tmp/end /tmp/tcp
        (while [ ! -e /tmp/end ]; do
            head -c 300000 /dev/urandom > /tmp/sent
            nc -w 60 10.0.{NIC}.2 {bench.echo.port} < /tmp/sent > /tmp/received
            cmp /tmp/sent /tmp/received && echo same
        done > /tmp/tcp 2>&1; touch /tmp/ended) &""")
    try:
        yield
    finally:
        bench.vm.run("touch /tmp/end")
    checks.wait_until("the last transfer", lambda: not bench.vm.try_run("rm /tmp/ended 2>/dev/null")[0], DEADLINE)
    said = bench.vm.run("cat /tmp/tcp").split("\n")[:-1]
    bench.nic.down()
    ktap.say(f"# {len(said)} transfers over TCP meanwhile")
    expect("outcomes of transfers over TCP", set(said), {"same"})


def failures(*devices):
    """How often the pool had nothing for them, or for one that had its share."""
    counters = [device.dma() for device in devices]
    return sum(files["failures_full"] + files["failures_over_share"] for files in counters)


def failures_told(log):
    """(device, why, bytes wanted, free, size, largest run, pool_max_mb) of each line on them."""
    matches = filter(None, map(FAILURE.search, log.lines()))
    return [match.groups()[:2] + tuple(map(int, match.groups()[2:])) for match in matches]


# --- sizes and limits ---

def test_limits(bench, mib):
    """The largest request needs no more than a quarter of the pool."""
    with bench.case(f"{mib} MiB: the limits of the disks' queues"):
        for disk in bench.disk, bench.other:
            queue = f"{disk.dir}/block/*/queue"
            segments, size, _, _ = limits = list(map(int, bench.vm.run(
                f"cd {queue} && cat max_segments max_segment_size max_sectors_kb max_hw_sectors_kb").split()))
            ktap.say("# max_segments {}, max_segment_size {}, max_sectors_kb {}, max_hw_sectors_kb {}".format(*limits))
            bench.suite.check(64 << 10 <= segments * size <= mib * MIB // 4, f"{segments} segments of {size} bytes")


def test_every_size(bench, mib):
    with bench.case(f"{mib} MiB: one disk, every size of block, data compared"):
        log = checks.Log(bench.vm)
        pool.reset(bench.disk)
        sums = bench.vm.run(transfer(bench, bench.disk, SINGLE_BLOCKS), timeout=DEADLINE)
        expect_transferred(bench, bench.disk, sums, SINGLE_BLOCKS)
        expect("lines of the module", log.of_module(), [])
        bench.expect_no_failure([bench.disk])


def test_requests_at_once(bench, mib):
    with bench.case(f"{mib} MiB: two disks at once and TCP, every size of block, data compared"):
        with traffic(bench):
            both_disks(bench, BLOCKS)
        bench.expect_no_failure([bench.disk, bench.other, bench.nic], "failures_too_large")
    with bench.case(f"{mib} MiB: requests as large as the queues allow"):
        for disk in bench.disk, bench.other:
            bench.vm.run(f"cd {disk.dir}/block/*/queue && cat max_hw_sectors_kb > max_sectors_kb")
        both_disks(bench, LARGEST_BLOCK)
        bench.expect_no_failure([bench.disk, bench.other], "failures_too_large")


def both_disks(bench, blocks):
    disks = bench.disk, bench.other
    scripts = [f"({transfer(bench, disk, blocks)}) > /tmp/sums-{disk.slot} &\n" for disk in disks]
    bench.vm.run("".join(scripts) + "wait", timeout=DEADLINE)
    for disk in disks:
        expect_transferred(bench, disk, bench.vm.run(f"cat /tmp/sums-{disk.slot}"), blocks)
        ktap.say(f"# {disk.node()} got nothing {failures(disk)} times")


# --- counting ---

def test_counters(bench):
    """Data go one way; headers, status bytes and indirect tables add a little."""
    for what, command, way, other_way in (
            ("written", "dd if=/dev/zero of={} bs=1M count=16 oflag=direct conv=notrunc",
             "bounced_to_device", "bounced_from_device"),
            ("read", "dd if={} of=/dev/null bs=1M count=16 iflag=direct", "bounced_from_device", "bounced_to_device")):
        with bench.case(f"16 MiB {what}: as many bytes bounce, that way"):
            pool.reset(bench.disk)
            others = bench.other.dma()
            bench.vm.run(command.format(bench.disk.node()) + " 2>/dev/null")
            after = bench.disk.dma()
            bench.suite.check(16 * MIB <= after[way] < 16.5 * MIB, f"{way} is {after[way]}")
            bench.suite.check(0 < after[other_way] < 0.5 * MIB, f"{other_way} is {after[other_way]}")
            expect("of the other disk", bench.other.dma(), others)
    with bench.case("reset sets the counters of that device to 0, and the pool's mark to what is in use"):
        bench.suite.check(bench.disk.dma()["pool_most"] > 0, "pool_most is 0 after all that")
        pool.reset(bench.disk)
        counters = bench.disk.dma()
        moved = {name: value for name, value in counters.items() if isinstance(value, int) and name != "pool_used"}
        expect("counters", moved, dict.fromkeys(moved, 0))
        bench.vm.run(f"echo 1 > {pool.POOL}/reset")
        figures = pool.figures(bench.vm)
        expect("most that was in use", figures["most"], figures["used"])


# --- a pool that is full ---

def test_sharing(bench):
    """One disk has more requests than the pool holds; the others get theirs in time."""
    with bench.case("one disk saturates the pool: the other disk and ping keep going"):
        bench.nic.up()
        log = checks.Log(bench.vm)
        for device in bench.disk, bench.other, bench.nic:
            pool.reset(device)
        node = bench.disk.node()
        bench.vm.run("rm -f /tmp/end; for job in 1 2 3 4; do "
                     f"while [ ! -e /tmp/end ]; do dd if={node} of=/dev/null bs=1M count=4 iflag=direct; done "
                     "2>/dev/null & done")
        # A line each 5 seconds at most, and an earlier case may have had one.
        checks.wait_until("the log tells that the disk has its share", lambda: failures_told(log))
        sums = bench.vm.run(transfer(bench, bench.other, FEW_BLOCKS), timeout=DEADLINE)
        bench.nic.check_ping(count=5)
        bench.nic.check_tcp(bench.echo, [MIB])
        bench.vm.run("touch /tmp/end")
        expect_transferred(bench, bench.other, sums, FEW_BLOCKS)
        checks.wait_until("all jobs have ended", lambda: not bench.vm.run("pidof dd || true").strip(), DEADLINE)
        counts = {device.name(): failures(device) for device in (bench.disk, bench.other, bench.nic)}
        ktap.say(f"# times that the pool had nothing: {counts}")
        expect("devices named by the log", {line[0] for line in failures_told(log)}, {guest.pci_name(DISK)})
        bench.nic.down()


@contextlib.contextmanager
def taken_by(bench, *disks):
    """The disks have asked for more than they can have, and the host sits on the requests."""
    bench.vm.run("rm -f /tmp/status")
    for disk in disks:
        pool.reset(disk)
        pool.hold(bench.vm, disk.slot, HELD_RATE)
        bench.vm.run(f"for job in $(seq 0 {JOBS - 1}); do (dd if={disk.node()} of=/dev/null bs=1M skip=$job count=1 "
                     "iflag=direct 2>/dev/null; echo $? >> /tmp/status) & done")
    try:
        checks.wait_until("every disk has found nothing left", lambda: all(map(failures, disks)))
        yield
    finally:
        for disk in disks:
            pool.hold(bench.vm, disk.slot, pool.NO_LIMIT)
    checks.wait_until("all requests have ended", lambda: not bench.vm.run("pidof dd || true").strip(), DEADLINE)


def bind_again(nic):
    """An interface that has been up keeps its buffers, until then."""
    nic.down()
    nic.choose("direct")
    nic.choose("bounce")


def allow_a_line(*disks):
    """A device is worth one line in five seconds, and its last one may have been a moment ago: a new binding begins anew."""
    for disk in disks:
        disk.choose("direct")
        disk.choose("bounce")


def check_told(bench, log, device, *reasons):
    """The line on the device has all that is needed to do something about it."""
    told = [line[2:] for line in failures_told(log) if line[0] == guest.pci_name(device.slot) and line[1] in reasons]
    bench.suite.check(told, f"no line on {reasons} in {log.of_module()}")
    wanted, free, size, run, mib = told[0]
    expect("size of the pool in the line", (size, mib), (SMALLEST * MIB, SMALLEST))
    bench.suite.check(0 < wanted <= MIB and run <= free < size, f"the figures are {told[0]}")


def check_all_read(bench, *disks):
    """Of the programs that waited for the pool none has seen an error; the causes add up."""
    expect("status of the readers", bench.vm.run("cat /tmp/status").split(), ["0"] * (JOBS * len(disks)))
    for disk in disks:
        counters = disk.dma()
        expect("too large", counters["failures_too_large"], 0)
        expect("failures of all causes", failures(disk), counters["map_failures"])


def test_full(bench):
    bind_again(bench.nic)
    before = pool.used(bench.vm)
    with bench.case("a disk has its share: one line says so, the others work"):
        allow_a_line(bench.disk)
        log = checks.Log(bench.vm)
        with taken_by(bench, bench.disk):
            # in small pieces, the pool may have no run that is long enough before the share is reached
            check_told(bench, log, bench.disk, SHARED_OUT, FULL)
            held = bench.disk.dma()["pool_used"]
            # three quarters of the pool; what was in a CPU's cache by then may come on top
            bench.suite.check(SMALLEST * MIB // 4 < held <= SMALLEST * MIB // 8 * 7, f"pool_used is {held}")
            bench.other.check_read(size=1, block="64k")
            bench.nic.up()
            bench.nic.check_ping()
            bench.nic.down()
        check_all_read(bench, bench.disk)
        files = bench.disk.dma()
        bench.suite.check(files["failures_over_share"] + files["failures_full"] > 0, "no failure was counted")
    with bench.case("two disks have it all: one line says so, all is well afterwards"):
        both = bench.disk, bench.other
        allow_a_line(*both)
        log = checks.Log(bench.vm)
        with taken_by(bench, *both):
            checks.wait_until("the pool is full", lambda: any(disk.dma()["failures_full"] for disk in both))
        whole = [disk for disk in both if disk.dma()["failures_full"]]
        # the line may have been spent on the share
        check_told(bench, log, whole[0], FULL, SHARED_OUT)
        check_all_read(bench, *both)
    with bench.case("a disk has its share: another disk and a NIC can be bound again"):
        with taken_by(bench, bench.disk):
            for device in bench.other, bench.nic:
                for path in "direct", "bounce":
                    device.choose(path)
                    expect_dma(device, state="attached", path=path)
            bench.other.check_read(size=1, block="64k")
            bench.nic.check_data(bench.echo)
    with bench.case("afterwards: all data are right, as much is in use as before"):
        for disk in bench.disk, bench.other:
            disk.check_data()
        bind_again(bench.nic)
        expect("bytes in use", pool.used(bench.vm), before)


def test_unplug(bench):
    """The disk that fills the pool is pulled out, and put back."""
    with bench.case("the disk that fills the pool is unplugged: all it had is back"):
        held = bench.plugged.dma()["pool_used"]
        before = pool.used(bench.vm)
        bench.suite.check(held > 0, "an idle disk holds nothing, not even its rings")
        with taken_by(bench, bench.plugged):
            bench.vm.qmp("device_del", id=f"blk{PLUGGED_DISK}")
            bench.vm.wait_event("DEVICE_DELETED", timeout=DEADLINE, device=f"blk{PLUGGED_DISK}")
        expect("bytes in use", pool.used(bench.vm), before - held)
        bench.disk.check_data()
    with bench.case("it is plugged in again: it bounces"):
        bench.vm.qmp("device_add", driver="virtio-blk-pci", id=f"blk{PLUGGED_DISK}", bus=f"port{PLUGGED_DISK}",
                     drive=f"disk{PLUGGED_DISK}")
        nodes = f"{bench.plugged.dir}/block/*"
        checks.wait_until("the disk is back", lambda: bench.vm.run(f"ls -d {nodes} 2>/dev/null || true"))
        expect_dma(bench.plugged, state="attached", path="bounce")
        bench.plugged.check_data()
        expect("bytes in use", pool.used(bench.vm), before)


# --- coming and going ---

def test_rebinding(bench, rounds=3):
    devices = bench.disk, bench.nic
    with bench.case(f"{rounds} rounds over all paths: as much is in use after every round"):
        bench.nic.choose("off")
        before = pool.used(bench.vm)
        bench.nic.choose("bounce")
        first = pool.used(bench.vm)
        bench.suite.check(first > before, "a NIC uses nothing of the pool")
        for _ in range(rounds):
            for path in PATHS:
                for device in devices:
                    device.choose(path)
                bench.disk.check_read(size=1)
                bench.nic.up()
                bench.nic.check_ping(count=1)
                bench.nic.down()
            bench.nic.choose("off")
            bench.nic.choose("bounce")
            expect("bytes in use", pool.used(bench.vm), first)


def test_hook(bench):
    with bench.case("a platform hook that answers bounce is followed"):
        expect("insmod says", pool.load(bench.vm), "")
        bench.vm.run(f"insmod /ko/virtio_dma_test_hook.ko device_type={HOOK_BLK} path={HOOK_BOUNCE}")
        bench.load_drivers()
        expect_dma(bench.disk, state="attached", path="bounce", reason="hook test")
        expect_dma(bench.nic, state="attached", path="direct")
        bench.disk.check_data()
        bench.suite.check(bench.disk.dma()["bounced_to_device"] > 4 * MIB, "nothing bounced")
        bench.vm.run("rmmod virtio_blk; rmmod virtio_net; rmmod virtio_dma_test_hook; rmmod virtio_dma")


def test_all(bench):
    with bench.case("loaded with the smallest pool, all devices bounce"):
        bench.vm.run("modprobe virtio_pci")
        bench.load(pool_mb=SMALLEST, pool_max_mb=SMALLEST)
        for device in bench.disk, bench.other, bench.plugged, bench.nic:
            expect_dma(device, state="attached", path="bounce", reason="rule for the device type")
        expect("size of the pool", pool.figures(bench.vm)["size"], SMALLEST * MIB)
    test_limits(bench, SMALLEST)
    test_counters(bench)
    test_every_size(bench, SMALLEST)
    test_requests_at_once(bench, SMALLEST)
    test_sharing(bench)
    test_full(bench)
    test_unplug(bench)
    test_rebinding(bench)
    with bench.case("loaded anew with the default pool"):
        bench.unload()
        bench.load()
        expect("size of the pool", pool.figures(bench.vm)["size"], DEFAULT * MIB)
    test_limits(bench, DEFAULT)
    test_requests_at_once(bench, DEFAULT)
    bench.unload()
    test_hook(bench)


def main():
    suite = ktap.Suite("bounce")
    kernel = kernels.wanted()
    modules = build.build(kernel)
    with contextlib.ExitStack() as stack:
        images = {slot: stack.enter_context(image.image(DISK_MIB, seed=slot))
                  for slot in (DISK, OTHER_DISK, PLUGGED_DISK)}
        devices = [*pool.held_blk(DISK, images[DISK], f"addr={DISK:#x}"),
                   *pool.held_blk(OTHER_DISK, images[OTHER_DISK], f"addr={OTHER_DISK:#x}"), *guest.net(NIC),
                   "-device", f"pcie-root-port,id=port{PLUGGED_DISK},addr={PLUGGED_DISK:#x},chassis=1",
                   *pool.held_blk(PLUGGED_DISK, images[PLUGGED_DISK], f"bus=port{PLUGGED_DISK}")]
        echo = stack.enter_context(guest.Echo())
        machine = stack.enter_context(vm.VM(kernel, devices=devices, kos=modules.values(), name="bounce"))
        test_all(Bench(suite, machine, images, echo))
    suite.finish()


if __name__ == "__main__":
    main()
