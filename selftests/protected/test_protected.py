#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Does a guest that shares only a part of its memory work over the paths made for it, and does nothing private leak?

Its disk and its network card are other processes, which are sent the shared part and nothing else.
"""

import os
import re
import sys
from pathlib import Path

sys.path[1:1] = [str(Path(__file__).resolve().parents[1] / part) for part in ("", "compare")]

# pylint: disable=wrong-import-position
import disk
import leak
import rig
import row
from layout import HALVES, MIB, SMALL_WINDOW, WINDOW
from lib import accel, build, checks, image, kernels, ktap
from lib.checks import Log, expect, expect_at_least, expect_in, wait_until
from lib.kernels import DEBUG_LINE
from lib.vm import VM
from netserver import Netserver

POOL = "/sys/bus/virtio/drivers/virtio_dma/pool"
PASSES = 3
DEADLINE = disk.DEADLINE
# What must find its way out over a path that copies the buffer's old content, and what has no business with devices.
LEAVES = (leak.BUFFER, leak.FREED_TO_DISK, leak.FREED_TO_NET)
STAYS = (leak.PROCESS, leak.PAGE_CACHE)
# Reads the disk until it cannot.
READING = """(while dd if={node} of=/dev/null bs=64K iflag=direct; do true; done; touch /tmp/ended
    ) </dev/null >/tmp/said 2>&1 &"""
# Reads the same again and again.
COMPARED_MIB = 4
COMPARING = f"""rm -f /tmp/end /tmp/ended; (while [ ! -e /tmp/end ]; do
    dd if={{node}} bs=256K count={COMPARED_MIB * 4} iflag=direct 2>/dev/null | sha256sum
    done >/tmp/said; touch /tmp/ended) </dev/null >/dev/null 2>&1 &"""
SENDING = "netperf -P 0 -H 10.0.2.2,4 -p {port} -t TCP_STREAM -l 600 </dev/null >/dev/null 2>&1 &"


class Bench:
    """What every guest here is started from."""

    def __init__(self, suite, kernel, modules, image_path, port):
        self.suite, self.kernel, self.modules, self.image_path, self.port = suite, kernel, modules, image_path, port
        self.files = leak.program(kernel)
        self.window = SMALL_WINDOW if kernel.line == DEBUG_LINE else WINDOW

    def guest(self, memory):
        return rig.Rig(self.kernel, self.modules, memory, self.image_path, self.port, files=self.files)

    def case(self, protected, name):
        return checks.case(self.suite, protected.vm, name)


# --- the rows ---

def test_row(bench, protected, path):
    with bench.case(protected, f"{path}: data of disk and network both ways"):
        protected.load(path)
        row.works(protected, path)
    with bench.case(protected, f"{path}: the backends have the shared memory, and nothing else of the guest"):
        expect("backends", set(row.sent(protected)), {"disk", "net"})


def test_stock(bench, protected):
    with bench.suite.case(f"off, {protected.memory.name}: the stock drivers get nothing done"):
        for device, how in row.fails(protected).items():
            ktap.say(f"# {device}: {how}")


def test_pool_place(bench, protected):
    with bench.case(protected, "bounce: the pool is in the window"):
        chunks = re.findall(r"([0-9a-fx]+)-([0-9a-fx]+)", protected.vm.run(f"cat {POOL}/chunks"))
        expect_at_least("chunks of the pool", len(chunks), 1)
        for chunk in chunks:
            first, last = (int(text, 16) for text in chunk)
            bench.suite.check(protected.memory.holds(first, last), f"the pool has {first:#x} to {last:#x}")


# --- leaks ---

def searched(bench, protected, what):
    result = leak.Leak(protected).search()
    ktap.say(f"# {what}: {result.passes} passes over {result.searched / MIB:.0f} MiB or more; found: "
             + ", ".join(f"{source} {count}" for source, count in result.hits.items()))
    expect_at_least("passes", result.passes, PASSES)
    return result


def test_no_leak(bench, protected):
    with bench.case(protected, "bounce, fill=zero: no secret is found"):
        protected.unload()
        protected.load("bounce", fill="zero")
        result = searched(bench, protected, "fill=zero")
        used = int(protected.vm.run(f"cat {POOL}/most"))
        expect_at_least("bytes searched in a pass", result.searched, used)
        expect("secrets found", {source: count for source, count in result.hits.items() if count}, {})
    with bench.case(protected, "bounce, fill=zero: what is written to the disk is found"):
        written = leak.Leak(protected).search_written()
        expect_at_least("pieces found", written.hits[leak.WRITTEN], 1)


def test_leak(bench, protected, path, pool, **parameters):
    """The control: this path copies out what buffers held."""
    name = ", ".join([path, *(f"{key}={value}" for key, value in parameters.items())])
    with bench.case(protected, f"{name}: what buffers held is found"):
        protected.unload()
        protected.load(path, **parameters)
        result = searched(bench, protected, name)
        for source in LEAVES:
            expect_at_least(f"pieces found of: {source}", result.hits[source], 1)
        expect("found of what no device is given", [result.hits[source] for source in STAYS], [0, 0])
        first, last = pool(protected)
        outside = [hex(place) for place in map(protected.memory.address, result.places) if not first <= place <= last]
        expect("places outside of the pool", outside, [])


def kernels_pool(protected):
    first, last = re.search(r"software IO TLB: mapped \[mem (0x[0-9a-f]+)-(0x[0-9a-f]+)\]",
                            protected.vm.run("dmesg | grep 'software IO TLB: mapped'")).groups()
    return int(first, 16), int(last, 16)


def window_range(protected):
    return protected.memory.address(0), protected.memory.address(protected.memory.shared)


# --- what goes wrong ---

def test_not_reserved(bench):
    """The same guest without memmap=: what would be the window is the kernel's."""
    memory = bench.window
    with VM(bench.kernel, memory.devices(), mem=memory.mem(), machine=memory.machine, kos=bench.modules.values(),
            name="protected-unreserved") as vm:
        with checks.case(bench.suite, vm, "a window that is not reserved is refused, and told how to reserve it"):
            log = Log(vm)
            pool = " ".join(f"{name}={value}" for name, value in memory.pool().items())
            status, said = vm.try_run(f"modprobe virtio_pci && insmod {rig.MODULE} {pool}")
            bench.suite.check(status != 0, "the module was loaded")
            ktap.say(f"# {said.strip()}")
            expect_in("the module says", "\n".join(log.of_module()),
                      f"memmap={memory.shared // MIB}M${memory.shared_start:#x}")


