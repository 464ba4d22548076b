// SPDX-License-Identifier: GPL-2.0
/* The feature shim: what the driver is shown, what the device sees, what is left behind. */
#include <kunit/test.h>
#include <linux/virtio_blk.h>
#include <linux/virtio_ids.h>
#include <linux/virtio_net.h>
#include <linux/virtio_ring.h>

#include "device.h"
#include "extended_features.h"
#include "fake_transport.h"
#include "routing.h"

#define POOL_MB 4

#define MODERN	BIT_ULL(VIRTIO_F_VERSION_1)
#define ACCESS	BIT_ULL(VIRTIO_F_ACCESS_PLATFORM)
#define PACKED	BIT_ULL(VIRTIO_F_RING_PACKED)
#define INDIRECT BIT_ULL(VIRTIO_RING_F_INDIRECT_DESC)
/* A bit that transports of 6.12 do not know, and turn down. */
#define IN_ORDER BIT_ULL(35)
#define MTU	BIT_ULL(VIRTIO_NET_F_MTU)
#define MAC	BIT_ULL(VIRTIO_NET_F_MAC)
#define SIZE_MAX_BIT BIT_ULL(VIRTIO_BLK_F_SIZE_MAX)
#define SEG_MAX	BIT_ULL(VIRTIO_BLK_F_SEG_MAX)

/**
 * struct shim_row - feature bits on their way from the device to the driver and back
 * @name: name of the row
 * @rules: the user's rules
 * @type: device type
 * @offered: bits that the device offers
 * @known: bits that the driver knows; the core adds those of the transport
 * @shown: bits that the driver is told the device offers
 * @device: bits that the device sees accepted
 * @driver: bits that the driver believes to be accepted
 */
struct shim_row {
	const char *name;
	const char *rules;
	u32 type;
	u64 offered;
	u64 known;
	u64 shown;
	u64 device;
	u64 driver;
};

