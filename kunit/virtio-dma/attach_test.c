// SPDX-License-Identifier: GPL-2.0
/*
 * What attaching changes in a device and in the device that does its DMA, on each
 * path and however it ends, and that detaching puts all of it back.
 */
#include <kunit/resource.h>
#include <kunit/test.h>
#include <linux/dma-direct.h>
#include <linux/dma-map-ops.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/slab.h>
#include <linux/swiotlb.h>
#include <linux/virtio_ids.h>

#include "attach.h"
#include "bounce.h"
#include "device.h"
#include "fake_transport.h"
#include "faults.h"
#include "routing.h"

#define POOL_MB 8
#define QUEUES 2

#define MODERN BIT_ULL(VIRTIO_F_VERSION_1)
#define OFFERED (MODERN | BIT_ULL(VIRTIO_F_ACCESS_PLATFORM))

/* --- DMA operations of some platform: that there are any counts as translation --- */

static void *platform_alloc(struct device *dev, size_t size, dma_addr_t *handle,
			    gfp_t gfp, unsigned long attrs)
{
	void *vaddr = alloc_pages_exact(size, gfp | __GFP_ZERO);

	if (vaddr)
		*handle = virt_to_phys(vaddr);
	return vaddr;
}

static void platform_free(struct device *dev, size_t size, void *vaddr,
			  dma_addr_t handle, unsigned long attrs)
{
	free_pages_exact(vaddr, size);
}

static const struct dma_map_ops platform_ops = {
	.alloc = platform_alloc,
	.free = platform_free,
};

/* --- what attaching may change --- */

/**
 * struct snapshot - what attaching may change, at one moment
 * @config: config operations of the virtio device
 * @ops: DMA operations
 * @io_tlb_mem: SWIOTLB
 * @range_map: offsets of the bus
 * @mask: streaming mask
 * @coherent_mask: coherent mask
 * @bus_limit: limit of the bus
 * @max_seg_size: longest segment of a scatterlist
 * @min_align_mask: address bits that a bounce buffer keeps
 * @iommu: the IOMMU's DMA code is asked before @ops
 * @bypass: @ops are passed over
 * @skip_sync: syncs are left out
 */
struct snapshot {
	const struct virtio_config_ops *config;
	const struct dma_map_ops *ops;
	const struct io_tlb_mem *io_tlb_mem;
	const struct bus_dma_region *range_map;
	u64 mask;
	u64 coherent_mask;
	u64 bus_limit;
	unsigned int max_seg_size;
	unsigned int min_align_mask;
	bool iommu;
	bool bypass;
	bool skip_sync;
};

static struct snapshot take_snapshot(struct fake_virtio *fake)
{
	struct device *dev = &fake->dma_dev;

	return (struct snapshot){
		.config = fake->vdev.config,
		.ops = dev->dma_ops,
		.io_tlb_mem = dev->dma_io_tlb_mem,
		.range_map = dev->dma_range_map,
		.mask = *dev->dma_mask,
		.coherent_mask = dev->coherent_dma_mask,
		.bus_limit = dev->bus_dma_limit,
		.max_seg_size = dma_get_max_seg_size(dev),
		.min_align_mask = dma_get_min_align_mask(dev),
		.iommu = vdma_dev_dma_iommu(dev),
		.bypass = vdma_dev_ops_bypass(dev),
		.skip_sync = dev->dma_skip_sync,
	};
}

static void expect_as_before(struct kunit *test, struct fake_virtio *fake,
			     const struct snapshot *before, const char *when)
{
	const struct snapshot now = take_snapshot(fake);

	KUNIT_EXPECT_PTR_EQ_MSG(test, now.config, before->config, "%s", when);
	KUNIT_EXPECT_PTR_EQ_MSG(test, now.ops, before->ops, "%s", when);
	KUNIT_EXPECT_PTR_EQ_MSG(test, now.io_tlb_mem, before->io_tlb_mem, "%s", when);
	KUNIT_EXPECT_PTR_EQ_MSG(test, now.range_map, before->range_map, "%s", when);
	KUNIT_EXPECT_EQ_MSG(test, now.mask, before->mask, "%s", when);
	KUNIT_EXPECT_EQ_MSG(test, now.coherent_mask, before->coherent_mask, "%s", when);
	KUNIT_EXPECT_EQ_MSG(test, now.bus_limit, before->bus_limit, "%s", when);
	KUNIT_EXPECT_EQ_MSG(test, now.max_seg_size, before->max_seg_size, "%s", when);
	KUNIT_EXPECT_EQ_MSG(test, now.min_align_mask, before->min_align_mask, "%s", when);
	KUNIT_EXPECT_EQ_MSG(test, now.iommu, before->iommu, "%s", when);
	KUNIT_EXPECT_EQ_MSG(test, now.bypass, before->bypass, "%s", when);
	KUNIT_EXPECT_EQ_MSG(test, now.skip_sync, before->skip_sync, "%s", when);
}

/* --- devices to attach to --- */

static void forget_ops(void *fake)
{
	set_dma_ops(&((struct fake_virtio *)fake)->dma_dev, NULL);
}

static void give_platform_ops(struct kunit *test, struct fake_virtio *fake)
{
	set_dma_ops(&fake->dma_dev, &platform_ops);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, forget_ops, fake), 0);
}

static void give_iommu(struct kunit *test, struct fake_virtio *fake)
{
	vdma_dev_assign_dma_iommu(&fake->dma_dev, true);
	KUNIT_ASSERT_TRUE(test, vdma_dev_dma_iommu(&fake->dma_dev));
}

