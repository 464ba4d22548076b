// SPDX-License-Identifier: GPL-2.0
/*
 * Memory type range registers. Rules and layouts: Intel SDM volume 3, "Memory Type
 * Range Registers (MTRRs)"; AMD APM volume 2, 7.7.
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/sizes.h>

#include "mtrr.h"

#define CAP_FIX			BIT_ULL(8)

#define DEF_TYPE_TYPE		GENMASK_ULL(7, 0)
#define DEF_TYPE_FIXED		BIT_ULL(10)
#define DEF_TYPE_ENABLED	BIT_ULL(11)

#define BASE_TYPE		GENMASK_ULL(7, 0)
#define BASE_RESERVED		GENMASK_ULL(11, 8)
#define MASK_VALID		BIT_ULL(11)
#define MASK_RESERVED		GENMASK_ULL(10, 0)
#define ADDRESS			GENMASK_ULL(63, 12)

/* Where ranges of 16 KiB and of 4 KiB begin, those of 64 KiB being below. */
#define FIXED_16K		0x80000
#define FIXED_4K		0xc0000

const u16 gmt_mtrr_fixed_msrs[GMT_MTRR_FIXED] = {
	0x250, 0x258, 0x259,
	0x268, 0x269, 0x26a, 0x26b, 0x26c, 0x26d, 0x26e, 0x26f,
};

/**
 * gmt_mtrr_enabled() - do they say anything?
 * @mtrrs: the registers
 *
 * Context: any.
 * Return: false where all memory is of one type.
 */
bool gmt_mtrr_enabled(const struct gmt_mtrrs *mtrrs)
{
	return mtrrs->supported && mtrrs->def_type & DEF_TYPE_ENABLED;
}

static bool fixed_ranges_apply(const struct gmt_mtrrs *mtrrs, u64 addr)
{
	return addr < SZ_1M && mtrrs->cap & CAP_FIX &&
	       mtrrs->def_type & DEF_TYPE_FIXED;
}

/* A fixed MSR has the types of eight ranges, one byte each. */
static enum gmt_type fixed_type(const struct gmt_mtrrs *mtrrs, u32 addr)
{
	unsigned int byte;

	if (addr < FIXED_16K)
		byte = addr / SZ_64K;
	else if (addr < FIXED_4K)
		byte = 8 + (addr - FIXED_16K) / SZ_16K;
	else
		byte = 24 + (addr - FIXED_4K) / SZ_4K;
	return gmt_type_of_code(mtrrs->fixed[byte / 8] >> (byte % 8 * 8));
}

static bool range_has(const struct gmt_mtrr_range *range, u64 addr)
{
	u64 mask = range->mask & ADDRESS;

	return range->mask & MASK_VALID &&
	       (addr & mask) == (range->base & mask);
}

static enum gmt_type range_type(const struct gmt_mtrr_range *range)
{
	return gmt_type_of_code(range->base & BASE_TYPE);
}

static enum gmt_type default_type(const struct gmt_mtrrs *mtrrs)
{
	return gmt_type_of_code(mtrrs->def_type & DEF_TYPE_TYPE);
}

/* SDM, "MTRR precedences": what two ranges with the same address make of it. */
static enum gmt_type overlap(enum gmt_type one, enum gmt_type other)
{
	if (one == other)
		return one;
	if (one == GMT_UC || other == GMT_UC)
		return GMT_UC;
	if ((one == GMT_WT && other == GMT_WB) ||
	    (one == GMT_WB && other == GMT_WT))
		return GMT_WT;
	return GMT_UNDEFINED;
}

/**
 * gmt_mtrr_lookup() - the memory type of an address
 * @mtrrs: the registers
 * @addr: physical address
 *
 * Context: any.
 * Return: the type, GMT_UNDEFINED where ranges overlap that must not.
 */
enum gmt_type gmt_mtrr_lookup(const struct gmt_mtrrs *mtrrs, u64 addr)
{
	enum gmt_type type = GMT_INVALID;
	unsigned int i;

	if (!gmt_mtrr_enabled(mtrrs))
		return GMT_UC;
	if (fixed_ranges_apply(mtrrs, addr))
		return fixed_type(mtrrs, addr);
	for (i = 0; i < mtrrs->ranges; i++) {
		const struct gmt_mtrr_range *range = &mtrrs->range[i];

		if (!range_has(range, addr))
			continue;
		if (type == GMT_INVALID)
			type = range_type(range);
		else
			type = overlap(type, range_type(range));
		/* whatever else overlaps, UC prevails over what is undefined */
		if (type == GMT_UC)
			return type;
	}
	return type == GMT_INVALID ? default_type(mtrrs) : type;
}

