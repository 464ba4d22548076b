# SPDX-License-Identifier: GPL-2.0
"""Which pages of assigned devices trap when: what there is to see, on stock QEMU, for table, PBA and their neighbours.

VFIO emulates the vector table always, so every access to its page leaves the guest. The pending bits it emulates only
while there is one: when a vector fires that is masked. (Before QEMU 2.7 it did always.) What else lies on such a page
is trapped with it, as the CPU's page tables know only whole pages.
"""

from typing import NamedTuple

from lib.checks import wait_until

from function import Disk, Function, Place


class Page(NamedTuple):
    """A register, and whether an access to it should leave the guest."""

    what: str
    place: Place
    is_trapped: bool


class Situation(NamedTuple):
    name: str
    function: Function
    pages: list


# QEMU's NVMe disk: registers and doorbells on the first two pages, then the table, then the PBA.
NVME_REGISTERS, NVME_TABLE_PAGE, NVME_PBA_PAGE = Place(0, 0x1800), Place(0, 0x2800), Place(0, 0x3800)
NVME_PBA = Place(0, 0x3000)
RELOCATED_TABLE = Place(2, 0)
# QEMU's e1000e: a BAR for table and PBA alone. STATUS is a register that reading does not change.
E1000E_STATUS, E1000E_TABLE, E1000E_PBA = Place(0, 0x8), Place(3, 0), Place(3, 0x2000)
E1000E_TX_VECTOR = 1
E1000E_GATEWAY = "10.0.2.2"
# selftests/devices/pba-page/main.c
TICKET, DOORBELL, MODEL_PBA, MODEL_TABLE = Place(0, 0x3000), Place(0, 0x3004), Place(0, 0x3800), Place(0, 0x2000)


def nvme(guest):
    """Yields each situation while it is so."""
    disk = Disk(guest, "nvme")
    yield Situation("nvme", disk, nvme_pages(pba_is_trapped=False))
    disk.mask(0)
    disk.admin_command()
    wait_for_pending(guest, disk, True)
    yield Situation("nvme, a masked vector fired", disk, nvme_pages(pba_is_trapped=True))
    disk.unmask(0)
    wait_for_pending(guest, disk, False)
    yield Situation("nvme, unmasked again", disk, nvme_pages(pba_is_trapped=False))


def nvme_pages(pba_is_trapped):
    return [Page("registers", NVME_REGISTERS, False), Page("beside the table", NVME_TABLE_PAGE, True),
            Page("PBA", NVME_PBA, pba_is_trapped), Page("beside the PBA", NVME_PBA_PAGE, pba_is_trapped)]


def relocated(guest):
    yield Situation("nvme, relocated", Disk(guest, "nvme, relocated"), [
        Page("was beside the table", NVME_TABLE_PAGE, False), Page("was beside the PBA", NVME_PBA_PAGE, False),
        Page("table", RELOCATED_TABLE, True)])


def e1000e(guest):
    """With the stock driver; what it has sent is told by an interrupt, which is what fires while masked."""
    card = Function(guest, "e1000e")
    guest.run(f"""
        modprobe e1000e
        interface=$(ls {card.directory}/net)
        ip link set $interface up && ip addr add 10.0.2.15/24 dev $interface
        ping -c 3 -W 20 {E1000E_GATEWAY}""", timeout=120)
    yield Situation("e1000e", card, e1000e_pages(pba_is_trapped=False))
    card.mask(E1000E_TX_VECTOR)
    guest.run(f"ping -c 1 -W 20 {E1000E_GATEWAY}", timeout=60)
    wait_for_pending(guest, card, True)
    yield Situation("e1000e, a masked vector fired", card, e1000e_pages(pba_is_trapped=True))
    card.unmask(E1000E_TX_VECTOR)
    wait_for_pending(guest, card, False)
    yield Situation("e1000e, unmasked again", card, e1000e_pages(pba_is_trapped=False))


def e1000e_pages(pba_is_trapped):
    return [Page("registers", E1000E_STATUS, False), Page("table", E1000E_TABLE, True),
            Page("PBA", E1000E_PBA, pba_is_trapped)]


def pba_page(guest):
    """The layout of the report: the device's own registers on the PBA's page."""
    device = Function(guest, "pba-page")
    device.bind("mmio_probe")
    yield Situation("pba-page", device, pba_page_pages(pba_is_trapped=False))
    device.mask(0)
    device.write(DOORBELL, 0)
    wait_for_pending(guest, device, True)
    yield Situation("pba-page, a masked vector fired", device, pba_page_pages(pba_is_trapped=True))
    device.unmask(0)
    wait_for_pending(guest, device, False)
    yield Situation("pba-page, unmasked again", device, pba_page_pages(pba_is_trapped=False))


def pba_page_pages(pba_is_trapped):
    return [Page("register", TICKET, pba_is_trapped), Page("PBA", MODEL_PBA, pba_is_trapped),
            Page("table", MODEL_TABLE, True)]


ALL = (nvme, relocated, e1000e, pba_page)


def wait_for_pending(guest, function, is_pending):
    """Until QEMU says that it emulates the PBA of this function, or no longer: the last that it says of it."""
    event = f"vfio_msix_pba_{'enable' if is_pending else 'disable'}"
    address = guest.host.addresses[function.name]
    wait_until(f"{event} of {function.name}", lambda: [
        line for line in guest.traces() if address in line and "vfio_msix_pba_" in line][-1].startswith(event))
