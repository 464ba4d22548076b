#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Do all other types of device work with the module loaded: left alone without a rule, routed with one?

The balloon passes page numbers, and must stay raw whatever a rule says. Every other type that this QEMU has is tried
in a guest for each path: without a rule, and with a rule for its type that says direct, swiotlb or bounce.
What a device does is compared with what the host knows of it, wherever it moves data.
"""

import itertools
import os
import random
import re
import socket
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

# pylint: disable=wrong-import-position
import guest
from guest import MIB
from lib import build, checks, image, kernels, ktap, qemu, vm
from lib.checks import expect, expect_in

RULE_PATHS = ("direct", "swiotlb", "bounce")
# The paths that run operations of ours, and those that copy.
COUNTED_PATHS = ("direct", "bounce")
COPYING_PATHS = ("swiotlb", "bounce")
BALLOON_REPORTING = 5
SWIOTLB = "iommu=soft swiotlb=32768"
# Before 6.0 the kernel's pool cannot serve one device only; test_attach_contract sees to it that it is refused.
KERNELS_WITHOUT_SWIOTLB = ["5.10"]
UNTESTED = "left alone: type without a test; name it in a rule to route it"
RAW = "left alone: the type passes page numbers, not DMA addresses"


def wait_until(what, condition):
    return checks.wait_until(what, condition, timeout=120)


def random_file(path, mib, seed):
    path.write_bytes(b"".join(image.random_blocks(mib, seed)))
    return path


class Type:
    """A type of device: how QEMU gets one, and what it must do in the guest."""

    name = ""           # as rules call it
    qemu_device = ""    # as QEMU calls it
    modules = ""        # the drivers that it needs
    driver = ""         # the name of the one that is bound
    refused = ()        # paths that the module refuses for the type

    def __init__(self, slot, home):
        self.slot = slot
        self.home = home

    def label(self):
        return self.name

    def missing(self):
        """Why it cannot be had here; None if it can."""
        return None

    def arguments(self):
        return ["-device", self.device_argument()]

    def device_argument(self, more=""):
        return guest.joined(f"{self.qemu_device},id=dev{self.slot},addr={self.slot:#x}", more)

    def check(self, machine, device):
        """Raises when the device does not do what it is for."""
        raise NotImplementedError


class Rng(Type):
    name, qemu_device, modules, driver = "rng", "virtio-rng-pci", "virtio_rng", "virtio_rng"
    # Bytes that come from the host at one time are a multiple of this.
    PIECE = 16

    def arguments(self):
        source = random_file(self.home / "entropy", 1, self.slot)
        return ["-object", f"rng-random,id=entropy,filename={source}",
                "-device", self.device_argument("rng=entropy")]

    def check(self, machine, device):
        """What the guest gets is what the host gives."""
        text = machine.run("dd if=/dev/hwrng bs=64 count=16 2>/dev/null | od -v -A n -t x1")
        got = bytes.fromhex(text.replace("\n", ""))
        expect("random bytes", len(got), 1024)
        given = (self.home / "entropy").read_bytes()
        strange = [start for start in range(0, len(got), self.PIECE) if got[start:start + self.PIECE] not in given]
        expect("where random bytes are not the host's", strange, [])


class Console(Type):
    name, qemu_device, modules, driver = "console", "virtio-serial-pci", "virtio_console", "virtio_console"
    SIZE = 64 << 10     # fits into the socket's buffer, so that nobody waits for anybody

    def arguments(self):
        return ["-chardev", f"socket,id=port,path={self.home}/port,server=on,wait=off",
                "-device", self.device_argument(),
                "-device", f"virtserialport,bus=dev{self.slot}.0,chardev=port,name=port"]

    def check(self, machine, device):
        """Data pass through the port both ways."""
        sent = random.Random(self.slot).randbytes(self.SIZE)
        with socket.socket(socket.AF_UNIX) as host:
            host.settimeout(60)
            host.connect(str(self.home / "port"))
            host.sendall(sent)
            node = wait_until("the port's device node", lambda: machine.run(
                f"cd {device.pci_dir}/virtio*/virtio-ports 2>/dev/null && ls -d vport* || true").strip())
            received = machine.run(f"head -c {self.SIZE} /dev/{node} | sha256sum").split()[0]
            (self.home / "sent").write_bytes(sent)
            expect("data from the host", received, image.sha256(self.home / "sent"))
            text = machine.run(f"head -c {self.SIZE} /dev/urandom > /tmp/sent; cat /tmp/sent > /dev/{node}; "
                               "sha256sum < /tmp/sent")
            (self.home / "received").write_bytes(read_exactly(host, self.SIZE))
            expect("data from the guest", image.sha256(self.home / "received"), text.split()[0])


def read_exactly(sock, size):
    data = b""
    while len(data) < size:
        piece = sock.recv(size - len(data))
        if not piece:
            raise EOFError(f"only {len(data)} of {size} bytes")
        data += piece
    return data


class Scsi(Type):
    name, qemu_device, modules, driver = "scsi", "virtio-scsi-pci", "virtio_scsi sd_mod", "virtio_scsi"

    def arguments(self):
        disk = random_file(self.home / "scsi-disk", 2, self.slot)
        return ["-device", self.device_argument(), *guest.backing("scsi-disk", disk),
                "-device", f"scsi-hd,bus=dev{self.slot}.0,drive=scsi-disk"]

    def check(self, machine, device):
        disk = ScsiDisk(machine, self.slot, self.home / "scsi-disk")
        wait_until("the disk", lambda: machine.run(f"ls -d {disk.NODES.format(disk.dir)} 2>/dev/null || true"))
        disk.check_read(size=2)
        disk.check_write(size=1)
        disk.check_read(size=2)


class ScsiDisk(guest.Disk):
    NODES = "{}/host*/target*/*:*/block/*"

    def node(self):
        return "/dev/" + self.vm.run(f"basename {self.NODES.format(self.dir)}").strip()


class NineP(Type):
    name, qemu_device, modules, driver = "9p", "virtio-9p-pci", "9pnet_virtio 9p", "9pnet_virtio"

    def arguments(self):
        (self.home / "share").mkdir()
        random_file(self.home / "share/from-host", 1, self.slot)
        return guest.share(self.slot, self.home / "share")

    def check(self, machine, device):
        guest.check_share(machine, self.slot, self.home / "share")


class Gpu(Type):
    name, qemu_device, modules, driver = "gpu", "virtio-gpu-pci", "virtio_gpu", "virtio_gpu"
    refused = ("bounce",)       # it unmaps buffers after its driver is gone
    GREY = b"Z"         # a byte that is the same in any of a pixel's places

    def check(self, machine, device):
        """What the guest paints is on the screen."""
        machine.run("""
            for console in /sys/class/vtconsole/*; do
                ! grep -q 'frame buffer' $console/name || echo 0 > $console/bind
            done""")
        wait_until("the screen shows only what was painted", lambda: self.paint(machine) == {self.GREY[0]})

    def paint(self, machine):
        """Paint everything; returns the values that the screen's bytes have then.

        To be tried more than once: a stock device on a busy machine now and then misses the last update, for ever.
        """
        machine.run("""set -e
            cd /sys/class/graphics/fb0
            size=$(( $(cut -d , -f 2 virtual_size) * $(cat stride) ))
            head -c $size /dev/zero | tr '\\0' Z > /dev/fb0""")
        return self.screen(machine)

    def screen(self, machine):
        """The values that its bytes have."""
        picture = self.home / "screen.ppm"
        machine.qmp("screendump", filename=str(picture), device=f"dev{self.slot}")
        return set(picture.read_bytes().split(b"\n", 3)[3])


class Input(Type):
    name, modules, driver = "input", "virtio_input evdev", "virtio_input"
    EVENT = struct.Struct("qqHHi")

    def __init__(self, slot, home, what, event, wanted):
        super().__init__(slot, home)
        self.qemu_device = f"virtio-{what}-pci"
        self.event = event          # as QEMU takes it
        self.wanted = wanted        # type, code and value of what the guest must get

    def label(self):
        return f"input ({self.qemu_device})"

    def check(self, machine, device):
        """An event on the host arrives."""
        machine.run(f"""rm -f /tmp/opened /tmp/events
            node=$(basename {device.dir}/input/input*/event*)
            (exec < /dev/input/$node; true > /tmp/opened; exec head -c {self.EVENT.size} > /tmp/events) &""")
        wait_until("somebody listens", lambda: machine.try_run("[ -e /tmp/opened ]")[0] == 0)
        machine.qmp("input-send-event", events=[self.event])
        wait_until("an event", lambda: machine.try_run("[ -s /tmp/events ]")[0] == 0)
        data = bytes.fromhex(machine.run("od -v -A n -t x1 /tmp/events").replace("\n", ""))
        expect("event", self.EVENT.unpack(data)[2:], self.wanted)


class Crypto(Type):
    name, qemu_device, modules, driver = "crypto", "virtio-crypto-pci", "virtio_crypto", "virtio_crypto"
    # It passes each entry of a scatter list as a list of its own, which reaches to the end of the first: the later
    # entries are mapped several times, and what the device has not written to is copied over what it has.
    refused = COPYING_PATHS

    def arguments(self):
        return ["-object", "cryptodev-backend-builtin,id=cryptodev",
                "-device", self.device_argument("cryptodev=cryptodev")]

    def check(self, machine, device):
        """The kernel tests an algorithm when it is registered: known vectors go through the device, and come back."""
        wait_until("the cipher has passed the kernel's test", lambda: "selftest     : passed" in machine.run(
            "grep -A 4 'driver.*: virtio_crypto_aes_cbc' /proc/crypto || true"))
        failed = set(re.findall(r"self-tests for \S+ using (\S+) failed", machine.run("dmesg")))
        # QEMU's RSA fails the kernel's test on a stock device, too, and the kernel warns of it.
        expect("algorithms that failed", failed - {"virtio-crypto-rsa"}, set())
        complaints = machine.kernel_complaints()
        expect("warnings", [line for line in complaints if "WARNING:" in line and "testmgr" not in line], [])


class Mem(Type):
    name, qemu_device, modules, driver = "mem", "virtio-mem-pci", "virtio_mem", "virtio_mem"
    SIZE = 128 * MIB

    def arguments(self):
        return ["-object", f"memory-backend-ram,id=mem{self.slot},size={2 * self.SIZE}",
                "-device", self.device_argument(f"memdev=mem{self.slot}")]

    def check(self, machine, device):
        """The guest's memory grows when the host gives some."""
        machine.run("echo online > /sys/devices/system/memory/auto_online_blocks")
        before = memory_total(machine)
        path = f"/machine/peripheral/dev{self.slot}"
        machine.qmp("qom-set", path=path, property="requested-size", value=self.SIZE)
        wait_until("the guest has plugged the memory",
                   lambda: machine.qmp("qom-get", path=path, property="size") == self.SIZE)
        wait_until("the guest uses the memory", lambda: memory_total(machine) >= before + self.SIZE * 9 // 10)


def memory_total(machine):
    return int(machine.run("grep MemTotal /proc/meminfo").split()[1]) << 10


class Pmem(Type):
    name, qemu_device, modules, driver = "pmem", "virtio-pmem-pci", "virtio_pmem nd_pmem", "virtio_pmem"
    MEBIBYTES = 16

    def arguments(self):
        path = random_file(self.home / "pmem", self.MEBIBYTES, self.slot)
        return ["-object", f"memory-backend-file,id=pmem,mem-path={path},size={self.MEBIBYTES}M,share=on",
                "-device", self.device_argument("memdev=pmem")]

    def check(self, machine, device):
        """The contents are the host's file; a flush goes through the virtqueue."""
        wait_until("the disk", lambda: machine.try_run("[ -b /dev/pmem0 ]")[0] == 0)
        got = machine.run("sha256sum < /dev/pmem0").split()[0]
        expect("data read", got, image.sha256(self.home / "pmem"))
        got = machine.run("""set -e
            head -c 1048576 /dev/urandom > /tmp/written
            dd if=/tmp/written of=/dev/pmem0 bs=64k conv=fsync 2> /dev/null
            sha256sum < /tmp/written""").split()[0]
        expect("data written", image.sha256(self.home / "pmem", 0, MIB), got)


class Vsock(Type):
    name, qemu_device, driver = "vsock", "vhost-vsock-pci", "vmw_vsock_virtio_transport"
    modules = "vmw_vsock_virtio_transport"

    def missing(self):
        return None if os.path.exists("/dev/vhost-vsock") else "the host has no /dev/vhost-vsock"

    def arguments(self):
        return ["-device", self.device_argument("guest-cid=77")]

    def check(self, machine, device):
        machine.run("[ -e /dev/vsock ]")


class Sound(Type):
    name, qemu_device, modules, driver = "sound", "virtio-sound-pci", "virtio_snd", "virtio_snd"

    def missing(self):
        known = subprocess.run([qemu.binary(), "-device", "help"], stdout=subprocess.PIPE, text=True, check=True).stdout
        return None if f'"{self.qemu_device}"' in known else f"this QEMU has no {self.qemu_device}"

    def arguments(self):
        return ["-audiodev", "none,id=audio", "-device", self.device_argument("audiodev=audio")]

    def check(self, machine, device):
        expect_in("sound cards", machine.run("cat /proc/asound/cards"), "virtio")


def key(code):
    return {"type": "key", "data": {"down": True, "key": {"type": "qcode", "data": code}}}


def types(home):
    """One device of each type."""
    slot = itertools.count(2).__next__
    return [
        Rng(slot(), home), Console(slot(), home), Scsi(slot(), home), NineP(slot(), home), Gpu(slot(), home),
        Input(slot(), home, "keyboard", key("a"), (1, 30, 1)),
        Input(slot(), home, "mouse", {"type": "rel", "data": {"axis": "x", "value": 7}}, (2, 0, 7)),
        Input(slot(), home, "tablet", {"type": "abs", "data": {"axis": "x", "value": 4711}}, (3, 0, 4711)),
        Crypto(slot(), home), Mem(slot(), home), Pmem(slot(), home), Vsock(slot(), home), Sound(slot(), home),
    ]


def load_first(machine, devices, rules):
    """Load the module before any driver is bound; the kernel may have bound some that are built in."""
    machine.run("modprobe virtio_pci")
    bound = [device for device in devices if device.driver()]
    for device in bound:
        device.unbind()
    expect("insmod says", guest.load(machine, rules), "")
    for device in bound:
        name = device.name()
        machine.run(f"echo {name} > /sys/bus/virtio/drivers_probe")


def check_routed(device, kind, path, bounces):
    """The device went over that path while it was tried; without a path, it was left alone."""
    files = device.dma()
    wanted = {"path": path or "off", "state": "attached" if path else "stock", "offered": "no",
              "reason": "rule for the device type" if path else UNTESTED}
    expect("dma/", {name: files[name] for name in wanted}, wanted)
    expect("driver", device.driver(), kind.driver)
    expect("the driver's ACCESS_PLATFORM", device.feature(guest.ACCESS_PLATFORM), bool(path))
    expect("our operations made addresses", files["maps"] > 0, path in COUNTED_PATHS)
    expect("failed mappings", files["map_failures"], 0)
    expect("bounced", bounces.of(guest.pci_name(kind.slot)) > 0, path == "swiotlb")


def check_refused(device, path):
    files = device.dma()
    expect("dma/", (files["path"], files["state"]), (path, "refused"))
    expect("driver", device.driver(), "")


def test_types(suite, kernel, modules, path):
    """All types in one guest; with a rule for each type, or without any."""
    label = f"rule {path}" if path else "no rule"
    with tempfile.TemporaryDirectory(prefix="guest-drivers-") as directory:
        kinds = types(Path(directory))
        present = [kind for kind in kinds if not kind.missing()]
        arguments = itertools.chain.from_iterable(kind.arguments() for kind in present)
        with vm.VM(kernel, devices=arguments, append=SWIOTLB, mem="1G,maxmem=4G", kos=modules.values(),
                   name=f"types-{path or 'none'}") as machine:
            bounces = guest.Bounces(machine)
            with checks.case(suite, machine, f"{label}: load"):
                names = sorted({kind.name for kind in present})
                load_first(machine, [guest.Device(machine, kind.slot) for kind in present],
                           ",".join(f"{name}={path}" for name in names) if path else None)
                expect("virtio_dma is loaded", guest.loaded(machine), True)
            for kind in kinds:
                with checks.case(suite, machine, f"{label}: {kind.label()}"):
                    if kind.missing():
                        raise ktap.Skip(kind.missing())
                    for module in kind.modules.split():
                        machine.run(f"modprobe {module}")
                    device = guest.Device(machine, kind.slot)
                    if path in kind.refused:
                        check_refused(device, path)
                    else:
                        kind.check(machine, device)
                        check_routed(device, kind, path, bounces)


# --- the balloon ---

BALLOON_SLOT = 2
MEMORY = 1 << 30


def balloon(more):
    return ["-device", guest.joined(f"virtio-balloon-pci,id=balloon,addr={BALLOON_SLOT:#x}", more)]


def check_size_follows(machine):
    for size in (MEMORY * 3 // 4, MEMORY):
        machine.qmp("balloon", value=size)
        wait_until(f"the guest has {size >> 20} MiB",
                   lambda size=size: machine.qmp("query-balloon")["actual"] == size)


def check_pages_reported(machine):
    """Memory that the guest frees goes back to the host."""
    machine.run("dd if=/dev/zero of=/tmp/big bs=1M count=128 2> /dev/null")
    used = resident(machine)
    machine.run("rm /tmp/big")
    wait_until("half of the freed memory is the host's again", lambda: resident(machine) < used - 64 * MIB)


def resident(machine):
    """Bytes of the host's memory that QEMU has."""
    pages = Path(f"/proc/{machine.qemu.process.pid}/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGESIZE")


def check_balloon_raw(machine, device, **wanted):
    files = device.dma()
    expect("dma/", {name: files[name] for name in wanted}, wanted)
    expect("driver", device.driver(), "virtio_balloon")
    expect("the driver's ACCESS_PLATFORM", device.feature(guest.ACCESS_PLATFORM), False)
    expect("the driver's REPORTING", device.feature(BALLOON_REPORTING), True)
    check_size_follows(machine)
    check_pages_reported(machine)


def test_balloon(suite, kernel, modules):
    with vm.VM(kernel, devices=balloon("free-page-reporting=on"), kos=modules.values(), mem=f"{MEMORY >> 20}M",
               name="types-balloon") as machine:
        device = guest.Device(machine, BALLOON_SLOT)
        with checks.case(suite, machine, "balloon, no rule: left alone"):
            machine.run("modprobe virtio_pci")
            expect("insmod says", guest.load(machine), "")
            machine.run("modprobe virtio_balloon")
            check_balloon_raw(machine, device, path="off", state="stock", reason=RAW)
        with checks.case(suite, machine, "balloon, rule direct: exempt"):
            machine.run("rmmod virtio_balloon; rmmod virtio_dma")
            expect("insmod says", guest.load(machine, "balloon=direct"), "")
            machine.run("modprobe virtio_balloon")
            check_balloon_raw(machine, device, path="direct", state="exempt",
                              reason="the driver turned VIRTIO_F_ACCESS_PLATFORM down")


def test_offering_balloon(suite, kernel, modules):
    """The driver turns the offer down, and the device then turns the driver down: the stock kernel does that, too."""
    with vm.VM(kernel, devices=balloon(guest.OFFERING), kos=modules.values(), name="types-balloon-offering") as machine:
        device = guest.Device(machine, BALLOON_SLOT)
        with checks.case(suite, machine, "balloon that offers ACCESS_PLATFORM: a hint, no driver"):
            machine.run("modprobe virtio_pci")
            expect("insmod says", guest.load(machine), "")
            machine.run("modprobe virtio_balloon")
            expect("driver", device.driver(), "")
            expect("offered", device.dma()["offered"], "yes")
            said = machine.run(f"dmesg | grep '{device.name()}: virtio_dma:' || true")
            expect_in("dmesg", said, "iommu_platform=off")


def main():
    suite = ktap.Suite("types")
    kernel = kernels.wanted()
    modules = build.build(kernel)
    test_balloon(suite, kernel, modules)
    test_offering_balloon(suite, kernel, modules)
    for path in (None, *RULE_PATHS):
        if path != "swiotlb" or kernel.line not in KERNELS_WITHOUT_SWIOTLB:
            test_types(suite, kernel, modules, path)
    suite.finish()


if __name__ == "__main__":
    main()
