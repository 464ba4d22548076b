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

static u64 wrapped_get_features(struct virtio_device *vdev)
{
	struct vdma_device *vd = vdma_from_config(vdev);

	return vd->stock_config->get_features(vdev) |
	       BIT_ULL(VIRTIO_F_ACCESS_PLATFORM);
}

#ifdef VDMA_HAVE_VIRTIO_EXTENDED_FEATURES
static void wrapped_get_extended_features(struct virtio_device *vdev,
					  u64 *features)
{
	struct vdma_device *vd = vdma_from_config(vdev);

	vd->stock_config->get_extended_features(vdev, features);
	features[0] |= BIT_ULL(VIRTIO_F_ACCESS_PLATFORM);
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

/*
 * Called at probe, once more if the driver's validate() has changed its mind
 * (the balloon clears the bit, and then it stays clear), and again at resume:
 * the outcome must be the same each time.
 */
static int wrapped_finalize_features(struct virtio_device *vdev)
{
	struct vdma_device *vd = vdma_from_config(vdev);
	bool accepted = __virtio_test_bit(vdev, VIRTIO_F_ACCESS_PLATFORM);
	bool hide = accepted && !vd->offered;
	int err;

	/* written only with this device's lock held, as it is here */
	if (vd->state == VDMA_REFUSED)
		return -EOPNOTSUPP;

	if (!accepted) {
		mutex_lock(&vd->lock);
		vd->exempt = true;
		mutex_unlock(&vd->lock);
	}
	if (hide)
		__virtio_clear_bit(vdev, VIRTIO_F_ACCESS_PLATFORM);
	err = vd->stock_config->finalize_features(vdev);
	if (hide)
		__virtio_set_bit(vdev, VIRTIO_F_ACCESS_PLATFORM);
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
