// SPDX-License-Identifier: GPL-2.0
/* Life and death of what the module keeps for each virtio device. */
#include <linux/atomic.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <linux/wait.h>

#include "attach.h"
#include "device.h"

struct workqueue_struct *vdma_workqueue;

/* Guards @devices. A leaf. */
static DEFINE_MUTEX(devices_lock);
static LIST_HEAD(devices);

/* Devices not freed yet, for vdma_devices_drop_all() to wait for. */
static atomic_t devices_alive;
static DECLARE_WAIT_QUEUE_HEAD(devices_gone);

/*
 * A CPU can still be inside the wrapped config operations (sysfs reads a
 * device's status without a lock) or on its way out of a DMA operation. Both
 * waits are needed: one covers interrupts and softirqs, the other tasks.
 */
static void free_device(struct work_struct *work)
{
	struct vdma_device *vd = container_of(work, struct vdma_device, free_work);

	cancel_work_sync(&vd->linger_work);
	synchronize_rcu();
	synchronize_rcu_tasks();

	put_device(vd->dma_dev);
	free_percpu(vd->stats);
	kfree(vd);
	if (atomic_dec_and_test(&devices_alive))
		wake_up(&devices_gone);
}

static void release_device(struct kobject *kobj)
{
	struct vdma_device *vd = container_of(kobj, struct vdma_device, kobj);

	queue_work(vdma_workqueue, &vd->free_work);
}

static const struct kobj_type device_ktype = {
	.release = release_device,
	.sysfs_ops = &kobj_sysfs_ops,
	.default_groups = vdma_sysfs_groups,
};

static struct vdma_device *alloc_device(struct virtio_device *vdev)
{
	struct vdma_device *vd = kzalloc(sizeof(*vd), GFP_KERNEL);

	if (!vd)
		return NULL;
	vd->stats = alloc_percpu(struct vdma_stats);
	if (!vd->stats) {
		kfree(vd);
		return NULL;
	}
	INIT_LIST_HEAD(&vd->node);
	INIT_WORK(&vd->free_work, free_device);
	INIT_WORK(&vd->linger_work, vdma_linger_work);
	mutex_init(&vd->lock);
	mutex_init(&vd->rebinding);
	vd->vdev = vdev;
	vd->dma_dev = get_device(vdev->dev.parent);
	vd->type = vdma_type_by_id(vdev->id.device);
	vd->stock_config = vdev->config;
	atomic_inc(&devices_alive);
	return vd;
}

static struct vdma_device *find_locked(struct virtio_device *vdev)
{
	struct vdma_device *vd;

	lockdep_assert_held(&devices_lock);
	list_for_each_entry(vd, &devices, node)
		if (vd->vdev == vdev)
			return vd;
	return NULL;
}

/**
 * vdma_device_find() - find what is kept for a virtio device
 * @vdev: the device
 *
 * Context: may sleep. The result lives until BUS_NOTIFY_REMOVED_DEVICE of @vdev
 * has been handled, which the caller must know not to have come.
 * Return: the device, or NULL.
 */
struct vdma_device *vdma_device_find(struct virtio_device *vdev)
{
	struct vdma_device *vd;

	mutex_lock(&devices_lock);
	vd = find_locked(vdev);
	mutex_unlock(&devices_lock);
	return vd;
}

/**
 * vdma_device_add() - begin to keep track of a virtio device
 * @vdev: the device, visible in sysfs
 *
 * Context: may sleep.
 * Return: 0, also when the device is known already; -ENOMEM or an error of
 * sysfs.
 */
int vdma_device_add(struct virtio_device *vdev)
{
	struct vdma_device *vd;
	int err = 0;

	mutex_lock(&devices_lock);
	if (find_locked(vdev))
		goto unlock;

	vd = alloc_device(vdev);
	if (!vd) {
		err = -ENOMEM;
		goto unlock;
	}
	/* the cast is for kernels before 6.2, which take no const type */
	err = kobject_init_and_add(&vd->kobj, (void *)&device_ktype,
				   &vdev->dev.kobj, "dma");
	if (err) {
		kobject_put(&vd->kobj);
		goto unlock;
	}
	list_add(&vd->node, &devices);
unlock:
	mutex_unlock(&devices_lock);
	return err;
}

/**
 * vdma_device_unpublish() - take a device's directory out of sysfs
 * @vd: the device
 *
 * Context: may sleep; waits for readers and writers of its files, so none of
 * the locks that they take may be held.
 */
void vdma_device_unpublish(struct vdma_device *vd)
{
	kobject_del(&vd->kobj);
}

/**
 * vdma_device_drop() - stop keeping track of a virtio device
 * @vd: the device, unpublished; freed when its last mapping is gone
 *
 * Context: may sleep.
 */
void vdma_device_drop(struct vdma_device *vd)
{
	mutex_lock(&devices_lock);
	list_del_init(&vd->node);
	mutex_unlock(&devices_lock);
	kobject_put(&vd->kobj);
}

/**
 * vdma_devices_drop_all() - drop all devices and wait until they are freed
 *
 * Context: may sleep; at module exit, with the bus notifier unregistered and no
 * device attached.
 */
void vdma_devices_drop_all(void)
{
	struct vdma_device *vd, *next;

	list_for_each_entry_safe(vd, next, &devices, node) {
		vdma_device_unpublish(vd);
		vdma_device_drop(vd);
	}
	wait_event(devices_gone, !atomic_read(&devices_alive));
}

/**
 * vdma_stats_sum() - add up the counters of a device
 * @vd: the device
 * @sum: the sums; consistent with each other only while no operation runs
 *
 * Context: any.
 */
void vdma_stats_sum(const struct vdma_device *vd, struct vdma_stats *sum)
{
	int cpu;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		const struct vdma_stats *one = per_cpu_ptr(vd->stats, cpu);

		sum->maps += READ_ONCE(one->maps);
		sum->unmaps += READ_ONCE(one->unmaps);
		sum->map_bytes += READ_ONCE(one->map_bytes);
		sum->map_failures += READ_ONCE(one->map_failures);
		sum->allocs += READ_ONCE(one->allocs);
		sum->frees += READ_ONCE(one->frees);
	}
}