static const struct shim_row shim_rows[] = {
	{
		"off, not offered", "net=off", VIRTIO_ID_NET, MODERN | MTU, MTU | MAC,
		.shown = MODERN | MTU,
		.device = MODERN | MTU, .driver = MODERN | MTU,
	}, {
		"off, offered", "net=off", VIRTIO_ID_NET, MODERN | ACCESS | PACKED, MTU,
		.shown = MODERN | ACCESS | PACKED,
		.device = MODERN | ACCESS | PACKED, .driver = MODERN | ACCESS | PACKED,
	}, {
		"off, legacy", "net=off", VIRTIO_ID_NET, MTU | INDIRECT, MTU,
		.shown = MTU | INDIRECT,
		.device = MTU | INDIRECT, .driver = MTU | INDIRECT,
	}, {
		"no rule, not offered", "", VIRTIO_ID_NET, MODERN | MTU, MTU,
		.shown = MODERN | MTU | ACCESS,
		.device = MODERN | MTU, .driver = MODERN | MTU | ACCESS,
	}, {
		"no rule, offered", "", VIRTIO_ID_NET, MODERN | MTU | ACCESS, MTU,
		.shown = MODERN | MTU | ACCESS,
		.device = MODERN | MTU | ACCESS, .driver = MODERN | MTU | ACCESS,
	}, {
		"direct, not offered", "net=direct", VIRTIO_ID_NET,
		MODERN | MTU | PACKED, MTU | MAC,
		.shown = MODERN | MTU | PACKED | ACCESS,
		.device = MODERN | MTU | PACKED, .driver = MODERN | MTU | PACKED | ACCESS,
	}, {
		"direct, offered", "net=direct", VIRTIO_ID_NET, MODERN | ACCESS | PACKED, MTU,
		.shown = MODERN | ACCESS | PACKED,
		.device = MODERN | ACCESS | PACKED, .driver = MODERN | ACCESS | PACKED,
	}, {
		"direct, legacy", "net=direct", VIRTIO_ID_NET, MTU | INDIRECT, MTU,
		.shown = MTU | INDIRECT | ACCESS,
		.device = MTU | INDIRECT, .driver = MTU | INDIRECT | ACCESS,
	}, {
		"direct, the transport turns a bit down", "net=direct", VIRTIO_ID_NET,
		MODERN | IN_ORDER, MTU,
		.shown = MODERN | IN_ORDER | ACCESS,
		.device = MODERN, .driver = MODERN | ACCESS,
	}, {
		"platform, not offered", "net=platform", VIRTIO_ID_NET, MODERN | MTU | PACKED, MTU,
		.shown = MODERN | MTU | PACKED | ACCESS,
		.device = MODERN | MTU | PACKED, .driver = MODERN | MTU | PACKED | ACCESS,
	}, {
		"platform, offered", "net=platform", VIRTIO_ID_NET, MODERN | ACCESS, MTU,
		.shown = MODERN | ACCESS,
		.device = MODERN | ACCESS, .driver = MODERN | ACCESS,
	}, {
		"platform, legacy", "net=platform", VIRTIO_ID_NET, MTU, MTU,
		.shown = MTU | ACCESS,
		.device = MTU, .driver = MTU | ACCESS,
	}, {
		"swiotlb, not offered", "net=swiotlb", VIRTIO_ID_NET, MODERN | MTU | PACKED, MTU,
		.shown = MODERN | MTU | ACCESS,
		.device = MODERN | MTU, .driver = MODERN | MTU | ACCESS,
	}, {
		"swiotlb, offered", "net=swiotlb", VIRTIO_ID_NET, MODERN | ACCESS | PACKED, MTU,
		.shown = MODERN | ACCESS,
		.device = MODERN | ACCESS, .driver = MODERN | ACCESS,
	}, {
		"swiotlb, legacy", "net=swiotlb", VIRTIO_ID_NET, MTU, MTU,
		.shown = MTU | ACCESS,
		.device = MTU, .driver = MTU | ACCESS,
	}, {
		"bounce, not offered", "net=bounce", VIRTIO_ID_NET, MODERN | MTU | PACKED, MTU,
		.shown = MODERN | MTU | ACCESS,
		.device = MODERN | MTU, .driver = MODERN | MTU | ACCESS,
	}, {
		"bounce, offered", "net=bounce", VIRTIO_ID_NET, MODERN | ACCESS | PACKED, MTU,
		.shown = MODERN | ACCESS,
		.device = MODERN | ACCESS, .driver = MODERN | ACCESS,
	}, {
		"bounce, legacy", "net=bounce", VIRTIO_ID_NET, MTU | INDIRECT, MTU,
		.shown = MTU | INDIRECT | ACCESS,
		.device = MTU | INDIRECT, .driver = MTU | INDIRECT | ACCESS,
	}, {
		/* where the path has no limit, the driver is not told of one */
		"direct, segment size not offered", "blk=direct", VIRTIO_ID_BLOCK,
		MODERN | SEG_MAX, SIZE_MAX_BIT | SEG_MAX,
		.shown = MODERN | SEG_MAX | ACCESS,
		.device = MODERN | SEG_MAX, .driver = MODERN | SEG_MAX | ACCESS,
	}, {
		"bounce, segment size not offered", "blk=bounce", VIRTIO_ID_BLOCK,
		MODERN | SEG_MAX, SIZE_MAX_BIT | SEG_MAX,
		.shown = MODERN | SEG_MAX | SIZE_MAX_BIT | ACCESS,
		.device = MODERN | SEG_MAX,
		.driver = MODERN | SEG_MAX | SIZE_MAX_BIT | ACCESS,
	}, {
		"bounce, segment size offered", "blk=bounce", VIRTIO_ID_BLOCK,
		MODERN | SIZE_MAX_BIT, SIZE_MAX_BIT | SEG_MAX,
		.shown = MODERN | SIZE_MAX_BIT | ACCESS,
		.device = MODERN | SIZE_MAX_BIT, .driver = MODERN | SIZE_MAX_BIT | ACCESS,
	}, {
		"bounce, segment size offered, access too", "blk=bounce", VIRTIO_ID_BLOCK,
		MODERN | SIZE_MAX_BIT | ACCESS, SIZE_MAX_BIT,
		.shown = MODERN | SIZE_MAX_BIT | ACCESS,
		.device = MODERN | SIZE_MAX_BIT | ACCESS,
		.driver = MODERN | SIZE_MAX_BIT | ACCESS,
	}, {
		"bounce, driver without segment size", "blk=bounce", VIRTIO_ID_BLOCK,
		MODERN, SEG_MAX,
		.shown = MODERN | SIZE_MAX_BIT | ACCESS,
		.device = MODERN, .driver = MODERN | ACCESS,
	}, {
		"bounce, segment size, legacy", "blk=bounce", VIRTIO_ID_BLOCK,
		SEG_MAX, SIZE_MAX_BIT | SEG_MAX,
		.shown = SEG_MAX | SIZE_MAX_BIT | ACCESS,
		.device = SEG_MAX, .driver = SEG_MAX | SIZE_MAX_BIT | ACCESS,
	}, {
		"swiotlb, segment size not offered", "blk=swiotlb", VIRTIO_ID_BLOCK,
		MODERN, SIZE_MAX_BIT,
		.shown = MODERN | SIZE_MAX_BIT | ACCESS,
		.device = MODERN, .driver = MODERN | SIZE_MAX_BIT | ACCESS,
	}, {
		/* bit 1 is another thing to a type without a segment size */
		"bounce, a type without segment size", "scsi=bounce", VIRTIO_ID_SCSI,
		MODERN, SIZE_MAX_BIT,
		.shown = MODERN | ACCESS,
		.device = MODERN, .driver = MODERN | ACCESS,
	},
};

