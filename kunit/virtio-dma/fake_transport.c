// SPDX-License-Identifier: GPL-2.0
/* A virtio device, its transport and its driver, without hardware. */
#include <kunit/resource.h>
#include <linux/atomic.h>
#include <linux/device/bus.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/virtio_ring.h>

#include "extended_features.h"
#include "fake_transport.h"

/* Numbers the devices, and the drivers. */
static atomic_t number = ATOMIC_INIT(0);

/* --- the bus, with the drivers of two transports --- */

static const char *transport_name(const struct fake_virtio *fake)
{
	return fake->params.transport ?: FAKE_TRANSPORT_KNOWN;
}

static int match_transport(struct device *dev, const struct device_driver *drv)
{
	return !strcmp(drv->name, transport_name(container_of(dev, struct fake_virtio, dma_dev)));
}

static const struct bus_type fake_bus = {
	.name = "fake-virtio",
	.match = match_transport,
};

static struct device_driver transports[] = {
	{ .name = FAKE_TRANSPORT_KNOWN, .bus = &fake_bus, .owner = THIS_MODULE },
	{ .name = FAKE_TRANSPORT_UNKNOWN, .bus = &fake_bus, .owner = THIS_MODULE },
};

static int __init register_transports(void)
{
	int err, i = 0;

	err = bus_register(&fake_bus);
	if (err)
		return err;
	for (; i < ARRAY_SIZE(transports); i++) {
		err = driver_register(&transports[i]);
		if (err)
			goto err_unregister;
	}
	return 0;

err_unregister:
	while (i--)
		driver_unregister(&transports[i]);
	bus_unregister(&fake_bus);
	return err;
}

static void __exit unregister_transports(void)
{
	int i = ARRAY_SIZE(transports);

	while (i--)
		driver_unregister(&transports[i]);
	bus_unregister(&fake_bus);
}

/* KUnit runs the suites when the module is ready. */
module_init(register_transports);
module_exit(unregister_transports);

/* --- the transport's config operations --- */

static bool is_legacy(const struct fake_virtio *fake)
{
	return !(fake->params.features & BIT_ULL(VIRTIO_F_VERSION_1));
}

static void fake_get(struct virtio_device *vdev, unsigned int offset,
		     void *buf, unsigned int len)
{
	memcpy(buf, to_fake_virtio(vdev)->config + offset, len);
}

static u8 fake_get_status(struct virtio_device *vdev)
{
	return to_fake_virtio(vdev)->status;
}

static void fake_set_status(struct virtio_device *vdev, u8 status)
{
	struct fake_virtio *fake = to_fake_virtio(vdev);

	fake->failures += !!(status & ~fake->status & VIRTIO_CONFIG_S_FAILED);
	fake->status = status;
}

static void fake_reset(struct virtio_device *vdev)
{
	struct fake_virtio *fake = to_fake_virtio(vdev);

	fake->status = 0;
	fake->resets++;
}

static u64 fake_get_features(struct virtio_device *vdev)
{
	const struct fake_virtio *fake = to_fake_virtio(vdev);

	return is_legacy(fake) ? lower_32_bits(fake->params.features) :
				 fake->params.features;
}

static void fake_get_extended_features(struct virtio_device *vdev, u64 *features)
{
	features[0] = fake_get_features(vdev);
	features[1] = to_fake_virtio(vdev)->params.features_64_127;
}

/* What real transports do: unknown transport bits are dropped, then all are written. */
static int fake_finalize_features(struct virtio_device *vdev)
{
	struct fake_virtio *fake = to_fake_virtio(vdev);

	vring_transport_features(vdev);
	fake->finalized[fake->finalizations++ % FAKE_HISTORY] = vdev->features;
	return fake->finalize_error;
}

static bool fake_notify(struct virtqueue *vq)
{
	to_fake_virtio(vq->vdev)->kicks++;
	return true;
}

static void fake_del_vqs(struct virtio_device *vdev)
{
	struct fake_virtio *fake = to_fake_virtio(vdev);
	unsigned int i;

	for (i = 0; i < FAKE_QUEUES_MAX; i++) {
		if (fake->vqs[i])
			vring_del_virtqueue(fake->vqs[i]);
		fake->vqs[i] = NULL;
	}
}

static struct virtqueue *find_vq(struct fake_virtio *fake, unsigned int index,
				 const struct virtqueue_info *info)
{
	unsigned int align = is_legacy(fake) ? PAGE_SIZE : SMP_CACHE_BYTES;

	return vring_create_virtqueue(index, FAKE_QUEUE_SIZE, align, &fake->vdev, true,
				      !is_legacy(fake), info->ctx, fake_notify,
				      info->callback, info->name);
}

