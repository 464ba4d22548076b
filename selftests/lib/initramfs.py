# SPDX-License-Identifier: GPL-2.0
"""What a guest boots into: busybox, netperf, the kernel's modules for virtio and NICs, and what a test adds."""

import hashlib
import lzma
import os
import re
import subprocess
from pathlib import Path

from . import cpio, debian
from .paths import CACHE

GUEST_SCRIPTS = Path(__file__).resolve().parent / "guest"

# With what they depend on; a kernel may have some built in, and may lack others.
MODULES = """
    virtio_pci virtio_mmio
    virtio_blk virtio_scsi sd_mod sg virtio_net virtio_balloon virtio_rng virtio_console
    9p 9pnet_virtio virtiofs virtio_gpu virtio_input virtio_crypto virtio_snd
    vsock vmw_vsock_virtio_transport virtio_mem virtio_pmem nd_pmem virtio_iommu
    ext4 md_mod crc32c_generic evdev
    be2net mlx4_core mlx4_en 8021q
""".split()

# Path in the guest -> path in the userland suite's root.
# busybox's shell prefers its own applets: the real dd, which tells the time it took, must be called /bin/dd.
PROGRAMS = {
    "bin/busybox": "usr/bin/busybox",
    "bin/dd": "usr/bin/dd",
    "bin/netperf": "usr/bin/netperf",
    "lib/x86_64-linux-gnu/libc.so.6": "usr/lib/x86_64-linux-gnu/libc.so.6",
    "lib/x86_64-linux-gnu/libm.so.6": "usr/lib/x86_64-linux-gnu/libm.so.6",
    "lib64/ld-linux-x86-64.so.2": "usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2",
}


def image(kernel, kos=(), files=None, stock_modules=()):
    """The whole initramfs: the kernel's base, then more of its modules, our modules and the test's files."""
    overlay = cpio.Archive()
    modules = StockModules(kernel, stock_modules)
    if stock_modules:
        modules.add_to(overlay, but=StockModules(kernel).chosen)
    dependencies = modules.dependencies()
    for ko in map(Path, kos):
        content = ko.read_bytes()
        overlay.file(f"{modules.guest_dir}/extra/{ko.name}", content)
        dependencies[f"extra/{ko.name}"] = needed_by(content)
    overlay.file(f"{modules.guest_dir}/modules.dep", dep_file(dependencies))
    for guest_path, host_path in (files or {}).items():
        mode = 0o755 if os.access(host_path, os.X_OK) else 0o644
        overlay.file(guest_path.lstrip("/"), Path(host_path).read_bytes(), mode)
    return base(kernel) + overlay.bytes()


def base(kernel):
    """The part that depends only on the kernel; kept in the cache."""
    userland = debian.root(debian.USERLAND_SUITE)
    path = CACHE / "initramfs" / f"{kernel.release}-{base_key(kernel, userland)}.cpio"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        partial = path.with_name(f"{path.name}.{os.getpid()}")
        partial.write_bytes(make_base(kernel, userland))
        partial.rename(path)
        for older in set(path.parent.glob(f"{kernel.release}-*.cpio")) - {path}:
            older.unlink(missing_ok=True)
    return path.read_bytes()


def base_key(kernel, userland):
    """Names the base's content: what we put in, and when the roots were made that it is taken from."""
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).resolve().parent.glob("guest/*")) + [Path(__file__), Path(cpio.__file__)]:
        digest.update(source.read_bytes())
    for root in (kernel.root, userland):
        digest.update(str(root.stat().st_mtime_ns).encode())
    return digest.hexdigest()[:12]


def make_base(kernel, userland):
    archive = cpio.Archive()
    for script in sorted(GUEST_SCRIPTS.iterdir()):
        archive.file(script.name, script.read_bytes(), 0o755)
    for guest_path, path in PROGRAMS.items():
        archive.file(guest_path, (userland / path).read_bytes(), 0o755)
    for applet in busybox_applets(userland):
        if f"bin/{applet}" not in PROGRAMS:
            archive.symlink(f"bin/{applet}", "busybox")
    for alias in ("sbin", "usr/bin", "usr/sbin"):
        archive.symlink(alias, "/bin")
    StockModules(kernel).add_to(archive)
    return archive.bytes()


def busybox_applets(userland):
    return subprocess.run([userland / PROGRAMS["bin/busybox"], "--list"],
                          stdout=subprocess.PIPE, text=True, check=True).stdout.split()


class StockModules:
    """Those of MODULES and of what else is named that the kernel has as modules, and what they need."""

    def __init__(self, kernel, more=()):
        self.source_dir = kernel.modules_dir
        self.guest_dir = f"lib/modules/{kernel.release}"
        self.all = self._parse_modules_dep()
        by_name = {module_name(path): path for path in self.all}
        self.chosen = set()
        for name in [*MODULES, *more]:
            if name in by_name:
                self.chosen |= {by_name[name], *self.all[by_name[name]]}

    def _parse_modules_dep(self):
        """Module path -> the paths of all modules that it needs, the nearest first."""
        text = (self.source_dir / "modules.dep").read_text(encoding="ascii")
        return {path: needs.split() for path, needs in (line.split(":") for line in text.splitlines())}

    def dependencies(self):
        return {unpacked_name(path): [unpacked_name(need) for need in self.all[path]] for path in sorted(self.chosen)}

    def add_to(self, archive, but=frozenset()):
        for path in sorted(self.chosen - but):
            content = (self.source_dir / path).read_bytes()
            if path.endswith(".xz"):
                content = lzma.decompress(content)
            archive.file(f"{self.guest_dir}/{unpacked_name(path)}", content)
        archive.file(f"{self.guest_dir}/modules.alias", self._aliases().encode())
        archive.file(f"{self.guest_dir}/modules.builtin", (self.source_dir / "modules.builtin").read_bytes())
        archive.symlink("ko", f"/{self.guest_dir}/extra")

    def _aliases(self):
        names = {module_name(path) for path in self.chosen}
        text = (self.source_dir / "modules.alias").read_text(encoding="ascii")
        return "".join(line + "\n" for line in text.splitlines() if line.split()[-1] in names)


def module_name(path):
    return Path(path).name.partition(".")[0].replace("-", "_")


def unpacked_name(path):
    return path[:-len(".xz")] if path.endswith(".xz") else path


def needed_by(ko):
    """The names of the modules that a .ko says it needs, in its .modinfo section."""
    found = re.search(rb"\0depends=([^\0]*)\0", ko)
    return found.group(1).decode().split(",") if found and found.group(1) else []


def dep_file(dependencies):
    """modules.dep as busybox wants it: each module with all that it needs, to be loaded from the last to the first.

    Stock modules name what they need by path, ours by module name.
    """
    by_name = {module_name(path): path for path in dependencies}

    def all_needs(path):
        needs = []
        for need in dependencies[path]:
            need = by_name.get(need, need)
            if need in dependencies:        # or else it is built in
                needs += [need, *all_needs(need)]
        # What several need has to stand after all of them.
        return list(dict.fromkeys(reversed(needs)))[::-1]

    return "".join(f"{path}: {' '.join(all_needs(path))}\n" for path in dependencies).encode()