KUNIT_ARRAY_PARAM_DESC(shim, shim_rows, name);

static struct fake_virtio *plug(struct kunit *test, u32 type, u64 offered)
{
	const struct fake_virtio_params params = { .type = type, .features = offered };

	return fake_virtio_plug(test, &params);
}

static struct fake_driver *bind(struct kunit *test, const struct shim_row *row,
				struct fake_virtio *fake)
{
	const struct fake_driver_params params = {
		.type = row->type, .features = row->known, .queues = 1,
	};
	struct fake_driver *driver;

	routing_rules(test, row->rules);
	driver = fake_driver_register(test, &params);
	KUNIT_ASSERT_TRUE(test, fake_virtio_bound(fake));
	return driver;
}

static u64 shown(struct fake_virtio *fake)
{
	return fake->vdev.config->get_features(&fake->vdev);
}

static void expect_stock(struct kunit *test, struct fake_virtio *fake)
{
	KUNIT_EXPECT_PTR_EQ(test, fake->vdev.config, &fake->ops);
	KUNIT_EXPECT_EQ(test, shown(fake), fake->params.features);
	KUNIT_EXPECT_NULL(test, fake->dma_dev.dma_ops);
}

static void expect_legacy_bits_only(struct kunit *test, const struct fake_virtio *fake)
{
	unsigned int i;

	if (fake->params.features & MODERN)
		return;
	for (i = 0; i < FAKE_HISTORY; i++)
		KUNIT_EXPECT_EQ(test, upper_32_bits(fake->finalized[i]), 0);
}

