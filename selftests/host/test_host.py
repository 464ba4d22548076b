#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Is what we say in a guest what a real KVM and VFIO host does: which pages trap, how often, and which PAT is in force?

Counts are compared exactly: reads that the guest did with reads that the host saw. Of times only that a trapped read
takes many times as long as a direct one.
"""

import contextlib
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

# pylint: disable=wrong-import-position
from lib import kernels, ktap
from lib.checks import case, expect, expect_at_least

import assigned
import be2net
from function import Function, Place
from host_count import ReadCount, Trapped
from observation import observe
from pat import GuestPat
from situations import NVME_PBA_PAGE, NVME_TABLE_PAGE, RUNG, SUBJECTS, E1000e, Nvme, PbaPage, Relocated

READS = 500
REQUESTS = 100
LEAST_RATIO = 20
VERDICTS = {True: "trapped", False: "direct"}


def main():
    suite = ktap.Suite("host")
    kernel = kernels.wanted()
    with assigned.host(kernel) as (host, models), pat_cases(suite, host, is_coherent=False) as guest:
        Assigned(suite, host, guest, models).run()
    with assigned.coherent_host(kernel) as host, pat_cases(suite, host, is_coherent=True):
        pass
    suite.finish()


@contextlib.contextmanager
def pat_cases(suite, host, is_coherent):
    """Yields a guest of the host with everything assigned. What the host made of it is asked before and afterwards."""
    kind = "coherent" if is_coherent else "non-coherent"
    pat = GuestPat(host)
    with pat.noncoherent_assignments() as assignments, assigned.guest(host) as guest:
        with case(suite, guest, f"{kind} assignment: the PAT that the guest writes is in force in the host's VMCB"):
            pat.check(guest)
        yield guest
    with suite.case(f"{kind} assignment: KVM was told so"):
        expect("calls of kvm_arch_register_noncoherent_dma()", assignments.calls(), 0 if is_coherent else 1)


class Assigned:
    """Everything that is asked of one guest."""

    def __init__(self, suite, host, guest, models):
        self.suite, self.host, self.guest, self.models = suite, host, guest, models
        self.costs = {True: [], False: []}      # of a read in ns, by whether it is trapped

    def run(self):
        for subject in (subject(self.guest) for subject in SUBJECTS):
            for situation in subject.situations():
                with self.case(f"{situation.name}: guest, msix_pba and host agree on every page"):
                    situation.enter()
                    for page in situation.pages:
                        self.check_page(subject, page)
                if isinstance(subject, Nvme):
                    self.requests(subject, situation)
        with self.case("the layouts that msix_pba found"):
            self.check_layouts()
        with self.case(f"a trapped read takes more than {LEAST_RATIO} times as long as a direct one"):
            self.check_ratio()
        with self.case("be2net: the stock driver pings its host over our model"):
            be2net.ping(self.host, self.guest)

    @contextlib.contextmanager
    def case(self, name):
        """One that also fails when either kernel complains meanwhile."""
        with case(self.suite, self.guest, name):
            yield
            expect("complaints of the host", self.host.vm.kernel_complaints(), [])

    def check_page(self, subject, page):
        seen = observe(self.host, subject.function, page.place, READS)
        self.costs[page.is_trapped].append(seen.ns)
        expect(f"trapped reads of {page.what}", seen.trapped, Trapped(READS if page.is_trapped else 0, 0))
        expect(f"what msix_pba says of {page.what}", seen.verdict, VERDICTS[page.is_trapped])
        expect(f"trapped reads of {page.what} by msix_pba", seen.module_trapped,
               Trapped(seen.module_reads if page.is_trapped else 0, 0))
        if isinstance(subject, PbaPage) and page.place == RUNG:
            expect("the register as the guest reads it", subject.function.read(RUNG, 1).value,
                   self.models[PbaPage.name].counters()["rung"])

    def requests(self, subject, situation):
        """A disk's requests, each of which reads a register."""
        trapped = {page.place: page.is_trapped for page in situation.pages
                   if page.place in (NVME_PBA_PAGE, NVME_TABLE_PAGE)}
        with self.case(f"{situation.name}: a request traps once where its register does, and not at all elsewhere"):
            for place, is_trapped in trapped.items():
                with ReadCount(self.host, subject.function, place) as count:
                    subject.function.read_blocks(REQUESTS, place.offset)
                expect(f"trapped reads at {place}", count.trapped, Trapped(REQUESTS if is_trapped else 0, 0))

    def check_layouts(self):
        for name, want in ((Nvme.name, (Place(0, 0x2000), Place(0, 0x3000))),
                           (Relocated.name, (Place(2, 0), Place(2, 0x410))),
                           (E1000e.name, (Place(3, 0), Place(3, 0x2000))),
                           (PbaPage.name, (Place(0, 0x2000), Place(0, 0x3800)))):
            expect(f"table and PBA of {name}", Function(self.guest, name).layout(), want)

    def check_ratio(self):
        trapped, direct = (statistics.median(self.costs[is_trapped]) for is_trapped in (True, False))
        ktap.say(f"# a trapped read takes {trapped:.0f} ns, a direct one {direct:.0f}")
        expect_at_least("ratio", trapped / direct, LEAST_RATIO)


if __name__ == "__main__":
    main()
