// SPDX-License-Identifier: GPL-2.0
/* Which functions the user can name, what is refused with which words, and what matches. */
#include <kunit/test.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "ids.h"

#define NO_ID "neither a PCI ID like 8086:10d3 nor an address like 0000:00:05.0"
#define TOO_LONG "too long for a PCI ID or an address"
#define EMPTY "empty"
#define TWICE "named twice"

/**
 * struct text - a list as the user writes it
 * @text: the list
 * @count: how many it names, if it is right
 * @why: what is wrong with it, or NULL
 * @where: offset of the part that is wrong
 */
struct text {
	const char *text;
	unsigned int count;
	const char *why;
	unsigned int where;
};

static const struct text texts[] = {
	{ "", 0 },
	{ "8086:10d3", 1 },
	{ "8086:10D3", 1 },
	{ "0000:00:05.0", 1 },
	{ "ffff:ff:1f.7", 1 },
	{ "10000:e1:00.0", 1 },
	{ "7fffffff:00:00.0", .why = TOO_LONG },
	{ "8086:10d3,8086:100e,0000:00:05.0,0000:00:05.1,0001:00:05.0", 5 },
	{ "0000:00:05.0,0000:01:05.0,0000:00:06.0", 3 },

	{ "8086", .why = NO_ID },
	{ "8086:", .why = NO_ID },
	{ ":10d3", .why = NO_ID },
	{ "8086:10d", .why = NO_ID },
	{ "806:10d3", .why = NO_ID },
	{ "8086:10d3x", .why = NO_ID },
	{ "8086:10d3 ", .why = NO_ID },
	{ " 8086:10d3", .why = NO_ID },
	{ "8086:10d3\n", .why = NO_ID },
	{ "8086.10d3", .why = NO_ID },
	{ "8086:10g3", .why = NO_ID },
	{ "+086:10d3", .why = NO_ID },
	{ "0x86:10d3", .why = NO_ID },
	{ "e1000e", .why = NO_ID },
	{ "00:05.0", .why = NO_ID },
	{ "000:00:05.0", .why = NO_ID },
	{ "0000:0:05.0", .why = NO_ID },
	{ "0000:00:5.0", .why = NO_ID },
	{ "0000:00:05", .why = NO_ID },
	{ "0000:00:05.", .why = NO_ID },
	{ "0000:00:05.8", .why = NO_ID },
	{ "0000:00:20.0", .why = NO_ID },
	{ "0000:00:05.00", .why = NO_ID },
	{ "0000:00.05.0", .why = NO_ID },
	{ "0000:00:05:0", .why = NO_ID },
	{ "0000:0g:05.0", .why = NO_ID },
	{ "-000:00:05.0", .why = NO_ID },
	{ "80000000:00:0", .why = NO_ID },
	{ "8086:10d3;8086:100e", .why = TOO_LONG },
	{ "0000:00:05.0-0000:00:06.0", .why = TOO_LONG },

	{ ",", .why = EMPTY },
	{ "8086:10d3,", .why = EMPTY, .where = 10 },
	{ ",8086:10d3", .why = EMPTY },
	{ "8086:10d3,,8086:100e", .why = EMPTY, .where = 10 },
	{ "8086:10d3, 8086:100e", .why = NO_ID, .where = 10 },
	{ "8086:10d3,8086:100,10ec:8139", .why = NO_ID, .where = 10 },
	{ "8086:10d3,8086:10D3", .why = TWICE, .where = 10 },
	{ "0000:00:05.0,8086:10d3,0000:00:05.0", .why = TWICE, .where = 23 },
	{ "0000:00:05.0,00000:00:05.0", .why = TWICE, .where = 13 },
};

/* Escaped: a line of the results must stay one. */
static void describe(const struct text *text, char *description)
{
	snprintf(description, KUNIT_PARAM_DESC_SIZE, "\"%*pE\"", (int)strlen(text->text),
		 text->text);
}

KUNIT_ARRAY_PARAM(texts, texts, describe);

/* The text is in memory of just its size, so that KASAN sees a look beyond its end. */
static void ids_text(struct kunit *test)
{
	const struct text *text = test->param_value;
	char *copy = kunit_kmalloc(test, strlen(text->text) + 1, GFP_KERNEL);
	const char *why = NULL, *where = NULL;
	struct bnm_ids ids;
	int err;

	KUNIT_ASSERT_NOT_NULL(test, copy);
	strscpy(copy, text->text, strlen(text->text) + 1);
	err = bnm_ids_parse(&ids, copy, &why, &where);
	KUNIT_EXPECT_EQ(test, err, text->why ? -EINVAL : 0);
	KUNIT_EXPECT_EQ(test, ids.count, text->count);
	if (text->why) {
		KUNIT_EXPECT_STREQ(test, why, text->why);
		KUNIT_EXPECT_EQ(test, where - copy, text->where);
		KUNIT_EXPECT_NULL(test, ids.id);
	}
	bnm_ids_free(&ids);
	KUNIT_EXPECT_EQ(test, ids.count, 0);
	KUNIT_EXPECT_NULL(test, ids.id);
}

