// SPDX-License-Identifier: GPL-2.0
/*
 * What a driver reads of a device's configuration when the path has limits: every
 * window of the configuration, over devices that have limits of their own or none.
 */
#include <kunit/test.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/unaligned.h>
#include <linux/virtio_blk.h>
#include <linux/virtio_ids.h>

#include "device.h"
#include "limits.h"

/* Beyond the last field that is limited, so that windows end behind it, too. */
#define CONFIG_SIZE 24

/* What surrounds the buffer that is read into, on both sides. */
#define GUARD 8
#define GUARD_BYTE 0xc3

#define BLK_SIZE_MAX 8
#define BLK_SEG_MAX 12
#define SCSI_SEG_MAX 4

/**
 * struct field - a field of the configuration, and what the driver is to see in it
 * @offset: where it is
 * @stock: what the device has in it
 * @seen: what the driver sees
 */
struct field {
	unsigned int offset;
	u32 stock;
	u32 seen;
};

/**
 * struct limits_case - a device with a path that has limits
 * @name: what is tried
 * @type: device type
 * @features: what it offers
 * @limits: the limits of the path
 * @fields: fields with their values; at most two, an offset of 0 is none
 */
struct limits_case {
	const char *name;
	u32 type;
	u64 features;
	struct vdma_limits limits;
	struct field fields[2];
};

#define MODERN BIT_ULL(VIRTIO_F_VERSION_1)
#define SIZE_VALID BIT_ULL(VIRTIO_BLK_F_SIZE_MAX)

