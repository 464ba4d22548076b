# SPDX-License-Identifier: GPL-2.0
"""This machine's end of a wire: a network namespace, in which scripts run as in a guest."""

import contextlib
import tempfile
from pathlib import Path

from lib import build, debian, wires
from pair import PROGRAMS

HERE = Path(__file__).resolve().parent


class Host:
    """With the programs that tests want at both ends. Scripts find the rest in busybox."""

    def __init__(self, kernel):
        self.kernel = kernel
        self.namespace = wires.Namespace()

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            self.directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="host-"))
            self.programs = stack.enter_context(tempfile.TemporaryDirectory(prefix="programs-"))
            for name in PROGRAMS:
                wires.wrapper(self.programs, name, [build.program(self.kernel, HERE / f"{name}.c")])
            wires.wrapper(self.programs, "netserver",
                          wires.program_of(debian.root(debian.USERLAND_SUITE), "usr/bin/netserver"))
            stack.enter_context(self.namespace)
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *exception):
        self.stack.close()

    def at(self, address):
        """The end of a link that has that address for the other end."""
        return HostEnd(self, address)


class HostEnd:
    """As pair.Nic is a guest's."""

    def __init__(self, host, address):
        self.host, self.address = host, address
        self.directory = host.directory

    def run(self, script, timeout=60):
        return self.host.namespace.run(script, timeout, directory=self.directory, path=f"{self.host.programs}:/bin")
