// SPDX-License-Identifier: GPL-2.0
/* The tracepoints' own code, which belongs into one object. */
#include "traced.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/**
 * vdma_trace_map() - tell of a buffer that was mapped
 * @dev: the device
 * @path: its path
 * @addr: DMA address
 * @size: bytes
 * @dir: direction
 *
 * Context: any.
 */
void vdma_trace_map(struct device *dev, enum virtio_dma_path path, u64 addr, size_t size,
		    enum dma_data_direction dir)
{
	trace_vdma_map(dev, path, addr, size, dir);
}

/**
 * vdma_trace_unmap() - tell of a buffer that is to be unmapped
 * @dev: the device
 * @path: its path
 * @addr: DMA address
 * @size: bytes
 * @dir: direction
 *
 * Context: any.
 */
void vdma_trace_unmap(struct device *dev, enum virtio_dma_path path, u64 addr, size_t size,
		      enum dma_data_direction dir)
{
	trace_vdma_unmap(dev, path, addr, size, dir);
}
