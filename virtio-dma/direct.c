// SPDX-License-Identifier: GPL-2.0
/*
 * Path direct: guest-physical addresses, as the unmodified driver would put
 * them into its rings, made by DMA operations that count.
 */
#include <linux/dma-mapping.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>

#include "counters.h"
#include "device.h"
#include "scatter.h"
#include "traced.h"

static bool reachable(struct device *dev, phys_addr_t phys, size_t size, u64 mask)
{
	return phys + size - 1 <= vdma_reach(dev, mask);
}

static void direct_free(struct device *dev, size_t size, void *vaddr,
			dma_addr_t handle, unsigned long attrs);

static struct vdma_device *direct_device(struct device *dev)
{
	return vdma_from_ops(dev, direct_free);
}

static dma_addr_t direct_map_phys(struct device *dev, phys_addr_t phys,
				  size_t size, enum dma_data_direction dir,
				  unsigned long attrs)
{
	struct vdma_device *vd = direct_device(dev);

	if (unlikely(!reachable(dev, phys, size, *dev->dma_mask))) {
		this_cpu_inc(vd->stats->map_failures);
		this_cpu_inc(vd->stats->failures_too_large);
		dev_err_ratelimited(dev, "virtio_dma: path direct cannot map %zu bytes at %pap: beyond %#llx, the highest that the device can be given; choose bounce\n",
				    size, &phys, vdma_reach(dev, *dev->dma_mask));
		return DMA_MAPPING_ERROR;
	}
	vdma_count_map(vd, size);
	vdma_traced_map(dev, VIRTIO_DMA_DIRECT, phys, size, dir);
	return phys;
}

static void direct_unmap_phys(struct device *dev, dma_addr_t addr, size_t size,
			      enum dma_data_direction dir, unsigned long attrs)
{
	struct vdma_device *vd;

	vdma_traced_unmap(dev, VIRTIO_DMA_DIRECT, addr, size, dir);
	rcu_read_lock();
	vd = direct_device(dev);
	if (vd)
		this_cpu_inc(vd->stats->unmaps);
	rcu_read_unlock();
}

static int direct_map_sg(struct device *dev, struct scatterlist *sgl, int nents,
			 enum dma_data_direction dir, unsigned long attrs)
{
	return vdma_map_sg(dev, sgl, nents, dir, attrs, direct_map_phys,
			   direct_unmap_phys);
}

static void direct_unmap_sg(struct device *dev, struct scatterlist *sgl,
			    int nents, enum dma_data_direction dir,
			    unsigned long attrs)
{
	vdma_unmap_sg(dev, sgl, nents, dir, attrs, direct_unmap_phys);
}

static void *alloc_reachable(struct device *dev, size_t size, gfp_t gfp)
{
	void *vaddr = alloc_pages_exact(size, gfp);

	if (!vaddr || reachable(dev, virt_to_phys(vaddr), size, dev->coherent_dma_mask))
		return vaddr;
	free_pages_exact(vaddr, size);
	return NULL;
}

static void *direct_alloc(struct device *dev, size_t size, dma_addr_t *handle,
			  gfp_t gfp, unsigned long attrs)
{
	struct vdma_device *vd = direct_device(dev);
	void *vaddr;

	size = PAGE_ALIGN(size);
	gfp |= __GFP_ZERO;
	vaddr = alloc_reachable(dev, size, gfp);
	if (!vaddr && IS_ENABLED(CONFIG_ZONE_DMA32))
		vaddr = alloc_reachable(dev, size, gfp | GFP_DMA32);
	if (!vaddr) {
		this_cpu_inc(vd->stats->map_failures);
		return NULL;
	}
	this_cpu_inc(vd->stats->allocs);
	*handle = virt_to_phys(vaddr);
	return vaddr;
}

static void direct_free(struct device *dev, size_t size, void *vaddr,
			dma_addr_t handle, unsigned long attrs)
{
	struct vdma_device *vd;

	free_pages_exact(vaddr, PAGE_ALIGN(size));
	rcu_read_lock();
	vd = direct_device(dev);
	if (vd)
		this_cpu_inc(vd->stats->frees);
	rcu_read_unlock();
}

/* Each mapping is checked, so any mask that coherent memory can be had for does. */
static int direct_dma_supported(struct device *dev, u64 mask)
{
	return mask >= DMA_BIT_MASK(32);
}

static u64 direct_get_required_mask(struct device *dev)
{
	struct vdma_device *vd = direct_device(dev);

	return vd ? vd->required_mask : DMA_BIT_MASK(64);
}

VDMA_DEFINE_MAP_OPS(direct)

static const struct dma_map_ops direct_ops = {
	.alloc = direct_alloc,
	.free = direct_free,
	VDMA_MAP_OPS(direct),
	.map_sg = direct_map_sg,
	.unmap_sg = direct_unmap_sg,
	.dma_supported = direct_dma_supported,
	.get_required_mask = direct_get_required_mask,
};

/* With no operations set, it is the kernel's own direct mapping that answers. */
static const char *direct_attach(struct vdma_device *vd)
{
	vd->required_mask = dma_get_required_mask(vd->dma_dev);
	return NULL;
}

const struct vdma_path vdma_path_direct = {
	.ops = &direct_ops,
	.attach = direct_attach,
};
