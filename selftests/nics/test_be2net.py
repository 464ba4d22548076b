#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Does the stock be2net run on our model of a OneConnect: traffic, statistics, errors, unplugging, a strict IOMMU?

One guest has two pairs of cards for most of it: one pair lives through the errors, the other is unplugged and
killed. A second guest has one pair behind an IOMMU that lets a card reach only what is mapped for it.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

# pylint: disable=wrong-import-position
from lib import kernels, ktap
from lib.checks import expect, expect_at_least, wait_until
from oneconnect import Guest, bench, guest
from pair import Pair

ROUNDS = 20
# Codes of be2net: be_cmds.h OPCODE_ETH_RX_CREATE, MCC_STATUS_FAILED; be_hw.h BE_TX_COMP_NDMA_ERR.
RX_CREATE = "3 8"
STATUS_FAILED = 1
TX_DMA_ERROR = 3
# be_cmds.c:be_mcc_wait_compl() waits for 12 seconds, but an emulated CPU on a busy machine counts slowly.
FIRMWARE_TIMEOUT = 240
DEAD_PEER = "02:00:00:be:00:99"


def main():
    suite = ktap.Suite("be2net")
    kernel = kernels.wanted()
    with bench(4) as cards, guest(cards, kernel, "be2net") as vm:
        Plain(suite, vm, cards.models).run()
    with bench(2) as cards, guest(cards, kernel, "be2net-iommu", iommu=True) as vm:
        BehindIommu(suite, vm, cards.models).run()
    suite.finish()


