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
 * struct virtio_dma_hook - a platform's say in how devices reach memory
 * @name: shown in a device's sysfs file ``dma/reason``, and in the log
 * @choose: asked when a driver is about to be bound to @vdev, and when the user
 *	gives up a choice of his own. @offered says whether the device offers
 *	VIRTIO_F_ACCESS_PLATFORM. Returns a path, or VIRTIO_DMA_AUTO for no
 *	opinion. Called with the device lock of @vdev held; may sleep; must not
 *	bind, unbind, register or unregister anything.
 * @pool_phys: physical address of the window that the pool of path bounce must lie
 *	in, in bytes
 * @pool_size: how large that is, in bytes; 0: the pool may lie anywhere
 *
 * The order of choice is: the user's rule for the device, this hook, bounce if
 * the guest's memory is encrypted, platform if the device offers
 * VIRTIO_F_ACCESS_PLATFORM, direct. Not asked for are balloons, which pass page
 * numbers, and IOMMUs. What the hook answers is held to the same safety rules as
 * a user's choice: a path that would hand the device addresses that it cannot
 * use is refused, and so is the device.
 *
 * A window is memory that the host can see while it sees no other, as an
 * Ultravisor or a hypervisor arranges it. The guest's kernel must not use it (on
 * x86: ``memmap=SIZE$ADDRESS`` on the command line; elsewhere: reserved, and not
 * mapped), and nothing else may have claimed it. It must begin and end at a multiple
 * of 64 KiB and of a page, and be 4 MiB at least. It is neither decrypted nor
 * encrypted: that is up to him who named it. What is in it is lost.
 *
 * There is one pool, and it cannot move. So a hook with a window must be registered
 * before the first device is bounced, and agree with the user's parameters
 * ``pool_phys=`` and ``pool_size=`` where these are given. Once taken, the window stays
 * the pool's until virtio_dma is unloaded, whether or not the hook is unregistered.
 */
struct virtio_dma_hook {
	const char *name;
	enum virtio_dma_path (*choose)(struct virtio_device *vdev, bool offered);
	u64 pool_phys;
	u64 pool_size;
};

int virtio_dma_register_hook(const struct virtio_dma_hook *hook);
void virtio_dma_unregister_hook(const struct virtio_dma_hook *hook);

#endif /* _VIRTIO_DMA_H */
