// SPDX-License-Identifier: GPL-2.0
/* What this CPU says of itself: CPUID, the MSRs of PAT and MTRRs, and page tables. */
#include <linux/cc_platform.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <asm/cpufeature.h>
#include <asm/pgtable.h>

#include "compat.h"
#include "cpu.h"
#include "pat.h"

static enum gmt_hypervisor hypervisor(void)
{
	if (!boot_cpu_has(X86_FEATURE_HYPERVISOR))
		return GMT_HV_NONE;
	/* a KVM that also speaks Hyper-V's interface has its own at a higher base */
	if (cpuid_base_hypervisor("KVMKVMKVM\0\0\0", 0))
		return GMT_HV_KVM;
	return cpuid_base_hypervisor("TCGTCGTCGTCG", 0) ? GMT_HV_TCG : GMT_HV_OTHER;
}

static enum gmt_vendor vendor(void)
{
	switch (boot_cpu_data.x86_vendor) {
	case X86_VENDOR_INTEL:
		return GMT_VENDOR_INTEL;
	case X86_VENDOR_AMD:
	case X86_VENDOR_HYGON:
		return GMT_VENDOR_AMD;
	default:
		return GMT_VENDOR_UNKNOWN;
	}
}

/* What cannot be read counts as zero: it is not there. */
static u64 read_msr(u32 msr)
{
	u64 value;

	return rdmsrq_safe(msr, &value) ? 0 : value;
}

/**
 * gmt_read_machine() - where this guest runs
 * @machine: to fill in
 *
 * Context: any; the CPUs have the same PAT.
 */
void gmt_read_machine(struct gmt_machine *machine)
{
	machine->hypervisor = hypervisor();
	machine->vendor = vendor();
	machine->encrypted = cc_platform_has(CC_ATTR_GUEST_MEM_ENCRYPT);
	machine->pat = boot_cpu_has(X86_FEATURE_PAT) ? read_msr(GMT_MSR_PAT) : 0;
}

/**
 * gmt_read_mtrrs() - the MTRRs
 * @mtrrs: to fill in
 *
 * Context: any; the CPUs have the same.
 */
void gmt_read_mtrrs(struct gmt_mtrrs *mtrrs)
{
	unsigned int i;

	*mtrrs = (struct gmt_mtrrs){ .supported = boot_cpu_has(X86_FEATURE_MTRR) };
	if (!mtrrs->supported)
		return;
	mtrrs->cap = read_msr(GMT_MSR_MTRRCAP);
	mtrrs->def_type = read_msr(GMT_MSR_MTRR_DEF_TYPE);
	for (i = 0; i < GMT_MTRR_FIXED; i++)
		mtrrs->fixed[i] = read_msr(gmt_mtrr_fixed_msrs[i]);
	mtrrs->ranges = min_t(unsigned int, mtrrs->cap & GMT_MTRRCAP_VCNT, GMT_MTRR_RANGES);
	for (i = 0; i < mtrrs->ranges; i++) {
		mtrrs->range[i].base = read_msr(GMT_MSR_MTRR_VAR_BASE(i));
		mtrrs->range[i].mask = read_msr(GMT_MSR_MTRR_VAR_MASK(i));
	}
}

/**
 * gmt_page_entry() - which entry of the PAT a mapping asks for
 * @addr: address in the kernel's page tables, mapped for as long as this runs
 * @pat_index: where to write the entry
 * @large: where to write whether the page is larger than 4 KiB
 *
 * Context: any.
 * Return: false if nothing is mapped there.
 */
bool gmt_page_entry(const void *addr, unsigned int *pat_index, bool *large)
{
	unsigned int level;
	pte_t *pte = lookup_address((unsigned long)addr, &level);

	if (!pte || pte_none(*pte))
		return false;
	*large = level != PG_LEVEL_4K;
	*pat_index = gmt_pat_index(pte_val(*pte), *large);
	return true;
}
