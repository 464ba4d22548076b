/* SPDX-License-Identifier: GPL-2.0 */
/* What a path implements. */
#ifndef _VDMA_PATH_H
#define _VDMA_PATH_H

#include <linux/dma-map-ops.h>
#include <linux/types.h>

struct vdma_device;

/**
 * struct vdma_path - one way to make DMA addresses
 * @ops: operations that the DMA device gets, copied for each device; NULL when
 *	the kernel's own code makes the addresses
 * @keeps_platform: the platform's operations stay as they are; every other path
 *	replaces them
 * @unavailable: says, in a sentence for the user, why the path cannot be had
 *	for this device on this kernel, or returns NULL; optional
 * @attach: sets up what goes beyond @ops; the DMA device has no operations at
 *	this point; optional
 * @detach: undoes @attach; optional
 * @max_segments: the most segments that one request may have on this path
 *	without outgrowing what the path can map at one time; optional: no limit
 *
 * All of them are called with the device's lock held and may sleep; the
 * operations in @ops may not.
 */
struct vdma_path {
	const struct dma_map_ops *ops;
	bool keeps_platform;
	const char *(*unavailable)(struct vdma_device *vd);
	void (*attach)(struct vdma_device *vd);
	void (*detach)(struct vdma_device *vd);
	u32 (*max_segments)(struct vdma_device *vd);
};

extern const struct vdma_path vdma_path_direct;
extern const struct vdma_path vdma_path_platform;
extern const struct vdma_path vdma_path_swiotlb;

#endif /* _VDMA_PATH_H */
