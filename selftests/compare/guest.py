# SPDX-License-Identifier: GPL-2.0
"""The guest of `make run` and `make shell`: one disk, one network card, both modern virtio-pci."""

# Fixed, so that the guest's PCI addresses are known.
DISK_ADDRESS = "0000:00:04.0"
NET_ADDRESS = "0000:00:05.0"
# The host's page cache stands behind the disk: the question is what a path costs, not what the host's disk does.
CACHE_MODE = "writeback"


def load_modules(options):
    return (f"modprobe virtio_pci && modprobe virtio_dma pool_mb={options.pool_mb} pool_max_mb={options.pool_mb} && "
            "modprobe virtio_blk && modprobe virtio_net")


def append(options):
    # iommu=soft makes a small guest keep its bounce pool; force would bounce every path.
    return f"iommu=soft swiotlb={options.swiotlb_slots()}"


def devices(options, image):
    ring = "packed=on" if options.ring == "packed" else "packed=off"
    return ["-drive", f"if=none,id=disk,format=raw,file={image},cache={CACHE_MODE}",
            "-device", f"virtio-blk-pci,drive=disk,disable-legacy=on,addr=4,{ring}",
            "-netdev", "user,id=net",
            "-device", f"virtio-net-pci,netdev=net,disable-legacy=on,addr=5,{ring}"]
