#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Does the pool grow with the need for it, and shrink again, and does no request get lost meanwhile?

Disks that the host holds back pile up requests for ten times what the pool begins with. While it grows a mapping may
fail, and the driver tries again; once it has grown none does. In memory of the guest, and in a window. The tracepoints
are held against the counters.
"""

import contextlib
import re
import sys
from pathlib import Path

sys.path[1:1] = [str(Path(__file__).resolve().parents[1] / part) for part in ("", "virtio")]

# pylint: disable=wrong-import-position
import guest
import pool
from guest import MIB
from lib import build, checks, image, kernels, ktap, vm
from lib.checks import expect

DISKS, NIC = (4, 5, 6, 7), 8
DISK_MIB = 16
START, MOST = 4, 64
# More than ten times the start are asked for at any time: by each disk's readers 1 MiB each.
JOBS, BLOCKS = 11, 4
PEAK = 10 * START * MIB
# At which the host serves a disk that it holds back, in bytes a second.
HELD_RATE = 64 << 10
DEADLINE = 180
WINDOW = 0x20000000
SET_ASIDE = f"memmap={MOST}M${WINDOW:#x}"
PLACES = {"memory": {}, "a window": {"pool_phys": f"{WINDOW:#x}", "pool_size": f"{MOST}M"}}
EVENTS = "/sys/kernel/tracing/events/virtio_dma"
TRACE = "/sys/kernel/tracing/trace"
BUFFER_SIZE = "/sys/kernel/tracing/buffer_size_kb"
ROOMY = 64
TO_FROM = re.compile(r"(vdma_(?:grow|shrink)): from=(\d+) to=(\d+)")
FILL = "zero"


class Trace:
    """The events of virtio_dma, from now on."""

    def __init__(self, machine):
        self.machine = machine
        machine.run(f"echo 16384 > {BUFFER_SIZE}; echo 1 > {EVENTS}/enable")
        self.clear()

    def clear(self):
        self.machine.run(f"true > {TRACE}")

    def stop(self):
        self.machine.run(f"echo 0 > {EVENTS}/enable; true > {TRACE}")

    def of(self, device, event, path):
        """(how many of these, sum of their sizes); one that says nothing of direction or size is a failure."""
        text = self.machine.run(f"""
            grep -h '^# entries' {TRACE}
            grep ' {event}: device={guest.pci_name(device.slot)} path={path} ' {TRACE} | tee /tmp/events |
            sed -n 's/.* size=\\([0-9]*\\).*/\\1/p' | awk '{{ count++; sum += $1 }} END {{ print count + 0, sum + 0 }}'
            [ {event} = vdma_full ] || ! grep -vE 'dir=(to_device|from_device|bidirectional) addr=0x' /tmp/events""")
        kept, written, count, total = map(int, re.findall(r"\d+", text)[:2] + text.split()[-2:])
        expect("events that the kernel kept", kept, written)
        return count, total

    def resizes(self):
        """[(event, from, to)] in bytes."""
        found = TO_FROM.findall(self.machine.run(f"grep -E 'vdma_(grow|shrink)' {TRACE} || true"))
        return [(event, int(before), int(after)) for event, before, after in found]


class Bench:
    def __init__(self, suite, machine, images):
        self.suite, self.vm = suite, machine
        self.disks = [guest.Disk(machine, slot, images[slot]) for slot in DISKS]
        self.nic = guest.Nic(machine, NIC)

    def case(self, name):
        return checks.case(self.suite, self.vm, name)

    def load(self, rules="blk=bounce,net=off", **parameters):
        expect("insmod says", pool.load(self.vm, rules, **parameters), "")
        self.vm.run("modprobe virtio_blk; modprobe virtio_net")

    def unload(self):
        self.vm.run("rmmod virtio_blk; rmmod virtio_net; rmmod virtio_dma")

    def failures(self, counter="map_failures"):
        return sum(disk.dma()[counter] for disk in self.disks)


@contextlib.contextmanager
def readers(bench):
    """Many on every disk, which the host holds back until the block has ended; then all must have read the data."""
    bench.vm.run("rm -rf /tmp/sums; mkdir /tmp/sums")
    for disk in bench.disks:
        pool.hold(bench.vm, disk.slot, HELD_RATE)
        bench.vm.run(f"for job in $(seq {JOBS}); do (dd if={disk.node()} bs=1M count={BLOCKS} iflag=direct "
                     f"2>/dev/null | sha256sum > /tmp/sums/{disk.slot}-$job) & done")
    try:
        yield
    finally:
        for disk in bench.disks:
            pool.hold(bench.vm, disk.slot, pool.NO_LIMIT)
    checks.wait_until("all readers have ended", lambda: not bench.vm.run("pidof dd sha256sum || true").strip(),
                      DEADLINE)
    for disk in bench.disks:
        sums = bench.vm.run(f"cat /tmp/sums/{disk.slot}-* | cut -d ' ' -f 1").split()
        expect(f"sums of what was read from {disk.node()}", sums,
               [image.sha256(disk.path, 0, BLOCKS * MIB)] * JOBS)


def settled(bench):
    """The need is there, and the pool has grown for the last time."""
    figures = pool.figures(bench.vm)
    return figures["used"] >= PEAK and figures["size"] == MOST * MIB and figures


def test_growth(bench, place, parameters):
    with bench.case(f"in {place}: a pool of {START} MiB grows tenfold under load, and no request is lost"):
        bench.load(pool_mb=START, pool_max_mb=MOST, **parameters)
        trace = Trace(bench.vm)
        figures = pool.figures(bench.vm)
        expect("size, max", (figures["size"], figures["max"]), (START * MIB, MOST * MIB))
        with readers(bench):
            checks.wait_until(f"{PEAK} bytes are in use", lambda: settled(bench), DEADLINE)
            meanwhile = bench.failures()
            for disk in bench.disks:
                pool.reset(disk)
        ktap.say(f"# {meanwhile} mappings failed while the pool grew")
        expect("mappings that failed once it had grown", bench.failures(), 0)
        figures = pool.figures(bench.vm)
        suite_check_peak(bench, figures)
        expect("steps", [step for step in trace.resizes() if step[0] == "vdma_grow"],
               [("vdma_grow", size * MIB, 2 * size * MIB) for size in (4, 8, 16, 32)])
        expect("grows", figures["grows"], 4)
        check_where(bench, parameters)
        trace.stop()
    test_shrinking(bench, place)
    with bench.case(f"in {place}: unloads"):
        bench.unload()


def suite_check_peak(bench, figures):
    checks.expect_at_least("most in use", figures["most"], PEAK)
    bench.suite.check(figures["most"] <= MOST * MIB, f"more than all was in use: {figures}")


def check_where(bench, parameters):
    """All of a pool with a window is in it."""
    if not parameters:
        return
    for chunk in pool.chunks(bench.vm):
        bench.suite.check(WINDOW <= chunk.start and chunk.stop <= WINDOW + MOST * MIB, f"a chunk at {chunk.start:#x}")


def test_shrinking(bench, place):
    with bench.case(f"in {place}: it shrinks when idle, and grows again"):
        trace = Trace(bench.vm)
        checks.wait_until(f"{START} MiB are left", lambda: pool.figures(bench.vm)["size"] == START * MIB, DEADLINE)
        steps = [step for step in trace.resizes() if step[0] == "vdma_shrink"]
        figures = pool.figures(bench.vm)
        checks.expect_at_least("shrinks", figures["shrinks"], 1)
        bench.suite.check(all(after < before for _, before, after in steps), f"steps are {steps}")
        with readers(bench):
            checks.wait_until(f"{PEAK} bytes are in use", lambda: settled(bench), DEADLINE)
        expect("grows", pool.figures(bench.vm)["grows"], 8)
        trace.stop()


# --- tracepoints ---

def check_traced(trace, device, path, traffic):
    """What happens to a device by its counters, and by the tracepoints."""
    pool.reset(device)
    trace.clear()
    traffic()
    files = device.dma()
    maps = (files["maps"], files["map_bytes"])
    checks.expect_at_least("maps", files["maps"], 10)
    expect("map events and their bytes", trace.of(device, "vdma_map", path), maps)
    expect("unmap events", trace.of(device, "vdma_unmap", path)[0], files["unmaps"])
    expect("full events", trace.of(device, "vdma_full", path)[0], files["map_failures"])


def test_tracepoints(bench):
    with bench.case("tracepoints loaded"):
        bench.load("blk=bounce,net=bounce", pool_mb=START, pool_max_mb=START, fill=FILL)
        trace = Trace(bench.vm)
    for path in "bounce", "direct":
        disk = bench.disks[0]
        with bench.case(f"{path}: the events of a disk are what its counters say"):
            disk.choose(path)
            check_traced(trace, disk, path, disk.check_data)
    with bench.case("a full pool: one event for each mapping that failed"):
        bench.disks[0].choose("bounce")

        def ask_for_too_much():
            with readers(bench):
                checks.wait_until("the pool was full", bench.failures, DEADLINE)
        check_traced(trace, bench.disks[0], "bounce", ask_for_too_much)
        checks.expect_at_least("failures", bench.disks[0].dma()["map_failures"], 1)
    with bench.case("syncs: events for both directions"):
        # its cases want a pool that takes 8 MiB at a time
        trace.stop()
        bench.unload()
        bench.load("net=bounce", pool_mb=ROOMY, pool_max_mb=ROOMY, fill=FILL)
        trace = Trace(bench.vm)
        bench.vm.run(f"insmod /ko/vdma_dma_test.ko device={guest.pci_name(NIC)} fill={FILL}", timeout=200)
        for side in "cpu", "device":
            count = bench.vm.run(f"grep -c 'vdma_sync: device={guest.pci_name(NIC)} path=bounce .* for={side}$' "
                                 f"{TRACE} || true")
            checks.expect_at_least(f"syncs for the {side}", int(count), 1)
        bench.vm.run("rmmod vdma_dma_test")
        trace.stop()
        bench.unload()


def main():
    suite = ktap.Suite("growth")
    kernel = kernels.wanted()
    modules = build.build(kernel)
    with contextlib.ExitStack() as stack:
        images = {slot: stack.enter_context(image.image(DISK_MIB, seed=slot)) for slot in DISKS}
        devices = sum((pool.held_blk(slot, images[slot], f"addr={slot:#x}") for slot in DISKS), guest.net(NIC))
        machine = stack.enter_context(vm.VM(kernel, devices=devices, kos=modules.values(), append=SET_ASIDE,
                                            name="growth"))
        bench = Bench(suite, machine, images)
        machine.run("modprobe virtio_pci")
        for place, parameters in PLACES.items():
            test_growth(bench, place, parameters)
        test_tracepoints(bench)
    suite.finish()


if __name__ == "__main__":
    main()
