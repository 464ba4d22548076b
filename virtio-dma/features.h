/* SPDX-License-Identifier: GPL-2.0 */
/* The transport's config operations, wrapped. */
#ifndef _VDMA_FEATURES_H
#define _VDMA_FEATURES_H

struct vdma_device;

void vdma_wrap_config(struct vdma_device *vd);
void vdma_unwrap_config(struct vdma_device *vd);

#endif /* _VDMA_FEATURES_H */
