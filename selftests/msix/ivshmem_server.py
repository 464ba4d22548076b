# SPDX-License-Identifier: GPL-2.0
"""The server that an ivshmem-doorbell device wants (docs/specs/ivshmem-spec in QEMU's source), for one device.

The device has memory in BAR 2, registers in BAR 0, and an MSI-X capability: no other device of QEMU has all three.
"""

import array
import contextlib
import os
import socket
import struct
import threading

PROTOCOL_VERSION = 0
OWN_ID = 0
SHARED_MEMORY = -1
MEMORY_BYTES = 1 << 20


class Server:
    """A context manager; devices() is for as long as it is entered."""

    def __enter__(self):
        self.listener = socket.socket(socket.AF_UNIX)
        # An abstract name, which cannot be left behind.
        self.name = f"ivshmem-{os.getpid()}"
        self.listener.bind(f"\0{self.name}")
        self.listener.listen()
        self.memory = os.memfd_create("ivshmem")
        os.ftruncate(self.memory, MEMORY_BYTES)
        self.event = os.eventfd(0)
        self.clients = []
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        for client in [*self.clients, self.listener]:
            client.close()
        os.close(self.memory)
        os.close(self.event)

    def devices(self, slot):
        return ["-chardev", f"socket,id=ivshmem,abstract=on,path={self.name}",
                "-device", f"ivshmem-doorbell,vectors=1,chardev=ivshmem,addr={slot:#x}"]

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                self.clients.append(client)
                send(client, PROTOCOL_VERSION)
                send(client, OWN_ID)
                send(client, SHARED_MEMORY, self.memory)
                send(client, OWN_ID, self.event)


def send(client, value, descriptor=None):
    """One message is one number; a file descriptor may go with it."""
    ancillary = []
    if descriptor is not None:
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))]
    client.sendmsg([struct.pack("<q", value)], ancillary)
