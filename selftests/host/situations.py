# SPDX-License-Identifier: GPL-2.0
"""Which pages of assigned devices trap when: what there is to see, on stock QEMU, for table, PBA and their neighbours.

VFIO emulates the vector table always, so every access to its page leaves the guest. The pending bits it emulates only
while there is one: when a vector fires that is masked. (Before QEMU 2.6 it did always.) What else lies on such a page
is trapped with it, as the CPU's page tables know only whole pages.
"""

from typing import Callable, NamedTuple

from lib.checks import wait_until

from function import Disk, Function, Place


class Page(NamedTuple):
    """A register, and whether an access to it should leave the guest."""

    what: str
    place: Place
    is_trapped: bool


class Situation(NamedTuple):
    name: str
    enter: Callable         # from the one before
    pages: list


# QEMU's NVMe disk: registers and doorbells on the first two pages, then the table, then the PBA.
NVME_REGISTERS, NVME_TABLE_PAGE, NVME_PBA_PAGE = Place(0, 0x1800), Place(0, 0x2800), Place(0, 0x3800)
NVME_PBA = Place(0, 0x3000)
RELOCATED_TABLE = Place(2, 0)
# QEMU's e1000e: a BAR for table and PBA alone. STATUS is a register that reading does not change.
E1000E_STATUS, E1000E_TABLE, E1000E_PBA = Place(0, 0x8), Place(3, 0), Place(3, 0x2000)
E1000E_TX_VECTOR = 1
E1000E_GATEWAY = "10.0.2.2"
# selftests/devices/pba-page/main.c. The bits themselves are not read: QEMU's vfio-user asks the model for them.
DOORBELL, RUNG, MODEL_PBA_PAGE, MODEL_TABLE = Place(0, 0), Place(0, 0x3000), Place(0, 0x3c00), Place(0, 0x2000)


class Subject:
    """An assigned function, and the situations that it can be brought into, one after the other."""

    name = ""
    vector = 0              # which fires while masked

    def __init__(self, guest):
        self.guest = guest
        self.function = None

    def situations(self):
        changed = [page for page in self.pages(False) if page not in self.pages(True)]
        return [Situation(self.name, self.prepare, self.pages(False)),
                Situation(f"{self.name}, masked vector fired", self.make_pending, self.pages(True)),
                Situation(f"{self.name}, unmasked again", self.unmask, changed)]

    def prepare(self):
        """Gives the function a driver that uses the vector."""
        raise NotImplementedError

    def pages(self, pba_is_trapped):
        raise NotImplementedError

    def fire(self):
        """Makes the function send the vector's interrupt."""
        raise NotImplementedError

    def make_pending(self):
        self.function.mask(self.vector)
        self.fire()
        self._wait_for("enable")

    def unmask(self):
        self.function.unmask(self.vector)
        self._wait_for("disable")

    def _wait_for(self, what):
        """Until QEMU says that it emulates the PBA of this function, or no longer: the last that it says of it."""
        event = f"vfio_msix_pba_{what}"
        address = self.guest.host.addresses[self.name]
        wait_until(f"{event} of {self.name}", lambda: [
            line for line in self.guest.traces() if address in line and "vfio_msix_pba_" in line][-1].startswith(event))


class Nvme(Subject):
    """With a driver of ours that reads a register in every request."""

    name = "nvme"

    def prepare(self):
        self.function = Disk(self.guest, self.name)

    def fire(self):
        self.function.admin_command()

    def pages(self, pba_is_trapped):
        return [Page("registers", NVME_REGISTERS, False), Page("beside the table", NVME_TABLE_PAGE, True),
                Page("PBA", NVME_PBA, pba_is_trapped), Page("beside the PBA", NVME_PBA_PAGE, pba_is_trapped)]


class Relocated(Nvme):
    """What VFIO can do for a device with such a layout: nothing of the device's is on an emulated page."""

    name = "nvme, relocated"

    def situations(self):
        return [Situation(self.name, self.prepare, [
            Page("was beside the table", NVME_TABLE_PAGE, False), Page("was beside the PBA", NVME_PBA_PAGE, False),
            Page("table", RELOCATED_TABLE, True)])]


class E1000e(Subject):
    """With the stock driver. What has been sent is told by an interrupt."""

    name = "e1000e"
    vector = E1000E_TX_VECTOR

    def prepare(self):
        self.function = Function(self.guest, self.name)
        self.guest.run(f"""
            modprobe e1000e
            interface=$(ls {self.function.directory}/net)
            ip link set $interface up && ip addr add 10.0.2.15/24 dev $interface
            ping -c 3 -W 20 {E1000E_GATEWAY}""", timeout=120)

    def fire(self):
        self.guest.run(f"ping -c 1 -W 20 {E1000E_GATEWAY}", timeout=60)

    def pages(self, pba_is_trapped):
        return [Page("registers", E1000E_STATUS, False), Page("table", E1000E_TABLE, True),
                Page("PBA", E1000E_PBA, pba_is_trapped)]


class PbaPage(Subject):
    """The layout of the report: a register of the device on the PBA's page."""

    name = "pba-page"

    def prepare(self):
        self.function = Function(self.guest, self.name)
        self.function.bind("mmio_probe")

    def fire(self):
        self.function.write(DOORBELL, 0)

    def pages(self, pba_is_trapped):
        return [Page("register", RUNG, pba_is_trapped), Page("beside the PBA", MODEL_PBA_PAGE, pba_is_trapped),
                Page("table", MODEL_TABLE, True)]


SUBJECTS = (Nvme, Relocated, E1000e, PbaPage)
