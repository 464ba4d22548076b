/* SPDX-License-Identifier: GPL-2.0 */
/* Memory type range registers, as values. */
#ifndef _GMT_MTRR_H
#define _GMT_MTRR_H

#include "memtype.h"

/* MSRs: Intel SDM volume 4, "IA-32 architectural MSRs". */
#define GMT_MSR_MTRRCAP		0x0fe
#define GMT_MSR_MTRR_VAR_BASE(n) (0x200 + 2 * (n))
#define GMT_MSR_MTRR_VAR_MASK(n) (0x201 + 2 * (n))
#define GMT_MSR_MTRR_DEF_TYPE	0x2ff
#define GMT_MSR_PAT		0x277

#define GMT_MTRRCAP_VCNT	0xff
/* More than any CPU has: 10 at most on Intel, 8 on AMD. */
#define GMT_MTRR_RANGES		32
/* 8 of 64 KiB, 16 of 16 KiB, 64 of 4 KiB: together the first MiB. */
#define GMT_MTRR_FIXED		11

/**
 * struct gmt_mtrr_range - one variable range
 * @base: its MTRRphysBase
 * @mask: its MTRRphysMask
 */
struct gmt_mtrr_range {
	u64 base;
	u64 mask;
};

/**
 * struct gmt_mtrrs - all of them
 * @supported: CPUID says that there are MTRRs
 * @cap: MTRRcap
 * @def_type: MTRRdefType
 * @fixed: the fixed ranges' MSRs, by address
 * @ranges: number of entries in @range
 * @range: the variable ranges
 */
struct gmt_mtrrs {
	bool supported;
	u64 cap;
	u64 def_type;
	u64 fixed[GMT_MTRR_FIXED];
	unsigned int ranges;
	struct gmt_mtrr_range range[GMT_MTRR_RANGES];
};

extern const u16 gmt_mtrr_fixed_msrs[GMT_MTRR_FIXED];

bool gmt_mtrr_enabled(const struct gmt_mtrrs *mtrrs);
enum gmt_type gmt_mtrr_lookup(const struct gmt_mtrrs *mtrrs, u64 addr);
enum gmt_type gmt_mtrr_lookup_kvm(const struct gmt_mtrrs *mtrrs, u64 addr);
bool gmt_mtrr_value_valid(u32 msr, u64 value, unsigned int phys_bits);
u64 gmt_mtrr_range_size(const struct gmt_mtrr_range *range, unsigned int phys_bits);

#endif /* _GMT_MTRR_H */
