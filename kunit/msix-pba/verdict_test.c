// SPDX-License-Identifier: GPL-2.0
/* What is concluded from costs: figures of real runs, and both sides of every limit. */
#include <kunit/test.h>
#include <linux/string.h>

#include "verdict.h"

#define NS 1000ULL
#define US (1000 * NS)

/* A cost by its quartiles and its median. */
#define COST(low, median, high) { \
	.reads = 808, .low_ps = (low), .median_ps = (median), .high_ps = (high) \
}

#define NOT_MEASURED {}

/**
 * struct verdict_row - costs and what is to be concluded from them
 * @name: what they are of
 * @page: of the page
 * @other: of the other one
 * @leave: of leaving the guest
 * @reason: what the verdict is based on
 * @verdict: the verdict
 */
struct verdict_row {
	const char *name;
	struct msix_cost page;
	struct msix_cost other;
	struct msix_cost leave;
	enum msix_reason reason;
	enum msix_verdict verdict;
};

static const struct verdict_row verdict_rows[] = {
	/* a guest on an emulated CPU: all pages are emulated, and CPUID does not leave it */
	{
		"emulated CPU, page filled by one region and page of pieces",
		COST(74700, 76500, 79000), COST(45000, 46500, 48800), COST(19800, 20700, 24500),
		MSIX_NO_DIFFERENCE, MSIX_CANNOT_TELL,
	}, {
		"emulated CPU, PBA alone",
		COST(74700, 76500, 79000), NOT_MEASURED, COST(19800, 20700, 24500),
		MSIX_NO_DIFFERENCE, MSIX_CANNOT_TELL,
	}, {
		"emulated CPU on a host at half speed",
		COST(230 * NS, 238 * NS, 250 * NS), COST(130 * NS, 134 * NS, 150 * NS),
		COST(50 * NS, 60 * NS, 90 * NS),
		MSIX_NO_DIFFERENCE, MSIX_CANNOT_TELL,
	}, {
		"emulated CPU, memory against an emulated page",
		COST(2 * NS, 3 * NS, 4 * NS), COST(95 * NS, 100 * NS, 120 * NS),
		COST(7 * NS, 8 * NS, 9 * NS),
		MSIX_FASTER_THAN_OTHER, MSIX_DIRECT,
	}, {
		"emulated CPU, an emulated page against memory",
		COST(95 * NS, 100 * NS, 120 * NS), COST(2 * NS, 3 * NS, 4 * NS),
		COST(20 * NS, 21 * NS, 25 * NS),
		MSIX_SLOWER_THAN_OTHER, MSIX_TRAPPED,
	},
	/* nested.md: a guest of KVM that is itself a guest */
	{
		"nested, stock: PBA direct, with the table's page to compare",
		COST(110 * NS, 150 * NS, 250 * NS), COST(217 * US, 230 * US, 261 * US),
		COST(110 * US, 120 * US, 140 * US),
		MSIX_FASTER_THAN_EXIT, MSIX_DIRECT,
	}, {
		"nested, stock: PBA direct, with a direct page to compare",
		COST(110 * NS, 150 * NS, 250 * NS), COST(100 * NS, 130 * NS, 220 * NS),
		COST(110 * US, 120 * US, 140 * US),
		MSIX_FASTER_THAN_EXIT, MSIX_DIRECT,
	}, {
		"nested, stock: PBA direct, alone",
		COST(110 * NS, 150 * NS, 250 * NS), NOT_MEASURED,
		COST(110 * US, 120 * US, 140 * US),
		MSIX_FASTER_THAN_EXIT, MSIX_DIRECT,
	}, {
		"nested, PBA emulated, with a direct page to compare",
		COST(161 * US, 200 * US, 250 * US), COST(60 * NS, 100 * NS, 140 * NS),
		COST(110 * US, 120 * US, 140 * US),
		MSIX_TOO_SLOW, MSIX_TRAPPED,
	}, {
		"nested, PBA emulated, alone",
		COST(161 * US, 200 * US, 250 * US), NOT_MEASURED,
		COST(110 * US, 120 * US, 140 * US),
		MSIX_TOO_SLOW, MSIX_TRAPPED,
	}, {
		"nested, both pages emulated",
		COST(121 * US, 154 * US, 180 * US), COST(217 * US, 230 * US, 261 * US),
		COST(110 * US, 120 * US, 140 * US),
		MSIX_TOO_SLOW, MSIX_TRAPPED,
	},
	{
		"nested, direct, the device is a program on the outer host",
		COST(48 * US, 51 * US, 55 * US), COST(350 * US, 381 * US, 400 * US),
		COST(110 * US, 120 * US, 140 * US),
		MSIX_FASTER_THAN_EXIT, MSIX_DIRECT,
	},
	/* made up, in the range that is usual on hardware */
	{
		"hardware, emulated in the VMM against direct",
		COST(7 * US, 8 * US, 9 * US), COST(900 * NS, 1000 * NS, 1200 * NS),
		COST(600 * NS, 700 * NS, 800 * NS),
		MSIX_SLOWER_THAN_OTHER, MSIX_TRAPPED,
	}, {
		"hardware, both direct",
		COST(850 * NS, 900 * NS, 950 * NS), COST(900 * NS, 1000 * NS, 1200 * NS),
		COST(600 * NS, 700 * NS, 800 * NS),
		MSIX_NO_DIFFERENCE, MSIX_CANNOT_TELL,
	}, {
		"no way out of the guest is known",
		COST(110 * NS, 150 * NS, 250 * NS), NOT_MEASURED, NOT_MEASURED,
		MSIX_NO_DIFFERENCE, MSIX_CANNOT_TELL,
	},
	/* the limits */
	{
		"just below 50 us",
		COST(49 * US, 50 * US - 1, 51 * US), NOT_MEASURED, NOT_MEASURED,
		MSIX_NO_DIFFERENCE, MSIX_CANNOT_TELL,
	}, {
		"50 us",
		COST(49 * US, 50 * US, 51 * US), NOT_MEASURED, NOT_MEASURED,
		MSIX_TOO_SLOW, MSIX_TRAPPED,
	}, {
		"four times the other",
		COST(400, 400, 400), COST(100, 100, 100), NOT_MEASURED,
		MSIX_SLOWER_THAN_OTHER, MSIX_TRAPPED,
	}, {
		"not quite four times the other",
		COST(399, 400, 401), COST(100, 100, 100), NOT_MEASURED,
		MSIX_NO_DIFFERENCE, MSIX_CANNOT_TELL,
	}, {
		"a quarter of the other",
		COST(100, 100, 100), COST(400, 400, 400), NOT_MEASURED,
		MSIX_FASTER_THAN_OTHER, MSIX_DIRECT,
	}, {
		"not quite a quarter of the other",
		COST(100, 100, 100), COST(399, 400, 401), NOT_MEASURED,
		MSIX_NO_DIFFERENCE, MSIX_CANNOT_TELL,
	}, {
		"half of leaving",
		COST(200, 200, 200), NOT_MEASURED, COST(400, 400, 400),
		MSIX_FASTER_THAN_EXIT, MSIX_DIRECT,
	}, {
		"not quite half of leaving",
		COST(200, 200, 201), NOT_MEASURED, COST(400, 400, 400),
		MSIX_NO_DIFFERENCE, MSIX_CANNOT_TELL,
	}, {
		"50 us, and half of leaving",
		COST(50 * US, 50 * US, 50 * US), NOT_MEASURED, COST(100 * US, 100 * US, 100 * US),
		MSIX_FASTER_THAN_EXIT, MSIX_DIRECT,
	}, {
		"50 us, and not quite half of leaving",
		COST(50 * US, 50 * US, 50 * US), NOT_MEASURED,
		COST(100 * US - 1, 100 * US, 100 * US),
		MSIX_TOO_SLOW, MSIX_TRAPPED,
	},
	/* medians far apart, but the figures spread over each other */
	{
		"noise on the page",
		COST(90, 1000, 9000), COST(80, 100, 120), NOT_MEASURED,
		MSIX_NO_DIFFERENCE, MSIX_CANNOT_TELL,
	}, {
		"noise on the other",
		COST(90, 100, 110), COST(80, 1000, 9000), NOT_MEASURED,
		MSIX_NO_DIFFERENCE, MSIX_CANNOT_TELL,
	},
	/* a clock too coarse for both must not make memory of them */
	{
		"both cost nothing",
		COST(0, 0, 0), COST(0, 0, 0), COST(0, 0, 0),
		MSIX_NO_DIFFERENCE, MSIX_CANNOT_TELL,
	}, {
		"the page costs nothing, the other something",
		COST(0, 0, 0), COST(100 * NS, 100 * NS, 100 * NS), NOT_MEASURED,
		MSIX_FASTER_THAN_OTHER, MSIX_DIRECT,
	},
};

