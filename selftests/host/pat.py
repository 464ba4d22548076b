# SPDX-License-Identifier: GPL-2.0
"""The guest's PAT as the CPU has it: what the host's kernel loads from the VMCB with each entry of the guest.

AMD64 Architecture Programmer's Manual, volume 2, 15.25.8: with nested paging G_PAT of the VMCB's save area is the
guest's PAT. Where it lies for this kernel, its type information says.
"""

from lib.checks import expect

from btf import Btf
from function import PROBE
from tracing import Probe

TYPES = "/sys/kernel/btf"
# The kernel's own, but for entry 5 (write-protected), which it uses for encrypted memory only.
# Nothing else writes this.
WANTED = 0x0407000600070106


class GuestPat:
    def __init__(self, host):
        self.host = host
        kernel_types = Btf(host.fetch(f"{TYPES}/vmlinux"))
        types = Btf(host.fetch(f"{TYPES}/kvm_amd"), kernel_types)
        vmcb = types.offset("vcpu_svm", "vmcb")
        g_pat = types.offset("vmcb", "save") + types.offset("vmcb_save_area", "g_pat")
        # The first argument of svm_vcpu_run() is the vCPU in a struct vcpu_svm.
        self.where = f"+{g_pat}(+{vmcb - types.offset('vcpu_svm', 'vcpu')}(%di)):x64"

    def entries(self):
        """Counts the entries of the guest by the PAT in force."""
        return Probe(self.host.vm, "svm_vcpu_run", {"pat": self.where}, ["pat.hex"])

    def noncoherent_assignments(self):
        """Counts how often KVM is told of a device whose DMA does not see caches."""
        return Probe(self.host.vm, "kvm_arch_register_noncoherent_dma")

    def entries_while_written(self, guest):
        """The counts by value while the guest writes WANTED, for a moment."""
        with self.entries() as entries:
            guest.run(f"echo {WANTED:#x} >{PROBE}/pat")
        return entries.counts

    def check(self, guest):
        """The guest's own value is in force, and only that; then the wanted one, for as long as it is written."""
        own = int(guest.run(f"cat {PROBE}/pat"), 16)
        with self.entries() as before:
            guest.run("true")
        expect("PATs in force", values(before.counts), [hex(own)])
        expect("PATs in force", values(self.entries_while_written(guest)), sorted(map(hex, (own, WANTED))))


def values(counts):
    return sorted(hex(value) for value, in counts)
