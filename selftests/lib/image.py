# SPDX-License-Identifier: GPL-2.0
"""Disk images full of known data, and checksums of them."""

import contextlib
import hashlib
import os
from pathlib import Path
import random
import tempfile

MIB = 1 << 20


@contextlib.contextmanager
def image(mib, seed=1, directory=None):
    """The path of a raw image of that size, filled from the seed.

    The file has no name, so that it is gone when we are, however we end; the path leads to our descriptor.
    """
    with tempfile.TemporaryFile(dir=directory) as file:
        for block in random_blocks(mib, seed):
            file.write(block)
        file.flush()
        yield Path(f"/proc/{os.getpid()}/fd/{file.fileno()}")


def random_blocks(mib, seed):
    source = random.Random(seed)
    for _ in range(mib):
        yield source.randbytes(MIB)


def sha256(path, offset=0, length=None):
    """Of the whole file, or of length bytes from the offset on."""
    digest = hashlib.sha256()
    left = length if length is not None else path.stat().st_size - offset
    with open(path, "rb") as file:
        file.seek(offset)
        while left:
            block = file.read(min(left, MIB))
            if not block:
                raise ValueError(f"{path} ends {left} bytes early")
            digest.update(block)
            left -= len(block)
    return digest.hexdigest()
