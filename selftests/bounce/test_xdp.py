#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Does a NIC on path bounce work with an XDP program in its driver, and with AF_XDP?

The driver then takes its receive buffers, and syncs them, in other ways than it does for the stack.
"""

import sys
from pathlib import Path

sys.path[1:1] = [str(Path(__file__).resolve().parents[1] / part) for part in ("", "virtio")]

# pylint: disable=wrong-import-position
import guest
import pool
from guest import MIB, expect_dma
from lib import build, checks, kernels, ktap, vm
from lib.checks import expect

PATHS = ("off", "direct", "bounce")
NICS = {path: slot for slot, path in enumerate(PATHS, start=4)}
# Before 5.13 virtio_net wants a queue for each CPU to send from, and QEMU's user network has one queue only.
KERNELS_WITHOUT_XDP = ["5.10"]
MODES = ("copy", "zerocopy")
# Before 6.13 the driver has no other way.
KERNELS_THAT_COPY = ["6.1", "6.12"]
# Packets that the driver copies, packets that fill a page, and many.
TRANSFERS = (1, 64, 200, 1000, 1400, 3000, MIB)


def runs(machine):
    """How often the program has run."""
    return int(machine.run("sed -n 's/^run_cnt:[^0-9]*//p' /proc/$(pidof xdp_pass)/fdinfo/3"))


def check_traffic(nic, echo):
    nic.check_ping()
    nic.check_tcp(echo, TRANSFERS)


def test_xdp(suite, machine, path, echo):
    nic = guest.Nic(machine, NICS[path])
    with checks.case(suite, machine, f"XDP, {path}: attach, traffic both ways, detach, traffic"):
        expect_dma(nic, path=path, state="stock" if path == "off" else "attached")
        nic.up()
        check_traffic(nic, echo)
        machine.run(f"rm -f /tmp/xdp; /bin/xdp_pass {nic.interface()} > /tmp/xdp 2>&1 &")
        checks.wait_until("the program says something", lambda: machine.run("cat /tmp/xdp 2>/dev/null || true"))
        expect("the program says", machine.run("cat /tmp/xdp").strip(), "attached")
        before = runs(machine)
        check_traffic(nic, echo)
        ran = runs(machine) - before
        ktap.say(f"# the program ran {ran} times")
        suite.check(ran >= MIB // 1500, f"the program ran {ran} times only")
        machine.run("kill $(pidof xdp_pass)")
        checks.wait_until("the program is gone", lambda: not machine.run("pidof xdp_pass || true").strip())
        check_traffic(nic, echo)
        nic.down()
        if path == "bounce":
            check_bounced(suite, nic)


def why_not(kernel, path, mode):
    if mode != "copy":
        if kernel.line in KERNELS_THAT_COPY:
            return "the driver of this kernel always copies"
        if path == "off":
            return "without DMA operations the driver always copies"
        if path == "bounce":
            return "virtio_net maps its header by a wrong address when it is a module: what goes out is left to chance"
    return None


def test_af_xdp(suite, machine, path, mode, echo):
    nic = guest.Nic(machine, NICS[path])
    with checks.case(suite, machine, f"AF_XDP, {path}, {mode}: packets both ways, detach, traffic"):
        why = why_not(machine.kernel, path, mode)
        if why:
            raise ktap.Skip(why)
        nic.up()
        nic.check_ping()    # so that the host knows our address
        said = machine.run(f"/bin/af_xdp {nic.interface()} 10.0.{nic.slot}.15 10.0.{nic.slot}.2 "
                           f"52:55:0a:00:{nic.slot:02x}:02 {mode} 2>&1 || true").strip()
        expect("the program says", said, "200 answers")
        check_traffic(nic, echo)
        nic.down()
        if mode == "copy":
            expect("failures", nic.dma()["map_failures"], 0)


def check_bounced(suite, nic):
    counters = nic.dma()
    for way in "bounced_to_device", "bounced_from_device":
        suite.check(counters[way] > 3 * sum(TRANSFERS), f"{way} is {counters[way]}")
    expect("failures", counters["map_failures"], 0)


def main():
    suite = ktap.Suite("xdp")
    kernel = kernels.wanted()
    if kernel.line in KERNELS_WITHOUT_XDP:
        with suite.case("XDP"):
            raise ktap.Skip("the driver of this kernel wants more queues for it than QEMU's user network has")
        suite.finish()
    modules = build.build(kernel)
    programs = {f"/bin/{name}": build.program(kernel, Path(__file__).with_name(f"{name}.c"))
                for name in ("xdp_pass", "af_xdp")}
    devices = [argument for slot in NICS.values() for argument in guest.net(slot)]
    with guest.Echo() as echo, vm.VM(kernel, devices=devices, kos=modules.values(),
                                     files=programs, name="xdp") as machine:
        with checks.case(suite, machine, "loaded"):
            machine.run("modprobe virtio_pci; echo 1 > /proc/sys/kernel/bpf_stats_enabled")
            rules = ",".join(f"{guest.pci_name(slot)}={path}" for path, slot in NICS.items())
            expect("insmod says", pool.load(machine, rules), "")
            machine.run("modprobe virtio_net")
        for path in PATHS:
            test_xdp(suite, machine, path, echo)
            for mode in MODES:
                test_af_xdp(suite, machine, path, mode, echo)
    suite.finish()


if __name__ == "__main__":
    main()
