/* SPDX-License-Identifier: GPL-2.0 */
/* What a path implements. */
#ifndef _VDMA_PATH_H
#define _VDMA_PATH_H

#include <linux/device.h>
#include <linux/dma-map-ops.h>
#include <linux/minmax.h>
#include <linux/types.h>

struct vdma_device;

/**
 * struct vdma_limits - limits that a path puts on a device
 * @maps_can_fail: a map may find no room, and succeed when tried again
 * @segments: most segments of one request
 * @segment_size: most bytes of one segment of a request
 * @mapping_size: most bytes of one mapping
 *
 * 0 is no limit.
 */
struct vdma_limits {
	bool maps_can_fail;
	u32 segments;
	u32 segment_size;
	size_t mapping_size;
};

/**
 * struct vdma_path - one way to make DMA addresses
 * @ops: operations that the DMA device gets, copied for each device; NULL when
 *	the kernel's own code makes the addresses
 * @keeps_platform: the platform's operations stay as they are; every other path
 *	replaces them
 * @unavailable: says, in a sentence for the user, why the path cannot be had
 *	for this device on this kernel, or returns NULL; optional
 * @attach: sets up what goes beyond @ops, limits of requests too, or says why it
 *	cannot; the DMA device has no operations at this point; optional
 * @detach: undoes @attach; the driver is gone, the device reset, and no
 *	operation of the path runs; buffers that the driver has not unmapped are
 *	given up; optional
 *
 * All of them are called with the device's lock held and may sleep; the
 * operations in @ops may not.
 */
struct vdma_path {
	const struct dma_map_ops *ops;
	bool keeps_platform;
	const char *(*unavailable)(struct vdma_device *vd);
	const char *(*attach)(struct vdma_device *vd);
	void (*detach)(struct vdma_device *vd);
};

/* The highest address that a device with this mask can be given. */
static inline u64 vdma_reach(const struct device *dev, u64 mask)
{
	return min_not_zero(mask, dev->bus_dma_limit);
}

extern const struct vdma_path vdma_path_direct;
extern const struct vdma_path vdma_path_platform;
extern const struct vdma_path vdma_path_swiotlb;
extern const struct vdma_path vdma_path_bounce;

#endif /* _VDMA_PATH_H */
