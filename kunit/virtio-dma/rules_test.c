// SPDX-License-Identifier: GPL-2.0
/* The user's rules: what is a rule, what is refused with which words, and who wins. */
#include <kunit/test.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "faults.h"
#include "rules.h"

#define NO_FORM "not of the form DEVICE=PATH"
#define NO_PATH "unknown path; use off, direct, platform, swiotlb or bounce"
#define NO_TYPE "unknown device; use net, blk, ..., a PCI or MMIO device name, or virtioN"
#define NO_DEVICE "no name of a device; write PCI devices like 0000:00:05.0"
#define NO_ROUTE "devices of this type can not be routed"
#define TWICE "this device has a rule already"

/**
 * struct text - a list of rules as the user writes it
 * @text: the list
 * @rules: how many rules it has, if it is right
 * @why: what is wrong with it, or NULL
 * @where: offset of the rule that is wrong
 */
struct text {
	const char *text;
	unsigned int rules;
	const char *why;
	unsigned int where;
};

static const struct text texts[] = {
	{ "blk=off", 1 },
	{ "blk=direct", 1 },
	{ "blk=platform", 1 },
	{ "blk=swiotlb", 1 },
	{ "blk=bounce", 1 },
	{ "blk=off,net=direct", 2 },
	{ "blk=off,net=direct,0000:00:05.0=bounce,virtio3=platform", 4 },
	{ "balloon=bounce", 1 },
	{ "9p=bounce", 1 },

	{ "virtio0=off", 1 },
	{ "virtio4294967295=off", 1 },
	{ "virtio=off", .why = NO_TYPE },
	{ "virtio3x=off", .why = NO_TYPE },
	{ "virtio-3=off", .why = NO_TYPE },
	{ "virtio 3=off", .why = NO_TYPE },
	{ "Virtio3=off", .why = NO_TYPE },

	{ "0000:00:05.0=off", 1 },
	{ "ffff:ff:1f.7=off", 1 },
	{ "10000:e1:00.0=off", 1 },
	{ "00:05.0=off", .why = NO_DEVICE },
	{ "0:0:5.0=off", .why = NO_DEVICE },
	{ "0000:0:05.0=off", .why = NO_DEVICE },
	{ "0000:00:5.0=off", .why = NO_DEVICE },
	{ "0000:00:0A.0=off", .why = NO_DEVICE },
	{ "0000:00:05=off", .why = NO_DEVICE },
	{ "0000:00:05.0x=off", .why = NO_DEVICE },
	{ "0000:00:05.=off", .why = NO_DEVICE },
	{ " 0000:00:05.0=off", .why = NO_DEVICE },
	{ "0000:00:05.0 =off", .why = NO_DEVICE },
	{ "-000:00:05.0=off", .why = NO_DEVICE },

	{ "virtio-mmio.0=off", 1 },
	{ "a000000.virtio_mmio=off", 1 },
	{ "LNRO0005:00=off", 1 },
	{ "LNRO0005:00:00=off", .why = NO_DEVICE },
	{ ".virtio_mmio=off", .why = NO_DEVICE },
	{ "a000000.=off", .why = NO_DEVICE },
	{ ":=off", .why = NO_DEVICE },
	{ ".=off", .why = NO_DEVICE },
	{ "::=off", .why = NO_DEVICE },
	{ "a.b/c=off", .why = NO_DEVICE },
	{ "a000000.virtio mmio=off", .why = NO_DEVICE },

	{ "blk", .why = NO_FORM },
	{ " ", .why = NO_FORM },
	{ "blk:off", .why = NO_FORM },
	{ "=", .why = NO_PATH },
	{ "=off", .why = NO_TYPE },
	{ "blk=", .why = NO_PATH },
	{ "blk=auto", .why = NO_PATH },
	{ "blk=Off", .why = NO_PATH },
	{ "blk=of", .why = NO_PATH },
	{ "blk=offf", .why = NO_PATH },
	{ "blk=off ", .why = NO_PATH },
	{ "blk= off", .why = NO_PATH },
	{ "blk=off\n", .why = NO_PATH },
	{ "blk==off", .why = NO_PATH },
	{ "blk=off=direct", .why = NO_PATH },
	{ "blk =off", .why = NO_TYPE },
	{ " blk=off", .why = NO_TYPE },
	{ "BLK=off", .why = NO_TYPE },
	{ "block=off", .why = NO_TYPE },
	{ "bl=off", .why = NO_TYPE },
	{ "unknown=off", .why = NO_TYPE },
	{ "block=none", .why = NO_PATH },
	{ "iommu=direct", .why = NO_ROUTE },
	{ "iommu=off", .why = NO_ROUTE },

	{ ",", .why = NO_FORM },
	{ "blk=off,", .why = NO_FORM, .where = 8 },
	{ ",blk=off", .why = NO_FORM },
	{ "blk=off,,net=off", .why = NO_FORM, .where = 8 },
	{ "blk=off, net=off", .why = NO_TYPE, .where = 8 },
	{ "blk=off;net=off", .why = NO_PATH },
	{ "blk=off,net=of,scsi=off", .why = NO_PATH, .where = 8 },
	{ "blk=off,net=off,iommu=off,net=no", .why = NO_ROUTE, .where = 16 },

	{ "blk=off,blk=off", .why = TWICE, .where = 8 },
	{ "blk=off,net=off,blk=direct", .why = TWICE, .where = 16 },
	{ "virtio3=off,virtio3=direct", .why = TWICE, .where = 12 },
	{ "0000:00:05.0=off,0000:00:05.0=off", .why = TWICE, .where = 17 },
	{ "virtio3=off,virtio33=direct", 2 },
};

