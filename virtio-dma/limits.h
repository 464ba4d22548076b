/* SPDX-License-Identifier: GPL-2.0 */
/* Limits of requests that a path puts on a device. */
#ifndef _VDMA_LIMITS_H
#define _VDMA_LIMITS_H

struct virtio_device;

void vdma_limited_get(struct virtio_device *vdev, unsigned int offset,
		      void *buf, unsigned int len);

#endif /* _VDMA_LIMITS_H */
