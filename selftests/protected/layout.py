# SPDX-License-Identifier: GPL-2.0
"""How the memory of a protected guest is laid out: what no other process can have, and what backends are sent.

Private memory is anonymous memory of QEMU: there is no file descriptor of it that could be handed to anybody. Shared
memory is a memfd. QEMU sends a vhost-user backend the descriptors of all memory that has one.
"""

from typing import NamedTuple

MIB = 1 << 20
GIB = 1 << 30
CPUS = 2
# Many kernels do not clear pages that are to be overwritten anyway; Debian's do, which would hide what a path does.
COMMON_APPEND = "init_on_alloc=0"


class Layout(NamedTuple):
    name: str
    what: str               # for people
    machine: str
    private: int            # bytes
    shared: int             # bytes
    shared_start: int       # its guest-physical address
    private_start: int      # the lowest address of memory of programs that is surely private
    append: str             # for the kernel's command line
    devices_at_boot: bool

    def command_line(self):
        return f"{COMMON_APPEND} {self.append}"

    def mem(self):
        return f"{(self.private + self.shared) // MIB}M"

    def address(self, offset):
        """The guest-physical address of an offset in the shared memory."""
        return self.shared_start + offset

    def holds(self, first, last):
        """Are all addresses from the first to the last shared?"""
        return self.shared_start <= first <= last < self.shared_start + self.shared

    def pool(self):
        """The parameters that give virtio_dma the shared memory for its pool."""
        return {"pool_phys": f"{self.shared_start:#x}", "pool_size": self.shared}

    def devices(self):
        """QEMU's arguments, in the order of the addresses. The CPUs are where the private memory is."""
        nodes = [self._shared_node(), self._private_node()]
        return sum(nodes if self.shared_start == 0 else reversed(nodes), [])

    def _private_node(self):
        return ["-object", f"memory-backend-ram,id=private,size={self.private}",
                "-numa", f"node,memdev=private,cpus=0-{CPUS - 1}"]

    def _shared_node(self):
        return ["-object", f"memory-backend-memfd,id=shared,size={self.shared},share=on", "-numa", "node,memdev=shared"]


# The firmware cannot use a device whose rings it puts into private memory: they are plugged in when the kernel runs.
WINDOW = Layout(
    name="window", what="a window of 256 MiB is shared", machine="pc", private=768 * MIB, shared=256 * MIB,
    shared_start=768 * MIB, private_start=0, append=f"memmap={256 * MIB:#x}${768 * MIB:#x}", devices_at_boot=False)

# The kernel's SWIOTLB is always below 4 GiB, where it can share neither more nor less than all there is.
# iommu=soft: a guest of this size would do without it otherwise.
HALVES = Layout(
    name="halves", what="all below 4 GiB is shared", machine="pc,max-ram-below-4g=1G", private=GIB, shared=GIB,
    shared_start=0, private_start=4 * GIB, append="iommu=soft swiotlb=32768", devices_at_boot=True)
