// SPDX-License-Identifier: GPL-2.0
/* The user's choice at run time: from every state, and never under a device in use. */
#include <kunit/resource.h>
#include <kunit/test.h>
#include <linux/etherdevice.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/virtio_ids.h>

#include "device.h"
#include "fake_transport.h"
#include "rebind.h"
#include "routing.h"

#define POOL_MB 8

static struct fake_virtio *plug(struct kunit *test, u32 type)
{
	const struct fake_virtio_params params = {
		.type = type,
		.features = BIT_ULL(VIRTIO_F_VERSION_1),
	};

	return fake_virtio_plug(test, &params);
}

static struct fake_driver *bind_driver(struct kunit *test, u32 type)
{
	const struct fake_driver_params params = { .type = type, .queues = 1 };

	return fake_driver_register(test, &params);
}

static void expect_on(struct kunit *test, struct vdma_device *vd,
		      enum virtio_dma_path path)
{
	KUNIT_EXPECT_EQ(test, vd->state, path == VIRTIO_DMA_OFF ? VDMA_STOCK : VDMA_ATTACHED);
	KUNIT_EXPECT_EQ(test, vd->decision.path, path);
}

/* From every path to every other, with one new bind each, and none to the same. */
static void rebind_bound(struct kunit *test)
{
	struct fake_virtio *fake = plug(test, VIRTIO_ID_NET);
	struct vdma_device *vd = routing_device(test, fake);
	struct fake_driver *driver = bind_driver(test, VIRTIO_ID_NET);
	int from, to;

	expect_on(test, vd, VIRTIO_DMA_DIRECT);
	for (from = VIRTIO_DMA_OFF; from < VIRTIO_DMA_PATHS; from++) {
		for (to = VIRTIO_DMA_OFF; to < VIRTIO_DMA_PATHS; to++) {
			unsigned int probes;

			KUNIT_EXPECT_EQ(test, vdma_choose(vd, from), 0);
			expect_on(test, vd, from);
			probes = driver->probes;
			KUNIT_EXPECT_EQ(test, vdma_choose(vd, to), 0);
			expect_on(test, vd, to);
			KUNIT_EXPECT_EQ(test, vd->decision.reason, VDMA_BY_SYSFS);
			KUNIT_EXPECT_EQ(test, driver->probes, probes + (from != to));
		}
	}
}

/* Giving up a choice of one's own leaves it to the rule again. */
static void rebind_auto(struct kunit *test)
{
	struct fake_virtio *fake = plug(test, VIRTIO_ID_NET);
	struct vdma_device *vd = routing_device(test, fake);

	routing_rules(test, "net=swiotlb");
	bind_driver(test, VIRTIO_ID_NET);
	KUNIT_EXPECT_EQ(test, vdma_choose(vd, VIRTIO_DMA_BOUNCE), 0);
	expect_on(test, vd, VIRTIO_DMA_BOUNCE);
	KUNIT_EXPECT_EQ(test, vdma_choose(vd, VIRTIO_DMA_AUTO), 0);
	expect_on(test, vd, VIRTIO_DMA_SWIOTLB);
	KUNIT_EXPECT_EQ(test, vd->decision.reason, VDMA_BY_TYPE_RULE);
}

/* The choice is for the driver that comes. */
static void rebind_unbound(struct kunit *test)
{
	struct fake_virtio *fake = plug(test, VIRTIO_ID_NET);
	struct vdma_device *vd = routing_device(test, fake);

	KUNIT_EXPECT_EQ(test, vdma_choose(vd, VIRTIO_DMA_BOUNCE), 0);
	KUNIT_EXPECT_EQ(test, vd->state, VDMA_UNBOUND);
	bind_driver(test, VIRTIO_ID_NET);
	expect_on(test, vd, VIRTIO_DMA_BOUNCE);
	KUNIT_EXPECT_EQ(test, vd->decision.reason, VDMA_BY_SYSFS);
}

