# SPDX-License-Identifier: GPL-2.0
"""The host of `make run-host` and its tests, and all that it assigns: disks, network cards, models of ours."""

import contextlib
import json
import socket
import tempfile
from pathlib import Path

from lib import build, vfio_user
from lib.stage import stage

from kvm_host import Device, KvmHost

MODULES = ("mmio_probe", "pba_disk", "msix_pba")
BLOCK = 4096
BLOCKS = 4096
MACS = ("02:00:00:be:00:01", "02:00:00:be:00:02")


@contextlib.contextmanager
def host(kernel, name="host", **arguments):
    """Yields the host, with its devices bound, and the models by name."""
    with contextlib.ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="assigned-")))
        modules = build.build(kernel)
        with stage("building the device models"):
            vfio_user.make("all")
        models = start_models(stack, directory)
        disk = directory / "disk"
        write_numbered_blocks(disk)
        with stage(f"booting a host with {kernel.release}"):
            machine = stack.enter_context(KvmHost(
                kernel, devices(disk, models), name=name, memory_backend=True,
                kos=[modules[module] for module in MODULES if module in modules], **arguments))
            machine.bind_all()
        yield machine, models


def start_models(stack, directory):
    """By name. The two cards are wired to each other."""
    wire, other_end = (stack.enter_context(end) for end in socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
    models = {}
    for number, (name, model, options, end) in enumerate((
            ("pba-page", "pba-page", (), None),
            ("be2", "be2", ("--mac", MACS[0]), wire),
            ("be2 of the host", "be2", ("--mac", MACS[1]), other_end))):
        models[name] = vfio_user.Model(model, directory, number, options, end)
        stack.callback(models[name].stop)
    return models


def write_numbered_blocks(path):
    """As pba_disk.c wants them: each block begins with its number."""
    with open(path, "wb") as file:
        for number in range(BLOCKS):
            file.write(number.to_bytes(8, "little").ljust(BLOCK, b"\0"))


def devices(disk, models):
    return [
        nvme("nvme", disk),
        # What VFIO can do for a device with such a layout: table and PBA get a BAR of their own.
        nvme("nvme, relocated", disk, "x-msix-relocation=bar2"),
        Device("e1000e", "e1000e,netdev=net", ("-netdev", "user,id=net")),
        *(Device(name, json.dumps({"driver": "vfio-user-pci", "socket": {"type": "unix", "path": str(model.socket)}}),
                 is_assigned=name != "be2 of the host") for name, model in models.items()),
    ]


def nvme(name, disk, assignment=""):
    drive = f"disk{len(name)}"
    return Device(name, f"nvme,serial={drive},drive={drive}",
                  ("-drive", f"if=none,id={drive},format=raw,readonly=on,file.locking=off,file={disk}"), assignment)
