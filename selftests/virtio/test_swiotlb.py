#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Does path swiotlb bounce all of the chosen device and nothing else, whatever the size of the kernel's pool?"""

import contextlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import guest                                            # pylint: disable=wrong-import-position
from guest import MIB, Disk, Nic, expect_dma
from lib import build, checks, image, kernels, ktap, vm as machine
from lib.checks import Log, expect, expect_in

BOUNCED_DISK, OTHER_DISK, BOUNCED_NIC, OTHER_NIC = 5, 6, 7, 8
DISK_MIB = 16
SWIOTLB = "/sys/kernel/debug/swiotlb"
SLOT = 2048
# The module's: the longest segment, and the least pool.
SEGMENT = 32 << 10
LEAST_SLOTS = (4 << 20) // SLOT

# Sizes of TCP transfers: packets that virtio_net copies (up to 128 bytes), packets that it hands on, many of them.
TRANSFERS = (1, 64, 128, 129, 256, 1000, 1400, 65536, 2 * MIB)
PINGS = (64, 100, 128, 129, 500, 1000, 1400)
BLOCKS = ("16k", "64k", "256k", "512k", "1M", "4M", "8M")

# Kernel parameter, CPUs: more CPUs make the kernel round the pool up.
SMALL_POOLS = [("128", 1), ("1024", 2), ("2048", 2)]
# A request that has not ended by then is being tried again for ever.
DEADLINE = 60


def main():
    suite = ktap.Suite("swiotlb")
    kernel = kernels.wanted()
    modules = build.build(kernel)
    with contextlib.ExitStack() as stack:
        images = {slot: stack.enter_context(image.image(DISK_MIB, seed=slot)) for slot in (BOUNCED_DISK, OTHER_DISK)}
        devices = [*guest.blk(BOUNCED_DISK, images[BOUNCED_DISK]), *guest.blk(OTHER_DISK, images[OTHER_DISK]),
                   *guest.net(BOUNCED_NIC), *guest.net(OTHER_NIC)]
        echo = stack.enter_context(guest.Echo())

        def boot(name, **arguments):
            return machine.VM(kernel, devices=devices, kos=modules.values(), name=f"swiotlb-{name}", **arguments)

        if kernel.line == "5.10":
            with boot("old", append="iommu=soft swiotlb=32768") as vm:
                refused_on_old_kernel(Guest(suite, vm, images, echo))
        else:
            with boot("pool", append="iommu=soft swiotlb=32768") as vm:
                Ample(Guest(suite, vm, images, echo)).run()
            with boot("no-pool") as vm:
                no_pool(Guest(suite, vm, images, echo))
            for slabs, cpus in SMALL_POOLS:
                with boot(f"{slabs}-slabs", cpus=cpus, append=f"iommu=soft swiotlb={slabs}") as vm:
                    small_pool(Guest(suite, vm, images, echo), f"swiotlb={slabs}, {cpus} CPUs")
    suite.finish()


class Guest:
    def __init__(self, suite, vm, images, echo):
        self.suite, self.vm, self.echo = suite, vm, echo
        self.disk = Disk(vm, BOUNCED_DISK, images[BOUNCED_DISK])
        self.other_disk = Disk(vm, OTHER_DISK, images[OTHER_DISK])
        self.nic = Nic(vm, BOUNCED_NIC)
        self.other_nic = Nic(vm, OTHER_NIC)

    def case(self, name):
        return checks.case(self.suite, self.vm, name)

    def load(self, *bounced):
        """The module with a rule for these devices, then the drivers."""
        rules = ",".join(f"{guest.pci_name(device.slot)}=swiotlb" for device in bounced)
        self.vm.run("modprobe virtio_pci")
        expect("insmod", guest.load(self.vm, rules), "")
        expect("virtio_dma is loaded", guest.loaded(self.vm), True)
        self.vm.run("modprobe virtio_blk; modprobe virtio_net")

    def slots(self, what):
        """The kernel's own figures: nslabs, used."""
        return int(self.vm.run(f"cat {SWIOTLB}/io_tlb_{what}"))


def expect_refused(device, why):
    expect("driver", device.driver(), "")
    expect_dma(device, state="refused", path="swiotlb", reason="rule for the device")
    expect_in("dma/refused", device.dma()["refused"], why)


