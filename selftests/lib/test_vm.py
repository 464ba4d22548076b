#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Whether the runner tells every way in which a guest can fail, in time, and leaves nothing behind."""

import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

# pylint: disable=wrong-import-position
from lib import accel, image, kernels, ktap
from lib.failure import Failure
from lib.vm import KILLED, VM, CommandFailed, GuestLost

KERNEL = kernels.wanted()

# Never says anything, as a guest on a KVM that does not work.
SILENT_QEMU = "#!/bin/sh\nexec sleep 600\n"

# Boots a guest, says who is QEMU, and waits to be killed.
VICTIM = """
import sys
sys.path.insert(0, {selftests!r})
from lib import child, kernels
from lib.vm import VM
child.exit_on_sigterm()
with VM(kernels.wanted(), accel="tcg", name="victim") as vm:
    print(vm.qemu.process.pid, flush=True)
    vm.run("sleep 300", timeout=300)
"""

t = ktap.Suite("vm")


def raises(kind, action):
    try:
        action()
    except kind as error:
        return str(error)
    raise ktap.CheckFailed(f"no {kind.__name__} was raised")


def with_qemu(script, action):
    """Do something with a QEMU that is no such thing."""
    with tempfile.TemporaryDirectory() as directory:
        fake = Path(directory) / "qemu"
        fake.write_text(script, encoding="ascii")
        fake.chmod(0o755)
        os.environ["QEMU"] = str(fake)
        try:
            return action()
        finally:
            del os.environ["QEMU"]


def ends_within(seconds, pid):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not Path(f"/proc/{pid}").exists():
            return True
        time.sleep(0.1)
    return False


def qemu_dies_with_runner(number):
    source = VICTIM.format(selftests=str(Path(__file__).resolve().parents[1]))
    with subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as victim:
        qemu = int(victim.stdout.readline())
        victim.send_signal(number)
        t.check(ends_within(10, qemu), "QEMU goes on")


with image.image(1, seed=7) as data, \
        VM(KERNEL, accel="tcg", files={"/data": data}, name="vm") as vm:
    with t.case("a megabyte of any bytes arrives as it was"):
        status, output = vm.qemu.agent.execute("cat /data", 60)
        t.check(hashlib.sha256(output).hexdigest() == image.sha256(data), "the bytes differ")

    with t.case("a script of 100 kB runs"):
        t.check(vm.run(f"# {'x' * 100000}\necho done") == "done\n", "its output differs")

    with t.case("a hundred commands in a row"):
        for number in range(100):
            t.check(vm.run(f"echo {number}") == f"{number}\n", f"output of command {number} differs")

    with t.case("a background job does not hold the channel"):
        vm.run("(sleep 3; echo late) &")
        t.check(vm.run("sleep 4; echo now") == "now\n", "its output came in between")

    with t.case("a failing command is told with status and output"):
        text = raises(CommandFailed, lambda: vm.run("echo some words; exit 3"))
        t.check("exited with 3" in text and "some words" in text, f"told was: {text}")

    with t.case("a command is killed at its timeout, the guest goes on"):
        status, output = vm.try_run("echo begun; sleep 60", timeout=2)
        t.check(status == KILLED and output.startswith("begun"), f"got {status}, {output}")
        vm.run("true")

    with t.case("complaints of the kernel are told once"):
        t.check(vm.kernel_complaints() == [], "there are some to begin with")
        vm.run("echo 'BUG: of the test' >/dev/kmsg")
        t.check(len(vm.kernel_complaints()) == 1, "not exactly one is told")
        t.check(vm.kernel_complaints() == [], "they are told again")

    with t.case("a panic is told at once, with its reason"):
        start = time.monotonic()
        text = raises(GuestLost, lambda: vm.run("echo c >/proc/sysrq-trigger"))
        t.check("sysrq triggered crash" in text, f"told was: {text}")
        t.check(time.monotonic() - start < 20, "it took long")
        t.check("earlier" in raises(GuestLost, lambda: vm.run("true")), "the next command does not fail at once")

with t.case("a guest that never boots"):
    text = with_qemu(SILENT_QEMU, lambda: raises(GuestLost, lambda: VM(KERNEL, accel="tcg", boot_timeout=2)))
    t.check("silent" in text, f"told was: {text}")

with t.case("no QEMU"):
    os.environ["QEMU"] = "qemu-that-is-not-there"
    text = raises(Failure, lambda: VM(KERNEL, accel="tcg"))
    del os.environ["QEMU"]
    t.check("no QEMU" in text, f"told was: {text}")

with t.case("a KVM that boots nothing: TCG by itself, an error on demand"):
    t.check(with_qemu(SILENT_QEMU, lambda: accel.choose("auto", KERNEL)) == "tcg", "it is not TCG")
    raises(Failure, lambda: with_qemu(SILENT_QEMU, lambda: accel.choose("kvm", KERNEL)))

for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
    with t.case(f"QEMU ends with a runner ended by {number.name}"):
        qemu_dies_with_runner(number)

t.finish()
