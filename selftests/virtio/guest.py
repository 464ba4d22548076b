# SPDX-License-Identifier: GPL-2.0
"""What the guest tests share: devices, what the guest shows of them, and data to compare."""

import contextlib
import shlex
import socket
import threading

from lib import image
from lib.checks import expect

PATHS = ("off", "direct", "platform", "swiotlb")
MODULE = "/ko/virtio_dma.ko"
DRIVERS = "/sys/bus/virtio/drivers"
MIB = 1 << 20
ACCESS_PLATFORM = 33

# What the guest's tools say for an error number.
EINVAL = "Invalid argument"
EBUSY = "Device or resource busy"
EOPNOTSUPP = "Operation not supported"


# --- devices, as arguments of QEMU ---

# Makes a device offer VIRTIO_F_ACCESS_PLATFORM.
OFFERING = "disable-legacy=on,iommu_platform=on"


def joined(*options):
    return ",".join(filter(None, options))


def backing(ident, path):
    """A disk's image. Stays when the device is unplugged, unlike that of a -drive."""
    return ["-blockdev", f"driver=raw,node-name={ident},file.driver=file,file.filename={path}"]


def blk(slot, path, more=""):
    return backing(f"disk{slot}", path) + [
        "-device", joined(f"virtio-blk-pci,id=blk{slot},drive=disk{slot},addr={slot:#x}", more)]


def netdev(slot):
    """Every NIC has a network of its own: the guest is 10.0.SLOT.15 in it, the host 10.0.SLOT.2."""
    return ["-netdev", f"user,id=net{slot},net=10.0.{slot}.0/24,ipv6=off"]


def net(slot, more=""):
    return netdev(slot) + [
        "-device", joined(f"virtio-net-pci,id=nic{slot},netdev=net{slot},addr={slot:#x}", more)]


def share(slot, directory, more=""):
    """A 9p device that gives a directory of the host's; its mount tag is shareSLOT."""
    return ["-fsdev", f"local,id=fs{slot},path={directory},security_model=none",
            "-device", joined(f"virtio-9p-pci,id=share{slot},fsdev=fs{slot},mount_tag=share{slot},addr={slot:#x}", more)]


def pci_name(slot):
    """The name of the device in the guest that QEMU was told to put at addr=SLOT of the first bus."""
    return f"0000:00:{slot:02x}.0"


# --- a device, as the guest shows it ---

class Device:
    """A virtio device by its PCI device: a slot of the first bus, or the root port that it is behind."""

    def __init__(self, vm, slot, behind_port=False):
        self.vm = vm
        self.slot = slot
        self.pci_dir = f"/sys/bus/pci/devices/{pci_name(slot)}" + ("/0000:*" if behind_port else "")
        self.dir = f"{self.pci_dir}/virtio*"

    def name(self):
        """virtioN"""
        return self.vm.run(f"basename {self.dir}").strip()

    def driver(self):
        """The name of the driver that is bound, or ''."""
        return self.vm.run(f"[ ! -e {self.dir}/driver ] || basename $(readlink {self.dir}/driver)").strip()

    def feature(self, bit):
        """Is the bit in the feature word of the driver?"""
        return self.vm.run(f"cat {self.dir}/features")[bit] == "1"

    def dma(self):
        """All files of the directory dma/: {name: text}; counters are numbers."""
        text = self.vm.run(f"cd {self.dir}/dma && grep -s '' * || true")
        files = dict(line.split(":", 1) for line in text.splitlines())
        return {name: int(value) if value.isdigit() else value for name, value in files.items()}

    def write_path(self, path):
        """Write dma/path; returns what the shell says: '' when it worked."""
        _, output = self.vm.try_run(f"echo {shlex.quote(path)} > $(echo {self.dir}/dma/path)")
        return output.strip()

    def choose(self, path):
        """Write dma/path, which must work."""
        expect(f"writing {path} to dma/path", self.write_path(path), "")

    def bind(self, driver):
        """Returns what the shell says: '' when it worked."""
        return self.vm.try_run(f"echo {self.name()} > {DRIVERS}/{driver}/bind")[1].strip()

    def unbind(self):
        self.vm.run(f"echo $(basename {self.dir}) > $(echo {self.dir}/driver/unbind)")


class Disk(Device):
    """With its image on the host; a 'where' is in MiB."""

    def __init__(self, vm, slot, path, behind_port=False):
        super().__init__(vm, slot, behind_port)
        self.path = path

    def node(self):
        return "/dev/" + self.vm.run(f"basename {self.dir}/block/*").strip()

    def check_read(self, where=0, size=4, block="1M"):
        """The guest reads what is in the image."""
        got = self.vm.run(f"dd if={self.node()} bs={block} iflag=direct,skip_bytes,count_bytes "
                          f"skip={where * MIB} count={size * MIB} 2>/dev/null | sha256sum").split()[0]
        expect(f"data read from {self.node()}", got, image.sha256(self.path, where * MIB, size * MIB))

    def check_write(self, where=0, size=4, block="1M"):
        """New data that the guest writes is in the image."""
        got = self.vm.run(f"dd if=/dev/urandom of=/tmp/written bs=1M count={size} 2>/dev/null; "
                          f"dd if=/tmp/written of={self.node()} bs={block} oflag=direct,seek_bytes "
                          f"seek={where * MIB} conv=fsync,notrunc 2>/dev/null && sha256sum </tmp/written").split()[0]
        expect(f"data written to {self.node()}", image.sha256(self.path, where * MIB, size * MIB), got)

    def check_data(self):
        self.check_read()
        self.check_write(where=4)
        self.check_read(where=4)


