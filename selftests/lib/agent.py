# SPDX-License-Identifier: GPL-2.0
"""The host's end of the command channel; the guest's end is guest/agent, which says how they talk."""

import re
import secrets
import time

from .channel import receive

# As in guest/agent.
PIECE = 1024
# How much later than the guest's own deadline for a script we give the guest up.
GRACE = 20
# No pattern that we look for is longer.
LONGEST_MATCH = 64


class Agent:
    """On a connected socket; raises TimeoutError or EOFError once the guest does not answer."""

    def __init__(self, sock):
        self.sock = sock
        self.received = bytearray()

    def wait_ready(self, timeout):
        self._take_through(re.compile(rb"ready\n"), time.monotonic() + timeout)

    def execute(self, script, timeout):
        """Run a shell script; returns (exit status, output as bytes). 137 is that of one killed at its timeout."""
        token = secrets.token_hex(16)
        data = script.encode("utf-8", "surrogateescape")
        deadline = time.monotonic() + timeout + GRACE
        self.sock.sendall(f"{token} {len(data)} {timeout}\n".encode())
        for start in range(0, len(data), PIECE):
            self.sock.sendall(data[start:start + PIECE])
            self._take_through(re.compile(rb"\."), deadline)
        output, end = self._take_through(re.compile(token.encode() + rb" (\d+)\n"), deadline)
        return int(end.group(1)), output

    def _take_through(self, pattern, deadline):
        """Take all that the guest says through the first match; returns what came before, and the match."""
        searched = 0
        while True:
            match = pattern.search(self.received, searched)
            if match:
                break
            searched = max(len(self.received) - LONGEST_MATCH, 0)
            self.received += receive(self.sock, deadline)
        text = bytes(self.received[:match.end()])
        self.received = self.received[match.end():]
        return text[:match.start()], pattern.match(text, match.start())
