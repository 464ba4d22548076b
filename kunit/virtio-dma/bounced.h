/* SPDX-License-Identifier: GPL-2.0 */
/* A device on path bounce, and buffers for it. */
#ifndef _VDMA_KUNIT_BOUNCED_H
#define _VDMA_KUNIT_BOUNCED_H

#include <kunit/test.h>
#include <linux/io.h>
#include <linux/sizes.h>
#include <linux/types.h>

#include "device.h"

struct fake_virtio;

#define BOUNCED_POOL_MB 32
#define BOUNCED_POOL_SIZE ((u64)BOUNCED_POOL_MB << 20)

/* What a soiled pool holds, and no driver puts there. */
#define BOUNCED_OLD 0xdd

/* Memory that buffers lie in. */
#define ARENA_SIZE SZ_1M

/**
 * struct bounced - a device on path bounce, with a driver
 * @fake: the device
 * @vd: what is kept for it
 * @dev: the device that does the DMA
 */
struct bounced {
	struct fake_virtio *fake;
	struct vdma_device *vd;
	struct device *dev;
};

/**
 * struct buffer - memory of a driver
 * @arena: where it lies, with red zones on both sides
 * @at: the buffer
 * @size: its size in bytes
 * @copy: what it and its red zones held
 */
struct buffer {
	u8 *arena;
	u8 *at;
	size_t size;
	u8 *copy;
};

/* What the device sees at an address. */
static inline u8 *seen(dma_addr_t addr)
{
	return phys_to_virt(addr);
}

struct bounced bounced_plug(struct kunit *test, u32 type, const char *fill);
struct bounced bounced_plug_another(struct kunit *test, u32 type);
struct vdma_stats bounced_stats(const struct bounced *b);
u64 bounced_held(const struct bounced *b);
void bounced_soil_pool(struct kunit *test);

u8 *arena_get(struct kunit *test);
struct buffer buffer_get(struct kunit *test);
void buffer_renew(struct buffer *buffer, size_t size);
const u8 *buffer_old(const struct buffer *buffer);
bool buffer_red_zones_intact(const struct buffer *buffer);
bool buffer_unchanged(const struct buffer *buffer);

#endif /* _VDMA_KUNIT_BOUNCED_H */
