# SPDX-License-Identifier: GPL-2.0
"""What models of network cards are plugged into, beside each other: TAP devices in a namespace, and passt."""

import os
import shlex
import socket
import subprocess
import time
from pathlib import Path

from . import child, debian
from .failure import Failure
from .paths import OUT

DEADLINE = 60
# In a root of its own: it is small, and few tests need it.
PASST_ROOT = "passt"
LOG = OUT / "test/passt.log"


class Plug:
    """A socket at whose other end somebody takes frames."""

    def __init__(self, sock):
        self.sock = sock

    def prefix(self):
        """What the model's command line begins with."""
        return []

    def options(self):
        return ["--wire", str(self.sock.fileno())]

    def descriptors(self):
        """What the model must inherit."""
        return [self.sock.fileno()]

    def close(self):
        """Our end, once the model has it, too."""
        self.sock.close()


class NoPlug:
    """For a device that is no network card."""

    def prefix(self):
        return []

    def options(self):
        return []

    def descriptors(self):
        return []

    def close(self):
        """There is nothing of ours."""


class Namespace:
    """A network namespace of this machine, with processes of its own: they end with it."""

    def __init__(self):
        self.busybox = str(debian.root(debian.USERLAND_SUITE) / "usr/bin/busybox")

    def __enter__(self):
        self.keeper = child.spawn(["unshare", "--net", "--pid", "--fork", "--kill-child", "sleep", "infinity"],
                                  stdin=subprocess.DEVNULL)
        try:
            self.process = self._first_process()
            # whoever is in there may ping: passt does so as nobody
            self.run("ip link set lo up && echo 0 2147483647 >/proc/sys/net/ipv4/ping_group_range")
        except BaseException:
            child.stop(self.keeper)
            raise
        return self

    def __exit__(self, *exception):
        child.stop(self.keeper)

    def _first_process(self):
        """The one that is process 1 in there."""
        children = Path(f"/proc/{self.keeper.pid}/task/{self.keeper.pid}/children")
        deadline = time.monotonic() + DEADLINE
        while self.keeper.poll() is None and time.monotonic() < deadline:
            found = children.read_text(encoding="ascii")
            if found:
                return int(found)
            time.sleep(0.01)
        raise Failure("no network namespace was made: only root can")

    def entering(self):
        """What a command line has to begin with to run in the namespace, but to end with us."""
        return ["nsenter", f"--net=/proc/{self.process}/ns/net"]

    def try_run(self, script, timeout=DEADLINE, directory="/", path=""):
        """Returns (exit status, output) of a script for busybox's shell; path is where it finds more programs."""
        argv = ["nsenter", "-t", str(self.process), "--net", "--pid", "env", f"PATH={path}"]
        return child.run([*argv, self.busybox, "sh", "-c", script], timeout, cwd=directory)

    def run(self, script, timeout=DEADLINE, **where):
        status, output = self.try_run(script, timeout, **where)
        if status:
            raise Failure(f"in the network namespace {script!r} exited with {status}: {output.strip()}")
        return output


class Tap:
    """A TAP device in a namespace, which the model makes."""

    def __init__(self, namespace, name):
        self.namespace, self.name = namespace, name

    def prefix(self):
        return self.namespace.entering()

    def options(self):
        return ["--tap", self.name]

    def descriptors(self):
        return []

    def close(self):
        """There is nothing of ours."""

    def up(self, address):
        """With an address and its prefix length, once the model is there."""
        self.namespace.run(f"ip addr add {address} dev {self.name} && ip link set {self.name} up")


class Passt:
    """passt in a namespace: what the guest sends to that address arrives at the namespace's loopback address."""

    def __init__(self, namespace, address):
        root = debian.kept_root(PASST_ROOT, debian.USERLAND_SUITE, "extract", ["passt"], "passt")
        self.argv = [*namespace.entering(), *program_of(root, "usr/bin/passt"), "--foreground", "--quiet",
                     "--ipv4-only", "--map-host-loopback", address]

    def __enter__(self):
        ours, far_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self.plug = Plug(ours)
        LOG.parent.mkdir(parents=True, exist_ok=True)
        with far_end, open(LOG, "wb") as log:
            self.process = child.spawn([*self.argv, "--fd", str(far_end.fileno())], stdin=subprocess.DEVNULL,
                                       stdout=log, stderr=log, pass_fds=[far_end.fileno()])
        return self

    def __exit__(self, *exception):
        child.stop(self.process)
        self.plug.close()


def program_of(root, path):
    """The command line that starts a root's program with that root's libraries, not in a chroot."""
    libraries = root / "usr/lib/x86_64-linux-gnu"
    return [str(libraries / "ld-linux-x86-64.so.2"), "--library-path", str(libraries), str(root / path)]


def wrapper(directory, name, argv):
    """Makes a program of that name there, which starts that command line."""
    path = Path(directory) / name
    path.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, argv))} "$@"\n', encoding="utf-8")
    os.chmod(path, 0o755)
