#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Have the calls of the paths become dearer? Counts instructions, and holds them against limits.py.

A limit is little more than what was counted last; a lower count is welcome, and the limit then to be lowered. The goals
of the table hold as well. A few figures hang on which pieces of memory the pool was given at boot: that is MARGIN.
"""

import sys
from pathlib import Path

sys.path[1:1] = [str(Path(__file__).resolve().parents[1] / part) for part in ("", "compare")]

# pylint: disable=wrong-import-position
import goals
import limits
import run
from lib import build, kernels, ktap
from lib.paths import OUT


MARGIN = 1.03


def main():
    suite = ktap.Suite("bench")
    kernel = kernels.kernel(limits.KERNEL_LINE)
    results = {}
    with suite.case("the guests run, and their kernels do not complain"):
        results = run.count_instructions(kernel, build.build(kernel), OUT / "test" / "once")
    if results:
        for configuration, guarded in limits.LIMITS.items():
            for what, limit in guarded.items():
                test_limit(suite, configuration, results[configuration].get(what), what, limit)
        for row in goals.rows(results):
            test_goal(suite, row)
    suite.finish()


def test_limit(suite, configuration, figure, what, limit):
    with suite.case(f"{configuration}: {what}"):
        suite.check(figure, "it was not measured")
        suite.check(not figure.failed, f"{figure.failed} of {figure.rounds} calls failed")
        suite.check(figure.each() <= limit * MARGIN, f"{figure.each():.1f} instructions for each call, {limit} at most")
        ktap.say(f"# {figure.each():.1f} of {limit}")


def test_goal(suite, row):
    """What is known to be missed, and is explained in the README, may be missed."""
    if row.goal == float("inf") or row.what in limits.MISSED:
        return
    with suite.case(f"goal: {row.what}"):
        suite.check(row.judged <= row.goal * MARGIN, f"{row.judged:.3f}, {row.goal:g} at most")


if __name__ == "__main__":
    main()
