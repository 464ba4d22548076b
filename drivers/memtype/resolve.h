/* SPDX-License-Identifier: GPL-2.0 */
/* What comes out when several parties name a memory type: the CPUs' own tables. */
#ifndef _GMT_RESOLVE_H
#define _GMT_RESOLVE_H

#include "memtype.h"

/**
 * struct gmt_ept_entry - what an entry of Intel's nested page table says of memory types
 * @code: bits 5:3
 * @ignore_pat: bit 6: the guest's PAT does not count
 */
struct gmt_ept_entry {
	u8 code;
	bool ignore_pat;
};

enum gmt_type gmt_intel_native(enum gmt_type mtrr, enum gmt_type pat);
enum gmt_type gmt_intel_nested(struct gmt_ept_entry entry, enum gmt_type guest_pat,
			       bool paging, bool cache_disabled);
enum gmt_type gmt_amd_native(enum gmt_type mtrr, enum gmt_type pat);
enum gmt_type gmt_amd_nested(enum gmt_type guest_pat, enum gmt_type host_pat,
			     enum gmt_type host_mtrr);

#endif /* _GMT_RESOLVE_H */
