# SPDX-License-Identifier: GPL-2.0
"""What the kernel gives the pool for its own bookkeeping, by the kernel's own account of it."""

import re

from machine import POOL_MIB, SLOWEST

PAGE_SIZE = 4096
EVENTS = ("kmem/kmalloc", "kmem/kmalloc_node", "kmem/kfree", "percpu/percpu_alloc_percpu")
EVENT = re.compile(r"-(\d+) .*? (\w+): call_site=(\S+).*? ptr=(\S+)(?:.* bytes_alloc=(\d+))?")
# The functions that make a pool, with all that the compiler has inlined into them; what they allocate large pieces by.
OURS = re.compile(r"(vdma_(pool|chunk|memory|resize)_\w+|enlarge_below)\b")
FOR_OTHERS = re.compile(r"__[kv]\w+_node|__alloc_workqueue|alloc_workqueue")


def of_pool(machine):
    """Bytes that are allocated when the pool has been made, for all CPUs, and without the pool itself."""
    vm = machine.vm
    vm.run(f"rmmod virtio_net virtio_blk virtio_dma 2>/dev/null; modprobe virtio_blk && rmmod virtio_blk && "
           f"insmod /ko/virtio_dma.ko rules=net=off,blk=bounce pool_mb={POOL_MIB} pool_max_mb={POOL_MIB}",
           timeout=SLOWEST)
    tracing = "/sys/kernel/tracing"
    switches = " ".join(f"{tracing}/events/{event}/enable" for event in EVENTS)
    text = vm.run(f"""
        echo 16384 >{tracing}/buffer_size_kb
        for switch in {switches}; do [ ! -e $switch ] || echo 1 >$switch; done
        modprobe virtio_blk
        for switch in {switches}; do [ ! -e $switch ] || echo 0 >$switch; done
        grep -E 'call_site' {tracing}/trace
        echo >{tracing}/trace""", timeout=SLOWEST)
    mapped = re.findall(r"vdma_chunk_create\b.* pages=(\d+)", vm.run("cat /proc/vmallocinfo"))
    events = [match.groups() for match in map(EVENT.search, text.splitlines()) if match]
    return PAGE_SIZE * sum(map(int, mapped)) + sum_up(events)


def sum_up(events):
    """Of (task, event, call site, pointer, size): what the task that made the pool allocated then, and did not free."""
    ours = [number for number, (_, _, site, _, _) in enumerate(events) if OURS.match(site)]
    maker = events[ours[0]][0]
    held = {}
    for task, event, site, pointer, size in events[ours[0]:ours[-1] + 1]:
        if task != maker:
            continue
        if event == "kfree":
            held.pop(pointer, None)
        elif OURS.match(site) or FOR_OTHERS.match(site):
            held[pointer] = int(size)
    return sum(held.values())