/* A device with a mask that a driver of a transport has set, as they all do. */
static struct fake_virtio *plug(struct kunit *test, u32 type, u64 features,
				const char *transport,
				void (*prepare)(struct kunit *test, struct fake_virtio *fake))
{
	const struct fake_virtio_params params = {
		.type = type,
		.features = features,
		.transport = transport,
	};
	struct fake_virtio *fake = fake_virtio_plug(test, &params);

	if (prepare)
		prepare(test, fake);
	dma_set_mask(&fake->dma_dev, dma_get_mask(&fake->dma_dev));
	return fake;
}

static struct fake_driver *bind_driver(struct kunit *test, u32 type)
{
	const struct fake_driver_params params = {
		.type = type,
		.queues = QUEUES,
	};

	return fake_driver_register(test, &params);
}

/* Users of this module besides those that were there before. */
static int new_users(int before)
{
	return module_refcount(THIS_MODULE) - before;
}

/* --- what is in force while a driver is bound --- */

enum ops_expected {
	OPS_STOCK,
	OPS_OURS,
	OPS_NONE,
};

/**
 * struct attach_case - a device that gets a driver
 * @name: what it is
 * @rules: the user's rules
 * @type: its type
 * @features: what it offers
 * @transport: its transport, NULL for one that is known
 * @prepare: makes it what it is
 * @path: the path that it has then
 * @reason: why
 * @state: how far we are with it
 * @wrapped: its config operations are ours
 * @ops: whose DMA operations it has
 * @own_swiotlb: its SWIOTLB is a copy of our own
 * @iommu: the IOMMU's DMA code is asked
 * @skip_sync: syncs may be left out
 */
struct attach_case {
	const char *name;
	const char *rules;
	u32 type;
	u64 features;
	const char *transport;
	void (*prepare)(struct kunit *test, struct fake_virtio *fake);
	enum virtio_dma_path path;
	enum vdma_reason reason;
	enum vdma_state state;
	bool wrapped;
	enum ops_expected ops;
	bool own_swiotlb;
	bool iommu;
	bool skip_sync;
};