static void test_bind(struct kunit *test)
{
	const struct shim_row *row = test->param_value;
	struct fake_virtio *fake = plug(test, row->type, row->offered);
	struct fake_driver *driver;

	expect_stock(test, fake);
	driver = bind(test, row, fake);

	KUNIT_EXPECT_EQ(test, shown(fake), row->shown);
	KUNIT_EXPECT_EQ(test, fake->finalizations, 1);
	KUNIT_EXPECT_EQ(test, fake_virtio_finalized(fake), row->device);
	KUNIT_EXPECT_EQ(test, driver->seen, row->driver);
	KUNIT_EXPECT_EQ(test, fake->vdev.features, row->driver);
	KUNIT_EXPECT_FALSE(test, routing_device(test, fake)->exempt);
	expect_legacy_bits_only(test, fake);

	fake_driver_unregister(test, driver);
	expect_stock(test, fake);
}

/* The transport is asked again and again; what was hidden is hidden each time. */
static void test_finalize_again(struct kunit *test)
{
	const struct shim_row *row = test->param_value;
	struct fake_virtio *fake = plug(test, row->type, row->offered);
	unsigned int i;

	bind(test, row, fake);
	for (i = 2; i < 5; i++) {
		KUNIT_EXPECT_EQ(test, fake->vdev.config->finalize_features(&fake->vdev), 0);
		KUNIT_EXPECT_EQ(test, fake->finalizations, i);
		KUNIT_EXPECT_EQ(test, fake_virtio_finalized(fake), row->device);
		KUNIT_EXPECT_EQ(test, fake->vdev.features, row->driver);
		KUNIT_EXPECT_EQ(test, shown(fake), row->shown);
	}
	expect_legacy_bits_only(test, fake);
}

static void test_resume(struct kunit *test)
{
	const struct shim_row *row = test->param_value;
	struct fake_virtio *fake = plug(test, row->type, row->offered);
	struct fake_driver *driver = bind(test, row, fake);

	KUNIT_ASSERT_EQ(test, virtio_device_freeze(&fake->vdev), 0);
	KUNIT_EXPECT_NULL(test, fake->vqs[0]);
	KUNIT_ASSERT_EQ(test, virtio_device_restore(&fake->vdev), 0);

	KUNIT_EXPECT_EQ(test, driver->restores, 1);
	KUNIT_EXPECT_NOT_NULL(test, fake->vqs[0]);
	KUNIT_EXPECT_EQ(test, fake->finalizations, 2);
	KUNIT_EXPECT_EQ(test, fake_virtio_finalized(fake), row->device);
	KUNIT_EXPECT_EQ(test, driver->seen, row->driver);
	KUNIT_EXPECT_EQ(test, fake->vdev.features, row->driver);
	expect_legacy_bits_only(test, fake);
}

/* --- a driver that turns VIRTIO_F_ACCESS_PLATFORM down --- */

static struct fake_driver *bind_clearing(struct kunit *test, u32 type)
{
	const struct fake_driver_params params = {
		.type = type, .cleared = ACCESS, .queues = 1,
	};

	return fake_driver_register(test, &params);
}

static const struct shim_row balloon_rows[] = {
	{ "direct, not offered", "balloon=direct", .offered = MODERN },
	{ "direct, offered", "balloon=direct", .offered = MODERN | ACCESS },
	{ "direct, legacy", "balloon=direct", .offered = INDIRECT },
	{ "platform, not offered", "balloon=platform", .offered = MODERN },
	{ "platform, offered", "balloon=platform", .offered = MODERN | ACCESS },
	{ "swiotlb, not offered", "balloon=swiotlb", .offered = MODERN },
	{ "bounce, not offered", "balloon=bounce", .offered = MODERN },
	{ "bounce, offered", "balloon=bounce", .offered = MODERN | ACCESS },
	{ "bounce, legacy", "balloon=bounce", .offered = INDIRECT },
};

KUNIT_ARRAY_PARAM_DESC(balloon, balloon_rows, name);

