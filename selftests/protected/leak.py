# SPDX-License-Identifier: GPL-2.0
"""Whether a secret in private memory gets out, while the guest does what must not let it out.

The secret is in a process, in the page cache, in buffers that a disk is to write to, and in pages that others get
next. Once the disk's backend holds its requests, so that their buffers are shared for as long as a search takes.
"""

import secrets
from pathlib import Path
from typing import NamedTuple

import disk
from lib import build
from lib.checks import wait_until
from lib.failure import Failure
from search import Search

MIB = 1 << 20
PROGRAM = "/bin/secret"
# Where a secret is, and what becomes of its pages. The last one may go out: the search has to find it.
PROCESS, PAGE_CACHE, BUFFER = "process", "page cache", "buffer to read into"
FREED_TO_DISK, FREED_TO_NET = "freed, then read into", "freed, then received into"
SOURCES = (PROCESS, PAGE_CACHE, BUFFER, FREED_TO_DISK, FREED_TO_NET)
WRITTEN = "written"
KEPT = "/tmp/secret"
ENDED = "/tmp/ended"
SIZES = (4 << 10, 64 << 10, MIB)
MIB_FREED = 64
AHEAD_MIB = 8
SECTOR = 512


class Result(NamedTuple):
    passes: int
    searched: int           # bytes of the smallest pass
    hits: dict              # source -> most in one pass
    places: list            # offsets of the first and last hits in the shared memory


def program(kernel):
    """The guest's part, as VM() takes files."""
    return {PROGRAM: build.program(kernel, Path(__file__).with_name("secret.c"))}


class Leak:
    """A search for the secrets of all sources, each of which has one of its own."""

    def __init__(self, rig):
        self.rig, self.vm = rig, rig.vm
        self.seeds = {source: secrets.randbits(64) for source in (*SOURCES, WRITTEN)}
        self.node = rig.disk.node

    def search(self):
        """Search while the guest works; returns the Result."""
        with self._searching() as search:
            self._run(PROCESS, "hold", 16)
            self._run(PAGE_CACHE, "page-cache", KEPT, 16)
            self._while_held(search, self._command(BUFFER, "read", self.node, MIB, 1))
            self._free_for(FREED_TO_DISK)
            self._while_held(search, self._read_through_page_cache(AHEAD_MIB))
            self._work()
            search.whole_pass()
            self.vm.run(f"killall secret; rm {KEPT}")
        return self._result(search)

    def search_written(self):
        """The counter-test: a secret is written to the disk, so that it has to be found; returns the Result."""
        with self._searching() as search:
            self._while_held(search, self._command(WRITTEN, "write", self.node))
        return self._result(search)

    def _work(self):
        for size in SIZES:
            self._run(BUFFER, "read", self.node, size, 16 * MIB // size)
        self._free_for(FREED_TO_DISK)
        self.vm.run(self._read_through_page_cache(48), timeout=disk.DEADLINE)
        self.rig.disk.verify()
        self.rig.renew_receive_ring(lambda: self._free_for(FREED_TO_NET))
        self.rig.net.verify()

    def _free_for(self, source):
        """Nothing else is free that is as easy to get."""
        self.vm.run("echo 3 >/proc/sys/vm/drop_caches")
        self._run(source, "free", MIB_FREED)

    def _searching(self):
        return Search(self.rig.memory_file(), self.seeds.values())

    def _result(self, search):
        return Result(search.passes, search.least, dict(zip(self.seeds, search.hits)), search.places)

    def _command(self, source, *arguments):
        lowest = self.rig.memory.private_start
        return f"{PROGRAM} {self.seeds[source]} {lowest:#x} {' '.join(map(str, arguments))}"

    def _run(self, source, *arguments):
        self.vm.run(self._command(source, *arguments), timeout=disk.DEADLINE)

    def _read_through_page_cache(self, mib):
        """So much at a time that the pages which a CPU keeps for itself do not do."""
        return (f"blockdev --setra {AHEAD_MIB * MIB // SECTOR} {self.node}; "
                f"dd if={self.node} of=/dev/null bs={AHEAD_MIB}M count={mib // AHEAD_MIB} 2>/dev/null")

    def _while_held(self, search, script):
        """Run a script whose first requests stay with the disk's backend until all has been searched."""
        backend = self.rig.backends["disk"]
        backend.hold()
        try:
            self.vm.run(f"rm -f {ENDED}; ({script}; echo $? >{ENDED}) </dev/null >/dev/null 2>&1 &")
            wait_until("requests wait", lambda: self._inflight() > 0, disk.DEADLINE)
            search.whole_pass()
        finally:
            backend.let_go()
        status = wait_until("the script has ended", lambda: self.vm.run(f"cat {ENDED} 2>/dev/null; true").strip(),
                            disk.DEADLINE)
        if status != "0":
            raise Failure(f"in the guest {script!r} exited with {status}")

    def _inflight(self):
        return sum(map(int, self.vm.run(f"cat /sys/block/{self.node[len('/dev/'):]}/inflight").split()))
