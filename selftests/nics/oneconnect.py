# SPDX-License-Identifier: GPL-2.0
"""Guests with models of OneConnect cards under the stock be2net."""

import contextlib
import re
from pathlib import Path

from lib import build, ktap, vfio_user
from lib.checks import expect, expect_at_least, wait_until
from pair import PROGRAMS

HERE = Path(__file__).resolve().parent


def bench(count, *options, plugs=()):
    """That many cards; the options are the model's, for all of them, and plugs is as Bench() has it."""
    return vfio_user.Bench(["be2"] * count, [("--mac", mac(number), *options) for number in range(count)], plugs)


def mac(number):
    return f"02:00:00:be:00:{number + 1:02x}"


def guest(cards, kernel, name, **arguments):
    ours = {f"/bin/{name}": build.program(kernel, HERE / f"{name}.c") for name in (*PROGRAMS, "tcp_flows")}
    files = {**vfio_user.guest_tools(), **ours}
    return cards.vm(kernel, files=files, name=name, **arguments)


def interfaces_of(vm, models):
    """In the order of the models, whatever order the kernel found them in."""
    by_address = dict(line.split() for line in vm.run(
        "for i in /sys/class/net/eth*; do echo $(cat $i/address) ${i##*/}; done").splitlines())
    return [by_address[mac(model.number)] for model in models]


class Guest:
    """One whose cards are the models, in that order."""

    def __init__(self, suite, vm, models):
        self.suite, self.vm, self.models = suite, vm, models

    @contextlib.contextmanager
    def case(self, name):
        """A case that also fails when the kernel complains meanwhile, or a card reached what it must not."""
        with self.suite.case(name):
            try:
                yield
            finally:
                for line in [] if self.vm.lost else self.vm.kernel_complaints():
                    ktap.say(f"# kernel: {line}")
                    self.complaint = True
            expect("complaints of the kernel", self.take_complaint(), False)
            for model in self.models:
                if model.process.poll() is None:
                    expect(f"accesses of {model.socket.name} to what is not mapped", model.violations(), [])

    complaint = False

    def take_complaint(self):
        complaint, self.complaint = self.complaint, False
        return complaint

    def load(self):
        """Returns the interfaces in the order of the models."""
        self.vm.run("modprobe be2net", timeout=120)
        return interfaces_of(self.vm, self.models)

    def log(self):
        return self.vm.run("dmesg")

    def check_traffic(self, pair):
        pair.ping()
        pair.check_tcp()

    def device(self, nic):
        """The address of the card's PCI function."""
        return self.vm.run(f"basename $(readlink /sys/class/net/{nic.interface}/device)").strip()

    def rebind(self, nic, between="true"):
        """Takes the card from its driver, which need not be well, and gives it back."""
        device = self.device(nic)
        self.vm.run(f"echo {device} >/sys/bus/pci/drivers/be2net/unbind && {between}", timeout=180)
        self.bind(nic, device)

    def bind(self, nic, device):
        """Gives a card that has no driver to it, and brings it up."""
        self.vm.run(f"echo {device} >/sys/bus/pci/drivers/be2net/bind", timeout=180)
        nic.interface = self.vm.run(f"ls /sys/bus/pci/devices/{device}/net").strip()
        nic.up()
        wait_until("carrier", nic.has_carrier)

    def check_vlan(self, pair):
        """One VLAN that both sides have, and one that only the first has."""
        for nic in pair.nics():
            nic.run(f"ip link add link {nic.interface} name vlan7 type vlan id 7; "
                    f"ip addr add 10.7.0.{nic.address[-1]}/24 dev vlan7; ip link set vlan7 up")
        before = [nic.model.counters() for nic in pair.nics()]
        pair.first.ping("10.7.0.2")
        # be_main.c:be_BEx_xmit_workarounds() has the card put in the tag only where it puts in a checksum, too
        pair.check_tcp(address="10.7.0.2")
        for nic, old in zip(pair.nics(), before):
            now = nic.model.counters()
            expect_at_least("packets that a tag was put into", now["tx_tagged"] - old["tx_tagged"], 3)
            # a megabyte is more than 700 frames
            expect_at_least("frames that a tag was taken out of", now["rx_tagged"] - old["rx_tagged"], 700)
        pair.first.run(f"ip link add link {pair.first.interface} name vlan8 type vlan id 8 && "
                       "ip addr add 10.8.0.1/24 dev vlan8 && ip link set vlan8 up")
        filtered = pair.second.model.counters()["rx_filtered"]
        expect("ping on a VLAN that the other side has not",
               pair.first.try_run("ping -c 1 -W 1 10.8.0.2")[0] == 0, False)
        expect_at_least("frames filtered", pair.second.model.counters()["rx_filtered"] - filtered, 1)
        pair.first.run("ip link del vlan8; ip link del vlan7")
        pair.second.run("ip link del vlan7")

    def check_counters(self, pair):
        """What the first card sent is what the second got, as the drivers say. The first goes down, to be quiet."""
        first, second = pair.nics()
        first.down()
        sent, got = first.model.counters(), second.model.counters()
        expect("frames lost on the wire", sent["tx_lost"], 0)
        expect("frames that arrived", got["rx_frames"], sent["tx_frames"])
        expect("what became of them",
               got["rx_delivered"] + got["rx_filtered"] + got["rx_no_buffer"] + got["rx_not_ready"], got["rx_frames"])
        expect("malformed packets", (sent["tx_malformed"], got["tx_malformed"]), (0, 0))
        expect("lost completions", (sent["overflows"], got["overflows"]), (0, 0))
        # be_main.c:be_tx_stats_update(): a large packet counts as its segments
        expect("packets that the driver sent", of_all_queues(first.statistics(), "tx_pkts"), sent["tx_frames"])
        statistics = wait_until("the driver has the latest figures", lambda: latest_statistics(second, got))
        expect("packets that the driver got", of_all_queues(statistics, "rx_pkts"), got["rx_delivered"])
        expect("packets for which it had no room", of_all_queues(statistics, "rx_drops_no_frags"), got["rx_no_buffer"])
        expect("checksum errors", (statistics["rx_ip_checksum_errs"], statistics["rx_tcp_checksum_errs"],
                                   statistics["rx_udp_checksum_errs"]), (0, 0, 0))


def of_all_queues(statistics, name):
    return sum(value for full_name, value in statistics.items() if re.fullmatch(rf"[rt]xq\d+: {name}", full_name))


def latest_statistics(nic, counters):
    """The statistics once they say what was filtered, which the driver asks for each second; else None."""
    statistics = nic.statistics()
    return statistics if statistics["rx_address_filtered"] == counters["rx_filtered"] else None
