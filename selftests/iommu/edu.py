# SPDX-License-Identifier: GPL-2.0
"""QEMU's edu device under the driver edu_masks, PCI functions as be2net_mask shows them, and stock NIC drivers."""

import lzma
import re
from pathlib import Path

from lib import initramfs
from lib.paths import OUT

PARAMETERS = "/sys/module/edu_masks/parameters"
DRIVER = "/sys/bus/pci/drivers/edu_masks"
LOW = 1 << 32
# An IOMMU's address that was freed is given again to memory of the same size as long as it fits, so what is to get
# an address of its own has another size.
OTHER_RING_KIB = 128


def device(slot, bits=64):
    """Arguments of QEMU for a device that drives so many address lines; it cuts addresses to that, without a word."""
    return ["-device", f"edu,addr={slot:#x},dma_mask={(1 << bits) - 1:#x}"]


def stock_modules(kernel, *names):
    """Stock modules that the initramfs does not have, with what they need, as VM() takes them."""
    stock = initramfs.StockModules(kernel)
    by_name = {initramfs.module_name(path): path for path in stock.all}
    directory = OUT / "test" / kernel.line / "modules"
    directory.mkdir(parents=True, exist_ok=True)
    for path in sorted({needed for name in names if name in by_name
                        for needed in (by_name[name], *stock.all[by_name[name]])} - stock.chosen):
        content = (kernel.modules_dir / path).read_bytes()
        ko = directory / Path(initramfs.unpacked_name(path)).name
        ko.write_bytes(lzma.decompress(content) if path.endswith(".xz") else content)
        yield ko


def has_module(kernel, name):
    return name in map(initramfs.module_name, initramfs.StockModules(kernel).all)


class Function:
    """A PCI function on the first bus, with the files that be2net_mask gives it."""

    def __init__(self, vm, slot=None, address=None):
        self.vm = vm
        self.address = address or f"0000:00:{slot:02x}.0"
        self.dir = f"/sys/bus/pci/devices/{self.address}"

    def read(self, name):
        return self.vm.run(f"cat {self.dir}/{name}").strip()

    def mask(self, name):
        """The text of a file in coherent_mask/."""
        return self.read(f"coherent_mask/{name}")

    def watched(self):
        return self.vm.try_run(f"[ -e {self.dir}/coherent_mask ]")[0] == 0

    def masks(self):
        """(streaming, coherent) in bits, as the kernel says it."""
        return int(self.read("dma_mask_bits")), int(self.read("consistent_dma_mask_bits"))

    def apply(self, value=1):
        """Returns what the shell says: '' when it worked."""
        return self.vm.try_run(f"echo {value} > {self.dir}/coherent_mask/apply", timeout=120)[1].strip()

    def domain_type(self):
        """The kernel's own word; '' when the function is in no IOMMU group."""
        return self.vm.run(f"cat {self.dir}/iommu_group/type 2>/dev/null || true").strip()

    def driver(self):
        return self.vm.run(f"[ ! -e {self.dir}/driver ] || basename $(readlink {self.dir}/driver)").strip()

    def interface(self):
        return self.vm.run(f"ls {self.dir}/net").strip()


class Edu(Function):
    """Bound and unbound by hand."""

    def bind(self, **parameters):
        """With these parameters of the driver, after those of before were reset; returns what the shell says."""
        values = {"streaming": 64, "coherent": 0, "netdev": "N", "ring_kib": 64, **parameters}
        return self.vm.try_run("".join(f"echo {value} > {PARAMETERS}/{name}\n" for name, value in values.items())
                               + f"echo {self.address} > {DRIVER}/bind", timeout=120)[1].strip()

    def set(self, name, value):
        self.vm.run(f"echo {value} > {PARAMETERS}/{name}", timeout=120)

    def unbind(self):
        self.vm.run(f"[ ! -e {self.dir}/driver ] || echo {self.address} > {DRIVER}/unbind")

    def moved(self, what):
        """(physical address, address for the device, were the data right?) of `ring` or `buffer`."""
        text = self.vm.run(f"cat {self.dir}/{what}", timeout=120)
        found = re.fullmatch(r"phys=(\S+) dma=(\S+) data=(\w+)\n", text)
        return int(found.group(1), 16), int(found.group(2), 16), found.group(3) == "right"
