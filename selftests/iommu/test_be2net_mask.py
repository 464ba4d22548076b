#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Does be2net_mask raise a coherent mask where it may, leave alone what it must, and put everything back?

Most of it is with QEMU's edu device, which moves data by DMA, under a driver of ours that sets its masks as told; the
stock be2net, e1000 and e1000e are there, too. Guests without an IOMMU, passed through, and translated.
"""

import contextlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

# pylint: disable=wrong-import-position
from lib import build, checks, kernels, ktap, vfio_user, vm
from lib.checks import Log, expect, expect_at_least, expect_in, wait_until
import edu
from edu import LOW, Edu, Function
import wire

MODULE = "/ko/be2net_mask.ko"
IDS = "1234:11e8,8086:100e,8086:10d3"
EBUSY, EINVAL, ENODEV = "Device or resource busy", "Invalid argument", "No such device"
EOPNOTSUPP = "Operation not supported"
WIDE, NARROW, FIRST_E1000, SECOND_E1000, E1000E = 4, 5, 6, 7, 8
MEM = "5G"      # of which 3 GiB lie above 4 GiB: q35 has room for 2 below
BAD_IDS = {
    "8086": "neither a PCI ID", "8086:10d": "neither a PCI ID", "0000:00:20.0": "neither a PCI ID",
    "00:05.0": "neither a PCI ID", "8086:10d3,": "empty", ",": "empty", "8086:10d3,8086:10D3": "named twice",
    "0000:00:05.0-0000:00:06.0": "too long",
}
ROUNDS = 10


def main():
    suite = ktap.Suite("be2net_mask")
    kernel = kernels.wanted()
    modules = build.build(kernel)
    for guest in (Plain, PassedThrough, Translated):
        guest(suite, kernel, modules).run()
    if edu.has_module(kernel, "be2net"):
        with vfio_user.Bench(["be2"] * 2) as bench:
            StockBe2net(suite, kernel, modules, bench).run()
    else:
        with suite.case("be2net"):
            raise ktap.Skip("this kernel has no be2net")
    suite.finish()


def nic(kind, slot):
    return ["-netdev", f"user,id=net{slot},net=10.0.{slot}.0/24,ipv6=off",
            "-device", f"{kind},netdev=net{slot},addr={slot:#x}"]


class Guest:
    """What the guests have in common; self.vm is there while cases() runs."""

    name = append = ""
    nics = ("e1000e",)
    iommu = ()

    def __init__(self, suite, kernel, modules):
        self.suite, self.kernel, self.modules = suite, kernel, modules
        self.vm = None

    def run(self):
        with self.boot() as self.vm:
            self.cases()

    def boot(self):
        kos = [self.modules["be2net_mask"], self.modules["edu_masks"],
               *edu.stock_modules(self.kernel, *self.nics)]
        return vm.VM(self.kernel, devices=[*self.iommu, *edu.device(WIDE), *self.devices()], append=self.append,
                     mem=MEM, kos=kos, name=f"be2net_mask-{self.name}")

    def devices(self):
        return nic("e1000e", E1000E)

    def case(self, name):
        return checks.case(self.suite, self.vm, f"{self.name}: {name}")

    def load(self, ids=IDS):
        """Returns what insmod says: '' when it worked."""
        return self.vm.try_run(f"insmod {MODULE} ids={ids}")[1].strip()

    def modprobe(self, module):
        """Skips the case on a kernel that has no such module, as the debug kernel."""
        if not edu.has_module(self.kernel, module):
            raise ktap.Skip(f"this kernel has no {module}")
        self.vm.run(f"modprobe {module}", timeout=120)

    def start(self):
        expect("insmod", self.load(), "")
        self.vm.run("insmod /ko/edu_masks.ko")
        self.wide = Edu(self.vm, WIDE)
        self.wide.unbind()

    def check_ring(self, function, high):
        """Is the coherent memory above 4 GiB, or not, and are the data right?"""
        phys, dma, right = function.moved("ring")
        expect("data through coherent memory are right", right, True)
        expect(f"coherent memory above 4 GiB ({phys:#x})", phys >= LOW, high)
        return dma

    def check_buffer(self, function):
        """Data through a buffer above 4 GiB; returns its address for the device."""
        phys, dma, right = function.moved("buffer")
        expect("data through a buffer are right", right, True)
        expect_at_least("buffer", phys, LOW)
        return dma

    @contextlib.contextmanager
    def bound(self, function, **parameters):
        expect("bind", function.bind(**parameters), "")
        try:
            yield
        finally:
            function.unbind()

    @contextlib.contextmanager
    def raised(self, function):
        """Asked for, and bound again by hand, as it has no interface."""
        with self.bound(function):
            expect("apply", function.apply(), "")
            expect("state", function.mask("state"), "waiting")
            expect("masks of the bound driver", function.masks(), (64, 32))
        with self.bound(function, ring_kib=edu.OTHER_RING_KIB):
            expect("state", function.mask("state"), "applied")
            expect("masks", function.masks(), (64, 64))
            yield
        expect("masks after unbinding", function.masks(), (64, 32))
        self.withdraw(function)

    def withdraw(self, function):
        expect("apply 0", function.apply(0), "")

    def compare_rings(self):
        """Without the mask raised, and with it."""
        with self.bound(self.wide):
            low = self.check_ring(self.wide, high=self.rings_high_stock)
            self.check_buffer(self.wide)
        with self.raised(self.wide):
            high = self.check_ring(self.wide, high=True)
            self.check_buffer(self.wide)
        return low, high

    rings_high_stock = False


class Plain(Guest):
    """No IOMMU; everything that has to do with masks, drivers and removal."""

    name = "no IOMMU"
    nics = ("e1000", "e1000e")

    def devices(self):
        return [*edu.device(NARROW, 28), *nic("e1000", FIRST_E1000), *nic("e1000", SECOND_E1000),
                *nic("e1000e", E1000E)]

    def cases(self):
        self.ids()
        with self.case("loads, and looks at what is named"):
            self.start()
            self.narrow = Edu(self.vm, NARROW)
            self.narrow.unbind()
            for function in (self.wide, self.narrow):
                expect("state", function.mask("state"), "unbound")
                expect("apply without a driver", function.apply(), "sh: write error: " + ENODEV)
        self.stock_nics()
        self.placement()
        self.drivers()
        self.refusals()
        self.removal()

    def ids(self):
        for ids, why in BAD_IDS.items():
            with self.case(f"ids={ids}: refused with one line"):
                log = Log(self.vm)
                expect_in("insmod", self.load(ids), EINVAL)
                # busybox tries a second way to load it
                lines = {line for line in log.of_module("be2net_mask") if "ids:" in line}
                expect("lines", len(lines), 1)
                expect_in("line", lines.pop(), f"refused: {why}")
                expect("loaded", self.vm.try_run("[ -d /sys/module/be2net_mask ]")[0], 1)
        with self.case("ids that match nothing: told, and waited for"):
            log = Log(self.vm)
            expect("insmod", self.load("8086:ffff,0000:00:1e.0"), "")
            expect("lines", [line.partition("ids: ")[2] for line in log.of_module("be2net_mask")], [
                "no function is a 8086:ffff; waiting for one", "no function at 0000:00:1e.0; waiting for one"])
            self.vm.run("rmmod be2net_mask")

    # --- stock drivers ---

    def stock_nics(self):
        with self.case("two e1000 in 5 GiB: 32-bit masks, RAM above, will bounce; left alone"):
            log = Log(self.vm)
            self.modprobe("e1000")
            for slot in (FIRST_E1000, SECOND_E1000):
                function = Function(self.vm, slot)
                before = self.vm.run(f"cat {function.dir}/net/*/ifindex")
                text = "streaming 32 bit, RAM above it: every buffer above 4 GiB bounces"
                expect_in("verdict", function.mask("verdict"), text)
                expect("verdicts in the log", sum(text in line and function.address in line
                                                  for line in log.of_module("be2net_mask")), 1)
                expect("swiotlb", function.mask("swiotlb"), "buffers above the mask")
                expect("apply", function.apply(), "sh: write error: " + EINVAL)
                expect("masks", function.masks(), (32, 32))
                expect("interface", self.vm.run(f"cat {function.dir}/net/*/ifindex"), before)
                self.check_ping(function, slot)
        with self.case("e1000e: both masks 64 bit, nothing to do"):
            self.modprobe("e1000e")
            function = Function(self.vm, E1000E)
            expect("verdict", function.mask("verdict"),
                   "no IOMMU: not translated; coherent 64 bit: rings lie anywhere; "
                   "streaming 64 bit: no buffer bounces")
            expect("apply", function.apply(), "")
            expect("state", function.mask("state"), "stock")
            self.check_ping(function, E1000E)

    def check_ping(self, function, slot):
        interface = function.interface()
        self.vm.run(f"ip addr add 10.0.{slot}.15/24 dev {interface}; ip link set {interface} up; "
                    f"ping -c 2 -W 20 -s 1400 10.0.{slot}.2; ip link set {interface} down", timeout=90)

    # --- where memory lies ---

    def placement(self):
        with self.case("coherent memory below 4 GiB without, above with the raised mask; data right in both"):
            self.compare_rings()
        with self.case("no memory below 4 GiB left: no ring without, one with the raised mask"):
            with self.bound(self.wide):
                expect("apply", self.wide.apply(), "")
            with self.low_memory_gone():
                with self.bound(self.wide):
                    self.check_ring(self.wide, high=True)
                    self.withdraw(self.wide)
                log = Log(self.vm)
                self.wide.bind()        # how the error is told differs between kernels
                expect("driver", self.wide.driver(), "")
                expect_in("log", "\n".join(log.lines()), "no ring: 64 KiB of coherent memory below 32 bit")
            with self.bound(self.wide):
                self.check_ring(self.wide, high=False)

    @contextlib.contextmanager
    def low_memory_gone(self):
        self.wide.set("eat_low", 1)
        try:
            yield
        finally:
            self.wide.set("eat_low", 0)

    # --- drivers ---

    def drivers(self):
        wide = self.wide
        with self.case("a network card: only when it is down"), self.bound(wide, netdev="Y"):
            interface = wide.interface()
            self.vm.run(f"ip link set {interface} up")
            log = Log(self.vm)
            expect("apply, up", wide.apply(), "sh: write error: " + EBUSY)
            expect_in("log", log.of_module("be2net_mask")[0], "the network interface is up; set it down first")
            expect("masks", wide.masks(), (64, 32))
            self.vm.run(f"ip link set {interface} down")
            expect("apply, down", wide.apply(), "")
            expect("state", wide.mask("state"), "applied")
            self.check_ring(wide, high=True)
            expect("apply 0", wide.apply(0), "")
            self.check_ring(wide, high=False)
        with self.case("a driver that declares less when it is bound again: undone, bound again, told"):
            with self.bound(wide, netdev="Y"):
                log = Log(self.vm)
                wide.set("streaming", 40)
                expect("apply", wide.apply(), "sh: write error: " + EOPNOTSUPP)
                expect("state", wide.mask("state"), "undone")
                expect("masks", wide.masks(), (40, 32))
                expect("told", sum("declares 40 bit for streaming, not the 64 bit" in line
                                   for line in log.of_module("be2net_mask")), 1)
                self.check_ring(wide, high=False)
        with self.case("a driver that sets the coherent mask itself: left alone"):
            with self.bound(wide, coherent=32, netdev="Y"):
                expect("apply", wide.apply(), "sh: write error: " + EOPNOTSUPP)
                expect("state", wide.mask("state"), "overruled")
                expect("masks", wide.masks(), (64, 32))
                self.check_ring(wide, high=False)
        with self.case("a driver that narrows its mask later: put back, told once"):
            with self.bound(wide, netdev="Y"):
                expect("apply", wide.apply(), "")
                log = Log(self.vm)
                self.vm.run(f"echo 40 > {wide.dir}/set_streaming")
                expect("state", wide.mask("state"), "undone")
                expect("masks", wide.masks(), (40, 32))
                wide.mask("verdict")
                expect("lines", len(log.of_module("be2net_mask")), 1)
                self.check_ring(wide, high=True)        # what it has already is in its reach

    # --- what must be left alone ---

    def refusals(self):
        with self.case("the platform refuses the mask: kept what was, told"), self.bound(self.wide, netdev="Y"):
            log = Log(self.vm)
            self.wide.set("refuse_wide", 1)
            expect("apply", self.wide.apply(), "sh: write error: " + EOPNOTSUPP)
            expect("state", self.wide.mask("state"), "refused")
            expect("masks", self.wide.masks(), (64, 32))
            expect_in("log", "\n".join(log.of_module("be2net_mask")),
                      "the platform refuses a coherent mask of 64 bit; it stays at 32 bit")
            self.check_ring(self.wide, high=False)
        with self.case("the platform rejects the driver's own mask of 20 bit: it counts as never declared"):
            self.fresh(self.wide)
            log = Log(self.vm)
            with self.bound(self.wide, streaming=20):
                expect_in("log", "\n".join(log.lines()), "a streaming mask of 20 bit was rejected")
                expect("masks", self.wide.masks(), (32, 32))
                expect("apply", self.wide.apply(), "sh: write error: " + EINVAL)
        for bits in (31, 28):
            with self.case(f"a mask of {bits} bit: left alone"), self.bound(self.narrow, streaming=bits, coherent=bits):
                expect("apply", self.narrow.apply(), "sh: write error: " + EINVAL)
                expect("masks", self.narrow.masks(), (bits, bits))
        with self.case("a device with 28 address lines: left alone, data right"):
            with self.bound(self.narrow, streaming=28, coherent=28, netdev="Y"):
                expect("apply", self.narrow.apply(), "sh: write error: " + EINVAL)
                expect("state", self.narrow.mask("state"), "stock")
                phys, _, right = self.narrow.moved("ring")
                expect("data right", right, True)
                expect("ring above 256 MiB", phys >= 1 << 28, False)
        with self.case("... and its driver sets only the streaming mask: told that rings may lie beyond"):
            self.fresh(self.narrow)
            with self.bound(self.narrow, streaming=28):
                expect_in("verdict", self.narrow.mask("verdict"), "beyond what the driver says is reached")
        with self.case("... and what would come of it: such a device with memory above 4 GiB gets the data wrong"):
            expect("bind", self.narrow.bind(streaming=64, coherent=64), "")
            phys, _, right = self.narrow.moved("ring")
            self.narrow.unbind()
            expect("ring above 4 GiB", phys >= LOW, True)
            expect("data right", right, False)

    def fresh(self, function):
        """A function as it is after boot: no driver has left a mask on it."""
        self.vm.run(f"echo 1 > {function.dir}/remove; echo 0 > {edu.PARAMETERS}/streaming; "
                    f"echo 0 > {edu.PARAMETERS}/coherent; echo 1 > /sys/bus/pci/rescan", timeout=120)
        function.unbind()
        expect("masks of a fresh function", function.masks(), (32, 32))

    # --- coming and going ---

    def removal(self):
        wide = self.wide
        with self.case("removed while bound with the raised mask; comes back stock"):
            self.fresh(wide)
            expect("bind", wide.bind(netdev="Y"), "")
            expect("apply", wide.apply(), "")
            self.vm.run(f"echo 1 > {wide.dir}/remove")
            expect("there", wide.watched(), False)
            self.vm.run("echo 1 > /sys/bus/pci/rescan")
            expect("state", wide.mask("state"), "stock")
            expect("masks", wide.masks(), (64, 32))
        with self.case(f"removed {ROUNDS} times while others read and ask"):
            self.vm.run(f"""
                (while [ ! -e /run/stop ]; do cat {wide.dir}/coherent_mask/*; done) >/dev/null 2>&1 &
                (while [ ! -e /run/stop ]; do
                    echo 1 > {wide.dir}/coherent_mask/apply; echo 0 > {wide.dir}/coherent_mask/apply
                done) >/dev/null 2>&1 &
                for i in $(seq {ROUNDS}); do
                    until [ "$(cat {wide.dir}/coherent_mask/state 2>/dev/null)" = applied ]; do :; done
                    echo 1 > {wide.dir}/remove
                    echo 1 > /sys/bus/pci/rescan
                done
                touch /run/stop
                wait""", timeout=240)
            expect("driver", wait_until("it is bound", wide.driver), "edu_masks")
            expect("apply", wide.apply(), "")
            self.check_ring(wide, high=True)
        with self.case("rmmod while drivers are bound: masks back, rings go on working"):
            self.vm.run("rmmod be2net_mask")
            expect("there", wide.watched(), False)
            expect("masks", wide.masks(), (64, 32))
            expect("driver", wide.driver(), "edu_masks")
            self.check_ring(wide, high=True)
            wide.unbind()
            with self.bound(wide):
                self.check_ring(wide, high=False)
        with self.case("loaded again: a driver that is bound is learned"), self.bound(wide):
            expect("insmod", self.load(), "")
            expect("state", wide.mask("state"), "stock")
            expect_in("verdict", wide.mask("verdict"), "can be raised to 64 bit")


IOMMU = ("-device", "intel-iommu,intremap=off")


class PassedThrough(Guest):
    name = "iommu=pt"
    append = "intel_iommu=on iommu=pt"
    iommu = IOMMU

    @staticmethod
    def check_granted(function):
        expect("type", function.domain_type(), "identity")
        expect("domain", function.mask("domain"), "identity")
        expect("passthrough", function.mask("passthrough"), "granted")

    def cases(self):
        with self.case("identity domain, though the coherent mask does not reach all memory"):
            self.start()
            with self.bound(self.wide):
                self.check_granted(self.wide)
                expect_in("verdict", self.wide.mask("verdict"), "rings confined to memory below 4 GiB")
        with self.case("e1000e: granted"):
            self.modprobe("e1000e")
            self.check_granted(Function(self.vm, E1000E))
        with self.case("coherent memory below 4 GiB without, above with the raised mask; data right in both"):
            low, high = self.compare_rings()
            expect("address of the ring below 4 GiB", low < LOW, True)
            expect("address of the ring above 4 GiB", high >= LOW, True)
        with self.case("a 32-bit streaming mask in the identity domain: bounces, data right"):
            with self.bound(self.wide, streaming=32):
                expect("passthrough", self.wide.mask("passthrough"), "granted")
                expect("swiotlb", self.wide.mask("swiotlb"), "buffers above the mask")
                expect("address of the buffer below 4 GiB", self.check_buffer(self.wide) < LOW, True)


class Translated(Guest):
    """With iommu.forcedac, since else the kernel takes bus addresses below 4 GiB as long as there are any."""

    name = "translated"
    append = "intel_iommu=on iommu.passthrough=0 iommu.forcedac=1"
    iommu = IOMMU
    # coherent memory comes from anywhere: only its address is confined
    rings_high_stock = True

    @staticmethod
    def check_denied(function):
        expect("domain", function.mask("domain"), function.domain_type())
        expect("passthrough", function.mask("passthrough"), "denied by policy")
        expect_in("verdict", function.mask("verdict"), "translated, whatever the masks; for passthrough boot with")

    def cases(self):
        with self.case("denied by policy, whatever the masks"):
            self.start()
            with self.bound(self.wide):
                self.check_denied(self.wide)
        with self.case("e1000e: denied"):
            self.modprobe("e1000e")
            self.check_denied(Function(self.vm, E1000E))
        with self.case("addresses of coherent memory below 4 GiB without, above with the raised mask; data right"):
            low, high = self.compare_rings()
            expect("address below 4 GiB", low < LOW, True)
            # iommu.forcedac came with 5.13: before it nothing keeps the kernel from addresses below 4 GiB
            expect("address above 4 GiB", high >= LOW, self.vm.kernel.line != "5.10")
        with self.case("a 32-bit streaming mask: no buffer bounces, data right"):
            with self.bound(self.wide, streaming=32):
                expect("swiotlb", self.wide.mask("swiotlb"), "no")
                expect("address of the buffer below 4 GiB", self.check_buffer(self.wide) < LOW, True)


class StockBe2net(Guest):
    """Two cards on one wire; nothing has to be named."""

    name = "be2net"

    def __init__(self, suite, kernel, modules, bench):
        super().__init__(suite, kernel, modules)
        self.bench = bench

    def boot(self):
        return self.bench.vm(self.kernel, iommu=True, mem=MEM, kos=[self.modules["be2net_mask"]],
                             files=vfio_user.guest_tools(), name="be2net_mask-be2net")

    def cases(self):
        with self.case("looked at by default; sets both masks itself, so nothing to do"):
            self.vm.run(f"insmod {MODULE}; modprobe be2net", timeout=120)
            addresses = self.vm.run("cd /sys/bus/pci/drivers/be2net; ls -d 0000:*").split()
            expect("cards", len(addresses), 2)
            self.functions = [Function(self.vm, address=address) for address in addresses]
            for function in self.functions:
                expect("masks", function.masks(), (64, 64))
                expect("domain", function.mask("domain"), "DMA")
                expect("passthrough", function.mask("passthrough"), "denied by policy")
                expect("apply", function.apply(), "")
                expect("state", function.mask("state"), "stock")
        with self.case("traffic goes on while the module comes and goes"):
            wire.connect(self.vm, *(function.interface() for function in self.functions))
            for _ in range(3):
                self.vm.run(f"ping -c 3 -W 20 -s 1400 {wire.FAR}; rmmod be2net_mask; insmod {MODULE}", timeout=120)
            expect("masks", [function.masks() for function in self.functions], [(64, 64)] * 2)
            for model in self.bench.models:
                expect("accesses to what is not mapped", model.violations(), [])
        with self.case("a card removed while bound"):
            self.vm.run(f"echo 1 > {self.functions[1].dir}/remove", timeout=120)
            expect("there", self.functions[1].watched(), False)
            expect("the other one", self.functions[0].mask("state"), "stock")
            self.vm.run("rmmod be2net_mask")


if __name__ == "__main__":
    main()
