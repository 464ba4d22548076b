/* SPDX-License-Identifier: GPL-2.0 */
/*
 * virtio_dma: what platform modules may use.
 */
#ifndef _VIRTIO_DMA_H
#define _VIRTIO_DMA_H

#include <linux/types.h>

struct virtio_device;

/**
 * enum virtio_dma_path - how the addresses of one virtio device are made
 * @VIRTIO_DMA_AUTO: no opinion; the next one in the order of choice decides
 * @VIRTIO_DMA_OFF: the device runs as the unmodified kernel runs it
 * @VIRTIO_DMA_DIRECT: guest-physical addresses, through operations that count
 * @VIRTIO_DMA_PLATFORM: whatever the platform's DMA operations make of them
 * @VIRTIO_DMA_SWIOTLB: every buffer bounces through the kernel's SWIOTLB
 * @VIRTIO_DMA_BOUNCE: every buffer bounces through virtio_dma's own pool
 * @VIRTIO_DMA_PATHS: number of values
 */
enum virtio_dma_path {
	VIRTIO_DMA_AUTO,
	VIRTIO_DMA_OFF,
	VIRTIO_DMA_DIRECT,
	VIRTIO_DMA_PLATFORM,
	VIRTIO_DMA_SWIOTLB,
	VIRTIO_DMA_BOUNCE,
	VIRTIO_DMA_PATHS
};

/**
 * struct virtio_dma_hook - a platform's say in the choice of paths
 * @name: shown in a device's sysfs file ``dma/reason``
 * @choose: asked when a driver is about to be bound to @vdev, and when the user
 *	gives up a choice of his own. @offered says whether the device offers
 *	VIRTIO_F_ACCESS_PLATFORM. Returns a path, or VIRTIO_DMA_AUTO for no
 *	opinion. Called with the device lock of @vdev held; may sleep; must not
 *	bind, unbind, register or unregister anything.
 *
 * The order of choice is: the user's rule for the device, this hook, bounce if
 * the guest's memory is encrypted, platform if the device offers
 * VIRTIO_F_ACCESS_PLATFORM, direct. Not asked for are balloons, which pass page
 * numbers, and IOMMUs. What the hook answers is held to the same safety rules as
 * a user's choice: a path that would hand the device addresses that it cannot
 * use is refused, and so is the device.
 */
struct virtio_dma_hook {
	const char *name;
	enum virtio_dma_path (*choose)(struct virtio_device *vdev, bool offered);
};

int virtio_dma_register_hook(const struct virtio_dma_hook *hook);
void virtio_dma_unregister_hook(const struct virtio_dma_hook *hook);

#endif /* _VIRTIO_DMA_H */
