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
	case VIRTIO_DMA_BOUNCE:
		return &vdma_path_bounce;
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

/*
 * Some platforms (Arm CCA, powerpc's Ultravisor) only say that memory is
 * encrypted, which on bare metal may be a matter between host and DIMMs.
 */
static bool memory_is_encrypted(void)
{
	return cc_platform_has(CC_ATTR_GUEST_MEM_ENCRYPT) ||
	       (cc_platform_has(CC_ATTR_MEM_ENCRYPT) &&
		!cc_platform_has(CC_ATTR_HOST_MEM_ENCRYPT));
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
		.type = vd->type,
		.transport_known = transport_known(vd),
		.xen = xen_domain(),
		.features = vdma_device_features(vd->vdev, vd->stock_config),
		.coherent = dev_is_dma_coherent(vd->dma_dev),
		.offset = vd->dma_dev->dma_range_map,
		.encrypted = memory_is_encrypted(),
		.domain = domain_of(vd),
		.rule = choice,
		.rule_reason = VDMA_BY_SYSFS,
	};
	const struct vdma_path *path;
	struct vdma_decision d;

	lockdep_assert_held(&vd->lock);
	if (choice == VIRTIO_DMA_AUTO)
		facts.rule = vdma_rules_lookup(&vdma_rules, &names,
					       &facts.rule_reason);
	if (vdma_asks_hook(&facts))
		facts.hook = vdma_hook_ask(vd->vdev, facts.features &
					   BIT_ULL(VIRTIO_F_ACCESS_PLATFORM),
					   facts.hook_name);

	d = vdma_decide(&facts);
	path = path_of(d.path);
	if (!d.refused && path && path->unavailable)
		d.refused = path->unavailable(vd);
	return d;
}

/**
 * vdma_check_choice() - may a choice be made for this device?
 * @vd: the device
 * @choice: the choice
 *
 * Context: may sleep; device lock of the virtio device held.
 * Return: 0; -EOPNOTSUPP if the path would be refused, with the reason in the
 * log; -ENODEV if the device is going away.
 */
int vdma_check_choice(struct vdma_device *vd, enum virtio_dma_path choice)
{
	struct vdma_decision d;
	int err = -ENODEV;

	mutex_lock(&vd->lock);
	/* its registers may be gone in a moment, but not while the lock is held */
	if (!vd->gone) {
		d = decide(vd, choice);
		err = d.refused ? -EOPNOTSUPP : 0;
	}
	mutex_unlock(&vd->lock);
	if (err == -EOPNOTSUPP)
		dev_err(&vd->vdev->dev, "virtio_dma: path %s refused: %s\n",
			vdma_path_name(choice), d.refused);
	return err;
}

/**
 * vdma_forsake() - ask nothing more of a device that is going away
 * @vd: the device; after this the transport may take its registers away
 *
 * Context: may sleep.
 */
void vdma_forsake(struct vdma_device *vd)
{
	mutex_lock(&vd->lock);
	vd->gone = true;
	mutex_unlock(&vd->lock);
}

/*
 * The kernel remembers from the last dma_set_mask() whether syncs may be left
 * out (6.10 on); that answer belongs to the operations of that time.
 */
static int refresh_need_sync(struct device *dev)
{
	return dma_set_mask(dev, dma_get_mask(dev));
}

static const char mask_not_possible[] =
	"the device's DMA mask is not possible on this path: choose another path";

static void restore_dma_dev(struct vdma_device *vd)
{
	struct device *dev = vd->dma_dev;

	vdma_dev_assign_ops_bypass(dev, vd->saved.ops_bypass);
	vdma_dev_assign_dma_iommu(dev, vd->saved.dma_iommu);
	set_dma_ops(dev, vd->saved.ops);
	if (refresh_need_sync(dev))
		dev_warn(dev, "virtio_dma: the DMA mask was not accepted again after detaching\n");
}

static void clear_dma_dev(struct vdma_device *vd)
{
	struct device *dev = vd->dma_dev;

	vd->saved.ops = dev->dma_ops;
	vd->saved.dma_iommu = vdma_dev_dma_iommu(dev);
	vd->saved.ops_bypass = vdma_dev_ops_bypass(dev);
	set_dma_ops(dev, NULL);
	vdma_dev_assign_dma_iommu(dev, false);
	vdma_dev_assign_ops_bypass(dev, false);
}

