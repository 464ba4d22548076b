# SPDX-License-Identifier: GPL-2.0
"""A real KVM and VFIO host, in a guest: the emulated CPU has AMD's SVM with nested paging, and there is a vIOMMU.

    with KvmHost(kernel, [Device("nvme", "nvme,serial=1,drive=disk", ...)]) as host:
        host.bind_all()
        with host.guest() as guest:
            guest.run("insmod /ko/mmio_probe.ko")

The host runs a stock kernel and the distribution's QEMU, nothing of which is changed. "The host" is here always this
one, with kvm_amd and vfio-pci; the guest is the one inside it. Always emulated, so that it is the same host everywhere.
"""

import contextlib
import os
import re
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from lib import debian, initramfs, vfio_user
from lib.agent import Agent
from lib.checks import expect, wait_until
from lib.failure import Failure
from lib.paths import OUT
from lib.vm import TAINT_EXPECTED, VM, CommandFailed, GuestLost

# As its emulation knows no Intel virtualization; the named model boots guests faster than "max" does.
CPU_MODEL = "EPYC"
HOST_MODULES = ("kvm_amd", "vfio_pci", "vfio_iommu_type1")
GUEST_MODULES = ("e1000e", "nvme")
HOST_MEM = "1536M"
GUEST_MEM = "512M"
FIRST_SLOT = 0x10
GUEST_BOOT_DEADLINE = 240
# What the guest's machine is started with: all that QEMU opens when nothing but disks and cards are assigned.
FIRMWARE = ("seabios/bios-256k.bin", "qemu/linuxboot_dma.bin", "qemu/kvmvapic.bin")
QEMU_PATH = "/usr/bin/qemu-system-x86_64"
TRACES = "vfio_msix*"
# The kernel would warn that this CPU lacks a microcode, which is true of both machines and says nothing.
NO_WARNING = "spec_rstack_overflow=off"
GUEST_APPEND = f"console=ttyS0 panic=-1 oops=panic no_timer_check quiet {NO_WARNING}"


class Device(NamedTuple):
    """A PCI device of the host that is made to be assigned."""

    name: str
    argument: str                   # of QEMU's -device; a model's starts with a brace
    backend: tuple = ()             # what else QEMU needs for it
    assignment: str = ""            # what the assignment has more than the device: "x-msix-relocation=bar2"
    is_assigned: bool = True        # or else it stays the host's own


class KvmHost:
    """The host, with its devices each in an IOMMU group of its own."""

    def __init__(self, kernel, devices, kos=(), files=None, snoop_control=False, name="host"):
        self.kernel = kernel
        self.devices = {device.name: device for device in devices}
        self.addresses = {}
        self.log_directory = OUT / "test" / kernel.line / name
        with contextlib.ExitStack() as stack:
            directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="host-")))
            self.shared = directory / "shared"
            self.shared.mkdir()
            guest_image = directory / "guest.cpio"
            guest_image.write_bytes(initramfs.image(kernel, kos, files, GUEST_MODULES))
            self.channel_path = directory / "channel"
            self.vm = stack.enter_context(VM(
                kernel, accel="tcg", cpu=CPU_MODEL, cpus=1, mem=HOST_MEM, name=name, program=vfio_user.qemu_program(),
                machine="q35,kernel-irqchip=split,memory-backend=ram",
                append=f"intel_iommu=on {NO_WARNING}", devices=self._arguments(snoop_control),
                files={**qemu_files(), "/guest/initrd": guest_image, "/guest/vmlinuz": kernel.vmlinuz},
                stock_modules=HOST_MODULES))
            self.channel = stack.enter_context(socket.socket(socket.AF_UNIX))
            self.channel.connect(str(self.channel_path))
            self.stack = stack.pop_all()

    def _arguments(self, snoop_control):
        """The IOMMU comes before what is behind it. The guest's agent is our third serial port."""
        snoop = "on" if snoop_control else "off"
        arguments = ["-device", f"intel-iommu,intremap=on,caching-mode=on,snoop-control={snoop}",
                     # Models of ours see only memory that is a file.
                     "-object", f"memory-backend-memfd,id=ram,size={HOST_MEM},share=on",
                     "-chardev", f"socket,id=guest,path={self.channel_path},server=on,wait=off",
                     "-device", "isa-serial,index=2,irq=10,chardev=guest",
                     "-virtfs", f"local,path={self.shared},mount_tag=shared,security_model=none"]
        for number, device in enumerate(self.devices.values()):
            arguments += [*device.backend, "-device", root_port(number), "-device", on_port(device.argument, number)]
        return arguments

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.stack.close()

    def run(self, script, timeout=60):
        return self.vm.run(script, timeout)

    def bind_all(self):
        """Loads KVM and VFIO, and gives vfio-pci the devices that are to be assigned."""
        self.run(" && ".join(f"modprobe {module}" for module in HOST_MODULES), timeout=120)
        for number, device in enumerate(self.devices.values()):
            self.addresses[device.name] = address_behind(self.run, number)
            if device.is_assigned:
                bind(self.run, self.addresses[device.name], "vfio-pci")

    @contextlib.contextmanager
    def guest(self):
        """A guest with all devices assigned that are made to be."""
        guest = Guest(self, [name for name, device in self.devices.items() if device.is_assigned])
        try:
            guest.wait_ready()
            yield guest
        finally:
            guest.stop()

    def fetch(self, path):
        """The content of a file of the host."""
        self.run(f"""
            set -e
            if ! grep -q ' /mnt 9p ' /proc/mounts; then
                for module in virtio_pci 9pnet_virtio 9p; do modprobe $module; done
                mount -t 9p -o trans=virtio,msize=262144 shared /mnt
            fi
            cat {path} >/mnt/fetched""", timeout=120)
        return (self.shared / "fetched").read_bytes()


