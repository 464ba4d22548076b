# SPDX-License-Identifier: GPL-2.0
"""How often the guest's accesses were trapped, as its host counted."""

from typing import NamedTuple

from tracing import Histogram

EVENT, KEYS = "kvm/kvm_mmio", ["type", "gpa.hex"]
# Types of kvm:kvm_mmio; a read has another one when it begins.
READ = 1
PAGE = 4096


class Trapped(NamedTuple):
    """The trapped reads while something was done."""

    at: int             # at that very address
    elsewhere: int      # at other addresses of its page


class ReadCount:
    """Counts trapped reads of the page that a register is on.

        with ReadCount(host, function, place) as count: ...
        count.trapped
    """

    def __init__(self, host, function, place):
        self.address = function.guest_address(place)
        self.histogram = Histogram(host.vm, EVENT, KEYS)
        self.trapped = None

    def __enter__(self):
        self.histogram.__enter__()
        return self

    def __exit__(self, *exception):
        self.histogram.__exit__(*exception)
        on_page = {address: count for (kind, address), count in self.histogram.counts.items()
                   if kind == READ and address // PAGE == self.address // PAGE}
        at = on_page.pop(self.address, 0)
        self.trapped = Trapped(at, sum(on_page.values()))
