# SPDX-License-Identifier: GPL-2.0
"""Builds our modules for a stock Debian kernel, with that suite's own compiler."""

import filecmp
import os
import re
import shutil

from . import child, debian
from .failure import Failure
from .paths import OUT, TOP
from .stage import stage

BUILD_DEADLINE = 600
SOURCE_SUFFIXES = {".c", ".h", ".S", ".mk"}
# Kernel 7 wants a newer sparse than Debian has: it asks a script, which the header packages lack,
# uses a keyword that sparse has to be told, and has macros with constants that sparse takes for none.
SPARSE = ["C=2", "KBUILD_CHECKSRC=2", "CF=-D__typeof_unqual__=__typeof__"]
SPARSE_MISTAKE = "error: bad constant expression"
# Where the sources appear inside the suite's root.
MOUNT_POINT = "/mnt"


def build(kernel, source_tree=TOP, out_dir=OUT / "build", extra_make_args=(), sparse=False):
    """Build in out_dir/<release>/; returns {module name: path of its .ko}."""
    directory = out_dir / kernel.release
    directory.mkdir(parents=True, exist_ok=True)
    with debian.locked(out_dir / f"{kernel.release}.lock", f"another run builds for {kernel.release}"):
        copy_changed_sources(source_tree, directory)
        with stage(f"building the modules for {kernel.release}"):
            make(kernel, directory, ["W=1", *(SPARSE if sparse else []), *extra_make_args])
    return {path.stem: path for path in sorted(directory.rglob("*.ko"))}


def check(kernel, extra_make_args=()):
    """Build everything afresh under W=1 and sparse; any warning is a failure."""
    out_dir = OUT / "check"
    shutil.rmtree(out_dir / kernel.release, ignore_errors=True)
    build(kernel, out_dir=out_dir, extra_make_args=extra_make_args, sparse=True)
    log = out_dir / kernel.release / "build.log"
    found = warnings(log.read_text(encoding="utf-8"))
    if found:
        raise Failure("\n".join([f"{len(found)} warnings for {kernel.release}:", *found]))


def warnings(log):
    # "BTF": a kernel package carries no vmlinux, without which modules get no type information.
    return [line for line in log.splitlines() if re.search(r"\b(warning|error):", line, re.IGNORECASE)
            and "BTF" not in line and SPARSE_MISTAKE not in line]


def copy_changed_sources(source_tree, directory):
    """Copy what differs and drop what is gone, so that make rebuilds just what it has to."""
    wanted = {path.relative_to(source_tree) for path in kernel_sources(source_tree)}
    present = {path.relative_to(directory) for path in kernel_sources(directory)}
    for name in present - wanted:
        (directory / name).unlink()
    for name in wanted:
        source, copy = source_tree / name, directory / name
        if not same_content(source, copy):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)


def same_content(source, copy):
    return copy.exists() and filecmp.cmp(source, copy, shallow=False)


def kernel_sources(tree):
    for where, directories, files in os.walk(tree):
        directories[:] = [name for name in directories if name != "out" and not name.startswith(".")]
        for name in files:
            path = tree / where / name
            if name == "Kbuild" or path.suffix in SOURCE_SUFFIXES and not name.endswith(".mod.c"):
                yield path


ENTER_ROOT = """
root=$1 sources=$2 where=$3
shift 3
mount --bind "$sources" "$root$where"
mount -t proc proc "$root/proc"
exec chroot "$root" "$@"
"""


def make(kernel, directory, make_args):
    log = directory / "build.log"
    in_root = ["make", "-C", f"/lib/modules/{kernel.release}/build", f"M={MOUNT_POINT}",
               f"-j{os.cpu_count()}", *make_args, "modules"]
    status, output = run_in_root(kernel, directory, in_root)
    log.write_text(output, encoding="utf-8")
    if status:
        last_lines = output.splitlines()[-20:]
        raise Failure("\n".join([f"the build for {kernel.release} failed; last lines of {log}:", *last_lines]))


def program(kernel, source, out_dir=OUT / "programs"):
    """Build a C program for guests, with the headers beside it, linked statically; returns its path."""
    directory = out_dir / kernel.suite
    directory.mkdir(parents=True, exist_ok=True)
    result = directory / source.stem
    copies = {path: directory / path.name for path in [source, *source.parent.glob("*.h")]}
    argv = ["gcc", "-static", "-O2", "-Wall", "-Wextra", "-Werror",
            "-o", f"{MOUNT_POINT}/{result.name}", f"{MOUNT_POINT}/{source.name}"]
    with debian.locked(out_dir / f"{kernel.suite}.lock", f"another run builds for {kernel.suite}"):
        if not (result.exists() and all(map(same_content, copies.keys(), copies.values()))):
            result.unlink(missing_ok=True)
            for original, copy in copies.items():
                shutil.copyfile(original, copy)
            status, output = run_in_root(kernel, directory, argv)
            if status:
                raise Failure(f"{source.name} was not built for {kernel.suite}:\n{output}")
    return result


def run_in_root(kernel, directory, argv):
    """Run a command in the suite's root, where the directory is at MOUNT_POINT; returns (exit status, output)."""
    return child.run(in_root(kernel.root, directory, argv), timeout=BUILD_DEADLINE)


def in_root(root, directory, argv):
    """The command line that runs argv in a root, where the directory is at MOUNT_POINT."""
    enter = ["sh", "-ec", ENTER_ROOT, "sh", str(root), str(directory), MOUNT_POINT]
    return child.in_private_namespaces(enter + argv)