static const struct attach_case attach_cases[] = {
	{
		.name = "off",
		.rules = "net=off", .type = VIRTIO_ID_NET, .features = MODERN,
		.path = VIRTIO_DMA_OFF, .reason = VDMA_BY_TYPE_RULE, .state = VDMA_STOCK,
		.skip_sync = true,
	}, {
		.name = "direct",
		.rules = "net=direct", .type = VIRTIO_ID_NET, .features = MODERN,
		.path = VIRTIO_DMA_DIRECT, .reason = VDMA_BY_TYPE_RULE, .state = VDMA_ATTACHED,
		.wrapped = true, .ops = OPS_OURS, .skip_sync = true,
	}, {
		.name = "direct, legacy",
		.rules = "net=direct", .type = VIRTIO_ID_NET,
		.path = VIRTIO_DMA_DIRECT, .reason = VDMA_BY_TYPE_RULE, .state = VDMA_ATTACHED,
		.wrapped = true, .ops = OPS_OURS, .skip_sync = true,
	}, {
		.name = "direct, offered",
		.rules = "net=direct", .type = VIRTIO_ID_NET, .features = OFFERED,
		.path = VIRTIO_DMA_DIRECT, .reason = VDMA_BY_TYPE_RULE, .state = VDMA_ATTACHED,
		.wrapped = true, .ops = OPS_OURS, .skip_sync = true,
	}, {
		.name = "platform",
		.rules = "net=platform", .type = VIRTIO_ID_NET, .features = MODERN,
		.path = VIRTIO_DMA_PLATFORM, .reason = VDMA_BY_TYPE_RULE, .state = VDMA_ATTACHED,
		.wrapped = true, .skip_sync = true,
	}, {
		.name = "swiotlb",
		.rules = "net=swiotlb", .type = VIRTIO_ID_NET, .features = MODERN,
		.path = VIRTIO_DMA_SWIOTLB, .reason = VDMA_BY_TYPE_RULE, .state = VDMA_ATTACHED,
		.wrapped = true, .own_swiotlb = true, .skip_sync = true,
	}, {
		.name = "swiotlb, offered",
		.rules = "net=swiotlb", .type = VIRTIO_ID_NET, .features = OFFERED,
		.path = VIRTIO_DMA_SWIOTLB, .reason = VDMA_BY_TYPE_RULE, .state = VDMA_ATTACHED,
		.wrapped = true, .own_swiotlb = true, .skip_sync = true,
	}, {
		.name = "bounce",
		.rules = "net=bounce", .type = VIRTIO_ID_NET, .features = MODERN,
		.path = VIRTIO_DMA_BOUNCE, .reason = VDMA_BY_TYPE_RULE, .state = VDMA_ATTACHED,
		.wrapped = true, .ops = OPS_OURS,
	}, {
		.name = "bounce, offered",
		.rules = "net=bounce", .type = VIRTIO_ID_NET, .features = OFFERED,
		.path = VIRTIO_DMA_BOUNCE, .reason = VDMA_BY_TYPE_RULE, .state = VDMA_ATTACHED,
		.wrapped = true, .ops = OPS_OURS,
	}, {
		.name = "no rule",
		.rules = "blk=bounce", .type = VIRTIO_ID_NET, .features = MODERN,
		.path = VIRTIO_DMA_DIRECT, .reason = VDMA_BY_DEFAULT, .state = VDMA_ATTACHED,
		.wrapped = true, .ops = OPS_OURS, .skip_sync = true,
	}, {
		.name = "no rule, offered",
		.rules = "", .type = VIRTIO_ID_NET, .features = OFFERED,
		.path = VIRTIO_DMA_PLATFORM, .reason = VDMA_BY_OFFER, .state = VDMA_ATTACHED,
		.wrapped = true, .skip_sync = true,
	}, {
		.name = "no rule, a type without tests",
		.rules = "", .type = VIRTIO_ID_RNG, .features = MODERN,
		.path = VIRTIO_DMA_OFF, .reason = VDMA_LEFT_UNTESTED, .state = VDMA_STOCK,
		.skip_sync = true,
	}, {
		.name = "no rule, a transport that is not known",
		.rules = "", .type = VIRTIO_ID_NET, .features = MODERN,
		.transport = FAKE_TRANSPORT_UNKNOWN,
		.path = VIRTIO_DMA_OFF, .reason = VDMA_LEFT_TRANSPORT, .state = VDMA_STOCK,
		.skip_sync = true,
	}, {
		.name = "off, operations of the platform",
		.rules = "net=off", .type = VIRTIO_ID_NET, .features = OFFERED,
		.prepare = give_platform_ops,
		.path = VIRTIO_DMA_OFF, .reason = VDMA_BY_TYPE_RULE, .state = VDMA_STOCK,
		.skip_sync = true,
	}, {
		.name = "platform, operations of the platform",
		.rules = "net=platform", .type = VIRTIO_ID_NET, .features = OFFERED,
		.prepare = give_platform_ops,
		.path = VIRTIO_DMA_PLATFORM, .reason = VDMA_BY_TYPE_RULE, .state = VDMA_ATTACHED,
		.wrapped = true, .skip_sync = true,
	}, {
		.name = "direct, operations of the platform",
		.rules = "net=direct", .type = VIRTIO_ID_NET, .features = MODERN,
		.prepare = give_platform_ops,
		.path = VIRTIO_DMA_DIRECT, .reason = VDMA_BY_TYPE_RULE, .state = VDMA_ATTACHED,
		.wrapped = true, .ops = OPS_OURS, .skip_sync = true,
	}, {
		.name = "swiotlb, operations of the platform",
		.rules = "net=swiotlb", .type = VIRTIO_ID_NET, .features = MODERN,
		.prepare = give_platform_ops,
		.path = VIRTIO_DMA_SWIOTLB, .reason = VDMA_BY_TYPE_RULE, .state = VDMA_ATTACHED,
		.wrapped = true, .ops = OPS_NONE, .own_swiotlb = true, .skip_sync = true,
	}, {
		.name = "bounce, operations of the platform",
		.rules = "net=bounce", .type = VIRTIO_ID_NET, .features = MODERN,
		.prepare = give_platform_ops,
		.path = VIRTIO_DMA_BOUNCE, .reason = VDMA_BY_TYPE_RULE, .state = VDMA_ATTACHED,
		.wrapped = true, .ops = OPS_OURS,
	}, {
		.name = "off, DMA code of the IOMMU",
		.rules = "net=off", .type = VIRTIO_ID_NET, .features = MODERN,
		.prepare = give_iommu,
		.path = VIRTIO_DMA_OFF, .reason = VDMA_BY_TYPE_RULE, .state = VDMA_STOCK,
		.iommu = true, .skip_sync = true,
	}, {
		.name = "direct, DMA code of the IOMMU",
		.rules = "net=direct", .type = VIRTIO_ID_NET, .features = MODERN,
		.prepare = give_iommu,
		.path = VIRTIO_DMA_DIRECT, .reason = VDMA_BY_TYPE_RULE, .state = VDMA_ATTACHED,
		.wrapped = true, .ops = OPS_OURS, .skip_sync = true,
	}, {
		.name = "swiotlb, DMA code of the IOMMU",
		.rules = "net=swiotlb", .type = VIRTIO_ID_NET, .features = MODERN,
		.prepare = give_iommu,
		.path = VIRTIO_DMA_SWIOTLB, .reason = VDMA_BY_TYPE_RULE, .state = VDMA_ATTACHED,
		.wrapped = true, .ops = OPS_NONE, .own_swiotlb = true, .skip_sync = true,
	}, {
		.name = "bounce, DMA code of the IOMMU",
		.rules = "net=bounce", .type = VIRTIO_ID_NET, .features = MODERN,
		.prepare = give_iommu,
		.path = VIRTIO_DMA_BOUNCE, .reason = VDMA_BY_TYPE_RULE, .state = VDMA_ATTACHED,
		.wrapped = true, .ops = OPS_OURS,
	},
};

KUNIT_ARRAY_PARAM_DESC(attach_cases, attach_cases, name);

static const struct dma_map_ops *expected_ops(const struct attach_case *c,
					      const struct vdma_device *vd,
					      const struct snapshot *before)
{
	switch (c->ops) {
	case OPS_OURS:
		return &vd->ops;
	case OPS_NONE:
		return NULL;
	default:
		return before->ops;
	}
}

static void expect_own_swiotlb(struct kunit *test, const struct vdma_device *vd,
			       const struct snapshot *before)
{
	KUNIT_EXPECT_PTR_EQ(test, vd->dma_dev->dma_io_tlb_mem, &vd->io_tlb_mem);
	KUNIT_EXPECT_TRUE(test, vd->io_tlb_mem.force_bounce);
	KUNIT_EXPECT_FALSE(test, before->io_tlb_mem->force_bounce);
	KUNIT_EXPECT_EQ(test, vd->io_tlb_mem.nslabs, before->io_tlb_mem->nslabs);
}

