#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Does each virtio device get exactly the path that was asked for, and is every bad wish refused by name?

Rules at load and their precedence, writes to sysfs while devices are idle or in use, the hook.
"""

import contextlib
import shlex
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import guest                                            # pylint: disable=wrong-import-position
from guest import Disk, Device, Nic, expect_dma
from lib import build, checks, image, kernels, ktap, vm as machine
from lib.checks import Log, expect, expect_in

PLAIN_DISK, OFFERING_DISK, SPARE_DISK, NIC, RNG = 5, 6, 7, 8, 9
# Of a very long rule the log has the beginning only.
RULE_SHOWN = 80
HOOK = "virtio_dma_test_hook"
HOOK_KO = f"/ko/{HOOK}.ko"
# enum virtio_dma_path in include/virtio_dma.h
NUMBER = {"auto": 0, "off": 1, "direct": 2, "platform": 3, "swiotlb": 4, "bounce": 5, "nonsense": 99}
BLK, NET = 2, 1

UNKNOWN_PATH = "unknown path; use off, direct, platform, swiotlb or bounce"
UNKNOWN_DEVICE = "unknown device; use net, blk, ..., a PCI or MMIO device name, or virtioN"
NO_DEVICE = "no name of a device; write PCI devices like 0000:00:05.0"
NO_FORM = "not of the form DEVICE=PATH"
LONG = "x" * 900

# rules=, the rule that must be named, the reason that must be given
BAD_RULES = [
    ("blk", "blk", NO_FORM),
    ("direct", "direct", NO_FORM),
    ("blk:direct", "blk:direct", NO_FORM),
    (",", "", NO_FORM),
    ("blk=direct,", "", NO_FORM),
    (",blk=direct", "", NO_FORM),
    ("blk=direct,,net=off", "", NO_FORM),
    ("blk=", "blk=", UNKNOWN_PATH),
    ("=", "=", UNKNOWN_PATH),
    ("blk=bogus", "blk=bogus", UNKNOWN_PATH),
    ("blk=Direct", "blk=Direct", UNKNOWN_PATH),
    ("blk=direct=off", "blk=direct=off", UNKNOWN_PATH),
    ("blk=directs", "blk=directs", UNKNOWN_PATH),
    ("blk=direc", "blk=direc", UNKNOWN_PATH),
    ("blk=auto", "blk=auto", UNKNOWN_PATH),
    ("blk=invalid", "blk=invalid", UNKNOWN_PATH),
    ("=direct", "=direct", UNKNOWN_DEVICE),
    ("disk=direct", "disk=direct", UNKNOWN_DEVICE),
    ("BLK=direct", "BLK=direct", UNKNOWN_DEVICE),
    ("virtio=direct", "virtio=direct", UNKNOWN_DEVICE),
    ("virtio0x=direct", "virtio0x=direct", UNKNOWN_DEVICE),
    ("virtio-1=direct", "virtio-1=direct", UNKNOWN_DEVICE),
    ("vda=direct", "vda=direct", UNKNOWN_DEVICE),
    ("0000=direct", "0000=direct", UNKNOWN_DEVICE),
    ("iommu=direct", "iommu=direct", "devices of this type can not be routed"),
    ("iommu=off", "iommu=off", "devices of this type can not be routed"),
    ("blk=direct,net=off,blk=off", "blk=off", "this device has a rule already"),
    ("blk=direct,blk=direct", "blk=direct", "this device has a rule already"),
    ("0000:00:05.0=off,0000:00:05.0=direct", "0000:00:05.0=direct", "this device has a rule already"),
    ("virtio0=off,virtio0=off", "virtio0=off", "this device has a rule already"),
    ('"blk=direct, net=off"', " net=off", UNKNOWN_DEVICE),
    ('"blk =direct"', "blk =direct", UNKNOWN_DEVICE),
    ('"blk= direct"', "blk= direct", UNKNOWN_PATH),
    ('"blk=direct "', "blk=direct ", UNKNOWN_PATH),
    ("net=off,blk=bogus,disk=off", "blk=bogus", UNKNOWN_PATH),
    (f"{LONG}=direct", f"{LONG}=direct", UNKNOWN_DEVICE),
    (f"blk={LONG}", f"blk={LONG}", UNKNOWN_PATH),
    # what looks like a device name but cannot be one
    ("0000:00:0g.0=off", "0000:00:0g.0=off", NO_DEVICE),
    ("0000:00:05=off", "0000:00:05=off", NO_DEVICE),
    ("0000:00:0A.0=off", "0000:00:0A.0=off", NO_DEVICE),
    ('"0000:00:05.0 =off"', "0000:00:05.0 =off", NO_DEVICE),
    (":=off", ":=off", NO_DEVICE),
]

# Who has a say, the strongest first; the paths of neighbours differ, so that each step shows.
# The device offers VIRTIO_F_ACCESS_PLATFORM.
LADDER = [
    ("virtio rule", "{virtio}=direct,{pci}=platform,blk=off", "direct", "direct", "rule for the virtio device"),
    ("device rule", "blk=off,{pci}=platform", "direct", "platform", "rule for the device"),
    ("type rule", "blk=off", "direct", "off", "rule for the device type"),
    ("hook", None, "direct", "direct", "hook test"),
    ("hook without an opinion", None, "auto", "platform", "device offers VIRTIO_F_ACCESS_PLATFORM"),
    ("own feature", None, None, "platform", "device offers VIRTIO_F_ACCESS_PLATFORM"),
]


def main():
    suite = ktap.Suite("rules")
    kernel = kernels.wanted()
    modules = build.build(kernel)
    with contextlib.ExitStack() as stack:
        images = {slot: stack.enter_context(image.image(16, seed=slot))
                  for slot in (PLAIN_DISK, OFFERING_DISK, SPARE_DISK)}
        devices = [
            *guest.blk(PLAIN_DISK, images[PLAIN_DISK]),
            *guest.blk(OFFERING_DISK, images[OFFERING_DISK], guest.OFFERING),
            *guest.blk(SPARE_DISK, partitioned(images[SPARE_DISK])),
            *guest.net(NIC), "-device", f"virtio-rng-pci,addr={RNG:#x}"]
        echo = stack.enter_context(guest.Echo())
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="guest-drivers-")))
        vm = stack.enter_context(machine.VM(
            kernel, devices=devices, name="rules",
            kos=[*modules.values(), twin_of_hook(modules[HOOK], home)]))
        Tests(suite, vm, images, echo).run()
    suite.finish()


def partitioned(path):
    """Write a table with one partition, the second half of 16 MiB, into the image."""
    sectors_of_8_mib = 16384
    entry = bytes(4) + b"\x83" + bytes(3) + 2 * sectors_of_8_mib.to_bytes(4, "little")
    with open(path, "r+b") as disk:
        disk.seek(446)
        disk.write(entry + bytes(48) + b"\x55\xaa")
    return path


def twin_of_hook(ko, home):
    """The hook's module under another name, or the kernel would not look at it while the first is loaded."""
    twin = home / f"{twin_name()}.ko"
    twin.write_bytes(ko.read_bytes().replace(HOOK.encode() + b"\0", twin_name().encode() + b"\0"))
    return twin


