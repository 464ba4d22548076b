#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""`make run-iommu`: what an IOMMU and its modes cost a network card, and what DMA masks still decide.

The rows are those of a table of 2013, in which a coherent mask of 32 bit cost be2net a third of its throughput behind
an IOMMU that was to pass it through. Printed, and in out/run-iommu/.
"""

import json
import os
import sys
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

# pylint: disable=wrong-import-position
from lib import build, child, kernels
from lib.failure import Failure
from lib.vm import CommandFailed, GuestLost
import cards
import effects

ORIGINAL = "for comparison, be2net in 2013: translated 4.6 Gbit/s, passed through 6.9, VT-d off 6.9: ratio 1.49"


def main():
    child.exit_on_sigterm()
    kernel = kernels.wanted()
    modules = build.build(kernel)
    runs = int(os.environ.get("RUNS") or 3)
    cards.LOGS.mkdir(parents=True, exist_ok=True)
    results = {"kernel": kernel.release, "date": date.today().isoformat(), "runs": runs}
    lines = [f"Debian {kernel.release}, {results['date']}, {runs} runs"]
    for card in cards.CARDS:
        results[card] = cards.measure(card, kernel, modules, runs)
        lines += ["", *cards.table(card, results[card])]
        print("\n".join(lines[-len(results[card]) - 2:]), flush=True)
        save(results, lines)
    results["edu"] = effects.measure(kernel, modules)
    lines += [ORIGINAL, "", *effects.table(results["edu"])]
    save(results, lines)
    print("\n" + "\n".join(lines))


def save(results, lines):
    (cards.LOGS / "report.json").write_text(json.dumps(results, indent=1), encoding="utf-8")
    (cards.LOGS / "table.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except (Failure, GuestLost, CommandFailed, OSError) as failure:
        sys.exit(f"make run-iommu: {failure}")
    except KeyboardInterrupt:
        sys.exit("\nmake run-iommu: interrupted")