def test_disk_backend_dies(bench, protected):
    """virtio_blk has no time-outs: its caller waits for as long as it takes."""
    vm, backend = protected.vm, protected.backends["disk"]
    with bench.case(protected, "the disk's backend dies under load: who reads waits, and gets all when it is back"):
        vm.run(COMPARING.format(node=protected.disk.node))
        wait_until("something has been read", lambda: checksums(vm), DEADLINE)
        backend.stop()
        wait_until("a request waits", lambda: in_flight(vm) > 0, DEADLINE)
        read = len(checksums(vm))
        expect("complaints meanwhile", vm.kernel_complaints(), [])
        expect("reads without a backend", len(checksums(vm)), read)
        backend.start()
        wait_until("more is read", lambda: len(checksums(vm)) > read + 2, DEADLINE)
        vm.run("touch /tmp/end")
        wait_until("the reader ends", lambda: vm.try_run("[ -e /tmp/ended ]")[0] == 0, DEADLINE)
        expect("what was read", set(checksums(vm)), {image.sha256(bench.image_path, 0, COMPARED_MIB * MIB)})


def checksums(vm):
    return vm.run("cat /tmp/said 2>/dev/null; true").split()[::2]


def in_flight(vm):
    return sum(map(int, vm.run("cat /sys/block/vda/inflight").split()))


def test_net_backend_dies(bench, protected):
    vm, backend = protected.vm, protected.backends["net"]
    with bench.case(protected, "the network card's backend dies under load: the link is down, and up when it is back"):
        start_sending(protected)
        backend.stop()
        wait_until("the link is down", lambda: carrier(vm) == "0", DEADLINE)
        status, said = vm.try_run(f"nc -w 10 10.0.2.2 {bench.port} </dev/null")
        ktap.say(f"# {said.strip()}")
        bench.suite.check(status != 0, "a connection was made")
        vm.run("killall netperf; true")
        backend.start()
        wait_until("the link is up", lambda: carrier(vm) == "1", DEADLINE)
        protected.net.verify()


def carrier(vm):
    return vm.run("cat /sys/class/net/eth0/carrier").strip()


def test_unplug(bench, protected):
    vm = protected.vm
    with bench.case(protected, "a disk is unplugged under load: its reader gets an error"):
        start_reading(protected)
        protected.unplug("disk")
        wait_until("the reader has ended", lambda: vm.try_run("[ -e /tmp/ended ]")[0] == 0, DEADLINE)
        ktap.say(f"# {vm.run('tail -n 1 /tmp/said').strip()}")
    with bench.case(protected, "a network card is unplugged under load, and nothing of the pool stays in use"):
        start_sending(protected)
        protected.unplug("net")
        wait_until("the card is gone", lambda: vm.try_run("ls -d /sys/class/net/eth0")[0] != 0)
        vm.run("killall netperf; true")
        wait_until("the pool is free", lambda: vm.run(f"cat {POOL}/used").strip() == "0")
        protected.unload()


def start_reading(protected):
    before = protected.disk.snapshot().counters["bounced_from_device"]
    protected.vm.run(f"rm -f /tmp/ended; {READING.format(node=protected.disk.node)}")
    wait_until("the disk is busy", lambda: protected.disk.snapshot().counters["bounced_from_device"] > before + MIB,
               DEADLINE)


def start_sending(protected):
    before = protected.net.snapshot().counters["bounced_to_device"]
    protected.vm.run(SENDING.format(port=protected.port))
    wait_until("the network is busy", lambda: protected.net.snapshot().counters["bounced_to_device"] > before + MIB,
               DEADLINE)


def main():
    suite = ktap.Suite("protected")
    kernel = kernels.wanted()
    modules = build.build(kernel)
    accelerator = accel.choose(os.environ.get("ACCEL") or "auto", kernel)
    with image.image(disk.image_mib(accelerator)) as image_path, Netserver() as netserver:
        bench = Bench(suite, kernel, modules, image_path, netserver.port)
        with bench.guest(bench.window) as protected:
            test_row(bench, protected, "bounce")
            test_pool_place(bench, protected)
            test_no_leak(bench, protected)
            test_leak(bench, protected, "bounce", window_range, fill="preserve")
            protected.unload()
            test_stock(bench, protected)
        with bench.guest(HALVES) as protected:
            test_row(bench, protected, "swiotlb")
            test_leak(bench, protected, "swiotlb", kernels_pool)
            protected.unload()
            test_stock(bench, protected)
        test_not_reserved(bench)
        with bench.guest(bench.window) as protected:
            protected.load("bounce")
            test_disk_backend_dies(bench, protected)
            test_net_backend_dies(bench, protected)
            test_unplug(bench, protected)
    suite.finish()


if __name__ == "__main__":
    main()
