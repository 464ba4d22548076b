# SPDX-License-Identifier: GPL-2.0
"""The kernels that guests boot: the stock Debian ones, by line, and our debug kernel."""

import os
import re
from pathlib import Path
from typing import NamedTuple

from . import debian, debug_kernel
from .failure import Failure

# Kernel line -> the Debian suite that has it as its stock kernel.
SUITES = {
    "5.10": "bullseye",
    "6.1": "bookworm",
    "6.12": "trixie",
    "newest": "trixie-backports",
}
DEFAULT_LINE = "6.12"
# The debug kernel is made from the source of the default line.
DEBUG_LINE = "debug"


class Kernel(NamedTuple):
    line: str           # as asked for: "6.12"
    suite: str
    release: str        # as uname -r says
    root: Path          # the suite's root directory
    vmlinuz: Path
    modules_dir: Path


def kernel(line):
    """The newest stock kernel of that line, or the debug kernel; made when there is none yet."""
    if line == DEBUG_LINE:
        return debug()
    if line not in SUITES:
        raise Failure(f"no kernel line '{line}': there are {', '.join([*SUITES, DEBUG_LINE])}")
    suite = SUITES[line]
    root = debian.root(suite)
    found = [(modules_dir, image) for modules_dir in (root / "lib/modules").iterdir()
             if not debug_kernel.made(modules_dir)
             for image in (modules_dir / "vmlinuz", root / "boot" / f"vmlinuz-{modules_dir.name}")
             if image.exists()]
    if not found:
        raise Failure(f"no kernel image in {root}: delete that directory and try again")
    modules_dir, image = max(found, key=lambda pair: version_key(pair[0].name))
    return Kernel(line, suite, modules_dir.name, root, image, modules_dir)


def debug():
    suite = SUITES[DEFAULT_LINE]
    modules_dir = debug_kernel.modules_dir(suite, f"linux-source-{DEFAULT_LINE}")
    return Kernel(DEBUG_LINE, suite, modules_dir.name, debian.root(suite), modules_dir / "vmlinuz", modules_dir)


def wanted():
    """The kernel of the line that KVER in the environment names."""
    return kernel(os.environ.get("KVER") or DEFAULT_LINE)


def version_key(release):
    return [int(number) for number in re.findall(r"\d+", release)]
