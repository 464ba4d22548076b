// SPDX-License-Identifier: GPL-2.0
/* Life and death of what the module keeps for each virtio device. */
#include <linux/atomic.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <linux/wait.h>

#include "device.h"

/* Frees devices; emptied before the module's code goes away. */
static struct workqueue_struct *free_queue;

/* Guards @devices and who owns the list's reference to each. A leaf. */
static DEFINE_MUTEX(devices_lock);
static LIST_HEAD(devices);

/* Devices not freed yet, for vdma_devices_exit() to wait for. */
static atomic_t devices_alive;
static DECLARE_WAIT_QUEUE_HEAD(devices_gone);

/*
 * A CPU can still be inside the wrapped config operations (sysfs reads a
 * device's status without a lock) or in a late unmap. Both waits are needed: one
 * covers interrupts and softirqs, the other tasks.
 */
static void free_device(struct work_struct *work)
{
	struct vdma_device *vd = container_of(work, struct vdma_device, free_work);

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

	queue_work(free_queue, &vd->free_work);
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
 * Context: may sleep.
 * Return: the device, to be put with vdma_device_put(), or NULL.
 */
struct vdma_device *vdma_device_find(struct virtio_device *vdev)
{
	struct vdma_device *vd;

	mutex_lock(&devices_lock);
	vd = find_locked(vdev);
	if (vd)
		kobject_get(&vd->kobj);
	mutex_unlock(&devices_lock);
	return vd;
}

/**
 * vdma_device_put() - drop a reference
 * @vd: the device, or NULL
 *
 * Context: any.
 */
void vdma_device_put(struct vdma_device *vd)
{
	if (vd)
		kobject_put(&vd->kobj);
}

/**
 * vdma_device_add() - begin to keep track of a virtio device
 * @vdev: the device, visible in sysfs
 *
 * Context: may sleep.
 * Return: 0, also when the device is known already; -ENODEV if no device does
 * its DMA, -ENOMEM, or an error of sysfs.
 */
int vdma_device_add(struct virtio_device *vdev)
{
	struct vdma_device *vd;
	int err = 0;

	if (!vdev->dev.parent)
		return -ENODEV;

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
 * @vd: the device; nothing happens if its directory is gone already
 *
 * Context: may sleep; waits for readers of its files, so none of the locks that
 * they take may be held.
 */
void vdma_device_unpublish(struct vdma_device *vd)
{
	if (vd->kobj.state_in_sysfs)
		kobject_del(&vd->kobj);
}

/**
 * vdma_device_drop() - stop keeping track of a virtio device
 * @vdev: the device; nothing happens if it is not known, or no more
 *
 * Context: as for vdma_device_unpublish().
 */
void vdma_device_drop(struct virtio_device *vdev)
{
	struct vdma_device *vd;

	mutex_lock(&devices_lock);
	vd = find_locked(vdev);
	if (vd)
		list_del_init(&vd->node);
	mutex_unlock(&devices_lock);
	if (!vd)
		return;
	vdma_device_unpublish(vd);
	vdma_device_put(vd);
}

/**
 * vdma_devices_init() - get ready to keep track of devices
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int vdma_devices_init(void)
{
	free_queue = alloc_workqueue(KBUILD_MODNAME, WQ_UNBOUND, 0);
	return free_queue ? 0 : -ENOMEM;
}

/**
 * vdma_devices_exit() - drop all devices, and wait until they are freed
 *
 * Context: may sleep; at module exit, with the bus notifier unregistered and no
 * device held.
 */
void vdma_devices_exit(void)
{
	struct vdma_device *vd;

	while ((vd = list_first_entry_or_null(&devices, struct vdma_device, node)))
		vdma_device_drop(vd->vdev);
	wait_event(devices_gone, !atomic_read(&devices_alive));
	destroy_workqueue(free_queue);
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
	u64 *to = (u64 *)sum;
	size_t i;
	int cpu;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		const u64 *from = (const u64 *)per_cpu_ptr(vd->stats, cpu);

		for (i = 0; i < sizeof(*sum) / sizeof(u64); i++)
			to[i] += READ_ONCE(from[i]);
	}
}
