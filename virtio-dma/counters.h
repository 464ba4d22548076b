/* SPDX-License-Identifier: GPL-2.0 */
/* From within DMA operations: whose they are, and counting. */
#ifndef _VDMA_COUNTERS_H
#define _VDMA_COUNTERS_H

#include <linux/dma-map-ops.h>
#include <linux/percpu.h>

#include "device.h"

/*
 * The device whose operations @dma_dev has. An unmap can come when the driver is
 * gone (virtio_gpu does that), and find that the operations have been taken back
 * since the kernel looked at them: then there is nothing left to unmap, and NULL
 * is returned. @free is the free operation of the path that asks.
 */
#define vdma_from_ops(dma_dev, free_op) ({ \
	const struct dma_map_ops *__ops = READ_ONCE((dma_dev)->dma_ops); \
\
	likely(__ops && __ops->free == (free_op)) ? \
		container_of(__ops, struct vdma_device, ops) : NULL; \
})

static inline void vdma_count_map(struct vdma_device *vd, size_t size)
{
	this_cpu_inc(vd->stats->maps);
	this_cpu_add(vd->stats->map_bytes, size);
}

#endif /* _VDMA_COUNTERS_H */
