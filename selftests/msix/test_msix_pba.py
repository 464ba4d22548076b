#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Does msix_pba know where table and PBA are, who shares their pages, and whether reading them leaves the guest?

What it says of a layout is held against QEMU's own map of the device, and what it reads against QEMU's trace.
"""

import json
import sys
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

# pylint: disable=wrong-import-position
import emulator
from ivshmem_server import Server
from lib import build, checks, kernels, ktap, vm as machine
from lib.checks import Log, expect, expect_in, wait_until

READS = 808
EINVAL, ENODEV = "Invalid argument", "No such device"
ROUNDS = 20
UNPLUG_DEADLINE = 120
NUMBERED = "BARs are numbered 0 to 5: write barN+OFFSET"
MISUSE = 'write "pba", "barN+OFFSET", or two of these to compare'

NOTHING, TABLE, PBA, REGISTERS = "nothing", "the table only", "the PBA only", "possibly registers"


class Device(NamedTuple):
    name: str
    slot: int
    arguments: list
    pba: str            # what shares its page
    table: str
    isolation: str


def drive(number):
    return ["-blockdev", f"driver=null-co,node-name=null{number},size=1048576"]


def pci(driver, slot, more=""):
    return ["-device", ",".join(filter(None, (driver, f"addr={slot:#x}", more)))]


E1000E, NVME, MEGASAS, IVSHMEM, NO_MSIX, PORT = 4, 9, 11, 14, 15, 16
PORT_ID = "root-port"     # not "port": its bus, named so, would clash with its property of that name
DEVICES = [
    Device("e1000e", E1000E, pci("e1000e", E1000E), NOTHING, NOTHING, "8 KiB"),
    Device("virtio-net-pci", 5, pci("virtio-net-pci", 5), TABLE, PBA, "one BAR for both"),
    Device("qemu-xhci", 6, pci("qemu-xhci", 6), TABLE, PBA, "4 KiB"),
    Device("vmxnet3", 7, pci("vmxnet3", 7), NOTHING, NOTHING, "one BAR for both"),
    Device("rocker", 8, pci("rocker", 8, "name=rocker"), NOTHING, NOTHING, "one BAR for both"),
    Device("nvme", NVME, [*drive(0), *pci("nvme", NVME, "drive=null0,serial=0")], NOTHING, NOTHING, "8 KiB"),
    Device("nvme, msix-exclusive-bar", 10,
           [*drive(1), *pci("nvme", 10, "drive=null1,serial=1,msix-exclusive-bar=on")], TABLE, PBA, "one BAR for both"),
    Device("megasas-gen2", MEGASAS, pci("megasas-gen2", MEGASAS), REGISTERS, NOTHING, "possibly none"),
    Device("virtio-rng-pci", 12, pci("virtio-rng-pci", 12), TABLE, PBA, "one BAR for both"),
    Device("nec-usb-xhci", 13, pci("nec-usb-xhci", 13), TABLE, PBA, "4 KiB"),
    Device("ivshmem-doorbell", IVSHMEM, [], TABLE, PBA, "one BAR for both"),
    Device("pcie-root-port", PORT, pci("pcie-root-port", PORT, f"id={PORT_ID},chassis=1,slot=1"), TABLE, PBA,
           "one BAR for both"),
]


def main():
    suite = ktap.Suite("msix_pba")
    kernel = kernels.wanted()
    modules = build.build(kernel)
    with Server() as server:
        arguments = [*pci("edu", NO_MSIX), *server.devices(IVSHMEM)]
        for device in DEVICES:
            arguments += device.arguments
        with machine.VM(kernel, devices=arguments, kos=[modules["msix_pba"]], name="msix_pba") as vm:
            Test(suite, vm).run()
    suite.finish()


def pci_name(slot):
    return f"0000:00:{slot:02x}.0"


def pci_dir(slot):
    return f"/sys/bus/pci/devices/{pci_name(slot)}"


class Function:
    """A PCI function, as the guest shows it."""

    def __init__(self, vm, slot):
        self.vm, self.slot = vm, slot
        self.dir = pci_dir(slot)

    def layout(self):
        """{name: value} of the text; a name that is there twice has the later value."""
        text = self.vm.run(f"cat {self.dir}/msix_pba/layout")
        return dict(line.split(": ", 1) for line in text.splitlines())

    def json(self):
        return json.loads(self.vm.run(f"cat {self.dir}/msix_pba/json"))

    def measure(self, request):
        self.vm.run(f"echo '{request}' > {self.dir}/msix_pba/measure")
        return self.json()["measurement"]

    def refuse(self, request):
        """What the shell says when the request is refused."""
        status, output = self.vm.try_run(f"echo '{request}' > {self.dir}/msix_pba/measure")
        expect(f"{request!r} is refused", status != 0, True)
        return output.strip()

    def set_config(self, offset, byte):
        """Change one byte of configuration space."""
        self.vm.run(f"printf '\\x{byte:02x}' | dd of={self.dir}/config bs=1 seek={offset} conv=notrunc 2>/dev/null")

    def config(self):
        return bytes.fromhex(self.vm.run(f"od -An -v -tx1 -N256 {self.dir}/config"))

    def capability(self, ident):
        """Offset of a capability, by a walk of our own."""
        config = self.config()
        where = config[0x34]
        while where and config[where] != ident:
            where = config[where + 1]
        return where


class Test:
    def __init__(self, suite, vm):
        self.suite, self.vm = suite, vm
        self.e1000e, self.nvme, self.ivshmem = (Function(vm, slot) for slot in (E1000E, NVME, IVSHMEM))

    def case(self, name):
        return checks.case(self.suite, self.vm, name)

    def run(self):
        log = Log(self.vm)
        with self.case("loads, and warns once of the one function with a hot page"):
            self.vm.run("insmod /ko/msix_pba.ko")
            self.one_warning(log.of_module("msix_pba"))
        for device in DEVICES:
            with self.case(f"{device.name}: layout as QEMU has it, and who shares the pages"):
                self.layout(device)
        with self.case("every function with MSI-X has a directory, no other has"):
            self.directories()
        self.measuring()
        self.bad_requests()
        self.unreadable()
        self.parameter()
        self.coming_and_going()
        with self.case("lockdown, begun after the module was loaded: all files work"):
            self.lockdown()

    def one_warning(self, lines):
        lines = [line for line in lines if "hot page" in line]
        expect("lines", len(lines), 1)
        expect_in("the line", lines[0], f"{pci_name(MEGASAS)}: msix_pba: hot page likely: "
                                        "the MSI-X PBA shares its page (bar1+0x3000)")

    def layout(self, device):
        function = Function(self.vm, device.slot)
        found, text = function.json(), function.layout()
        for name, truth in zip(("table", "pba"), emulator.structures(self.vm, device.slot)):
            told = {key: found[name][key] for key in truth._fields}
            expect(f"json: {name}", told, truth._asdict())
            expect(f"layout: {name}", text[name],
                   f"bar {truth.bar}, offset {truth.offset:#x}, {truth.bytes} bytes, "
                   f"pages {truth.offset & ~0xfff:#x}-{(truth.offset + truth.bytes - 1) | 0xfff:#x}")
        expect("device", found["device"], pci_name(device.slot))
        expect("vectors", 16 * found["vectors"], found["table"]["bytes"])
        for told in found["fault"], found["table"]["fault"], found["pba"]["fault"]:
            expect("fault", told, None)
        expect("json: who shares the PBA's page", found["pba_page_shared_with"], device.pba)
        expect("layout: who shares the PBA's page", text["page of the pba"], f"shared with {device.pba}")
        expect("json: who shares the table's page", found["table_page_shared_with"], device.table)
        expect("isolation", (found["isolation"], text["isolation"]), (device.isolation, device.isolation))
        expect("measurement", found["measurement"], None)

    def directories(self):
        """Which have MSI-X is found by a walk of the capabilities from here."""
        names = self.vm.run("ls /sys/bus/pci/devices").split()
        slots = [int(name[8:10], 16) for name in names if name.startswith("0000:00:") and name.endswith(".0")]
        with_msix = sorted(pci_name(slot) for slot in slots if Function(self.vm, slot).capability(0x11))
        expect("functions of the test with MSI-X", with_msix, sorted(pci_name(device.slot) for device in DEVICES))
        told = self.vm.run("cd /sys/bus/pci/devices; ls -d */msix_pba").split()
        expect("directories", told, [f"{name}/msix_pba" for name in with_msix])

    # --- measuring ---

    def measuring(self):
        self.enable_all()
        with self.case("not measured yet: says so"):
            expect("measure", self.vm.run(f"cat {self.e1000e.dir}/msix_pba/measure"),
                   "not measured: write pba, barN+OFFSET, or two of these\n")
        for slot, request, reads in (
                (E1000E, "pba", {(3, 0x2000): READS}),
                (E1000E, "pba bar3+0", {(3, 0x2000): READS, (3, 0x0): READS}),
                (NVME, "bar0+0x2000", {(0, 0x2000): READS})):
            with self.case(f"{request}: reads what was named, {READS} times 4 bytes, nothing else"):
                self.exact_reads(Function(self.vm, slot), request, reads)
        self.emulated_pages()
        with self.case("memory and an emulated page of ivshmem are told apart, either way round"):
            self.true_pair()

    def enable_all(self):
        """Whatever the firmware has left of them: memory decoding on."""
        for function in self.e1000e, self.nvme, self.ivshmem:
            self.vm.run(f"echo 1 > {function.dir}/enable")

    def exact_reads(self, function, request, reads):
        with emulator.Accesses(self.vm) as accesses:
            function.measure(request)
        expect("accesses to the BARs", accesses.to_bars(function.slot),
               {(bar, offset, "read", 4): count for (bar, offset), count in reads.items()})
        told = {(place["bar"], place["offset"]): place["reads"] for place in function.json()["measurement"]["places"]}
        expect("reads that are told", told, reads)

    def emulated_pages(self):
        for function, request in ((self.e1000e, "pba"), (self.e1000e, "pba bar3+0x1000"),
                                  (self.e1000e, "bar3+0x1000 pba"), (self.nvme, "pba bar0+0x1c")):
            with self.case(f"slot {function.slot}, {request}: all pages of an emulated guest are alike: cannot tell"):
                if self.vm.accel != "tcg":
                    raise ktap.Skip("with KVM an emulated page is trapped, and told so")
                measurement = function.measure(request)
                ktap.say(f"# {measurement}")
                expect("verdict", measurement["verdict"], "cannot tell")
                expect("because", measurement["because"], "the figures are too close")

    def true_pair(self):
        """IVPosition, at 8 in BAR 0, can be read without a side effect."""
        for request, verdict in ("bar0+8 bar2+0", "trapped"), ("bar2+0 bar0+8", "direct"):
            measurement = self.ivshmem.measure(request)
            ktap.say(f"# {measurement}")
            expect(f"verdict of {request}", measurement["verdict"], verdict)
            text = self.vm.run(f"cat {self.ivshmem.dir}/msix_pba/measure")
            expect_in("text", text, f"verdict: {verdict}\nbecause: {measurement['because']}\n")

    # --- what cannot be measured ---

    def bad_requests(self):
        for request, why in (
                ("", MISUSE), ("1", MISUSE), ("table", MISUSE), ("pba pba pba", MISUSE),
                ("bar", NUMBERED), ("bar0", NUMBERED), ("bar6+0", NUMBERED),
                ("bar0+x", "the offset is no number: write barN+OFFSET, like bar0+0x1000"),
                ("bar0+2", "the offset must be a multiple of 4"),
                ("bar5+0", "it has no such memory BAR"), ("bar2+0", "it has no such memory BAR"),
                ("bar3+0x4000", "the offset is beyond the end of the BAR"),
                ("bar3+0xfffffffffffffffc", "the offset is beyond the end of the BAR"),
                ("pba bar3+0x4000", "the offset is beyond the end of the BAR")):
            with self.case(f"{request!r}: refused with one line, nothing is read"):
                self.refused(self.e1000e, request, EINVAL, why)
        with self.case("more than a page of nonsense: refused"):
            status, _ = self.vm.try_run(f"dd if=/dev/zero of={self.e1000e.dir}/msix_pba/measure bs=8192 count=1")
            expect("it is refused", status != 0, True)

    def refused(self, function, request, error, why):
        log = Log(self.vm)
        with emulator.Accesses(self.vm) as accesses:
            expect_in("the shell", function.refuse(request), error)
        expect("accesses to the BARs", accesses.to_bars(function.slot), {})
        expect("accesses that no device answers", set(accesses.unanswered), set())
        expect("lines", [line.split(": ", 1)[1] for line in log.of_module("msix_pba")],
               [f"msix_pba: not measured: {why}"])

    def unreadable(self):
        with self.case("an old result does not outlive a request that failed"):
            self.e1000e.measure("pba")
            self.e1000e.refuse("bar3+0x4000")
            expect("measurement", self.e1000e.json()["measurement"], None)
        with self.case("memory decoding is off: refused with one line, nothing is read"):
            self.vm.run(f"echo 0 > {self.e1000e.dir}/enable")
            command = self.e1000e.config()[4]
            self.e1000e.set_config(4, command & ~2)
            self.refused(self.e1000e, "pba", ENODEV,
                         "its memory BARs are disabled: bind a driver, or write 1 to its enable file")
            self.e1000e.set_config(4, command | 2)
            self.e1000e.measure("pba")
        with self.case("D3: refused with one line, nothing is read, and it stays in D3"):
            control = self.e1000e.capability(0x01) + 4
            self.e1000e.set_config(control, 3)
            self.refused(self.e1000e, "pba", ENODEV, "it is powered down: use it, or write on to its power/control")
            expect("power state", self.e1000e.config()[control] & 3, 3)
            self.e1000e.set_config(control, 0)
            # on the way to D0 it was reset
            self.e1000e.set_config(4, self.e1000e.config()[4] | 2)

    # --- loading ---

    def parameter(self):
        with self.case("devices=: the named functions only; a line for each that is not there or has no MSI-X"):
            self.vm.run("rmmod msix_pba")
            log = Log(self.vm)
            self.vm.run(f"insmod /ko/msix_pba.ko devices={pci_name(NVME)},{pci_name(NO_MSIX)},0000:00:1e.0")
            directories = self.vm.run("cd /sys/bus/pci/devices; ls -d */msix_pba").split()
            self.vm.run("rmmod msix_pba")
            expect("directories", directories, [f"{pci_name(NVME)}/msix_pba"])
            expect("lines", log.of_module("msix_pba"), [
                f"pci {pci_name(NO_MSIX)}: msix_pba: not looked at: it has no MSI-X capability",
                "msix_pba: 0000:00:1e.0 is not there; it is looked at if it comes"])
        for value in "0000:00:09", "nvme0", "0000:00:09.0,,", "0000:00:20.0", "0000:00:09.0," + 200 * "x":
            with self.case(f"devices={value[:40]}: refused, not loaded"):
                log = Log(self.vm)
                expect_in("insmod", self.vm.try_run(f"insmod /ko/msix_pba.ko devices={value}")[1], EINVAL)
                expect_in("the line", log.of_module("msix_pba")[0], "refused: ")
                expect("msix_pba is loaded", "msix_pba" in self.vm.run("lsmod"), False)
        with self.case(f"{ROUNDS} times loaded and unloaded while its files are read and written"):
            self.load_rounds()

    def load_rounds(self):
        self.begin_readers(pci_dir(NVME), "rounds")
        for _ in range(ROUNDS):
            self.vm.run("insmod /ko/msix_pba.ko; cat /sys/bus/pci/devices/*/msix_pba/json >/dev/null; rmmod msix_pba")
        self.vm.run("insmod /ko/msix_pba.ko")
        self.end_readers("rounds")
        expect("directories", len(self.vm.run("cd /sys/bus/pci/devices; ls -d */msix_pba").split()), len(DEVICES))

    def begin_readers(self, directory, name):
        """Measures and reads without end, whether or not there is something to read; says when it has read once."""
        self.vm.run(f"""
            rm -f /tmp/{name}.*
            for n in 1 2; do
                (while [ ! -e /tmp/{name}.stop ]; do
                     (echo pba > {directory}/msix_pba/measure) 2>/dev/null
                     cat {directory}/msix_pba/* >/tmp/{name}.read.$n 2>/dev/null && echo >> /tmp/{name}.count.$n
                 done; touch /tmp/{name}.ended.$n) &
            done""")

    def wait_for_reads(self, name):
        have_read = f"[ -s /tmp/{name}.count.1 -a -s /tmp/{name}.count.2 ]"
        wait_until("both have read", lambda: self.vm.try_run(have_read)[0] == 0)

    def end_readers(self, name):
        self.wait_for_reads(name)
        self.vm.run(f"touch /tmp/{name}.stop")
        wait_until("the readers have ended",
                   lambda: self.vm.try_run(f"[ -e /tmp/{name}.ended.1 -a -e /tmp/{name}.ended.2 ]")[0] == 0)

    # --- coming and going ---

    def coming_and_going(self):
        """Behind the port; a directory there is the function's, whatever its bus number."""
        plugged = f"{pci_dir(PORT)}/0000:*"
        with self.case("a function that is plugged in gets a directory"):
            self.vm.qmp("device_add", driver="e1000e", id="plugged", bus=PORT_ID)
            wait_until("the directory is there", lambda: self.there(plugged))
            self.vm.run(f"echo 1 > $(echo {plugged}/enable)")
            expect_in("layout", self.vm.run(f"cat {plugged}/msix_pba/layout"),
                      "pba: bar 3, offset 0x2000, 8 bytes, pages 0x2000-0x2fff")
        directory = self.vm.run(f"dirname $(dirname $(echo {plugged}/msix_pba/json))").strip()
        with self.case("removed by the user while being read, and found again, 10 times"):
            self.begin_readers(directory, "removal")
            for _ in range(10):
                self.vm.run(f"echo 1 > {directory}/remove; [ ! -e {directory} ] && echo 1 > /sys/bus/pci/rescan && "
                            f"echo 1 > {directory}/enable; [ -e {directory}/msix_pba/json ]")
            self.end_readers("removal")
        with self.case("unplugged while being read: its files go"):
            self.begin_readers(directory, "unplug")
            self.wait_for_reads("unplug")
            self.vm.qmp("device_del", id="plugged")
            self.vm.wait_event("DEVICE_DELETED", timeout=UNPLUG_DEADLINE, device="plugged")
            wait_until("the function is gone", lambda: not self.there(directory))
            self.end_readers("unplug")
        with self.case("the functions that have stayed are as before"):
            self.layout(next(device for device in DEVICES if device.slot == MEGASAS))

    def there(self, directory):
        return self.vm.try_run(f"[ -e {directory}/msix_pba/json ]")[0] == 0

    def lockdown(self):
        self.vm.run("mkdir /tmp/security; mount -t securityfs none /tmp/security; "
                    "echo confidentiality > /tmp/security/lockdown")
        expect_in("lockdown", self.vm.run("cat /tmp/security/lockdown"), "[confidentiality]")
        status, _ = self.vm.try_run(f"printf x | dd of={self.e1000e.dir}/config bs=1 conv=notrunc")
        expect("programs cannot write configuration space", status != 0, True)
        expect("verdict", self.ivshmem.measure("bar0+8 bar2+0")["verdict"], "trapped")
        expect_in("layout", self.vm.run(f"cat {self.nvme.dir}/msix_pba/layout"), "page of the pba: shared with nothing")


if __name__ == "__main__":
    main()
