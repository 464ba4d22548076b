# SPDX-License-Identifier: GPL-2.0
"""netperf between two stock cards, row by row, with and without be2net_mask in turn."""

import contextlib
from statistics import median

from lib import debian, vfio_user, vm
from lib.failure import Failure
from lib.paths import OUT
from lib.stage import stage
from edu import Function, stock_modules
from rows import ICOUNT, ROWS, TRANSLATED
import wire

MODULE = "/ko/be2net_mask.ko"
SECONDS = {"be2net": 2, "e1000e": 1}
MODES = ("without", "with")
LOGS = OUT / "run-iommu"


def measure(card, kernel, modules, runs):
    """{row: domain, passthrough, verdict, masks, and the figures by mode}"""
    return {row.name: CARDS[card](kernel, modules, row).measure(card, runs) for row in ROWS}


class Measurement:
    """One row with one kind of card: one guest, runs without and with the module in turn."""

    ids = ""

    def __init__(self, kernel, modules, row):
        self.kernel, self.modules, self.row = kernel, modules, row
        self.figures = {mode: [] for mode in MODES}

    def measure(self, card, runs):
        with self.models() as self.bench, stage(f"{card}, {self.row.name}"), self.boot() as self.vm:
            self.vm.run(f"modprobe {card}", timeout=300)
            self.functions = [Function(self.vm, address=address)
                              for address in self.vm.run(f"cd /sys/bus/pci/drivers/{card}; ls -d 0000:*").split()]
            facts = self.facts()
            wire.connect(self.vm, *(function.interface() for function in self.functions))
            wire.start_netserver(self.vm)
            for number in range(runs):
                for mode in MODES if number % 2 == 0 else MODES[::-1]:
                    self.figures[mode].append(self.run_once(mode, SECONDS[card]))
        return {**facts, "figures": self.figures}

    def facts(self):
        """Read back from the guest, by the module and without it."""
        function = self.functions[0]
        domain = function.domain_type() or "none"
        self.vm.run(f"insmod {MODULE} {self.ids}")
        facts = {"domain": domain, "passthrough": function.mask("passthrough"), "verdict": function.mask("verdict"),
                 "masks": function.masks()}
        self.vm.run("rmmod be2net_mask")
        if function.masks() != facts["masks"]:
            raise Failure("the module left other masks than it found")
        return facts

    def run_once(self, mode, seconds):
        if mode == "with":
            self.vm.run(f"insmod {MODULE} {self.ids}")
        before = self.messages()
        figure = wire.tcp_stream(self.vm, seconds)
        after = self.messages()
        if mode == "with":
            self.vm.run("rmmod be2net_mask")
        if before is not None:
            mib = figure["throughput"] * 1e6 * figure["seconds"] / 8 / (1 << 20)
            figure["messages"] = after - before
            figure["messages_per_mib"] = (after - before) / mib
        return figure

    def messages(self):
        """DMA map and unmap messages to both cards so far; None when nobody counts."""
        return None


class Be2net(Measurement):
    """As models over vfio-user, which have no virtual time, but count what is mapped for them."""

    def models(self):
        return vfio_user.Bench(["be2"] * 2)

    def boot(self):
        return self.bench.vm(self.kernel, iommu=bool(self.row.iommu), append=self.row.append,
                             kos=[self.modules["be2net_mask"]], files=vfio_user.guest_tools(),
                             serial_log=LOGS / "be2net.serial.log")

    def messages(self):
        return sum(counters["dma_maps"] + counters["dma_unmaps"]
                   for counters in (model.counters() for model in self.bench.models))


class E1000e(Measurement):
    """On QEMU's hub, in a guest whose clock counts instructions."""

    ids = "ids=8086:10d3"

    def models(self):
        return contextlib.nullcontext()

    def boot(self):
        devices = [argument for number in range(2) for argument in (
            "-netdev", f"hubport,id=net{number},hubid=0", "-device", f"e1000e,netdev=net{number},addr={number + 4}")]
        userland = debian.root(debian.USERLAND_SUITE)
        return vm.VM(self.kernel, [*self.row.iommu, *ICOUNT, *devices], f"nokaslr {self.row.append}", "1G", 1,
                     kos=[self.modules["be2net_mask"], *stock_modules(self.kernel, "e1000e")],
                     files={"bin/netserver": userland / "usr/bin/netserver"},
                     serial_log=LOGS / "e1000e.serial.log", boot_timeout=600)


CARDS = {"be2net": Be2net, "e1000e": E1000e}


def middle(figures, what):
    return median(figure[what] for figure in figures)


def table(card, rows):
    """As lines; the ratio is that of the medians, to the row that translates."""
    unit = "10^6 bit/s of virtual time" if card == "e1000e" else "10^6 bit/s"
    lines = [f"{card}: TCP_STREAM, {unit}, median (least-most); cpu in %, demand in us/KB; to translated",
             f"{'':13}{'domain':10}{'passthrough':18}{'without':22}{'with':22}{'cpu':>5}{'demand':>8}"
             f"{'ratio':>7}{'maps+unmaps a MiB':>19}"]
    translated = rows[TRANSLATED.name]["figures"]["without"]
    for name, row in rows.items():
        stock = row["figures"]["without"]
        cells = [f"{middle(figures, 'throughput'):.0f} ({min(figure['throughput'] for figure in figures):.0f}-"
                 f"{max(figure['throughput'] for figure in figures):.0f})" for figures in row["figures"].values()]
        messages = f"{middle(stock, 'messages_per_mib'):.1f}" if "messages" in stock[0] else "-"
        ratio = middle(stock, "throughput") / middle(translated, "throughput")
        lines.append(f"{name:13}{row['domain']:10}{row['passthrough']:18}" + "".join(f"{cell:22}" for cell in cells)
                     + f"{middle(stock, 'cpu'):5.0f}{middle(stock, 'demand'):8.2f}{ratio:7.2f}{messages:>19}")
    return lines
