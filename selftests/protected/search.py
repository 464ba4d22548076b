#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Looks for secrets of the guest in the memory that it shares: all of it, again and again, while the guest works.

As a program it searches, and prints a line for each pass: bytes searched, hits of each secret, and where the first and
the last hit are.
"""

import errno
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

# pylint: disable=wrong-import-position
from lib import child
from lib.failure import Failure

MASK = (1 << 64) - 1
CHUNK = 8 << 20
NOWHERE = -1
PASS_DEADLINE = 120


def secret(seed):
    """16 bytes, as secret.c makes them of the seed (SplitMix64)."""
    words = []
    for number in (1, 2):
        z = (seed + number * 0x9e3779b97f4a7c15) & MASK
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & MASK
        z = (z ^ z >> 27) * 0x94d049bb133111eb & MASK
        words.append(z ^ z >> 31)
    return b"".join(word.to_bytes(8, "little") for word in words)


def pieces(descriptor, overlap):
    """Yields (offset, bytes that are new, data) over a file; data goes on into the next piece by the overlap.

    What was never written is passed by: nothing can be in it, and to look at it through a mapping would allocate it.
    """
    size = os.fstat(descriptor).st_size
    offset = 0
    while offset < size:
        try:
            offset = os.lseek(descriptor, offset, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:      # nothing but a hole up to the end
                return
            raise
        end = os.lseek(descriptor, offset, os.SEEK_HOLE)
        while offset < end:
            length = min(CHUNK, end - offset)
            yield offset, length, os.pread(descriptor, min(length + overlap, end - offset), offset)
            offset += length


def found_in(data, pattern):
    at = data.find(pattern)
    while at >= 0:
        yield at
        at = data.find(pattern, at + len(pattern))


def search_once(descriptor, patterns):
    """Returns (bytes searched, hits of each pattern, first and last offset of any or NOWHERE)."""
    searched, hits, first, last = 0, [0] * len(patterns), NOWHERE, NOWHERE
    for offset, length, data in pieces(descriptor, len(patterns[0]) - 1):
        searched += length
        for number, pattern in enumerate(patterns):
            for at in found_in(data, pattern):
                hits[number] += 1
                first = min(first, offset + at) if first != NOWHERE else offset + at
                last = max(last, offset + at)
    return searched, hits, first, last


def search_for_ever(path, patterns):
    descriptor = os.open(path, os.O_RDONLY)
    while True:
        searched, hits, first, last = search_once(descriptor, patterns)
        print(searched, first, last, *hits, flush=True)


class Search:
    """The program above, in a process of its own, in a `with` block."""

    def __init__(self, path, seeds):
        self.argv = [sys.executable, str(Path(__file__).resolve()), str(path), *map(str, seeds)]
        self.passes = 0
        self.least = None               # bytes of the smallest pass
        self.hits = [0] * len(seeds)    # most in one pass, of each secret
        self.places = []                # first and last of each pass with a hit

    def __enter__(self):
        self.process = child.spawn(self.argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        # All the time, or the program would wait for us when the pipe is full.
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        return self

    def __exit__(self, *exception):
        child.stop(self.process)
        self.reader.join()
        self.process.stdout.close()

    def _read(self):
        for line in self.process.stdout:
            searched, first, last, *hits = map(int, line.split())
            self.least = searched if self.least is None else min(self.least, searched)
            self.hits = list(map(max, self.hits, hits))
            if first != NOWHERE:
                self.places += [first, last]
            self.passes += 1

    def whole_pass(self):
        """Returns when a pass has ended that began after the call: the one that runs now, and another."""
        wanted = self.passes + 2
        deadline = time.monotonic() + PASS_DEADLINE
        while self.passes < wanted:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise Failure(f"no pass of the search ended in {PASS_DEADLINE} s")
            time.sleep(0.01)


if __name__ == "__main__":
    try:
        search_for_ever(sys.argv[1], [secret(int(seed)) for seed in sys.argv[2:]])
    except BrokenPipeError:
        pass