/* All that the case does not name must be as it was. */
static void expect_in_force(struct kunit *test, const struct attach_case *c,
			    struct fake_virtio *fake, const struct vdma_device *vd,
			    const struct snapshot *before)
{
	struct snapshot expected = *before;

	expected.ops = expected_ops(c, vd, before);
	expected.iommu = c->iommu;
	expected.skip_sync = c->skip_sync;
	if (c->wrapped)
		expected.config = &vd->config;
	if (c->own_swiotlb) {
		expect_own_swiotlb(test, vd, before);
		expected.io_tlb_mem = &vd->io_tlb_mem;
	}
	expect_as_before(test, fake, &expected, "while a driver is bound");
	KUNIT_EXPECT_EQ(test, vd->state, c->state);
	KUNIT_EXPECT_EQ(test, vd->decision.path, c->path);
	KUNIT_EXPECT_EQ(test, vd->decision.reason, c->reason);
	KUNIT_EXPECT_EQ(test, vdma_offered(&vd->decision), c->features == OFFERED);
	KUNIT_EXPECT_NULL(test, vd->decision.refused);
}

static void expect_unbound(struct kunit *test, const struct vdma_device *vd)
{
	KUNIT_EXPECT_EQ(test, vd->state, VDMA_UNBOUND);
	KUNIT_EXPECT_FALSE(test, vd->held);
	KUNIT_EXPECT_NULL(test, vd->path);
	KUNIT_EXPECT_EQ(test, routing_pool_used(test), 0);
}

static void attach_and_detach(struct kunit *test)
{
	const struct attach_case *c = test->param_value;
	struct fake_virtio *fake = plug(test, c->type, c->features, c->transport, c->prepare);
	struct vdma_device *vd = routing_device(test, fake);
	const struct snapshot before = take_snapshot(fake);
	int users = module_refcount(THIS_MODULE);
	struct fake_driver *driver;

	routing_rules(test, c->rules);
	driver = bind_driver(test, c->type);
	KUNIT_ASSERT_TRUE(test, fake_virtio_bound(fake));
	expect_in_force(test, c, fake, vd, &before);
	KUNIT_EXPECT_EQ(test, new_users(users), c->state == VDMA_ATTACHED);
	KUNIT_EXPECT_EQ(test, driver->probes, 1);
	KUNIT_EXPECT_TRUE(test, fake->status & VIRTIO_CONFIG_S_DRIVER_OK);

	fake_driver_unregister(test, driver);
	expect_as_before(test, fake, &before, "after the driver has gone");
	expect_unbound(test, vd);
	KUNIT_EXPECT_EQ(test, new_users(users), 0);
}

/* --- paths, one after the other --- */

static const struct path_case {
	const char *name;
	const char *rules;
	enum virtio_dma_path path;
} path_cases[] = {
	{ "off", "net=off", VIRTIO_DMA_OFF },
	{ "direct", "net=direct", VIRTIO_DMA_DIRECT },
	{ "platform", "net=platform", VIRTIO_DMA_PLATFORM },
	{ "swiotlb", "net=swiotlb", VIRTIO_DMA_SWIOTLB },
	{ "bounce", "net=bounce", VIRTIO_DMA_BOUNCE },
};

KUNIT_ARRAY_PARAM_DESC(path_cases, path_cases, name);

/* From every path to every path, itself too. */
static void attach_again(struct kunit *test)
{
	struct fake_virtio *fake = plug(test, VIRTIO_ID_NET, MODERN, NULL, NULL);
	struct vdma_device *vd = routing_device(test, fake);
	const struct path_case *first = test->param_value;
	const struct snapshot before = take_snapshot(fake);
	struct device *dev = &fake->vdev.dev;
	struct fake_driver *driver;
	size_t i;

	routing_rules(test, "net=off");
	driver = bind_driver(test, VIRTIO_ID_NET);
	device_release_driver(dev);
	for (i = 0; i < 2 * ARRAY_SIZE(path_cases); i++) {
		const struct path_case *c = i % 2 ? &path_cases[i / 2] : first;

		routing_rules(test, c->rules);
		KUNIT_EXPECT_EQ_MSG(test, device_attach(dev), 1, "%s", c->name);
		KUNIT_EXPECT_EQ_MSG(test, vd->decision.path, c->path, "%s", c->name);
		device_release_driver(dev);
		expect_as_before(test, fake, &before, c->name);
		expect_unbound(test, vd);
	}
	KUNIT_EXPECT_EQ(test, driver->probes, 1 + 2 * ARRAY_SIZE(path_cases));
	KUNIT_EXPECT_EQ(test, driver->removes, driver->probes);
}

/* CONFIG_DEBUG_TEST_DRIVER_REMOVE binds a second time without telling of the end. */
static void attach_twice(struct kunit *test)
{
	struct fake_virtio *fake = plug(test, VIRTIO_ID_NET, MODERN, NULL, NULL);
	struct vdma_device *vd = routing_device(test, fake);
	const struct path_case *c = test->param_value;
	const struct snapshot before = take_snapshot(fake);
	int users = module_refcount(THIS_MODULE);

	routing_rules(test, c->rules);
	device_lock(&fake->vdev.dev);
	vdma_attach(vd);
	vdma_attach(vd);
	KUNIT_EXPECT_EQ(test, new_users(users), c->path != VIRTIO_DMA_OFF);
	KUNIT_EXPECT_PTR_EQ(test, vd->stock_config, before.config);
	vdma_detach(vd);
	expect_as_before(test, fake, &before, "after detaching");
	vdma_detach(vd);
	device_unlock(&fake->vdev.dev);
	expect_as_before(test, fake, &before, "after detaching twice");
	expect_unbound(test, vd);
	KUNIT_EXPECT_EQ(test, new_users(users), 0);
}

