#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Whether everything builds without a warning on every kernel line, and is in the kernel's style."""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

# pylint: disable=wrong-import-position
from lib import build, checkpatch, kernels, ktap, vfio_user
from lib.paths import TOP


# What is in them runs on this machine, or is shared with what does.
PROGRAM_DIRECTORIES = {vfio_user.SOURCES, TOP / "selftests/hostile"}


def shell_scripts():
    """By their first line: not all of them have a suffix."""
    return [path for path in repository_files() if path.is_file()
            and path.read_bytes()[:32].split(b"\n")[0] in (b"#!/bin/sh", b"#!/bin/bash", b"#!/usr/bin/env bash")]


def repository_files():
    listing = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                             cwd=TOP, stdout=subprocess.PIPE, text=True, check=True).stdout
    return [TOP / name for name in listing.split("\0") if name]


t = ktap.Suite("build")

for line in kernels.SUITES:
    with t.case(f"W=1 and sparse on {line}"):
        build.check(kernels.kernel(line))

with t.case("checkpatch --strict"):
    sources = [path for path in build.kernel_sources(TOP) if path.suffix in (".c", ".h")]
    programs = [path for path in sources if not PROGRAM_DIRECTORIES.isdisjoint(path.parents)]
    found = checkpatch.check(set(sources) - set(programs)) + checkpatch.check(programs, is_program=True)
    t.check(not found, "\n".join(found))

with t.case("shellcheck"):
    result = subprocess.run(["shellcheck", *shell_scripts()], stdout=subprocess.PIPE, text=True, check=False)
    t.check(result.returncode == 0, result.stdout)

t.finish()
