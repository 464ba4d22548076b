/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What main.c does in the module: rules and pool as the user would have them, and
 * the bus watched. And what sysfs tells of the pool.
 */
#ifndef _VDMA_KUNIT_ROUTING_H
#define _VDMA_KUNIT_ROUTING_H

#include <kunit/test.h>
#include <linux/types.h>

struct fake_virtio;
struct vdma_device;

int routing_pool(unsigned int pool_mb, const char *fill);
int routing_start(unsigned int pool_mb);
void routing_stop(void);
void routing_rules(struct kunit *test, const char *text);
struct vdma_device *routing_device(struct kunit *test, struct fake_virtio *fake);
bool routing_pool_has(struct kunit *test, phys_addr_t phys);
bool routing_pool_chunk(struct kunit *test, unsigned int index, phys_addr_t *first,
			phys_addr_t *last);
u64 routing_pool_figure(struct kunit *test, const char *name);

static inline u64 routing_pool_used(struct kunit *test)
{
	return routing_pool_figure(test, "used");
}

#endif /* _VDMA_KUNIT_ROUTING_H */
