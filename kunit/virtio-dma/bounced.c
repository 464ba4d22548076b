// SPDX-License-Identifier: GPL-2.0
/* A device on path bounce, and buffers for it. */
#include <kunit/resource.h>
#include <linux/dma-mapping.h>
#include <linux/gfp.h>
#include <linux/random.h>
#include <linux/string.h>

#include "bounce.h"
#include "bounced.h"
#include "fake_transport.h"
#include "pool.h"
#include "routing.h"

/* BOUNCED_OLD, often. */
#define OLD_64 0xddddddddddddddddULL

/* Bytes on both sides of a buffer that nobody may touch. */
#define RED_ZONE 64

/**
 * bounced_plug_another() - plug a device in, when rules and driver are there
 * @test: the test, at whose end it is unplugged
 * @type: its device type, VIRTIO_ID_...
 *
 * Context: may sleep.
 * Return: the device; its driver may map any length.
 */
struct bounced bounced_plug_another(struct kunit *test, u32 type)
{
	const struct fake_virtio_params params = {
		.type = type,
		.features = BIT_ULL(VIRTIO_F_VERSION_1),
	};
	struct bounced b;

	b.fake = fake_virtio_plug(test, &params);
	b.vd = routing_device(test, b.fake);
	b.dev = &b.fake->dma_dev;
	dma_set_max_seg_size(b.dev, UINT_MAX);
	return b;
}

/**
 * bounced_plug() - register a driver and plug a device in that is bounced
 * @test: the test, at whose end both are gone; routing has been started
 * @type: device type: net, blk or scsi
 * @fill: what its buffers hold at first, as in the module's parameter
 *
 * Context: may sleep.
 * Return: the device.
 */
struct bounced bounced_plug(struct kunit *test, u32 type, const char *fill)
{
	const struct fake_driver_params driver = { .type = type };
	struct bounced b;

	KUNIT_ASSERT_EQ(test, routing_pool(BOUNCED_POOL_MB, fill), 0);
	routing_rules(test, "net=bounce,blk=bounce,scsi=bounce");
	fake_driver_register(test, &driver);
	b = bounced_plug_another(test, type);
	KUNIT_ASSERT_PTR_EQ(test, b.vd->path, &vdma_path_bounce);
	return b;
}

/**
 * bounced_stats() - what has been counted for a device
 * @b: the device
 *
 * Return: the sums over all CPUs.
 */
struct vdma_stats bounced_stats(const struct bounced *b)
{
	struct vdma_stats stats;

	vdma_stats_sum(b->vd, &stats);
	return stats;
}

/**
 * bounced_held() - what a device holds of the pool
 * @b: the device
 *
 * Return: bytes.
 */
u64 bounced_held(const struct bounced *b)
{
	return vdma_pool_user_used(&b->vd->pool_user);
}

/**
 * bounced_soil_pool() - fill all of the pool with BOUNCED_OLD
 * @test: the test; nothing is mapped
 */
void bounced_soil_pool(struct kunit *test)
{
	phys_addr_t first, last;
	unsigned int i;

	for (i = 0; routing_pool_chunk(test, i, &first, &last); i++)
		memset64(phys_to_virt(first), OLD_64, (last - first + 1) / sizeof(u64));
	KUNIT_ASSERT_GT(test, i, 0);
}

static void action_free_arena(void *arena)
{
	free_pages_exact(arena, ARENA_SIZE);
}

/**
 * arena_get() - get ARENA_SIZE bytes of contiguous memory
 * @test: the test, at whose end it is freed
 *
 * Context: may sleep.
 * Return: the memory.
 */
u8 *arena_get(struct kunit *test)
{
	u8 *arena = alloc_pages_exact(ARENA_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, arena);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, action_free_arena, arena), 0);
	return arena;
}

/**
 * buffer_get() - get memory for buffers that are used one after the other
 * @test: the test, at whose end it is freed
 *
 * Context: may sleep.
 * Return: a buffer for buffer_renew().
 */
struct buffer buffer_get(struct kunit *test)
{
	return (struct buffer){ .arena = arena_get(test), .copy = arena_get(test) };
}

/**
 * buffer_renew() - make a buffer of some size, at some odd place, with new content
 * @buffer: the buffer
 * @size: its size in bytes, at most some thousand less than ARENA_SIZE
 */
void buffer_renew(struct buffer *buffer, size_t size)
{
	buffer->at = buffer->arena + RED_ZONE + 77 + size % 1999;
	buffer->size = size;
	get_random_bytes(buffer->at - RED_ZONE, size + 2 * RED_ZONE);
	memcpy(buffer->copy, buffer->at - RED_ZONE, size + 2 * RED_ZONE);
}

/**
 * buffer_old() - what a buffer held when it was renewed
 * @buffer: the buffer
 *
 * Return: as many bytes as the buffer has.
 */
const u8 *buffer_old(const struct buffer *buffer)
{
	return buffer->copy + RED_ZONE;
}

/**
 * buffer_red_zones_intact() - has nobody written next to the buffer?
 * @buffer: the buffer
 *
 * Return: true if so.
 */
bool buffer_red_zones_intact(const struct buffer *buffer)
{
	return !memcmp(buffer->at - RED_ZONE, buffer->copy, RED_ZONE) &&
	       !memcmp(buffer->at + buffer->size, buffer_old(buffer) + buffer->size, RED_ZONE);
}

/**
 * buffer_unchanged() - is all as it was, the red zones too?
 * @buffer: the buffer
 *
 * Return: true if so.
 */
bool buffer_unchanged(const struct buffer *buffer)
{
	return !memcmp(buffer->at - RED_ZONE, buffer->copy, buffer->size + 2 * RED_ZONE);
}
