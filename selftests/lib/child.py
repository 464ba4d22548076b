# SPDX-License-Identifier: GPL-2.0
"""Child processes that never outlive us, however we end."""

import os
import signal
import subprocess
import sys

from .failure import Failure


def spawn(argv, **popen_args):
    """Start a child in a process group of its own, so that a Ctrl-C reaches only us and we end it.

    The kernel kills it should we be killed before we can.
    """
    return subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *argv], start_new_session=True, **popen_args)


def stop(process):
    """End the child and what it started in its group."""
    if process.returncode is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def run(argv, timeout, **popen_args):
    """Run a command to its end; returns (exit status, stdout and stderr as one text)."""
    process = spawn(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                    encoding="utf-8", errors="replace", **popen_args)
    try:
        output, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        raise Failure(f"did not end within {timeout} s: {' '.join(argv)}") from None
    finally:
        stop(process)
    return process.returncode, output


def in_private_namespaces(argv):
    """The command line that runs argv where its mounts and processes vanish with it."""
    return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", *argv]


def exit_on_sigterm():
    """Make SIGTERM unwind the stack like Ctrl-C does, so that every `with` block cleans up."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
