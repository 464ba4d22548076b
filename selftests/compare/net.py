# SPDX-License-Identifier: GPL-2.0
"""The network card: netperf to compare paths, and data sent both ways to see that no byte is lost."""

from typing import NamedTuple

import guest
from device import Device
from lib.failure import Failure
from netserver import DataExchange, HOST_FROM_GUEST

VERIFIED_BYTES = 1 << 20
SECONDS = {"tcg": 1, "kvm": 3}


class NetTest(NamedTuple):
    name: str           # netperf's name for it
    unit: str


TESTS = (NetTest("TCP_STREAM", "10^6 bit/s"), NetTest("TCP_MAERTS", "10^6 bit/s"), NetTest("TCP_RR", "1/s"))


class Net(Device):
    name = "net"

    def __init__(self, vm, port):
        super().__init__(vm, guest.NET_ADDRESS)
        self.port = port
        self.seconds = SECONDS[vm.accel]

    def bind(self, path):
        self._set_down()
        self.choose(path)
        self.set_up()

    def _set_down(self):
        self.vm.run(f"ip link set {self._interface()} down")

    def set_up(self):
        interface = self._interface()
        self.vm.run(f"""
            ip link set {interface} up
            ip addr flush dev {interface}
            ip addr add 10.0.2.15/24 dev {interface}
            i=0
            until ping -c 1 -W 1 {HOST_FROM_GUEST} >/dev/null; do i=$((i + 1)); [ $i -lt 30 ] || exit 1; done
        """)

    def _interface(self):
        return self.vm.run(f"ls {self.sysfs}/net").strip()

    def verify(self):
        """Random data both ways, compared; returns (bytes moved, bytes that a bounce pool must have seen)."""
        exchange = DataExchange(VERIFIED_BYTES, seed=self.port)
        sent, received = self.vm.run(
            f"dd if=/dev/urandom of=/tmp/data bs={VERIFIED_BYTES} count=1 2>/dev/null; "
            f"{self.exchange(exchange.port, VERIFIED_BYTES)}; sha256sum /tmp/data /tmp/received"
        ).split()[::2]
        if received != exchange.sent_sha256() or sent != exchange.received_sha256():
            raise Failure("data corrupted: what went over the network is not what arrived")
        # Buffers to receive into are mapped ahead, so only what is sent is sure to be mapped meanwhile.
        return VERIFIED_BYTES, VERIFIED_BYTES

    def exchange(self, port, size):
        """A script that sends /tmp/data, and receives /tmp/received, of that size; it may depend on what is between."""
        return f"nc {HOST_FROM_GUEST} {port} </tmp/data >/tmp/received"

    def command(self, test):
        return (f"netperf -P 0 -c -H {HOST_FROM_GUEST},4 -p {self.port} -t {test.name} -l {self.seconds} "
                "-- -k THROUGHPUT,LOCAL_CPU_UTIL,LOCAL_SD")

    def measure(self):
        """Returns ({test name: figure}, bytes surely moved)."""
        figures = {}
        for test in TESTS:
            output = self.vm.run(self.command(test), timeout=60)
            values = dict(line.split("=") for line in output.split() if "=" in line)
            figures[test.name] = {"value": float(values["THROUGHPUT"]),
                                  "cpu_percent": float(values["LOCAL_CPU_UTIL"]),
                                  "service_demand": float(values["LOCAL_SD"])}
        return figures, 0
