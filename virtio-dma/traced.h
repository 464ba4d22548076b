/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tracepoints of what is done for every buffer. While nobody looks they are a branch
 * that is not taken: their own code is elsewhere, so that no register is saved for it.
 */
#ifndef _VDMA_TRACED_H
#define _VDMA_TRACED_H

#include "trace.h"

void vdma_trace_map(struct device *dev, enum virtio_dma_path path, u64 addr, size_t size,
		    enum dma_data_direction dir);
void vdma_trace_unmap(struct device *dev, enum virtio_dma_path path, u64 addr, size_t size,
		      enum dma_data_direction dir);

static __always_inline void vdma_traced_map(struct device *dev, enum virtio_dma_path path,
					    u64 addr, size_t size, enum dma_data_direction dir)
{
	if (trace_vdma_map_enabled())
		vdma_trace_map(dev, path, addr, size, dir);
}

static __always_inline void vdma_traced_unmap(struct device *dev, enum virtio_dma_path path,
					      u64 addr, size_t size, enum dma_data_direction dir)
{
	if (trace_vdma_unmap_enabled())
		vdma_trace_unmap(dev, path, addr, size, dir);
}

#endif /* _VDMA_TRACED_H */