class Guest:
    """The guest of the host. Its agent speaks over its second serial port, which is the host's third."""

    def __init__(self, host, names):
        self.host = host
        self.names = list(names)
        self.addresses = {}
        self.lost = None
        self.seen_lines, self.seen_taint = 0, TAINT_EXPECTED
        host.run("rm -f /run/guest.*")
        devices = [argument for number, name in enumerate(names) for argument in
                   ("-device", root_port(number), "-device", self._assignment(name, number))]
        self.process = host.run(" ".join([
            QEMU_PATH, "-nodefaults -no-user-config -display none -no-reboot -accel kvm -cpu host -smp 1",
            f"-m {GUEST_MEM} -machine q35 -kernel /guest/vmlinuz -initrd /guest/initrd -append '{GUEST_APPEND}'",
            "-serial file:/run/guest.console -chardev serial,id=agent,path=/dev/ttyS2",
            "-device isa-serial,index=1,chardev=agent -monitor none", *devices,
            f"-trace 'enable={TRACES}' -D /run/guest.trace </dev/null >/run/guest.errors 2>&1 & echo $!"])).strip()
        self.agent = Agent(host.channel)

    def _assignment(self, name, number):
        """Without the device's ROM, which the firmware would read through trapped accesses."""
        extra = self.host.devices[name].assignment
        return f"vfio-pci,host={self.host.addresses[name]},bus=port{number},rombar=0{',' + extra if extra else ''}"

    def wait_ready(self):
        try:
            self.agent.wait_ready(GUEST_BOOT_DEADLINE)
        except (TimeoutError, EOFError):
            raise self._lost("it did not boot") from None
        for number, name in enumerate(self.names):
            self.addresses[name] = address_behind(self.run, number)

    kernel_complaints = VM.kernel_complaints

    def run(self, script, timeout=60):
        """The output of a shell script that must succeed."""
        if self.lost:
            raise GuestLost(f"the guest in the host was lost earlier: {self.lost}")
        try:
            status, output = self.agent.execute(script, timeout)
        except (TimeoutError, EOFError):
            raise self._lost(f"no answer to {script!r}") from None
        text = output.decode("utf-8", "replace")
        if status:
            raise CommandFailed(script, status, text)
        return text

    def traces(self):
        """The lines of QEMU's own trace so far: what VFIO did with table and PBA."""
        return self.host.run("cat /run/guest.trace").splitlines()

    def is_running(self):
        return self.host.vm.try_run(f"kill -0 {self.process}")[0] == 0

    def stop(self):
        """Saves what the guest left in the host, and waits until it is gone: the devices are free then."""
        if self.host.vm.lost:
            return
        self.host.log_directory.mkdir(parents=True, exist_ok=True)
        for name in ("console", "trace", "errors"):
            (self.host.log_directory / f"guest.{name}").write_text(self.host.run(f"cat /run/guest.{name} || true"),
                                                                   encoding="utf-8")
        self.host.run(f"kill -KILL {self.process} || true")
        wait_until("the guest has ended", lambda: not self.is_running())

    def _lost(self, what):
        self.lost = what
        lines = self.host.run("cat /run/guest.errors; tail -n 15 /run/guest.console").splitlines()
        return GuestLost("\n".join([f"the guest in the host: {what}; its last lines:", *lines]))


def bind(run, address, driver):
    """Gives a function, which has no driver, this one. The kernel tells no failure of a probe but in its log."""
    bound = run(f"""
        cd /sys/bus/pci/devices/{address}
        echo {driver} >driver_override
        echo {address} >/sys/bus/pci/drivers_probe
        readlink driver || true""").strip()
    expect(f"driver of {address}", bound.rpartition("/")[2], driver)


def root_port(number):
    """A port that is at the same place in the host and in the guest."""
    slot = FIRST_SLOT + number
    return f"pcie-root-port,id=port{number},bus=pcie.0,addr={slot:#x},chassis={slot},slot={slot}"


def on_port(argument, number):
    if argument.startswith("{"):
        return argument.replace("{", f'{{"bus":"port{number}",', 1)
    return f"{argument},bus=port{number}"


def address_behind(run, number):
    """The PCI address of what is behind that port, as 0000:01:00.0."""
    return run(f"cd /sys/bus/pci/devices/0000:00:{FIRST_SLOT + number:02x}.0 && ls -d 0000:*:00.0").strip()


def qemu_files():
    """What the host needs to run QEMU, as VM() takes files: the program, its libraries, its firmware."""
    root = debian.models_root()
    program = root / QEMU_PATH.lstrip("/")
    files = {QEMU_PATH: program}
    for library in needed_libraries(root, program):
        files[f"/lib/x86_64-linux-gnu/{library.name}"] = library
    for name in FIRMWARE:
        files[f"/usr/share/{name}"] = root / "usr/share" / name
    return files


def needed_libraries(root, program):
    """All that the loader of that root would load for the program."""
    libraries = root / debian.LIBRARIES
    listing = subprocess.run([libraries / "ld-linux-x86-64.so.2", "--library-path", libraries, "--list", program],
                             stdout=subprocess.PIPE, text=True, check=True).stdout
    missing = re.findall(r"(\S+) => not found", listing)
    if missing:
        raise Failure(f"QEMU's root lacks {', '.join(missing)}: delete {root} and try again")
    return [Path(path) for path in re.findall(r" => (/\S+) \(", listing) if os.path.exists(path)]
