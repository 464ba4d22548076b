# SPDX-License-Identifier: GPL-2.0
"""Whether a device really ran on the path that a row of the table names."""

STATE = {"off": "stock", "direct": "attached", "platform": "attached", "swiotlb": "attached", "bounce": "attached"}
# The paths whose DMA operations are ours, and count.
OURS = ("direct", "bounce")


def objections(path, before, after, moved, bounced, must_bounce):
    """What speaks against it: texts, none when the path is proved.

    The snapshots enclose all transfers of this bind, of which at least `moved` bytes went through it.
    `bounced` is what the kernel bounced during the verified part of them, `must_bounce` the least it can be.
    """
    grown = growth(before, after)
    pooled = grown["bounced_to_device"] + grown["bounced_from_device"]
    return [text for wrong, text in (
        (after.path != path, f"the module says path {after.path}"),
        (after.state != STATE[path], f"the module says state {after.state}, not {STATE[path]}"),
        (path == "off" and after.accepted, "the stock driver took the platform feature"),
        (path != "off" and not after.accepted, "the driver did not take the platform feature"),
        (after.offered == "yes", "the device offers the platform feature itself"),
        (path in OURS and grown["map_bytes"] < moved,
         f"only {grown['map_bytes']} bytes were mapped by our ops, {moved} were moved"),
        (path not in OURS and any(grown.values()), "our ops were called"),
        (path == "bounce" and pooled < moved, f"only {pooled} bytes went through our pool, {moved} were moved"),
        (path != "bounce" and pooled, f"{pooled} bytes went through our pool"),
        (path == "swiotlb" and bounced.bytes < must_bounce,
         f"only {bounced.bytes} bytes were bounced, not {must_bounce}"),
        (path != "swiotlb" and bounced.hits, f"the kernel bounced {bounced.hits} times"),
        # a pool that is full now and then is slow, not wrong: the drivers try again, and the row says how often
        (path != "bounce" and grown["map_failures"], "mappings failed"),
    ) if wrong]


def evidence(path, before, after, bounced):
    """What proves it, in a few words."""
    grown = growth(before, after)
    pooled = (grown["bounced_to_device"] + grown["bounced_from_device"]) / 1e6
    return {
        "off": "stock driver, platform feature not taken, no map of ours, nothing bounced",
        "direct": f"{grown['maps']} maps of ours with {grown['map_bytes'] / 1e6:.0f} MB, nothing bounced",
        "platform": "platform feature taken though not offered, no map of ours, nothing bounced",
        "swiotlb": f"{bounced.hits} bounces with {bounced.bytes / 1e6:.1f} MB in the verified part",
        "bounce": f"{grown['maps']} maps of ours, {pooled:.0f} MB through our pool, nothing in the kernel's; "
                  f"{grown['map_failures']} maps found it full",
    }[path]


def growth(before, after):
    return {name: after.counters[name] - before.counters[name] for name in after.counters}