static void attach_unplugged_while_bound(struct kunit *test)
{
	struct fake_virtio *fake = plug(test, VIRTIO_ID_NET, MODERN, NULL, NULL);
	struct vdma_device *vd = routing_device(test, fake);
	const struct path_case *c = test->param_value;
	const struct snapshot before = take_snapshot(fake);
	int users = module_refcount(THIS_MODULE);
	struct fake_driver *driver;

	routing_rules(test, c->rules);
	driver = bind_driver(test, VIRTIO_ID_NET);
	KUNIT_ASSERT_TRUE(test, fake_virtio_bound(fake));
	fake_virtio_unplug(test, fake);
	KUNIT_EXPECT_EQ(test, driver->removes, 1);
	KUNIT_EXPECT_NULL(test, vdma_device_find(&fake->vdev));
	expect_as_before(test, fake, &before, "after unplugging");
	expect_unbound(test, vd);
	KUNIT_EXPECT_EQ(test, new_users(users), 0);
	/* whoever still has it must ask it nothing */
	KUNIT_EXPECT_EQ(test, vdma_check_choice(vd, c->path), -ENODEV);
}

/* --- drivers that do not come to be bound --- */

static const struct failing_case {
	const char *name;
	int validate_error;
	int finalize_error;
	int probe_error;
} failing_cases[] = {
	{ .name = "its validate() fails", .validate_error = -EINVAL },
	{ .name = "the transport accepts no features", .finalize_error = -EINVAL },
	{ .name = "its probe() fails", .probe_error = -ENODEV },
	{ .name = "its probe() finds nothing", .probe_error = -ENXIO },
	{ .name = "its probe() wants to come again", .probe_error = -EPROBE_DEFER },
};

static void expect_no_driver(struct kunit *test, struct fake_virtio *fake,
			     const struct vdma_device *vd, const struct snapshot *before,
			     const char *when)
{
	KUNIT_EXPECT_FALSE_MSG(test, fake_virtio_bound(fake), "%s", when);
	expect_as_before(test, fake, before, when);
	expect_unbound(test, vd);
}

static void attach_failed_probe(struct kunit *test)
{
	struct fake_virtio *fake = plug(test, VIRTIO_ID_NET, MODERN, NULL, NULL);
	struct vdma_device *vd = routing_device(test, fake);
	const struct path_case *path = test->param_value;
	const struct snapshot before = take_snapshot(fake);
	int users = module_refcount(THIS_MODULE);
	struct device *dev = &fake->vdev.dev;
	struct fake_driver *driver;
	size_t i;

	routing_rules(test, path->rules);
	driver = bind_driver(test, VIRTIO_ID_NET);
	device_release_driver(dev);
	for (i = 0; i < ARRAY_SIZE(failing_cases); i++) {
		const struct failing_case *c = &failing_cases[i];

		driver->params.validate_error = c->validate_error;
		driver->params.probe_error = c->probe_error;
		fake->finalize_error = c->finalize_error;
		KUNIT_EXPECT_EQ_MSG(test, device_attach(dev), 0, "%s", c->name);
		expect_no_driver(test, fake, vd, &before, c->name);
		KUNIT_EXPECT_EQ_MSG(test, new_users(users), 0, "%s", c->name);
	}

	driver->params.probe_error = 0;
	KUNIT_EXPECT_EQ(test, device_attach(dev), 1);
	KUNIT_EXPECT_EQ(test, vd->decision.path, path->path);
	fake_driver_unregister(test, driver);
	expect_no_driver(test, fake, vd, &before, "after all");
}

/* --- refusals --- */

static void give_short_mask(struct kunit *test, struct fake_virtio *fake)
{
	fake->dma_mask = DMA_BIT_MASK(20);
}

static void give_short_coherent_mask(struct kunit *test, struct fake_virtio *fake)
{
	fake->dma_dev.coherent_dma_mask = DMA_BIT_MASK(20);
}

static void give_short_bus(struct kunit *test, struct fake_virtio *fake)
{
	fake->dma_dev.bus_dma_limit = DMA_BIT_MASK(20);
}

/* An empty map; the driver core frees it when the transport's driver goes. */
static void give_bus_offset(struct kunit *test, struct fake_virtio *fake)
{
	struct bus_dma_region *map = kzalloc(sizeof(*map), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, map);
	fake->dma_dev.dma_range_map = map;
}

static void take_swiotlb(struct kunit *test, struct fake_virtio *fake)
{
	fake->dma_dev.dma_io_tlb_mem = NULL;
}

static void give_small_swiotlb(struct kunit *test, struct fake_virtio *fake)
{
	struct io_tlb_mem *mem = kunit_kzalloc(test, sizeof(*mem), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, mem);
	*mem = *fake->dma_dev.dma_io_tlb_mem;
	mem->nslabs = (4 << 20 >> IO_TLB_SHIFT) - 1;
	fake->dma_dev.dma_io_tlb_mem = mem;
}

/**
 * struct refusal - a device that must not be driven over the path that is asked for
 * @name: what it is
 * @rules: the user's rules
 * @type: its type
 * @features: what it offers
 * @transport: its transport, NULL for one that is known
 * @prepare: makes it what it is
 * @why: what is said
 */
struct refusal {
	const char *name;
	const char *rules;
	u32 type;
	u64 features;
	const char *transport;
	void (*prepare)(struct kunit *test, struct fake_virtio *fake);
	const char *why;
};

#define NOT_IOMMU_ADDRESSES \
	"IOMMU addresses are not what this device takes: choose direct, bounce or swiotlb"

