# SPDX-License-Identifier: GPL-2.0
"""One QEMU process that boots a kernel, and the three ways to it: serial log, agent, QMP."""

import os
import shutil
import socket
import subprocess

from . import child
from .agent import Agent
from .failure import Failure
from .qmp import Qmp

# panic=-1 with -no-reboot: a guest that panics makes QEMU exit at once, and an oops is a panic.
# no_timer_check: under load the kernel's timer test at boot fails now and then in an emulated guest.
APPEND = "console=ttyS0 panic=-1 oops=panic no_timer_check log_buf_len=4M"
CPU_MODEL = {"tcg": "max", "kvm": "host"}


def binary():
    """QEMU's path; the environment may name another one."""
    wanted = os.environ.get("QEMU") or "qemu-system-x86_64"
    found = shutil.which(wanted)
    if not found:
        raise Failure(f"no QEMU: there is no program {wanted}")
    return found


def accelerator_argument(accel):
    """One thread for all emulated CPUs, unless LONG is set: with one each, a CPU now and then runs on into code that
    another one has just patched, and stock kernels die of it ("Oops: int3" at boot). Also, it is faster with two guests
    on two cores. What it cannot find is what only CPUs that really run at once do to each other.
    """
    if accel == "tcg":
        return f"tcg,thread={'multi' if os.environ.get('LONG') else 'single'}"
    return accel


def command(kernel, accel, machine, cpus, mem, append, devices, program=None, cpu=None):
    """The part of the command line that any run of this guest needs, wherever its console is.

    The program is this machine's QEMU, unless another command line is given that starts one. The CPU model is all that
    the accelerator can do, unless one is named.
    """
    return [*(program or [binary()]), "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
            "-machine", machine, "-accel", accelerator_argument(accel), "-cpu", cpu or CPU_MODEL[accel],
            "-smp", str(cpus), "-m", mem,
            "-kernel", str(kernel.vmlinuz), "-append", f"{APPEND} {append}".strip(), *devices]


def initrd_arguments(initrd):
    """Hand over an initramfs as a file that has no name, which therefore cannot be left behind.

    Returns the arguments and the file descriptor that QEMU must inherit.
    """
    descriptor = os.memfd_create("initramfs", 0)
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.write(initrd)
    return ["-initrd", f"/proc/self/fd/{descriptor}"], descriptor


def serial_arguments(log):
    """The console goes to the end of the log, where QEMU's own messages go, too: neither overwrites the other."""
    path = str(log).replace(",", ",,")
    return ["-chardev", f"file,id=console,path={path},append=on", "-serial", "chardev:console"]


class Qemu:
    def __init__(self, argv, initrd, serial_log):
        self.serial_log = serial_log
        serial_log.parent.mkdir(parents=True, exist_ok=True)
        serial_log.write_bytes(b"")
        initrd_args, initrd_fd = initrd_arguments(initrd)
        agent, agent_far_end = socket.socketpair()
        qmp, qmp_far_end = socket.socketpair()
        self.agent = Agent(agent)
        self.qmp = Qmp(qmp)
        self.argv = [
            *argv, *initrd_args, *serial_arguments(serial_log),
            # Not -serial: the microvm machine would take only one of these.
            "-chardev", f"socket,id=agent,fd={agent_far_end.fileno()}", "-device", "isa-serial,index=1,chardev=agent",
            "-chardev", f"socket,id=qmp,fd={qmp_far_end.fileno()}", "-mon", "chardev=qmp,mode=control"]
        inherited = [agent_far_end.fileno(), qmp_far_end.fileno(), initrd_fd]
        with open(serial_log, "ab") as errors:
            self.process = child.spawn(self.argv, pass_fds=inherited, stdin=subprocess.DEVNULL,
                                       stdout=errors, stderr=errors)
        agent_far_end.close()
        qmp_far_end.close()
        os.close(initrd_fd)

    def stop(self):
        child.stop(self.process)
        self.agent.sock.close()
        self.qmp.sock.close()

    def serial_lines(self):
        return self.serial_log.read_bytes().decode("utf-8", "replace").replace("\r", "").splitlines()