/* A path that is refused is said so before the driver is touched. */
static void rebind_refused(struct kunit *test)
{
	struct fake_virtio *fake = plug(test, VIRTIO_ID_GPU);
	struct vdma_device *vd = routing_device(test, fake);
	struct fake_driver *driver;

	KUNIT_EXPECT_EQ(test, vdma_choose(vd, VIRTIO_DMA_BOUNCE), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, vd->choice, VIRTIO_DMA_AUTO);
	driver = bind_driver(test, VIRTIO_ID_GPU);
	expect_on(test, vd, VIRTIO_DMA_OFF);
	KUNIT_EXPECT_EQ(test, vdma_choose(vd, VIRTIO_DMA_BOUNCE), -EOPNOTSUPP);
	expect_on(test, vd, VIRTIO_DMA_OFF);
	KUNIT_EXPECT_EQ(test, vd->choice, VIRTIO_DMA_AUTO);
	KUNIT_EXPECT_EQ(test, driver->probes, 1);
}

/* A device that was refused is tried again at once. */
static void rebind_after_refusal(struct kunit *test)
{
	struct fake_virtio *fake = plug(test, VIRTIO_ID_GPU);
	struct vdma_device *vd = routing_device(test, fake);
	struct fake_driver *driver;

	routing_rules(test, "gpu=bounce");
	driver = bind_driver(test, VIRTIO_ID_GPU);
	KUNIT_EXPECT_EQ(test, vd->state, VDMA_REFUSED);
	KUNIT_EXPECT_EQ(test, vdma_choose(vd, VIRTIO_DMA_DIRECT), 0);
	expect_on(test, vd, VIRTIO_DMA_DIRECT);
	KUNIT_EXPECT_EQ(test, driver->probes, 1);
}

static void rebind_after_refusal_without_driver(struct kunit *test)
{
	struct fake_virtio *fake = plug(test, VIRTIO_ID_GPU);
	struct vdma_device *vd = routing_device(test, fake);
	struct fake_driver *driver;

	routing_rules(test, "gpu=bounce");
	driver = bind_driver(test, VIRTIO_ID_GPU);
	KUNIT_EXPECT_EQ(test, vd->state, VDMA_REFUSED);
	fake_driver_unregister(test, driver);
	KUNIT_EXPECT_EQ(test, vdma_choose(vd, VIRTIO_DMA_DIRECT), -ENODEV);
}

/* Types that do not say whether they are in use, and a disk driver without a disk. */
static void rebind_busy(struct kunit *test)
{
	static const u32 types[] = { VIRTIO_ID_SCSI, VIRTIO_ID_RNG, VIRTIO_ID_BLOCK };
	size_t i;

	routing_rules(test, "scsi=direct,rng=direct,blk=direct");
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		struct fake_virtio *fake = plug(test, types[i]);
		struct vdma_device *vd = routing_device(test, fake);
		struct fake_driver *driver = bind_driver(test, types[i]);

		KUNIT_EXPECT_EQ_MSG(test, vdma_choose(vd, VIRTIO_DMA_BOUNCE), -EBUSY,
				    "type %u", types[i]);
		expect_on(test, vd, VIRTIO_DMA_DIRECT);
		KUNIT_EXPECT_EQ(test, driver->probes, 1);
		KUNIT_EXPECT_EQ(test, vd->choice, VIRTIO_DMA_AUTO);
		/* nothing to be done, so nothing to be busy for */
		KUNIT_EXPECT_EQ(test, vdma_choose(vd, VIRTIO_DMA_DIRECT), 0);
		KUNIT_EXPECT_EQ(test, vd->choice, VIRTIO_DMA_DIRECT);
	}
}

static netdev_tx_t drop_packet(struct sk_buff *skb, struct net_device *dev)
{
	dev_kfree_skb_any(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops netdev_ops = {
	.ndo_start_xmit = drop_packet,
};

static void free_interface(void *dev)
{
	free_netdev(dev);
}

static void unregister_interface(void *dev)
{
	unregister_netdev(dev);
}

/* What virtio_net would make of the device. */
static struct net_device *add_interface(struct kunit *test, struct fake_virtio *fake)
{
	struct net_device *dev = alloc_etherdev(0);

	KUNIT_ASSERT_NOT_NULL(test, dev);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_interface, dev), 0);
	dev->netdev_ops = &netdev_ops;
	eth_hw_addr_random(dev);
	SET_NETDEV_DEV(dev, &fake->vdev.dev);
	KUNIT_ASSERT_EQ(test, register_netdev(dev), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, unregister_interface, dev), 0);
	return dev;
}

