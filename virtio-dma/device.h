/* SPDX-License-Identifier: GPL-2.0 */
/* What the module keeps for each virtio device. */
#ifndef _VDMA_DEVICE_H
#define _VDMA_DEVICE_H

#include <linux/dma-map-ops.h>
#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/ratelimit.h>
#include <linux/virtio.h>
#include <linux/virtio_config.h>
#include <linux/workqueue.h>

#include "compat/compat.h"
#include "hook.h"
#include "path.h"
#include "policy.h"
#include "pool.h"

/**
 * struct vdma_stats - what our operations did for one device, on one CPU
 * @maps: buffers mapped, each entry of a scatterlist for itself
 * @unmaps: buffers unmapped
 * @map_bytes: bytes in @maps
 * @map_failures: buffers that could not be mapped, and memory not allocated
 * @failures_too_large: those of them that the path could never map
 * @failures_full: those of them that found the pool full
 * @failures_over_share: those of them that found the device to have its share
 * @bounced_to_device: bytes copied into the pool
 * @bounced_from_device: bytes copied out of the pool
 * @allocs: pieces of coherent memory allocated
 * @frees: pieces of coherent memory freed
 *
 * On 32 bit machines a reader may see a torn value.
 */
struct vdma_stats {
	u64 maps;
	u64 unmaps;
	u64 map_bytes;
	u64 map_failures;
	u64 failures_too_large;
	u64 failures_full;
	u64 failures_over_share;
	u64 bounced_to_device;
	u64 bounced_from_device;
	u64 allocs;
	u64 frees;
};

/**
 * struct vdma_saved - what attaching changes in the DMA device
 * @ops: its DMA operations
 * @dma_iommu: the IOMMU's DMA code is asked before @ops
 * @ops_bypass: @ops are passed over (powerpc)
 */
struct vdma_saved {
	const struct dma_map_ops *ops;
	bool dma_iommu;
	bool ops_bypass;
};

/**
 * enum vdma_state - how far the module is with a device
 * @VDMA_UNBOUND: no driver
 * @VDMA_STOCK: a driver is bound that runs as the unmodified kernel has it
 * @VDMA_ATTACHED: a driver is bound, or being bound, over the chosen path
 * @VDMA_REFUSED: the path was refused, and so was the driver; stays until the
 *	next attempt
 */
enum vdma_state {
	VDMA_UNBOUND,
	VDMA_STOCK,
	VDMA_ATTACHED,
	VDMA_REFUSED,
};

/**
 * struct vdma_device - one virtio device
 * @kobj: its directory ``dma`` in sysfs; owns this structure
 * @node: entry in the list of devices
 * @free_work: frees this structure when no CPU can be inside it
 * @vdev: the device; valid until BUS_NOTIFY_REMOVED_DEVICE
 * @dma_dev: the device that does the DMA, parent of @vdev; referenced
 * @type: what is known of its type
 * @stats: counters, written without a lock by the operations in @ops
 * @rebinding: held while a write to sysfs rebinds the driver; taken outside the
 *	device lock of @vdev
 * @lock: guards all that follows; taken inside the device lock of @vdev, outside
 *	the locks of hook and pool. What the wrapped config operations and the
 *	operations in @ops read does not change while a driver is bound.
 * @config: the transport's operations, some of them wrapped; @vdev's while @held
 * @stock_config: the transport's operations
 * @held: a driver is bound or being bound with @config; counts as a user of the
 *	module
 * @gone: the device is going away, and must not be asked anything
 * @choice: the user's choice through sysfs, VIRTIO_DMA_AUTO if there is none
 * @state: how far we are
 * @decision: what was decided when a driver was last bound
 * @asked: a driver was bound before, @decision is valid
 * @exempt: the driver has turned VIRTIO_F_ACCESS_PLATFORM down
 * @path: the path in force, NULL if none is
 * @ops: its operations, which @dma_dev points to
 * @saved: what is to be restored in @dma_dev
 * @required_mask: the DMA mask that covers all that the path hands out
 * @limits: limits of requests that the path puts on the device
 * @pool_user: the device as a user of the bounce pool (path bounce)
 * @report_limit: not every failure is reported (path bounce)
 * @fill: what bounce buffers hold before the device writes to them
 * @stats_base: what the counters were when they were last reset
 * @io_tlb_mem: copy of the kernel's SWIOTLB that always bounces (path swiotlb)
 * @stock_io_tlb_mem: the kernel's SWIOTLB, to be restored
 */
struct vdma_device {
	struct kobject kobj;
	struct list_head node;
	struct work_struct free_work;
	struct virtio_device *vdev;
	struct device *dma_dev;
	const struct vdma_type *type;
	struct vdma_stats __percpu *stats;
	struct mutex rebinding;	/* see above */

	struct mutex lock;	/* see above */
	struct virtio_config_ops config;
	const struct virtio_config_ops *stock_config;
	bool held;
	bool gone;
	enum virtio_dma_path choice;
	enum vdma_state state;
	struct vdma_decision decision;
	bool asked;
	bool exempt;

	const struct vdma_path *path;
	struct dma_map_ops ops;
	struct vdma_saved saved;
	u64 required_mask;
	struct vdma_limits limits;
	struct vdma_pool_user pool_user;
	struct ratelimit_state report_limit;
	enum vdma_fill fill;
	struct vdma_stats stats_base;
#ifdef VDMA_SWIOTLB_COPYABLE
	struct io_tlb_mem io_tlb_mem;
	struct io_tlb_mem *stock_io_tlb_mem;
#endif
};

static inline struct vdma_device *vdma_from_config(struct virtio_device *vdev)
{
	return container_of(vdev->config, struct vdma_device, config);
}

int vdma_devices_init(void);
void vdma_devices_exit(void);
int vdma_device_add(struct virtio_device *vdev);
struct vdma_device *vdma_device_find(struct virtio_device *vdev);
void vdma_device_put(struct vdma_device *vd);
void vdma_device_unpublish(struct vdma_device *vd);
void vdma_device_drop(struct virtio_device *vdev);
void vdma_stats_sum(const struct vdma_device *vd, struct vdma_stats *sum);

extern const struct attribute_group *vdma_sysfs_groups[];

#endif /* _VDMA_DEVICE_H */
