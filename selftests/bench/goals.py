# SPDX-License-Identifier: GPL-2.0
"""What the figures are held against: each row of the table is one figure, its peer, and the goal."""

from typing import NamedTuple

SIZES_OF_OWN = (64, 1024, 4096)
NONE, ZERO, SWIOTLB = "bounce none", "bounce zero", "swiotlb"


class Row(NamedTuple):
    what: str
    ours: float         # instructions for each call, or percent
    peer: float         # of the peer, or None
    peer_is: str
    goal: float         # most that `judged` may be
    judged: float       # ours, or its ratio to the peer

    def met(self):
        return self.judged <= self.goal

    def ratio(self):
        return self.ours / self.peer if self.peer else None


def rows(results):
    """results: {configuration: {what: Figure}}, with "memory" the percentage."""
    return [*requests(results), *own_costs(results), *small_copies(results), *large_copies(results),
            *full_pools(results), *many_mappings(results), *more_cpus(results),
            Row("memory of our own, % of the pool", results["memory"], None, "", 0.5, results["memory"])]


def of(results, configuration, what):
    return results[configuration][what].each()


def by_ratio(what, ours, peer, peer_is, goal):
    return Row(what, ours, peer, peer_is, goal, ours / peer)


def by_count(what, ours, peer, peer_is, goal):
    return Row(what, ours, peer, peer_is, goal, ours)


def requests(results):
    """With no operations set (platform, where there is no IOMMU) and with those that count (direct), over off."""
    for what, text in (("block kind=disk_read size=4096", "4 KiB read of a disk, submit to end"),
                       ("block kind=disk_write size=4096", "4 KiB write of a disk, submit to end"),
                       ("request kind=disk_read size=4096", "the ring's part of a 4 KiB read"),
                       ("request kind=net_send size=1514", "the ring's part of a packet sent")):
        stock = of(results, "off", what)
        yield by_ratio(f"{text}: NULL ops", of(results, "platform", what), stock, "off", 1.02)
        yield by_ratio(f"{text}: ops that count", of(results, "direct", what), stock, "off", float("inf"))


def own_costs(results):
    """Without copy and fill. The kernel's pool always copies, so the copy is taken off."""
    for size in SIZES_OF_OWN:
        peer = of(results, SWIOTLB, f"calls way=to_device size={size}") - of(results, "cpu", f"copy size={size}")
        yield by_ratio(f"map+unmap alone, {size} B", of(results, NONE, f"calls way=uncopied size={size}"), peer,
                       "swiotlb less its copy", 0.25)
    # Its search and its joining of free slots are shorter where neighbours are in use.
    busy = "queue way={} live=800 size=4096"
    peer = of(results, SWIOTLB, busy.format("to_device")) - of(results, "cpu", "copy size=4096")
    yield by_ratio("map+unmap alone, 4096 B, 800 others live", of(results, NONE, busy.format("uncopied")), peer,
                   "swiotlb less its copy", float("inf"))


def small_copies(results):
    to_device, from_device = "calls way=to_device size=4096", "calls way=from_device size=4096"
    yield by_count("4 KiB to device", of(results, ZERO, to_device), of(results, SWIOTLB, to_device), "swiotlb", 2200)
    peer = of(results, SWIOTLB, from_device)
    yield by_count("4 KiB from device, none", of(results, NONE, from_device), peer, "swiotlb", 2200)
    yield by_count("4 KiB from device, zero", of(results, ZERO, from_device), peer, "swiotlb", 2900)
    yield by_count("4 KiB from device, preserve", of(results, "bounce preserve", from_device), peer, "swiotlb",
                   float("inf"))


def large_copies(results):
    for size in (65536, 262144):
        what = f"calls way=from_device size={size}"
        peer = of(results, SWIOTLB, what)
        for configuration, goal in ((NONE, 0.55), (ZERO, 0.72), ("bounce preserve", float("inf"))):
            yield by_ratio(f"{size >> 10} KiB from device, {configuration.split()[1]}",
                           of(results, configuration, what), peer, "swiotlb", goal)


def full_pools(results):
    """At 95 % full and fragmented, against the same at 10 %."""
    for size in (64, 4096, 16384):
        for way in ("uncopied", "to_device"):
            rest = f"way={way} live=16 size={size}"
            yield by_ratio(f"pool 95 % full, {size} B {way}", of(results, NONE, f"filled_95 {rest}"),
                           of(results, NONE, f"filled_10 {rest}"), "at 10 %", 2)


def many_mappings(results):
    """One that comes for one that goes; and all that come, then go."""
    for figure in ("queue", "burst"):
        for way in ("uncopied", "to_device"):
            rest = f"way={way} live={{}} size=4096"
            many, few = (of(results, NONE, f"{figure} {rest.format(live)}") for live in (800, 8))
            yield by_ratio(f"800 live mappings, 4 KiB {way}, {figure}", many, few, "with 8", 1.2)


def more_cpus(results):
    one = of(results, NONE, "calls way=uncopied size=4096")
    yield by_ratio("map+unmap alone, 4 KiB, 2 CPUs, one works",
                   of(results, "two CPUs", "calls way=uncopied size=4096"), one, "on 1 CPU", 1.0)
    yield by_ratio("map+unmap alone, 4 KiB, 2 CPUs, both work",
                   of(results, "two CPUs", "parallel way=uncopied cpus=2 size=4096"),
                   of(results, NONE, "parallel way=uncopied cpus=1 size=4096"), "on 1 CPU", 1.01)
