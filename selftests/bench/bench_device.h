/* SPDX-License-Identifier: GPL-2.0 */
/* The device that is measured. */
#ifndef _BENCH_DEVICE_H
#define _BENCH_DEVICE_H

#include <linux/device/bus.h>
#include <linux/pci.h>
#include <linux/string.h>
#include <linux/virtio.h>

static int is_virtio(struct device *child, void *found)
{
	if (!child->bus || strcmp(child->bus->name, "virtio"))
		return 0;
	*(struct virtio_device **)found = dev_to_virtio(child);
	return 1;
}

/*
 * The virtio device behind a PCI device that is named like 0000:00:05.0, or NULL.
 * The reference is to be put on its parent, the PCI device.
 */
static inline struct virtio_device *find_virtio_pci(const char *name)
{
	struct device *pci = bus_find_device_by_name(&pci_bus_type, NULL, name);
	struct virtio_device *vdev;

	if (pci && device_for_each_child(pci, &vdev, is_virtio))
		return vdev;
	put_device(pci);
	return NULL;
}

#endif /* _BENCH_DEVICE_H */