class Plain(Guest):
    def run(self):
        with self.case("probe: four cards with their addresses, no unknown complaint"):
            interfaces = self.load()
            self.pair = Pair(self.vm, self.models[:2], 1, interfaces[:2])
            self.doomed = Pair(self.vm, self.models[2:], 2, interfaces[2:])
            for nic in (*self.pair.nics(), *self.doomed.nics()):
                expect(f"driver of {nic.interface}", nic.run(
                    f"basename $(readlink /sys/class/net/{nic.interface}/device/driver)").strip(), "be2net")
        self.traffic()
        self.probe_without_firmware()
        self.settings()
        self.filters()
        self.coming_and_going()
        self.errors()
        self.losses()

    # --- traffic ---

    def traffic(self):
        with self.case("link: up at 10 Gbit/s on both sides"):
            self.pair.up()
            self.doomed.up()
            for nic in self.pair.nics():
                expect("speed", nic.attribute("speed"), "10000")
        with self.case("ping, also of more than a frame"):
            self.pair.ping(count=5)
            self.pair.ping(size=4000)
        with self.case("TCP and UDP over IPv4 and IPv6: data compare equal"):
            self.pair.check_data()
        with self.case("netperf TCP_STREAM, TCP_RR, UDP_STREAM; large packets are cut by the card"):
            self.pair.start_netserver()
            cut = self.pair.first.model.counters()["tx_tso"]
            for test, options in (("TCP_STREAM", ""), ("TCP_RR", ""), ("UDP_STREAM", "-m 1400")):
                figure = self.pair.netperf(test, options=options)
                ktap.say(f"# {test} {figure}")
                expect_at_least(test, figure, 1)
            expect_at_least("packets cut", self.pair.first.model.counters()["tx_tso"] - cut, 10)
        with self.case("counters: the driver, the model and the other end agree"):
            self.check_counters(self.pair)
        self.pair.up()

    # --- settings ---

    def settings(self):
        with self.case("MTU 9000: one frame carries a large packet, data compare equal; and back"):
            self.set_mtu(9000)
            frames = self.pair.first.model.counters()["tx_jumbo"]
            self.pair.ping(size=8000, count=5)
            expect("large frames of 5 large pings", self.pair.first.model.counters()["tx_jumbo"] - frames, 5)
            self.pair.check_data()
            self.set_mtu(1500)
            self.pair.check_data()
        with self.case("VLAN: the tag is put in and taken out by the cards"):
            self.check_vlan(self.pair)
        with self.case("offloads off: the stack's own checksums are right"):
            for nic in self.pair.nics():
                nic.run(f"ethtool -K {nic.interface} tx off rx off")
            before = self.pair.first.model.counters()
            self.pair.check_data()
            after = self.pair.first.model.counters()
            expect("checksums put in by the card", after["tx_checksums"] - before["tx_checksums"], 0)
            for nic in self.pair.nics():
                nic.run(f"ethtool -K {nic.interface} tx on rx on tso on")

    def set_mtu(self, mtu):
        for nic in self.pair.nics():
            nic.run(f"ip link set {nic.interface} mtu {mtu}")
        for nic in self.pair.nics():
            wait_until("carrier", nic.has_carrier)

    # --- filters ---

    def filters(self):
        with self.case("filter: frames for another address are counted, and taken when promiscuous"):
            first, second = self.pair.nics()
            first.run(f"arp -s {self.pair.net}.9 {DEAD_PEER}")
            before = second.model.counters()["rx_delivered"]
            filtered = second.statistics()["rx_address_filtered"]
            first.try_run(f"ping -c 5 -i 0.1 -W 1 {self.pair.net}.9")
            wait_until("the driver counts what was filtered",
                       lambda: second.statistics()["rx_address_filtered"] >= filtered + 5)
            expect("frames delivered", second.model.counters()["rx_delivered"] - before < 5, True)
            second.run(f"ip link set {second.interface} promisc on")
            before = second.model.counters()["rx_delivered"]
            first.try_run(f"ping -c 5 -i 0.1 -W 1 {self.pair.net}.9")
            expect_at_least("frames delivered", second.model.counters()["rx_delivered"] - before, 5)
            second.run(f"ip link set {second.interface} promisc off")
        with self.case("a new MAC address is used at once"):
            second = self.pair.second
            second.run(f"ip link set {second.interface} address 02:00:00:be:00:77")
            self.pair.first.run(f"arp -d {second.address}; true")
            self.check_traffic(self.pair)

    # --- coming and going ---

    def coming_and_going(self):
        with self.case("link flap: the driver follows, traffic goes on"):
            for _ in range(5):
                self.pair.first.model.ask("link down")
                wait_until("no carrier", lambda: not self.pair.first.has_carrier())
                self.pair.first.model.ask("link up")
                wait_until("carrier", self.pair.first.has_carrier)
            self.check_traffic(self.pair)
        with self.case(f"{ROUNDS} times down and up"):
            name = self.pair.first.interface
            self.pair.first.run(f"for i in $(seq {ROUNDS}); do "
                                f"ip link set {name} down && ip link set {name} up || exit 1; done", timeout=180)
            self.pair.up()
            self.check_traffic(self.pair)
            expect("a flush that never came", "did not receive flush compl" in self.log(), False)
        with self.case("unbound, reset by FLR, bound again"):
            resets = self.pair.first.model.counters()["resets"]
            device = self.device(self.pair.first)
            self.rebind(self.pair.first, f"echo 1 >/sys/bus/pci/devices/{device}/reset")
            expect_at_least("resets", self.pair.first.model.counters()["resets"] - resets, 1)
            self.check_traffic(self.pair)

    # --- errors ---

    def errors(self):
        nic = self.pair.first
        with self.case("a command fails: the interface does not come up, and does the next time"):
            nic.down()
            nic.model.ask(f"fail {RX_CREATE} {STATUS_FAILED} 1")
            expect("up", nic.try_run(f"ip link set {nic.interface} up")[0] == 0, False)
            nic.up()
            wait_until("carrier", nic.has_carrier)
            self.check_traffic(self.pair)
        with self.case("packets complete with an error: counted, traffic goes on"):
            errors = nic.statistics()["txq0: tx_dma_err"]
            nic.model.ask(f"tx-error {TX_DMA_ERROR} 3")
            nic.try_run(f"ping -c 4 -i 0.1 -W 1 {self.pair.second.address}")
            wait_until("all were used up", lambda: not nic.model.counters()["tx_errors_left"])
            expect("tx_dma_err", nic.statistics()["txq0: tx_dma_err"] - errors, 3)
            self.check_traffic(self.pair)
        with self.case("a lost interrupt: the queue stands still, down and up get it going"):
            nic.model.ask("lose-interrupts 1")
            expect("ping", nic.try_run(f"ping -c 2 -i 0.1 -W 2 {self.pair.second.address}")[0] == 0, False)
            expect("interrupts left to lose", nic.model.counters()["lost_interrupts_left"], 0)
            nic.down()
            nic.up()
            wait_until("carrier", nic.has_carrier)
            self.check_traffic(self.pair)
        with self.case("an unrecoverable error: told by name, the card is given up; bound again, it works"):
            nic.model.ask("ue 1 0")
            wait_until("the driver tells", lambda: "UE: CEV bit set" in self.log())
            nic.model.ask("ue 0 0")
            self.rebind(nic)
            self.check_traffic(self.pair)
        with self.case("the firmware answers nothing: the driver gives up; bound again, it works"):
            nic.model.ask("hang on")
            # The driver waits for 12 seconds of its own, busy, with softirqs off: this is no lockup, nor a stall.
            self.vm.run("echo 60 >/proc/sys/kernel/watchdog_thresh; "
                        "echo 1 >/sys/module/rcupdate/parameters/rcu_cpu_stall_suppress")
            # something that the driver has to tell the firmware
            nic.run(f"ip link set {nic.interface} promisc on")
            self.wait_until_given_up(self.device(nic))
            nic.model.ask("hang off")
            self.rebind(nic)
            self.check_traffic(self.pair)
        with self.case("the mailbox does not answer: probing gives up; bound again, it works"):
            mute, device = self.doomed.first, self.mute_device
            self.wait_until_given_up(device)
            wait_until("probing has ended", lambda: self.vm.try_run("[ -e /run/probed ]")[0] == 0)
            expect("has a driver", self.vm.try_run(f"[ -e /sys/bus/pci/devices/{device}/driver ]")[0] == 0, False)
            mute.model.ask("hang off")
            self.bind(mute, device)
            self.check_traffic(self.doomed)

    def probe_without_firmware(self):
        """The driver gives up after half a minute, asleep; the rest goes on meanwhile."""
        self.mute_device = self.device(self.doomed.first)
        self.vm.run(f"echo {self.mute_device} >/sys/bus/pci/drivers/be2net/unbind")
        self.doomed.first.model.ask("hang on")
        self.vm.run(f"(echo {self.mute_device} >/sys/bus/pci/drivers/be2net/bind; touch /run/probed) >/dev/null 2>&1 &")

    def wait_until_given_up(self, device):
        wait_until("the driver tells", lambda: f"be2net {device}: FW not responding" in self.log(), FIRMWARE_TIMEOUT)

    # --- losses ---

    def losses(self):
        # Not device_del: a QEMU before 11.2 at least dies of it, of any vfio-user device with MSI-X.
        with self.case("a card removed under load: the guest is well; found again by a rescan, it works"):
            first = self.doomed.first
            device = self.device(first)
            self.doomed.start_netserver()
            self.doomed.load_until_busy()
            self.vm.run(f"echo 1 >/sys/bus/pci/devices/{device}/remove", timeout=120)
            self.doomed.stop_load()
            expect("is there", self.vm.try_run(f"[ -e /sys/bus/pci/devices/{device} ]")[0] == 0, False)
            self.vm.run("echo 1 >/sys/bus/pci/rescan", timeout=120)
            first.interface = self.vm.run(f"ls /sys/bus/pci/devices/{device}/net").strip()
            self.doomed.up()
            self.check_traffic(self.doomed)
        # Not a real kill: QEMU 11.1 sometimes dies of one that leaves messages unread. The guest sees the same.
        with self.case("a model gone under load: the guest is well, the card can be unbound, the other pair works"):
            self.doomed.load_until_busy()
            first.model.ask("hang-up")
            self.doomed.stop_load()
            self.vm.run(f"echo {device} >/sys/bus/pci/drivers/be2net/unbind", timeout=180)
            self.check_traffic(self.pair)
        with self.case("the module unloads, after all that"):
            self.vm.run("rmmod be2net", timeout=180)


