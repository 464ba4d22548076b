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
    pieces: tuple           # (is it shared, bytes) in the order of addresses; one piece is shared
    shared_start: int       # its guest-physical address
    private_start: int      # the lowest address of memory of programs that is surely private
    append: str             # for the kernel's command line
    devices_at_boot: bool

    @property
    def shared(self):
        return sum(size for is_shared, size in self.pieces if is_shared)

    @property
    def private(self):
        return sum(size for is_shared, size in self.pieces if not is_shared)

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
        """QEMU's arguments: each piece is a node, as only nodes can have memory of different kinds."""
        arguments = []
        for number, (is_shared, size) in enumerate(self.pieces):
            kind, share = ("memfd", "on") if is_shared else ("ram", "off")
            arguments += ["-object", f"memory-backend-{kind},id=memory{number},size={size},share={share}",
                          "-numa", f"node,memdev=memory{number}"]
        # What is near the CPUs is taken first.
        cpus_at = max(number for number, (is_shared, _) in enumerate(self.pieces) if not is_shared)
        arguments[4 * cpus_at + 3] += f",cpus=0-{CPUS - 1}"
        return arguments


# The firmware cannot use a device whose rings it puts into private memory: they are plugged in when the kernel runs.
# The window is not at the end of memory: there the firmware has its ACPI tables, which a pool would overwrite.
WINDOW = Layout(
    name="window", what="a window of 256 MiB is shared", machine="pc",
    pieces=((False, 768 * MIB), (True, 256 * MIB), (False, 256 * MIB)), shared_start=768 * MIB, private_start=0,
    append=f"memmap={256 * MIB:#x}${768 * MIB:#x}", devices_at_boot=False)

# For the debug kernel: its DMA-API debugging looks for the struct page of a ring. It has no virtual memory map
# (SPARSEMEM_VMEMMAP), so that none is there for a section of 128 MiB all of which is reserved, and it would crash.
SMALL_WINDOW = WINDOW._replace(
    name="small-window", what="a window of 64 MiB is shared",
    pieces=((False, 832 * MIB), (True, 64 * MIB), (False, 384 * MIB)), shared_start=832 * MIB,
    append=f"memmap={64 * MIB:#x}${832 * MIB:#x}")

# The kernel's SWIOTLB is always below 4 GiB, where it can share neither more nor less than all there is.
# iommu=soft: a guest of this size would do without it otherwise.
HALVES = Layout(
    name="halves", what="all below 4 GiB is shared", machine="pc,max-ram-below-4g=1G",
    pieces=((True, GIB), (False, GIB)), shared_start=0, private_start=4 * GIB,
    append="iommu=soft swiotlb=32768", devices_at_boot=True)
