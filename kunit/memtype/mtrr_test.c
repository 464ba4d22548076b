// SPDX-License-Identifier: GPL-2.0
/* Memory type range registers: who prevails, and what a CPU takes. */
#include <kunit/test.h>
#include <linux/sizes.h>

#include "mtrr.h"

#define CAP	0x508		/* what KVM and QEMU say: fixed ranges, WC, eight variable ones */
#define ENABLED	0x800
#define FIXED	0x400
#define VALID	0x800
#define UC	0
#define WC	1
#define WT	4
#define WP	5
#define WB	6
#define PHYS_BITS 46

static u64 mask_of(u64 size)
{
	return (~(size - 1) & GENMASK_ULL(PHYS_BITS - 1, 0)) | VALID;
}

#define RANGE(base, size, type) { (base) | (type), (size) }

/**
 * struct lookup_row - registers, an address, and what it is
 * @what: the case in words
 * @def_type: MTRRdefType
 * @range: pairs of base, with the type, and size; up to three
 * @addr: the address
 * @want: what the architecture says
 * @kvm: what KVM took a guest's registers to say
 */
struct lookup_row {
	const char *what;
	u64 def_type;
	struct { u64 base; u64 size; } range[3];
	u64 addr;
	enum gmt_type want;
	enum gmt_type kvm;
};

static const struct lookup_row lookups[] = {
	{ "no range, default WB", ENABLED | WB, {}, 0x12345000, GMT_WB, GMT_WB },
	{ "no range, default UC", ENABLED | UC, {}, 0x12345000, GMT_UC, GMT_UC },
	{ "off: all is UC", WB, { RANGE(0, SZ_4G, WB) }, SZ_1G, GMT_UC, GMT_UC },
	{ "one range", ENABLED | UC, { RANGE(SZ_2G, SZ_1G, WC) }, SZ_2G + SZ_4K, GMT_WC, GMT_WC },
	{ "beside the range", ENABLED | WB,
	  { RANGE(SZ_2G, SZ_1G, WC) }, SZ_2G - 1, GMT_WB, GMT_WB },
	{ "at the range's end", ENABLED | WB,
	  { RANGE(SZ_2G, SZ_1G, WC) }, SZ_2G + SZ_1G, GMT_WB, GMT_WB },
	{ "UC hole with the higher base: KVM misses it", ENABLED | WB,
	  { RANGE(0, SZ_4G, WB), RANGE(3ULL * SZ_1G, SZ_1G, UC) }, 0xd0000000, GMT_UC, GMT_WB },
	{ "UC below", ENABLED | WB,
	  { RANGE(0, SZ_4G, UC), RANGE(3ULL * SZ_1G, SZ_1G, WB) }, 0xd0000000, GMT_UC, GMT_UC },
	{ "UC and WB, same base", ENABLED | WB,
	  { RANGE(0, SZ_4G, UC), RANGE(0, SZ_1G, WB) }, SZ_4K * 256, GMT_UC, GMT_UC },
	{ "WT over WB", ENABLED | UC,
	  { RANGE(0, SZ_4G, WB), RANGE(SZ_2G, SZ_1G, WT) }, 0x90000000, GMT_WT, GMT_WT },
	{ "WB over WT", ENABLED | UC,
	  { RANGE(0, SZ_4G, WT), RANGE(SZ_2G, SZ_1G, WB) }, 0x90000000, GMT_WT, GMT_WT },
	{ "WC over WB is undefined", ENABLED | UC,
	  { RANGE(0, SZ_4G, WB), RANGE(SZ_2G, SZ_1G, WC) }, 0x90000000, GMT_UNDEFINED, GMT_WB },
	{ "twice the same", ENABLED | UC,
	  { RANGE(0, SZ_4G, WC), RANGE(SZ_2G, SZ_1G, WC) }, 0x90000000, GMT_WC, GMT_WC },
	{ "undefined, but UC prevails", ENABLED | WB,
	  { RANGE(0, SZ_4G, WP), RANGE(SZ_2G, SZ_1G, WB), RANGE(SZ_2G, SZ_512M, UC) },
	  0x90000000, GMT_UC, GMT_UC },
	{ "reserved default", ENABLED | 2, {}, SZ_1G, GMT_INVALID, GMT_INVALID },
};

