// SPDX-License-Identifier: GPL-2.0
/*
 * The transport's config operations, wrapped.
 *
 * virtio_ring uses the DMA API exactly when the driver's feature word has
 * VIRTIO_F_ACCESS_PLATFORM. So the driver is shown that bit, and the device,
 * where it has not offered it, never sees it accepted.
 */
#include <linux/virtio_config.h>

#include "device.h"
#include "features.h"
#include "limits.h"

/* Bits that the driver is shown though the device may not offer them. */
static u64 added_features(const struct vdma_device *vd)
{
	u64 added = BIT_ULL(VIRTIO_F_ACCESS_PLATFORM);

	if (vd->limits.segment_size && vd->type->size_max_offset)
		added |= BIT_ULL(vd->type->size_max_feature);
	return added;
}

/*
 * When a map fails, virtio_ring says -ENOMEM for a split ring, and the driver
 * tries again. For a packed ring it says -EIO: virtio_blk makes an I/O error of
 * that, and virtio_net leaves its receive ring empty. So no packed rings where
 * maps can fail.
 */
static u64 shown_features(const struct vdma_device *vd, u64 features)
{
	if (vd->limits.maps_can_fail)
		features &= ~BIT_ULL(VIRTIO_F_RING_PACKED);
	return features | added_features(vd);
}

static u64 wrapped_get_features(struct virtio_device *vdev)
{
	struct vdma_device *vd = vdma_from_config(vdev);

	return shown_features(vd, vd->stock_config->get_features(vdev));
}

#ifdef VDMA_HAVE_VIRTIO_EXTENDED_FEATURES
static void wrapped_get_extended_features(struct virtio_device *vdev,
					  u64 *features)
{
	struct vdma_device *vd = vdma_from_config(vdev);

	vd->stock_config->get_extended_features(vdev, features);
	features[0] = shown_features(vd, features[0]);
}

static void wrap_extended_features(struct vdma_device *vd)
{
	if (vd->config.get_extended_features)
		vd->config.get_extended_features = wrapped_get_extended_features;
}
#else
static void wrap_extended_features(struct vdma_device *vd)
{
}
#endif

static void note_exempt(struct vdma_device *vd)
{
	if (vd->exempt)
		return;
	mutex_lock(&vd->lock);
	vd->exempt = true;
	mutex_unlock(&vd->lock);
	dev_warn(&vd->vdev->dev, "virtio_dma: path %s has no effect: the driver turns VIRTIO_F_ACCESS_PLATFORM down\n",
		 vdma_path_name(vd->decision.path));
}

/*
 * Called at probe, once more if the driver's validate() has changed its mind
 * (the balloon clears the bit, and then it stays clear), and again at resume:
 * the outcome must be the same each time.
 */
static int wrapped_finalize_features(struct virtio_device *vdev)
{
	struct vdma_device *vd = vdma_from_config(vdev);
	u64 accepted = vdma_driver_features(vdev);
	u64 hidden;
	int err;

	if (vd->state == VDMA_REFUSED)
		return -EOPNOTSUPP;
	if (!(accepted & BIT_ULL(VIRTIO_F_ACCESS_PLATFORM))) {
		note_exempt(vd);
		if (vd->type->routing != VDMA_RAW)
			return -EOPNOTSUPP;
	}

	hidden = accepted & added_features(vd) & ~vd->decision.features;
	vdma_set_driver_features(vdev, accepted & ~hidden);
	err = vd->stock_config->finalize_features(vdev);
	vdma_set_driver_features(vdev, vdma_driver_features(vdev) | hidden);
	return err;
}

/**
 * vdma_wrap_config() - give a virtio device the wrapped operations
 * @vd: the device; its state says whether it is attached or refused
 *
 * Context: may sleep; device lock of the virtio device and lock of @vd held.
 */
void vdma_wrap_config(struct vdma_device *vd)
{
	lockdep_assert_held(&vd->lock);
	vd->stock_config = vd->vdev->config;
	vd->config = *vd->stock_config;
	if (vd->config.get_features)
		vd->config.get_features = wrapped_get_features;
	wrap_extended_features(vd);
	vd->config.finalize_features = wrapped_finalize_features;
	vd->config.get = vdma_limited_get;
	WRITE_ONCE(vd->vdev->config, &vd->config);
}

/**
 * vdma_unwrap_config() - give a virtio device its own operations back
 * @vd: the device
 *
 * Context: may sleep; device lock of the virtio device and lock of @vd held.
 */
void vdma_unwrap_config(struct vdma_device *vd)
{
	lockdep_assert_held(&vd->lock);
	WRITE_ONCE(vd->vdev->config, vd->stock_config);
}
