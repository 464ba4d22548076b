# SPDX-License-Identifier: GPL-2.0
"""The kernel's own style checker, which is only in its source package."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from . import child, debian
from .failure import Failure
from .paths import CACHE, TOP
from .stage import stage

DIRECTORY = CACHE / "checkpatch"
FILES = ("checkpatch.pl", "spelling.txt", "const_structs.checkpatch")
DEADLINE = 900
# All of --strict but what is wrong here.
IGNORED = {
    "FILE_PATH_CHANGES": "there is no MAINTAINERS file",
    "CONST_STRUCT": "each device has a copy of its own of a table of operations",
    "MACRO_ARG_REUSE": "the arguments are names of members, not expressions",
    "MACRO_ARG_UNUSED": "a macro of compat.h has nothing to do on some kernels",
}
# And in programs that run beside a guest, on this machine.
IGNORED_IN_PROGRAMS = {
    "PREFER_KERNEL_TYPES": "C17 has uint32_t",
    "CAMELCASE": "PRIu64 and its like are C17's",
    "PREFER_DEFINED_ATTRIBUTE_MACRO": "__packed is the kernel's",
}
OPTIONS = ["--no-tree", "--strict", "--no-summary", "--terse", "--show-types"]


def check(sources, is_program=False):
    """What checkpatch has against these files, as lines."""
    checker = installed()
    ignored = ",".join([*IGNORED, *(IGNORED_IN_PROGRAMS if is_program else ())])
    result = subprocess.run(["perl", str(checker), *OPTIONS, f"--ignore={ignored}", "--file", *map(str, sources)], cwd=TOP,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return result.stdout.splitlines()


def installed():
    if not DIRECTORY.is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        with debian.locked(DIRECTORY.with_suffix(".lock"), "another run fetches checkpatch"):
            if not DIRECTORY.is_dir():
                fetch()
    return DIRECTORY / FILES[0]


def fetch():
    with stage("fetching checkpatch from the kernel's source package, once"), \
            tempfile.TemporaryDirectory(dir=CACHE) as home:
        package, scripts = Path(home) / "package", Path(home) / "scripts"
        scripts.mkdir()
        run(debian.mmdebstrap_command(debian.USERLAND_SUITE, package, "extract", ["linux-source"]))
        archive = next(package.glob("usr/src/linux-source-*.tar.xz"))
        run(["tar", "-xJf", str(archive), "-C", str(scripts), "--strip-components=2", "--occurrence=1", "--wildcards",
             *(f"*/scripts/{name}" for name in FILES)])
        shutil.move(scripts, DIRECTORY)


def run(argv):
    status, output = child.run(child.in_private_namespaces(argv), timeout=DEADLINE)
    if status:
        raise Failure(f"{argv[0]} failed: {debian.first_error(output)}")
