/* SPDX-License-Identifier: GPL-2.0 */
/* Changing the path of a device at run time. */
#ifndef _VDMA_REBIND_H
#define _VDMA_REBIND_H

#include <virtio_dma.h>

struct vdma_device;

int vdma_choose(struct vdma_device *vd, enum virtio_dma_path choice);

#endif /* _VDMA_REBIND_H */