static void fill(struct gmt_mtrrs *mtrrs, const struct lookup_row *row)
{
	unsigned int i;

	*mtrrs = (struct gmt_mtrrs){ .supported = true, .cap = CAP, .def_type = row->def_type };
	for (i = 0; i < ARRAY_SIZE(row->range) && row->range[i].size; i++)
		mtrrs->range[mtrrs->ranges++] = (struct gmt_mtrr_range){
			row->range[i].base, mask_of(row->range[i].size) };
}

static void mtrr_lookup(struct kunit *test)
{
	struct gmt_mtrrs mtrrs;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lookups); i++) {
		fill(&mtrrs, &lookups[i]);
		KUNIT_EXPECT_EQ_MSG(test, gmt_mtrr_lookup(&mtrrs, lookups[i].addr),
				    lookups[i].want, "%s", lookups[i].what);
		KUNIT_EXPECT_EQ_MSG(test, gmt_mtrr_lookup_kvm(&mtrrs, lookups[i].addr),
				    lookups[i].kvm, "KVM: %s", lookups[i].what);
	}
}

static void mtrr_unused_ranges(struct kunit *test)
{
	struct gmt_mtrrs mtrrs = {
		.supported = true, .cap = CAP, .def_type = ENABLED | WB, .ranges = 1,
		.range[0] = { SZ_2G | WC, mask_of(SZ_1G) & ~(u64)VALID },
	};

	KUNIT_EXPECT_EQ(test, gmt_mtrr_lookup(&mtrrs, SZ_2G), GMT_WB);
	KUNIT_EXPECT_EQ(test, gmt_mtrr_lookup_kvm(&mtrrs, SZ_2G), GMT_WB);
}

static void mtrr_absent(struct kunit *test)
{
	struct gmt_mtrrs mtrrs = { .def_type = ENABLED | UC };

	KUNIT_EXPECT_FALSE(test, gmt_mtrr_enabled(&mtrrs));
	KUNIT_EXPECT_EQ(test, gmt_mtrr_lookup(&mtrrs, SZ_1G), GMT_UC);
	KUNIT_EXPECT_EQ(test, gmt_mtrr_lookup_kvm(&mtrrs, SZ_1G), GMT_WB);
}

static const struct {
	u32 addr;
	unsigned int msr;
	unsigned int byte;
} fixed_ranges[] = {
	{ 0x00000, 0, 0 }, { 0x7ffff, 0, 7 }, { 0x10000, 0, 1 },
	{ 0x80000, 1, 0 }, { 0x9ffff, 1, 7 }, { 0x84000, 1, 1 },
	{ 0xa0000, 2, 0 }, { 0xbffff, 2, 7 },
	{ 0xc0000, 3, 0 }, { 0xc7fff, 3, 7 }, { 0xc8000, 4, 0 },
	{ 0xff000, 10, 7 }, { 0xfffff, 10, 7 },
};

static void mtrr_fixed_layout(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fixed_ranges); i++) {
		struct gmt_mtrrs mtrrs = {
			.supported = true, .cap = CAP, .def_type = ENABLED | FIXED | WB,
		};

		mtrrs.fixed[fixed_ranges[i].msr] = (u64)WP << (8 * fixed_ranges[i].byte);
		KUNIT_EXPECT_EQ_MSG(test, gmt_mtrr_lookup(&mtrrs, fixed_ranges[i].addr), GMT_WP,
				    "%#x", fixed_ranges[i].addr);
		KUNIT_EXPECT_EQ(test, gmt_mtrr_lookup_kvm(&mtrrs, fixed_ranges[i].addr), GMT_WP);
	}
}