def twin_name():
    return HOOK[:-1] + "2"


class Tests:
    def __init__(self, suite, vm, images, echo):
        self.suite, self.vm, self.echo = suite, vm, echo
        self.plain = Disk(vm, PLAIN_DISK, images[PLAIN_DISK])
        self.offering = Disk(vm, OFFERING_DISK, images[OFFERING_DISK])
        self.spare = Disk(vm, SPARE_DISK, images[SPARE_DISK])
        self.nic = Nic(vm, NIC)
        self.rng = Device(vm, RNG)
        # the guest has no SWIOTLB, so that there is a path to be refused
        self.why_no_swiotlb = ("this kernel's SWIOTLB cannot serve one device only" if vm.kernel.line == "5.10" else
                               "the kernel has no SWIOTLB")

    def case(self, name):
        return checks.case(self.suite, self.vm, name)

    def run(self):
        self.vm.run("modprobe virtio_pci; modprobe virtio_blk; modprobe virtio_net; modprobe ext4; modprobe md_mod")
        self.bad_rules()
        self.vm.run(guest.UNLOAD_DRIVERS)
        self.ladder()
        self.sysfs_over_rule()
        self.different_paths_at_once()
        self.sysfs_words()
        self.busy_disk()
        self.busy_nic()
        self.other_type()
        self.hook()

    # --- loading ---

    def reload(self, rules=None, hook_path=None, hook_type=0):
        """Module, hook and drivers afresh, so that all devices are chosen a path for anew."""
        self.vm.run(f"""for module in virtio_blk virtio_net virtio_rng {HOOK} virtio_dma; do
            [ ! -d /sys/module/$module ] || rmmod $module || exit 1; done""")
        expect("insmod", guest.load(self.vm, rules), "")
        if hook_path is not None:
            self.vm.run(f"insmod {HOOK_KO} path={NUMBER[hook_path]} device_type={hook_type}")
        self.vm.run("modprobe virtio_blk; modprobe virtio_net")

    def bad_rules(self):
        tried = self.try_rules([rules for rules, _, _ in BAD_RULES])
        for (rules, named, reason), (answer, lines) in zip(BAD_RULES, tried):
            with self.suite.case(f"bad rule {rules[:40]!r} is refused"):
                expect_in("insmod", answer, guest.EINVAL)
                # busybox insmod tries a second system call when the first one fails: the same line twice
                expect("number of different lines in the log", len(set(lines)), 1)
                expect_in("the line in the log", lines[0], f'virtio_dma: rule "{named[:RULE_SHOWN]}" refused: {reason}')
        with self.case("after all refusals the devices are as before"):
            expect("virtio_dma is loaded", guest.loaded(self.vm), False)
            expect("bit 33 of the plain disk", self.plain.feature(33), False)
            expect("dma/ directories", self.vm.run("ls -d /sys/bus/virtio/devices/*/dma 2>/dev/null || true"), "")
            self.plain.check_data()
            self.nic.check_data(self.echo)

    def try_rules(self, all_rules):
        """Load the module with each in turn: [(what insmod says, what the kernel says)]. One script: it is quicker."""
        mark = "next bad rule"
        self.vm.run(f"insmod {guest.MODULE}; rmmod virtio_dma")     # what is said once at the first load
        log = Log(self.vm)
        answers = self.vm.run("".join(
            f"echo '{mark}' | tee /dev/kmsg; insmod {guest.MODULE} {shlex.quote('rules=' + rules)} 2>&1 && "
            "rmmod virtio_dma\n" for rules in all_rules) + "true", timeout=120).split(mark)[1:]
        lines = "\n".join(log.lines()).split(mark)[1:]
        return [(answer, [line for line in text.splitlines() if line.startswith("virtio_dma: ")])
                for answer, text in zip(answers, lines)]

    # --- who has a say ---

    def ladder(self):
        for name, rules, hook_path, path, reason in LADDER:
            with self.case(f"precedence: {name}"):
                names = {"virtio": self.offering.name(), "pci": guest.pci_name(OFFERING_DISK)}
                self.reload(rules and rules.format(**names), hook_path)
                self.expect_path(self.offering, path, reason)
                self.offering.check_data()
        with self.case("precedence: default"):
            self.reload()
            for device in self.plain, self.nic:
                self.expect_path(device, "direct", "default")
            self.plain.check_data()

    @staticmethod
    def expect_path(device, path, reason):
        state = "stock" if path == "off" else "attached"
        expect_dma(device, path=path, reason=reason, state=state, refused="")

    def sysfs_over_rule(self):
        with self.case("precedence: sysfs over a rule for the virtio device, and auto goes back to it"):
            self.reload(f"{self.plain.name()}=platform")
            self.expect_path(self.plain, "platform", "rule for the virtio device")
            for path in "off", "direct":
                self.plain.choose(path)
                self.expect_path(self.plain, path, "sysfs")
                self.plain.check_data()
            self.plain.choose("auto")
            self.expect_path(self.plain, "platform", "rule for the virtio device")
        with self.case("a rule for a device that is not there harms nobody"):
            self.reload("0000:00:1f.7=platform,virtio77=off,a003e00.virtio_mmio=off")
            self.expect_path(self.plain, "direct", "default")
            self.plain.check_data()

    def different_paths_at_once(self):
        with self.case("different paths at once, counters for each device"):
            self.reload(f"{guest.pci_name(PLAIN_DISK)}=direct,{guest.pci_name(OFFERING_DISK)}=platform,"
                        f"{guest.pci_name(SPARE_DISK)}=bounce,net=direct")
            self.expect_path(self.spare, "bounce", "rule for the device")
            self.nic.up()
            before = self.counters()
            self.vm.run(f"dd if={self.plain.node()} of=/dev/null bs=1M iflag=direct & "
                        f"dd if={self.offering.node()} of=/dev/null bs=1M iflag=direct & "
                        f"dd if={self.spare.node()} of=/dev/null bs=1M iflag=direct & wait")
            after = self.counters()
            moved = after[PLAIN_DISK]["map_bytes"] - before[PLAIN_DISK]["map_bytes"]
            self.suite.check(16 * guest.MIB <= moved < 17 * guest.MIB, f"the direct disk mapped {moved} bytes of 16 MiB")
            expect("counters of the disk on platform", set(after[OFFERING_DISK].values()), {0})
            moved = after[SPARE_DISK]["bounced_from_device"] - before[SPARE_DISK]["bounced_from_device"]
            self.suite.check(16 * guest.MIB <= moved < 17 * guest.MIB, f"the bounced disk bounced {moved} bytes of 16 MiB")
            self.nic.check_tcp(self.echo)
            final = self.counters()
            for slot in PLAIN_DISK, SPARE_DISK:
                expect("counters of a disk while only the NIC is used", final[slot], after[slot])
            moved = final[NIC]["map_bytes"] - after[NIC]["map_bytes"]
            # what comes in may have been mapped before, in pages that are used again and again
            self.suite.check(moved >= 2 * guest.MIB, f"the NIC mapped {moved} bytes, 2 MiB went each way")
            self.nic.down()
            for disk in self.plain, self.offering, self.spare:
                disk.check_data()

    def counters(self):
        names = ("maps", "unmaps", "map_bytes", "map_failures", "allocs", "frees", "bounced_from_device")
        found = {}
        for device in self.plain, self.offering, self.spare, self.nic:
            files = device.dma()
            found[device.slot] = {name: files[name] for name in names}
        return found

    # --- writes to sysfs ---

    def expect_refused_writes(self, device, paths, errno, why):
        """Each write fails with this error, the log says why, and the device goes on as it was."""
        # one script for all: it is quicker
        output = self.vm.run(f"""
            cd {device.dir}
            state() {{ basename $(readlink driver); cat dma/path dma/state dma/reason; }}
            state > /tmp/before
            """ + "".join(f"""
            lines=$(dmesg | wc -l)
            echo 'write begins'
            (echo {shlex.quote(path)} > dma/path) 2>&1
            state | cmp - /tmp/before && echo unchanged
            dmesg | tail -n +$((lines + 1))
            """ for path in paths))
        tried = output.split("write begins\n")[1:]
        expect("number of writes", len(tried), len(paths))
        name = device.name()
        for path, said in zip(paths, tried):
            lines = [line for line in said.splitlines() if "virtio_dma: " in line]
            expect_in(f"writing {path!r}", said, errno)
            expect_in(f"after writing {path!r}", said, "unchanged")
            expect(f"number of lines in the log after writing {path!r}", len(lines), 1)
            expect_in("the line in the log", lines[0], why)
            expect_in("the line in the log", lines[0], name)

    UNKNOWN_WORDS = ("", "bogus", "Direct", "direct ", "directt", "dir", " direct", "direct off", "x" * 1000)

    def sysfs_words(self):
        with self.case("unknown words written to dma/path are refused: device as before"):
            self.expect_refused_writes(self.plain, self.UNKNOWN_WORDS, guest.EINVAL,
                                       "unknown path; use off, direct, platform, swiotlb, bounce or auto")
            self.plain.check_read()
        with self.case("writing a path that the contract refuses: device as before"):
            self.expect_refused_writes(self.plain, ["swiotlb"], guest.EOPNOTSUPP,
                                       f"path swiotlb refused: {self.why_no_swiotlb}")
            self.plain.check_data()
        with self.case("a disk keeps its name over rebinding"):
            node = self.plain.node()
            for path in ("platform", "bounce", "direct", "auto") * 2:
                self.plain.choose(path)
                expect("the disk's name", self.plain.node(), node)
            self.plain.check_data()

    # What uses the disk, begin, end, the reason.
    IN_USE = "the disk is mounted, swapped on, or part of another device"
    USES = [
        ("mounted", "mke2fs -F {node} >/dev/null 2>&1 && mount -t ext2 {node} /mnt", "umount /mnt", IN_USE),
        ("with a partition mounted",
         "mke2fs -F {node}1 >/dev/null 2>&1 && mount -t ext2 {node}1 /mnt", "umount /mnt", IN_USE),
        ("with a partition open", "sleep 1000 <{node}1 & echo $! >/tmp/pid", "kill $(cat /tmp/pid)",
         "a program has the disk open"),
        ("swapped on", "mkswap {node} >/dev/null && swapon {node}", "swapoff {node}", IN_USE),
        ("part of an array", "echo md77 > /sys/module/md_mod/parameters/new_array && cd /sys/block/md77/md && "
         "echo external:test > metadata_version && cat /sys/block/{name}/dev > new_dev",
         "echo clear > /sys/block/md77/md/array_state", IN_USE),
        ("open", "sleep 1000 <{node} & echo $! >/tmp/pid", "kill $(cat /tmp/pid)", "a program has the disk open"),
    ]

    def busy_disk(self):
        for what, begin, end, why in self.USES:
            disk = self.spare if "partition" in what else self.plain
            with self.case(f"a disk that is {what} keeps its path"):
                if "array" in what and not guest.loaded(self.vm, "md_mod"):
                    raise ktap.Skip("no md_mod in the guest: nothing else here stacks on a disk")
                disk.choose("direct")
                node = disk.node()
                names = {"node": node, "name": node.rpartition("/")[2]}
                self.vm.run(begin.format(**names))
                try:
                    self.expect_refused_writes(disk, ["platform", "off"], guest.EBUSY, why)
                    disk.check_read(where=8)
                finally:
                    self.vm.run(end.format(**names))
                checks.wait_until("the disk is free", lambda disk=disk: not disk.write_path("platform"))
                self.expect_path(disk, "platform", "sysfs")
                disk.check_read(where=8)

    def busy_nic(self):
        with self.case("a NIC that is up keeps its path, one that is down changes it"):
            self.nic.up()
            self.expect_refused_writes(self.nic, ["platform", "off"], guest.EBUSY,
                                       "the network interface is up; set it down first")
            self.nic.check_tcp(self.echo)
            self.nic.down()
            for path in "platform", "off", "bounce", "direct":
                self.nic.choose(path)
                self.expect_path(self.nic, path, "sysfs")
                self.nic.check_data(self.echo)

    def other_type(self):
        with self.case("a bound device that cannot tell whether it is in use keeps its path; unbound it takes it"):
            self.reload("rng=direct")
            self.vm.run("modprobe virtio_rng")
            self.expect_path(self.rng, "direct", "rule for the device type")
            self.expect_refused_writes(self.rng, ["platform"], guest.EBUSY, "unbind it first")
            self.check_rng()
            self.rng.unbind()
            expect_dma(self.rng, state="unbound")
            self.rng.choose("platform")
            expect_dma(self.rng, state="unbound", path="platform")
            expect("bind", self.rng.bind("virtio_rng"), "")
            self.expect_path(self.rng, "platform", "sysfs")
            self.check_rng()

    def check_rng(self):
        expect("bytes from the random number generator",
               self.vm.run("head -c 512 /dev/hwrng | wc -c", timeout=30).strip(), "512")

    # --- the hook ---

    def hook(self):
        with self.case("hook: chooses for the type that it has an opinion on"):
            self.reload(hook_path="platform", hook_type=BLK)
            self.expect_path(self.plain, "platform", "hook test")
            self.expect_path(self.nic, "direct", "default")
            asked = int(self.vm.run(f"cat /sys/module/{HOOK}/parameters/asked"))
            # three disks and a NIC, each bound once
            expect("how often the hook was asked", asked, 4)
            self.plain.check_data()
        with self.case("hook: a second one is refused while there is one"):
            log = Log(self.vm)
            expect_in("insmod", self.vm.try_run(f"insmod /ko/{twin_name()}.ko path={NUMBER['off']}")[1], guest.EBUSY)
            # a set, as busybox insmod tries a second system call when the first one fails
            expect("lines in the log", set(log.of_module()),
                   {"virtio_dma: hook test refused: hook test is registered, unload it first"})
            self.rebind(self.plain)
            self.expect_path(self.plain, "platform", "hook test")
        with self.case("hook: keeps virtio_dma loaded"):
            self.vm.run(guest.UNLOAD_DRIVERS)
            status, _ = self.vm.try_run("rmmod virtio_dma")
            self.suite.check(status, "rmmod virtio_dma worked although the hook's module uses it")
            expect("virtio_dma is loaded", guest.loaded(self.vm), True)
            self.vm.run("modprobe virtio_blk; modprobe virtio_net")
            self.expect_path(self.plain, "platform", "hook test")
        with self.case("hook: gone, a bound device keeps its path until it is bound again"):
            self.vm.run(f"rmmod {HOOK}")
            expect_dma(self.plain, path="platform", state="attached")
            self.plain.check_data()
            self.rebind(self.plain)
            self.expect_path(self.plain, "direct", "default")
            self.plain.check_data()
        with self.case("hook: once the first is gone another may come"):
            self.vm.run(f"insmod /ko/{twin_name()}.ko path={NUMBER['off']} device_type={NET}")
            self.rebind(self.nic)
            self.expect_path(self.nic, "off", "hook test")
            self.nic.check_data(self.echo)
            self.vm.run(f"rmmod {twin_name()}")
        for path, why in ("swiotlb", self.why_no_swiotlb), ("nonsense", "no such path"):
            with self.case(f"hook: the answer {path} is refused, and off by sysfs makes the disk work again"):
                log = Log(self.vm)
                self.reload(hook_path=path, hook_type=BLK)
                expect("driver of the disk", self.plain.driver(), "")
                expect_dma(self.plain, state="refused", reason="hook test")
                expect_in("dma/refused", self.plain.dma()["refused"], why)
                lines = [line for line in log.of_module() if self.plain.name() in line and "refused" in line]
                expect("number of lines on the refusal", len(lines), 1)
                expect_in("the line", lines[0], why)
                self.plain.choose("off")
                self.expect_path(self.plain, "off", "sysfs")
                self.plain.check_data()

    @staticmethod
    def rebind(device):
        driver = device.driver()
        device.unbind()
        expect("bind", device.bind(driver), "")


if __name__ == "__main__":
    main()
