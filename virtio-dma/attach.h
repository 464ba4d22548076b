/* SPDX-License-Identifier: GPL-2.0 */
/* Putting a path into force for a device, and taking it back. */
#ifndef _VDMA_ATTACH_H
#define _VDMA_ATTACH_H

#include <linux/types.h>
#include <virtio_dma.h>

struct vdma_device;
struct vdma_rules;

/* The user's rules; written once, before the first device is known. */
extern struct vdma_rules vdma_rules;

void vdma_attach(struct vdma_device *vd);
void vdma_detach(struct vdma_device *vd);
int vdma_check_choice(struct vdma_device *vd, enum virtio_dma_path choice);
void vdma_forsake(struct vdma_device *vd);

#endif /* _VDMA_ATTACH_H */
