#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Whether the suites build without a warning on the debug kernel."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "selftests"))

# pylint: disable=wrong-import-position
from lib import build, kernels, ktap

t = ktap.Suite("build of the KUnit suites")
with t.case("W=1 and sparse on the debug kernel"):
    build.check(kernels.debug(), extra_make_args=["KUNIT=1"])
t.finish()
