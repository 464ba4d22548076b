# SPDX-License-Identifier: GPL-2.0
"""A guest whose disk and network card are served by other processes, which can reach only what it shares.

    with rig.Rig(kernel, modules, layout.WINDOW, image) as protected:
        protected.load("bounce")
        protected.disk.verify()
"""

import contextlib
import os
import re
import shlex
import tempfile
from pathlib import Path

import disk
import net
from backend import HOST, DiskBackend, NetBackend
from lib import vfio_user
from lib.checks import wait_until
from lib.failure import Failure
from lib.vm import VM

# Where the modules of compare/ look for them.
SLOTS = {"disk": 4, "net": 5}
MODERN = {"disable-legacy": "on"}
MODULE = "/ko/virtio_dma.ko"
# In /proc/PID/maps, a mapping of a file that others share: its range, and which file. (io_uring's are no files.)
SHARED_MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) ...s \S+ (\S+ \d+) +(?!anon_inode:)")
GUEST_MEMORY = "/memfd:memory-backend-memfd"


class Card(net.Net):
    def set_up(self):
        """passt answers ARP by itself; for ping it would need a right of the host that it may not have."""
        interface = self._interface()
        self.vm.run(f"""
            ip link set {interface} up
            ip addr flush dev {interface}
            ip addr add 10.0.2.15/24 dev {interface}
            arping -c 1 -w 30 -I {interface} {HOST} >/dev/null
        """)

    def exchange(self, port, size):
        """The guest's end stays open until all is there: once both are shut, passt drops what it has yet to send."""
        return (f"rm -f /tmp/received; touch /tmp/received; "
                f"(cat /tmp/data; until [ $(stat -c %s /tmp/received) -ge {size} ]; do usleep 10000; done) | "
                f"nc {HOST} {port} >/tmp/received")


class Rig:
    def __init__(self, kernel, modules, memory, image, port=0, name="protected", **vm_arguments):
        self.kernel = kernel
        self.modules = modules
        self.memory = memory
        self.image = image
        self.port = port
        self.name = f"{name}-{memory.name}"
        self.vm_arguments = vm_arguments
        self.disk = self.net = None

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="protected-")))
            self.backends = {}
            for name, start in (("disk", lambda: DiskBackend(directory, self.image)),
                                ("net", lambda: NetBackend(directory))):
                self.backends[name] = start()
                stack.callback(self.backends[name].stop)
            self.vm = stack.enter_context(self._boot())
            self.vm.run("modprobe virtio_pci")
            if not self.memory.devices_at_boot:
                for name in SLOTS:
                    self.plug(name)
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *exception):
        return self.stack.__exit__(*exception)

    def _boot(self):
        devices = self.memory.devices() + sum((backend.chardev() for backend in self.backends.values()), [])
        if self.memory.devices_at_boot:
            for name in SLOTS:
                devices += ["-device", ",".join(f"{key}={value}" for key, value in self._device(name).items())]
        return VM(self.kernel, devices, self.memory.command_line(), self.memory.mem(), machine=self.memory.machine,
                  kos=self.modules.values(), name=self.name, program=vfio_user.qemu_program(), **self.vm_arguments)

    def _device(self, name):
        return {**self.backends[name].device(), "id": name, "addr": str(SLOTS[name]), **MODERN}

    def plug(self, name):
        self.vm.qmp("device_add", **self._device(name))
        wait_until(f"the {name} is there", lambda: self.vm.try_run(f"ls {self.sysfs(name)}/virtio*")[0] == 0)

    def unplug(self, name):
        self.vm.qmp("device_del", id=name)
        self.vm.wait_event("DEVICE_DELETED", device=name)

    @staticmethod
    def sysfs(name):
        return f"/sys/bus/pci/devices/0000:00:{SLOTS[name]:02x}.0"

    def load(self, path, **parameters):
        """Load virtio_dma with that path for both devices, and their drivers."""
        if path == "swiotlb":
            self.vm.run("[ -d /sys/module/vdma_low_rings ] || insmod /ko/vdma_low_rings.ko")
        parameters = {"rules": f"blk={path},net={path}", **parameters}
        if path == "bounce":
            parameters = {**self.memory.pool(), **parameters}
        arguments = " ".join(shlex.quote(f"{name}={value}") for name, value in parameters.items())
        self.vm.run(f"insmod {MODULE} {arguments}")
        self.vm.run("modprobe virtio_blk && modprobe virtio_net")
        self.disk = disk.Disk(self.vm, self.image)
        self.net = Card(self.vm, self.port)
        self.net.set_up()

    def renew_receive_ring(self, prepare):
        """Load the network card's driver again; prepare() readies the memory that its new buffers will be made of."""
        self.vm.run("rmmod virtio_net")
        prepare()
        self.vm.run("modprobe virtio_net")
        self.net = Card(self.vm, self.port)
        self.net.set_up()

    def unload(self):
        """Not modprobe -r, which would go on to what others need."""
        self.vm.run("rmmod virtio_net && rmmod virtio_blk && rmmod virtio_dma")

    # --- what others can reach ---

    def memory_file(self):
        """The shared memory, as a path: the only file of QEMU's that holds memory of the guest."""
        files = [path for path in Path(f"/proc/{self.vm.qemu.process.pid}/fd").iterdir()
                 if os.readlink(path).startswith(GUEST_MEMORY)]
        if len(files) != 1 or files[0].stat().st_size != self.memory.shared:
            raise Failure(f"QEMU has {len(files)} files of guest memory, not one of {self.memory.shared} bytes")
        return files[0]

    def reach(self, backend):
        """What a backend has mapped of what can be shared: [(size in bytes, is it the shared memory?)]."""
        shared = self.memory_file().stat()
        identity = f"{os.major(shared.st_dev):02x}:{os.minor(shared.st_dev):02x} {shared.st_ino}"
        mappings = Path(f"/proc/{backend.process.pid}/maps").read_text(encoding="ascii").splitlines()
        return [(int(end, 16) - int(start, 16), file == identity)
                for start, end, file in (match.groups() for match in map(SHARED_MAPPING.match, mappings) if match)]
