# SPDX-License-Identifier: GPL-2.0
"""Two cards, models of ours that are wired to each other: one is assigned to the guest, one is the host's own."""

from lib.checks import wait_until

GUEST_CARD, HOST_CARD = "be2", "be2 of the host"
GUEST_ADDRESS, HOST_ADDRESS = "10.1.0.1", "10.1.0.2"


def ping(host, guest, count=5):
    """With the stock driver at both ends; returns what ping printed."""
    for machine, card, address in ((host, HOST_CARD, HOST_ADDRESS), (guest, GUEST_CARD, GUEST_ADDRESS)):
        interface = bring_up(machine, card, address)
        wait_for_carrier(machine, interface)
    return guest.run(f"ping -c {count} -W 20 {HOST_ADDRESS}", timeout=120)


def wait_for_carrier(machine, interface):
    wait_until(f"{interface} has a carrier",
               lambda: machine.run(f"cat /sys/class/net/{interface}/carrier").strip() == "1")


def bring_up(machine, card, address):
    """Returns the interface."""
    directory = f"/sys/bus/pci/devices/{machine.addresses[card]}"
    interface = machine.run(f"modprobe be2net && ls {directory}/net", timeout=120).strip()
    machine.run(f"ip link set {interface} up && ip addr add {address}/24 dev {interface}")
    return interface
