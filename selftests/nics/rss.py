# SPDX-License-Identifier: GPL-2.0
"""Which receive queue a flow belongs to, worked out from what ethtool says of the card and not by the model."""

import ipaddress
import re
from typing import NamedTuple

# "    8:      0     1     2     3 ..." of ethtool -x, and the line with the key.
TABLE_ROW = re.compile(r"\s*\d+:((?:\s+\d+)+)$", re.MULTILINE)
KEY_LINE = re.compile(r"^(?:[0-9a-f]{2}:){2,}[0-9a-f]{2}$", re.MULTILINE)


class Spread(NamedTuple):
    """A card's key and its table of queues."""

    key: bytes
    table: list

    @classmethod
    def of(cls, nic):
        text = nic.run(f"ethtool -x {nic.interface}")
        table = [int(queue) for row in TABLE_ROW.findall(text) for queue in row.split()]
        return cls(bytes.fromhex(KEY_LINE.search(text).group().replace(":", "")), table)

    def queue(self, source, destination, source_port=None, destination_port=None):
        """The queue for what comes from source; without ports that of the two addresses alone."""
        data = ipaddress.ip_address(source).packed + ipaddress.ip_address(destination).packed
        for port in (source_port, destination_port):
            data += b"" if port is None else port.to_bytes(2, "big")
        return self.table[toeplitz(self.key, data) % len(self.table)]


def toeplitz(key, data):
    """The hash of "RSS hashing types" in the Windows driver documentation."""
    bits = int.from_bytes(key, "big")
    length = 8 * len(key)
    result = 0
    for position in range(8 * len(data)):
        if data[position // 8] >> (7 - position % 8) & 1:
            result ^= bits >> (length - 32 - position) & 0xffffffff
    return result
