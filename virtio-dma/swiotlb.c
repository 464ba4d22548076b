// SPDX-License-Identifier: GPL-2.0
/*
 * Path swiotlb: the kernel's own SWIOTLB, for this device only.
 *
 * The DMA device gets a copy of the kernel's struct io_tlb_mem that says "always
 * bounce". Slots, their locks and the memory stay shared with the kernel's:
 * from 6.0 on the structure only points to them.
 */
#include <linux/minmax.h>
#include <linux/swiotlb.h>

#include "device.h"

#ifdef VDMA_SWIOTLB_COPYABLE

/* Slots of the longest single mapping; a mapping takes neighbouring slots. */
#define SLOTS_PER_SEGMENT IO_TLB_SEGSIZE

static const char no_pool[] =
	"the kernel has no SWIOTLB: boot with swiotlb=65536, on x86 also iommu=soft";
static const char pool_too_small[] =
	"the kernel's SWIOTLB cannot hold one request: boot with swiotlb=65536";
static const char platform_ops[] =
	"the platform has DMA operations of its own for all devices";

/*
 * Half of the pool at most for one request: the other half is for the request's
 * header, status and indirect table, for what other devices hold, and for runs
 * too short to use. The driver reads this once, at probe.
 */
static u32 swiotlb_max_segments(struct vdma_device *vd)
{
	return vd->io_tlb_mem.nslabs / SLOTS_PER_SEGMENT / 2;
}

static const char *swiotlb_unavailable(struct vdma_device *vd)
{
	struct device *dev = vd->dma_dev;
	const struct io_tlb_mem *mem = dev->dma_io_tlb_mem;

	if (!mem || !mem->nslabs)
		return no_pool;
	if (mem->nslabs < 2 * SLOTS_PER_SEGMENT)
		return pool_too_small;
	if (!dev->dma_ops && get_dma_ops(dev))
		return platform_ops;
	return NULL;
}

static void swiotlb_attach(struct vdma_device *vd)
{
	struct device *dev = vd->dma_dev;

	vd->stock_io_tlb_mem = dev->dma_io_tlb_mem;
	vd->io_tlb_mem = *vd->stock_io_tlb_mem;
	vd->io_tlb_mem.force_bounce = true;
#if defined(CONFIG_DEBUG_FS) && defined(VDMA_HAVE_SWIOTLB_TOTAL_USED)
	atomic_long_set(&vd->io_tlb_mem.total_used, 0);
#endif
	dev->dma_io_tlb_mem = &vd->io_tlb_mem;
}

static void swiotlb_detach(struct vdma_device *vd)
{
	vd->dma_dev->dma_io_tlb_mem = vd->stock_io_tlb_mem;
#if defined(CONFIG_DEBUG_FS) && defined(VDMA_HAVE_SWIOTLB_TOTAL_USED)
	/* what is still mapped will be given back to the kernel's count */
	atomic_long_add(atomic_long_read(&vd->io_tlb_mem.total_used),
			&vd->stock_io_tlb_mem->total_used);
#endif
}

const struct vdma_path vdma_path_swiotlb = {
	.unavailable = swiotlb_unavailable,
	.attach = swiotlb_attach,
	.detach = swiotlb_detach,
	.max_segments = swiotlb_max_segments,
};

#else /* !VDMA_SWIOTLB_COPYABLE: before 6.0, or with CONFIG_SWIOTLB_DYNAMIC */

static const char not_for_one_device[] =
	"this kernel's SWIOTLB cannot serve one device only: choose direct";

static const char *swiotlb_unavailable(struct vdma_device *vd)
{
	return not_for_one_device;
}

const struct vdma_path vdma_path_swiotlb = {
	.unavailable = swiotlb_unavailable,
};

#endif /* VDMA_SWIOTLB_COPYABLE */
