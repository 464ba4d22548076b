#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""`make run-nics`: network cards that nobody has to own, as models of ours, under the stock drivers of a stock kernel.

Two cards of each kind are wired to each other in one guest. What is printed is what the kernel and netperf say.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

# pylint: disable=wrong-import-position
from lib import child, kernels, vfio_user
from lib.failure import Failure
from lib.paths import OUT
from lib.stage import stage
from lib.vm import CommandFailed, GuestLost
from pair import Pair

# Model -> the driver's module.
CARDS = {"be2": "be2net", "connectx3": "mlx4_en"}
TESTS = (("TCP_STREAM", "10^6 bit/s"), ("TCP_RR", "1/s"), ("UDP_STREAM", "10^6 bit/s"))


def main():
    child.exit_on_sigterm()
    kernel = kernels.wanted()
    for model, module in CARDS.items():
        show(kernel, model, module)


def show(kernel, model, module):
    with vfio_user.Bench([model] * 2, [("--mac", f"02:00:00:00:00:{number}{number}") for number in (1, 2)]) as bench:
        with stage(f"booting {kernel.release} with two {model}"):
            vm = bench.vm(kernel, files=vfio_user.guest_tools(),
                          name=f"run-{model}", serial_log=OUT / "run" / f"{model}.serial.log")
        with vm:
            vm.run(f"modprobe {module}", timeout=120)
            interfaces = vm.run("cd /sys/class/net && ls -d eth*").split()
            print_lines(vm.run(f"dmesg | grep '{module} 0000:01:'"))
            pair = Pair(vm, bench.models, 1, interfaces)
            pair.up()
            print_lines(vm.run(f"ip addr show dev {interfaces[0]}; ethtool -i {interfaces[0]} | head -n 5"))
            pair.ping()
            pair.start_netserver()
            for test, unit in TESTS:
                figure = pair.netperf(test, seconds=2, options="-m 1400" if "UDP" in test else "")
                print(f"    netperf {test:11} {figure:8.1f} {unit}")
            print_counters(bench)


def print_counters(bench):
    for number, card in enumerate(bench.models):
        counters = card.counters()
        print(f"    card {number}: " + ", ".join(f"{name} {counters[name]}" for name in (
            "tx_packets", "tx_frames", "tx_tso", "rx_delivered", "interrupts", "violations")))


def print_lines(text):
    for line in text.splitlines():
        print("    " + re.sub(r"^\[ *[0-9.]+\] ", "", line))


if __name__ == "__main__":
    try:
        main()
    except (Failure, GuestLost, CommandFailed, OSError) as failure:
        sys.exit(f"make run-nics: {failure}")
    except KeyboardInterrupt:
        sys.exit("\nmake run-nics: interrupted")
