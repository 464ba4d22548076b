/* SPDX-License-Identifier: GPL-2.0 */
/*
 * More than 64 feature bits, for kernels that have them (6.17) and for those that
 * do not: no other file of the suites asks.
 */
#ifndef _VDMA_KUNIT_EXTENDED_FEATURES_H
#define _VDMA_KUNIT_EXTENDED_FEATURES_H

#include <linux/virtio_config.h>

#define EXTENDED_WORDS 2

#ifdef VDMA_HAVE_VIRTIO_EXTENDED_FEATURES
static inline bool extended_features_exist(void)
{
	return true;
}

static inline void extended_features_offer(struct virtio_config_ops *ops,
					   void (*get)(struct virtio_device *vdev,
						       u64 *features))
{
	ops->get_extended_features = get;
}

/* False if the transport, as the driver sees it now, has no more than 64 bits. */
static inline bool extended_features_read(struct virtio_device *vdev,
					  u64 features[EXTENDED_WORDS])
{
	u64 all[VIRTIO_FEATURES_U64S] = {};

	BUILD_BUG_ON(VIRTIO_FEATURES_U64S < EXTENDED_WORDS);
	if (!vdev->config->get_extended_features)
		return false;
	vdev->config->get_extended_features(vdev, all);
	features[0] = all[0];
	features[1] = all[1];
	return true;
}
#else
static inline bool extended_features_exist(void)
{
	return false;
}

static inline void extended_features_offer(struct virtio_config_ops *ops,
					   void (*get)(struct virtio_device *vdev,
						       u64 *features))
{
}

static inline bool extended_features_read(struct virtio_device *vdev,
					  u64 features[EXTENDED_WORDS])
{
	return false;
}
#endif

#endif /* _VDMA_KUNIT_EXTENDED_FEATURES_H */
