// SPDX-License-Identifier: GPL-2.0
/* The table of device types, each row against what the specification has. */
#include <kunit/test.h>
#include <linux/slab.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/virtio_blk.h>
#include <linux/virtio_scsi.h>

#include "types.h"

/* Numbers from VIRTIO 1.3, section 5; fields and bits from 5.2.4, 5.2.3 and 5.6.4. */
static const struct vdma_type expected_types[] = {
	{
		.id = 1, .name = "net", .routing = VDMA_ROUTED, .fill = VDMA_FILL_ZERO,
	}, {
		.id = 2, .name = "blk", .routing = VDMA_ROUTED, .fill = VDMA_FILL_ZERO,
		.seg_max_offset = 12, .size_max_offset = 8, .size_max_feature = 1,
	}, {
		.id = 3, .name = "console", .routing = VDMA_ON_REQUEST, .fill = VDMA_FILL_ZERO,
	}, {
		.id = 4, .name = "rng", .routing = VDMA_ON_REQUEST, .fill = VDMA_FILL_ZERO,
	}, {
		.id = 5, .name = "balloon", .routing = VDMA_RAW, .fill = VDMA_FILL_PRESERVE,
	}, {
		.id = 7, .name = "rpmsg", .routing = VDMA_ON_REQUEST, .fill = VDMA_FILL_PRESERVE,
	}, {
		.id = 8, .name = "scsi", .routing = VDMA_ON_REQUEST, .fill = VDMA_FILL_PRESERVE,
		.seg_max_offset = 4,
	}, {
		.id = 9, .name = "9p", .routing = VDMA_ON_REQUEST, .fill = VDMA_FILL_PRESERVE,
	}, {
		.id = 16, .name = "gpu", .routing = VDMA_ON_REQUEST, .fill = VDMA_FILL_PRESERVE,
		.unmaps_late = true,
	}, {
		.id = 17, .name = "rtc", .routing = VDMA_ON_REQUEST, .fill = VDMA_FILL_PRESERVE,
	}, {
		.id = 18, .name = "input", .routing = VDMA_ON_REQUEST, .fill = VDMA_FILL_PRESERVE,
	}, {
		.id = 19, .name = "vsock", .routing = VDMA_ON_REQUEST, .fill = VDMA_FILL_ZERO,
	}, {
		.id = 20, .name = "crypto", .routing = VDMA_ON_REQUEST, .fill = VDMA_FILL_PRESERVE,
		.maps_twice = true,
	}, {
		.id = 23, .name = "iommu", .routing = VDMA_NEVER, .fill = VDMA_FILL_PRESERVE,
	}, {
		.id = 24, .name = "mem", .routing = VDMA_ON_REQUEST, .fill = VDMA_FILL_PRESERVE,
	}, {
		.id = 25, .name = "sound", .routing = VDMA_ON_REQUEST, .fill = VDMA_FILL_PRESERVE,
	}, {
		.id = 26, .name = "fs", .routing = VDMA_ON_REQUEST, .fill = VDMA_FILL_PRESERVE,
	}, {
		.id = 27, .name = "pmem", .routing = VDMA_ON_REQUEST, .fill = VDMA_FILL_PRESERVE,
	}, {
		.id = 32, .name = "scmi", .routing = VDMA_ON_REQUEST, .fill = VDMA_FILL_PRESERVE,
	}, {
		.id = 34, .name = "i2c", .routing = VDMA_ON_REQUEST, .fill = VDMA_FILL_PRESERVE,
	}, {
		.id = 36, .name = "can", .routing = VDMA_ON_REQUEST, .fill = VDMA_FILL_PRESERVE,
	}, {
		.id = 40, .name = "bt", .routing = VDMA_ON_REQUEST, .fill = VDMA_FILL_PRESERVE,
	}, {
		.id = 41, .name = "gpio", .routing = VDMA_ON_REQUEST, .fill = VDMA_FILL_PRESERVE,
	},
};

KUNIT_ARRAY_PARAM_DESC(types, expected_types, name);

static void types_row(struct kunit *test)
{
	const struct vdma_type *expected = test->param_value;
	const struct vdma_type *type = vdma_type_by_id(expected->id);

	KUNIT_EXPECT_EQ(test, type->id, expected->id);
	KUNIT_EXPECT_STREQ(test, type->name, expected->name);
	KUNIT_EXPECT_EQ(test, type->routing, expected->routing);
	KUNIT_EXPECT_EQ(test, type->fill, expected->fill);
	KUNIT_EXPECT_EQ(test, type->unmaps_late, expected->unmaps_late);
	KUNIT_EXPECT_EQ(test, type->maps_twice, expected->maps_twice);
	KUNIT_EXPECT_EQ(test, type->seg_max_offset, expected->seg_max_offset);
	KUNIT_EXPECT_EQ(test, type->size_max_offset, expected->size_max_offset);
	KUNIT_EXPECT_EQ(test, type->size_max_feature, expected->size_max_feature);
	KUNIT_EXPECT_PTR_EQ(test, vdma_type_by_name(expected->name, strlen(expected->name)),
			    type);
}

