// SPDX-License-Identifier: GPL-2.0
/*
 * Devices and drivers that come and go, before, while and after the module watches,
 * and what happens when there is no memory to keep track of them.
 */
#include <kunit/resource.h>
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/virtio_ids.h>

#include "bus.h"
#include "device.h"
#include "fake_transport.h"
#include "faults.h"
#include "routing.h"

#define POOL_MB 8

static const struct fake_virtio_params net = { .type = VIRTIO_ID_NET };
static const struct fake_driver_params net_driver = { .type = VIRTIO_ID_NET, .queues = 1 };

static void stop_watching(void *unused)
{
	routing_stop();
}

static void watch(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, routing_start(POOL_MB), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, stop_watching, NULL), 0);
}

static void unbind(void *fake)
{
	device_release_driver(&((struct fake_virtio *)fake)->vdev.dev);
}

/* Whether the module keeps something for a device. */
static bool known(struct fake_virtio *fake)
{
	struct vdma_device *vd = vdma_device_find(&fake->vdev);

	vdma_device_put(vd);
	return vd;
}

static void expect_state(struct kunit *test, struct fake_virtio *fake,
			 enum vdma_state state, enum virtio_dma_path path)
{
	struct vdma_device *vd = vdma_device_find(&fake->vdev);

	KUNIT_ASSERT_NOT_NULL(test, vd);
	KUNIT_EXPECT_EQ(test, vd->state, state);
	if (state == VDMA_ATTACHED)
		KUNIT_EXPECT_EQ(test, vd->decision.path, path);
	KUNIT_EXPECT_EQ(test, fake->vdev.config == &vd->config, state == VDMA_ATTACHED);
	vdma_device_put(vd);
}

/* --- before, while, after --- */

static void bus_device_comes_and_goes(struct kunit *test)
{
	struct fake_virtio *fake;

	watch(test);
	fake = fake_virtio_plug(test, &net);
	expect_state(test, fake, VDMA_UNBOUND, VIRTIO_DMA_AUTO);
	fake_driver_register(test, &net_driver);
	expect_state(test, fake, VDMA_ATTACHED, VIRTIO_DMA_DIRECT);
	fake_virtio_unplug(test, fake);
	KUNIT_EXPECT_FALSE(test, known(fake));
}

static void bus_device_is_there_already(struct kunit *test)
{
	struct fake_virtio *fake = fake_virtio_plug(test, &net);

	KUNIT_EXPECT_PTR_EQ(test, fake->vdev.config, &fake->ops);
	watch(test);
	expect_state(test, fake, VDMA_UNBOUND, VIRTIO_DMA_AUTO);
	fake_driver_register(test, &net_driver);
	expect_state(test, fake, VDMA_ATTACHED, VIRTIO_DMA_DIRECT);
}

static enum vdma_reason reason_of(struct kunit *test, struct fake_virtio *fake)
{
	return routing_device(test, fake)->decision.reason;
}

/* Its queues are live: nothing may be changed under them. */
static void bus_driver_is_there_already(struct kunit *test)
{
	int users = module_refcount(THIS_MODULE);
	struct fake_driver *driver;
	struct fake_virtio *fake;

	driver = fake_driver_register(test, &net_driver);
	fake = fake_virtio_plug(test, &net);
	watch(test);
	/* a module that is in use cannot go, so at the end it must not be */
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, unbind, fake), 0);
	expect_state(test, fake, VDMA_STOCK, VIRTIO_DMA_OFF);
	KUNIT_EXPECT_EQ(test, reason_of(test, fake), VDMA_LEFT_BOUND);
	KUNIT_EXPECT_NULL(test, fake->dma_dev.dma_ops);
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), users);

	device_release_driver(&fake->vdev.dev);
	expect_state(test, fake, VDMA_UNBOUND, VIRTIO_DMA_AUTO);
	KUNIT_EXPECT_EQ(test, device_attach(&fake->vdev.dev), 1);
	expect_state(test, fake, VDMA_ATTACHED, VIRTIO_DMA_DIRECT);
	KUNIT_EXPECT_EQ(test, driver->probes, 2);
}

/* A driver that is bound over a path counts as a user: the module stays until it goes. */
static void bus_bound_device_holds_module(struct kunit *test)
{
	int users = module_refcount(THIS_MODULE);
	struct fake_virtio *first, *second;
	struct fake_driver *driver;

	watch(test);
	first = fake_virtio_plug(test, &net);
	second = fake_virtio_plug(test, &net);
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), users);
	driver = fake_driver_register(test, &net_driver);
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), users + 2);
	fake_virtio_unplug(test, first);
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), users + 1);
	fake_driver_unregister(test, driver);
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), users);
	expect_state(test, second, VDMA_UNBOUND, VIRTIO_DMA_AUTO);
}

static void bus_stop_forgets_devices(struct kunit *test)
{
	struct fake_virtio *fake = fake_virtio_plug(test, &net);
	unsigned int round;

	for (round = 0; round < 3; round++) {
		watch(test);
		KUNIT_EXPECT_TRUE_MSG(test, known(fake), "round %u", round);
		kunit_release_action(test, stop_watching, NULL);
		KUNIT_EXPECT_FALSE_MSG(test, known(fake), "round %u", round);
	}
	fake_driver_register(test, &net_driver);
	KUNIT_EXPECT_TRUE(test, fake_virtio_bound(fake));
	KUNIT_EXPECT_PTR_EQ(test, fake->vdev.config, &fake->ops);
}

