/* SPDX-License-Identifier: GPL-2.0 */
/* Scatterlists, one entry after the other, for paths that map single buffers. */
#ifndef _VDMA_SCATTER_H
#define _VDMA_SCATTER_H

#include <linux/dma-mapping.h>
#include <linux/scatterlist.h>

#include "compat/compat.h"

/* Both are inlined with their functions: no call is indirect. */
static __always_inline void
vdma_unmap_sg(struct device *dev, struct scatterlist *sgl, int nents,
	      enum dma_data_direction dir, unsigned long attrs,
	      void (*unmap)(struct device *dev, dma_addr_t addr, size_t size,
			    enum dma_data_direction dir, unsigned long attrs))
{
	struct scatterlist *sg;
	int i;

	for_each_sg(sgl, sg, nents, i)
		unmap(dev, sg_dma_address(sg), sg_dma_len(sg), dir, attrs);
}

static __always_inline int
vdma_map_sg(struct device *dev, struct scatterlist *sgl, int nents,
	    enum dma_data_direction dir, unsigned long attrs,
	    dma_addr_t (*map)(struct device *dev, phys_addr_t phys, size_t size,
			      enum dma_data_direction dir, unsigned long attrs),
	    void (*unmap)(struct device *dev, dma_addr_t addr, size_t size,
			  enum dma_data_direction dir, unsigned long attrs))
{
	struct scatterlist *sg;
	int i;

	for_each_sg(sgl, sg, nents, i) {
		sg_dma_address(sg) = map(dev, sg_phys(sg), sg->length, dir, attrs);
		if (sg_dma_address(sg) == DMA_MAPPING_ERROR)
			goto err_unmap;
		sg_dma_len(sg) = sg->length;
	}
	return nents;

err_unmap:
	/* nothing has been given to the device yet: nothing to copy back */
	vdma_unmap_sg(dev, sgl, i, dir, attrs | DMA_ATTR_SKIP_CPU_SYNC, unmap);
	return VDMA_MAP_SG_ERROR;
}

#endif /* _VDMA_SCATTER_H */
