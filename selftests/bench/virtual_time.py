# SPDX-License-Identifier: GPL-2.0
"""dd and netperf in a guest whose clock counts instructions: what the host is busy with does not show.

Two network cards on one wire, in one guest; the disk is asked for by dd. Of dd the guest's own account of the
time that it was not idle is taken, as the wait for the device is the host's.
"""

import re
from statistics import median

from lib import debian, image
from machine import Machine, NIC_ADDRESSES

PATHS = ("off", "swiotlb", "bounce")
ROUNDS = 3
DEADLINE = 900
PORT = 12865
# Block size -> how many, so that the busy time is some hundred times what the guest can tell.
DD = {"8M": 32, "4K": 8192}
NETPERF = {"TCP_STREAM": "10^6 bit/s", "TCP_RR": "1/s"}
UNITS = {**{f"dd {direction} {block}": "MB/s" for block in DD for direction in ("write", "read")}, **NETPERF}
DISK_MIB = max(count * {"8M": 8 << 20, "4K": 4 << 10}[block] for block, count in DD.items()) >> 20


def measure(kernel, modules, serial_log):
    """{test: {path: [figure of each round]}}"""
    figures = {test: {path: [] for path in PATHS} for test in UNITS}
    userland = debian.root(debian.USERLAND_SUITE)
    with image.image(DISK_MIB) as disk, \
            Machine(kernel, modules, disk, serial_log=serial_log,
                    files={"bin/netserver": userland / "usr/bin/netserver"}) as machine:
        for number in range(ROUNDS):
            for path in PATHS[number:] + PATHS[:number]:
                machine.put_on(path)
                for test, value in {**dd(machine.vm), **netperf(machine.vm)}.items():
                    figures[test][path].append(value)
    return figures


def dd(vm):
    """Bytes for each second that the CPU was not idle, in 10^6."""
    found = {}
    for block, count in DD.items():
        for direction, files in (("write", "if=/dev/zero of=/dev/vda oflag=direct"),
                                 ("read", "if=/dev/vda of=/dev/null iflag=direct")):
            before, text, after = vm.run(f"""
                cat /proc/uptime
                /bin/dd {files} bs={block} count={count} 2>&1 | grep copied
                cat /proc/uptime""", timeout=DEADLINE).splitlines()
            size = int(re.match(r"(\d+) bytes", text).group(1))
            found[f"dd {direction} {block}"] = size / busy(before, after) / 1e6
    return found


def busy(before, after):
    """Seconds between two readings of /proc/uptime in which the one CPU was not idle."""
    (up, idle), (later, later_idle) = (map(float, text.split()) for text in (before, after))
    return (later - up) - (later_idle - idle)


def netperf(vm):
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
        text = vm.run(f"netperf -P 0 -H 10.9.0.2,4 -p {PORT} -t {test} -l 1 -- -k THROUGHPUT", timeout=DEADLINE)
        found[test] = float(re.search(r"THROUGHPUT=(\S+)", text).group(1))
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
    lines = [f"{'virtual time, ' + str(ROUNDS) + ' rounds: median (least-most)':40}"
             + "".join(f"{path:>24}" for path in PATHS) + f"{'bounce to swiotlb':>22}"]
    for test, figures in throughput.items():
        cells = [f"{median(values):.4g} ({min(values):.4g}-{max(values):.4g})" for values in figures.values()]
        middle, least, most = ratio(figures, "bounce", "swiotlb")
        lines.append(f"{test + ', ' + UNITS[test]:40}" + "".join(f"{cell:>24}" for cell in cells)
                     + f"{f'x {middle:.2f} ({least:.2f}-{most:.2f})':>22}")
    return "\n".join(lines)

