# SPDX-License-Identifier: GPL-2.0
"""vhost-user backends: the other process that serves a guest's disk or network card, in memory that it is sent."""

import os
import signal
import subprocess
import time

from lib import child, debian
from lib.failure import Failure

START_DEADLINE = 30
RECONNECT_MS = 100
# What the guest is, and calls the host: as with QEMU's user network.
GUEST, HOST = "10.0.2.15", "10.0.2.2"


class Backend:
    """A process that listens on a socket; it ends with its one guest, or with us."""

    def __init__(self, name, directory, argv):
        self.name = name
        self.argv = argv
        self.socket = directory / f"{name}.socket"
        self.log = directory / f"{name}.log"
        self.start()

    def start(self):
        """Also again, once it has been stopped."""
        self.socket.unlink(missing_ok=True)
        with open(self.log, "wb") as log:
            self.process = child.spawn(self.argv(self.socket), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + START_DEADLINE
        while not self.socket.exists():
            if self.ended():
                raise Failure(f"{self.name} ended: {self.last_words()}")
            if time.monotonic() > deadline:
                raise Failure(f"{self.name} made no socket in {START_DEADLINE} s")
            time.sleep(0.01)

    def chardev(self):
        """QEMU looks for a backend that is gone until there is one again."""
        return ["-chardev", f"socket,id={self.name}-socket,path={self.socket},reconnect-ms={RECONNECT_MS}"]

    def ended(self):
        return self.process.poll() is not None

    def last_words(self):
        return (self.log.read_text(encoding="utf-8", errors="replace").splitlines() or ["nothing"])[-1]

    def hold(self):
        """Not a step further, until let_go(): requests stay with the device, and buffers mapped."""
        os.kill(self.process.pid, signal.SIGSTOP)

    def let_go(self):
        os.kill(self.process.pid, signal.SIGCONT)

    def stop(self):
        child.stop(self.process)


class DiskBackend(Backend):
    def __init__(self, directory, image):
        super().__init__("disk", directory, lambda path: [
            *debian.unpacked_program(debian.backends_root(), "qemu-storage-daemon"),
            "--blockdev", f"driver=file,node-name=image,filename={image}",
            "--export", "type=vhost-user-blk,id=export,node-name=image,writable=on,"
                        f"addr.type=unix,addr.path={path}"])

    def device(self):
        """What to tell QEMU of the device."""
        return {"driver": "vhost-user-blk-pci", "chardev": f"{self.name}-socket", "num-queues": 1}


class NetBackend(Backend):
    """passt: the guest's packets become connections of the host. Debian 12's does not speak vhost-user yet."""

    def __init__(self, directory):
        super().__init__("net", directory, lambda path: [
            *debian.unpacked_program(debian.backends_root(), "passt"),
            "--vhost-user", "--foreground", "--one-off", "--quiet", "--socket", str(path), "--ipv4-only",
            "--address", GUEST, "--netmask", "24", "--gateway", HOST])

    def chardev(self):
        return super().chardev() + ["-netdev", f"vhost-user,id=net,chardev={self.name}-socket"]

    def device(self):
        return {"driver": "virtio-net-pci", "netdev": "net"}
