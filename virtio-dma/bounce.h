/* SPDX-License-Identifier: GPL-2.0 */
/* Path bounce, from the outside. */
#ifndef _VDMA_BOUNCE_H
#define _VDMA_BOUNCE_H

#include <linux/types.h>

struct attribute_group;

int vdma_bounce_init(unsigned int pool_mb, const char *fill);
void vdma_bounce_exit(void);

extern const struct attribute_group *vdma_pool_sysfs_groups[];

#endif /* _VDMA_BOUNCE_H */
