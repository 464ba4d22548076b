/* SPDX-License-Identifier: GPL-2.0 */
/* What KVM hosts, by vendor of the CPU and age of the kernel, make of a guest's memory types. */
#ifndef _GMT_HOST_POLICY_H
#define _GMT_HOST_POLICY_H

#include "memtype.h"

/**
 * enum gmt_policy - how a host chooses memory types for its guests
 * @GMT_VMX_2008: Intel, before Linux 2.6.30: everything is memory
 * @GMT_VMX_2009: Intel, 2.6.30 to 4.1: device memory is UC, the guest's PAT counts there
 * @GMT_VMX_SERIES: Intel, 4.2: the guest's MTRRs count for device memory
 * @GMT_VMX_4_3: Intel, 4.3 to 6.6
 * @GMT_VMX_6_7: Intel, 6.7 to 6.10
 * @GMT_VMX_6_11_RC: Intel, only candidates for 6.11: the guest's PAT counts for RAM
 * @GMT_VMX_6_11: Intel, 6.11 to 6.15: the guest's MTRRs count nowhere any more
 * @GMT_VMX_QUIRK: Intel, from 6.16 and the 6.12 of that time: as 6.11, unless the
 *	VMM turns a quirk off
 * @GMT_SVM_OLD: AMD, before 4.14 but for 4.2: the guest's PAT does not reach the CPU
 * @GMT_SVM_SERIES: AMD, 4.2: the guest's MTRRs through the nested page table
 * @GMT_SVM_4_14: AMD, from 4.14: the guest's PAT counts
 * @GMT_SHADOW: either, without nested paging
 * @GMT_POLICIES: number of values
 */
enum gmt_policy {
	GMT_VMX_2008,
	GMT_VMX_2009,
	GMT_VMX_SERIES,
	GMT_VMX_4_3,
	GMT_VMX_6_7,
	GMT_VMX_6_11_RC,
	GMT_VMX_6_11,
	GMT_VMX_QUIRK,
	GMT_SVM_OLD,
	GMT_SVM_SERIES,
	GMT_SVM_4_14,
	GMT_SHADOW,
	GMT_POLICIES
};

/**
 * enum gmt_vendor - whose CPU the host has
 * @GMT_VENDOR_UNKNOWN: it does not say, or is neither of these
 * @GMT_VENDOR_INTEL: Intel
 * @GMT_VENDOR_AMD: AMD, or Hygon
 */
enum gmt_vendor {
	GMT_VENDOR_UNKNOWN,
	GMT_VENDOR_INTEL,
	GMT_VENDOR_AMD,
};

/**
 * struct gmt_host - a host and what it knows of the virtual machine
 * @policy: by vendor and age
 * @pat: its own PAT
 * @noncoherent: a device is assigned whose DMA does not look into caches
 * @assigned: any device is assigned
 * @honours_pat: the VMM has turned KVM_X86_QUIRK_IGNORE_GUEST_PAT off
 * @keeps_caches_on: KVM_X86_QUIRK_CD_NW_CLEARED, which is on unless the VMM turns it off
 * @self_snoop: the CPU looks into its own caches on uncached accesses
 */
struct gmt_host {
	enum gmt_policy policy;
	u64 pat;
	bool noncoherent;
	bool assigned;
	bool honours_pat;
	bool keeps_caches_on;
	bool self_snoop;
};

/**
 * struct gmt_page - a page of the guest
 * @device: it is device memory for the host, not RAM
 * @large: the nested page table maps it with more than 4 KiB
 * @pat_index: entry of the PAT that the guest's page table asks for
 * @pat: the guest's PAT, as it wrote it
 * @mtrr: what KVM takes the guest's MTRRs to say: gmt_mtrr_lookup_kvm()
 * @host_mtrr: what the host's MTRRs say of the memory behind it
 * @cache_disabled: the guest's CR0.CD
 */
struct gmt_page {
	bool device;
	bool large;
	unsigned int pat_index;
	u64 pat;
	enum gmt_type mtrr;
	enum gmt_type host_mtrr;
	bool cache_disabled;
};

/**
 * struct gmt_effect - what comes out
 * @type: the effective type
 * @unlike_asked: it is not what the guest's PAT says
 * @cached_device: the CPU may cache device memory
 */
struct gmt_effect {
	enum gmt_type type;
	bool unlike_asked;
	bool cached_device;
};

/**
 * enum gmt_fit - how well a PAT has a memory type
 * @GMT_FIT_EXACT: it has it
 * @GMT_FIT_STRICTER: something stricter stands for it, as in the series of 2015
 * @GMT_FIT_FATAL: something stricter stands for it; the series of 2015 had BUG() there
 * @GMT_FIT_NONE: it has nothing that is strict enough
 */
enum gmt_fit {
	GMT_FIT_EXACT,
	GMT_FIT_STRICTER,
	GMT_FIT_FATAL,
	GMT_FIT_NONE,
};

enum gmt_fit gmt_pat_fit(u64 pat, enum gmt_type type, unsigned int *index);
struct gmt_effect gmt_resolve(const struct gmt_host *host, const struct gmt_page *page);
enum gmt_vendor gmt_policy_vendor(enum gmt_policy policy);
const char *gmt_policy_name(enum gmt_policy policy);

#endif /* _GMT_HOST_POLICY_H */
