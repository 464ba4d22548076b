# SPDX-License-Identifier: GPL-2.0
"""QEMU's machine protocol (docs/interop/qmp-spec in its source): commands, and events to wait for."""

import json
import time

from .channel import receive


class QmpError(Exception):
    """QEMU refused a command; the text is QEMU's."""


class Qmp:
    """On a connected socket; raises TimeoutError or EOFError once QEMU does not answer."""

    ANSWER_DEADLINE = 30

    def __init__(self, sock):
        self.sock = sock
        self.received = b""
        self.events = []

    def negotiate(self):
        self._next_message(time.monotonic() + self.ANSWER_DEADLINE)
        self.command("qmp_capabilities")

    def command(self, name, **arguments):
        """Returns what QEMU returned."""
        self.sock.sendall(json.dumps({"execute": name, "arguments": arguments}).encode() + b"\n")
        deadline = time.monotonic() + self.ANSWER_DEADLINE
        while True:
            message = self._next_message(deadline)
            if "error" in message:
                raise QmpError(f"{name}: {message['error']['desc']}")
            if "return" in message:
                return message["return"]
            self.events.append(message)

    def wait_event(self, name, timeout, **data):
        """The data of the first event of that name, with these values in it, that was not taken yet."""
        deadline = time.monotonic() + timeout
        seen = 0
        while True:
            for position in range(seen, len(self.events)):
                event = self.events[position]
                if event["event"] == name and data.items() <= event.get("data", {}).items():
                    return self.events.pop(position).get("data", {})
            seen = len(self.events)
            self.events.append(self._next_message(deadline))

    def _next_message(self, deadline):
        while b"\n" not in self.received:
            self.received += receive(self.sock, deadline)
        line, self.received = self.received.split(b"\n", 1)
        return json.loads(line)
