#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Whether a row that did not run on its path is found out, and what the table makes of the figures."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

# pylint: disable=wrong-import-position
import disk
import proof
import report
from device import COUNTERS, Bounced, Snapshot
from lib import ktap

MOVED = 1000
QUIET = dict.fromkeys(COUNTERS, 5)
MAPPED = {**QUIET, "maps": 6, "map_bytes": 5 + MOVED}
POOLED = {**MAPPED, "bounced_to_device": 5 + MOVED // 2, "bounced_from_device": 5 + MOVED // 2}
BOUNCED = Bounced(hits=2, bytes=MOVED)
NOTHING = Bounced()

t = ktap.Suite("proof")


def objections(path, after, bounced):
    return proof.objections(path, after._replace(counters=QUIET), after, MOVED, bounced, MOVED)


GOOD = {
    "off": (Snapshot("off", "stock", "no", False, QUIET), NOTHING),
    "direct": (Snapshot("direct", "attached", "no", True, MAPPED), NOTHING),
    "platform": (Snapshot("platform", "attached", "no", True, QUIET), NOTHING),
    "swiotlb": (Snapshot("swiotlb", "attached", "no", True, QUIET), BOUNCED),
    "bounce": (Snapshot("bounce", "attached", "no", True, POOLED), NOTHING),
}

for path, (after, bounced) in GOOD.items():
    with t.case(f"{path}: accepted when all is right"):
        t.check(not objections(path, after, bounced), f"objections: {objections(path, after, bounced)}")

    with t.case(f"{path}: the row of any other path is refused"):
        for other in GOOD.keys() - {path}:
            t.check(objections(other, after, bounced), f"{path} passes for {other}")

    with t.case(f"{path}: a claim alone is refused"):
        for other, (others_after, others_bounced) in GOOD.items():
            claim = others_after._replace(path=path, state=after.state)
            if other != path and (claim, others_bounced) != (after, bounced):
                t.check(objections(path, claim, others_bounced), f"{other} that claims to be {path} passes")

    with t.case(f"{path}: failed mappings are {'told' if path == 'bounce' else 'refused'}"):
        failed = after._replace(counters={**after.counters, "map_failures": 6})
        if path == "bounce":
            told = proof.evidence(path, failed._replace(counters=QUIET), failed, bounced)
            t.check("1 maps found it full" in told, f"it says {told}")
        else:
            t.check(objections(path, failed, bounced), "no objection")

with t.case("direct: too few bytes mapped are refused"):
    few = GOOD["direct"][0]._replace(counters={**MAPPED, "map_bytes": 4 + MOVED})
    t.check(objections("direct", few, NOTHING), "no objection")

with t.case("bounce: too few bytes through the pool are refused"):
    few = GOOD["bounce"][0]._replace(counters={**POOLED, "bounced_to_device": 4 + MOVED // 2})
    t.check(objections("bounce", few, NOTHING), "no objection")

with t.case("swiotlb: too few bytes bounced are refused"):
    t.check(objections("swiotlb", GOOD["swiotlb"][0], Bounced(2, MOVED - 1)), "no objection")

with t.case("the ratio is that of each round to its own off"):
    test = disk.TESTS[0].name
    rounds = [{"off": {test: {"value": off}}, "direct": {test: {"value": direct}}}
              for off, direct in ((100, 50), (10, 5), (40, 20))]
    result = report.summary(disk.TESTS, ("off", "direct"), rounds)["direct"][test]
    t.check((result["ratio"], result["median"], result["min"], result["max"]) == (0.5, 20, 5, 50), f"got {result}")

t.finish()
