# SPDX-License-Identifier: GPL-2.0
"""What stands between the cards and memory: the rows of the tables."""

from typing import NamedTuple

# intremap=off: remapped interrupts make an emulated guest fail at boot now and then.
INTEL = ("-device", "intel-iommu,caching-mode=on,intremap=off")


class Row(NamedTuple):
    name: str
    iommu: tuple        # arguments of QEMU
    append: str


TRANSLATED = Row("vIOMMU on", INTEL, "intel_iommu=on iommu.passthrough=0 iommu.strict=1")
OFF = Row("vIOMMU off", INTEL, "intel_iommu=off")
NONE = Row("no vIOMMU", (), "")
PASSED = Row("on iommu=pt", INTEL, "intel_iommu=on iommu=pt")
# Not AMD's: with its model the e1000e of such a guest do not reach each other.
ROWS = (TRANSLATED, OFF, NONE, PASSED)

# The tick of the guest's clock is an instruction, and nothing of the host's clock gets in.
ICOUNT = ["-icount", "shift=0,sleep=off", "-rtc", "base=2020-01-01,clock=vm"]
