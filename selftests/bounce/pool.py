# SPDX-License-Identifier: GPL-2.0
"""What the tests of path bounce share: loading with parameters, the pool as the guest shows it, disks that hold."""

import shlex

import guest

POOL = f"{guest.DRIVERS}/virtio_dma/pool"
MIB = guest.MIB
# How a throttled disk is let go.
NO_LIMIT = 0


def load(vm, rules=None, **parameters):
    """Load virtio_dma; returns what insmod says: '' when it worked."""
    if rules is not None:
        parameters["rules"] = rules
    arguments = " ".join(shlex.quote(f"{name}={value}") for name, value in parameters.items())
    return vm.try_run(f"insmod {guest.MODULE} {arguments}")[1].strip()


def figures(vm):
    """{file: bytes} of the pool; grows and shrinks are numbers."""
    text = vm.run(f"cd {POOL} && grep . size max used most largest_run grows shrinks")
    return {name: int(value) for name, value in (line.split(":") for line in text.splitlines())}


def used(vm):
    return figures(vm)["used"]


def chunks(vm):
    """The physical addresses in the pool, as ranges."""
    lines = vm.run(f"cat {POOL}/chunks").split()
    return [range(first, last + 1) for first, last in ([int(text, 16) for text in line.split("-")] for line in lines)]


def reset(device):
    """Begin to count anew for that device."""
    device.vm.run(f"echo 1 > $(echo {device.dir}/dma/reset)")


# --- disks whose requests the host can hold back ---

def held_backing(slot, path):
    """In place of guest.backing(): a disk that is as fast as it gets until hold() says otherwise."""
    return ["-object", f"throttle-group,id=hold{slot}",
            "-blockdev", f"driver=raw,node-name=disk{slot},file.driver=throttle,file.throttle-group=hold{slot},"
                         f"file.file.driver=file,file.file.filename={path}"]


def held_blk(slot, path, more=""):
    return held_backing(slot, path) + [
        "-device", guest.joined(f"virtio-blk-pci,id=blk{slot},drive=disk{slot}", more)]


def hold(vm, slot, bytes_per_second):
    vm.qmp("qom-set", path=f"/objects/hold{slot}", property="limits", value={"bps-total": bytes_per_second})
