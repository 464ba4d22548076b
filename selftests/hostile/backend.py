# SPDX-License-Identifier: GPL-2.0
"""Disks and network cards that misbehave: one process of ours serves them to a guest over vhost-user.

    with backend.Backend(seed, disks=2, cards=2) as devices, vm.VM(kernel, devices=devices.arguments(), ...) as machine:
        devices.misbehave("disk0", ["overrun"], one_in=4)
        devices.counters("disk0")["overrun"]
"""

import contextlib
import os
import subprocess
import tempfile
import time
from pathlib import Path

from lib import child, debian
from lib.failure import Failure
from lib.paths import OUT, TOP

SOURCES = TOP / "selftests/hostile"
PROGRAMS = OUT / "hostile"
BUILD_DEADLINE = 600
START_DEADLINE = 30
# The back end reaches only memory that is a file.
MACHINE = "q35,memory-backend=ram"
MEM = "1G"
FIRST_SLOT = 4
# Debian 12's QEMU looks for KVM's part in the MSI-X of cards whose data is vhost-user's, and ends where that is not.
NO_MSIX = "vectors=0"
# The control queue is QEMU's: its ring is the one that we would not know to spare.
NO_CONTROL_QUEUE = ("ctrl_vq=off,ctrl_rx=off,ctrl_rx_extra=off,ctrl_vlan=off,ctrl_mac_addr=off,ctrl_guest_offloads=off,"
                    "guest_announce=off,mq=off")
# What makes the driver receive into one small buffer for each frame.
SMALL_BUFFERS = "mrg_rxbuf=off,guest_tso4=off,guest_csum=off"

# As misbehave.h has them: what a driver should survive, and what makes it give the ring up.
DISK_CLASSES = ("short-write", "wrong-length", "overrun", "late-write", "rewrite", "tables", "premature", "tamper",
                "wrong-status")
CARD_CLASSES = ("short-write", "wrong-length", "overrun", "late-write", "rewrite", "tables", "premature", "tamper",
                "header", "out-of-order")
BREAKING_CLASSES = ("no-such-id", "free-id", "index-jump")


def make():
    PROGRAMS.mkdir(parents=True, exist_ok=True)
    with debian.locked(PROGRAMS / "lock", "another run builds the misbehaving back end"):
        status, output = child.run(["make", "-C", str(SOURCES), f"OUT={PROGRAMS}"], timeout=BUILD_DEADLINE)
    if status:
        raise Failure("\n".join(["the misbehaving back end was not built:", *output.splitlines()[-20:]]))


class Backend:
    """The process, and how a guest comes to its devices: diskN and cardN, every second card with small buffers."""

    def __init__(self, seed, disks, cards):
        self.seed = seed
        self.names = [f"disk{number}" for number in range(disks)] + [f"card{number}" for number in range(cards)]

    def __enter__(self):
        make()
        with contextlib.ExitStack() as stack:
            self.directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hostile-")))
            sockets = [f"{name[:4]}={self.directory / name}" for name in self.names]
            self.errors = stack.enter_context(tempfile.TemporaryFile())
            self.process = child.spawn([str(PROGRAMS / "hostile"), str(self.seed), *sockets], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=self.errors, text=True)
            stack.callback(child.stop, self.process)
            self._wait_for_sockets()
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *exception):
        self.stack.close()

    def _wait_for_sockets(self):
        deadline = time.monotonic() + START_DEADLINE
        while not all((self.directory / name).exists() for name in self.names):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise Failure(f"the misbehaving back end made no sockets: {self.last_words()}")
            time.sleep(0.01)

    def slot(self, name):
        """Of a device on the first PCI bus."""
        return FIRST_SLOT + self.names.index(name)

    def arguments(self):
        """QEMU's, with the guest's memory."""
        result = ["-object", f"memory-backend-memfd,id=ram,size={MEM},share=on"]
        for name in self.names:
            result += ["-chardev", f"socket,id={name},path={self.directory / name}"]
            if name.startswith("disk"):
                result += ["-device", f"vhost-user-blk-pci,chardev={name},num-queues=1,addr={self.slot(name):#x}"]
            else:
                options = [NO_MSIX, NO_CONTROL_QUEUE, *([SMALL_BUFFERS] if int(name[len("card"):]) % 2 else [])]
                result += ["-netdev", f"vhost-user,id=net-{name},chardev={name}", "-device",
                           f"virtio-net-pci,netdev=net-{name},addr={self.slot(name):#x},{','.join(options)}"]
        return result

    def misbehave(self, name, classes, one_in):
        """In each of these ways, one request in so many."""
        self._ask(f"misbehave {name} {','.join(classes)} {one_in}")

    def behave(self, name):
        self._ask(f"misbehave {name} none")

    def counters(self, name):
        """Requests while the device misbehaved, and how often it did in which way."""
        return {word: int(value) for word, value in (line.split() for line in self._ask(f"counters {name}"))}

    def _ask(self, command):
        lines = []
        try:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
            for line in self.process.stdout:
                if line == "ok\n":
                    return lines
                if line.startswith("error "):
                    raise Failure(f"{command}: {line.strip()}")
                lines.append(line)
        except BrokenPipeError:
            pass
        raise Failure(f"the misbehaving back end has ended: {self.last_words()}")

    def end(self):
        """Ends it as it ends by itself; returns what it has to say, which is nothing when all is well."""
        self.process.stdin.close()
        status = self.process.wait(START_DEADLINE)
        return self.last_words() + (f" status {status}" if status else "")

    def last_words(self):
        return os.pread(self.errors.fileno(), 1 << 16, 0).decode(errors="replace").strip()
