// SPDX-License-Identifier: GPL-2.0
/* The table of virtio device types. */
#include <linux/kernel.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/virtio_blk.h>
#include <linux/virtio_ids.h>
#include <linux/virtio_scsi.h>

#include "types.h"

/*
 * Types newer than the oldest supported kernel are given by number (VIRTIO 1.3,
 * section 5). Raise a type to VDMA_ROUTED together with its tests.
 */
static const struct vdma_type types[] = {
	{ VIRTIO_ID_NET,	"net",		VDMA_ROUTED },
	{ VIRTIO_ID_BLOCK,	"blk",		VDMA_ROUTED,
	  offsetof(struct virtio_blk_config, seg_max) },
	{ VIRTIO_ID_CONSOLE,	"console",	VDMA_ON_REQUEST },
	{ VIRTIO_ID_RNG,	"rng",		VDMA_ON_REQUEST },
	/* page numbers, and page ranges given back to the host */
	{ VIRTIO_ID_BALLOON,	"balloon",	VDMA_RAW },
	{ VIRTIO_ID_RPMSG,	"rpmsg",	VDMA_ON_REQUEST },
	{ VIRTIO_ID_SCSI,	"scsi",		VDMA_ON_REQUEST,
	  offsetof(struct virtio_scsi_config, seg_max) },
	{ VIRTIO_ID_9P,		"9p",		VDMA_ON_REQUEST },
	{ VIRTIO_ID_GPU,	"gpu",		VDMA_ON_REQUEST },
	{ 17,			"rtc",		VDMA_ON_REQUEST },
	{ VIRTIO_ID_INPUT,	"input",	VDMA_ON_REQUEST },
	{ VIRTIO_ID_VSOCK,	"vsock",	VDMA_ON_REQUEST },
	{ VIRTIO_ID_CRYPTO,	"crypto",	VDMA_ON_REQUEST },
	/* translates for others: its own addresses are never translated */
	{ VIRTIO_ID_IOMMU,	"iommu",	VDMA_NEVER },
	{ VIRTIO_ID_MEM,	"mem",		VDMA_ON_REQUEST },
	{ 25,			"sound",	VDMA_ON_REQUEST },
	{ VIRTIO_ID_FS,		"fs",		VDMA_ON_REQUEST },
	{ VIRTIO_ID_PMEM,	"pmem",		VDMA_ON_REQUEST },
	{ 32,			"scmi",		VDMA_ON_REQUEST },
	{ 34,			"i2c",		VDMA_ON_REQUEST },
	{ 36,			"can",		VDMA_ON_REQUEST },
	{ 40,			"bt",		VDMA_ON_REQUEST },
	{ 41,			"gpio",		VDMA_ON_REQUEST },
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