static void mtrr_fixed_prevails(struct kunit *test)
{
	struct gmt_mtrrs mtrrs = {
		.supported = true, .cap = CAP, .def_type = ENABLED | FIXED | UC, .ranges = 1,
		.range[0] = { WB, mask_of(SZ_1M) },
	};

	KUNIT_EXPECT_EQ(test, gmt_mtrr_lookup(&mtrrs, 0xa0000), GMT_UC);
	mtrrs.def_type &= ~(u64)FIXED;
	KUNIT_EXPECT_EQ(test, gmt_mtrr_lookup(&mtrrs, 0xa0000), GMT_WB);
	mtrrs.def_type |= FIXED;
	mtrrs.cap = 8;
	KUNIT_EXPECT_EQ(test, gmt_mtrr_lookup(&mtrrs, 0xa0000), GMT_WB);
}

/* What of it faults: 6.1 arch/x86/kvm/mtrr.c:kvm_mtrr_valid(), SDM "IA32_MTRR_..." */
static const struct {
	const char *what;
	u32 msr;
	u64 value;
	bool valid;
} values[] = {
	{ "base", 0x200, 0xfd000001, true },
	{ "base, reserved type", 0x200, 0xfd000002, false },
	{ "base, UC- is no MTRR's", 0x200, 0xfd000007, false },
	{ "base, bits 11:8", 0x202, 0xfd000100 | WC, false },
	{ "base, beyond physical addresses", 0x200, BIT_ULL(PHYS_BITS) | WB, false },
	{ "base, the highest bit", 0x200, BIT_ULL(PHYS_BITS - 1) | WB, true },
	{ "mask", 0x201, 0x3fffc0000800ULL, true },
	{ "mask, bit 0", 0x201, 0x3fffc0000801ULL, false },
	{ "mask, bit 10", 0x203, 0x3fffc0000c00ULL, false },
	{ "mask, beyond physical addresses", 0x201, 0x7fffc0000800ULL, false },
	{ "mask with a hole", 0x201, 0x10000005800ULL, true },
	{ "default", 0x2ff, 0xc06, true },
	{ "default, reserved bit", 0x2ff, 0xe06, false },
	{ "default, reserved type", 0x2ff, 0xc02, false },
	{ "fixed", 0x250, 0x0606060606060606ULL, true },
	{ "fixed, one byte UC-", 0x26f, 0x0607060606060606ULL, false },
	{ "fixed, the last byte", 0x258, 0x0206060606060606ULL, false },
};

static void mtrr_values(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(values); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    gmt_mtrr_value_valid(values[i].msr, values[i].value, PHYS_BITS),
				    values[i].valid, "%s", values[i].what);
}

static const struct {
	const char *what;
	struct gmt_mtrr_range range;
	u64 size;
} sizes[] = {
	{ "1 GiB", { SZ_2G | WC, 0x3fffc0000800ULL }, SZ_1G },
	{ "4 KiB", { 0x1000, 0x3ffffffff800ULL }, SZ_4K },
	{ "everything", { WB, VALID }, BIT_ULL(PHYS_BITS) },
	{ "not in use", { SZ_2G | WC, 0x3fffc0000000ULL }, 0 },
	{ "base not aligned", { 0x1000, 0x3fffffffe800ULL }, 0 },
	{ "mask with a hole", { 0, 0x10000005800ULL }, 0 },
};

static void mtrr_sizes(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		KUNIT_EXPECT_EQ_MSG(test, gmt_mtrr_range_size(&sizes[i].range, PHYS_BITS),
				    sizes[i].size, "%s", sizes[i].what);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(mtrr_lookup),
	KUNIT_CASE(mtrr_unused_ranges),
	KUNIT_CASE(mtrr_absent),
	KUNIT_CASE(mtrr_fixed_layout),
	KUNIT_CASE(mtrr_fixed_prevails),
	KUNIT_CASE(mtrr_values),
	KUNIT_CASE(mtrr_sizes),
	{}
};

static struct kunit_suite suite = {
	.name = "guest_memtype_mtrr",
	.test_cases = cases,
};

kunit_test_suite(suite);
