// SPDX-License-Identifier: GPL-2.0
/* Page-table bits to PAT entries, and what is in them. */
#include <kunit/test.h>

#include "pat.h"
#include "pats.h"

struct page_row {
	const char *what;
	u64 pte;
	bool large;
	u64 pat;
	unsigned int index;
	enum gmt_type type;
};

static const struct page_row pages[] = {
	{ "no bits, Linux", 0, false, PAT_LINUX, 0, GMT_WB },
	{ "PWT, Linux", 0x08, false, PAT_LINUX, 1, GMT_WC },
	{ "PWT, power-on", 0x08, false, PAT_POWER_ON, 1, GMT_WT },
	{ "PCD, Linux", 0x10, false, PAT_LINUX, 2, GMT_UC_MINUS },
	{ "PCD and PWT, Linux", 0x18, false, PAT_LINUX, 3, GMT_UC },
	{ "PAT, Linux", 0x80, false, PAT_LINUX, 4, GMT_WB },
	{ "PAT and PWT, Linux", 0x88, false, PAT_LINUX, 5, GMT_WP },
	{ "PAT and PCD, Linux", 0x90, false, PAT_LINUX, 6, GMT_UC_MINUS },
	{ "all three, Linux", 0x98, false, PAT_LINUX, 7, GMT_WT },
	{ "all three, on old CPUs", 0x98, false, PAT_OLD_CPUS, 7, GMT_UC },
	{ "large, PAT", 0x1080, true, PAT_LINUX, 4, GMT_WB },
	{ "large, PAT and PWT", 0x1088, true, PAT_LINUX, 5, GMT_WP },
	{ "large: bit 7 is the size", 0x88, true, PAT_LINUX, 1, GMT_WC },
	{ "small: bit 12 is the address", 0x1008, false, PAT_LINUX, 1, GMT_WC },
	{ "address bits do not count", 0x8000fffffffff067ULL, false, PAT_LINUX, 0, GMT_WB },
};

static void pat_pages(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(pages); i++) {
		const struct page_row *row = &pages[i];
		unsigned int index = gmt_pat_index(row->pte, row->large);

		KUNIT_EXPECT_EQ_MSG(test, index, row->index, "%s", row->what);
		KUNIT_EXPECT_EQ_MSG(test, gmt_pat_entry(row->pat, index), row->type,
				    "%s", row->what);
	}
}

static void pat_pte_bits(struct kunit *test)
{
	unsigned int index;

	for (index = 0; index < GMT_PAT_ENTRIES; index++)
		KUNIT_EXPECT_EQ(test, gmt_pat_index(gmt_pat_pte_bits(index), false), index);
	KUNIT_EXPECT_EQ(test, gmt_pat_pte_bits(7), 0x98ULL);
}

static void pat_valid(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, gmt_pat_valid(PAT_LINUX));
	KUNIT_EXPECT_TRUE(test, gmt_pat_valid(PAT_POWER_ON));
	KUNIT_EXPECT_TRUE(test, gmt_pat_valid(0x0707070707070707ULL));
	KUNIT_EXPECT_FALSE(test, gmt_pat_valid(0x0002000000000000ULL));
	KUNIT_EXPECT_FALSE(test, gmt_pat_valid(0x0300000000000000ULL));
	KUNIT_EXPECT_FALSE(test, gmt_pat_valid(0x0800000000000000ULL));
	KUNIT_EXPECT_FALSE(test, gmt_pat_valid(0x0000000000000016ULL));
}

static void pat_find(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, gmt_pat_find(PAT_LINUX, GMT_WC), 1);
	KUNIT_EXPECT_EQ(test, gmt_pat_find(PAT_LINUX, GMT_WB), 0);
	KUNIT_EXPECT_EQ(test, gmt_pat_find(PAT_LINUX, GMT_WT), 7);
	KUNIT_EXPECT_EQ(test, gmt_pat_find(PAT_POWER_ON, GMT_WC), -1);
}

static void pat_names(struct kunit *test)
{
	enum gmt_type type;

	for (type = 0; type < GMT_ENCODED; type++)
		KUNIT_EXPECT_EQ(test, gmt_type_of_code(gmt_code_of_type(type)), type);
	KUNIT_EXPECT_EQ(test, gmt_type_of_code(gmt_code_of_type(GMT_CD)), GMT_INVALID);
	KUNIT_EXPECT_STREQ(test, gmt_type_name(GMT_UC_MINUS), "UC-");
	KUNIT_EXPECT_STREQ(test, gmt_type_name(GMT_WC_PLUS), "WC+");
	KUNIT_EXPECT_STREQ(test, gmt_type_name(GMT_INVALID), "invalid");
	KUNIT_EXPECT_STREQ(test, gmt_type_name(GMT_INVALID + 1), "invalid");
}

static struct kunit_case cases[] = {
	KUNIT_CASE(pat_pages),
	KUNIT_CASE(pat_pte_bits),
	KUNIT_CASE(pat_valid),
	KUNIT_CASE(pat_find),
	KUNIT_CASE(pat_names),
	{}
};

static struct kunit_suite suite = {
	.name = "guest_memtype_pat",
	.test_cases = cases,
};

kunit_test_suite(suite);
