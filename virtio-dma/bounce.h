/* SPDX-License-Identifier: GPL-2.0 */
/* Path bounce, from the outside. */
#ifndef _VDMA_BOUNCE_H
#define _VDMA_BOUNCE_H

#include <linux/types.h>

struct attribute_group;

/**
 * struct vdma_bounce_parameters - what the user says about the pool
 * @pool_mb: what it begins with in MiB; 0: all of the window, or what suits most guests
 * @pool_max_mb: what it may grow to in MiB; 0: all of the window, or an eighth of memory
 * @pool_phys: where its window begins, in bytes; NULL: it has none
 * @pool_size: how large its window is, in bytes; NULL: it has none
 * @fill: what bounce buffers hold before the device writes to them: "auto" (by
 *	the type of the device), "preserve", "zero" or "none"
 */
struct vdma_bounce_parameters {
	unsigned int pool_mb;
	unsigned int pool_max_mb;
	const char *pool_phys;
	const char *pool_size;
	const char *fill;
};

int vdma_bounce_init(const struct vdma_bounce_parameters *parameters);
int vdma_bounce_set_window(const char *who, u64 phys, u64 size);
void vdma_bounce_exit(void);

extern const struct attribute_group *vdma_pool_sysfs_groups[];

#endif /* _VDMA_BOUNCE_H */
