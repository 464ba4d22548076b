# SPDX-License-Identifier: GPL-2.0
"""One page of an assigned function, seen from the guest and from the host."""

from typing import NamedTuple

from host_count import ReadCount, Trapped


class Observation(NamedTuple):
    """Reads and what became of them."""

    ns: float               # for a read of ours, while nothing is counted
    reads: int              # of ours, counted
    trapped: Trapped
    verdict: str            # of msix_pba
    module_reads: int       # for its verdict
    module_trapped: Trapped


def observe(host, function, place, reads):
    """Times and counts in turn, as counting costs."""
    ns = function.read(place, reads).ns / reads
    with ReadCount(host, function, place) as ours:
        function.read(place, reads)
    with ReadCount(host, function, place) as its:
        verdict, module_reads = function.measure(place)
    return Observation(ns, reads, ours.trapped, verdict, module_reads, its.trapped)
