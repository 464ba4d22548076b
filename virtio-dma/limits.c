// SPDX-License-Identifier: GPL-2.0
/*
 * Limits of requests that a path puts on a device.
 *
 * A request that can never be mapped as a whole is tried again for ever by
 * virtio_blk, so the driver must not build one. virtio_max_dma_size() limits
 * one segment only; the number of segments is the device's to limit, in its
 * configuration.
 */
#include <linux/minmax.h>
#include <linux/virtio_config.h>

#include "device.h"
#include "limits.h"

/**
 * vdma_limited_get() - read a device's configuration, with our limits put in
 * @vdev: the device
 * @offset: where to read, in bytes
 * @buf: where to put it
 * @len: how much, in bytes
 *
 * Context: that of virtio_config_ops::get; may sleep.
 */
void vdma_limited_get(struct virtio_device *vdev, unsigned int offset,
		      void *buf, unsigned int len)
{
	struct vdma_device *vd = vdma_from_config(vdev);
	unsigned int at = vd->type->seg_max_offset;
	__virtio32 *seg_max;
	u32 limit;

	vd->stock_config->get(vdev, offset, buf, len);
	if (vd->state != VDMA_ATTACHED || !vd->path->max_segments || !at)
		return;
	if (offset > at || offset + len < at + sizeof(*seg_max))
		return;

	seg_max = buf + at - offset;
	limit = vd->path->max_segments(vd);
	*seg_max = cpu_to_virtio32(vdev, min(virtio32_to_cpu(vdev, *seg_max), limit));
}