static const struct refusal refusals[] = {
	{
		.name = "platform, though it does not ask the platform",
		.rules = "net=platform", .type = VIRTIO_ID_NET, .features = MODERN,
		.prepare = give_platform_ops,
		.why = NOT_IOMMU_ADDRESSES,
	}, {
		.name = "direct, though the platform translates",
		.rules = "net=direct", .type = VIRTIO_ID_NET, .features = OFFERED,
		.prepare = give_platform_ops,
		.why = "an IOMMU translates this device's addresses: choose platform",
	}, {
		.name = "a graphics card, bounce",
		.rules = "gpu=bounce", .type = VIRTIO_ID_GPU, .features = OFFERED,
		.why = "this type unmaps buffers after its driver is gone: choose off",
	}, {
		.name = "direct on a transport that is not known",
		.rules = "net=direct", .type = VIRTIO_ID_NET, .features = MODERN,
		.transport = FAKE_TRANSPORT_UNKNOWN,
		.why = "only virtio-pci and virtio-mmio devices can be routed: choose off",
	}, {
		.name = "swiotlb, and there is none",
		.rules = "net=swiotlb", .type = VIRTIO_ID_NET, .features = MODERN,
		.prepare = take_swiotlb,
		.why = "the kernel has no SWIOTLB: boot with swiotlb=65536, on x86 also iommu=soft",
	}, {
		.name = "swiotlb, and it is too small",
		.rules = "net=swiotlb", .type = VIRTIO_ID_NET, .features = MODERN,
		.prepare = give_small_swiotlb,
		.why = "the kernel's SWIOTLB is smaller than 4 MiB: boot with swiotlb=65536",
	}, {
		.name = "bounce, out of reach of buffers",
		.rules = "net=bounce", .type = VIRTIO_ID_NET, .features = MODERN,
		.prepare = give_short_mask,
		.why = "its pool lies beyond the device's DMA mask: choose swiotlb",
	}, {
		.name = "bounce, out of reach of rings",
		.rules = "net=bounce", .type = VIRTIO_ID_NET, .features = MODERN,
		.prepare = give_short_coherent_mask,
		.why = "its pool lies beyond the device's DMA mask: choose swiotlb",
	}, {
		.name = "bounce, out of reach of the bus",
		.rules = "net=bounce", .type = VIRTIO_ID_NET, .features = MODERN,
		.prepare = give_short_bus,
		.why = "its pool lies beyond the device's DMA mask: choose swiotlb",
	}, {
		.name = "direct with a mask too short for any ring",
		.rules = "net=direct", .type = VIRTIO_ID_NET, .features = MODERN,
		.prepare = give_short_mask,
		.why = "the device's DMA mask is not possible on this path: choose another path",
	}, {
		.name = "swiotlb with a mask too short for any ring",
		.rules = "net=swiotlb", .type = VIRTIO_ID_NET, .features = MODERN,
		.prepare = give_short_mask,
		.why = "the device's DMA mask is not possible on this path: choose another path",
	}, {
		.name = "direct on a bus with an offset",
		.rules = "net=direct", .type = VIRTIO_ID_NET, .features = MODERN,
		.prepare = give_bus_offset,
		.why = "the device's bus counts addresses from elsewhere (dma-ranges): choose off",
	},
};

KUNIT_ARRAY_PARAM_DESC(refusals, refusals, name);

/**
 * struct witness - what a driver's probe would be told, asked right before it
 * @nb: called after the module's own notifier
 * @fake: the device
 * @err: what its finalize_features() said
 */
struct witness {
	struct notifier_block nb;
	struct fake_virtio *fake;
	int err;
};

static int ask_before_probe(struct notifier_block *nb, unsigned long event, void *data)
{
	struct witness *witness = container_of(nb, struct witness, nb);
	struct virtio_device *vdev = &witness->fake->vdev;

	if (event == BUS_NOTIFY_BIND_DRIVER && data == &vdev->dev)
		witness->err = vdev->config->finalize_features(vdev);
	return NOTIFY_DONE;
}

static void send_away(void *data)
{
	struct witness *witness = data;

	bus_unregister_notifier(witness->fake->vdev.dev.bus, &witness->nb);
}

static struct witness *call_witness(struct kunit *test, struct fake_virtio *fake)
{
	struct witness *witness = kunit_kzalloc(test, sizeof(*witness), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, witness);
	witness->fake = fake;
	witness->nb.notifier_call = ask_before_probe;
	witness->nb.priority = -1;
	KUNIT_ASSERT_EQ(test, bus_register_notifier(fake->vdev.dev.bus, &witness->nb), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, send_away, witness), 0);
	return witness;
}

/* A user's next step: the advice that always helps. */
static void expect_usable(struct kunit *test, struct fake_virtio *fake,
			  const struct vdma_device *vd)
{
	routing_rules(test, "net=off,gpu=off");
	KUNIT_EXPECT_EQ(test, device_attach(&fake->vdev.dev), 1);
	KUNIT_EXPECT_TRUE(test, fake->status & VIRTIO_CONFIG_S_DRIVER_OK);
	KUNIT_EXPECT_FALSE(test, fake->status & VIRTIO_CONFIG_S_FAILED);
	KUNIT_EXPECT_EQ(test, vd->state, VDMA_STOCK);
}