KUNIT_ARRAY_PARAM_DESC(verdicts, verdict_rows, name);

static void verdict_row(struct kunit *test)
{
	const struct verdict_row *row = test->param_value;
	enum msix_reason reason = msix_judge(&row->page, &row->other, &row->leave);

	KUNIT_EXPECT_EQ(test, reason, row->reason);
	KUNIT_EXPECT_EQ(test, msix_verdict_of(reason), row->verdict);
}

static void verdict_words(struct kunit *test)
{
	KUNIT_EXPECT_STREQ(test, msix_verdict_text(MSIX_CANNOT_TELL), "cannot tell");
	KUNIT_EXPECT_STREQ(test, msix_verdict_text(MSIX_DIRECT), "direct");
	KUNIT_EXPECT_STREQ(test, msix_verdict_text(MSIX_TRAPPED), "trapped");
	KUNIT_EXPECT_STREQ(test, msix_verdict_text(MSIX_TRAPPED + 1), "invalid");
	KUNIT_EXPECT_STREQ(test, msix_reason_text(MSIX_TOO_SLOW),
			   "no device takes 50 us to answer");
	KUNIT_EXPECT_STREQ(test, msix_reason_text(MSIX_FASTER_THAN_EXIT + 1), "invalid");
	KUNIT_EXPECT_EQ(test, msix_verdict_of(MSIX_FASTER_THAN_EXIT + 1), MSIX_CANNOT_TELL);
}