class Nic(Device):
    def interface(self):
        return self.vm.run(f"basename {self.dir}/net/*").strip()

    def up(self):
        name = self.interface()
        self.vm.run(f"ip addr flush dev {name}; ip addr add 10.0.{self.slot}.15/24 dev {name}; ip link set {name} up")

    def down(self):
        self.vm.run(f"ip link set {self.interface()} down")

    def check_ping(self, size=56, count=2):
        self.vm.run(f"ping -c {count} -W 20 -s {size} 10.0.{self.slot}.2")

    def check_tcp(self, echo, sizes=(2 * MIB,)):
        """Random data of each size goes to the host and comes back the same."""
        self.vm.run(f"""set -e
            for size in {' '.join(map(str, sizes))}; do
                head -c $size /dev/urandom > /tmp/sent
                nc -w 60 10.0.{self.slot}.2 {echo.port} < /tmp/sent > /tmp/received
                cmp /tmp/sent /tmp/received
            done""", timeout=120)

    def check_data(self, echo):
        self.up()
        self.check_ping()
        self.check_tcp(echo)
        self.down()


def check_little_data(device, echo, disk_mib):
    """The least that shows that a NIC, or a disk of that size, moves data both ways."""
    if isinstance(device, Nic):
        device.up()
        device.check_tcp(echo, sizes=[MIB])
        device.down()
    else:
        device.check_read(size=disk_mib)
        device.check_write(size=1)
        device.check_read(size=disk_mib)


class Echo:
    """A TCP server on the host that sends back what it has got, once it has got all."""

    def __enter__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *exception):
        self.socket.close()

    def _serve(self):
        with contextlib.suppress(OSError):      # the socket was closed: the end
            while True:
                threading.Thread(target=self._answer, args=self.socket.accept()[:1], daemon=True).start()

    @staticmethod
    def _answer(connection):
        with connection, contextlib.suppress(OSError):      # the guest went away
            connection.sendall(b"".join(iter(lambda: connection.recv(1 << 16), b"")))


# --- assertions ---

def expect_dma(device, **wanted):
    """The files in dma/ that are named have these texts."""
    files = device.dma()
    expect(f"dma/ of {device.name()}", {name: files[name] for name in wanted}, wanted)


# --- the module ---

def load(vm, rules=None):
    """Load virtio_dma; returns what insmod says: '' when it worked."""
    argument = f" {shlex.quote('rules=' + rules)}" if rules is not None else ""
    return vm.try_run(f"insmod {MODULE}{argument}")[1].strip()


# Not modprobe -r: where virtio is a module it wants to unload that, too, and fails.
UNLOAD_DRIVERS = "for driver in virtio_blk virtio_net; do [ ! -d /sys/module/$driver ] || rmmod $driver || exit 1; done"


def loaded(vm, module="virtio_dma"):
    return vm.try_run(f"[ -d /sys/module/{module} ]")[0] == 0


def check_share(vm, slot, directory):
    """What the guest reads from a 9p share, and what it writes, is what the host has."""
    got = vm.run(f"""set -e
        mkdir -p /tmp/share{slot}
        mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 share{slot} /tmp/share{slot}
        cd /tmp/share{slot}
        sha256sum < from-host
        head -c {MIB} /dev/urandom > /tmp/written
        cp /tmp/written from-guest
        sha256sum < /tmp/written
        cd / && umount /tmp/share{slot}""").split()
    expect("data read from the share", got[0], image.sha256(directory / "from-host"))
    expect("data written to the share", image.sha256(directory / "from-guest"), got[2])


# --- what others know about a device ---

# The kernel lets nobody look into a device's registers that has a driver, unless told so.
REGISTERS_READABLE = "iomem=relaxed"


def device_saw_access_platform(vm, slot):
    """Has the driver told the device that it accepts VIRTIO_F_ACCESS_PLATFORM?

    As the device's registers have it (VIRTIO 1.3, 4.1.4.3): what QEMU says over QMP is without what it did not offer.
    The device must have the modern interface, which QEMU has in BAR 4, and the guest REGISTERS_READABLE.
    """
    word = vm.run(f"""set -e
        base=$(sed -n '5s/ .*//p' /sys/bus/pci/devices/{pci_name(slot)}/resource)
        devmem $((base + 8)) 32 1
        devmem $((base + 12)) 32""")
    return bool(int(word, 16) >> (ACCESS_PLATFORM - 32) & 1)


class Bounces:
    """What goes through the kernel's bounce pool, by the kernel's tracepoint."""

    TRACE = "/sys/kernel/tracing/trace"

    def __init__(self, vm):
        self.vm = vm
        vm.run(f"echo 1 > /sys/kernel/tracing/events/swiotlb/swiotlb_bounced/enable; true > {self.TRACE}")

    def of(self, dma_device):
        """How many mappings of that device since the last call, or since the beginning."""
        return int(self.vm.run(f"grep -c 'dev_name: {dma_device} ' {self.TRACE} || true; true > {self.TRACE}"))

    def bytes(self):
        """{DMA device: bytes} since the last call, or since the beginning."""
        text = self.vm.run(f"sed -n 's/.*dev_name: \\([^ ]*\\) .* size=\\([0-9]*\\) .*/\\1 \\2/p' {self.TRACE} | "
                           "awk '{ sum[$1] += $2 } END { for (name in sum) print name, sum[name] }'; "
                           f"true > {self.TRACE}")
        return {name: int(count) for name, count in map(str.split, text.splitlines())}
