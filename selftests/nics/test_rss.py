#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Does the stock be2net run on our model of a BladeEngine 3: native mode, queues for each CPU, each flow in the queue
that its hash says, and what ethtool may change of that?

One guest with a pair of cards. The hash is worked out a second time here, from what ethtool says of the card.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

# pylint: disable=wrong-import-position
from lib import kernels, ktap
from lib.checks import expect, expect_at_least, expect_in, wait_until
from oneconnect import Guest, bench, guest
from pair import Pair
from rss import Spread

QUEUES = 4
FLOWS_PER_QUEUE = 4
FLOW_PORT = 5003
FIRST_SOURCE_PORT = 20000
# A connection that sends one line has at least: SYN, ACK, the line, FIN.
PACKETS_PER_FLOW = 3
UDP_COUNT = 20
# Some bits more than the driver's own has, so that a hash with the old key is another one.
OTHER_KEY = bytes((37 * i + 11) % 256 for i in range(40))


def main():
    suite = ktap.Suite("rss")
    with bench(2, "--chip", "be3") as cards, guest(cards, kernels.wanted(), "rss", cpus=QUEUES) as vm:
        ManyQueues(suite, vm, cards.models).run()
    suite.finish()


class ManyQueues(Guest):
    def run(self):
        with self.case("probe: native mode, a queue for each of half the CPUs, as the driver wants them"):
            self.pair = Pair(self.vm, self.models, 1, self.load())
            self.sender, self.receiver = self.pair.nics()
            expect("complaint of an old mode", "not in advanced mode" in self.log(), False)
            expect_in("the driver's limits", self.log(), "Max: txqs 16, rxqs 17, rss 16, eqs 16")
        self.channels()
        self.spreading()
        self.settings()
        self.refusals()
        self.errors()

    # --- queues ---

    def channels(self):
        with self.case(f"ethtool -L: {QUEUES} queues each way, and one for what has no hash"):
            for nic in self.pair.nics():
                nic.run(f"ethtool -L {nic.interface} combined {QUEUES}")
            expect_in("log", self.log(), f"created {QUEUES + 1} RX queue(s)")
            expect_in("log", self.log(), f"created {QUEUES} TX queue(s)")
            self.pair.up()
        with self.case("TCP and UDP over IPv4 and IPv6: data compare equal"):
            self.pair.check_data()
        with self.case("what one card sends is what the other gets, and what the drivers say, queue by queue"):
            self.check_counters(self.pair)
        self.pair.up()
        with self.case("VLAN: the tag is put in and taken out by the cards, which say so in native mode's way"):
            self.check_vlan(self.pair)
        with self.case("each CPU sends by a queue of its own"):
            self.each_cpu_sends()
        with self.case("netperf"):
            self.pair.start_netserver()
            for test in ("TCP_STREAM", "TCP_RR"):
                figure = self.pair.netperf(test)
                ktap.say(f"# {test} {figure}")
                expect_at_least(test, figure, 1)

    def each_cpu_sends(self):
        # the neighbor is known: the first packet does not wait for another CPU to learn of it
        self.pair.ping()
        for cpu in range(QUEUES):
            before = self.sent()
            self.sender.run(f"taskset -c {cpu} ping -c 5 -i 0.1 {self.receiver.address}")
            now = self.sent()
            # what others send meanwhile is less than that
            expect(f"the queue of CPU {cpu}", max(range(QUEUES), key=lambda queue: now[queue] - before[queue]), cpu)
            expect_at_least(f"packets of CPU {cpu}", now[cpu] - before[cpu], 5)

    def sent(self):
        """Packets by queue, as the card counts them."""
        counters = self.sender.model.counters()
        return [counters[f"tx{queue}_packets"] for queue in range(QUEUES)]

    # --- the hash ---

    def spreading(self):
        self.be_quiet()
        for address, name in ((self.receiver.address, "IPv4"), (self.receiver.address6, "IPv6")):
            with self.case(f"TCP over {name}: each flow comes by the queue that the hash of addresses and ports says"):
                self.check_flows(address, {0, 1, 2, 3})
        with self.case("UDP: whatever the ports, and of fragments, by the queue of the two addresses"):
            queue = Spread.of(self.receiver).queue(self.sender.address, self.receiver.address)
            before = self.received()
            self.pair.check_udp(count=UDP_COUNT)
            self.check_received(before, queue, UDP_COUNT)
        with self.case("what has no IP address comes by the queue without a hash"):
            before = self.received()
            self.sender.run(f"arp -d {self.receiver.address}; ping -c 1 {self.receiver.address}; true")
            now = self.received()
            expect_at_least("packets of the last queue", now[QUEUES] - before[QUEUES], 1)

    def be_quiet(self):
        """Neighbors stay known, so that nothing but our flows comes to one address alone."""
        for nic in self.pair.nics():
            for protocol in ("ipv4", "ipv6"):
                table = f"/proc/sys/net/{protocol}/neigh/{nic.interface}"
                nic.run(f"echo 3600 >{table}/delay_first_probe_time; echo 3600000 >{table}/base_reachable_time_ms")
        self.receiver.run(f"tcp_flows serve {FLOW_PORT} >/dev/null 2>&1 & "
                          f"until netstat -ltn | grep -q :{FLOW_PORT}; do sleep 0.1; done")
        # once with each address, for the neighbors' sake
        self.pair.check_data()
        self.next_port = FIRST_SOURCE_PORT

    def check_flows(self, address, queues):
        """Flows that the hash spreads over these queues come by them."""
        source = self.sender.address6 if ":" in address else self.sender.address
        spread = Spread.of(self.receiver)
        ports = {queue: [] for queue in queues}
        while any(len(chosen) < FLOWS_PER_QUEUE for chosen in ports.values()):
            self.next_port += 1
            ports[spread.queue(source, address, self.next_port, FLOW_PORT)].append(self.next_port)
        for queue, chosen in ports.items():
            before = self.received()
            self.connect(address, chosen[:FLOWS_PER_QUEUE])
            self.check_received(before, queue, PACKETS_PER_FLOW * FLOWS_PER_QUEUE)

    def connect(self, address, source_ports):
        self.sender.run(f"tcp_flows send {address} {FLOW_PORT} " + " ".join(map(str, source_ports)))

    def received(self):
        """Packets by queue, as the driver counts them, without what goes to groups."""
        statistics = self.receiver.statistics()
        return [statistics[f"rxq{queue}: rx_pkts"] - statistics[f"rxq{queue}: rx_mcast_pkts"]
                for queue in range(QUEUES + 1)]

    def check_received(self, before, queue, least):
        got = [now - then for now, then in zip(self.received(), before)][:QUEUES]
        expect_at_least(f"packets by queue {queue} of {got}", got[queue], least)
        expect(f"packets by other queues than {queue}", got[:queue] + got[queue + 1:], [0] * (QUEUES - 1))

    # --- settings ---

    def settings(self):
        name = self.receiver.interface
        with self.case("ethtool -X equal 2: the flows come by two queues, as the new table says"):
            self.receiver.run(f"ethtool -X {name} equal 2")
            expect("queues in the table", set(Spread.of(self.receiver).table), {0, 1})
            self.check_flows(self.receiver.address, {0, 1})
        with self.case("ethtool -X weight: the table is as uneven as wanted, and the flows follow"):
            self.receiver.run(f"ethtool -X {name} weight 1 0 0 7")
            table = Spread.of(self.receiver).table
            expect("shares of the queues", [table.count(queue) for queue in range(QUEUES)], [16, 0, 0, 112])
            self.check_flows(self.receiver.address, {0, 3})
        with self.case("ethtool -X hkey: the flows come as the new key says"):
            self.receiver.run(f"ethtool -X {name} equal {QUEUES}; ethtool -X {name} hkey {OTHER_KEY.hex(':')}")
            expect("key", Spread.of(self.receiver).key, OTHER_KEY)
            self.check_flows(self.receiver.address, set(range(QUEUES)))
        with self.case("ethtool -N rx-flow-hash tcp4 sd: the ports no longer count"):
            self.receiver.run(f"ethtool -N {name} rx-flow-hash tcp4 sd")
            queue = Spread.of(self.receiver).queue(self.sender.address, self.receiver.address)
            before = self.received()
            self.next_port += FLOWS_PER_QUEUE
            self.connect(self.receiver.address, range(self.next_port - FLOWS_PER_QUEUE + 1, self.next_port + 1))
            self.check_received(before, queue, PACKETS_PER_FLOW * FLOWS_PER_QUEUE)
            self.receiver.run(f"ethtool -N {name} rx-flow-hash tcp4 sdfn")
            self.check_flows(self.receiver.address, set(range(QUEUES)))

    # --- what the driver does not offer, and what it lacks queues for ---

    def refusals(self):
        nic = self.receiver
        with self.case("no other ring sizes, not more queues than CPUs, no UDP ports in the hash: told, and refused"):
            sizes = re.findall(r"^[RT]X:\s+(\d+)$", nic.run(f"ethtool -g {nic.interface}"), re.MULTILINE)
            expect("ring sizes, the largest and the current ones", sizes, ["1024", "2048"] * 2)
            for refused in (f"-G {nic.interface} rx 512", f"-L {nic.interface} combined {QUEUES + 1}",
                            f"-N {nic.interface} rx-flow-hash udp4 sdfn"):
                expect(f"ethtool {refused}", nic.try_run(f"ethtool {refused}")[0] == 0, False)
            self.check_traffic(self.pair)
        with self.case("ethtool -L: one queue, then more to receive than to send"):
            for spread_over, setting, wanted in ((1, "combined 1", (1, 1)), (None, "combined 2 rx 2", (5, 2)),
                                                 (2, "combined 2 rx 0", (3, 2))):
                if spread_over:     # the kernel lets no queue go that the table names
                    nic.run(f"ethtool -X {nic.interface} equal {spread_over}")
                nic.run(f"ethtool -L {nic.interface} {setting}")
                expect(f"queues after {setting}", self.queues_of(nic), wanted)
                wait_until("carrier", nic.has_carrier)
                self.check_traffic(self.pair)

    def queues_of(self, nic):
        """How many to receive and to send."""
        names = nic.run(f"ls /sys/class/net/{nic.interface}/queues").split()
        return tuple(sum(name.startswith(kind) for name in names) for kind in ("rx-", "tx-"))

    # --- errors ---

    def errors(self):
        with self.case("10 times down and up, as MTU 9000, and data compare equal"):
            nic = self.sender
            nic.run(f"ip link set {nic.interface} mtu 9000; for i in $(seq 10); do "
                    f"ip link set {nic.interface} down && ip link set {nic.interface} up || exit 1; done", timeout=180)
            self.receiver.run(f"ip link set {self.receiver.interface} mtu 9000")
            self.pair.up()
            self.check_traffic(self.pair)
            expect("a flush that never came", "did not receive flush compl" in self.log(), False)
        # be_main.c:be_detect_error() believes a BladeEngine 3 only what the POST stage says, too
        with self.case("an unrecoverable error: told by name, the card is given up; bound again, it works"):
            nic.model.ask("ue 1 0")
            wait_until("the driver tells", lambda: "UE: CEV bit set" in self.log())
            nic.model.ask("ue 0 0")
            self.rebind(nic)
            self.check_traffic(self.pair)
        with self.case("the module unloads"):
            self.vm.run("rmmod be2net", timeout=180)


if __name__ == "__main__":
    main()
