# SPDX-License-Identifier: GPL-2.0
# What the kernel tree being built against has. Each probe looks for the thing
# itself in the headers, never for a version number: distributions backport.
# The results are seen with `make V=1`; compat.h is their only reader.

# $(call have,WORD,HEADER): y when HEADER of the kernel mentions WORD
have = $(shell grep -qsw -e '$(1)' '$(srctree)/include/linux/$(2)' && echo y)

# 6.17: map_phys/unmap_phys took the place of map_page/unmap_page
compat-$(call have,map_phys,dma-map-ops.h)		+= DMA_OPS_MAP_PHYS
# 5.15: map_sg says which error
compat-$(call have,dma_map_sgtable() for a list,dma-map-ops.h) += MAP_SG_ERRNO
# 6.17: more than 64 feature bits
compat-$(call have,get_extended_features,virtio_config.h) += VIRTIO_EXTENDED_FEATURES
# 6.18: transports may bring map operations of their own (vduse)
compat-$(call have,virtio_map_ops,virtio_config.h)	+= VIRTIO_MAP_OPS
# 6.12: the IOMMU's DMA code is called by a flag of the device, not through dma_ops
compat-$(call have,use_dma_iommu,iommu-dma.h)		+= DEV_DMA_IOMMU
# 7.2: such flags of a device moved from bit fields to accessors
compat-$(call have,DEV_FLAG_DMA_IOMMU,device.h)		+= DEV_FLAG_ACCESSORS
# 6.0: SWIOTLB locks moved out of struct io_tlb_mem, so that it can be copied
compat-$(call have,areas,swiotlb.h)			+= SWIOTLB_AREAS
# a pool counts its own use, see swiotlb_detach()
compat-$(call have,total_used,swiotlb.h)		+= SWIOTLB_TOTAL_USED
# 6.9: block devices are opened as files
compat-$(call have,bdev_file_open_by_dev,blkdev.h)	+= BDEV_FILE
# 5.18: the opener count of a disk has an accessor
compat-$(call have,disk_openers,blkdev.h)		+= DISK_OPENERS

ccflags-y += $(addprefix -DVDMA_HAVE_,$(compat-y))