/* Of the ranges with that address the one that KVM looks at after @last. */
static const struct gmt_mtrr_range *next_by_base(const struct gmt_mtrrs *mtrrs, u64 addr,
						 const struct gmt_mtrr_range *last)
{
	const struct gmt_mtrr_range *next = NULL;
	unsigned int i;

	/* from the highest base downwards; where bases are equal UC comes last, by its code */
	for (i = 0; i < mtrrs->ranges; i++) {
		const struct gmt_mtrr_range *range = &mtrrs->range[i];

		if (range_has(range, addr) &&
		    (!last || range->base < last->base ||
		     (range->base == last->base && range > last)) &&
		    (!next || range->base > next->base))
			next = range;
	}
	return next;
}

/**
 * gmt_mtrr_lookup_kvm() - what KVM took a guest's MTRRs to say, up to Linux 6.10
 * @mtrrs: the guest's registers
 * @addr: guest-physical address
 *
 * arch/x86/kvm/mtrr.c:kvm_mtrr_get_guest_memory_type of Linux 6.1. It differs from
 * the architecture: of overlapping ranges it sees UC only if that is not the one with
 * the highest base, and it takes WB for what is undefined.
 *
 * Context: any.
 * Return: the type.
 */
enum gmt_type gmt_mtrr_lookup_kvm(const struct gmt_mtrrs *mtrrs, u64 addr)
{
	const struct gmt_mtrr_range *range;
	enum gmt_type type;

	if (!mtrrs->supported)
		return GMT_WB;
	if (!gmt_mtrr_enabled(mtrrs))
		return GMT_UC;
	if (fixed_ranges_apply(mtrrs, addr))
		return fixed_type(mtrrs, addr);
	range = next_by_base(mtrrs, addr, NULL);
	if (!range)
		return default_type(mtrrs);
	type = range_type(range);
	while ((range = next_by_base(mtrrs, addr, range))) {
		if (range_type(range) == type)
			continue;
		if (type == GMT_UC)
			return GMT_WB;
		type = overlap(type, range_type(range));
		if (type == GMT_UC)
			return type;
		if (type == GMT_UNDEFINED)
			return GMT_WB;
	}
	return type;
}

static bool mtrr_type_valid(u8 code)
{
	enum gmt_type type = gmt_type_of_code(code);

	return type != GMT_INVALID && type != GMT_UC_MINUS;
}

static bool is_fixed_msr(u32 msr)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(gmt_mtrr_fixed_msrs); i++)
		if (gmt_mtrr_fixed_msrs[i] == msr)
			return true;
	return false;
}

static bool fixed_value_valid(u64 value)
{
	unsigned int byte;

	for (byte = 0; byte < 8; byte++)
		if (!mtrr_type_valid(value >> (8 * byte)))
			return false;
	return true;
}

/**
 * gmt_mtrr_value_valid() - would a CPU take this value?
 * @msr: number of an MTRR
 * @value: what is written to it
 * @phys_bits: width of physical addresses
 *
 * Context: any.
 * Return: false if the write faults.
 */
bool gmt_mtrr_value_valid(u32 msr, u64 value, unsigned int phys_bits)
{
	u64 beyond = ~GENMASK_ULL(phys_bits - 1, 0);

	if (msr == GMT_MSR_MTRR_DEF_TYPE)
		return !(value & ~(DEF_TYPE_ENABLED | DEF_TYPE_FIXED | DEF_TYPE_TYPE)) &&
		       mtrr_type_valid(value & DEF_TYPE_TYPE);
	if (is_fixed_msr(msr))
		return fixed_value_valid(value);
	/* a base has an even number, its mask the odd one after it */
	if (msr & 1)
		return !(value & (beyond | MASK_RESERVED));
	return !(value & (beyond | BASE_RESERVED)) && mtrr_type_valid(value & BASE_TYPE);
}

/**
 * gmt_mtrr_range_size() - how much memory a variable range is about
 * @range: its base and mask
 * @phys_bits: width of physical addresses
 *
 * The architecture leaves open what masks with holes and bases that are not
 * aligned to the size mean.
 *
 * Context: any.
 * Return: the size in bytes, 0 if it is not in use or open.
 */
u64 gmt_mtrr_range_size(const struct gmt_mtrr_range *range, unsigned int phys_bits)
{
	u64 size = (~(range->mask & ADDRESS) & GENMASK_ULL(phys_bits - 1, 0)) + 1;

	if (!(range->mask & MASK_VALID) || hweight64(size) != 1)
		return 0;
	return range->base & ADDRESS & (size - 1) ? 0 : size;
}
