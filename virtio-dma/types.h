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
 * enum vdma_fill - what a bounce buffer holds before the device writes to it
 * @VDMA_FILL_PRESERVE: the old content of the buffer it stands for, so that bytes
 *	that the device does not write keep their value; the host sees them
 * @VDMA_FILL_ZERO: zeros: for drivers that never look beyond what was written
 * @VDMA_FILL_NONE: whatever was last bounced there
 */
enum vdma_fill {
	VDMA_FILL_PRESERVE,
	VDMA_FILL_ZERO,
	VDMA_FILL_NONE,
};

/**
 * struct vdma_type - one virtio device type
 * @id: device type, VIRTIO 1.3 section 5
 * @name: its name in rules and messages
 * @routing: what happens to devices of the type
 * @fill: what its bounce buffers hold at first
 * @unmaps_late: its driver unmaps buffers after it has left the device
 * @maps_twice: its driver has one buffer mapped several times at once, so that of
 *	its copies the one that is copied back last wins
 * @seg_max_offset: where the device's configuration has the most segments of one
 *	request (32 bits); 0 if it has none
 * @size_max_offset: where it has the most bytes of one segment (32 bits); 0 if it
 *	has none
 * @size_max_feature: feature bit that says that the latter is valid
 */
struct vdma_type {
	u32 id;
	const char *name;
	enum vdma_routing routing;
	enum vdma_fill fill;
	bool unmaps_late;
	bool maps_twice;
	unsigned int seg_max_offset;
	unsigned int size_max_offset;
	unsigned int size_max_feature;
};

const struct vdma_type *vdma_type_by_id(u32 id);
const struct vdma_type *vdma_type_by_name(const char *name, size_t len);

#endif /* _VDMA_TYPES_H */
