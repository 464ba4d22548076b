# SPDX-License-Identifier: GPL-2.0
"""The host of `make run-host` and its tests, and all that it assigns: disks, network cards, models of ours."""

import contextlib
import json
import socket
import tempfile
from pathlib import Path

from lib import build, vfio_user, wires
from lib.stage import stage

import be2net
from kvm_host import Device, KvmHost

MODULES = ("mmio_probe", "pba_disk", "msix_pba")
BLOCK = 4096
BLOCKS = 4096
MACS = ("02:00:00:be:00:01", "02:00:00:be:00:02")


@contextlib.contextmanager
def host(kernel, name="host"):
    """Yields the host, with its devices bound, and the models by name."""
    with contextlib.ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="assigned-")))
        with stage("building the device models"):
            vfio_user.make("all")
        models = start_models(stack, directory)
        yield stack.enter_context(booted(kernel, name, [*emulated_devices(directory), *model_devices(models)])), models


@contextlib.contextmanager
def coherent_host(kernel, name="host-coherent"):
    """Yields a host whose IOMMU makes all DMA coherent. QEMU does not do that beside models."""
    with tempfile.TemporaryDirectory(prefix="assigned-") as directory:
        with booted(kernel, name, emulated_devices(Path(directory)), snoop_control=True) as machine:
            yield machine


@contextlib.contextmanager
def booted(kernel, name, devices, **arguments):
    modules = build.build(kernel)
    with contextlib.ExitStack() as stack:
        with stage(f"booting a host with {kernel.release}"):
            machine = stack.enter_context(KvmHost(
                kernel, devices, name=name, kos=[modules[module] for module in MODULES], **arguments))
            machine.bind_all()
        yield machine


@contextlib.contextmanager
def guest(machine):
    """Yields a guest of the host, with our modules loaded."""
    with stage("booting its guest"):
        stack = contextlib.ExitStack()
        inside = stack.enter_context(machine.guest())
    with stack:
        for module in MODULES:
            inside.run(f"modprobe {module}")
        yield inside


def start_models(stack, directory):
    """By name. The two cards are wired to each other."""
    ends = [wires.Plug(end) for end in socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)]
    for end in ends:
        stack.callback(end.close)
    models = {}
    for number, (name, model, options, plug) in enumerate((
            ("pba-page", "pba-page", (), wires.NoPlug()),
            (be2net.GUEST_CARD, "be2", ("--mac", MACS[0]), ends[0]),
            (be2net.HOST_CARD, "be2", ("--mac", MACS[1]), ends[1]))):
        models[name] = vfio_user.Model(model, directory, number, options, plug)
        stack.callback(models[name].stop)
    return models


def write_numbered_blocks(path):
    """As pba_disk.c wants them: each block begins with its number."""
    with open(path, "wb") as file:
        for number in range(BLOCKS):
            file.write(number.to_bytes(8, "little").ljust(BLOCK, b"\0"))


def emulated_devices(directory):
    disk = directory / "disk"
    write_numbered_blocks(disk)
    return [
        nvme("nvme", disk),
        # What VFIO can do for a device with such a layout: table and PBA get a BAR of their own.
        nvme("nvme, relocated", disk, "x-msix-relocation=bar2"),
        Device("e1000e", "e1000e,netdev=net", ("-netdev", "user,id=net")),
    ]


def model_devices(models):
    return [Device(name, json.dumps({"driver": "vfio-user-pci", "socket": {"type": "unix", "path": str(model.socket)}}),
                   is_assigned=name != be2net.HOST_CARD) for name, model in models.items()]


def nvme(name, disk, assignment=""):
    drive = f"disk{len(name)}"
    return Device(name, f"nvme,serial={drive},drive={drive}",
                  ("-drive", f"if=none,id={drive},format=raw,readonly=on,file.locking=off,file={disk}"), assignment)
