// SPDX-License-Identifier: GPL-2.0
/* How large a pool is to be: the numbers, and that they fit together. */
#include <kunit/test.h>
#include <linux/limits.h>
#include <linux/minmax.h>

#include "sizing.h"

/* In MiB; pools grow by multiples of this. */
#define UNIT 4

struct stepped {
	u64 size;
	u64 max;
	u64 step;
	u64 threshold;
};

static const struct stepped stepped[] = {
	{ 4, 40, 4, 2 },
	{ 8, 40, 8, 4 },
	{ 16, 40, 16, 8 },
	{ 32, 40, 8, 16 },
	{ 40, 40, 0, U64_MAX },
	/* the rest is less than what it grows by */
	{ 37, 40, 0, U64_MAX },
	{ 36, 40, 4, 18 },
	/* smaller than that */
	{ 1, 40, 4, 0 },
	{ 1, 4, 0, U64_MAX },
	/* between two multiples */
	{ 6, 40, 4, 3 },
	{ 9, 16, 4, 4 },
	/* no growth wanted */
	{ 64, 64, 0, U64_MAX },
	{ 64, 0, 0, U64_MAX },
	{ 1ULL << 50, U64_MAX, 1ULL << 50, 1ULL << 49 },
};

static void describe_stepped(const struct stepped *row, char *text)
{
	snprintf(text, KUNIT_PARAM_DESC_SIZE, "%llu of %llu", row->size, row->max);
}

KUNIT_ARRAY_PARAM(stepped, stepped, describe_stepped);

static void sizing_steps(struct kunit *test)
{
	const struct stepped *row = test->param_value;

	KUNIT_EXPECT_EQ(test, vdma_sizing_step(row->size, row->max, UNIT), row->step);
	KUNIT_EXPECT_EQ(test, vdma_sizing_threshold(row->size, row->max, UNIT), row->threshold);
}

struct dropped {
	u64 size;
	u64 chunk;
	u64 start;
	u64 peak;
	bool may;
};

static const struct dropped dropped[] = {
	{ 32, 16, 4, 0, true },
	{ 32, 16, 4, 4, true },
	{ 32, 16, 4, 5, false },
	{ 8, 4, 4, 1, true },
	{ 8, 4, 4, 2, false },
	/* less than it began with */
	{ 4, 4, 4, 0, false },
	{ 6, 4, 4, 0, false },
	{ 8, 4, 5, 0, false },
	/* of several chunks of a step, one after the other */
	{ 16, 4, 4, 3, true },
	{ 12, 4, 4, 3, false },
	{ 2, 4, 0, 0, false },
};

static void describe_dropped(const struct dropped *row, char *text)
{
	snprintf(text, KUNIT_PARAM_DESC_SIZE, "%llu of %llu, start %llu, peak %llu", row->chunk,
		 row->size, row->start, row->peak);
}

KUNIT_ARRAY_PARAM(dropped, dropped, describe_dropped);

static void sizing_drops(struct kunit *test)
{
	const struct dropped *row = test->param_value;

	KUNIT_EXPECT_EQ(test, vdma_sizing_may_drop(row->size, row->chunk, row->start, row->peak),
			row->may);
}

/* A pool that was just made smaller does not grow at once, nor one that grew lose that again. */
static void sizing_does_not_flap(struct kunit *test)
{
	u64 size, chunk, peak;

	for (size = UNIT; size <= 64; size += UNIT)
		for (chunk = UNIT; chunk <= size; chunk += UNIT)
			for (peak = 0; peak <= size; peak++) {
				if (!vdma_sizing_may_drop(size, chunk, UNIT, peak))
					continue;
				/* even when use doubles */
				KUNIT_EXPECT_LE_MSG(test, 2 * peak,
						    vdma_sizing_threshold(size - chunk, 64, UNIT),
						    "%llu less %llu, peak %llu", size, chunk, peak);
			}
}

static struct kunit_case sizing_cases[] = {
	KUNIT_CASE_PARAM(sizing_steps, stepped_gen_params),
	KUNIT_CASE_PARAM(sizing_drops, dropped_gen_params),
	KUNIT_CASE(sizing_does_not_flap),
	{}
};

static struct kunit_suite sizing_suite = {
	.name = "virtio_dma_sizing",
	.test_cases = sizing_cases,
};

kunit_test_suite(sizing_suite);
