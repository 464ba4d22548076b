# SPDX-License-Identifier: GPL-2.0
"""Debian root directories, each with a suite's stock kernel, its headers and its compiler.

They are made once with mmdebstrap and kept in the cache directory. To renew one, delete it.
"""

import contextlib
import fcntl
import shutil
import subprocess

from . import child
from .failure import Failure
from .paths import CACHE
from .stage import note, stage

# The suite that guests have their busybox and netperf from, whatever their kernel.
USERLAND_SUITE = "trixie"

BUILD_PACKAGES = ["make", "gcc", "libc6-dev", "sparse", "kmod"]
USERLAND_PACKAGES = ["busybox-static", "netperf"]
# For guests with device models (lib/vfio_user.py): a QEMU that speaks vfio-user, and what looks into a network card.
# All by suite name, since apt takes only so much from backports as it is told to.
MODELS_ROOT = "vfio-user"
MODELS_SUITE = "trixie-backports"
MODELS_PACKAGES = [f"{name}/{MODELS_SUITE}" for name in
                   ("qemu-system-x86", "qemu-system-common", "qemu-system-data", "seabios")] + ["ethtool"]
# For protected guests (selftests/protected): a network backend and a disk backend that speak vhost-user.
BACKENDS_ROOT = "backends"
BACKENDS_SUITE = "trixie"
BACKENDS_PACKAGES = ["passt", "qemu-utils"]
LIBRARIES = "usr/lib/x86_64-linux-gnu"
ROOT_SIZE = 2 << 30
ROOT_DEADLINE = 1800


def root(suite):
    """The root directory of a suite; made when there is none yet."""
    return kept_root(suite, suite, "apt", root_packages(suite), "kernel, headers and compiler")


def models_root():
    """The root directory with the QEMU for device models; its programs are only unpacked, and run from outside."""
    return kept_root(MODELS_ROOT, MODELS_SUITE, "extract", MODELS_PACKAGES, "QEMU for device models")


def backends_root():
    """The root directory with passt and qemu-storage-daemon, only unpacked, to be run from outside."""
    return kept_root(BACKENDS_ROOT, BACKENDS_SUITE, "extract", BACKENDS_PACKAGES, "vhost-user backends")


def unpacked_program(root_dir, name):
    """The command line that starts a program of a root with that root's libraries, but not in a chroot."""
    libraries = root_dir / LIBRARIES
    return [str(libraries / "ld-linux-x86-64.so.2"), "--library-path", str(libraries), str(root_dir / "usr/bin" / name)]


def kept_root(name, suite, variant, packages, contents):
    path = CACHE / "suites" / name
    if not path.is_dir():
        path.parent.mkdir(parents=True, exist_ok=True)
        with locked(path.with_name(name + ".lock"), f"another run makes the Debian {name} root"):
            if not path.is_dir():
                make_root(path, suite, variant, packages, contents)
    return path


@contextlib.contextmanager
def locked(path, why_wait):
    """Hold an exclusive lock; the kernel drops it should we die."""
    with open(path, "w", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            note(f"waiting: {why_wait}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def make_root(path, suite, variant, packages, contents):
    free = shutil.disk_usage(path.parent).free
    if free < ROOT_SIZE:
        raise Failure(f"no disk space: a Debian {suite} root needs {ROOT_SIZE >> 20} MiB, "
                      f"{path.parent} has {free >> 20} MiB free")
    partial = path.with_name(f".{path.name}.partial")
    if partial.exists():
        shutil.rmtree(partial)      # of a run that died; its mounts died with its namespace
    argv = mmdebstrap_command(suite, partial, variant, packages)
    try:
        with stage(f"making the Debian {suite} root with {contents}, once"):
            status, output = child.run(child.in_private_namespaces(argv), timeout=ROOT_DEADLINE)
            if status:
                raise Failure(f"mmdebstrap failed for {suite}: {first_error(output)}")
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    partial.rename(path)


def root_packages(suite):
    # Only by suite name does apt take a backport.
    release = f"/{suite}" if suite != base_suite(suite) else ""
    packages = BUILD_PACKAGES + [f"linux-image-amd64{release}", f"linux-headers-amd64{release}"]
    return packages + (USERLAND_PACKAGES if suite == USERLAND_SUITE else [])


def mmdebstrap_command(suite, target, variant, packages):
    base = base_suite(suite)
    main, security = mirrors()
    sources = [f"deb {main} {base} main", f"deb {security} {base}-security main"]
    if suite != base:
        sources.append(f"deb {main} {suite} main")
    # INITRD=No: the kernel package makes no initramfs, which takes long and which nobody would boot.
    return ["env", "INITRD=No", "mmdebstrap", "--mode=root", f"--variant={variant}",
            "--architectures=amd64", '--aptopt=APT::Install-Recommends "false"',
            "--include=" + ",".join(packages), base, str(target), *sources]


def base_suite(suite):
    return suite[:-len("-backports")] if suite.endswith("-backports") else suite


def mirrors():
    """The archive and the security archive that this machine's own apt uses."""
    listing = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(ORIGIN) $(LABEL) $(SITE)", "Created-By: Packages"],
        stdout=subprocess.PIPE, text=True, check=True).stdout
    sites = {}
    for entry in listing.splitlines():
        origin, label, site = entry.split()
        if origin == "Debian":
            sites.setdefault(label, site)
    try:
        return sites["Debian"], sites["Debian-Security"]
    except KeyError as missing:
        raise Failure(f"apt knows no {missing.args[0]} archive here: it must be in the machine's apt sources, "
                      "and `apt-get update` must have run") from None


def install(root_dir, packages):
    """Install packages in a root, where they are missing."""
    missing = [package for package in packages if not version(root_dir, package)]
    if not missing:
        return
    script = "apt-get -q update && apt-get -qy --no-install-recommends install \"$@\""
    argv = ["chroot", str(root_dir), "env", "DEBIAN_FRONTEND=noninteractive", "INITRD=No", "sh", "-ec", script, "sh"]
    with stage(f"installing {', '.join(missing)} in the Debian {root_dir.name} root"):
        status, output = child.run(child.in_private_namespaces(argv + missing), timeout=ROOT_DEADLINE)
        if status:
            raise Failure(f"apt failed in {root_dir}: {first_error(output)}")


def version(root_dir, package):
    """The version of a package that is installed in a root, or the empty string."""
    query = ["dpkg-query", f"--admindir={root_dir}/var/lib/dpkg", "--show",
             "--showformat=${db:Status-Status} ${Version}", package]
    status, _, found = subprocess.run(query, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                      check=False).stdout.partition(" ")
    return found if status == "installed" else ""


def first_error(output):
    lines = output.splitlines()
    errors = [line for line in lines if line.startswith("E: ")]
    return (errors or lines[-1:] or ["it said nothing"])[0]
