# SPDX-License-Identifier: GPL-2.0
"""Writes initramfs archives: cpio in the "newc" format (Documentation/driver-api/early-userspace/buffer-format.rst)."""

import stat

TRAILER = "TRAILER!!!"


class Archive:
    def __init__(self):
        self.parts = []
        self.directories = set()

    def directory(self, path):
        """Add a directory and those above it, once."""
        if path and path not in self.directories:
            self._make_parent(path)
            self.directories.add(path)
            self._entry(path, stat.S_IFDIR | 0o755)

    def file(self, path, content, mode=0o644):
        self._make_parent(path)
        self._entry(path, stat.S_IFREG | mode, content)

    def symlink(self, path, target):
        self._make_parent(path)
        self._entry(path, stat.S_IFLNK | 0o777, target.encode())

    def bytes(self):
        self._entry(TRAILER, 0)
        return b"".join(self.parts)

    def _make_parent(self, path):
        self.directory(path.rpartition("/")[0])

    def _entry(self, path, mode, content=b""):
        name = path.encode() + b"\0"
        inode = len(self.parts) + 1
        fields = (inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name), 0)
        header = b"070701" + b"".join(b"%08x" % field for field in fields)
        self.parts.append(padded(header + name) + padded(content))


def padded(data):
    """Every header and every file starts at a multiple of four bytes."""
    return data + bytes(-len(data) % 4)