/* Escaped: a line of the results must stay one. */
static void describe_text(const struct text *text, char *description)
{
	snprintf(description, KUNIT_PARAM_DESC_SIZE, "\"%*pE\"", (int)strlen(text->text),
		 text->text);
}

KUNIT_ARRAY_PARAM(texts, texts, describe_text);

static void free_rules(void *rules)
{
	vdma_rules_free(rules);
}

static void expect_empty(struct kunit *test, const struct vdma_rules *rules)
{
	KUNIT_EXPECT_EQ(test, rules->count, 0);
	KUNIT_EXPECT_NULL(test, rules->rule);
	KUNIT_EXPECT_NULL(test, rules->text);
}

/* The text is in memory of just its size, so that KASAN sees a look beyond its end. */
static void rules_text(struct kunit *test)
{
	const struct text *text = test->param_value;
	char *copy = kunit_kmalloc(test, strlen(text->text) + 1, GFP_KERNEL);
	const char *why = NULL, *where = NULL;
	struct vdma_rules rules;
	int err;

	KUNIT_ASSERT_NOT_NULL(test, copy);
	strscpy(copy, text->text, strlen(text->text) + 1);
	memset(&rules, 0xaa, sizeof(rules));
	err = vdma_rules_parse(&rules, copy, &why, &where);
	KUNIT_EXPECT_STREQ(test, copy, text->text);
	KUNIT_EXPECT_EQ(test, err, text->why ? -EINVAL : 0);
	KUNIT_EXPECT_EQ(test, rules.count, text->rules);
	if (text->why) {
		KUNIT_EXPECT_STREQ(test, why, text->why);
		KUNIT_EXPECT_PTR_EQ(test, where, copy + text->where);
		expect_empty(test, &rules);
	}
	vdma_rules_free(&rules);
	expect_empty(test, &rules);
}

static void rules_nothing(struct kunit *test)
{
	static const struct vdma_names names = {
		.type = "", .device = "", .virtio = "",
	};
	enum vdma_reason reason = VDMA_LEFT_BOUND;
	const char *why, *where;
	struct vdma_rules rules;

	memset(&rules, 0xaa, sizeof(rules));
	KUNIT_EXPECT_EQ(test, vdma_rules_parse(&rules, NULL, &why, &where), 0);
	expect_empty(test, &rules);
	memset(&rules, 0xaa, sizeof(rules));
	KUNIT_EXPECT_EQ(test, vdma_rules_parse(&rules, "", &why, &where), 0);
	expect_empty(test, &rules);
	KUNIT_EXPECT_EQ(test, vdma_rules_lookup(&rules, &names, &reason), VIRTIO_DMA_AUTO);
	KUNIT_EXPECT_EQ(test, reason, VDMA_LEFT_BOUND);
	/* as often as one likes */
	vdma_rules_free(&rules);
	vdma_rules_free(&rules);
}

/**
 * struct lookup - which rule a device gets
 * @text: the rules
 * @names: the device
 * @path: the path that it gets, VIRTIO_DMA_AUTO if none
 * @reason: from which kind of rule
 */