static int fake_find_vqs(struct virtio_device *vdev, unsigned int count,
			 struct virtqueue *vqs[], struct virtqueue_info infos[],
			 struct irq_affinity *desc)
{
	struct fake_virtio *fake = to_fake_virtio(vdev);
	unsigned int i;

	if (count > FAKE_QUEUES_MAX)
		return -ENOENT;
	for (i = 0; i < count; i++) {
		fake->vqs[i] = find_vq(fake, i, &infos[i]);
		if (!fake->vqs[i])
			goto err_del_vqs;
		vqs[i] = fake->vqs[i];
	}
	return 0;

err_del_vqs:
	fake_del_vqs(vdev);
	return -ENOMEM;
}

static const char *fake_bus_name(struct virtio_device *vdev)
{
	return dev_name(vdev->dev.parent);
}

static const struct virtio_config_ops fake_ops = {
	.get = fake_get,
	.get_status = fake_get_status,
	.set_status = fake_set_status,
	.reset = fake_reset,
	.find_vqs = fake_find_vqs,
	.del_vqs = fake_del_vqs,
	.get_features = fake_get_features,
	.finalize_features = fake_finalize_features,
	.bus_name = fake_bus_name,
};

/* --- the device --- */

static void release_dma_dev(struct device *dev)
{
	kfree(container_of(dev, struct fake_virtio, dma_dev));
}

/* The structure goes with the DMA device, which others may hold longer. */
static void release_vdev(struct device *dev)
{
	put_device(dev->parent);
}

static struct fake_virtio *alloc_fake(struct kunit *test,
				      const struct fake_virtio_params *params)
{
	struct fake_virtio *fake = kzalloc(sizeof(*fake), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fake);
	fake->params = *params;
	fake->ops = fake_ops;
	if (params->extended)
		extended_features_offer(&fake->ops, fake_get_extended_features);

	fake->dma_dev.bus = &fake_bus;
	fake->dma_dev.release = release_dma_dev;
	fake->dma_dev.dma_parms = &fake->dma_parms;
	fake->dma_dev.dma_mask = &fake->dma_mask;
	fake->dma_mask = DMA_BIT_MASK(64);
	fake->dma_dev.coherent_dma_mask = DMA_BIT_MASK(64);

	fake->vdev.id.device = params->type;
	fake->vdev.id.vendor = 1;
	fake->vdev.config = &fake->ops;
	fake->vdev.dev.parent = &fake->dma_dev;
	fake->vdev.dev.release = release_vdev;
	device_initialize(&fake->dma_dev);
	return fake;
}

static void action_put_device(void *data)
{
	struct fake_virtio *fake = data;

	put_device(&fake->dma_dev);
}

static void action_del_device(void *data)
{
	struct fake_virtio *fake = data;

	device_del(&fake->dma_dev);
}

static void action_unregister_vdev(void *data)
{
	struct fake_virtio *fake = data;

	unregister_virtio_device(&fake->vdev);
}

static void undo_at_end(struct kunit *test, void (*undo)(void *data), void *data)
{
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, undo, data), 0);
}

static void register_vdev(struct kunit *test, struct fake_virtio *fake)
{
	int err;

	get_device(&fake->dma_dev);
	err = register_virtio_device(&fake->vdev);
	if (err)
		put_device(&fake->vdev.dev);
	KUNIT_ASSERT_EQ(test, err, 0);
	undo_at_end(test, action_unregister_vdev, fake);
}

/**
 * fake_virtio_plug() - plug a device in
 * @test: the test, at whose end the device is unplugged; its driver is unbound then
 * @params: what the device is
 *
 * The device is bound to a driver that is registered for its type, if there is
 * one. Its DMA device is called fake-virtio.N.
 *
 * Context: may sleep; fails the test if it cannot be done.
 * Return: the device, valid until the end of the test.
 */
struct fake_virtio *fake_virtio_plug(struct kunit *test,
				     const struct fake_virtio_params *params)
{
	struct fake_virtio *fake = alloc_fake(test, params);

	undo_at_end(test, action_put_device, fake);
	KUNIT_ASSERT_EQ(test, dev_set_name(&fake->dma_dev, "fake-virtio.%d",
					   atomic_inc_return(&number)), 0);
	KUNIT_ASSERT_EQ(test, device_add(&fake->dma_dev), 0);
	undo_at_end(test, action_del_device, fake);
	KUNIT_ASSERT_NOT_NULL_MSG(test, fake->dma_dev.driver, "no transport %s",
				  transport_name(fake));
	register_vdev(test, fake);
	return fake;
}