static void attach_refused(struct kunit *test)
{
	const struct refusal *c = test->param_value;
	struct fake_virtio *fake = plug(test, c->type, c->features, c->transport, c->prepare);
	struct witness *witness = call_witness(test, fake);
	struct vdma_device *vd = routing_device(test, fake);
	const struct snapshot before = take_snapshot(fake);
	int users = module_refcount(THIS_MODULE);
	unsigned int resets = fake->resets;
	struct fake_driver *driver;

	routing_rules(test, c->rules);
	driver = bind_driver(test, c->type);
	KUNIT_EXPECT_FALSE(test, fake_virtio_bound(fake));
	KUNIT_EXPECT_EQ(test, witness->err, -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, driver->probes, 0);
	KUNIT_EXPECT_EQ(test, vd->state, VDMA_REFUSED);
	KUNIT_EXPECT_STREQ(test, vd->decision.refused, c->why);
	expect_as_before(test, fake, &before, "after the refusal");
	KUNIT_EXPECT_NULL(test, vd->path);
	KUNIT_EXPECT_FALSE(test, vd->held);
	KUNIT_EXPECT_EQ(test, new_users(users), 0);

	/* the device has seen the driver fail, no feature accepted, and a reset */
	KUNIT_EXPECT_EQ(test, fake->failures, 1);
	KUNIT_EXPECT_EQ(test, fake->finalizations, 0);
	KUNIT_EXPECT_EQ(test, fake->resets, resets + 1);
	KUNIT_EXPECT_EQ(test, fake->status, VIRTIO_CONFIG_S_ACKNOWLEDGE);

	expect_usable(test, fake, vd);
}

static u8 all_ones(struct virtio_device *vdev)
{
	return 0xff;
}

/* It would never say that it has been reset. */
static void attach_refused_and_pulled_out(struct kunit *test)
{
	struct fake_virtio *fake = plug(test, VIRTIO_ID_GPU, MODERN, NULL, NULL);
	struct vdma_device *vd = routing_device(test, fake);
	u8 (*get_status)(struct virtio_device *vdev) = fake->ops.get_status;
	unsigned int resets = fake->resets;
	struct fake_driver *driver;

	routing_rules(test, "gpu=bounce");
	fake->ops.get_status = all_ones;
	driver = bind_driver(test, VIRTIO_ID_GPU);
	KUNIT_EXPECT_EQ(test, vd->state, VDMA_REFUSED);
	KUNIT_EXPECT_EQ(test, fake->resets, resets);
	fake_driver_unregister(test, driver);
	fake->ops.get_status = get_status;
}

/**
 * struct crowd - devices that have all places of the bounce pool
 * @count: how many
 * @vd: the devices, which exist for the pool only
 */
struct crowd {
	unsigned int count;
	struct vdma_device *vd[U8_MAX + 2];
};

static void disperse(void *data)
{
	struct crowd *crowd = data;

	while (crowd->count--)
		vdma_path_bounce.detach(crowd->vd[crowd->count]);
}

/* All of them as if they did DMA by one device. */
static struct crowd *make_crowd(struct kunit *test, struct device *dma_dev)
{
	struct crowd *crowd = kunit_kzalloc(test, sizeof(*crowd), GFP_KERNEL);
	size_t i;

	KUNIT_ASSERT_NOT_NULL(test, crowd);
	for (i = 0; i < ARRAY_SIZE(crowd->vd); i++) {
		crowd->vd[i] = kunit_kzalloc(test, sizeof(*crowd->vd[i]), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, crowd->vd[i]);
		crowd->vd[i]->type = vdma_type_by_id(VIRTIO_ID_NET);
		crowd->vd[i]->dma_dev = dma_dev;
	}
	return crowd;
}

static void gather(struct kunit *test, struct device *dma_dev)
{
	struct crowd *crowd = make_crowd(test, dma_dev);

	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, disperse, crowd), 0);
	while (!vdma_path_bounce.attach(crowd->vd[crowd->count])) {
		crowd->count++;
		KUNIT_ASSERT_LT(test, crowd->count, ARRAY_SIZE(crowd->vd));
	}
	/* all places: whoever was attached before has left */
	KUNIT_EXPECT_EQ(test, crowd->count, U8_MAX + 1);
}

/* A path that is found impossible only when it is being set up. */
static void attach_refused_by_crowd(struct kunit *test)
{
	struct fake_virtio *fake = plug(test, VIRTIO_ID_NET, MODERN, NULL, give_platform_ops);
	struct vdma_device *vd = routing_device(test, fake);
	const struct snapshot before = take_snapshot(fake);
	struct fake_driver *driver;

	routing_rules(test, "net=bounce");
	driver = bind_driver(test, VIRTIO_ID_NET);
	KUNIT_ASSERT_TRUE(test, fake_virtio_bound(fake));
	device_release_driver(&fake->vdev.dev);

	gather(test, &fake->dma_dev);
	KUNIT_EXPECT_EQ(test, device_attach(&fake->vdev.dev), 0);
	KUNIT_EXPECT_EQ(test, vd->state, VDMA_REFUSED);
	KUNIT_EXPECT_STREQ(test, vd->decision.refused,
			   "its pool has too many devices already: choose direct");
	expect_as_before(test, fake, &before, "after the refusal");
	KUNIT_EXPECT_EQ(test, driver->probes, 1);
}

/* --- what would be, while something else is --- */

static int check_choice(struct fake_virtio *fake, struct vdma_device *vd,
			enum virtio_dma_path path)
{
	int err;

	device_lock(&fake->vdev.dev);
	err = vdma_check_choice(vd, path);
	device_unlock(&fake->vdev.dev);
	return err;
}

