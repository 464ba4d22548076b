#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What guest_memtype says of BARs, beside what the kernel itself has recorded, in guests whose CPUs differ."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

# pylint: disable=wrong-import-position
from lib import build, checks, kernels, ktap, vm
from lib.checks import expect, expect_in

MODULE = "/ko/guest_memtype.ko"
OTHER_USER = "/ko/bar_user.ko"
# BAR 0 is registers, BAR 2 is the host's memory and prefetchable.
SHARED_MEMORY = "0000:00:04.0"
DEVICES = ["-object", "memory-backend-ram,id=shared,size=4M,share=on",
           "-device", "ivshmem-plain,memdev=shared,addr=4"]
PAT_LINUX = "WB WC UC- UC WB WP UC- WT"
ROUNDS = 20


def bar(machine, number, device=SHARED_MEMORY):
    """A BAR's file: {name: text}."""
    text = machine.run(f"cat /sys/bus/pci/devices/{device}/memtype/bar{number}")
    return dict(line.split(": ", 1) for line in text.splitlines())


def recorded(machine, start):
    """The types that the kernel has on record for ranges that begin there."""
    lines = machine.run("cat /sys/kernel/debug/x86/pat_memtype_list").splitlines()
    return [line.split("] ")[1] for line in lines if f"[mem {start}-" in line]


def start_of(machine, number, device=SHARED_MEMORY):
    return f"0x{int(bar(machine, number, device)['memory'].split(',')[0], 16):016x}"


def test_files(suite, machine):
    with checks.case(suite, machine, "a function has files for its memory BARs and no others"):
        files = machine.run(f"ls /sys/bus/pci/devices/{SHARED_MEMORY}/memtype").split()
        expect("files", files, [name + suffix for name in bars_by_resource(machine) for suffix in ("", "_json")])
    with checks.case(suite, machine, "text and JSON say the same"):
        text = bar(machine, 2)
        data = json.loads(machine.run(f"cat /sys/bus/pci/devices/{SHARED_MEMORY}/memtype/bar2_json"))
        expect("JSON", [data["device"], data["bar"], data["write_combining"], data["because"], data["recorded"],
                        data["mtrr"], data["hypervisor"], data["bytes"], data["prefetchable"]],
               [SHARED_MEMORY, 2, text["write-combining"], text["because"], text["recorded"], text["mtrr"],
                text["hypervisor"], 4 << 20, True])
        expect("hosts", {host["host"]: f"{host['device_page']} if it is a device's page, "
                                       f"{host['ram_page']} if it is the host's RAM" for host in data["hosts"]},
               {name: value for name, value in text.items() if "if it is" in value})


def bars_by_resource(machine):
    """The memory BARs by the device's file `resource`."""
    lines = machine.run(f"head -n 6 /sys/bus/pci/devices/{SHARED_MEMORY}/resource").splitlines()
    return [f"bar{number}" for number, line in enumerate(lines) if int(line.split()[2], 16) & 0x200]


def test_emulated(suite, machine):
    with checks.case(suite, machine, "an emulated CPU: cannot tell, and what was asked for and recorded"):
        for number in (0, 2):
            text = bar(machine, number)
            expect("verdict", [text[name] for name in ("write-combining", "hypervisor", "recorded", "pat", "driver")],
                   ["cannot tell", "TCG", "WC", PAT_LINUX, "none"])
    with checks.case(suite, machine, "every host's policy is there, as in the table of the README"):
        hosts = {name: value for name, value in bar(machine, 2).items() if "if it is" in value}
        expect("hosts", len(hosts), 12)
        expect("AMD", hosts["AMD, Linux 4.14 or later"],
               "yes if it is a device's page, yes if it is the host's RAM")
        expect("Intel", hosts["Intel, Linux 6.16 or later"],
               "yes if it is a device's page, sometimes if it is the host's RAM")
        expect("without nested paging", hosts["without nested paging"],
               "no if it is a device's page, no if it is the host's RAM")
    with checks.case(suite, machine, "looking leaves no mapping behind"):
        expect("on record", recorded(machine, start_of(machine, 2)), [])


