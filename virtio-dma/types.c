// SPDX-License-Identifier: GPL-2.0
/* The table of virtio device types. */
#include <linux/kernel.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/virtio_blk.h>
#include <linux/virtio_ids.h>
#include <linux/virtio_scsi.h>

#include "types.h"

/* The two sorts of rows that most types are. */
#define ON_REQUEST(_id, _name, _fill) \
	{ .id = _id, .name = _name, .routing = VDMA_ON_REQUEST, .fill = _fill }
#define PRESERVE VDMA_FILL_PRESERVE
#define ZERO VDMA_FILL_ZERO

/*
 * Zero is for types whose drivers look at nothing but what the device says it
 * wrote. 9p, fs and scsi hand the buffers of user space to the device, and a
 * short read must leave the rest as it was.
 *
 * Types newer than the oldest supported kernel are given by number (VIRTIO 1.3,
 * section 5). Raise a type to VDMA_ROUTED together with its tests.
 */
static const struct vdma_type types[] = {
	{
		.id = VIRTIO_ID_NET,
		.name = "net",
		.routing = VDMA_ROUTED,
		.fill = ZERO,
	},
	{
		.id = VIRTIO_ID_BLOCK,
		.name = "blk",
		.routing = VDMA_ROUTED,
		.fill = ZERO,
		.seg_max_offset = offsetof(struct virtio_blk_config, seg_max),
		.size_max_offset = offsetof(struct virtio_blk_config, size_max),
		.size_max_feature = VIRTIO_BLK_F_SIZE_MAX,
	},
	{
		.id = VIRTIO_ID_SCSI,
		.name = "scsi",
		.routing = VDMA_ON_REQUEST,
		.fill = PRESERVE,
		.seg_max_offset = offsetof(struct virtio_scsi_config, seg_max),
	},
	{
		/* page numbers, and page ranges given back to the host */
		.id = VIRTIO_ID_BALLOON,
		.name = "balloon",
		.routing = VDMA_RAW,
	},
	{
		/* translates for others: its own addresses are never translated */
		.id = VIRTIO_ID_IOMMU,
		.name = "iommu",
		.routing = VDMA_NEVER,
	},
	{
		.id = VIRTIO_ID_GPU,
		.name = "gpu",
		.routing = VDMA_ON_REQUEST,
		.fill = PRESERVE,
		.unmaps_late = true,
	},
	{
		.id = VIRTIO_ID_CRYPTO,
		.name = "crypto",
		.routing = VDMA_ON_REQUEST,
		.fill = PRESERVE,
		.maps_twice = true,
	},
	ON_REQUEST(VIRTIO_ID_CONSOLE, "console", ZERO),
	ON_REQUEST(VIRTIO_ID_RNG, "rng", ZERO),
	ON_REQUEST(VIRTIO_ID_VSOCK, "vsock", ZERO),
	ON_REQUEST(VIRTIO_ID_RPMSG, "rpmsg", PRESERVE),
	ON_REQUEST(VIRTIO_ID_9P, "9p", PRESERVE),
	ON_REQUEST(VIRTIO_ID_INPUT, "input", PRESERVE),
	ON_REQUEST(VIRTIO_ID_MEM, "mem", PRESERVE),
	ON_REQUEST(VIRTIO_ID_FS, "fs", PRESERVE),
	ON_REQUEST(VIRTIO_ID_PMEM, "pmem", PRESERVE),
	ON_REQUEST(17, "rtc", PRESERVE),
	ON_REQUEST(25, "sound", PRESERVE),
	ON_REQUEST(32, "scmi", PRESERVE),
	ON_REQUEST(34, "i2c", PRESERVE),
	ON_REQUEST(36, "can", PRESERVE),
	ON_REQUEST(40, "bt", PRESERVE),
	ON_REQUEST(41, "gpio", PRESERVE),
};

static const struct vdma_type unknown_type = {
	.name = "unknown",
	.routing = VDMA_ON_REQUEST,
};

/**
 * vdma_type_by_id() - look a device type up by its number
 * @id: device type, VIRTIO 1.3 section 5
 *
 * Context: any.
 * Return: the type; for a number that is not in the table, a type called
 * "unknown" that is routed only on request. Never NULL.
 */
const struct vdma_type *vdma_type_by_id(u32 id)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		if (types[i].id == id)
			return &types[i];
	return &unknown_type;
}

/**
 * vdma_type_by_name() - look a device type up by its name
 * @name: name, need not be terminated
 * @len: length of @name in bytes
 *
 * Context: any.
 * Return: the type, or NULL.
 */
const struct vdma_type *vdma_type_by_name(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		if (strlen(types[i].name) == len &&
		    !memcmp(types[i].name, name, len))
			return &types[i];
	return NULL;
}
