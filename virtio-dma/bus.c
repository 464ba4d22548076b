// SPDX-License-Identifier: GPL-2.0
/* What happens on the virtio bus: devices and drivers come and go. */
#include <linux/device.h>
#include <linux/device/bus.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/virtio.h>

#include "attach.h"
#include "bounce.h"
#include "bus.h"
#include "device.h"

/*
 * A driver for no device: registering it is how the bus, which is not exported,
 * is found.
 */
static const struct virtio_device_id no_device[] = { { 0 } };

static int never_probed(struct virtio_device *vdev)
{
	return -ENODEV;
}

static struct virtio_driver bus_finder = {
	.driver = {
		.name = KBUILD_MODNAME,
		.owner = THIS_MODULE,
		.suppress_bind_attrs = true,
		.groups = vdma_pool_sysfs_groups,
	},
	.id_table = no_device,
	.probe = never_probed,
};

/* A device that cannot be kept track of runs stock, and that must be seen. */
static struct vdma_device *find_or_add(struct virtio_device *vdev)
{
	int err = vdma_device_add(vdev);

	if (err)
		dev_err(&vdev->dev, "virtio_dma: device runs stock, its path is not looked at: error %d\n",
			err);
	return vdma_device_find(vdev);
}

/* Its driver turns the bit down, and QEMU's device then turns the driver down. */
static void hint_at_raw_type(struct vdma_device *vd)
{
	if (vd->type->routing == VDMA_RAW && vdma_offered(&vd->decision))
		dev_info(&vd->vdev->dev, "virtio_dma: no driver was bound; a %s device may have to be given iommu_platform=off\n",
			 vd->type->name);
}

/*
 * Detaching waits for UNBOUND: at UNBIND the rings are still live. The device
 * core calls this with the device lock held for the three driver events, and
 * without it for the others.
 */
static int bus_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct virtio_device *vdev = dev_to_virtio(data);
	struct vdma_device *vd;

	if (event == BUS_NOTIFY_ADD_DEVICE || event == BUS_NOTIFY_BIND_DRIVER)
		vd = find_or_add(vdev);
	else
		vd = vdma_device_find(vdev);
	if (!vd)
		return NOTIFY_DONE;

	switch (event) {
	case BUS_NOTIFY_BIND_DRIVER:
		vdma_attach(vd);
		break;
	case BUS_NOTIFY_DRIVER_NOT_BOUND:
		vdma_detach(vd);
		hint_at_raw_type(vd);
		break;
	case BUS_NOTIFY_UNBOUND_DRIVER:
		vdma_detach(vd);
		break;
	case BUS_NOTIFY_DEL_DEVICE:
		vdma_forsake(vd);
		vdma_device_unpublish(vd);
		break;
	case BUS_NOTIFY_REMOVED_DEVICE:
		vdma_device_drop(vdev);
		break;
	}
	vdma_device_put(vd);
	return NOTIFY_DONE;
}

static struct notifier_block bus_notifier = {
	.notifier_call = bus_event,
};

static int same_device(struct device *dev, const void *data)
{
	return dev == data;
}

/*
 * A device may leave the bus while it is being added here. If it left before
 * its event could find it, it is not found on the bus now; if it leaves later,
 * its event finds it.
 */
static void drop_if_gone(struct virtio_device *vdev)
{
	struct device *found = bus_find_device(bus_finder.driver.bus, NULL,
					       &vdev->dev, same_device);

	if (found)
		put_device(found);
	else
		vdma_device_drop(vdev);
}

/* Queue limits are read at probe, so a bound device must be bound again to be routed. */
static void note_bound(struct vdma_device *vd)
{
	mutex_lock(&vd->lock);
	if (vd->state == VDMA_UNBOUND) {
		vd->state = VDMA_STOCK;
		vd->decision.reason = VDMA_LEFT_BOUND;
	}
	mutex_unlock(&vd->lock);
}

static int add_present_device(struct device *dev, void *unused)
{
	struct virtio_device *vdev = dev_to_virtio(dev);
	struct vdma_device *vd;

	device_lock(dev);
	vd = find_or_add(vdev);
	if (vd && dev->driver)
		note_bound(vd);
	device_unlock(dev);
	drop_if_gone(vdev);
	vdma_device_put(vd);
	return 0;
}

/**
 * vdma_bus_start() - begin to watch the virtio bus
 *
 * Context: may sleep; module init.
 * Return: 0, -ENOMEM, or an error of the driver core.
 */
int vdma_bus_start(void)
{
	int err;

	err = vdma_devices_init();
	if (err)
		return err;
	err = register_virtio_driver(&bus_finder);
	if (err)
		goto err_devices_exit;
	err = bus_register_notifier(bus_finder.driver.bus, &bus_notifier);
	if (err)
		goto err_unregister_driver;
	bus_for_each_dev(bus_finder.driver.bus, NULL, NULL, add_present_device);
	return 0;

err_unregister_driver:
	unregister_virtio_driver(&bus_finder);
err_devices_exit:
	vdma_devices_exit();
	return err;
}

/**
 * vdma_bus_stop() - stop watching the virtio bus, and forget all devices
 *
 * Context: may sleep; module exit, so no device is held: each one that is
 * counts as a user of the module.
 */
void vdma_bus_stop(void)
{
	bus_unregister_notifier(bus_finder.driver.bus, &bus_notifier);
	vdma_devices_exit();
	unregister_virtio_driver(&bus_finder);
}