static void verdict_cost_of_batches(struct kunit *test)
{
	/* 8 reads in each; the clock takes 40 ns; one was disturbed */
	u64 batches[] = { 840, 880, 100000, 860, 800, 820, 920, 900, 900 };
	struct msix_cost cost = msix_cost_of(batches, ARRAY_SIZE(batches), 8, 40);

	KUNIT_EXPECT_EQ(test, cost.reads, 72);
	/* sorted: 800 820 840 860 880 900 900 920 100000 */
	KUNIT_EXPECT_EQ(test, cost.low_ps, (840 - 40) * NS / 8);
	KUNIT_EXPECT_EQ(test, cost.median_ps, (880 - 40) * NS / 8);
	KUNIT_EXPECT_EQ(test, cost.high_ps, (900 - 40) * NS / 8);
}

static void verdict_cost_below_the_clock(struct kunit *test)
{
	u64 batches[] = { 30, 40, 50 };
	struct msix_cost cost = msix_cost_of(batches, ARRAY_SIZE(batches), 8, 40);

	KUNIT_EXPECT_EQ(test, cost.low_ps, 0);
	KUNIT_EXPECT_EQ(test, cost.median_ps, 0);
	KUNIT_EXPECT_EQ(test, cost.high_ps, 10 * NS / 8);
}

static void verdict_median(struct kunit *test)
{
	u64 one[] = { 7 }, two[] = { 9, 3 }, wide[] = { U64_MAX, 0, U64_MAX - 1 };

	KUNIT_EXPECT_EQ(test, msix_median(one, 1), 7);
	KUNIT_EXPECT_EQ(test, msix_median(two, 2), 9);
	KUNIT_EXPECT_EQ(test, msix_median(wide, 3), U64_MAX - 1);
}

static struct kunit_case verdict_cases[] = {
	KUNIT_CASE_PARAM(verdict_row, verdicts_gen_params),
	KUNIT_CASE(verdict_words),
	KUNIT_CASE(verdict_cost_of_batches),
	KUNIT_CASE(verdict_cost_below_the_clock),
	KUNIT_CASE(verdict_median),
	{}
};

static struct kunit_suite verdict_suite = {
	.name = "msix_pba_verdict",
	.test_cases = verdict_cases,
};

kunit_test_suite(verdict_suite);
