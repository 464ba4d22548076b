// SPDX-License-Identifier: GPL-2.0
/*
 * What KVM hosts make of the memory types of a guest. Each policy says where it stands
 * in KVM; the tables of the CPUs are in resolve.c.
 */
#include <linux/errno.h>
#include <linux/kernel.h>

#include "host_policy.h"
#include "pat.h"
#include "resolve.h"

/* What svm_set_guest_pat() of the series put in force while no device was assigned. */
#define PAT_ALL_WB 0x0606060606060606ULL

/* Where the code and the ignore-PAT bit of an EPT entry come from. */
enum source {
	WB_IGNORE_PAT,
	WB,
	UC,
	GUEST_MTRR,
};

/* What CR0.CD of the guest makes of an entry that would come from its MTRRs. */
enum on_cache_disable {
	CD_NOTHING,
	CD_IGNORE_PAT,		/* one type: UC, or WB where the quirk keeps caches on */
	CD_WB_WITH_PAT,		/* the same, but that the quirk lets the PAT count */
};

/*
 * vmx_get_mt_mask() of arch/x86/kvm/vmx.c, later vmx/vmx.c. Of 6.7 to 6.10, and of the
 * candidates of 6.11, only the words of the commits were looked at.
 */
static const struct vmx_policy {
	enum source device;
	enum source ram;
	enum source ram_noncoherent;
	enum on_cache_disable on_cache_disable;
} vmx_policies[] = {
	[GMT_VMX_2008]	  = { WB_IGNORE_PAT, WB_IGNORE_PAT, WB_IGNORE_PAT, CD_NOTHING },
	[GMT_VMX_2009]	  = { UC, WB_IGNORE_PAT, GUEST_MTRR, CD_NOTHING },
	[GMT_VMX_SERIES]  = { GUEST_MTRR, WB_IGNORE_PAT, GUEST_MTRR, CD_IGNORE_PAT },
	[GMT_VMX_4_3]	  = { UC, WB_IGNORE_PAT, GUEST_MTRR, CD_IGNORE_PAT },
	[GMT_VMX_6_7]	  = { UC, WB_IGNORE_PAT, GUEST_MTRR, CD_WB_WITH_PAT },
	[GMT_VMX_6_11_RC] = { UC, WB, WB, CD_NOTHING },
	[GMT_VMX_6_11]	  = { UC, WB_IGNORE_PAT, WB, CD_NOTHING },
	[GMT_VMX_QUIRK]	  = { UC, WB_IGNORE_PAT, WB, CD_NOTHING },
};

static const char * const names[GMT_POLICIES] = {
	[GMT_VMX_2008]	  = "Intel, Linux before 2.6.30",
	[GMT_VMX_2009]	  = "Intel, Linux 2.6.30 to 4.1",
	[GMT_VMX_SERIES]  = "Intel, Linux 4.2",
	[GMT_VMX_4_3]	  = "Intel, Linux 4.3 to 6.6",
	[GMT_VMX_6_7]	  = "Intel, Linux 6.7 to 6.10",
	[GMT_VMX_6_11_RC] = "Intel, candidates of Linux 6.11",
	[GMT_VMX_6_11]	  = "Intel, Linux 6.11 to 6.15",
	[GMT_VMX_QUIRK]	  = "Intel, Linux 6.16 or later",
	[GMT_SVM_OLD]	  = "AMD, Linux before 4.14",
	[GMT_SVM_SERIES]  = "AMD, Linux 4.2",
	[GMT_SVM_4_14]	  = "AMD, Linux 4.14 or later",
	[GMT_SHADOW]	  = "without nested paging",
};

/**
 * gmt_policy_name() - a policy in words
 * @policy: below GMT_POLICIES
 *
 * Context: any.
 * Return: a string that stays.
 */
const char *gmt_policy_name(enum gmt_policy policy)
{
	return names[policy];
}

/**
 * gmt_policy_vendor() - on whose CPUs a policy is found
 * @policy: below GMT_POLICIES
 *
 * Context: any.
 * Return: the vendor, GMT_VENDOR_UNKNOWN for both.
 */
enum gmt_vendor gmt_policy_vendor(enum gmt_policy policy)
{
	if (policy <= GMT_VMX_QUIRK)
		return GMT_VENDOR_INTEL;
	return policy == GMT_SHADOW ? GMT_VENDOR_UNKNOWN : GMT_VENDOR_AMD;
}

/* What may stand for a type that a PAT lacks, best first. */
static const enum gmt_type stricter[GMT_ENCODED][2] = {
	[GMT_UC]	= { GMT_UC_MINUS, GMT_UC_MINUS },
	[GMT_UC_MINUS]	= { GMT_UC, GMT_UC },
	[GMT_WC]	= { GMT_UC_MINUS, GMT_UC },
	[GMT_WT]	= { GMT_UC, GMT_UC_MINUS },
	[GMT_WP]	= { GMT_UC_MINUS, GMT_UC },
	/* no host lacks it: KVM does not load without it in entry 0 */
	[GMT_WB]	= { GMT_UC_MINUS, GMT_UC },
};

/**
 * gmt_pat_fit() - the entry of a host's PAT that has a guest's memory type
 * @pat: the host's PAT
 * @type: type of a guest's MTRR
 * @index: where to write the entry, unless the result is GMT_FIT_NONE
 *
 * The series of 2015 did this once at module load: it let UC stand for WT and UC- for
 * WP, and ended in BUG() where anything else was missing, WC of all on a host that is
 * as the CPU powers on. Here something stricter always stands for what is missing.
 *
 * Context: any.
 * Return: how well it fits.
 */