def refused_with_one_line(here, why):
    """The rule is refused at probe, once by name; `off` makes the disk work again."""
    log = Log(here.vm)
    here.load(here.disk)
    expect_refused(here.disk, why)
    lines = [line for line in log.of_module() if "refused" in line]
    expect("number of lines on the refusal", len(lines), 1)
    expect_in("the line", lines[0], f"{here.disk.name()}: virtio_dma: path swiotlb refused: ")
    expect_in("the line", lines[0], why)
    here.disk.choose("off")
    expect_dma(here.disk, state="stock", path="off", refused="")
    here.disk.check_data()


def refused_write(here, why):
    """A write to sysfs is refused, the device goes on as it was."""
    for device in here.other_disk, here.nic:
        expect_in("writing swiotlb", device.write_path("swiotlb"), guest.EOPNOTSUPP)
        expect_dma(device, state="attached", path="direct")
    here.other_disk.check_data()
    expect_in("log", here.vm.run("dmesg | tail -1"), why)


def refused_on_old_kernel(here):
    why = "this kernel's SWIOTLB cannot serve one device only: choose direct"
    with here.case("5.10: a rule for path swiotlb is refused at probe, off works"):
        refused_with_one_line(here, why)
    with here.case("5.10: writing swiotlb is refused, the device runs on"):
        refused_write(here, why)


def no_pool(here):
    why = "the kernel has no SWIOTLB: boot with swiotlb=65536, on x86 also iommu=soft"
    with here.case("no pool: a rule for path swiotlb is refused at probe, off works"):
        refused_with_one_line(here, why)
        expect("slots of the kernel's pool", here.vm.run(f"cat {SWIOTLB}/io_tlb_nslabs 2>/dev/null || echo 0").strip(),
               "0")
    with here.case("no pool: writing swiotlb is refused, the device runs on"):
        refused_write(here, why)


