// SPDX-License-Identifier: GPL-2.0
/* Putting a path into force for a device, and taking it back. */
#include <linux/cc_platform.h>
#include <linux/iommu.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/rcupdate.h>
#include <xen/xen.h>

#include "attach.h"
#include "device.h"
#include "features.h"
#include "rules.h"

struct vdma_rules vdma_rules;

/* the platform's own operations stay in charge: nothing to do */
const struct vdma_path vdma_path_platform = {
	.keeps_platform = true,
};

static const struct vdma_path *path_of(enum virtio_dma_path path)
{
	switch (path) {
	case VIRTIO_DMA_DIRECT:
		return &vdma_path_direct;
	case VIRTIO_DMA_PLATFORM:
		return &vdma_path_platform;
	case VIRTIO_DMA_SWIOTLB:
		return &vdma_path_swiotlb;
	default:
		return NULL;
	}
}

/* By name: the drivers of the two transports export nothing to compare with. */
static bool transport_known(struct vdma_device *vd)
{
	const struct device_driver *drv = vd->dma_dev->driver;
	const char *name = drv ? drv->name : "";

	if (vdma_has_map_ops(vd->vdev))
		return false;
	if (dev_is_pci(vd->dma_dev))
		return !strcmp(name, "virtio-pci");
	return !strcmp(name, "virtio-mmio");
}

/*
 * DMA operations without an IOMMU domain belong to the platform (Xen, GART,
 * VMD, old powerpc IOMMUs): what addresses they make is not known here, so they
 * count as translating.
 */
static enum vdma_domain domain_of(struct vdma_device *vd)
{
	struct iommu_domain *domain = iommu_get_domain_for_dev(vd->dma_dev);
	const struct dma_map_ops *ops;

	if (domain)
		return domain->type == IOMMU_DOMAIN_IDENTITY ?
			VDMA_DOMAIN_IDENTITY : VDMA_DOMAIN_TRANSLATED;
	ops = vd->path && !vd->path->keeps_platform ? vd->saved.ops :
						      get_dma_ops(vd->dma_dev);
	return ops ? VDMA_DOMAIN_TRANSLATED : VDMA_DOMAIN_NONE;
}

static struct vdma_decision decide(struct vdma_device *vd,
				   enum virtio_dma_path choice)
{
	const struct vdma_names names = {
		.type = vd->type->name,
		.device = dev_name(vd->dma_dev),
		.virtio = dev_name(&vd->vdev->dev),
	};
	struct vdma_facts facts = {
		.routing = vd->type->routing,
		.transport_known = transport_known(vd),
		.xen = xen_domain(),
		.coherent = dev_is_dma_coherent(vd->dma_dev),
		.encrypted = cc_platform_has(CC_ATTR_GUEST_MEM_ENCRYPT),
		.domain = domain_of(vd),
		.rule = choice,
		.rule_reason = VDMA_BY_SYSFS,
	};
	const struct vdma_path *path;
	struct vdma_decision d;

	lockdep_assert_held(&vd->lock);
	vd->offered = vdma_device_features(vd->vdev, vd->stock_config) &
		      BIT_ULL(VIRTIO_F_ACCESS_PLATFORM);
	vd->asked = true;
	facts.offered = vd->offered;
	if (choice == VIRTIO_DMA_AUTO)
		facts.rule = vdma_rules_lookup(&vdma_rules, &names,
					       &facts.rule_reason);
	facts.hook = vdma_hook_ask(vd->vdev, vd->offered, vd->hook_name);

	d = vdma_decide(&facts);
	path = path_of(d.path);
	if (!d.refused && path && path->unavailable)
		d.refused = path->unavailable(vd);
	return d;
}

/**
 * vdma_would_refuse() - would a choice be refused for this device?
 * @vd: the device
 * @choice: the choice
 *
 * Context: may sleep; device lock of the virtio device held.
 * Return: why it would be refused, as a sentence for the user, or NULL.
 */
const char *vdma_would_refuse(struct vdma_device *vd, enum virtio_dma_path choice)
{
	struct vdma_decision d;

	mutex_lock(&vd->lock);
	d = decide(vd, choice);
	mutex_unlock(&vd->lock);
	return d.refused;
}

/*
 * The kernel remembers from the last dma_set_mask() whether syncs may be left
 * out (6.10 on); that answer belongs to the operations of that time.
 */
static int refresh_need_sync(struct device *dev)
{
	return dma_set_mask(dev, dma_get_mask(dev));
}

static void restore_dma_dev(struct vdma_device *vd)
{
	struct device *dev = vd->dma_dev;

	if (vd->path->detach)
		vd->path->detach(vd);
	vdma_dev_assign_ops_bypass(dev, vd->saved.ops_bypass);
	vdma_dev_assign_dma_iommu(dev, vd->saved.dma_iommu);
	set_dma_ops(dev, vd->saved.ops);
	if (refresh_need_sync(dev))
		dev_warn(dev, "virtio_dma: the DMA mask was not accepted again after detaching\n");
}

static int change_dma_dev(struct vdma_device *vd)
{
	struct device *dev = vd->dma_dev;

	vd->saved.ops = dev->dma_ops;
	vd->saved.dma_iommu = vdma_dev_dma_iommu(dev);
	vd->saved.ops_bypass = vdma_dev_ops_bypass(dev);

	set_dma_ops(dev, NULL);
	vdma_dev_assign_dma_iommu(dev, false);
	vdma_dev_assign_ops_bypass(dev, false);
	if (vd->path->attach)
		vd->path->attach(vd);
	if (vd->path->ops) {
		vd->ops = *vd->path->ops;
		set_dma_ops(dev, &vd->ops);
	}
	return refresh_need_sync(dev);
}

