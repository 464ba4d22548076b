#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What a card may be plugged into: a card of another guest, a TAP device of this machine, passt. Do data go both ways,
and compare equal?

Two guests under the stock be2net, and a network namespace of this machine.
"""

import contextlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

# pylint: disable=wrong-import-position
from lib import kernels, ktap, wires
from lib.checks import case, expect, expect_at_least, wait_until
from host import Host
from oneconnect import bench, guest, interfaces_of
from pair import Link, Nic

TESTS = (("TCP_STREAM", ""), ("TCP_RR", ""), ("UDP_STREAM", "-m 1400"))


def main():
    suite = ktap.Suite("wires")
    kernel = kernels.wanted()
    with contextlib.ExitStack() as stack:
        host = stack.enter_context(Host(kernel))
        tap = wires.Tap(host.namespace, "tap0")
        passt = stack.enter_context(wires.Passt(host.namespace, "10.3.0.1"))
        cards = stack.enter_context(bench(4, plugs=[tap, passt.plug]))
        first = stack.enter_context(guest(cards, kernel, "wires-first", models=cards.models[:3]))
        second = stack.enter_context(guest(cards, kernel, "wires-second", models=cards.models[3:]))
        with case(suite, first, "probe: three cards in one guest"):
            to_tap, to_passt, to_guest = make_nics(first, cards.models[:3], ("10.2.0.2", "10.3.0.2", "10.1.0.1"))
        with case(suite, second, "probe: one card in the other guest"):
            other, = make_nics(second, cards.models[3:], ("10.1.0.2",))
        tap.up("10.2.0.1/24")
        check(suite, first, "two guests", Link(to_guest, other), cards)
        check(suite, first, "a TAP device", Link(to_tap, host.at("10.2.0.1")), cards)
        # passt takes no fragments
        check(suite, first, "passt", Link(to_passt, host.at("10.3.0.1")), cards, largest_datagram=1400)
    suite.finish()


def make_nics(vm, models, addresses):
    vm.run("modprobe be2net", timeout=120)
    nics = [Nic(vm, model, interface, address)
            for model, interface, address in zip(models, interfaces_of(vm, models), addresses)]
    for nic in nics:
        nic.up()
    for nic in nics:
        wait_until(f"{nic.interface} has a carrier", nic.has_carrier)
    return nics


def check(suite, vm, what, link, cards, largest_datagram=8000):
    with case(suite, vm, f"{what}: ping, TCP and UDP, and data compare equal"):
        link.ping()
        link.check_tcp()
        link.check_udp(largest=largest_datagram)
    with case(suite, vm, f"{what}: netperf TCP_STREAM, TCP_RR, UDP_STREAM"):
        link.start_netserver()
        for test, options in TESTS:
            figure = link.netperf(test, options=options)
            ktap.say(f"# {test} {figure}")
            expect_at_least(test, figure, 1)
    with case(suite, vm, f"{what}: nothing was lost or malformed, and no card reached what is not mapped"):
        counters = link.first.model.counters()
        expect("lost, malformed, overflowed",
               (counters["tx_lost"], counters["tx_malformed"], counters["overflows"]), (0, 0, 0))
        expect("violations", [model.violations() for model in cards.models], [[]] * len(cards.models))


if __name__ == "__main__":
    main()