class BehindIommu(Guest):
    def run(self):
        with self.case("behind a strict IOMMU: the cards get addresses that are mapped for them alone"):
            interfaces = self.load()
            self.pair = Pair(self.vm, self.models, 1, interfaces)
            self.pair.up()
            expect("groups", self.vm.run("cat /sys/kernel/iommu_groups/*/type | sort -u").split()[-1:], ["DMA"])
            self.pair.ping()
        with self.case("TCP and UDP data compare equal"):
            self.pair.check_tcp(2 << 20)
            self.pair.check_udp()
        with self.case("netperf; each packet is mapped and unmapped"):
            self.pair.start_netserver()
            before = self.pair.first.model.counters()
            ktap.say(f"# TCP_STREAM {self.pair.netperf('TCP_STREAM')}")
            after = self.pair.first.model.counters()
            expect_at_least("mappings", after["dma_maps"] - before["dma_maps"], 100)
            expect_at_least("unmappings", after["dma_unmaps"] - before["dma_unmaps"], 100)
        with self.case("MTU 9000, down and up"):
            for nic in self.pair.nics():
                nic.run(f"ip link set {nic.interface} mtu 9000")
            self.pair.first.down()
            self.pair.up()
            self.check_traffic(self.pair)
        with self.case("the driver unbound under load"):
            device = self.device(self.pair.first)
            self.pair.load_until_busy()
            self.vm.run(f"echo {device} >/sys/bus/pci/drivers/be2net/unbind", timeout=120)
            self.pair.stop_load()
        with self.case("after the driver has gone nothing is mapped for the card"):
            self.vm.run("rmmod be2net", timeout=120)
            counters = self.pair.first.model.counters()
            expect("mappings left", counters["dma_maps"] - counters["dma_unmaps"], 0)
        with self.suite.case("an access to what is not mapped is noticed"):
            model = self.pair.first.model
            model.ask("touch 0x12345000")
            expect("violations", model.violations(), ["read 0x12345000 of 4 bytes: unmapped: touch"])


if __name__ == "__main__":
    main()
