// SPDX-License-Identifier: GPL-2.0
/* /sys/bus/virtio/devices/virtioN/dma/ */
#include <linux/kobject.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "device.h"
#include "rebind.h"

static struct vdma_device *to_vd(struct kobject *kobj)
{
	return container_of(kobj, struct vdma_device, kobj);
}

static const char *path_text(const struct vdma_device *vd)
{
	switch (vd->state) {
	case VDMA_ATTACHED:
	case VDMA_REFUSED:
		return vdma_path_name(vd->decision.path);
	case VDMA_STOCK:
		return vdma_path_name(VIRTIO_DMA_OFF);
	default:
		return vdma_path_name(vd->choice);
	}
}

static const char *state_text(const struct vdma_device *vd)
{
	switch (vd->state) {
	case VDMA_ATTACHED:
		return vd->exempt ? "exempt" : "attached";
	case VDMA_REFUSED:
		return "refused";
	case VDMA_STOCK:
		return "stock";
	default:
		return "unbound";
	}
}

static ssize_t path_show(struct kobject *kobj, struct kobj_attribute *attr,
			 char *buf)
{
	struct vdma_device *vd = to_vd(kobj);
	ssize_t len;

	mutex_lock(&vd->lock);
	len = sysfs_emit(buf, "%s\n", path_text(vd));
	mutex_unlock(&vd->lock);
	return len;
}

/*
 * Rebinding raises events on the bus, and so does taking the device away, which
 * waits for the users of this file: so the file is let go of meanwhile, and what
 * is worked on is held by references. Unloading is kept out: what it waits for
 * would wait for us.
 */
static int choose_unprotected(struct vdma_device *vd, struct attribute *attr,
			      enum virtio_dma_path path)
{
	struct device *dev = get_device(&vd->vdev->dev);
	struct kernfs_node *file;
	int err = -ENODEV;

	if (!try_module_get(THIS_MODULE))
		goto put_device;
	kobject_get(&vd->kobj);
	file = sysfs_break_active_protection(&vd->kobj, attr);
	if (file) {
		err = vdma_choose(vd, path);
		sysfs_unbreak_active_protection(file);
	}
	kobject_put(&vd->kobj);
	module_put(THIS_MODULE);
put_device:
	put_device(dev);
	return err;
}

static ssize_t path_store(struct kobject *kobj, struct kobj_attribute *attr,
			  const char *buf, size_t len)
{
	struct vdma_device *vd = to_vd(kobj);
	enum virtio_dma_path path = vdma_path_by_name(buf, strcspn(buf, "\n"));
	int err;

	if (path == VIRTIO_DMA_PATHS) {
		dev_err(&vd->vdev->dev, "virtio_dma: unknown path; use off, direct, platform, swiotlb, bounce or auto\n");
		return -EINVAL;
	}
	err = choose_unprotected(vd, &attr->attr, path);
	return err ?: len;
}

static ssize_t state_show(struct kobject *kobj, struct kobj_attribute *attr,
			  char *buf)
{
	struct vdma_device *vd = to_vd(kobj);
	ssize_t len;

	mutex_lock(&vd->lock);
	len = sysfs_emit(buf, "%s\n", state_text(vd));
	mutex_unlock(&vd->lock);
	return len;
}

static ssize_t reason_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	struct vdma_device *vd = to_vd(kobj);
	ssize_t len;

	mutex_lock(&vd->lock);
	if (vd->state == VDMA_UNBOUND)
		len = sysfs_emit(buf, "no driver is bound\n");
	else if (vd->exempt)
		len = sysfs_emit(buf, "the driver turned VIRTIO_F_ACCESS_PLATFORM down\n");
	else if (vd->decision.reason == VDMA_BY_HOOK)
		len = sysfs_emit(buf, "hook %s\n", vd->decision.hook_name);
	else
		len = sysfs_emit(buf, "%s\n", vdma_reason_text(vd->decision.reason));
	mutex_unlock(&vd->lock);
	return len;
}

static ssize_t refused_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *buf)
{
	struct vdma_device *vd = to_vd(kobj);
	ssize_t len;

	mutex_lock(&vd->lock);
	len = sysfs_emit(buf, "%s\n", vd->state == VDMA_REFUSED ?
			 vd->decision.refused : "");
	mutex_unlock(&vd->lock);
	return len;
}

static ssize_t offered_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *buf)
{
	struct vdma_device *vd = to_vd(kobj);
	ssize_t len;

	mutex_lock(&vd->lock);
	len = sysfs_emit(buf, "%s\n", !vd->asked ? "unknown" :
			 vdma_offered(&vd->decision) ? "yes" : "no");
	mutex_unlock(&vd->lock);
	return len;
}

