/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The differences between kernel trees, each behind one name. What a tree has
 * is found by probe.mk (VDMA_HAVE_...); no other file asks.
 */
#ifndef _VDMA_COMPAT_H
#define _VDMA_COMPAT_H

#include <linux/blkdev.h>
#include <linux/device.h>
#include <linux/dma-map-ops.h>
#include <linux/file.h>
#include <linux/swiotlb.h>
#include <linux/virtio_config.h>

#if !defined(CONFIG_DMA_OPS) && !defined(CONFIG_ARCH_HAS_DMA_OPS)
#error virtio_dma needs devices with DMA operations (on x86: CONFIG_GART_IOMMU or CONFIG_XEN)
#endif

/* --- struct dma_map_ops: by page and offset before 6.17, by physical address since --- */

#ifdef VDMA_HAVE_DMA_OPS_MAP_PHYS
#define VDMA_DEFINE_MAP_OPS(prefix)
#define VDMA_MAP_OPS(prefix) \
	.map_phys = prefix##_map_phys, \
	.unmap_phys = prefix##_unmap_phys
#else
#define VDMA_MAP_OPS(prefix) \
	.map_page = prefix##_map_page, \
	.unmap_page = prefix##_unmap_phys

#define VDMA_DEFINE_MAP_OPS(prefix) \
static dma_addr_t prefix##_map_page(struct device *dev, struct page *page, \
				    unsigned long offset, size_t size, \
				    enum dma_data_direction dir, \
				    unsigned long attrs) \
{ \
	return prefix##_map_phys(dev, page_to_phys(page) + offset, size, dir, \
				 attrs); \
}
#endif

/* What map_sg returns on failure: zero until 5.14, an error since. */
#ifdef VDMA_HAVE_MAP_SG_ERRNO
#define VDMA_MAP_SG_ERROR (-EIO)
#else
#define VDMA_MAP_SG_ERROR 0
#endif

/* Is what is to be mapped no memory? Before 6.18 map_resource was for that. */
static inline bool vdma_is_mmio(unsigned long attrs)
{
#ifdef DMA_ATTR_MMIO
	return attrs & DMA_ATTR_MMIO;
#else
	return false;
#endif
}

/* --- flags of a device that decide who is asked for an address --- */

static inline bool vdma_dev_dma_iommu(struct device *dev)
{
#if !defined(VDMA_HAVE_DEV_DMA_IOMMU) || !defined(CONFIG_IOMMU_DMA)
	return false;
#elif defined(VDMA_HAVE_DEV_FLAG_ACCESSORS)
	return dev_dma_iommu(dev);
#else
	return dev->dma_iommu;
#endif
}

static inline void vdma_dev_assign_dma_iommu(struct device *dev, bool on)
{
#if !defined(VDMA_HAVE_DEV_DMA_IOMMU) || !defined(CONFIG_IOMMU_DMA)
	/* here the IOMMU's DMA code is a struct dma_map_ops like any other */
#elif defined(VDMA_HAVE_DEV_FLAG_ACCESSORS)
	dev_assign_dma_iommu(dev, on);
#else
	dev->dma_iommu = on;
#endif
}

static inline bool vdma_dev_ops_bypass(struct device *dev)
{
#if !defined(CONFIG_DMA_OPS_BYPASS)
	return false;
#elif defined(VDMA_HAVE_DEV_FLAG_ACCESSORS)
	return dev_dma_ops_bypass(dev);
#else
	return dev->dma_ops_bypass;
#endif
}

static inline void vdma_dev_assign_ops_bypass(struct device *dev, bool on)
{
#if !defined(CONFIG_DMA_OPS_BYPASS)
	/* powerpc only */
#elif defined(VDMA_HAVE_DEV_FLAG_ACCESSORS)
	dev_assign_dma_ops_bypass(dev, on);
#else
	dev->dma_ops_bypass = on;
#endif
}

/* --- SWIOTLB: can one device be given a bouncing copy of the kernel's pool? --- */

/*
 * Before 6.0 struct io_tlb_mem embeds the index and lock of its slot list, and
 * with CONFIG_SWIOTLB_DYNAMIC it embeds list heads: a copy of either would be a
 * second owner of the same list.
 */
#if defined(CONFIG_SWIOTLB) && defined(VDMA_HAVE_SWIOTLB_AREAS) && \
	!defined(CONFIG_SWIOTLB_DYNAMIC)
#define VDMA_SWIOTLB_COPYABLE 1
#endif

/* --- features --- */

/* The transport has its own idea of mapping (vduse): not ours to replace. */
static inline bool vdma_has_map_ops(const struct virtio_device *vdev)
{
#ifdef VDMA_HAVE_VIRTIO_MAP_OPS
	return vdev->map;
#else
	return false;
#endif
}

/* The low 64 feature bits as the device offers them. */
static inline u64 vdma_device_features(struct virtio_device *vdev,
				       const struct virtio_config_ops *config)
{
#ifdef VDMA_HAVE_VIRTIO_EXTENDED_FEATURES
	if (config->get_extended_features) {
		u64 features[VIRTIO_FEATURES_U64S];

		config->get_extended_features(vdev, features);
		return features[0];
	}
#endif
	return config->get_features(vdev);
}

/* The low 64 bits of what the driver accepts; further bits are not ours to touch. */
static inline u64 vdma_driver_features(const struct virtio_device *vdev)
{
	return vdev->features;
}

static inline void vdma_set_driver_features(struct virtio_device *vdev, u64 features)
{
	vdev->features = features;
}

/* --- a disk opened by number; struct vdma_disk is never defined, only pointed to --- */

struct vdma_disk;

#ifdef VDMA_HAVE_BDEV_FILE
static inline struct vdma_disk *vdma_disk_open(dev_t devt, void *holder)
{
	return (void *)bdev_file_open_by_dev(devt, BLK_OPEN_READ, holder, NULL);
}

/*
 * Not bdev_fput(), which leaves the last put to the return to user space: until
 * then the disk's name would be taken, and a rebound disk get another one.
 */
static inline void vdma_disk_close(struct vdma_disk *disk)
{
	__fput_sync((void *)disk);
}

static inline struct block_device *vdma_disk_bdev(struct vdma_disk *disk)
{
	return file_bdev((void *)disk);
}
#else
static inline struct vdma_disk *vdma_disk_open(dev_t devt, void *holder)
{
	return (void *)blkdev_get_by_dev(devt, FMODE_READ | FMODE_EXCL, holder);
}

static inline void vdma_disk_close(struct vdma_disk *disk)
{
	blkdev_put((void *)disk, FMODE_READ | FMODE_EXCL);
}

static inline struct block_device *vdma_disk_bdev(struct vdma_disk *disk)
{
	return (void *)disk;
}
#endif

/* Openers of a disk and of its partitions. */
static inline unsigned int vdma_disk_openers(struct vdma_disk *disk)
{
#ifdef VDMA_HAVE_DISK_OPENERS
	return disk_openers(vdma_disk_bdev(disk)->bd_disk);
#else
	return vdma_disk_bdev(disk)->bd_openers;
#endif
}

#endif /* _VDMA_COMPAT_H */
