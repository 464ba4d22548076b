/* SPDX-License-Identifier: GPL-2.0 */
/* Where a pool's memory comes from: the page allocator, or a window. */
#ifndef _VDMA_MEMORY_H
#define _VDMA_MEMORY_H

#include <linux/types.h>

/* Most bytes of one extent. */
#define VDMA_EXTENT_MAX (16ULL << 30)

struct vdma_window;

/**
 * struct vdma_extent - physically contiguous memory
 * @phys: where it begins
 * @vaddr: the same, for the CPU
 * @size: bytes
 */
struct vdma_extent {
	phys_addr_t phys;
	void *vaddr;
	size_t size;
};

/**
 * struct vdma_memory - a source of memory
 * @window: where it is taken from; NULL: from the page allocator
 * @taken: of the window: which of its parts are
 */
struct vdma_memory {
	const struct vdma_window *window;
	unsigned long *taken;
};

int vdma_memory_init(struct vdma_memory *memory, const struct vdma_window *window);
void vdma_memory_exit(struct vdma_memory *memory);

int vdma_memory_get(struct vdma_memory *memory, size_t size, gfp_t gfp,
		    struct vdma_extent **extents);
void vdma_memory_put(struct vdma_memory *memory, const struct vdma_extent *extent);

#endif /* _VDMA_MEMORY_H */
