# SPDX-License-Identifier: GPL-2.0
"""What the masks still decide, measured with QEMU's edu device: where rings lie, and what a mapping costs."""

from lib import vm
from lib.failure import Failure
from lib.stage import stage
from cards import LOGS, MODULE
from edu import LOW, OTHER_RING_KIB, Edu, device
from rows import ICOUNT, NONE, PASSED, TRANSLATED

SLOT = 4
# Half of it lies above 4 GiB, as in a guest of 8 GiB, but less of it has to be used up.
MEM, MACHINE = "1G", "q35,max-ram-below-4g=512M"
# Else the kernel takes bus addresses below 4 GiB as long as there are any, whatever the mask.
FORCEDAC = TRANSLATED._replace(name="on forcedac", append=TRANSLATED.append + " iommu.forcedac=1")
ROWS = (NONE, PASSED, TRANSLATED, FORCEDAC)


def measure(kernel, modules):
    """{row: {figure: text}}"""
    found = {}
    for row in ROWS:
        kos = [modules["be2net_mask"], modules["edu_masks"]]
        with stage(f"edu, {row.name}"), \
                vm.VM(kernel, [*row.iommu, *ICOUNT, *device(SLOT)], f"nokaslr {row.append}", MEM, 1, MACHINE, kos=kos,
                      serial_log=LOGS / "edu.serial.log", boot_timeout=600) as guest:
            guest.run(f"insmod {MODULE} ids=1234:11e8; insmod /ko/edu_masks.ko", timeout=120)
            edu = Edu(guest, SLOT)
            edu.unbind()
            found[row.name] = {**costs(edu), **rings(edu)}
    return found


def costs(edu):
    """Instructions of a mapping of 4 KiB above 4 GiB and its unmapping."""
    found = {}
    for bits in (64, 32):
        bind(edu, streaming=bits)
        found[f"map {bits}"] = edu.read("map_ticks")
        edu.unbind()
    return found


def bind(edu, **parameters):
    error = edu.bind(**parameters)
    if error:
        raise Failure(f"edu was not bound: {error}")


def rings(edu):
    found = {}
    for mode in ("without", "with"):
        bind(edu)
        if mode == "with":
            edu.apply()
            edu.unbind()
            bind(edu, ring_kib=OTHER_RING_KIB)
            if edu.masks() != (64, 64):
                raise Failure("the coherent mask was not raised")
        phys, dma, right = edu.moved("ring")
        if not right:
            raise Failure("the data were wrong")
        edu.unbind()
        found[f"memory {mode}"] = place(phys)
        found[f"address {mode}"] = place(dma)
        edu.set("eat_low", 1)
        found[f"low memory gone, {mode}"] = "no ring" if edu.bind() else "works"
        edu.unbind()
        edu.set("eat_low", 0)
    return found


def place(address):
    return "above" if address >= LOW else "below"


def table(found):
    columns = {"map 64": "64-bit map", "map 32": "32-bit map", "memory without": "memory", "memory with": "raised",
               "address without": "address", "address with": "raised", "low memory gone, without": "low gone",
               "low memory gone, with": "raised"}
    lines = ["edu: instructions to map and unmap 4 KiB above 4 GiB, by streaming mask; with the coherent mask 32 bit",
             "or raised to 64: the ring's memory and bus address, below or above 4 GiB; when no memory below is left",
             f"{'':13}" + "".join(f"{title:12}" for title in columns.values())]
    return lines + [f"{name:13}" + "".join(f"{row[key]:12}" for key in columns) for name, row in found.items()]
