#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Does everything come and go cleanly: module, drivers, devices, power; idle and under load?"""

import contextlib
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import guest                                            # pylint: disable=wrong-import-position
from guest import Disk, Nic, expect_dma
from lib import build, checks, image, kernels, ktap, vm as machine
from lib.checks import expect, expect_in

# One disk and one NIC for each path.
DISK_SLOT = {"off": 2, "direct": 3, "platform": 4, "swiotlb": 5, "bounce": 6}
NIC_SLOT = {"off": 7, "direct": 8, "platform": 9, "swiotlb": 10, "bounce": 11}
# Root ports, with a disk and a NIC to plug in for each path.
DISK_PORT = {"off": 16, "direct": 17, "platform": 18, "swiotlb": 19, "bounce": 20}
NIC_PORT = {"off": 21, "direct": 22, "platform": 23, "swiotlb": 24, "bounce": 25}
DEBUG = os.environ.get("KVER") == kernels.DEBUG_LINE
UNPLUG_ROUNDS = 10 if os.environ.get("LONG") else 1 if DEBUG else 2
LOAD_ROUNDS = 50
# On the debug kernel, where kmemleak looks for what is lost: it needs no growth to see it.
DEBUG_ROUNDS = 5
# The caches that what the module allocates for a device, and larger things, come from.
LARGE_ALLOCATION = re.compile(r"kmalloc-(.*-)?(512|1k|2k|4k|8k)")
# Of ten devices at once, under load; the debug kernel takes several times as long for everything.
UNPLUG_DEADLINE = 150 if DEBUG else 30


def main():
    suite = ktap.Suite("lifecycle")
    kernel = kernels.wanted()
    modules = build.build(kernel)
    # 5.10 refuses path swiotlb; test_swiotlb.py looks at how
    paths = [path for path in DISK_SLOT if path != "swiotlb" or kernel.line != "5.10"]
    with contextlib.ExitStack() as stack:
        images = {slot: stack.enter_context(image.image(16, seed=slot))
                  for path in paths for slot in (DISK_SLOT[path], DISK_PORT[path])}
        echo = stack.enter_context(guest.Echo())
        with machine.VM(kernel, devices=fixed_devices(paths, images), append="iommu=soft swiotlb=32768",
                        name="lifecycle", kos=modules.values()) as vm:
            Fixed(suite, vm, paths, images, echo).run()
        with machine.VM(kernel, devices=ports(paths, images), append="iommu=soft swiotlb=32768",
                        name="lifecycle-hotplug", kos=modules.values()) as vm:
            HotPlug(suite, vm, paths, images).run()
    suite.finish()


def fixed_devices(paths, images):
    arguments = []
    for path in paths:
        arguments += guest.blk(DISK_SLOT[path], images[DISK_SLOT[path]])
        arguments += guest.net(NIC_SLOT[path])
    return arguments


def ports(paths, images):
    arguments = []
    for number, slot in enumerate(slot for path in paths for slot in (DISK_PORT[path], NIC_PORT[path])):
        arguments += ["-device", f"pcie-root-port,id=port{slot},chassis={number},addr={slot:#x}"]
    for path in paths:
        arguments += guest.backing(f"disk{DISK_PORT[path]}", images[DISK_PORT[path]])
        arguments += guest.netdev(NIC_PORT[path])
    return arguments


