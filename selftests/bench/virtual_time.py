# SPDX-License-Identifier: GPL-2.0
"""dd and netperf in a guest whose clock counts instructions: what the host is busy with does not show.

Two network cards on one wire, in one guest; the disk is asked for by dd. What counts is the time in which the guest
does something: a program of the least priority spins and counts while it waits, for a device, say, which is the
host's time. So the CPU never sleeps either, which would make the clock jump.
"""

import re
from pathlib import Path
from statistics import median

from lib import build, debian, image
from machine import Machine, NIC_ADDRESSES

PATHS = ("off", "swiotlb", "bounce")
ROUNDS = 3
DEADLINE = 900
PORT = 12865
# Block size -> how many.
DD = {"8M": 16, "4K": 2048}
NETPERF = {"TCP_STREAM": "10^6 bit", "TCP_RR": "transactions"}
UNITS = {**{f"dd {direction} {block}": "MB" for block in DD for direction in ("write", "read")}, **NETPERF}
# Of netperf, of a clock that others take a part of.
SECONDS = 1
DISK_MIB = max(count * {"8M": 8 << 20, "4K": 4 << 10}[block] for block, count in DD.items()) >> 20


def measure(kernel, modules, serial_log):
    """{test: {path: [figure of each round]}}"""
    figures = {test: {path: [] for path in PATHS} for test in UNITS}
    userland = debian.root(debian.USERLAND_SUITE)
    with image.image(DISK_MIB) as disk, \
            Machine(kernel, modules, disk, serial_log=serial_log,
                    files={"bin/netserver": userland / "usr/bin/netserver",
                           "bin/spin": build.program(kernel, Path(__file__).with_name("spin.c"))}) as machine:
        spinner = Spinner(machine.vm)
        for number in range(ROUNDS):
            for path in PATHS[number:] + PATHS[:number]:
                machine.put_on(path)
                for test, value in {**dd(spinner), **netperf(spinner)}.items():
                    figures[test][path].append(value)
    return figures


class Spinner:
    """Takes the time that nobody else wants, and so knows how much the others take."""

    FILE = "/run/spin"

    def __init__(self, vm):
        self.vm = vm
        self.vm.run(f"spin run {self.FILE} & sleep 1")
        # how many instructions there are in a round when nobody else wants the CPU
        (begin, first), (end, last) = self._readings("sleep 1")[0]
        self.round = (end - begin) / (last - first)

    def run(self, command):
        """Returns the instructions, in 10^9, that the command and the kernel took, and its output."""
        ((begin, first), (end, last)), output = self._readings(command)
        return (end - begin - (last - first) * self.round) / 1e9, output

    def _readings(self, command):
        before, *output, after = self.vm.run(f"spin read {self.FILE}; {command}; spin read {self.FILE}",
                                             timeout=DEADLINE).splitlines()
        return [tuple(map(int, text.split())) for text in (before, after)], "\n".join(output)


def dd(spinner):
    """10^6 bytes for each 10^9 instructions."""
    found = {}
    for block, count in DD.items():
        for direction, files in (("write", "if=/dev/zero of=/dev/vda oflag=direct"),
                                 ("read", "if=/dev/vda of=/dev/null iflag=direct")):
            busy, text = spinner.run(f"/bin/dd {files} bs={block} count={count} 2>&1 | grep copied")
            found[f"dd {direction} {block}"] = int(re.match(r"(\d+) bytes", text).group(1)) / busy / 1e6
    return found


def netperf(spinner):
    """What netperf counts, for each 10^9 instructions."""
    vm = spinner.vm
    near, far = (vm.run(f"ls /sys/bus/pci/devices/{address}/virtio*/net").strip() for address in NIC_ADDRESSES)
    vm.run(f"""
        unshare -n sh -c 'echo $$ >/run/far; exec sleep 100000' &
        while ! [ -s /run/far ]; do sleep 0.1; done
        ip link set {far} netns $(cat /run/far)
        in_far="nsenter -t $(cat /run/far) -n"
        $in_far ip addr add 10.9.0.2/24 dev {far}
        $in_far ip link set {far} up
        ip addr add 10.9.0.1/24 dev {near}
        ip link set {near} up
        $in_far netserver -D -4 -p {PORT} >/dev/null 2>&1 &
        i=0; until ping -c 1 -W 1 10.9.0.2 >/dev/null; do i=$((i + 1)); [ $i -lt 30 ] || exit 1; done""",
           timeout=DEADLINE)
    found = {}
    for test in NETPERF:
        busy, text = spinner.run(f"netperf -P 0 -H 10.9.0.2,4 -p {PORT} -t {test} -l {SECONDS} "
                                 "-- -k THROUGHPUT,ELAPSED_TIME")
        values = dict(line.split("=") for line in text.split() if "=" in line)
        found[test] = float(values["THROUGHPUT"]) * float(values["ELAPSED_TIME"]) / busy
    # a network card comes back when the last process in its namespace is gone
    vm.run(f"""
        killall netserver; kill $(cat /run/far); rm /run/far
        ip link set {near} down; ip addr flush dev {near}
        i=0; until [ -e /sys/class/net/{far} ] || [ $i -ge 50 ]; do i=$((i + 1)); sleep 0.1; done""", timeout=DEADLINE)
    return found


def ratio(figures, path, to):
    """The median, least and most of the ratios in each round."""
    ratios = [ours / theirs for ours, theirs in zip(figures[path], figures[to])]
    return median(ratios), min(ratios), max(ratios)


def table(throughput):
    lines = [f"{'for each 10^9 instructions':30}"
             + "".join(f"{path:>24}" for path in PATHS) + f"{'bounce to swiotlb':>22}"]
    for test, figures in throughput.items():
        cells = [f"{median(values):.0f} ({min(values):.0f}-{max(values):.0f})" for values in figures.values()]
        middle, least, most = ratio(figures, "bounce", "swiotlb")
        lines.append(f"{test + ', ' + UNITS[test]:30}" + "".join(f"{cell:>24}" for cell in cells)
                     + f"{f'x {middle:.2f} ({least:.2f}-{most:.2f})':>22}")
    return "\n".join([*lines, f"(median of {ROUNDS} rounds, least-most)"])
