# SPDX-License-Identifier: GPL-2.0
"""The host's side of the network tests: netperf's server, and one that checks data."""

import hashlib
import random
import socket
import subprocess
import threading

from lib import child, debian
from lib.failure import Failure

LOCALHOST = "127.0.0.1"
# What QEMU's user network calls the host.
HOST_FROM_GUEST = "10.0.2.2"
DEADLINE = 60


class Netserver:
    """netperf's server, from the same Debian suite as the guest's netperf, with that suite's libraries."""

    def __init__(self):
        root = debian.root(debian.USERLAND_SUITE)
        libraries = root / "usr/lib/x86_64-linux-gnu"
        self.port = free_port()
        self.process = child.spawn(
            [str(libraries / "ld-linux-x86-64.so.2"), "--library-path", str(libraries),
             str(root / "usr/bin/netserver"), "-D", "-4", "-L", LOCALHOST, "-p", str(self.port)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        child.stop(self.process)


def free_port():
    with socket.socket() as probe:
        probe.bind((LOCALHOST, 0))
        return probe.getsockname()[1]


class DataExchange:
    """Sends known data to the one client that connects, and takes as much from it; says that it is done when both are.

    Not earlier: busybox's nc sends nothing more once it has been told that nothing more will come.
    """

    def __init__(self, size, seed):
        self.data = random.Random(seed).randbytes(size)
        self.received = None
        self.listener = socket.create_server((LOCALHOST, 0))
        self.listener.settimeout(DEADLINE)
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def sent_sha256(self):
        return hashlib.sha256(self.data).hexdigest()

    def received_sha256(self):
        self.thread.join(DEADLINE)
        if self.received is None:
            raise Failure("the guest's data did not arrive over the network")
        return hashlib.sha256(self.received).hexdigest()

    def _serve(self):
        with self.listener:
            connection, _ = self.listener.accept()
        with connection:
            connection.settimeout(DEADLINE)
            sender = threading.Thread(target=connection.sendall, args=(self.data,), daemon=True)
            sender.start()
            received = bytearray()
            while len(received) < len(self.data):
                data = connection.recv(1 << 16)
                if not data:
                    break
                received += data
            sender.join(DEADLINE)
        self.received = bytes(received)