def test_other_user(suite, machine):
    """Somebody else's mapping decides, and the verdict says so."""
    start = start_of(machine, 2)
    for kind, on_record, want in (("uncached", "uncached-minus", ["no", "UC-"]),
                                  ("write-combining", "write-combining", ["cannot tell", "WC"])):
        with checks.case(suite, machine, f"another user has it mapped {kind}"):
            machine.run(f"insmod {OTHER_USER} device={SHARED_MEMORY} bar=2 kind={kind}")
            expect("on record", set(recorded(machine, start)), {on_record})
            text = bar(machine, 2)
            expect("verdict", [text["write-combining"], text["recorded"]], want)
            if kind == "uncached":
                expect_in("reason", text["because"], "somebody else has mapped it")
            expect("on record afterwards", set(recorded(machine, start)), {on_record})
            machine.run("rmmod bar_user")
            expect("verdict without it", bar(machine, 2)["recorded"], "WC")


def test_coming_and_going(suite, machine):
    with checks.case(suite, machine, "removed, and found again"):
        machine.run(f"echo 1 >/sys/bus/pci/devices/{SHARED_MEMORY}/remove")
        expect("its directory", machine.try_run(f"ls /sys/bus/pci/devices/{SHARED_MEMORY}/memtype")[0], 1)
        machine.run("echo 1 >/sys/bus/pci/rescan")
        expect("verdict", bar(machine, 2)["recorded"], "WC")
    with checks.case(suite, machine, f"loaded, read and unloaded {ROUNDS} times, read and removed at the same time"):
        machine.run(f"""
            (until [ -e /run/stop ]; do cat /sys/bus/pci/devices/*/memtype/bar* >/dev/null 2>&1; done) &
            for round in $(seq {ROUNDS}); do
                rmmod guest_memtype && insmod {MODULE} || exit 1
                echo 1 >/sys/bus/pci/devices/{SHARED_MEMORY}/remove
                echo 1 >/sys/bus/pci/rescan
            done
            touch /run/stop; wait; rm /run/stop""", timeout=120)
        expect("verdict", bar(machine, 2)["recorded"], "WC")
    with checks.case(suite, machine, "no directory is left"):
        machine.run("rmmod guest_memtype")
        expect("left", machine.run("ls -d /sys/bus/pci/devices/*/memtype 2>/dev/null || true"), "")


def test_without_pat(suite, kernel, modules, name, append="", devices=()):
    with vm.VM(kernel, devices=[*DEVICES, *devices], append=append, kos=modules, name="memtype-pat") as machine:
        with checks.case(suite, machine, f"{name}: not write-combining, and why"):
            machine.run(f"insmod {MODULE}")
            text = bar(machine, 2)
            expect("verdict", [text["write-combining"], text["recorded"] == "WC"], ["no", False])
            expect_in("reason", text["because"], "the PAT has no entry for it")


def test_without_mtrrs(suite, kernel, modules):
    with vm.VM(kernel, devices=[*DEVICES, "-cpu", "max,-mtrr"], kos=modules, name="memtype-mtrr") as machine:
        with checks.case(suite, machine, "no MTRRs: the PAT as it is decides"):
            machine.run(f"insmod {MODULE}")
            text = bar(machine, 2)
            has_entry = "WC" in text["pat"].split()
            ktap.say(f"# PAT of {kernel.release} without MTRRs: {text['pat']}")
            expect("verdict", [text["write-combining"], text["recorded"] == "WC"],
                   ["cannot tell", True] if has_entry else ["no", False])


def main():
    suite = ktap.Suite("memtype")
    kernel = kernels.wanted()
    modules = build.build(kernel)
    with vm.VM(kernel, devices=DEVICES, kos=modules.values(), name="memtype") as machine:
        with checks.case(suite, machine, "loaded"):
            machine.run(f"insmod {MODULE}")
        test_files(suite, machine)
        test_emulated(suite, machine)
        test_other_user(suite, machine)
        test_coming_and_going(suite, machine)
    test_without_pat(suite, kernel, modules.values(), "nopat", append="nopat")
    test_without_pat(suite, kernel, modules.values(), "PAT hidden by the VMM", devices=["-cpu", "max,-pat"])
    test_without_mtrrs(suite, kernel, modules.values())
    suite.finish()


if __name__ == "__main__":
    main()
