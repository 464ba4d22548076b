# SPDX-License-Identifier: GPL-2.0
"""Two network cards that are wired to each other, and what goes between them."""

import re

from lib.checks import expect, wait_until

# What both ends of a link must have.
PROGRAMS = ("tcp_data", "udp_data")
TCP_PORT = 5001
UDP_PORT = 5002
# As ethtool says it: "     rx_crc_errors: 0", "rxq0: rx_bytes: 42".
STATISTIC = re.compile(r"\s*(.+): (\d+)$")


class Nic:
    """One card: its model on the host, its interface in the guest."""

    def __init__(self, vm, model, interface, address, enter=""):
        self.vm, self.model, self.interface, self.address = vm, model, interface, address
        _, network, _, host = address.split(".")
        self.address6 = f"fd00:{network}::{host}"
        self.enter = enter      # what a command has to begin with, to run in the card's namespace
        self.directory = f"/tmp/{interface}"
        vm.run(f"mkdir -p {self.directory}")

    def run(self, script, timeout=60):
        """The output of a shell script that must succeed in the card's namespace."""
        return self.vm.run(self._entered(script), timeout)

    def try_run(self, script, timeout=60):
        return self.vm.try_run(self._entered(script), timeout)

    def _entered(self, script):
        return f"{self.enter} sh -s <<'END_OF_SCRIPT'\n{script}\nEND_OF_SCRIPT\n"

    def up(self):
        """The kernel takes IPv6 addresses away when an interface goes down, and gives only some back."""
        # Not flush: without any address the kernel gives IPv6 up on the interface.
        name = self.interface
        self.run(f"ip link set {name} up" + "".join(f"""
            ip addr show dev {name} | grep -q ' {address}' || ip addr add {address} dev {name}"""
            for address in (f"{self.address}/24", f"{self.address6}/64")))

    def down(self):
        self.run(f"ip link set {self.interface} down")

    def attribute(self, name):
        return self.run(f"cat /sys/class/net/{self.interface}/{name}").strip()

    def has_carrier(self):
        return self.attribute("carrier") == "1"

    def statistics(self):
        """What ethtool says, by name; a queue's are "rxq0: rx_bytes"."""
        lines = map(STATISTIC.match, self.run(f"ethtool -S {self.interface}").splitlines())
        return {match.group(1): int(match.group(2)) for match in lines if match}

    def ping(self, address, size=56, count=3):
        self.run(f"ping -c {count} -i 0.1 -W 20 -s {size} {address}", timeout=90)


class Link:
    """Two ends, each with addresses, a directory for files, and a way to run scripts there."""

    def __init__(self, first, second):
        self.first, self.second = first, second

    def ping(self, **arguments):
        self.first.ping(self.second.address, **arguments)

    def check_tcp(self, size=1 << 20, address=None):
        """As much data both ways at a time, compared. Not by nc: it ends when the other direction does."""
        said = f"{self.second.directory}/tcp"
        self.second.run(f"tcp_data serve {TCP_PORT} {size} >{said} 2>&1 & "
                        f"until netstat -ltn | grep -q :{TCP_PORT}; do sleep 0.1; done")
        status, mine = self.first.try_run(f"tcp_data connect {address or self.second.address} {TCP_PORT} {size} 2>&1",
                                          timeout=120)
        expect("exit status, and what the two ends say", (status, mine, self.second.run(f"cat {said}")), (0, "", ""))

    def check_udp(self, count=40, largest=8000, address=None):
        """Datagrams of all sizes, compared; the larger ones are fragmented."""
        said = f"{self.second.directory}/udp"
        self.second.run(f"udp_data receive {UDP_PORT} {count} >{said} 2>&1 & "
                        f"until netstat -lun | grep -q :{UDP_PORT}; do sleep 0.1; done")
        self.first.run(f"udp_data send {address or self.second.address} {UDP_PORT} {count} {largest}")
        self.second.run(f"cat {said}; [ ! -s {said} ]")

    def start_netserver(self):
        self.second.run("netstat -ltn | grep -q :12865 || netserver >/dev/null")

    def netperf(self, test, seconds=1, options=""):
        """netperf's figure: 10^6 bit/s, or transactions per second."""
        output = self.first.run(f"netperf -P 0 -H {self.second.address},4 -t {test} -l {seconds} "
                                f"-- -k THROUGHPUT {options}", timeout=90)
        return float(dict(line.split("=") for line in output.split() if "=" in line)["THROUGHPUT"])


class Pair(Link):
    """Both of one guest: first is in the guest's own namespace, second in another one."""

    def __init__(self, vm, models, number, interfaces):
        self.vm = vm
        self.net = f"10.{number}.0"
        # Without the host's sysfs the new namespace would see the interfaces of the old one there.
        process = vm.run("""
            unshare -n -m sh -c 'mount -t sysfs sysfs /sys; ip link set lo up; exec sleep 100000' >/dev/null 2>&1 &
            echo $!""").strip()
        super().__init__(Nic(vm, models[0], interfaces[0], f"{self.net}.1"),
                         Nic(vm, models[1], interfaces[1], f"{self.net}.2", f"nsenter -t {process} -n -m"))
        wait_until("the namespace is there", lambda: self.second.try_run("ip link show lo | grep -q UP")[0] == 0)
        vm.run(f"ip link set {interfaces[1]} netns {process}")

    def nics(self):
        return (self.first, self.second)

    def up(self):
        for nic in self.nics():
            nic.up()
        for nic in self.nics():
            wait_until(f"{nic.interface} has a carrier", nic.has_carrier)

    def check_data(self):
        """By IPv4 and IPv6, TCP and UDP. Who just came up has no IPv6 address yet."""
        wait_until("the IPv6 address can be used", lambda: self.first.try_run(
            f"ping -6 -c 1 -W 1 {self.second.address6}")[0] == 0)
        for address in (self.second.address, self.second.address6):
            self.check_tcp(address=address)
            self.check_udp(address=address)

    def load_until_busy(self, frames=500):
        """Traffic both ways until stop_load(); returns once so many frames have gone."""
        stop = f"/run/stop-{self.net}"
        self.first.run(f"""
            for size in 64 1400; do
                (while [ ! -e {stop} ]; do ping -c 200 -i 0.01 -W 1 -s $size {self.second.address} || sleep 0.1; done
                ) >/dev/null 2>&1 &
            done
            (while [ ! -e {stop} ]; do
                timeout 30 netperf -H {self.second.address},4 -t TCP_STREAM -l 20 || sleep 0.1; done) >/dev/null 2>&1 &
            """)
        begin = self.first.model.counters()["tx_frames"]
        wait_until("there is load", lambda: self.first.model.counters()["tx_frames"] >= begin + frames)

    def stop_load(self):
        self.vm.run(f"touch /run/stop-{self.net}; killall ping netperf; sleep 1; rm /run/stop-{self.net}; true")