/* Our own operations are no translation, those that we keep for later are. */
static void attach_check_choice(struct kunit *test)
{
	struct fake_virtio *plain = plug(test, VIRTIO_ID_NET, MODERN, NULL, NULL);
	struct fake_virtio *translated = plug(test, VIRTIO_ID_NET, MODERN, NULL,
					      give_platform_ops);
	struct vdma_device *vd = routing_device(test, plain);
	struct vdma_device *translated_vd = routing_device(test, translated);
	const struct path_case *c = test->param_value;
	char rules[64];
	int path;

	/* that one must not have path platform */
	snprintf(rules, sizeof(rules), "%s,%s=%s", c->rules, dev_name(&translated->dma_dev),
		 c->path == VIRTIO_DMA_PLATFORM ? "off" : c->name);
	routing_rules(test, rules);
	bind_driver(test, VIRTIO_ID_NET);
	KUNIT_ASSERT_TRUE(test, fake_virtio_bound(plain));
	KUNIT_ASSERT_TRUE(test, fake_virtio_bound(translated));
	for (path = VIRTIO_DMA_OFF; path < VIRTIO_DMA_PATHS; path++) {
		KUNIT_EXPECT_EQ_MSG(test, check_choice(plain, vd, path), 0, "%s",
				    vdma_path_name(path));
		KUNIT_EXPECT_EQ_MSG(test, check_choice(translated, translated_vd, path),
				    path == VIRTIO_DMA_PLATFORM ? -EOPNOTSUPP : 0, "%s",
				    vdma_path_name(path));
	}
	/* a look changes nothing */
	KUNIT_EXPECT_EQ(test, vd->decision.path, c->path);
	KUNIT_EXPECT_EQ(test, vd->state,
			c->path == VIRTIO_DMA_OFF ? VDMA_STOCK : VDMA_ATTACHED);
}

/* --- without memory --- */

/**
 * struct binding - a device that is bound with allocations failing
 * @fake: the device
 * @vd: what the module keeps for it
 * @before: what it was before
 * @users: users of this module before
 */
struct binding {
	struct fake_virtio *fake;
	struct vdma_device *vd;
	struct snapshot before;
	int users;
};

/* The driver core tells nobody with which error a driver has failed. */
static int bind_once(void *data)
{
	struct binding *binding = data;

	return device_attach(&binding->fake->vdev.dev) == 1 ? 0 : -ENOMEM;
}

static void unbind_again(void *data)
{
	struct binding *binding = data;

	device_release_driver(&binding->fake->vdev.dev);
}

/* Each time with a pool that has to be made first. */
static int bind_once_with_new_pool(void *data)
{
	int err;

	vdma_bounce_exit();
	err = routing_pool(POOL_MB, "auto");
	return err ?: bind_once(data);
}

static void expect_nothing_left(struct kunit *test, void *data)
{
	struct binding *binding = data;

	KUNIT_EXPECT_FALSE(test, fake_virtio_bound(binding->fake));
	expect_as_before(test, binding->fake, &binding->before, "without memory");
	KUNIT_EXPECT_TRUE(test, binding->vd->state == VDMA_UNBOUND ||
			  binding->vd->state == VDMA_REFUSED);
	KUNIT_EXPECT_FALSE(test, binding->vd->held);
	KUNIT_EXPECT_NULL(test, binding->vd->path);
	KUNIT_EXPECT_EQ(test, new_users(binding->users), 0);
	KUNIT_EXPECT_EQ(test, routing_pool_used(test), 0);
}

static void bind_without_memory(struct kunit *test, const struct path_case *c,
				const struct faulty *bind)
{
	struct fake_virtio *fake = plug(test, VIRTIO_ID_NET, MODERN, NULL, NULL);
	struct binding binding = {
		.fake = fake,
		.vd = routing_device(test, fake),
		.before = take_snapshot(fake),
		.users = module_refcount(THIS_MODULE),
	};

	routing_rules(test, c->rules);
	bind_driver(test, VIRTIO_ID_NET);
	KUNIT_ASSERT_TRUE(test, fake_virtio_bound(fake));
	device_release_driver(&fake->vdev.dev);
	/* a ring or two, and what the driver core links */
	KUNIT_EXPECT_GE(test, fail_each_allocation(test, bind, &binding), 4);
	KUNIT_EXPECT_EQ(test, device_attach(&fake->vdev.dev), 1);
	KUNIT_EXPECT_EQ(test, binding.vd->decision.path, c->path);
}

static void attach_without_memory(struct kunit *test)
{
	static const struct faulty bind = {
		.run = bind_once,
		.undo = unbind_again,
		.failed = expect_nothing_left,
		.error = -ENOMEM,
	};

	bind_without_memory(test, test->param_value, &bind);
}

static void attach_without_memory_for_pool(struct kunit *test)
{
	static const struct path_case bounce = { "bounce", "net=bounce", VIRTIO_DMA_BOUNCE };
	static const struct faulty bind = {
		.run = bind_once_with_new_pool,
		.undo = unbind_again,
		.failed = expect_nothing_left,
		.error = -ENOMEM,
	};

	bind_without_memory(test, &bounce, &bind);
}

static int start(struct kunit_suite *suite)
{
	return routing_start(POOL_MB);
}

static void stop(struct kunit_suite *suite)
{
	routing_stop();
}

static struct kunit_case attach_suite_cases[] = {
	KUNIT_CASE_PARAM(attach_and_detach, attach_cases_gen_params),
	KUNIT_CASE_PARAM(attach_again, path_cases_gen_params),
	KUNIT_CASE_PARAM(attach_twice, path_cases_gen_params),
	KUNIT_CASE_PARAM(attach_unplugged_while_bound, path_cases_gen_params),
	KUNIT_CASE_PARAM(attach_failed_probe, path_cases_gen_params),
	KUNIT_CASE_PARAM(attach_refused, refusals_gen_params),
	KUNIT_CASE(attach_refused_and_pulled_out),
	KUNIT_CASE(attach_refused_by_crowd),
	KUNIT_CASE_PARAM(attach_check_choice, path_cases_gen_params),
	KUNIT_CASE_PARAM(attach_without_memory, path_cases_gen_params),
	KUNIT_CASE(attach_without_memory_for_pool),
	{}
};

static struct kunit_suite attach_suite = {
	.name = "virtio_dma_attach",
	.suite_init = start,
	.suite_exit = stop,
	.test_cases = attach_suite_cases,
};

kunit_test_suite(attach_suite);