/**
 * struct counter_attribute - a file that shows one counter
 * @attr: the file
 * @offset: where the counter is in struct vdma_stats
 */
struct counter_attribute {
	struct kobj_attribute attr;
	size_t offset;
};

static u64 counter_of(struct vdma_stats *stats, size_t offset)
{
	return *(u64 *)((void *)stats + offset);
}

static ssize_t counter_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *buf)
{
	struct counter_attribute *counter =
		container_of(attr, struct counter_attribute, attr);
	struct vdma_device *vd = to_vd(kobj);
	struct vdma_stats sum;
	u64 base;

	mutex_lock(&vd->lock);
	base = counter_of(&vd->stats_base, counter->offset);
	mutex_unlock(&vd->lock);
	vdma_stats_sum(vd, &sum);
	return sysfs_emit(buf, "%llu\n", counter_of(&sum, counter->offset) - base);
}

#define COUNTER(field) { \
	.attr = __ATTR(field, 0444, counter_show, NULL), \
	.offset = offsetof(struct vdma_stats, field), \
}

static struct counter_attribute maps = COUNTER(maps);
static struct counter_attribute unmaps = COUNTER(unmaps);
static struct counter_attribute map_bytes = COUNTER(map_bytes);
static struct counter_attribute map_failures = COUNTER(map_failures);
static struct counter_attribute failures_too_large = COUNTER(failures_too_large);
static struct counter_attribute failures_full = COUNTER(failures_full);
static struct counter_attribute failures_over_share = COUNTER(failures_over_share);
static struct counter_attribute bounced_to_device = COUNTER(bounced_to_device);
static struct counter_attribute bounced_from_device = COUNTER(bounced_from_device);
static struct counter_attribute allocs = COUNTER(allocs);
static struct counter_attribute frees = COUNTER(frees);

/* The counters themselves are written without a lock: reset moves their zero. */
static ssize_t reset_store(struct kobject *kobj, struct kobj_attribute *attr,
			   const char *buf, size_t len)
{
	struct vdma_device *vd = to_vd(kobj);
	struct vdma_stats sum;
	bool yes;

	if (kstrtobool(buf, &yes) || !yes)
		return -EINVAL;
	mutex_lock(&vd->lock);
	vdma_stats_sum(vd, &sum);
	vd->stats_base = sum;
	if (vd->path == &vdma_path_bounce)
		WRITE_ONCE(vd->pool_user.most, 0);
	mutex_unlock(&vd->lock);
	return len;
}

static ssize_t pool_used_show(struct kobject *kobj, struct kobj_attribute *attr,
			      char *buf)
{
	struct vdma_device *vd = to_vd(kobj);
	u64 used = 0;

	mutex_lock(&vd->lock);
	if (vd->path == &vdma_path_bounce)
		used = vdma_pool_user_used(&vd->pool_user);
	mutex_unlock(&vd->lock);
	return sysfs_emit(buf, "%llu\n", used);
}

static ssize_t pool_most_show(struct kobject *kobj, struct kobj_attribute *attr,
			      char *buf)
{
	struct vdma_device *vd = to_vd(kobj);

	return sysfs_emit(buf, "%llu\n", vdma_pool_user_most(&vd->pool_user));
}

static struct kobj_attribute reset_attr = __ATTR_WO(reset);
static struct kobj_attribute pool_used_attr = __ATTR_RO(pool_used);
static struct kobj_attribute pool_most_attr = __ATTR_RO(pool_most);
static struct kobj_attribute path_attr = __ATTR_RW(path);
static struct kobj_attribute state_attr = __ATTR_RO(state);
static struct kobj_attribute reason_attr = __ATTR_RO(reason);
static struct kobj_attribute refused_attr = __ATTR_RO(refused);
static struct kobj_attribute offered_attr = __ATTR_RO(offered);

static struct attribute *vdma_sysfs_attrs[] = {
	&path_attr.attr,
	&state_attr.attr,
	&reason_attr.attr,
	&refused_attr.attr,
	&offered_attr.attr,
	&maps.attr.attr,
	&unmaps.attr.attr,
	&map_bytes.attr.attr,
	&map_failures.attr.attr,
	&failures_too_large.attr.attr,
	&failures_full.attr.attr,
	&failures_over_share.attr.attr,
	&bounced_to_device.attr.attr,
	&bounced_from_device.attr.attr,
	&allocs.attr.attr,
	&frees.attr.attr,
	&pool_used_attr.attr,
	&pool_most_attr.attr,
	&reset_attr.attr,
	NULL
};

static const struct attribute_group vdma_sysfs_group = {
	.attrs = vdma_sysfs_attrs,
};

const struct attribute_group *vdma_sysfs_groups[] = {
	&vdma_sysfs_group,
	NULL
};