static const struct limits_case cases[] = {
	{
		.name = "blk: no limits",
		.type = VIRTIO_ID_BLOCK, .features = MODERN | SIZE_VALID,
		.fields = {
			{ BLK_SEG_MAX, 254, 254 },
			{ BLK_SIZE_MAX, 0x100000, 0x100000 },
		},
	}, {
		.name = "blk: both lowered",
		.type = VIRTIO_ID_BLOCK, .features = MODERN | SIZE_VALID,
		.limits = { .segments = 128, .segment_size = 0x10000 },
		.fields = {
			{ BLK_SEG_MAX, 254, 128 },
			{ BLK_SIZE_MAX, 0x100000, 0x10000 },
		},
	}, {
		.name = "blk: the device's own are lower",
		.type = VIRTIO_ID_BLOCK, .features = MODERN | SIZE_VALID,
		.limits = { .segments = 128, .segment_size = 0x10000 },
		.fields = {
			{ BLK_SEG_MAX, 126, 126 },
			{ BLK_SIZE_MAX, 0x8000, 0x8000 },
		},
	}, {
		.name = "blk: the device's own are the same",
		.type = VIRTIO_ID_BLOCK, .features = MODERN | SIZE_VALID,
		.limits = { .segments = 128, .segment_size = 0x10000 },
		.fields = {
			{ BLK_SEG_MAX, 128, 128 },
			{ BLK_SIZE_MAX, 0x10000, 0x10000 },
		},
	}, {
		.name = "blk: every byte of the values counts",
		.type = VIRTIO_ID_BLOCK, .features = MODERN | SIZE_VALID,
		.limits = { .segments = 0x01020304, .segment_size = 0x0a0b0c0d },
		.fields = {
			{ BLK_SEG_MAX, 0xfffefdfc, 0x01020304 },
			{ BLK_SIZE_MAX, 0x80000000, 0x0a0b0c0d },
		},
	}, {
		.name = "blk: segments only",
		.type = VIRTIO_ID_BLOCK, .features = MODERN | SIZE_VALID,
		.limits = { .segments = 3 },
		.fields = {
			{ BLK_SEG_MAX, 254, 3 },
			{ BLK_SIZE_MAX, 0x100000, 0x100000 },
		},
	}, {
		.name = "blk: segment size only",
		.type = VIRTIO_ID_BLOCK, .features = MODERN | SIZE_VALID,
		.limits = { .segment_size = 0x8000 },
		.fields = {
			{ BLK_SEG_MAX, 254, 254 },
			{ BLK_SIZE_MAX, 0x100000, 0x8000 },
		},
	}, {
		.name = "blk: what is in a size_max that is not valid does not count",
		.type = VIRTIO_ID_BLOCK, .features = MODERN,
		.limits = { .segments = 128, .segment_size = 0x10000 },
		.fields = {
			{ BLK_SEG_MAX, 254, 128 },
			{ BLK_SIZE_MAX, 7, 0x10000 },
		},
	}, {
		.name = "blk: a size_max that is not valid and is greater",
		.type = VIRTIO_ID_BLOCK, .features = MODERN,
		.limits = { .segments = 128, .segment_size = 0x10000 },
		.fields = {
			{ BLK_SEG_MAX, 254, 128 },
			{ BLK_SIZE_MAX, 0xffffffff, 0x10000 },
		},
	}, {
		.name = "blk: a size_max that is not valid, and no limit",
		.type = VIRTIO_ID_BLOCK, .features = MODERN,
		.limits = { .segments = 128 },
		.fields = {
			{ BLK_SEG_MAX, 254, 128 },
			{ BLK_SIZE_MAX, 7, 7 },
		},
	}, {
		.name = "blk: other limits are not for the configuration",
		.type = VIRTIO_ID_BLOCK, .features = MODERN | SIZE_VALID,
		.limits = { .maps_can_fail = true, .mapping_size = 0x1000 },
		.fields = {
			{ BLK_SEG_MAX, 254, 254 },
			{ BLK_SIZE_MAX, 0x100000, 0x100000 },
		},
	}, {
		.name = "blk: legacy, both lowered",
		.type = VIRTIO_ID_BLOCK, .features = SIZE_VALID,
		.limits = { .segments = 0x1234, .segment_size = 0x123456 },
		.fields = {
			{ BLK_SEG_MAX, 0x3412f0f0, 0x1234 },
			{ BLK_SIZE_MAX, 0x563412f0, 0x123456 },
		},
	}, {
		.name = "blk: legacy, size_max not valid",
		.type = VIRTIO_ID_BLOCK,
		.limits = { .segments = 0x1234, .segment_size = 0x123456 },
		.fields = {
			{ BLK_SEG_MAX, 2, 2 },
			{ BLK_SIZE_MAX, 2, 0x123456 },
		},
	}, {
		.name = "scsi: segments lowered",
		.type = VIRTIO_ID_SCSI, .features = MODERN,
		.limits = { .segments = 64, .segment_size = 0x10000 },
		.fields = { { SCSI_SEG_MAX, 126, 64 } },
	}, {
		.name = "scsi: legacy, segments lowered",
		.type = VIRTIO_ID_SCSI,
		.limits = { .segments = 64, .segment_size = 0x10000 },
		.fields = { { SCSI_SEG_MAX, 126, 64 } },
	}, {
		.name = "scsi: the device's own are lower",
		.type = VIRTIO_ID_SCSI, .features = MODERN,
		.limits = { .segments = 64, .segment_size = 0x10000 },
		.fields = { { SCSI_SEG_MAX, 62, 62 } },
	}, {
		.name = "net: nothing in its configuration is limited",
		.type = VIRTIO_ID_NET, .features = ~0ULL,
		.limits = { .segments = 1, .segment_size = 1 },
	},
};

KUNIT_ARRAY_PARAM_DESC(cases, cases, name);

/**
 * struct limited - a device whose configuration is read
 * @vdev: the device
 * @vd: what the module keeps for it
 * @stock: the transport's operations
 * @config: what the device has
 * @seen: what the driver is to see where it reads whole fields
 */
struct limited {
	struct virtio_device vdev;
	struct vdma_device vd;
	struct virtio_config_ops stock;
	u8 config[CONFIG_SIZE];
	u8 seen[CONFIG_SIZE];
};

static void stock_get(struct virtio_device *vdev, unsigned int offset, void *buf,
		      unsigned int len)
{
	struct limited *limited = container_of(vdev, struct limited, vdev);

	memcpy(buf, limited->config + offset, len);
}