static void set_up(struct net_device *dev, bool up)
{
	rtnl_lock();
	if (up)
		dev_open(dev, NULL);
	else
		dev_close(dev);
	rtnl_unlock();
}

static void rebind_interface(struct kunit *test)
{
	struct fake_virtio *fake = plug(test, VIRTIO_ID_NET);
	struct vdma_device *vd = routing_device(test, fake);
	struct fake_driver *driver = bind_driver(test, VIRTIO_ID_NET);
	struct net_device *dev = add_interface(test, fake);

	set_up(dev, true);
	KUNIT_EXPECT_TRUE(test, netif_running(dev));
	KUNIT_EXPECT_EQ(test, vdma_choose(vd, VIRTIO_DMA_BOUNCE), -EBUSY);
	expect_on(test, vd, VIRTIO_DMA_DIRECT);
	KUNIT_EXPECT_EQ(test, driver->probes, 1);

	set_up(dev, false);
	KUNIT_EXPECT_EQ(test, vdma_choose(vd, VIRTIO_DMA_BOUNCE), 0);
	expect_on(test, vd, VIRTIO_DMA_BOUNCE);
	KUNIT_EXPECT_EQ(test, driver->probes, 2);
}

/* The driver does not come back over the new path: the choice stays, for the next one. */
static void rebind_driver_fails(struct kunit *test)
{
	struct fake_virtio *fake = plug(test, VIRTIO_ID_NET);
	struct vdma_device *vd = routing_device(test, fake);
	struct fake_driver *driver = bind_driver(test, VIRTIO_ID_NET);

	driver->params.probe_error = -EIO;
	KUNIT_EXPECT_EQ(test, vdma_choose(vd, VIRTIO_DMA_BOUNCE), -ENODEV);
	KUNIT_EXPECT_FALSE(test, fake_virtio_bound(fake));
	KUNIT_EXPECT_EQ(test, vd->state, VDMA_UNBOUND);
	driver->params.probe_error = 0;
	KUNIT_EXPECT_EQ(test, device_attach(&fake->vdev.dev), 1);
	expect_on(test, vd, VIRTIO_DMA_BOUNCE);
}

static void rebind_gone(struct kunit *test)
{
	struct fake_virtio *fake = plug(test, VIRTIO_ID_NET);
	struct vdma_device *vd = routing_device(test, fake);

	fake_virtio_unplug(test, fake);
	KUNIT_EXPECT_EQ(test, vdma_choose(vd, VIRTIO_DMA_DIRECT), -ENODEV);
	KUNIT_EXPECT_EQ(test, vd->choice, VIRTIO_DMA_AUTO);
}

static int start(struct kunit_suite *suite)
{
	return routing_start(POOL_MB);
}

static void stop(struct kunit_suite *suite)
{
	routing_stop();
}

static struct kunit_case rebind_cases[] = {
	KUNIT_CASE(rebind_bound),
	KUNIT_CASE(rebind_auto),
	KUNIT_CASE(rebind_unbound),
	KUNIT_CASE(rebind_refused),
	KUNIT_CASE(rebind_after_refusal),
	KUNIT_CASE(rebind_after_refusal_without_driver),
	KUNIT_CASE(rebind_busy),
	KUNIT_CASE(rebind_interface),
	KUNIT_CASE(rebind_driver_fails),
	KUNIT_CASE(rebind_gone),
	{}
};

static struct kunit_suite rebind_suite = {
	.name = "virtio_dma_rebind",
	.suite_init = start,
	.suite_exit = stop,
	.test_cases = rebind_cases,
};

kunit_test_suite(rebind_suite);
