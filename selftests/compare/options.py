# SPDX-License-Identifier: GPL-2.0
"""What a person may choose on the command line of `make run` and `make shell`."""

import os
import re
from typing import NamedTuple

from lib.kernels import DEFAULT_LINE
from lib.failure import Failure

PATHS = ("off", "direct", "platform", "swiotlb", "bounce")
RINGS = ("split", "packed")
SLOT_SIZE = 2048
MAX_SLOTS = 65536


class Options(NamedTuple):
    line: str
    accel: str
    cpus: int
    mem: int            # in MiB
    runs: int
    paths: tuple
    ring: str
    pool_mb: int        # of our bounce pool

    def swiotlb_slots(self):
        """Of the kernel's bounce pool: 128 MiB, or a sixteenth of a small guest."""
        return min(MAX_SLOTS, (self.mem << 20) // 16 // SLOT_SIZE)


def from_environment():
    paths = tuple(re.split(r"[ ,]+", setting("PATHS", " ".join(PATHS)).strip()))
    for path in paths:
        one_of("PATHS", path, PATHS)
    return Options(
        line=setting("KVER", DEFAULT_LINE),
        accel=setting("ACCEL", "auto"),
        cpus=number("CPUS", setting("CPUS", "2")),
        mem=mebibytes(setting("MEM", "2G")),
        runs=number("RUNS", setting("RUNS", "10")),
        paths=tuple(dict.fromkeys(paths)),
        ring=one_of("RING", setting("RING", "split"), RINGS),
        pool_mb=number("POOL_MB", setting("POOL_MB", "64")))


def setting(name, default):
    return os.environ.get(name) or default


def number(name, text):
    if not re.fullmatch(r"[1-9]\d{0,3}", text):
        raise Failure(f"{name}={text}: must be a number from 1 to 9999")
    return int(text)


def mebibytes(text):
    match = re.fullmatch(r"([1-9]\d*)([MG]?)", text)
    size = int(match.group(1)) << (10 if match.group(2) == "G" else 0) if match else 0
    if size < 512:
        raise Failure(f"MEM={text}: must be 512M or more, as a number with M or G")
    return size


def one_of(name, word, words):
    if word not in words:
        raise Failure(f"{name}: no '{word}', there are {' '.join(words)}")
    return word
