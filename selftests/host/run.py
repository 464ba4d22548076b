#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""`make run-host`: which pages of an assigned device trap, said by the guest and by its real KVM and VFIO host.

Prints one table, then what it costs a disk: 4 KiB random reads, with a driver that reads a register in every request.
"""

import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

# pylint: disable=wrong-import-position
from lib import child, kernels
from lib.failure import Failure
from lib.ktap import CheckFailed
from lib.vm import CommandFailed, GuestLost

import assigned
import be2net
from function import NO_REGISTER
from kvm_host import QEMU_PATH
from observation import observe
from pat import GuestPat, WANTED
from situations import NVME_PBA_PAGE, NVME_REGISTERS, NVME_TABLE_PAGE, SUBJECTS, Nvme

READS = 1000
REQUESTS = 300
ROUNDS = 9
# Where the driver's register lies, in BAR 0.
HOT_REGISTERS = (("no register read", NO_REGISTER), ("on its own page", NVME_REGISTERS.offset),
                 ("on the PBA's page", NVME_PBA_PAGE.offset), ("on the table's page", NVME_TABLE_PAGE.offset))
ROW = "{:30} {:20} {:12} {:>9} {:>8} {:>9} {:>9}"


def main():
    child.exit_on_sigterm()
    kernel = kernels.wanted()
    with assigned.host(kernel, name="run-host") as (host, _):
        pat = GuestPat(host)
        with assigned.guest(host) as guest:
            print("\n" + host.run(f"echo Host and guest: Linux $(uname -r), $({QEMU_PATH} --version | head -n 1)"))
            disk_rates = show_pages(host, guest)
            show_rates(disk_rates)
            show_pat(pat, guest)
            show_lines("be2net in the guest pings its host:", be2net.ping(host, guest).splitlines()[-2:])


def show_pages(host, guest):
    """Returns the rates of the disks, by situation."""
    print(ROW.format("", "", "", "guest:", "msix_pba", "host saw", "us for"))
    print(ROW.format("situation", "page", "register", "reads", "says", "trapped", "one read"))
    rates, traces = {}, len(guest.traces())
    for subject in (subject(guest) for subject in SUBJECTS):
        for situation in subject.situations():
            situation.enter()
            print()
            for page in situation.pages:
                show_page(situation.name, page, observe(host, subject.function, page.place, READS))
            lines = guest.traces()
            show_lines("", dict.fromkeys(f"QEMU: {line}" for line in lines[traces:] if "_pba_" in line))
            traces = len(lines)
            if isinstance(subject, Nvme):
                rates[situation.name] = disk_rates(subject.function)
    return rates


def show_page(situation, page, seen):
    reads = seen.reads + seen.module_reads
    trapped = seen.trapped.at + seen.module_trapped.at
    print(ROW.format(situation, page.what, str(page.place), reads, seen.verdict, trapped, f"{seen.ns / 1000:.2f}"))


def disk_rates(disk):
    """By name of HOT_REGISTERS: 4 KiB reads in a second, and their ratio to the first in the same round; medians."""
    rounds = [[REQUESTS / disk.read_blocks(REQUESTS, register) * 1e9 for _, register in HOT_REGISTERS]
              for _ in range(ROUNDS)]
    return {name: (statistics.median(rates[number] for rates in rounds),
                   statistics.median(rates[number] / rates[0] for rates in rounds))
            for number, (name, _) in enumerate(HOT_REGISTERS)}


def show_rates(rates):
    """A row for each situation."""
    print("\n4 KiB random reads in a second, one at a time; the driver reads a register in every request:\n")
    print(f"{'situation':28}" + "".join(f"{name:>22}" for name, _ in HOT_REGISTERS))
    for situation, by_register in rates.items():
        cells = (f"{rate:.0f} (x {ratio:.2f})" for rate, ratio in by_register.values())
        print(f"{situation:28}" + "".join(f"{cell:>22}" for cell in cells))


def show_pat(pat, guest):
    show_lines("\nPAT that the guest had in force, and how often the host's CPU entered the guest with it:",
               [f"{value:#018x} {count}" for (value,), count in sorted(pat.entries_while_written(guest).items())]
               + [f"({WANTED:#018x} was written for a moment)"])


def show_lines(title, lines):
    for line in ([title] if title else []) + ["    " + line for line in lines]:
        print(line, flush=True)


if __name__ == "__main__":
    try:
        main()
    except (Failure, GuestLost, CommandFailed, CheckFailed, OSError) as failure:
        sys.exit(f"make run-host: {failure}")
    except KeyboardInterrupt:
        sys.exit("\nmake run-host: interrupted")
