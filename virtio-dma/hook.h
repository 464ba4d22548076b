/* SPDX-License-Identifier: GPL-2.0 */
/* The platform override hook, from the inside. */
#ifndef _VDMA_HOOK_H
#define _VDMA_HOOK_H

#include <virtio_dma.h>

#define VDMA_HOOK_NAME_LEN 32

enum virtio_dma_path vdma_hook_ask(struct virtio_device *vdev, bool offered,
				   char name[VDMA_HOOK_NAME_LEN]);

#endif /* _VDMA_HOOK_H */