enum gmt_fit gmt_pat_fit(u64 pat, enum gmt_type type, unsigned int *index)
{
	unsigned int i;
	int exact;

	if (type >= GMT_ENCODED)
		return GMT_FIT_NONE;
	exact = gmt_pat_find(pat, type);
	if (exact >= 0) {
		*index = exact;
		return GMT_FIT_EXACT;
	}
	for (i = 0; i < ARRAY_SIZE(stricter[type]); i++) {
		int found = gmt_pat_find(pat, stricter[type][i]);

		if (found < 0)
			continue;
		*index = found;
		return !i && (type == GMT_WT || type == GMT_WP) ? GMT_FIT_STRICTER : GMT_FIT_FATAL;
	}
	return GMT_FIT_NONE;
}

static struct gmt_ept_entry entry_of(enum gmt_type type, bool ignore_pat)
{
	return (struct gmt_ept_entry){ gmt_code_of_type(type), ignore_pat };
}

static struct gmt_ept_entry guest_mtrr_entry(const struct gmt_host *host,
					     const struct gmt_page *page,
					     enum on_cache_disable on_cache_disable)
{
	if (!page->cache_disabled || on_cache_disable == CD_NOTHING)
		return entry_of(page->mtrr, false);
	if (!host->keeps_caches_on)
		return entry_of(GMT_UC, true);
	return entry_of(GMT_WB, on_cache_disable == CD_IGNORE_PAT);
}

static enum source vmx_source(const struct gmt_host *host, const struct gmt_page *page)
{
	const struct vmx_policy *policy = &vmx_policies[host->policy];

	if (page->device)
		return policy->device;
	if (host->noncoherent)
		return policy->ram_noncoherent;
	if (host->policy == GMT_VMX_6_11_RC && !host->self_snoop)
		return WB_IGNORE_PAT;
	/* the quirk can be turned off only where the CPU snoops itself */
	if (host->policy == GMT_VMX_QUIRK && host->honours_pat && host->self_snoop)
		return WB;
	return policy->ram;
}

static struct gmt_ept_entry vmx_entry(const struct gmt_host *host, const struct gmt_page *page)
{
	switch (vmx_source(host, page)) {
	case WB_IGNORE_PAT:
		return entry_of(GMT_WB, true);
	case WB:
		return entry_of(GMT_WB, false);
	case UC:
		return entry_of(GMT_UC, false);
	default:
		return guest_mtrr_entry(host, page, vmx_policies[host->policy].on_cache_disable);
	}
}

/* The PAT that the CPU has for the guest: init_vmcb(), svm_set_msr(), svm_set_guest_pat(). */
static u64 svm_guest_pat(const struct gmt_host *host, const struct gmt_page *page)
{
	switch (host->policy) {
	case GMT_SVM_OLD:
		return GMT_PAT_POWER_ON;
	case GMT_SVM_SERIES:
		return host->assigned ? page->pat : PAT_ALL_WB;
	default:
		return page->pat;
	}
}

/* The entry of the host's PAT that a nested page table asks for: svm_get_mt_mask(). */
static int svm_host_index(const struct gmt_host *host, const struct gmt_page *page)
{
	unsigned int index;

	if (host->policy != GMT_SVM_SERIES || (!page->device && !host->assigned))
		return 0;
	if (gmt_pat_fit(host->pat, page->mtrr, &index) == GMT_FIT_NONE)
		return -ENOENT;
	/* the series put the third bit where a large page has its size */
	return page->large ? index & 3 : index;
}

static enum gmt_type svm_type(const struct gmt_host *host, const struct gmt_page *page)
{
	int host_index = svm_host_index(host, page);

	if (host_index < 0)
		return GMT_INVALID;
	return gmt_amd_nested(gmt_pat_entry(svm_guest_pat(host, page), page->pat_index),
			      gmt_pat_entry(host->pat, host_index), page->host_mtrr);
}

static enum gmt_type effective_type(const struct gmt_host *host, const struct gmt_page *page,
				    enum gmt_type asked)
{
	/* mmu/spte.c:kvm_mmu_reset_all_pte_masks(): always WB */
	if (host->policy == GMT_SHADOW)
		return gmt_intel_native(page->host_mtrr, GMT_WB);
	if (gmt_policy_vendor(host->policy) == GMT_VENDOR_AMD)
		return svm_type(host, page);
	return gmt_intel_nested(vmx_entry(host, page), asked, true, false);
}

/* UC- stands for UC wherever no MTRR of the host says WC; CD is uncached, too, and WC+ combines. */
static bool same_class(enum gmt_type asked, enum gmt_type got)
{
	if (asked == GMT_UC || asked == GMT_UC_MINUS)
		return got == GMT_UC || got == GMT_CD;
	if (asked == GMT_WC)
		return gmt_combines_writes(got);
	return asked == got;
}

static bool is_cached(enum gmt_type type)
{
	return type == GMT_WT || type == GMT_WP || type == GMT_WB;
}

/**
 * gmt_resolve() - the memory type of a page of a guest under a host
 * @host: the host
 * @page: the page, mapped straight to the guest. Where each access is emulated
 *	there is no memory type.
 *
 * Context: any.
 * Return: what comes out.
 */
struct gmt_effect gmt_resolve(const struct gmt_host *host, const struct gmt_page *page)
{
	enum gmt_type asked = gmt_pat_entry(page->pat, page->pat_index);
	struct gmt_effect effect = { .type = effective_type(host, page, asked) };

	effect.unlike_asked = !same_class(asked, effect.type);
	effect.cached_device = page->device && is_cached(effect.type);
	return effect;
}
