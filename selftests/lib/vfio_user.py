# SPDX-License-Identifier: GPL-2.0
"""Device models of ours as PCI devices of a guest: selftests/devices has them, QEMU reaches them over vfio-user.

    with vfio_user.Bench(["be2", "be2"]) as bench, bench.vm(kernel) as vm:
        vm.run("modprobe be2net")
        bench.models[0].counters()["violations"]
"""

import contextlib
import json
import os
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from . import child, debian
from .channel import receive
from .failure import Failure
from .paths import OUT, TOP
from .stage import stage
from .vm import VM

SOURCES = TOP / "selftests/devices"
PROGRAMS = OUT / "devices"
BUILD_DEADLINE = 600
START_DEADLINE = 30
ANSWER_DEADLINE = 60
# QEMU 10.1 is the first with vfio-user; the firmware is no longer where the host's QEMU would look for it.
FIRMWARE = ("usr/share/qemu", "usr/share/seabios")
# A model sees only memory that is a file, and a file that cannot shrink: QEMU seals a memfd.
MACHINE = "q35,memory-backend=ram"
# caching-mode: QEMU follows each mapping of the guest at once. Strict: the guest unmaps at once, too.
IOMMU_DEVICE = ["-device", "intel-iommu,caching-mode=on,intremap=off"]
IOMMU_APPEND = "intel_iommu=on iommu.strict=1 iommu.passthrough=0"


class ModelError(Exception):
    """A model refused a request; the text is the model's."""


def make(*goals):
    """Runs the models' Makefile; returns its output."""
    PROGRAMS.mkdir(parents=True, exist_ok=True)
    argv = ["make", "-C", str(SOURCES), f"OUT={PROGRAMS}", f"-j{os.cpu_count()}", *goals]
    with debian.locked(PROGRAMS / "lock", "another run builds the device models"):
        status, output = child.run(argv, timeout=BUILD_DEADLINE)
    if status:
        raise Failure("\n".join(["the device models were not built:", *output.splitlines()[-20:]]))
    return output


def qemu_program():
    """The command line that starts the QEMU of our own root with that root's libraries.

    Not in a chroot: sockets, memory files and kernels are the same for it and for us.
    """
    root = debian.models_root()
    firmware = [argument for path in FIRMWARE for argument in ("-L", str(root / path))]
    return [*debian.unpacked_program(root, "qemu-system-x86_64"), *firmware]


def guest_tools():
    """Programs for a guest with network cards, as VM() takes files."""
    models, userland = debian.models_root(), debian.root(debian.USERLAND_SUITE)
    return {"/bin/ethtool": models / "usr/sbin/ethtool",
            "/lib/x86_64-linux-gnu/libmnl.so.0": models / debian.LIBRARIES / "libmnl.so.0",
            "/bin/netserver": userland / "usr/bin/netserver"}


class Model:
    """One device, which is a process."""

    def __init__(self, name, directory, number, options=(), wire=None):
        self.name = name
        self.socket = directory / f"{name}-{number}"
        self.control_path = directory / f"{name}-{number}.control"
        self.log = directory / f"{name}-{number}.log"
        self.port = f"port{number}"
        argv = [str(PROGRAMS / name), "--socket", str(self.socket), "--control", str(self.control_path),
                "--log", str(self.log), *options]
        if wire is not None:
            argv += ["--wire", str(wire.fileno())]
        self.process = child.spawn(argv, stdin=subprocess.DEVNULL, pass_fds=[wire.fileno()] if wire is not None else ())
        self.control = None
        self._wait_for_socket()

    def _wait_for_socket(self):
        deadline = time.monotonic() + START_DEADLINE
        while not self.socket.exists():
            if self.process.poll() is not None:
                raise Failure(f"model {self.name} ended with status {self.process.returncode}")
            if time.monotonic() > deadline:
                raise Failure(f"model {self.name} made no socket in {START_DEADLINE} s")
            time.sleep(0.01)

    def arguments(self, number):
        """QEMU's for this device, behind a root port of its own: it can be unplugged there."""
        device = {"driver": "vfio-user-pci", "id": f"model{number}", "bus": self.port,
                  "socket": {"type": "unix", "path": str(self.socket)}}
        return ["-device", f"pcie-root-port,id={self.port},bus=pcie.0,chassis={number + 1},slot={number + 1}",
                "-device", json.dumps(device)]

    def ask(self, request):
        """The lines of the answer to a request on the control socket; `help` there lists them."""
        if self.control is None:
            self.control = socket.socket(socket.AF_UNIX)
            self.control.connect(str(self.control_path))
        self.control.sendall(request.encode() + b"\n")
        deadline = time.monotonic() + ANSWER_DEADLINE
        answer = b""
        while True:
            lines = answer.decode().splitlines() if answer.endswith(b"\n") else []
            if lines and lines[-1] == "ok":
                return lines[:-1]
            if lines and lines[-1].startswith("error "):
                raise ModelError(f"{request}: {lines[-1][len('error '):]}")
            answer += receive(self.control, deadline)

    def counters(self):
        return {name: int(value) for name, value in (line.split() for line in self.ask("counters"))}

    def violations(self):
        """What it wanted of memory that was not mapped for it, as text; empty when all is well."""
        return self.ask("violations")

    def stop(self):
        child.stop(self.process)
        if self.control is not None:
            self.control.close()
            self.control = None


class Bench:
    """Models on a bench: the first is wired to the second, the third to the fourth."""

    def __init__(self, names, options=None):
        self.names = names
        self.options = options or [()] * len(names)
        self.models = []

    def __enter__(self):
        with stage("building the device models"):
            make("all")
        with contextlib.ExitStack() as stack:
            directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="models-")))
            wires = []
            for _ in self.names[::2]:
                wires += [stack.enter_context(end) for end in socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)]
            for number, name in enumerate(self.names):
                model = Model(name, directory, number, self.options[number], wires[number])
                stack.callback(model.stop)
                self.models.append(model)
            for wire in wires:      # a cable ends with the model at its other end
                wire.close()
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *exception):
        self.stack.close()

    def vm(self, kernel, iommu=False, mem="1G", append="", **arguments):
        """A guest with all the models; the other arguments are those of VM()."""
        devices = ["-object", f"memory-backend-memfd,id=ram,size={mem},share=on", *(IOMMU_DEVICE if iommu else [])]
        for number, model in enumerate(self.models):
            devices += model.arguments(number)
        if iommu:
            append = f"{IOMMU_APPEND} {append}"
        return VM(kernel, devices=devices, append=append, mem=mem, machine=MACHINE, program=qemu_program(), **arguments)