static const char *put_path_into_force(struct vdma_device *vd)
{
	const struct vdma_path *path = path_of(vd->decision.path);
	const char *why = NULL;

	vd->limits = (struct vdma_limits){};
	if (path->keeps_platform)
		goto in_force;

	clear_dma_dev(vd);
	if (path->attach)
		why = path->attach(vd);
	if (why) {
		restore_dma_dev(vd);
		return why;
	}
	if (path->ops) {
		vd->ops = *path->ops;
		set_dma_ops(vd->dma_dev, &vd->ops);
	}
	if (refresh_need_sync(vd->dma_dev)) {
		why = mask_not_possible;
		goto err_detach;
	}
in_force:
	vd->path = path;
	return NULL;

err_detach:
	restore_dma_dev(vd);
	if (path->detach)
		path->detach(vd);
	return why;
}

static bool mappings_left(const struct vdma_device *vd)
{
	struct vdma_stats sum;

	vdma_stats_sum(vd, &sum);
	return sum.maps + sum.allocs != sum.unmaps + sum.frees;
}

/*
 * The driver is gone and the device has been reset. Some stock drivers leave
 * mappings behind for good (virtio_input, virtio_scsi), or for a while
 * (virtio_gpu). They are given up here; a late unmap goes to the restored
 * operations, which, without an IOMMU, have nothing to do for it. One that has
 * just been let in is waited for.
 */
static void take_path_out_of_force(struct vdma_device *vd)
{
	const struct vdma_path *path = vd->path;

	vd->path = NULL;
	if (!path || path->keeps_platform)
		return;
	restore_dma_dev(vd);
	if (mappings_left(vd)) {
		synchronize_rcu();
		synchronize_rcu_tasks();
	}
	if (path->detach)
		path->detach(vd);
}

static void log_decision(struct vdma_device *vd)
{
	const struct vdma_decision *d = &vd->decision;
	struct device *dev = &vd->vdev->dev;

	if (d->refused)
		dev_err(dev, "virtio_dma: path %s refused: %s\n",
			vdma_path_name(d->path), d->refused);
	else
		dev_info(dev, "virtio_dma: path %s (%s)\n",
			 vdma_path_name(d->path), vdma_reason_text(d->reason));
}

/*
 * The probe that we failed has left the device half initialized. It must be
 * reset before another attempt (VIRTIO 1.3, 3.1.1); the core does that only when
 * a device is registered or a driver removed. One that has been pulled out
 * answers with all ones, and would never say that it has been reset.
 */
static void reset_refused(struct vdma_device *vd)
{
	if (vd->stock_config->get_status(vd->vdev) == 0xff)
		return;
	vd->stock_config->reset(vd->vdev);
	virtio_add_status(vd->vdev, VIRTIO_CONFIG_S_ACKNOWLEDGE);
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
	struct vdma_decision *d = &vd->decision;

	/* CONFIG_DEBUG_TEST_DRIVER_REMOVE binds twice without telling of the end */
	vdma_detach(vd);

	mutex_lock(&vd->lock);
	vd->exempt = false;
	*d = decide(vd, vd->choice);
	vd->asked = true;
	vd->state = VDMA_STOCK;
	if (d->path == VIRTIO_DMA_OFF)
		goto unlock;
	/* fails while the module is being unloaded: as if it were gone already */
	vd->held = try_module_get(THIS_MODULE);
	if (!vd->held)
		goto unlock;

	if (!d->refused)
		d->refused = put_path_into_force(vd);
	vd->state = d->refused ? VDMA_REFUSED : VDMA_ATTACHED;
	vdma_wrap_config(vd);
	log_decision(vd);
unlock:
	mutex_unlock(&vd->lock);
}

/**
 * vdma_detach() - take a device's path out of force
 * @vd: the device; its driver is gone, or has not come to be bound
 *
 * Context: may sleep; device lock of the virtio device held.
 */
void vdma_detach(struct vdma_device *vd)
{
	bool held;

	mutex_lock(&vd->lock);
	held = vd->held;
	if (held) {
		vdma_unwrap_config(vd);
		take_path_out_of_force(vd);
	}
	vd->held = false;
	if (vd->state != VDMA_REFUSED)
		vd->state = VDMA_UNBOUND;
	mutex_unlock(&vd->lock);

	if (!held)
		return;
	if (vd->state == VDMA_REFUSED)
		reset_refused(vd);
	module_put(THIS_MODULE);
}