static struct limited *make_limited(struct kunit *test, const struct limits_case *c)
{
	struct limited *limited = kunit_kzalloc(test, sizeof(*limited), GFP_KERNEL);
	size_t i;

	KUNIT_ASSERT_NOT_NULL(test, limited);
	limited->vdev.features = c->features;
	limited->vdev.config = &limited->vd.config;
	limited->stock.get = stock_get;
	limited->vd.stock_config = &limited->stock;
	limited->vd.type = vdma_type_by_id(c->type);
	limited->vd.decision.features = c->features;
	limited->vd.limits = c->limits;

	for (i = 0; i < CONFIG_SIZE; i++)
		limited->config[i] = 0x50 + i;
	for (i = 0; i < ARRAY_SIZE(c->fields) && c->fields[i].offset; i++)
		put_unaligned_le32(c->fields[i].stock, limited->config + c->fields[i].offset);
	memcpy(limited->seen, limited->config, CONFIG_SIZE);
	return limited;
}

static bool within(unsigned int field, unsigned int offset, unsigned int len)
{
	return offset <= field && field + sizeof(u32) <= offset + len;
}

/* A field that is not read as a whole is left alone: there is no saying what is meant. */
static void set_seen(struct limited *limited, const struct limits_case *c,
		     unsigned int offset, unsigned int len)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(c->fields) && c->fields[i].offset; i++)
		put_unaligned_le32(within(c->fields[i].offset, offset, len) ?
				   c->fields[i].seen : c->fields[i].stock,
				   limited->seen + c->fields[i].offset);
}

/* The first window that is wrong ends the case: the others would say the same. */
static void expect_window(struct kunit *test, struct limited *limited,
			  const struct limits_case *c, unsigned int offset,
			  unsigned int len)
{
	u8 buffer[GUARD + CONFIG_SIZE + GUARD];
	u8 guard[GUARD + CONFIG_SIZE];

	memset(buffer, GUARD_BYTE, sizeof(buffer));
	memset(guard, GUARD_BYTE, sizeof(guard));
	vdma_limited_get(&limited->vdev, offset, buffer + GUARD, len);

	set_seen(limited, c, offset, len);
	KUNIT_ASSERT_MEMEQ_MSG(test, buffer + GUARD, limited->seen + offset, len,
			       "%s: %u bytes at %u", c->name, len, offset);
	KUNIT_ASSERT_MEMEQ_MSG(test, buffer, guard, GUARD,
			       "%s: before %u bytes at %u", c->name, len, offset);
	KUNIT_ASSERT_MEMEQ_MSG(test, buffer + GUARD + len, guard, GUARD + CONFIG_SIZE - len,
			       "%s: after %u bytes at %u", c->name, len, offset);
}

static void limits_every_window(struct kunit *test)
{
	const struct limits_case *c = test->param_value;
	struct limited *limited = make_limited(test, c);
	unsigned int offset, len;

	for (offset = 0; offset <= CONFIG_SIZE; offset++)
		for (len = 0; len <= CONFIG_SIZE - offset; len++)
			expect_window(test, limited, c, offset, len);
}

/* The device's own configuration is never written. */
static void limits_device_untouched(struct kunit *test)
{
	const struct limits_case *c = test->param_value;
	struct limited *limited = make_limited(test, c);
	u8 before[CONFIG_SIZE], seen[CONFIG_SIZE];

	memcpy(before, limited->config, CONFIG_SIZE);
	vdma_limited_get(&limited->vdev, 0, seen, CONFIG_SIZE);
	KUNIT_EXPECT_MEMEQ(test, limited->config, before, CONFIG_SIZE);
}

static struct kunit_case limits_cases[] = {
	KUNIT_CASE_PARAM(limits_every_window, cases_gen_params),
	KUNIT_CASE_PARAM(limits_device_untouched, cases_gen_params),
	{}
};

static struct kunit_suite limits_suite = {
	.name = "virtio_dma_limits",
	.test_cases = limits_cases,
};

kunit_test_suite(limits_suite);
