# SPDX-License-Identifier: GPL-2.0
"""The guest that is measured: one disk, two network cards on one wire, and a clock that counts instructions."""

import os
import re
from typing import NamedTuple

from lib.failure import Failure
from lib.vm import VM

DISK_ADDRESS, NIC_ADDRESSES = "0000:00:04.0", ("0000:00:05.0", "0000:00:06.0")
# Idle, so that it can be bound over every path while the bench maps its own buffers for it.
IDLE_NIC = NIC_ADDRESSES[0]
DISK_MIB = 16
POOL_MIB = 64
# The kernel's pool is as large as ours.
SWIOTLB_SLOTS = (POOL_MIB << 20) // 2048
SLOWEST = 900

# One tick of the time stamp counter is one instruction, and nothing of the host's clock gets in.
ICOUNT = ["-icount", "shift=0,sleep=off", "-rtc", "base=2020-01-01,clock=vm"]
FIGURE = re.compile(r"vdma_bench(?:_disk)?: (\w+) ((?:\w+=\S+ ?)+)$", re.MULTILINE)
FLAGS = "flags"


class Figure(NamedTuple):
    """What was measured, how often, how many ticks that took in all, and how many of the calls failed."""
    what: str           # "calls way=to_device size=4096"
    rounds: int
    ticks: int
    failed: int

    def each(self):
        return self.ticks / self.rounds


def devices(image):
    return ["-drive", f"if=none,id=disk,format=raw,file={image},cache=writeback",
            "-device", "virtio-blk-pci,drive=disk,disable-legacy=on,addr=4,packed=off",
            *(argument for number, address in enumerate(NIC_ADDRESSES) for argument in (
                "-netdev", f"hubport,id=net{number},hubid=0",
                "-device", f"virtio-net-pci,netdev=net{number},disable-legacy=on,"
                           f"addr={address[8:10]},packed=off"))]


class Machine:
    """Owns the guest; its devices take one path after the other. Its clock counts instructions, or else is a clock."""

    def __init__(self, kernel, modules, image, cpus=1, accel="tcg", counts=True, **more):
        # A thread for each CPU cannot count their instructions.
        os.environ.pop("LONG", None)
        clock = ICOUNT if counts else []
        # nokaslr: the same addresses in each boot, so that what depends on them does not differ either
        self.vm = VM(kernel, [*clock, *devices(image)], f"nokaslr iommu=soft swiotlb={SWIOTLB_SLOTS}", "1G", cpus,
                     accel=accel, kos=modules.values(), **more)
        self.vm.run("modprobe virtio_pci")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.vm.stop()

    def put_on(self, path, fill="auto"):
        """Load the module anew, and bind all devices over that path."""
        self.vm.run(f"""
            rmmod virtio_net virtio_blk virtio_dma 2>/dev/null
            insmod /ko/virtio_dma.ko rules=net={path},blk={path} fill={fill} \
                pool_mb={POOL_MIB} pool_max_mb={POOL_MIB} &&
                modprobe virtio_blk && modprobe virtio_net""", timeout=SLOWEST)
        for address in (DISK_ADDRESS, *NIC_ADDRESSES):
            directory = f"/sys/bus/pci/devices/{address}/virtio*/dma"
            got = self.vm.run(f"cat {directory}/path {directory}/state").split()
            wanted = [path, "stock" if path == "off" else "attached"]
            if got != wanted:
                raise Failure(f"{address} is {' '.join(got)}, not {' '.join(wanted)}")

    def measure(self, run, repeat=1):
        """The figures of one run of the bench module, each over so many times its rounds."""
        return self._load("vdma_bench", f"device={IDLE_NIC} run={run} repeat={repeat} pool_bytes={POOL_MIB << 20}")

    def measure_disk(self):
        major, minor = self.vm.run("cat /sys/block/vda/dev").strip().split(":")
        return self._load("vdma_bench_disk", f"device={DISK_ADDRESS} major={major} minor={minor}")

    def cpu_flags(self):
        """What the kernel chooses its copy and clear routines by."""
        text = self._log_of("vdma_bench", f"device={IDLE_NIC} run=cpu")
        return next(parameters for name, parameters in lines(text) if name == FLAGS)

    def _load(self, module, parameters):
        return [figure(name, values) for name, values in lines(self._log_of(module, parameters)) if name != FLAGS]

    def _log_of(self, module, parameters):
        return self.vm.run(f"dmesg -c >/dev/null; insmod /ko/{module}.ko {parameters} && rmmod {module} && dmesg",
                           timeout=SLOWEST)


def lines(text):
    """(name, {parameter: value}) of each line that the bench printed."""
    for name, words in FIGURE.findall(text):
        yield name, dict(word.split("=") for word in words.split())


def figure(name, values):
    what = [f"{key}={value}" for key, value in values.items() if key not in ("rounds", "ticks", "failed")]
    return Figure(" ".join([name, *what]), int(values["rounds"]), int(values["ticks"]), int(values["failed"]))
