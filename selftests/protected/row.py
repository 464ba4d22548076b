# SPDX-License-Identifier: GPL-2.0
"""One row of the comparison: a path that works in a protected guest, or the stock driver, which does not."""

import proof
from device import BounceTrace
from lib.checks import wait_until
from lib.failure import Failure

# What a backend says of an address that is not in the memory that it was sent.
UNREACHABLE = "Invalid vring_addr"


def works(rig, path, measure=False):
    """Data both ways, compared, over a path that is loaded; returns ({test: figure}, {device: evidence})."""
    devices = (rig.disk, rig.net)
    before = {device: device.snapshot() for device in devices}
    with BounceTrace(rig.vm) as trace:
        verified = {device: device.verify() for device in devices}
    figures, evidence = {}, {}
    for device in devices:
        measured, moved = device.measure() if measure else ({}, 0)
        figures.update(measured)
        after = device.snapshot()
        verified_bytes, must_bounce = verified[device]
        bounced = trace.of(device)
        wrong = proof.objections(path, before[device], after, verified_bytes + moved, bounced, must_bounce)
        if wrong:
            raise Failure(f"{device.name} was not on path {path}: {'; '.join(wrong)}")
        evidence[device.name] = proof.evidence(path, before[device], after, bounced)
    return figures, evidence


def fails(rig):
    """The stock drivers, without any module of ours; returns {device: how it failed}, or raises when it did not.

    What asks the disk for data waits for ever, as virtio_blk knows no time-outs: so it is left in the background.
    """
    vm = rig.vm
    vm.run("modprobe virtio_blk </dev/null >/dev/null 2>&1 & modprobe virtio_net </dev/null >/dev/null 2>&1 &")
    for backend in rig.backends.values():
        wait_until(f"the {backend.name}'s backend gives up", lambda: UNREACHABLE in backend.log.read_text())
    wait_until("a request of the disk waits", lambda: vm.run("cat /sys/block/vda/inflight").split()[0] != "0")
    wait_until("the network card is there", lambda: vm.try_run("ls -d /sys/class/net/eth0")[0] == 0)
    completed = vm.run("cat /sys/block/vda/stat").split()[0]
    if completed != "0":
        raise Failure(f"the stock driver has read from the disk {completed} times")
    wait_until("the network card's backend ends", rig.backends["net"].ended)
    answered, _ = vm.try_run("ip link set eth0 up; ip addr add 10.0.2.15/24 dev eth0; arping -c 3 -I eth0 10.0.2.2")
    if answered == 0:
        raise Failure("the stock driver has reached the network")
    waiting = vm.run("cat /sys/block/vda/inflight").split()[0]
    return {"disk": f"\"{rig.backends['disk'].last_words()}\"; of its requests {waiting} wait for ever, none completed",
            "net": f"\"{rig.backends['net'].last_words()}\"; no frame is answered"}


def sent(rig):
    """What the backends have of the guest's memory, as seen from outside; {device: text}."""
    memory = rig.memory
    expected = [(memory.shared, True)]
    found = {name: rig.reach(backend) for name, backend in rig.backends.items() if not backend.ended()}
    for name, reach in found.items():
        if reach != expected:
            raise Failure(f"the {name}'s backend has mapped {reach}, not just {memory.shared} bytes of shared memory")
    return {name: f"{memory.shared >> 20} MiB of shared memory, none of {memory.private >> 20} MiB of private memory"
            for name in found}
