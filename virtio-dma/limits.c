// SPDX-License-Identifier: GPL-2.0
/*
 * Limits of requests that a path puts on a device.
 *
 * A request that can never be mapped as a whole is tried again for ever by
 * virtio_blk, so the driver must not build one. virtio_max_dma_size() limits
 * one segment, not a request; how many segments there are, and how large they
 * are, is for the device to limit, in its configuration.
 */
#include <linux/minmax.h>
#include <linux/virtio_config.h>

#include "device.h"
#include "limits.h"

/*
 * Lower one 32 bit field of the configuration, if it has been read and is
 * limited. Where the device has not made it valid, the limit is all there is.
 */
static void limit_field(struct virtio_device *vdev, unsigned int field, bool valid,
			u32 limit, unsigned int offset, void *buf, unsigned int len)
{
	__virtio32 *value = buf + field - offset;
	u32 stock;

	if (!field || !limit || offset > field || offset + len < field + sizeof(*value))
		return;
	stock = virtio32_to_cpu(vdev, *value);
	*value = cpu_to_virtio32(vdev, valid ? min(stock, limit) : limit);
}

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
	const struct vdma_type *type = vd->type;

	vd->stock_config->get(vdev, offset, buf, len);
	limit_field(vdev, type->seg_max_offset, true, vd->limits.segments,
		    offset, buf, len);
	limit_field(vdev, type->size_max_offset,
		    vd->decision.features & BIT_ULL(type->size_max_feature),
		    vd->limits.segment_size, offset, buf, len);
}
