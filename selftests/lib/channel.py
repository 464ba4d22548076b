# SPDX-License-Identifier: GPL-2.0
"""Reading from a socket with a deadline."""

import socket
import time


def receive(sock, deadline):
    """The next bytes; raises TimeoutError once time.monotonic() is past the deadline, EOFError at the end."""
    sock.settimeout(max(deadline - time.monotonic(), 0.001))
    try:
        data = sock.recv(1 << 16)
    except socket.timeout:      # no TimeoutError before Python 3.10
        raise TimeoutError from None
    if not data:
        raise EOFError
    return data
