# SPDX-License-Identifier: GPL-2.0
"""The kernel that reports mistakes by itself: Debian's kernel source with kunit/kernel/debug.config.

It is built once in the root of the suite that has the source, with that suite's compiler, and installed there beside
the stock kernel. Its release tells source, fragment and compiler apart, so a change of any makes another kernel.
"""

import hashlib
import re
import shutil
import subprocess
import time

from . import build, child, debian
from .failure import Failure
from .paths import TOP
from .stage import note, stage

FRAGMENT = TOP / "kunit/kernel/debug.config"
MARK = "-debug-"
# Besides the source.
BUILD_PACKAGES = ["flex", "bison", "bc", "libelf-dev", "xz-utils"]
# Unpacked source and objects; deleted when the kernel is installed.
BUILD_SIZE = 4 << 30
BUILD_DEADLINE = 3600
PROGRESS_INTERVAL = 60

# Each runs in the root, in the build's directory, with the name of the source package and the release's suffix.
CONFIGURE = """
tar --strip-components=1 -xJf "/usr/src/$1.tar.xz"
make -s KCONFIG_ALLCONFIG=debug.config allnoconfig
"""
COMPILE = """
make -j"$(nproc)" LOCALVERSION="$2" bzImage modules
"""
# What the build of a module needs of a kernel's tree is what the kernel's own packaging script says. The image comes
# last, under its name only when it is whole: it is what tells that all is there.
INSTALL = """
release=$(make -s LOCALVERSION="$2" kernelrelease)
modules=/lib/modules/$release
make -s LOCALVERSION="$2" modules_install
rm -f "$modules/build"
srctree=. SRCARCH=x86 CC=gcc HOSTCC=gcc MAKE=make sh scripts/package/install-extmod-build "$modules/build"
cp .config "$modules/build/"
cp arch/x86/boot/bzImage "$modules/vmlinuz.partial"
mv "$modules/vmlinuz.partial" "$modules/vmlinuz"
"""


def made(directory):
    """Is that the module directory of a kernel made here?"""
    return MARK in directory.name


def modules_dir(suite, source_package):
    """The module directory of the debug kernel, with its image; it is built if there is none yet."""
    root = debian.root(suite)
    with debian.locked(root.with_name("debug-kernel.lock"), "another run builds the debug kernel"):
        debian.install(root, [source_package, *BUILD_PACKAGES])
        suffix = MARK + digest(root, source_package)
        if not installed(root, suffix):
            make(root, source_package, suffix)
        return installed(root, suffix)


def digest(root, source_package):
    what = hashlib.sha256(FRAGMENT.read_bytes())
    what.update((CONFIGURE + COMPILE + INSTALL).encode())
    for package in (source_package, "gcc"):
        what.update(debian.version(root, package).encode())
    return what.hexdigest()[:8]


def installed(root, suffix):
    return next((image.parent for image in root.glob(f"lib/modules/*{suffix}/vmlinuz")), None)


def make(root, source_package, suffix):
    directory = root.with_name("debug-kernel.build")
    shutil.rmtree(directory, ignore_errors=True)
    free = shutil.disk_usage(root).free
    if free < BUILD_SIZE:
        raise Failure(f"no disk space: the debug kernel's build needs {BUILD_SIZE >> 20} MiB, "
                      f"{root.parent} has {free >> 20} MiB free")
    directory.mkdir()
    try:
        with stage("unpacking and configuring the debug kernel, once"):
            shutil.copyfile(FRAGMENT, directory / FRAGMENT.name)
            run(root, directory, CONFIGURE, source_package, suffix)
            check_config(directory / ".config")
        run(root, directory, COMPILE, source_package, suffix)
        with stage("installing the debug kernel"):
            run(root, directory, INSTALL, source_package, suffix)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    for other in (root / "lib/modules").iterdir():
        if made(other) and not other.name.endswith(suffix):
            shutil.rmtree(other)


def check_config(config):
    """kconfig drops without a word what cannot be had; a kernel without KASAN would have nothing to say of any bug."""
    present = set(config.read_text(encoding="ascii").splitlines())
    missing = [line for line in re.findall(r"^CONFIG_.*$", FRAGMENT.read_text(encoding="ascii"), re.MULTILINE)
               if line not in present]
    if missing:
        raise Failure("\n".join([f"the debug kernel would lack what {FRAGMENT.relative_to(TOP)} asks for:", *missing]))


def run(root, directory, script, *arguments):
    """Run one of the scripts above; says now and then how far it is."""
    log = directory / "build.log"
    argv = build.in_root(root, directory, ["sh", "-ec", f"cd {build.MOUNT_POINT}\n{script}", "sh", *arguments])
    start = time.monotonic()
    with open(log, "w", encoding="utf-8") as output:
        process = child.spawn(argv, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
    try:
        while running(process):
            elapsed = time.monotonic() - start
            if elapsed > BUILD_DEADLINE:
                raise Failure(f"the debug kernel was not built within {BUILD_DEADLINE} s")
            note(f"building the debug kernel, once: {compiled(log)} files compiled in {elapsed:.0f} s")
    finally:
        child.stop(process)
    if process.returncode:
        last_lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-20:]
        raise Failure("\n".join(["the debug kernel was not built; the last words:", *last_lines]))


def running(process):
    try:
        process.wait(PROGRESS_INTERVAL)
        return False
    except subprocess.TimeoutExpired:
        return True


def compiled(log):
    return len(re.findall(r"^ +CC ", log.read_text(encoding="utf-8", errors="replace"), re.MULTILINE))