/* The first time the driver has not turned it down yet. */
static void test_balloon(struct kunit *test)
{
	const struct shim_row *row = test->param_value;
	struct fake_virtio *fake = plug(test, VIRTIO_ID_BALLOON, row->offered);
	struct vdma_device *vd = routing_device(test, fake);
	struct fake_driver *driver;

	routing_rules(test, row->rules);
	driver = bind_clearing(test, VIRTIO_ID_BALLOON);

	KUNIT_ASSERT_TRUE(test, fake_virtio_bound(fake));
	KUNIT_EXPECT_EQ(test, shown(fake), row->offered | ACCESS);
	KUNIT_EXPECT_EQ(test, fake->finalizations, 2);
	KUNIT_EXPECT_EQ(test, fake->finalized[0], row->offered);
	KUNIT_EXPECT_EQ(test, fake->finalized[1], row->offered & ~ACCESS);
	KUNIT_EXPECT_EQ(test, driver->seen, row->offered & ~ACCESS);
	KUNIT_EXPECT_EQ(test, vd->state, VDMA_ATTACHED);
	KUNIT_EXPECT_TRUE(test, vd->exempt);

	KUNIT_ASSERT_EQ(test, virtio_device_freeze(&fake->vdev), 0);
	KUNIT_ASSERT_EQ(test, virtio_device_restore(&fake->vdev), 0);
	KUNIT_EXPECT_EQ(test, fake->finalizations, 3);
	KUNIT_EXPECT_EQ(test, fake->finalized[2], row->offered & ~ACCESS);
	KUNIT_EXPECT_EQ(test, driver->seen, row->offered & ~ACCESS);
	expect_legacy_bits_only(test, fake);

	fake_driver_unregister(test, driver);
	expect_stock(test, fake);
}

/* Exempt is who turned the bit down, not the device: the next driver may not. */
static void test_exempt_ends(struct kunit *test)
{
	const struct fake_driver_params params = { .type = VIRTIO_ID_BALLOON };
	struct fake_virtio *fake = plug(test, VIRTIO_ID_BALLOON, MODERN);
	struct vdma_device *vd = routing_device(test, fake);

	routing_rules(test, "balloon=direct");
	fake_driver_unregister(test, bind_clearing(test, VIRTIO_ID_BALLOON));
	fake_driver_register(test, &params);
	KUNIT_ASSERT_TRUE(test, fake_virtio_bound(fake));
	KUNIT_EXPECT_FALSE(test, vd->exempt);
	KUNIT_EXPECT_EQ(test, fake->vdev.features, MODERN | ACCESS);
}

/* Of other types nobody would expect that the path has no effect. */
static void test_not_a_balloon(struct kunit *test)
{
	struct fake_virtio *fake = plug(test, VIRTIO_ID_NET, MODERN);
	struct vdma_device *vd = routing_device(test, fake);
	struct fake_driver *driver;

	routing_rules(test, "net=bounce");
	driver = bind_clearing(test, VIRTIO_ID_NET);
	KUNIT_EXPECT_FALSE(test, fake_virtio_bound(fake));
	KUNIT_EXPECT_EQ(test, driver->probes, 0);
	KUNIT_EXPECT_EQ(test, fake->finalizations, 1);
	KUNIT_EXPECT_EQ(test, fake->finalized[0], MODERN);
	KUNIT_EXPECT_EQ(test, fake->failures, 1);
	KUNIT_EXPECT_TRUE(test, vd->exempt);
	expect_stock(test, fake);
}

/* --- what does not come to be bound --- */

static void test_refused(struct kunit *test)
{
	const struct fake_virtio_params params = {
		.type = VIRTIO_ID_NET, .features = MODERN,
		.transport = FAKE_TRANSPORT_UNKNOWN,
	};
	const struct fake_driver_params driver_params = { .type = VIRTIO_ID_NET };
	struct fake_virtio *fake = fake_virtio_plug(test, &params);
	struct fake_driver *driver;

	routing_rules(test, "net=direct");
	driver = fake_driver_register(test, &driver_params);
	KUNIT_EXPECT_FALSE(test, fake_virtio_bound(fake));
	KUNIT_EXPECT_EQ(test, driver->probes, 0);
	/* the device has not seen any feature accepted, and has been reset */
	KUNIT_EXPECT_EQ(test, fake->finalizations, 0);
	KUNIT_EXPECT_EQ(test, fake->failures, 1);
	KUNIT_EXPECT_EQ(test, fake->resets, 2);
	KUNIT_EXPECT_EQ(test, fake->status, VIRTIO_CONFIG_S_ACKNOWLEDGE);
	expect_stock(test, fake);

	routing_rules(test, "net=off");
	KUNIT_EXPECT_EQ(test, device_attach(&fake->vdev.dev), 1);
	KUNIT_EXPECT_EQ(test, driver->seen, MODERN);
}

