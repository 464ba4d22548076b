# SPDX-License-Identifier: GPL-2.0
"""What the host's kernel counts, exactly: histograms of trace events, and of kernel functions.

    with Histogram(host.vm, "kvm/kvm_mmio", ["type", "gpa.hex"]) as histogram:
        guest.run(...)
    histogram.counts[(READ, 0xfe603000)]

See Documentation/trace/histogram.rst and kprobetrace.rst. While an event is counted it costs: times are measured apart.
"""

import re

from lib.checks import expect

TRACING = "/sys/kernel/tracing"
# Entries; what does not fit is dropped, and told.
SIZE = 4096
ENTRY = re.compile(r"\{ (.*?) \} hitcount: +(\d+)")
DROPPED = re.compile(r"Dropped: (\d+)")


class Histogram:
    """Counts an event by the values of some of its fields. The keys of counts are those values, as numbers."""

    def __init__(self, vm, event, keys):
        self.vm = vm
        self.directory = f"{TRACING}/events/{event}"
        self.trigger = f"hist:keys={','.join(keys)}:size={SIZE}"
        self.base = [16 if key.endswith(".hex") else 10 for key in keys]
        self.counts = {}

    def __enter__(self):
        self.vm.run(f"echo '{self.trigger}' >{self.directory}/trigger")
        return self

    def __exit__(self, *exception):
        if self.vm.lost:
            return
        text = self.vm.run(f"cat {self.directory}/hist; echo '!{self.trigger}' >{self.directory}/trigger")
        expect("events that were not counted", DROPPED.findall(text), ["0"])
        self.counts = {self._key(fields): int(count) for fields, count in ENTRY.findall(text)}

    def _key(self, fields):
        values = (field.partition(":")[2].strip() for field in fields.split(","))
        return tuple(int(value, base) for value, base in zip(values, self.base))


class Probe(Histogram):
    """Counts the calls of a kernel function, by its arguments: {"pat": "+0x8(%di):x64"}, as kprobe events name them."""

    def __init__(self, vm, function, arguments=None, keys=()):
        self.function = function
        self.definition = " ".join(f"{name}={where}" for name, where in (arguments or {}).items())
        super().__init__(vm, f"kprobes/{function}", list(keys) or ["common_cpu"])

    def __enter__(self):
        self.vm.run(f"echo 'p:kprobes/{self.function} {self.function} {self.definition}' >>{TRACING}/kprobe_events")
        return super().__enter__()

    def __exit__(self, *exception):
        super().__exit__(*exception)
        if not self.vm.lost:
            self.vm.run(f"echo '-:kprobes/{self.function}' >>{TRACING}/kprobe_events")

    def calls(self):
        return sum(self.counts.values())