struct lookup {
	const char *text;
	struct vdma_names names;
	enum virtio_dma_path path;
	enum vdma_reason reason;
};

#define DISK { .type = "blk", .device = "0000:00:05.0", .virtio = "virtio3" }

static const struct lookup lookups[] = {
	/* the more specific one, in whatever order they are written */
	{ "blk=off,0000:00:05.0=direct,virtio3=bounce", DISK,
	  VIRTIO_DMA_BOUNCE, VDMA_BY_VIRTIO_RULE },
	{ "blk=off,virtio3=bounce,0000:00:05.0=direct", DISK,
	  VIRTIO_DMA_BOUNCE, VDMA_BY_VIRTIO_RULE },
	{ "0000:00:05.0=direct,blk=off,virtio3=bounce", DISK,
	  VIRTIO_DMA_BOUNCE, VDMA_BY_VIRTIO_RULE },
	{ "0000:00:05.0=direct,virtio3=bounce,blk=off", DISK,
	  VIRTIO_DMA_BOUNCE, VDMA_BY_VIRTIO_RULE },
	{ "virtio3=bounce,blk=off,0000:00:05.0=direct", DISK,
	  VIRTIO_DMA_BOUNCE, VDMA_BY_VIRTIO_RULE },
	{ "virtio3=bounce,0000:00:05.0=direct,blk=off", DISK,
	  VIRTIO_DMA_BOUNCE, VDMA_BY_VIRTIO_RULE },
	{ "blk=off,0000:00:05.0=direct", DISK, VIRTIO_DMA_DIRECT, VDMA_BY_DEVICE_RULE },
	{ "0000:00:05.0=direct,blk=off", DISK, VIRTIO_DMA_DIRECT, VDMA_BY_DEVICE_RULE },
	{ "blk=swiotlb,virtio3=off", DISK, VIRTIO_DMA_OFF, VDMA_BY_VIRTIO_RULE },
	{ "virtio3=off,blk=swiotlb", DISK, VIRTIO_DMA_OFF, VDMA_BY_VIRTIO_RULE },
	{ "net=off,blk=platform,scsi=bounce", DISK, VIRTIO_DMA_PLATFORM, VDMA_BY_TYPE_RULE },
	/* those of others do not count, however specific */
	{ "blk=platform,0000:00:06.0=off,virtio4=bounce", DISK,
	  VIRTIO_DMA_PLATFORM, VDMA_BY_TYPE_RULE },
	{ "net=off,0000:00:06.0=off,virtio4=bounce", DISK, VIRTIO_DMA_AUTO },
	{ "virtio33=off", DISK, VIRTIO_DMA_AUTO },
	{ "virtio03=off", DISK, VIRTIO_DMA_AUTO },
	{ "0000:00:05.1=off", DISK, VIRTIO_DMA_AUTO },
	{ "10000:00:05.0=off", DISK, VIRTIO_DMA_AUTO },
	{
		"virtio-mmio.0=swiotlb",
		{ .type = "net", .device = "virtio-mmio.0", .virtio = "virtio0" },
		VIRTIO_DMA_SWIOTLB, VDMA_BY_DEVICE_RULE
	}, {
		"LNRO0005:00=off,net=direct",
		{ .type = "net", .device = "LNRO0005:00", .virtio = "virtio0" },
		VIRTIO_DMA_OFF, VDMA_BY_DEVICE_RULE
	},
	/* a rule is for the kind of name that it looks like */
	{
		"virtio3=off",
		{ .type = "virtio3", .device = "virtio3", .virtio = "virtio0" },
		VIRTIO_DMA_AUTO
	}, {
		"0000:00:05.0=off",
		{ .type = "0000:00:05.0", .device = "x", .virtio = "0000:00:05.0" },
		VIRTIO_DMA_AUTO
	}, {
		"blk=off",
		{ .type = "net", .device = "blk", .virtio = "blk" },
		VIRTIO_DMA_AUTO
	},
};

KUNIT_ARRAY_PARAM_DESC(lookups, lookups, text);

static void parse_right(struct kunit *test, struct vdma_rules *rules, const char *text)
{
	const char *why = "", *where = "";

	KUNIT_ASSERT_EQ_MSG(test, vdma_rules_parse(rules, text, &why, &where), 0, "%s: %s",
			    where, why);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_rules, rules), 0);
}