/**
 * struct failure_row - a step of the probe that fails
 * @name: name of the row
 * @rules: the user's rules
 * @finalize: what the transport's finalize_features() returns
 * @validate: what the driver's validate() returns
 * @probe: what the driver's probe() returns
 */
struct failure_row {
	const char *name;
	const char *rules;
	int finalize;
	int validate;
	int probe;
};

static const struct failure_row failure_rows[] = {
	{ "off, transport", "net=off", .finalize = -EINVAL },
	{ "direct, transport", "net=direct", .finalize = -EINVAL },
	{ "direct, validate", "net=direct", .validate = -EINVAL },
	{ "direct, probe", "net=direct", .probe = -ENODEV },
	{ "platform, transport", "net=platform", .finalize = -EINVAL },
	{ "platform, validate", "net=platform", .validate = -EINVAL },
	{ "platform, probe", "net=platform", .probe = -ENODEV },
	{ "swiotlb, transport", "net=swiotlb", .finalize = -EINVAL },
	{ "swiotlb, validate", "net=swiotlb", .validate = -EINVAL },
	{ "swiotlb, probe", "net=swiotlb", .probe = -ENODEV },
	{ "bounce, transport", "net=bounce", .finalize = -EINVAL },
	{ "bounce, validate", "net=bounce", .validate = -EINVAL },
	{ "bounce, probe", "net=bounce", .probe = -ENODEV },
};

KUNIT_ARRAY_PARAM_DESC(failure, failure_rows, name);

static void test_failed_probe(struct kunit *test)
{
	const struct failure_row *row = test->param_value;
	const struct fake_driver_params params = {
		.type = VIRTIO_ID_NET, .queues = 2,
		.validate_error = row->validate, .probe_error = row->probe,
	};
	struct fake_virtio *fake = plug(test, VIRTIO_ID_NET, MODERN);
	struct vdma_device *vd = routing_device(test, fake);
	struct io_tlb_mem *io_tlb_mem = fake->dma_dev.dma_io_tlb_mem;
	struct fake_driver *driver;

	fake->finalize_error = row->finalize;
	routing_rules(test, row->rules);
	driver = fake_driver_register(test, &params);
	KUNIT_EXPECT_FALSE(test, fake_virtio_bound(fake));
	KUNIT_EXPECT_EQ(test, driver->probes, row->probe ? 1 : 0);
	KUNIT_EXPECT_EQ(test, fake->failures, 1);
	KUNIT_EXPECT_EQ(test, fake_virtio_finalized(fake), MODERN);
	KUNIT_EXPECT_EQ(test, vd->state, VDMA_UNBOUND);
	KUNIT_EXPECT_PTR_EQ(test, fake->dma_dev.dma_io_tlb_mem, io_tlb_mem);
	KUNIT_EXPECT_EQ(test, routing_pool_used(test), 0);
	expect_stock(test, fake);

	fake->finalize_error = 0;
	driver->params.validate_error = 0;
	driver->params.probe_error = 0;
	KUNIT_EXPECT_EQ(test, device_attach(&fake->vdev.dev), 1);
	KUNIT_EXPECT_EQ(test, fake_virtio_finalized(fake), MODERN);
}

/* --- one device after the other way --- */

