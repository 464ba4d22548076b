# SPDX-License-Identifier: GPL-2.0
"""Where things are: the source tree, what a run leaves behind, what is kept between runs."""

import os
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
OUT = TOP / "out"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "guest-drivers"