class Fixed:
    """Devices that stay plugged in, module and drivers that come and go."""

    def __init__(self, suite, vm, paths, images, echo):
        self.suite, self.vm, self.paths, self.echo = suite, vm, paths, echo
        self.disks = {path: Disk(vm, DISK_SLOT[path], images[DISK_SLOT[path]]) for path in paths}
        self.nics = {path: Nic(vm, NIC_SLOT[path]) for path in paths}
        self.devices = [*self.disks.values(), *self.nics.values()]
        self.rules = ",".join(f"{guest.pci_name(device.slot)}={path}"
                              for devices in (self.disks, self.nics) for path, device in devices.items())

    def case(self, name):
        return checks.case(self.suite, self.vm, name)

    def run(self):
        self.vm.run("modprobe virtio_pci; modprobe virtio_blk; modprobe virtio_net")
        self.load_after_drivers()
        self.load_twice()
        self.unload_with_nothing_bound()
        self.load_before_drivers()
        self.unload_under_load()
        self.driver_reload()
        self.suspend()
        self.bind_rounds()
        self.load_rounds()

    # --- loading and unloading ---

    def load_after_drivers(self):
        with self.case("loaded after the drivers: bound devices run stock, and say so"):
            self.stock_features = {device.slot: self.features(device) for device in self.devices}
            expect("insmod", guest.load(self.vm), "")
            expect("virtio_dma is loaded", guest.loaded(self.vm), True)
            for device in self.devices:
                expect_dma(device, path="off", state="stock", offered="unknown",
                           reason="left alone: bound before the module came; write a path")
                expect("feature word", self.features(device), self.stock_features[device.slot])
            self.check_data()
        for path in self.paths:
            with self.case(f"loaded after the drivers: writing {path} puts it into force"):
                for device in self.disks[path], self.nics[path]:
                    device.choose(path)
                self.expect_on(path, "sysfs" if path != "off" else
                               "left alone: bound before the module came; write a path")
                self.check_data([path])

    def load_twice(self):
        with self.case("loading twice is refused, the devices stay as they are"):
            expect_in("insmod", guest.load(self.vm), "File exists")
            for path in self.paths:
                expect_dma(self.disks[path], path=path)
            self.check_data()

    def unload_with_nothing_bound(self):
        with self.case("unloading with nothing attached: all is as before the first load"):
            for device in self.devices:
                device.choose("off")
            self.vm.run("rmmod virtio_dma")
            expect("virtio_dma is loaded", guest.loaded(self.vm), False)
            for device in self.devices:
                expect("feature word", self.features(device), self.stock_features[device.slot])
                expect("dma/ is left", self.vm.try_run(f"ls -d {device.dir}/dma")[0] == 0, False)
            self.check_data()

    def load_before_drivers(self):
        with self.case("loaded before the drivers: every device gets its path"):
            self.vm.run(guest.UNLOAD_DRIVERS)
            expect("insmod", guest.load(self.vm, self.rules), "")
            for device in self.devices:
                expect_dma(device, state="unbound", reason="no driver is bound")
            self.vm.run("modprobe virtio_blk; modprobe virtio_net")
            self.expect_all_on_their_paths()
            self.check_data()

    def unload_under_load(self):
        attached = [path for path in self.paths if path != "off"]
        with self.case(f"unloading under load on {', '.join(attached)}: busy, devices run on"):
            self.begin_load(attached)
            for _ in range(5):
                expect_in("rmmod", self.vm.try_run("rmmod virtio_dma")[1], "Resource temporarily unavailable")
            self.end_load(attached)
            self.expect_all_on_their_paths()
        for path in attached:
            with self.case(f"unloading with just one device bound, on {path}: busy"):
                self.vm.run(guest.UNLOAD_DRIVERS)
                self.vm.run("modprobe virtio_blk")
                for disk in self.disks.values():
                    if disk is not self.disks[path]:
                        disk.unbind()
                expect_in("rmmod", self.vm.try_run("rmmod virtio_dma")[1], "Resource temporarily unavailable")
                expect_dma(self.disks[path], path=path, state="attached")
        with self.case("unloading under load on off: works, devices run on"):
            self.disks[attached[-1]].unbind()
            expect("bind", self.disks["off"].bind("virtio_blk"), "")
            self.vm.run("modprobe virtio_net")
            for path in attached:
                self.nics[path].unbind()
            self.begin_load(["off"])
            for _ in range(5):
                self.vm.run(f"rmmod virtio_dma && insmod {guest.MODULE} rules={self.rules}")
            self.end_load(["off"])

    def begin_load(self, paths):
        """Read the disks and use the NICs until end_load()."""
        for path in paths:
            self.nics[path].up()
        self.vm.run("rm -rf /tmp/load; mkdir /tmp/load\n" + "".join(f"""
            (while [ ! -e /tmp/load/stop ]; do dd if={self.disks[path].node()} bs=1M iflag=direct 2>/dev/null | sha256sum
             done >/tmp/load/sums-{path}; touch /tmp/load/ended-disk-{path}) &
            (while [ ! -e /tmp/load/stop ]; do ping -c 1 -W 20 10.0.{self.nics[path].slot}.2 >/dev/null; echo $?
             done >/tmp/load/pings-{path}; touch /tmp/load/ended-nic-{path}) &
            """ for path in paths))

    def end_load(self, paths):
        """Neither readers nor pings may have noticed anything."""
        self.vm.run("touch /tmp/load/stop")
        checks.wait_until("all load has ended", lambda: self.vm.run("ls /tmp/load | grep -c ended || true").strip() ==
                         str(2 * len(paths)), 60)
        for path in paths:
            sums = {line.split()[0] for line in self.vm.run(f"cat /tmp/load/sums-{path}").splitlines()}
            expect(f"data read on {path} meanwhile", sums, {image.sha256(self.disks[path].path)})
            expect(f"pings on {path} meanwhile", set(self.vm.run(f"cat /tmp/load/pings-{path}").split()), {"0"})
            self.nics[path].down()

    def driver_reload(self):
        with self.case("the drivers unloaded and loaded again: the paths again"):
            for _ in range(2):
                self.vm.run(guest.UNLOAD_DRIVERS)
                for device in self.devices:
                    expect_dma(device, state="unbound")
                self.vm.run("modprobe virtio_blk; modprobe virtio_net")
                self.expect_all_on_their_paths()
            self.check_data()

    # --- power ---

    def suspend(self):
        for level in "devices", "platform":
            with self.case(f"suspend and resume, as far as {level}: paths, features and data survive"):
                levels = self.vm.try_run("cat /sys/power/pm_test")[1].split()
                if level not in [name.strip("[]") for name in levels]:
                    raise ktap.Skip(f"the kernel has no /sys/power/pm_test with {level}")
                features = {device.slot: self.features(device) for device in self.devices}
                log = checks.Log(self.vm)
                self.vm.run(f"echo 0 > /sys/module/suspend/parameters/pm_test_delay\n"
                            f"echo {level} > /sys/power/pm_test && echo mem > /sys/power/state\n"
                            "status=$?; echo none > /sys/power/pm_test; exit $status", timeout=120)
                expect_in("log", "\n".join(log.lines()), "PM: suspend exit")
                expect("feature words", {device.slot: self.features(device) for device in self.devices}, features)
                self.expect_all_on_their_paths()
                self.check_data()

    # --- memory ---

    def bind_rounds(self):
        with self.case("100 times unbound and bound on every path: no memory is lost"):
            # all paths at the same time, to save time
            self.expect_no_leak(100, "".join(
                f"""(for i in $(seq $rounds); do
                    echo {device.name()} > {guest.DRIVERS}/{driver}/unbind
                    echo {device.name()} > {guest.DRIVERS}/{driver}/bind
                done) & """
                for devices, driver in ((self.disks, "virtio_blk"), (self.nics, "virtio_net"))
                for device in devices.values()) + "wait")
            self.expect_all_on_their_paths()
            self.check_data()
            files = self.disks["direct"].dma()
            expect("mappings left", files["maps"] - files["unmaps"], 0)

    def load_rounds(self):
        with self.case(f"{LOAD_ROUNDS} times loaded and unloaded under traffic on stock devices: no memory is lost"):
            self.vm.run(f"{guest.UNLOAD_DRIVERS}; rmmod virtio_dma; modprobe virtio_blk; modprobe virtio_net")
            self.begin_load(["off"])
            self.expect_no_leak(LOAD_ROUNDS, "for i in $(seq $rounds); do "
                                f"insmod {guest.MODULE} && rmmod virtio_dma || exit 1; done")
            self.end_load(["off"])

    def expect_no_leak(self, rounds, script):
        """No size of allocation may grow by about one for each round.

        Small ones and those of other subsystems go up and down with what else the kernel does: not looked at.
        """
        if DEBUG:
            self.vm.run(f"rounds={DEBUG_ROUNDS}\n{script}", timeout=240)
            return
        self.vm.run(f"rounds=10\n{script}", timeout=240)        # what is allocated once and kept
        before = self.objects()
        self.vm.run(f"rounds={rounds}\n{script}", timeout=400)
        after = self.objects()
        grown = {name: after[name] - before.get(name, 0) for name in after
                 if after[name] - before.get(name, 0) > rounds * 3 // 4 and LARGE_ALLOCATION.fullmatch(name)}
        expect("kernel objects that became more", grown, {})

    def objects(self):
        """The number of live objects in each slab cache, after what is only parked has been freed."""
        self.vm.run("sync; echo 3 > /proc/sys/vm/drop_caches; "
                    "for cache in /sys/kernel/slab/*/shrink; do echo 1 > $cache; done", timeout=120)
        rows = [line.split() for line in self.vm.run("cat /proc/slabinfo").splitlines()[2:]]
        return {row[0]: int(row[1]) for row in rows}

    # --- what holds ---

    def check_data(self, paths=None):
        """Data both ways on the disks and NICs of these paths, of all by default; one script, as it is quicker."""
        disks = [self.disks[path] for path in paths or self.paths]
        nics = [self.nics[path] for path in paths or self.paths]
        sums = self.vm.run("set -e; head -c 1048576 /dev/urandom > /tmp/data; sha256sum < /tmp/data\n" + "".join(f"""
            disk=/dev/$(basename {disk.dir}/block/*)
            dd if=$disk bs=128k count=16 iflag=direct 2>/dev/null | sha256sum
            dd if=/tmp/data of=$disk bs=128k seek=32 oflag=direct conv=fsync,notrunc 2>/dev/null
            """ for disk in disks) + "".join(f"""
            nic=$(basename {nic.dir}/net/*)
            ip addr flush dev $nic; ip addr add 10.0.{nic.slot}.15/24 dev $nic; ip link set $nic up
            nc -w 60 10.0.{nic.slot}.2 {self.echo.port} < /tmp/data > /tmp/echoed
            cmp /tmp/data /tmp/echoed; ip link set $nic down
            """ for nic in nics), timeout=180).split()[::2]
        expect("data read", sums[1:], [image.sha256(disk.path, 0, 2 * guest.MIB) for disk in disks])
        for disk in disks:
            expect("data written", image.sha256(disk.path, 4 * guest.MIB, guest.MIB), sums[0])

    def features(self, device):
        return self.vm.run(f"cat {device.dir}/features").strip()

    def expect_all_on_their_paths(self):
        for path in self.paths:
            self.expect_on(path, "rule for the device")

    def expect_on(self, path, reason):
        """Disk and NIC of the path are on it. One script for all files: it is quicker."""
        for device in self.disks[path], self.nics[path]:
            *files, features = self.vm.run(f"cd {device.dir} && cat dma/path dma/state dma/reason features").splitlines()
            expect(f"path, state, reason of {device.dir}", files,
                   [path, "stock" if path == "off" else "attached", reason])
            expect("feature bit 33", features[33] == "1", path != "off")


class HotPlug:
    """Devices that are plugged in and out, all paths at the same time."""

    def __init__(self, suite, vm, paths, images):
        self.suite, self.vm, self.paths = suite, vm, paths
        self.disks = {path: Disk(vm, DISK_PORT[path], images[DISK_PORT[path]], behind_port=True) for path in paths}
        self.nics = {path: Nic(vm, NIC_PORT[path], behind_port=True) for path in paths}

    def case(self, name):
        return checks.case(self.suite, self.vm, name)

    def both(self):
        return [(path, device) for devices in (self.disks, self.nics) for path, device in devices.items()]

    def run(self):
        with self.case("plugged in: every device gets the path configured for it"):
            self.load()
            self.plug_all()
            self.check_all()
        for number in range(1, UNPLUG_ROUNDS + 1):
            with self.case(f"unplugged under load and plugged in again, round {number}"):
                self.unplug_under_load()
                self.plug_all()
                self.check_all()
        for number in range(1, UNPLUG_ROUNDS + 1):
            with self.case(f"removed through sysfs under load and found again, round {number}"):
                self.begin_load()
                self.vm.run("".join(f"echo 1 > $(echo {device.pci_dir}/remove)\n" for _, device in self.both()))
                self.expect_load_ended()
                self.vm.run("echo 1 > /sys/bus/pci/rescan")
                self.check_all()
        with self.case("unplugged while paths are written"):
            self.unplug_during_writes()
            self.plug_all()
            self.check_all()
        with self.case("after all that nothing is held: the module can be unloaded"):
            self.unplug_all()
            self.vm.run("rmmod virtio_dma", timeout=30)
            expect("virtio_dma is loaded", guest.loaded(self.vm), False)

    def load(self):
        rules = []
        for path, device in self.both():
            port = f"/sys/bus/pci/devices/{guest.pci_name(device.slot)}"
            bus = int(self.vm.run(f"cat {port}/secondary_bus_number"))
            rules.append(f"0000:{bus:02x}:00.0={path}")
        self.vm.run("modprobe virtio_pci; modprobe virtio_blk; modprobe virtio_net")
        expect("insmod", guest.load(self.vm, ",".join(rules)), "")
        expect("virtio_dma is loaded", guest.loaded(self.vm), True)

    def plug_all(self):
        for disk in self.disks.values():
            self.vm.qmp("device_add", driver="virtio-blk-pci", id=f"blk{disk.slot}",
                        drive=f"disk{disk.slot}", bus=f"port{disk.slot}")
        for nic in self.nics.values():
            self.vm.qmp("device_add", driver="virtio-net-pci", id=f"nic{nic.slot}",
                        netdev=f"net{nic.slot}", bus=f"port{nic.slot}")
        there = " && ".join([f"[ -e {disk.dir}/block/vd*/size ]" for disk in self.disks.values()] +
                            [f"[ -e {nic.dir}/net/* ]" for nic in self.nics.values()])
        checks.wait_until("all devices are there", lambda: self.vm.try_run(there)[0] == 0)

    def check_all(self):
        for path, device in self.both():
            expect_dma(device, path=path, state="stock" if path == "off" else "attached", reason="rule for the device")
        for disk in self.disks.values():
            disk.check_read()
            disk.check_write(where=4)
        for nic in self.nics.values():
            nic.up()
            nic.check_ping()

    def unplug_all(self):
        idents = [f"blk{disk.slot}" for disk in self.disks.values()] + [f"nic{nic.slot}" for nic in self.nics.values()]
        for ident in idents:
            self.vm.qmp("device_del", id=ident)
        for ident in idents:
            self.vm.wait_event("DEVICE_DELETED", timeout=UNPLUG_DEADLINE, device=ident)

    def unplug_under_load(self):
        self.begin_load()
        self.unplug_all()
        self.expect_load_ended()

    def begin_load(self):
        """Readers and pings that stop at the first error, and leave a word in /tmp/ended/ then."""
        self.vm.run("rm -rf /tmp/ended; mkdir /tmp/ended\n" + "".join(
            f"(while dd if={disk.node()} of=/dev/null bs=1M iflag=direct 2>/tmp/error-{disk.slot}; do :; done\n"
            f" touch /tmp/ended/{disk.slot}) &\n" for disk in self.disks.values()) + "".join(
            f"(while ping -c 1 -W 2 10.0.{nic.slot}.2 >/dev/null 2>&1; do :; done; touch /tmp/ended/{nic.slot}) &\n"
            for nic in self.nics.values()))
        expect("loads that ended by themselves", self.vm.run("ls /tmp/ended"), "")

    def expect_load_ended(self):
        slots = sorted(str(device.slot) for _, device in self.both())
        checks.wait_until("every reader and every ping has got an error",
                         lambda: sorted(self.vm.run("ls /tmp/ended").split()) == slots, UNPLUG_DEADLINE)
        for disk in self.disks.values():
            error = self.vm.run(f"cat /tmp/error-{disk.slot}")
            self.suite.check(re.search(r"Input/output error|No such (file|device)", error), f"dd said {error!r}")
        gone = " && ".join(f"[ ! -e {device.dir} ]" for _, device in self.both())
        checks.wait_until("the devices are gone", lambda: self.vm.try_run(gone)[0] == 0, UNPLUG_DEADLINE)

    def unplug_during_writes(self):
        for nic in self.nics.values():
            nic.down()
        # until the file is gone; a write may well fail while its device goes
        self.vm.run("".join(
            f"""(file=$(echo {device.dir}/dma/path); n=0
                 while [ -e $file ]; do
                     for path in direct platform off; do (echo $path > $file) 2>/dev/null; done
                     echo round >> /tmp/writes-{device.slot}
                 done; touch /tmp/wrote-{device.slot}) &\n""" for _, device in self.both()))
        written = " && ".join(f"[ -s /tmp/writes-{device.slot} ]" for _, device in self.both())
        checks.wait_until("every device has been written to", lambda: self.vm.try_run(written)[0] == 0, 60)
        self.unplug_all()
        ended = " && ".join(f"[ -e /tmp/wrote-{device.slot} ]" for _, device in self.both())
        checks.wait_until("the writers have ended", lambda: self.vm.try_run(ended)[0] == 0, UNPLUG_DEADLINE)


if __name__ == "__main__":
    main()
