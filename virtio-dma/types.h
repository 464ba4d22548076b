/* SPDX-License-Identifier: GPL-2.0 */
/* What is known of each virtio device type. */
#ifndef _VDMA_TYPES_H
#define _VDMA_TYPES_H

#include <linux/types.h>

/**
 * enum vdma_routing - what happens to devices of a type
 * @VDMA_ROUTED: routed by default; the type has tests in this tree
 * @VDMA_ON_REQUEST: left alone unless a rule or the hook names a path: no
 *	test in this tree yet
 * @VDMA_RAW: its driver turns VIRTIO_F_ACCESS_PLATFORM down, because it passes
 *	page numbers and not DMA addresses
 * @VDMA_NEVER: cannot be routed, not even on request
 */
enum vdma_routing {
	VDMA_ROUTED,
	VDMA_ON_REQUEST,
	VDMA_RAW,
	VDMA_NEVER,
};

/**
 * struct vdma_type - one virtio device type
 * @id: device type, VIRTIO 1.3 section 5
 * @name: its name in rules and messages
 * @routing: what happens to devices of the type
 * @seg_max_offset: where the device's configuration has a little-endian 32 bit
 *	``seg_max``, the most segments of one request; 0 if it has none
 */
struct vdma_type {
	u32 id;
	const char *name;
	enum vdma_routing routing;
	unsigned int seg_max_offset;
};

const struct vdma_type *vdma_type_by_id(u32 id);
const struct vdma_type *vdma_type_by_name(const char *name, size_t len);

#endif /* _VDMA_TYPES_H */
