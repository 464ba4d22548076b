#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Can a host that misbehaves make a guest on path bounce see foreign bytes, or get at memory that it was not given?

Disks and network cards of ours (backend/) do everything that is forbidden, by seed. disk_check.c and card_check.c say
what is foreign, and look at every byte. Controls: with fill=none, which leaves in the pool what others bounced there,
they do find foreign bytes; and without the module the same host, with the same seed, gets at the guest's memory.

From the environment: SEED (1), REQUESTS (in all, on all devices: 100000; on the debug kernel 20000, but with LONG).
"""

import contextlib
import os
import re
import sys
from pathlib import Path

sys.path[1:1] = [str(Path(__file__).resolve().parents[1] / part) for part in ("", "virtio", "bounce")]

# pylint: disable=wrong-import-position
import backend
import guest
import pool
from lib import build, checks, kernels, ktap, vm
from lib.checks import expect, expect_at_least, wait_until
from lib.vm import GuestLost

HERE = Path(__file__).resolve().parent
SEED = int(os.environ.get("SEED") or 1)
IS_SLOW = os.environ.get("KVER") == kernels.DEBUG_LINE and not os.environ.get("LONG")
REQUESTS = int(os.environ.get("REQUESTS") or (20000 if IS_SLOW else 100000))
# Of the requests, how many are a disk's; a frame is two, as each that is sent has another come in.
DISK_PART = 0.15
CARD_PART = 0.35
# One request in so many misbehaves in the way of each class, so that most do in one way or another.
ONE_IN = 8
# Enough for the controls to find something, and for data that must be right.
FEW = 2000
BREAKING_ROUNDS = 2
BREAKING_ONE_IN = 20
# Some requests a second is what a debug kernel does at least.
TIME_FOR_REQUEST = 0.05
LEAST_TIME = 120

# What drivers of a kernel line believe of a host, whatever is below them (README.md, Limits).
BELIEVED = {"5.10": ("tables",)}

WORKING_DISKS = ("disk0", "disk1")
BREAKING_DISKS = dict(zip(backend.BREAKING_CLASSES, ("disk2", "disk3", "disk4")))
CARDS = ("card0", "card1")
# What virtio_ring says when it gives a ring up.
BROKEN = re.compile(r"id \d+ (out of range|is not a head)")
HARM = ("foreign", "canary", "changed", "written_changed")


def main():
    suite = ktap.Suite("hostile")
    ktap.say(f"# SEED={SEED} REQUESTS={REQUESTS}")
    kernel = kernels.wanted()
    modules = build.build(kernel)
    programs = {f"/bin/{name}": build.program(kernel, HERE / f"{name}.c") for name in ("disk_check", "card_check")}
    with machine(kernel, modules, programs, "hostile") as (devices, vmachine):
        Bounced(suite, vmachine, devices).run()
    with machine(kernel, modules, programs, "hostile-stock") as (devices, vmachine):
        Stock(suite, vmachine, devices).run()
    suite.finish()


@contextlib.contextmanager
def machine(kernel, modules, programs, name):
    with backend.Backend(SEED, disks=len(WORKING_DISKS) + len(BREAKING_DISKS), cards=len(CARDS)) as devices, \
            vm.VM(kernel, devices=devices.arguments(), machine=backend.MACHINE, mem=backend.MEM, kos=modules.values(),
                  files=programs, name=name) as vmachine:
        vmachine.run("modprobe virtio_pci")
        yield devices, vmachine


class Guest:
    """What the guests with and without the module have in common."""

    def __init__(self, suite, vmachine, devices):
        self.suite, self.vm, self.devices = suite, vmachine, devices

    def case(self, name):
        return checks.case(self.suite, self.vm, name)

    def load_drivers(self):
        self.vm.run("modprobe virtio_blk; modprobe virtio_net")
        for name in CARDS:
            self.up(name)

    def device(self, name):
        return guest.Device(self.vm, self.devices.slot(name))

    def node(self, name):
        return "/dev/" + self.vm.run(f"basename {self.device(name).dir}/block/*").strip()

    def interface(self, name):
        return self.vm.run(f"basename {self.device(name).dir}/net/*").strip()

    def up(self, name):
        """Without IPv6, so that the kernel sends nothing by itself."""
        interface = self.interface(name)
        self.vm.run(f"file=/proc/sys/net/ipv6/conf/{interface}/disable_ipv6; [ ! -e $file ] || echo 1 > $file; "
                    f"ip link set {interface} up")

    def command(self, name, mode, requests):
        if name.startswith("disk"):
            return f"disk_check {mode} {self.node(name)} {requests} {SEED}"
        return f"card_check {mode} {self.interface(name)} {requests // 2}"

    def check(self, mode, requests):
        """Runs the checkers of these devices at the same time; returns what each counted: {name: {word: number}}."""
        commands = [f"{self.command(name, mode, count)} > /tmp/{name} 2>&1 &" for name, count in requests.items()]
        timeout = int(LEAST_TIME + TIME_FOR_REQUEST * sum(requests.values()))
        self.vm.run("\n".join([*commands, "wait"]), timeout=timeout)
        return {name: self.counts(name) for name in requests}

    def counts(self, name):
        text = self.vm.run(f"cat /tmp/{name}")
        for line in text.splitlines():
            if line.startswith("#"):
                ktap.say(f"{line} ({name})")
        counts = dict(re.findall(r"^(\w+) (\d+)$", text, re.MULTILINE))
        if not counts:
            raise ktap.CheckFailed(f"the checker of {name} did not end well: {text}")
        return {word: int(value) for word, value in counts.items()}

    def check_honest(self, names=(*WORKING_DISKS, *CARDS)):
        """All data is right, while the host does as it should."""
        for name, counts in self.check("exact", dict.fromkeys(names, FEW // 4)).items():
            expect(f"{name}: what is wrong", {word: counts.get(word, 0) for word in ("wrong", "errors", *HARM)},
                   dict.fromkeys(("wrong", "errors", *HARM), 0))
            expect_at_least(f"{name}: requests", counts.get("requests", 0) + counts.get("frames", 0), FEW // 8)

    def classes(self, name):
        """The ways in which the device misbehaves that its driver should survive."""
        believed = BELIEVED.get(self.vm.kernel.line, ())
        all_classes = backend.DISK_CLASSES if name.startswith("disk") else backend.CARD_CLASSES
        return [class_ for class_ in all_classes if class_ not in believed]

    def misbehave(self):
        for name in (*WORKING_DISKS, *CARDS):
            self.devices.misbehave(name, self.classes(name), ONE_IN)

    def behave(self):
        for name in self.devices.names:
            self.devices.behave(name)

    def check_hostile(self, total):
        """All that drivers should survive, so many requests in all; returns what each checker counted."""
        self.misbehave()
        try:
            return self.check("hostile", {**dict.fromkeys(WORKING_DISKS, int(total * DISK_PART)),
                                          **dict.fromkeys(CARDS, int(total * CARD_PART))})
        finally:
            self.behave()

    # --- what makes a driver give its ring up ---

    def break_card(self, name, class_):
        """A card's driver finds its ring broken, and is bound anew; returns how often it said so."""
        device = self.device(name)
        said = checks.Log(self.vm)
        self.devices.misbehave(name, [class_], BREAKING_ONE_IN)
        self.vm.run(f"card_check broken {self.interface(name)} {FEW // 4}")
        self.devices.behave(name)
        device.unbind()
        expect("bind says", device.bind("virtio_net"), "")
        self.up(name)
        return len([line for line in said.lines() if BROKEN.search(line)])

    def break_cards(self):
        for class_ in backend.BREAKING_CLASSES:
            with self.case(f"{self.name}: cards whose rings are broken by {class_} work again once bound anew"):
                said = sum(self.break_card(name, class_) for _ in range(BREAKING_ROUNDS) for name in CARDS)
                expect_at_least("rings given up", said, 1)
                for name in CARDS:
                    expect_at_least(f"{name}: {class_}", self.devices.counters(name)[class_], 1)
                self.check_honest(CARDS)