static void ids_none(struct kunit *test)
{
	const char *why, *where;
	struct bnm_ids ids;

	KUNIT_EXPECT_EQ(test, bnm_ids_parse(&ids, NULL, &why, &where), 0);
	KUNIT_EXPECT_EQ(test, ids.count, 0);
	bnm_ids_free(&ids);
}

static void ids_no_memory(struct kunit *test)
{
	const char *why, *where;
	struct bnm_ids ids;
	int err;

	current->fail_nth = 1;
	err = bnm_ids_parse(&ids, "8086:10d3", &why, &where);
	current->fail_nth = 0;
	KUNIT_EXPECT_EQ(test, err, -ENOMEM);
	KUNIT_EXPECT_EQ(test, ids.count, 0);
}

/* A function as far as it is looked at; not on the stack, for which it is too large. */
static bool matches(const struct bnm_ids *ids, u16 vendor, u16 device, u8 bus, u8 devfn)
{
	/* what pci_domain_nr() of x86 looks at */
	static struct pci_sysdata sysdata;
	static struct pci_bus on = { .sysdata = &sysdata };
	static struct pci_dev pdev = { .bus = &on };

	on.number = bus;
	pdev.vendor = vendor;
	pdev.device = device;
	pdev.devfn = devfn;
	return bnm_ids_match(ids, &pdev);
}

static void ids_match(struct kunit *test)
{
	const char *why, *where;
	struct bnm_ids ids;

	KUNIT_ASSERT_EQ(test, bnm_ids_parse(&ids, "8086:10d3,0000:02:05.1", &why, &where), 0);
	KUNIT_EXPECT_TRUE(test, matches(&ids, 0x8086, 0x10d3, 0, 0));
	KUNIT_EXPECT_TRUE(test, matches(&ids, 0x1234, 0x5678, 2, PCI_DEVFN(5, 1)));
	KUNIT_EXPECT_FALSE(test, matches(&ids, 0x8086, 0x10d4, 0, 0));
	KUNIT_EXPECT_FALSE(test, matches(&ids, 0x8087, 0x10d3, 0, 0));
	KUNIT_EXPECT_FALSE(test, matches(&ids, 0x1234, 0x5678, 2, PCI_DEVFN(5, 0)));
	KUNIT_EXPECT_FALSE(test, matches(&ids, 0x1234, 0x5678, 1, PCI_DEVFN(5, 1)));
	bnm_ids_free(&ids);
}

/* benet/be_main.c be_dev_ids[]; 1:1, neither more nor less. */
static void ids_of_be2net(struct kunit *test)
{
	static const u16 known[][2] = {
		{ 0x19a2, 0x0211 }, { 0x19a2, 0x0221 }, { 0x19a2, 0x0700 }, { 0x19a2, 0x0710 },
		{ 0x10df, 0xe220 }, { 0x10df, 0xe228 }, { 0x10df, 0x0720 }, { 0x10df, 0x0728 },
	};
	const struct bnm_ids none = { 0 };
	unsigned int i, found = 0;
	u32 device;

	for (i = 0; i < ARRAY_SIZE(known); i++)
		KUNIT_EXPECT_TRUE_MSG(test, matches(&none, known[i][0], known[i][1], 0, 0),
				      "%04x:%04x", known[i][0], known[i][1]);
	for (device = 0; device <= U16_MAX; device++)
		found += matches(&none, 0x19a2, device, 0, 0) +
			 matches(&none, 0x10df, device, 0, 0);
	KUNIT_EXPECT_EQ(test, found, ARRAY_SIZE(known));
}

static struct kunit_case ids_cases[] = {
	KUNIT_CASE_PARAM(ids_text, texts_gen_params),
	KUNIT_CASE(ids_none),
	KUNIT_CASE(ids_no_memory),
	KUNIT_CASE(ids_match),
	KUNIT_CASE(ids_of_be2net),
	{}
};

static struct kunit_suite ids_suite = {
	.name = "be2net_mask_ids",
	.test_cases = ids_cases,
};

kunit_test_suite(ids_suite);
