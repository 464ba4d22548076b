# SPDX-License-Identifier: GPL-2.0
"""Two network cards of one guest that are wired to each other, the far one in a network namespace, and netperf."""

NEAR, FAR = "10.9.0.1", "10.9.0.2"
WANTED = {"throughput": "THROUGHPUT", "cpu": "LOCAL_CPU_UTIL", "demand": "LOCAL_SD", "seconds": "ELAPSED_TIME"}


def connect(vm, near, far):
    """Takes two interfaces; returns once they reach each other."""
    vm.run(f"""
        unshare -n sh -c 'echo $$ >/run/far; exec sleep 100000' >/dev/null 2>&1 &
        while ! [ -s /run/far ]; do sleep 0.1; done
        ip link set {far} netns $(cat /run/far)
        nsenter -t $(cat /run/far) -n sh -c 'ip addr add {FAR}/24 dev {far}; ip link set {far} up'
        ip addr add {NEAR}/24 dev {near}; ip link set {near} up
        i=0; until ping -c 1 -W 1 {FAR} >/dev/null; do i=$((i + 1)); [ $i -lt 60 ] || exit 1; done""", timeout=300)


def start_netserver(vm):
    vm.run("nsenter -t $(cat /run/far) -n netserver -4 >/dev/null", timeout=120)


def tcp_stream(vm, seconds):
    """{throughput: 10^6 bit/s, cpu: percent, demand: us/KB, seconds: of the guest's time}"""
    output = vm.run(f"netperf -P 0 -c -H {FAR},4 -t TCP_STREAM -l {seconds} -- -k {','.join(WANTED.values())}",
                    timeout=300)
    values = dict(line.split("=") for line in output.split() if "=" in line)
    return {name: float(values[word]) for name, word in WANTED.items()}