class Bounced(Guest):
    name = "bounce"

    def run(self):
        self.control()
        self.survive()
        self.break_cards()
        self.unload()
        self.break_disks()
        self.end()

    def load(self, **parameters):
        expect("insmod says", pool.load(self.vm, "blk=bounce,net=bounce", **parameters), "")
        self.load_drivers()
        for name in (*WORKING_DISKS, *CARDS):
            guest.expect_dma(self.device(name), path="bounce", state="attached")

    def unload_all(self):
        self.vm.run(f"{guest.UNLOAD_DRIVERS}; rmmod virtio_dma")

    def control(self):
        with self.case("control: with fill=none the checkers find foreign bytes on disks and cards"):
            self.load(fill="none")
            self.check_honest()
            for name, counts in self.check_hostile(FEW * 4).items():
                expect_at_least(f"{name}: foreign bytes", counts["foreign"], 1)
            self.unload_all()

    def survive(self):
        with self.case("bounce: all data is right on an honest host"):
            self.load()
            self.check_honest()
        before = self.requests()
        with self.case(f"bounce: {REQUESTS} requests, seed {SEED}: no foreign byte, no harm"):
            results = self.check_hostile(REQUESTS)
            for name, counts in results.items():
                ktap.say(f"# {name}: " + " ".join(f"{word} {value}" for word, value in counts.items()))
                expect(f"{name}: harm", {word: counts.get(word, 0) for word in HARM}, dict.fromkeys(HARM, 0))
                # So the host was short of bytes, and others arrived.
                expect_at_least(f"{name}: bytes zeroed", counts["zero"], 1)
            self.check_reached(before)
        with self.case("bounce: all data is right again once the host is honest"):
            self.check_honest()

    def requests(self):
        return sum(self.devices.counters(name)["requests"] for name in self.devices.names)

    def check_reached(self, before):
        """As many requests as promised, and each device misbehaved in each way."""
        # A frame that finds no buffer to be received in is lost, as it should be.
        expect_at_least("requests", self.requests() - before, REQUESTS * 9 // 10)
        for name in (*WORKING_DISKS, *CARDS):
            counters = self.devices.counters(name)
            ktap.say(f"# {name}: " + " ".join(f"{word} {value}" for word, value in counters.items() if value))
            for class_ in self.classes(name):
                expect_at_least(f"{name}: {class_}", counters[class_], 1)

    def unload(self):
        with self.case("bounce: nothing is left in the pool, and the module can be unloaded and loaded again"):
            self.vm.run(guest.UNLOAD_DRIVERS)
            expect("bytes of the pool in use", pool.used(self.vm), 0)
            self.vm.run("rmmod virtio_dma")
            self.load()
            self.check_honest()

    def break_disks(self):
        """A disk whose ring is broken never ends its requests, with stock virtio_blk: nothing may wait for them."""
        self.vm.run("file=/proc/sys/kernel/hung_task_timeout_secs; [ ! -e $file ] || echo 0 > $file")
        for class_, name in BREAKING_DISKS.items():
            with self.case(f"bounce: a disk's ring is broken by {class_}; the others go on"):
                self.devices.misbehave(name, [class_], BREAKING_ONE_IN)
                self.vm.run(f"{self.command(name, 'hostile', FEW)} > /dev/null 2>&1 &")
                wait_until(f"{name}: {class_}", lambda: self.devices.counters(name)[class_])     # pylint: disable=W0640
                self.check_honest()

    def end(self):
        with self.suite.case("bounce: the misbehaving host found no fault in itself"):
            expect("its last words", self.devices.last_words(), "")


class Stock(Guest):
    name = "without the module"

    def run(self):
        with self.case("without the module: all data is right on an honest host"):
            self.load_drivers()
            self.check_honest()
        self.break_cards()
        with self.suite.case("control: without the module the same host gets at the guest's memory"):
            expect("harm was done", self.harm(), True)

    def harm(self):
        """Whatever the host wrote to: buffers that the checkers look at, or the kernel, which then ends."""
        try:
            results = self.check_hostile(REQUESTS)
        except (GuestLost, vm.CommandFailed, ktap.CheckFailed) as end:
            ktap.say("# without the module the guest does not survive:")
            for line in str(end).splitlines()[:4]:
                ktap.say(f"#   {line}")
            return True
        ktap.say(f"# without the module: {results}")
        return any(counts.get(word) for counts in results.values() for word in HARM)


if __name__ == "__main__":
    main()