static const char *put_path_into_force(struct vdma_device *vd)
{
	const struct vdma_path *path = path_of(vd->decision.path);

	vd->path = path;
	if (path->keeps_platform)
		return NULL;
	if (!change_dma_dev(vd))
		return NULL;
	restore_dma_dev(vd);
	vd->path = NULL;
	return "the device's DMA mask is not possible on this path; choose another path";
}

static bool mappings_left(const struct vdma_device *vd)
{
	struct vdma_stats sum;

	vdma_stats_sum(vd, &sum);
	return sum.maps + sum.allocs != sum.unmaps + sum.frees;
}

static void take_path_out_of_force(struct vdma_device *vd)
{
	if (!vd->path->keeps_platform)
		restore_dma_dev(vd);
	vd->path = NULL;
}

/*
 * Mappings can outlive the driver (the network stack may hold pages of a page
 * pool). They keep the operations, this structure and the module until they
 * are gone; the last unmap queues the work that looks again.
 */
static void begin_lingering(struct vdma_device *vd)
{
	kobject_get(&vd->kobj);
	WRITE_ONCE(vd->lingering, true);
	/* an unmap that has not seen @lingering has been counted after this */
	synchronize_rcu();
	queue_work(vdma_workqueue, &vd->linger_work);
}

static void end_lingering(struct vdma_device *vd)
{
	WRITE_ONCE(vd->lingering, false);
	kobject_put(&vd->kobj);
	module_put(THIS_MODULE);
}

/**
 * vdma_linger_work() - detach for good when the last mapping is gone
 * @work: linger_work of the device
 *
 * Context: the module's work queue.
 */
void vdma_linger_work(struct work_struct *work)
{
	struct vdma_device *vd = container_of(work, struct vdma_device, linger_work);
	bool over;

	mutex_lock(&vd->lock);
	over = vd->lingering && !mappings_left(vd);
	if (over)
		take_path_out_of_force(vd);
	mutex_unlock(&vd->lock);
	if (over)
		end_lingering(vd);
}

/* Called with mappings of an earlier driver left, or not: sees to it that @vd->path is free. */
static const char *settle_lingering(struct vdma_device *vd)
{
	if (!vd->lingering)
		return NULL;
	if (mappings_left(vd))
		return "buffers of the previous driver are still mapped; try again later";
	take_path_out_of_force(vd);
	end_lingering(vd);
	return NULL;
}

/**
 * vdma_attach() - choose a path for a device and put it into force
 * @vd: the device; a driver is about to be bound
 *
 * A notifier cannot veto a driver, so a refusal takes effect a moment later, in
 * the wrapped finalize_features(), which fails the probe.
 *
 * Context: may sleep; device lock of the virtio device held.
 */
void vdma_attach(struct vdma_device *vd)
{
	struct device *dev = &vd->vdev->dev;
	struct vdma_decision *d = &vd->decision;

	mutex_lock(&vd->lock);
	vd->exempt = false;
	*d = decide(vd, vd->choice);
	vd->state = VDMA_STOCK;
	if (d->path == VIRTIO_DMA_OFF)
		goto unlock;
	/* fails while the module is being unloaded: as if it were gone already */
	if (!try_module_get(THIS_MODULE))
		goto unlock;

	if (!d->refused)
		d->refused = settle_lingering(vd);
	if (!d->refused)
		d->refused = put_path_into_force(vd);
	vd->state = d->refused ? VDMA_REFUSED : VDMA_ATTACHED;
	vdma_wrap_config(vd);

	if (d->refused)
		dev_err(dev, "virtio_dma: path %s refused: %s\n",
			vdma_path_name(d->path), d->refused);
	else
		dev_info(dev, "virtio_dma: path %s (%s)\n",
			 vdma_path_name(d->path), vdma_reason_text(d->reason));
unlock:
	mutex_unlock(&vd->lock);
}

/*
 * The probe that we failed has left the device half initialized. It must be
 * reset before another attempt (VIRTIO 1.3, 3.1.1); the core does that only when
 * a device is registered or a driver removed.
 */
static void reset_refused(struct vdma_device *vd)
{
	vd->stock_config->reset(vd->vdev);
	virtio_add_status(vd->vdev, VIRTIO_CONFIG_S_ACKNOWLEDGE);
}

/**
 * vdma_detach() - take a device's path out of force
 * @vd: the device; its driver is gone, or has not come to be bound
 *
 * Context: may sleep; device lock of the virtio device held.
 */
void vdma_detach(struct vdma_device *vd)
{
	bool linger = false;

	mutex_lock(&vd->lock);
	if (vd->state != VDMA_ATTACHED && vd->state != VDMA_REFUSED) {
		vd->state = VDMA_UNBOUND;
		mutex_unlock(&vd->lock);
		return;
	}

	vdma_unwrap_config(vd);
	if (vd->state == VDMA_REFUSED) {
		/* stays refused, for the user to see, until the next attempt */
		reset_refused(vd);
	} else {
		vd->state = VDMA_UNBOUND;
		linger = mappings_left(vd);
		if (linger)
			begin_lingering(vd);
		else
			take_path_out_of_force(vd);
	}
	mutex_unlock(&vd->lock);
	if (!linger)
		module_put(THIS_MODULE);
}