static void test_every_path_in_turn(struct kunit *test)
{
	static const struct {
		const char *rules;
		u64 device;
		u64 driver;
	} steps[] = {
		{ "net=bounce", MODERN, MODERN | ACCESS },
		{ "net=direct", MODERN | PACKED, MODERN | PACKED | ACCESS },
		{ "net=off", MODERN | PACKED, MODERN | PACKED },
		{ "net=swiotlb", MODERN, MODERN | ACCESS },
		{ "net=platform", MODERN | PACKED, MODERN | PACKED | ACCESS },
		{ "net=bounce", MODERN, MODERN | ACCESS },
		{ "net=off", MODERN | PACKED, MODERN | PACKED },
	};
	const struct fake_driver_params params = { .type = VIRTIO_ID_NET, .queues = 1 };
	struct fake_virtio *fake = plug(test, VIRTIO_ID_NET, MODERN | PACKED);
	struct fake_driver *driver;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		routing_rules(test, steps[i].rules);
		driver = fake_driver_register(test, &params);
		KUNIT_EXPECT_EQ_MSG(test, fake_virtio_finalized(fake), steps[i].device,
				    "step %u, %s", i, steps[i].rules);
		KUNIT_EXPECT_EQ_MSG(test, driver->seen, steps[i].driver,
				    "step %u, %s", i, steps[i].rules);
		fake_driver_unregister(test, driver);
		expect_stock(test, fake);
	}
}

/* --- more than 64 bits --- */

static const bool extended_rows[] = { true, false };

static void describe_extended(const bool *extended, char *description)
{
	strscpy(description, *extended ? "transport with" : "transport without",
		KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(extended, extended_rows, describe_extended);

static void test_extended(struct kunit *test)
{
	const bool *extended = test->param_value;
	const struct fake_virtio_params params = {
		.type = VIRTIO_ID_NET, .features = MODERN | PACKED,
		.extended = *extended, .features_64_127 = 0xa5,
	};
	const struct fake_driver_params driver_params = { .type = VIRTIO_ID_NET };
	u64 features[EXTENDED_WORDS];
	struct fake_virtio *fake;

	if (!extended_features_exist())
		kunit_skip(test, "this kernel has 64 feature bits");
	fake = fake_virtio_plug(test, &params);
	routing_rules(test, "net=bounce");
	fake_driver_register(test, &driver_params);
	KUNIT_ASSERT_TRUE(test, fake_virtio_bound(fake));
	KUNIT_ASSERT_EQ(test, extended_features_read(&fake->vdev, features), *extended);
	if (!*extended)
		return;
	KUNIT_EXPECT_EQ(test, features[0], MODERN | ACCESS);
	KUNIT_EXPECT_EQ(test, features[1], 0xa5);
}

static int features_suite_init(struct kunit_suite *suite)
{
	return routing_start(POOL_MB);
}

static void features_suite_exit(struct kunit_suite *suite)
{
	routing_stop();
}

static struct kunit_case features_cases[] = {
	KUNIT_CASE_PARAM(test_bind, shim_gen_params),
	KUNIT_CASE_PARAM(test_finalize_again, shim_gen_params),
	KUNIT_CASE_PARAM(test_resume, shim_gen_params),
	KUNIT_CASE_PARAM(test_balloon, balloon_gen_params),
	KUNIT_CASE(test_exempt_ends),
	KUNIT_CASE(test_not_a_balloon),
	KUNIT_CASE(test_refused),
	KUNIT_CASE_PARAM(test_failed_probe, failure_gen_params),
	KUNIT_CASE(test_every_path_in_turn),
	KUNIT_CASE_PARAM(test_extended, extended_gen_params),
	{}
};

static struct kunit_suite features_suite = {
	.name = "virtio_dma_features",
	.suite_init = features_suite_init,
	.suite_exit = features_suite_exit,
	.test_cases = features_cases,
};

kunit_test_suite(features_suite);
