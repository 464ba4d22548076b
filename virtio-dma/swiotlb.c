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

/*
 * A mapping takes neighbouring slots, and the search for them passes a run by
 * that another device's buffer lies in: so segments are kept short. They are for
 * half of the pool at most; the other half is for the request's header, status
 * and indirect table, for what other devices hold, and for runs that are broken.
 */
#define SEGMENT_SIZE max_t(u32, 32 << 10, PAGE_SIZE)

/* Enough for the receive buffers of a NIC, with as much to spare. */
#define MIN_SLOTS ((4UL << 20) >> IO_TLB_SHIFT)

static const char no_pool[] =
	"the kernel has no SWIOTLB: boot with swiotlb=65536, on x86 also iommu=soft";
static const char pool_too_small[] =
	"the kernel's SWIOTLB is smaller than 4 MiB: boot with swiotlb=65536";
static const char platform_ops[] =
	"the platform has DMA operations of its own for all devices";

static const char *swiotlb_unavailable(struct vdma_device *vd)
{
	struct device *dev = vd->dma_dev;
	const struct io_tlb_mem *mem = dev->dma_io_tlb_mem;

	if (!mem || !mem->nslabs)
		return no_pool;
	if (mem->nslabs < MIN_SLOTS)
		return pool_too_small;
	if (!dev->dma_ops && get_dma_ops(dev))
		return platform_ops;
	return NULL;
}

static const char *swiotlb_attach(struct vdma_device *vd)
{
	struct device *dev = vd->dma_dev;

	vd->stock_io_tlb_mem = dev->dma_io_tlb_mem;
	vd->io_tlb_mem = *vd->stock_io_tlb_mem;
	vd->io_tlb_mem.force_bounce = true;
#if defined(CONFIG_DEBUG_FS) && defined(VDMA_HAVE_SWIOTLB_TOTAL_USED)
	atomic_long_set(&vd->io_tlb_mem.total_used, 0);
#endif
	dev->dma_io_tlb_mem = &vd->io_tlb_mem;

	vd->limits.maps_can_fail = true;
	vd->limits.segment_size = SEGMENT_SIZE;
	vd->limits.segments = ((u64)vd->io_tlb_mem.nslabs << IO_TLB_SHIFT) / 2 / SEGMENT_SIZE;
	return NULL;
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
