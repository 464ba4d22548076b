# SPDX-License-Identifier: GPL-2.0
"""KVM where it really runs a guest, TCG elsewhere."""

import functools
import os
import tempfile
from pathlib import Path

from . import initramfs, qemu
from .failure import Failure
from .stage import note

KVM = "/dev/kvm"
PROBE_DEADLINE = 10


@functools.lru_cache(maxsize=None)
def choose(wanted, kernel):
    """Returns "kvm" or "tcg" for a wish of "auto", "kvm" or "tcg"; of a choice of its own it tells why."""
    if wanted not in ("auto", "kvm", "tcg"):
        raise Failure(f"no accelerator '{wanted}': there are auto, kvm, tcg")
    if wanted == "tcg":
        return "tcg"
    obstacle = kvm_obstacle(kernel)
    if wanted == "kvm" and obstacle:
        raise Failure(f"KVM was demanded, but {obstacle}")
    if wanted == "auto":
        note(f"accelerator: TCG, as {obstacle}" if obstacle else "accelerator: KVM")
    return "tcg" if obstacle else "kvm"


def kvm_obstacle(kernel):
    """Why KVM cannot be used; empty when it can. A device node alone proves nothing: a guest has to boot."""
    if not os.path.exists(KVM):
        return f"{KVM} is missing"
    if not os.access(KVM, os.R_OK | os.W_OK):
        return f"{KVM} may not be opened"
    if not boots(kernel, "kvm"):
        return f"no guest boots within {PROBE_DEADLINE} s although {KVM} is there"
    return ""


def boots(kernel, accel):
    argv = qemu.command(kernel, accel, "q35", cpus=1, mem="512M", append="", devices=[])
    with tempfile.TemporaryFile() as log:
        guest = qemu.Qemu(argv, initramfs.base(kernel), Path(f"/proc/{os.getpid()}/fd/{log.fileno()}"))
        try:
            guest.agent.wait_ready(PROBE_DEADLINE)
            return True
        except (TimeoutError, EOFError):
            return False
        finally:
            guest.stop()