/**
 * fake_virtio_unplug() - unplug a device before the end of the test
 * @test: the test that it was plugged in for
 * @fake: the device; still valid, but no longer on the virtio bus
 *
 * Context: may sleep.
 */
void fake_virtio_unplug(struct kunit *test, struct fake_virtio *fake)
{
	kunit_release_action(test, action_unregister_vdev, fake);
}

/**
 * fake_virtio_finalized() - the features that the device saw accepted last
 * @fake: the device; features have been accepted at least once
 *
 * Return: feature bits 0 to 63.
 */
u64 fake_virtio_finalized(const struct fake_virtio *fake)
{
	return fake->finalized[(fake->finalizations - 1) % FAKE_HISTORY];
}

/* --- the driver --- */

static struct fake_driver *driver_of(struct virtio_device *vdev)
{
	return container_of(drv_to_virtio(vdev->dev.driver), struct fake_driver, driver);
}

static int fake_validate(struct virtio_device *vdev)
{
	struct fake_driver *driver = driver_of(vdev);

	vdev->features &= ~driver->params.cleared;
	return driver->params.validate_error;
}

static int find_queues(struct virtio_device *vdev, unsigned int count)
{
	struct virtqueue_info infos[FAKE_QUEUES_MAX] = {
		{ .name = "queue0" }, { .name = "queue1" },
		{ .name = "queue2" }, { .name = "queue3" },
	};
	struct virtqueue *vqs[FAKE_QUEUES_MAX];

	return count ? virtio_find_vqs(vdev, count, vqs, infos, NULL) : 0;
}

static int fake_probe(struct virtio_device *vdev)
{
	struct fake_driver *driver = driver_of(vdev);
	int err;

	driver->probes++;
	driver->seen = vdev->features;
	err = find_queues(vdev, driver->params.queues);
	if (err)
		return err;
	err = driver->params.probe_error;
	if (err)
		vdev->config->del_vqs(vdev);
	return err;
}

/* Whoever adds buffers takes them back before the driver goes. */
static void fake_remove(struct virtio_device *vdev)
{
	driver_of(vdev)->removes++;
	virtio_reset_device(vdev);
	vdev->config->del_vqs(vdev);
}

static int fake_freeze(struct virtio_device *vdev)
{
	virtio_reset_device(vdev);
	vdev->config->del_vqs(vdev);
	return 0;
}

static int fake_restore(struct virtio_device *vdev)
{
	struct fake_driver *driver = driver_of(vdev);

	driver->restores++;
	driver->seen = vdev->features;
	return find_queues(vdev, driver->params.queues);
}

static void list_features(struct fake_driver *driver)
{
	unsigned int bit;

	for (bit = 0; bit < 64; bit++)
		if (driver->params.features & BIT_ULL(bit))
			driver->features[driver->driver.feature_table_size++] = bit;
}

static void action_unregister_driver(void *data)
{
	struct fake_driver *driver = data;

	unregister_virtio_driver(&driver->driver);
}

/**
 * fake_driver_register() - register a driver
 * @test: the test, at whose end the driver is unregistered
 * @params: what the driver does
 *
 * The driver is bound to all devices of its type that have none.
 *
 * Context: may sleep; fails the test if it cannot be done.
 * Return: the driver, valid until the end of the test.
 */
struct fake_driver *fake_driver_register(struct kunit *test,
					 const struct fake_driver_params *params)
{
	struct fake_driver *driver = kunit_kzalloc(test, sizeof(*driver), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, driver);
	KUNIT_ASSERT_LE(test, params->queues, FAKE_QUEUES_MAX);
	driver->params = *params;
	driver->ids[0].device = params->type;
	driver->ids[0].vendor = VIRTIO_DEV_ANY_ID;
	list_features(driver);
	snprintf(driver->name, sizeof(driver->name), "fake-driver.%d",
		 atomic_inc_return(&number));
	driver->driver.driver.name = driver->name;
	driver->driver.id_table = driver->ids;
	driver->driver.feature_table = driver->features;
	driver->driver.validate = fake_validate;
	driver->driver.probe = fake_probe;
	driver->driver.remove = fake_remove;
	driver->driver.freeze = fake_freeze;
	driver->driver.restore = fake_restore;
	KUNIT_ASSERT_EQ(test, register_virtio_driver(&driver->driver), 0);
	undo_at_end(test, action_unregister_driver, driver);
	return driver;
}

/**
 * fake_driver_unregister() - unregister a driver before the end of the test
 * @test: the test that it was registered for
 * @driver: the driver; its devices are unbound
 *
 * Context: may sleep.
 */
void fake_driver_unregister(struct kunit *test, struct fake_driver *driver)
{
	kunit_release_action(test, action_unregister_driver, driver);
}
