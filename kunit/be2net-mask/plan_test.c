// SPDX-License-Identifier: GPL-2.0
/* When a mask may be raised, and whether it may stay so: every cell of the tables. */
#include <kunit/test.h>
#include <linux/dma-mapping.h>

#include "plan.h"

#define M(bits) DMA_BIT_MASK(bits)

/* --- can the coherent mask follow the streaming one? --- */

struct room_case {
	unsigned int streaming;
	unsigned int coherent;
	enum bnm_room room;
};

static const struct room_case room_cases[] = {
	{ 64, 32, BNM_ROOM },
	{ 64, 63, BNM_ROOM },
	{ 64, 28, BNM_ROOM },
	{ 48, 32, BNM_ROOM },
	{ 33, 32, BNM_ROOM },
	{ 64, 64, BNM_ROOM_LEVEL },
	{ 33, 33, BNM_ROOM_LEVEL },
	{ 40, 64, BNM_ROOM_LEVEL },
	{ 32, 32, BNM_ROOM_NARROW },
	{ 32, 24, BNM_ROOM_NARROW },
	{ 32, 64, BNM_ROOM_NARROW },
	{ 28, 28, BNM_ROOM_NARROW },
	{ 28, 24, BNM_ROOM_NARROW },
	{ 28, 32, BNM_ROOM_NARROW },
	{ 24, 32, BNM_ROOM_NARROW },
};

static void describe_room(const struct room_case *room, char *description)
{
	snprintf(description, KUNIT_PARAM_DESC_SIZE, "streaming %u, coherent %u",
		 room->streaming, room->coherent);
}

KUNIT_ARRAY_PARAM(room_cases, room_cases, describe_room);

static void plan_room(struct kunit *test)
{
	const struct room_case *room = test->param_value;
	const struct bnm_masks declared = { M(room->streaming), M(room->coherent) };

	KUNIT_EXPECT_EQ(test, bnm_room(&declared), room->room);
}

/* --- is it raised before this probe? --- */

struct applies_case {
	bool wanted;
	const char *learned_from;
	const char *driver;
	bool applies;
};

static const struct applies_case applies_cases[] = {
	{ true, "be2net", "be2net", true },
	{ false, "be2net", "be2net", false },
	{ true, "be2net", "vfio-pci", false },
	{ true, "be2net", "be2net2", false },
	{ true, "be2net2", "be2net", false },
	{ true, "", "be2net", false },
	{ true, "", "", false },
	{ false, "", "be2net", false },
};

static void describe_applies(const struct applies_case *applies, char *description)
{
	snprintf(description, KUNIT_PARAM_DESC_SIZE, "%s, learned from \"%s\", \"%s\" probes",
		 applies->wanted ? "wanted" : "not wanted", applies->learned_from, applies->driver);
}

KUNIT_ARRAY_PARAM(applies_cases, applies_cases, describe_applies);

static void plan_applies(struct kunit *test)
{
	const struct applies_case *applies = test->param_value;

	KUNIT_EXPECT_EQ(test, bnm_applies(applies->wanted, applies->learned_from, applies->driver),
			applies->applies);
}

/* --- what the driver made of it --- */

struct outcome_case {
	unsigned int applied;
	unsigned int streaming;
	unsigned int coherent;
	enum bnm_outcome outcome;
};

static const struct outcome_case outcome_cases[] = {
	{ 64, 64, 64, BNM_MASK_KEPT },
	{ 48, 48, 48, BNM_MASK_KEPT },
	{ 48, 64, 48, BNM_MASK_KEPT },
	{ 64, 64, 32, BNM_MASK_OVERRULED },
	{ 64, 64, 48, BNM_MASK_OVERRULED },
	{ 64, 32, 32, BNM_MASK_OVERRULED },
	{ 48, 64, 64, BNM_MASK_OVERRULED },
	{ 48, 32, 64, BNM_MASK_OVERRULED },
	{ 64, 63, 64, BNM_MASK_TOO_WIDE },
	{ 64, 32, 64, BNM_MASK_TOO_WIDE },
	{ 64, 28, 64, BNM_MASK_TOO_WIDE },
	{ 48, 32, 48, BNM_MASK_TOO_WIDE },
};

static void describe_outcome(const struct outcome_case *outcome, char *description)
{
	snprintf(description, KUNIT_PARAM_DESC_SIZE, "applied %u, now streaming %u, coherent %u",
		 outcome->applied, outcome->streaming, outcome->coherent);
}

KUNIT_ARRAY_PARAM(outcome_cases, outcome_cases, describe_outcome);

static void plan_outcome(struct kunit *test)
{
	const struct outcome_case *outcome = test->param_value;
	const struct bnm_masks now = { M(outcome->streaming), M(outcome->coherent) };

	KUNIT_EXPECT_EQ(test, bnm_outcome(M(outcome->applied), &now), outcome->outcome);
}

/* --- what is there while the driver probes, and when it is gone --- */

static void plan_probe_streaming(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, bnm_probe_streaming(M(64)), M(32));
	KUNIT_EXPECT_EQ(test, bnm_probe_streaming(M(33)), M(32));
	KUNIT_EXPECT_EQ(test, bnm_probe_streaming(M(32)), M(32));
	KUNIT_EXPECT_EQ(test, bnm_probe_streaming(M(28)), M(28));
}

static void plan_restored(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, bnm_restored(M(32), M(64), M(64)), M(32));
	KUNIT_EXPECT_EQ(test, bnm_restored(M(28), M(48), M(48)), M(28));
	/* the driver's own word */
	KUNIT_EXPECT_EQ(test, bnm_restored(M(32), M(64), M(48)), M(48));
	KUNIT_EXPECT_EQ(test, bnm_restored(M(32), M(48), M(64)), M(64));
	/* put back before */
	KUNIT_EXPECT_EQ(test, bnm_restored(M(32), M(64), M(32)), M(32));
}

static struct kunit_case plan_cases[] = {
	KUNIT_CASE_PARAM(plan_room, room_cases_gen_params),
	KUNIT_CASE_PARAM(plan_applies, applies_cases_gen_params),
	KUNIT_CASE_PARAM(plan_outcome, outcome_cases_gen_params),
	KUNIT_CASE(plan_probe_streaming),
	KUNIT_CASE(plan_restored),
	{}
};

static struct kunit_suite plan_suite = {
	.name = "be2net_mask_plan",
	.test_cases = plan_cases,
};

kunit_test_suite(plan_suite);