/* The numbers of the specification above, against the structures of the kernel. */
static void types_offsets(struct kunit *test)
{
	const struct vdma_type *blk = vdma_type_by_name("blk", 3);
	const struct vdma_type *scsi = vdma_type_by_name("scsi", 4);

	KUNIT_ASSERT_NOT_NULL(test, blk);
	KUNIT_ASSERT_NOT_NULL(test, scsi);
	KUNIT_EXPECT_EQ(test, blk->seg_max_offset,
			offsetof(struct virtio_blk_config, seg_max));
	KUNIT_EXPECT_EQ(test, blk->size_max_offset,
			offsetof(struct virtio_blk_config, size_max));
	KUNIT_EXPECT_EQ(test, blk->size_max_feature, VIRTIO_BLK_F_SIZE_MAX);
	KUNIT_EXPECT_EQ(test, scsi->seg_max_offset,
			offsetof(struct virtio_scsi_config, seg_max));
	KUNIT_EXPECT_EQ(test, sizeof_field(struct virtio_blk_config, seg_max), 4);
	KUNIT_EXPECT_EQ(test, sizeof_field(struct virtio_blk_config, size_max), 4);
	KUNIT_EXPECT_EQ(test, sizeof_field(struct virtio_scsi_config, seg_max), 4);
}

static bool expected_id(u32 id)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(expected_types); i++)
		if (expected_types[i].id == id)
			return true;
	return false;
}

static void expect_unknown(struct kunit *test, u32 id)
{
	const struct vdma_type *type = vdma_type_by_id(id);

	KUNIT_ASSERT_NOT_NULL(test, type);
	KUNIT_EXPECT_STREQ_MSG(test, type->name, "unknown", "type %u", id);
	KUNIT_EXPECT_EQ_MSG(test, type->routing, VDMA_ON_REQUEST, "type %u", id);
	KUNIT_EXPECT_EQ_MSG(test, type->fill, VDMA_FILL_PRESERVE, "type %u", id);
	KUNIT_EXPECT_FALSE_MSG(test, type->unmaps_late || type->maps_twice, "type %u", id);
	KUNIT_EXPECT_EQ_MSG(test, type->seg_max_offset, 0, "type %u", id);
	KUNIT_EXPECT_EQ_MSG(test, type->size_max_offset, 0, "type %u", id);
}

/* No row but those above, and what is safe for the rest. */
static void types_unknown_ids(struct kunit *test)
{
	u32 id;

	for (id = 0; id < 1024; id++)
		if (!expected_id(id))
			expect_unknown(test, id);
	expect_unknown(test, BIT(16) | 2);
	expect_unknown(test, U32_MAX);
}

/* In memory of just their size, so that KASAN sees a look beyond the end. */
static const struct vdma_type *by_bare_name(struct kunit *test, const char *name, size_t len)
{
	char *bare = kunit_kmalloc(test, len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, bare);
	memcpy(bare, name, len);
	return vdma_type_by_name(bare, len);
}

static const char *expected_name(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(expected_types); i++)
		if (strlen(expected_types[i].name) == len &&
		    !strncmp(expected_types[i].name, name, len))
			return expected_types[i].name;
	return NULL;
}

/* Every length of every name: "fs" may not be found in "fsx", nor "input" for "in". */
static void types_prefixes(struct kunit *test)
{
	size_t i, len;

	for (i = 0; i < ARRAY_SIZE(expected_types); i++) {
		const char *name = expected_types[i].name;

		for (len = 0; len <= strlen(name) + 1; len++) {
			const struct vdma_type *type = by_bare_name(test, name, len);
			const char *expected = expected_name(name, len);

			KUNIT_EXPECT_EQ_MSG(test, !!type, !!expected, "%.*s, %zu bytes",
					    (int)len, name, len);
			if (type && expected)
				KUNIT_EXPECT_STREQ(test, type->name, expected);
		}
	}
}

static void types_no_such_name(struct kunit *test)
{
	static const char * const names[] = {
		"unknown", "Net", "BLK", "net ", " net", "nets", "block", "virtio-net", "0", "*",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		KUNIT_EXPECT_NULL_MSG(test, by_bare_name(test, names[i], strlen(names[i])),
				      "\"%s\"", names[i]);
}

/* A rule must be able to name every type, and mean one only. */
static void types_no_duplicates(struct kunit *test)
{
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(expected_types); i++) {
		const struct vdma_type *type = vdma_type_by_id(expected_types[i].id);

		KUNIT_EXPECT_PTR_EQ_MSG(test, vdma_type_by_name(type->name, strlen(type->name)),
					type, "%s", type->name);
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_PTR_NE_MSG(test, vdma_type_by_id(expected_types[j].id), type,
						"%s and %s", type->name, expected_types[j].name);
	}
}

static struct kunit_case types_cases[] = {
	KUNIT_CASE_PARAM(types_row, types_gen_params),
	KUNIT_CASE(types_offsets),
	KUNIT_CASE(types_unknown_ids),
	KUNIT_CASE(types_prefixes),
	KUNIT_CASE(types_no_such_name),
	KUNIT_CASE(types_no_duplicates),
	{}
};

static struct kunit_suite types_suite = {
	.name = "virtio_dma_types",
	.test_cases = types_cases,
};

kunit_test_suite(types_suite);