static void rules_lookup(struct kunit *test)
{
	const struct lookup *lookup = test->param_value;
	enum vdma_reason reason = VDMA_LEFT_BOUND;
	struct vdma_rules rules;

	parse_right(test, &rules, lookup->text);
	KUNIT_EXPECT_EQ(test, vdma_rules_lookup(&rules, &lookup->names, &reason),
			lookup->path);
	KUNIT_EXPECT_EQ(test, reason, lookup->path == VIRTIO_DMA_AUTO ?
			VDMA_LEFT_BOUND : lookup->reason);
	kunit_release_action(test, free_rules, &rules);
}

#define MANY 500

static void rules_many(struct kunit *test)
{
	const size_t size = MANY * sizeof("virtio000=platform");
	char *text = kunit_kzalloc(test, size, GFP_KERNEL);
	struct vdma_rules rules;
	unsigned int i, len = 0;

	KUNIT_ASSERT_NOT_NULL(test, text);
	for (i = 0; i < MANY; i++)
		len += scnprintf(text + len, size - len, "%svirtio%u=%s", i ? "," : "", i,
				 i % 2 ? "platform" : "off");
	parse_right(test, &rules, text);
	KUNIT_EXPECT_EQ(test, rules.count, MANY);
	for (i = 0; i < MANY; i++) {
		enum vdma_reason reason;
		char name[16];
		const struct vdma_names names = {
			.type = "blk", .device = "0000:00:05.0", .virtio = name,
		};

		snprintf(name, sizeof(name), "virtio%u", i);
		KUNIT_EXPECT_EQ_MSG(test, vdma_rules_lookup(&rules, &names, &reason),
				    i % 2 ? VIRTIO_DMA_PLATFORM : VIRTIO_DMA_OFF, "%s", name);
	}
	kunit_release_action(test, free_rules, &rules);
}

/* What the kernel's command line may carry, and more. */
static void rules_long(struct kunit *test)
{
	static const char * const tails[] = { "", "=off", "=direct,blk=off", ".0=no" };
	static const char * const why_not[] = { NO_FORM, NO_TYPE, NO_TYPE, NO_PATH };
	char *text = kunit_kzalloc(test, SZ_64K + 32, GFP_KERNEL);
	struct vdma_rules rules;
	const char *why, *where;
	size_t i;

	KUNIT_ASSERT_NOT_NULL(test, text);
	for (i = 0; i < ARRAY_SIZE(tails); i++) {
		memset(text, 'a', SZ_64K);
		strscpy(text + SZ_64K, tails[i], 32);
		KUNIT_EXPECT_EQ(test, vdma_rules_parse(&rules, text, &why, &where), -EINVAL);
		KUNIT_EXPECT_STREQ_MSG(test, why, why_not[i], "tail \"%s\"", tails[i]);
		KUNIT_EXPECT_PTR_EQ(test, where, (const char *)text);
		expect_empty(test, &rules);
	}
	strscpy(text + SZ_64K, ".0=bounce", 32);
	parse_right(test, &rules, text);
	KUNIT_EXPECT_EQ(test, rules.count, 1);
	kunit_release_action(test, free_rules, &rules);
}

static int parse_two(void *rules)
{
	const char *why, *where;

	return vdma_rules_parse(rules, "blk=off,net=bounce", &why, &where);
}

static void expect_nothing_left(struct kunit *test, void *rules)
{
	expect_empty(test, rules);
}

static void rules_without_memory(struct kunit *test)
{
	static const struct faulty parse = {
		.run = parse_two,
		.undo = free_rules,
		.failed = expect_nothing_left,
		.error = -ENOMEM,
	};
	struct vdma_rules rules;

	/* the copy of the text or the table: what the kernel itself allocates shifts the count */
	KUNIT_EXPECT_GE(test, fail_each_allocation(test, &parse, &rules), 1);
}

static struct kunit_case rules_cases[] = {
	KUNIT_CASE_PARAM(rules_text, texts_gen_params),
	KUNIT_CASE(rules_nothing),
	KUNIT_CASE_PARAM(rules_lookup, lookups_gen_params),
	KUNIT_CASE(rules_many),
	KUNIT_CASE(rules_long),
	KUNIT_CASE(rules_without_memory),
	{}
};

static struct kunit_suite rules_suite = {
	.name = "virtio_dma_rules",
	.test_cases = rules_cases,
};

kunit_test_suite(rules_suite);