class Ample:
    """With a pool that is large enough for anything."""

    def __init__(self, here):
        self.here, self.vm = here, here.vm

    def run(self):
        here = self.here
        with here.case("the rule is followed"):
            here.load(here.disk, here.nic)
            self.first_used = here.slots("used")
            for device in here.disk, here.nic:
                expect_dma(device, state="attached", path="swiotlb", reason="rule for the device")
                expect("feature bit 33", device.feature(33), True)
            for device in here.other_disk, here.other_nic:
                expect_dma(device, state="attached", path="direct")
        self.only_the_chosen_device()
        self.segments()
        self.net_data()
        self.gives_back()

    def only_the_chosen_device(self):
        here = self.here
        chosen = guest.pci_name(BOUNCED_DISK)
        for what, command in (("reading", "dd if={} of=/dev/null bs=1M iflag=direct"),
                              ("writing", "dd if=/dev/zero of={} bs=1M count=16 oflag=direct")):
            with here.case(f"{what}: all bytes of the chosen disk bounce, none of the other"):
                bounces = guest.Bounces(self.vm)
                for disk in here.disk, here.other_disk:
                    self.vm.run(command.format(disk.node()) + " 2>/dev/null")
                moved = bounces.bytes()
                expect("devices that bounced", sorted(moved), [chosen])
                # a header and a status, 17 bytes, go with each request
                here.suite.check(16 * MIB <= moved[chosen] < 17 * MIB, f"{moved[chosen]} bytes bounced of 16 MiB")
                self.vm.run("echo 0 > /sys/kernel/tracing/events/swiotlb/swiotlb_bounced/enable")
        with here.case("data of both disks"):
            for disk in here.disk, here.other_disk:
                disk.check_data()

    def segments(self):
        with self.here.case("the number of segments fits half of the pool"):
            limits = {disk.slot: int(self.vm.run(f"cat {disk.dir}/block/*/queue/max_segments"))
                      for disk in (self.here.disk, self.here.other_disk)}
            slots = self.here.slots("nslabs")
            expect("max_segments", limits[BOUNCED_DISK], min(limits[OTHER_DISK], slots * SLOT // 2 // SEGMENT))

    def net_data(self):
        """Where a sync is left out, as stock 6.12 may (dma_skip_sync), received data is stale."""
        here = self.here
        for nic, bouncing in ((here.nic, True), (here.other_nic, False)):
            with here.case("net data both ways, packets of all sizes, " + ("bounced" if bouncing else "not bounced")):
                bounces = guest.Bounces(self.vm)
                nic.up()
                for size in PINGS:
                    nic.check_ping(size, count=1)
                nic.check_tcp(here.echo, TRANSFERS)
                moved = bounces.bytes()
                if bouncing:
                    expect("devices that bounced", sorted(moved), [guest.pci_name(BOUNCED_NIC)])
                    here.suite.check(moved[guest.pci_name(BOUNCED_NIC)] >= sum(TRANSFERS), f"bounced {moved}")
                else:
                    expect("bytes bounced", moved, {})
                nic.down()

    def gives_back(self):
        here = self.here
        with here.case("after detaching, the kernel's pool is used as before"):
            here.nic.up()
            here.nic.check_ping()
            here.nic.down()
            for device in here.disk, here.nic:
                device.choose("off")
            expect("slots in use", here.slots("used"), self.first_used)
            bounces = guest.Bounces(self.vm)
            here.disk.check_data()
            expect("bytes bounced", bounces.bytes(), {})
        with here.case("20 times swiotlb and back: slots in use as before"):
            for _ in range(20):
                here.disk.choose("swiotlb")
                here.disk.choose("off")
            expect("slots in use", here.slots("used"), self.first_used)


def small_pool(here, name):
    """Every size of request ends, with the right data; or the path is refused before any I/O."""
    with here.case(f"{name}: loads"):
        here.load(here.disk, here.other_disk, here.nic)
    slots = here.slots("nslabs")
    if here.disk.dma()["state"] == "refused":
        with here.case(f"{name}: refused before any I/O, off works"):
            here.suite.check(slots < LEAST_SLOTS, f"refused although there are {slots} slots")
            for disk in here.disk, here.other_disk:
                expect_refused(disk, "the kernel's SWIOTLB is smaller than 4 MiB: boot with swiotlb=65536")
                disk.choose("off")
                disk.check_data()
        return
    with here.case(f"{name}: the largest request fits half of the pool"):
        limits = here.vm.run(f"cd {here.disk.dir}/block/*/queue && cat max_segments max_segment_size").split()
        expect("max_segments, max_segment_size", limits, [str(slots * SLOT // 2 // SEGMENT), str(SEGMENT)])
    with here.case(f"{name}: one disk, all sizes"):
        transfer(here, [here.disk])
    with here.case(f"{name}: two disks at once, all sizes"):
        transfer(here, [here.disk, here.other_disk])
    with here.case(f"{name}: two disks at once while a NIC holds receive buffers"):
        here.nic.up()
        transfer(here, [here.disk, here.other_disk])
        here.nic.down()
    with here.case(f"{name}: the NIC alone"):
        here.nic.check_data(here.echo)


def transfer(here, disks):
    """Write and read 8 MiB of random data on each disk with every block size, within the deadline."""
    here.vm.run("rm -f /tmp/sums-*; head -c 8388608 /dev/urandom > /tmp/data\n" + "".join(
        f"""(for block in {' '.join(BLOCKS)}; do
                dd if=/tmp/data of={disk.node()} bs=$block oflag=direct conv=fsync,notrunc 2>/dev/null &&
                dd if={disk.node()} bs=$block count=8388608 iflag=direct,count_bytes 2>/dev/null | sha256sum ||
                echo failed
             done >/tmp/sums-{disk.slot}; touch /tmp/ended-{disk.slot}) &\n""" for disk in disks))
    ended = " && ".join(f"[ -e /tmp/ended-{disk.slot} ]" for disk in disks)
    checks.wait_until(f"transfers with {', '.join(BLOCKS)} ended",
                     lambda: here.vm.try_run(f"{ended} && rm /tmp/ended-*")[0] == 0, DEADLINE)
    data = here.vm.run("sha256sum < /tmp/data").split()[0]
    for disk in disks:
        sums = here.vm.run(f"cut -d' ' -f1 /tmp/sums-{disk.slot}").split()
        expect(f"data read from {disk.node()} for {', '.join(BLOCKS)}", sums, [data] * len(BLOCKS))
        expect(f"data in the image of {disk.node()}", image.sha256(disk.path, 0, 8 * MIB), data)


if __name__ == "__main__":
    main()