static void bus_device_is_known_once(struct kunit *test)
{
	struct vdma_device *vd, *again;
	struct fake_virtio *fake;

	watch(test);
	fake = fake_virtio_plug(test, &net);
	vd = routing_device(test, fake);
	KUNIT_EXPECT_EQ(test, vdma_device_add(&fake->vdev), 0);
	again = routing_device(test, fake);
	KUNIT_EXPECT_PTR_EQ(test, again, vd);

	vdma_device_drop(&fake->vdev);
	vdma_device_drop(&fake->vdev);
	KUNIT_EXPECT_FALSE(test, known(fake));
	/* what is held stays, but is no longer seen */
	KUNIT_EXPECT_PTR_EQ(test, vd->vdev, &fake->vdev);
	vdma_device_unpublish(vd);

	/* a driver that comes makes it known again */
	fake_driver_register(test, &net_driver);
	again = routing_device(test, fake);
	KUNIT_EXPECT_PTR_NE(test, again, vd);
	expect_state(test, fake, VDMA_ATTACHED, VIRTIO_DMA_DIRECT);
}

static void bus_device_without_dma(struct kunit *test)
{
	struct virtio_device *vdev = kunit_kzalloc(test, sizeof(*vdev), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, vdev);
	watch(test);
	KUNIT_EXPECT_EQ(test, vdma_device_add(vdev), -ENODEV);
	KUNIT_EXPECT_NULL(test, vdma_device_find(vdev));
	vdma_device_put(NULL);
}

/* --- without memory --- */

static int start_watching(void *unused)
{
	return vdma_bus_start();
}

static void stop_watching_bus(void *unused)
{
	vdma_bus_stop();
}

static void bus_start_without_memory(struct kunit *test)
{
	static const struct faulty starting = {
		.run = start_watching,
		.undo = stop_watching_bus,
		.error = -ENOMEM,
	};
	struct fake_virtio *fake;

	/* the queue, and the driver with its files */
	KUNIT_EXPECT_GE(test, fail_each_allocation(test, &starting, NULL), 3);
	watch(test);
	fake = fake_virtio_plug(test, &net);
	KUNIT_EXPECT_TRUE(test, known(fake));
}

static int add_device(void *fake)
{
	return vdma_device_add(&((struct fake_virtio *)fake)->vdev);
}

static void drop_device(void *fake)
{
	vdma_device_drop(&((struct fake_virtio *)fake)->vdev);
}

static void expect_not_known(struct kunit *test, void *fake)
{
	KUNIT_EXPECT_FALSE(test, known(fake));
}

static void bus_device_without_memory(struct kunit *test)
{
	static const struct faulty adding = {
		.run = add_device,
		.undo = drop_device,
		.failed = expect_not_known,
		.error = -ENOMEM,
	};
	struct fake_virtio *fake;

	watch(test);
	fake = fake_virtio_plug(test, &net);
	drop_device(fake);
	/* itself, its directory, and a file */
	KUNIT_EXPECT_GE(test, fail_each_allocation(test, &adding, fake), 3);
	KUNIT_EXPECT_EQ(test, add_device(fake), 0);
	fake_driver_register(test, &net_driver);
	expect_state(test, fake, VDMA_ATTACHED, VIRTIO_DMA_DIRECT);
}

/**
 * struct outcomes - how often a driver was bound
 * @fake: to this device
 * @stock: the stock way, because there was no memory to keep track of it
 * @routed: over its path
 * @odd: in another way
 */
struct outcomes {
	struct fake_virtio *fake;
	unsigned int stock;
	unsigned int routed;
	unsigned int odd;
};

static int bind_unknown(void *data)
{
	struct outcomes *outcomes = data;

	drop_device(outcomes->fake);
	return device_attach(&outcomes->fake->vdev.dev) == 1 ? 0 : -ENOMEM;
}

static void note_outcome(void *data)
{
	struct outcomes *outcomes = data;
	struct fake_virtio *fake = outcomes->fake;
	struct vdma_device *vd = vdma_device_find(&fake->vdev);

	if (!vd && fake->vdev.config == &fake->ops && !fake->dma_dev.dma_ops)
		outcomes->stock++;
	else if (vd && vd->state == VDMA_ATTACHED && fake->vdev.config == &vd->config)
		outcomes->routed++;
	else
		outcomes->odd++;
	vdma_device_put(vd);
	unbind(fake);
}

/*
 * A device that there is no memory for when its driver comes runs stock, and is
 * tried again with the next driver.
 */
static void bus_bind_without_memory(struct kunit *test)
{
	static const struct faulty binding = {
		.run = bind_unknown,
		.undo = note_outcome,
		.error = -ENOMEM,
	};
	static const struct fake_driver_params without_queues = { .type = VIRTIO_ID_NET };
	struct outcomes outcomes = {};

	watch(test);
	outcomes.fake = fake_virtio_plug(test, &net);
	fake_driver_register(test, &without_queues);
	unbind(outcomes.fake);
	fail_each_allocation(test, &binding, &outcomes);
	KUNIT_EXPECT_GE(test, outcomes.stock, 3);
	KUNIT_EXPECT_GE(test, outcomes.routed, 1);
	KUNIT_EXPECT_EQ(test, outcomes.odd, 0);
}

static struct kunit_case bus_cases[] = {
	KUNIT_CASE(bus_device_comes_and_goes),
	KUNIT_CASE(bus_device_is_there_already),
	KUNIT_CASE(bus_driver_is_there_already),
	KUNIT_CASE(bus_bound_device_holds_module),
	KUNIT_CASE(bus_stop_forgets_devices),
	KUNIT_CASE(bus_device_is_known_once),
	KUNIT_CASE(bus_device_without_dma),
	KUNIT_CASE(bus_start_without_memory),
	KUNIT_CASE(bus_device_without_memory),
	KUNIT_CASE(bus_bind_without_memory),
	{}
};

static struct kunit_suite bus_suite = {
	.name = "virtio_dma_bus",
	.test_cases = bus_cases,
};

kunit_test_suite(bus_suite);
