/* SPDX-License-Identifier: GPL-2.0 */
/* The parts of a pool, for the files that the pool consists of. */
#ifndef _VDMA_POOL_PARTS_H
#define _VDMA_POOL_PARTS_H

#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/idr.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "chunk.h"
#include "memory.h"
#include "pool.h"

/* Orders that the CPUs cache: 2 KiB to 64 KiB. */
#define CACHED_ORDERS 6
/*
 * Most blocks of order 0 in a CPU's cache; of each further order half as many.
 * Half of that is taken at once: 64 slots that lie together, whose states fill one
 * cache line, and whose owners another. So no other CPU writes these lines, unless
 * it is given blocks that were mapped here.
 */
#define CACHE_BLOCKS 128
#define MAX_CHUNKS 128

/* A block: chunk number above, slot number in the low 24 bits. */
#define BLOCK_SLOT_BITS 24
static_assert(VDMA_EXTENT_MAX >> VDMA_SLOT_SHIFT <= 1U << BLOCK_SLOT_BITS);

/**
 * struct cache - free blocks that one CPU keeps at hand
 * @lock: guards the rest; taken by another CPU only when the pool is full, or
 *	when a task moves in the wrong moment, so it costs no shared cache line; a
 *	leaf, taken with interrupts off
 * @count: blocks of each order
 * @block: the blocks, those of each order from cached_blocks() on
 */
struct cache {
	spinlock_t lock;	/* see above */
	u16 count[CACHED_ORDERS];
	u32 block[2 * CACHE_BLOCKS];
};

/**
 * struct vdma_pool - the pool
 * @chunks: its chunks; where there is none any more, or not yet, one of no slots
 * @chunk_count: chunks there have been at most at a time: more need not be looked at
 * @slots: slots in all chunks
 * @largest: slots of the largest piece that can be had when the pool is empty and as
 *	small as it gets
 * @end: physical address behind the highest chunk
 * @users: number of users
 * @ids: their numbers
 * @most: most slots in use, as seen at refills
 * @capacity: blocks of each order that a CPU may cache
 * @caches: of each CPU
 * @grow_above: more slots in use than that, and the pool is to grow; U64_MAX: never
 * @peak: most slots in use since the last look whether the pool can shrink
 * @full: somebody got nothing since the pool grew last
 * @grow: makes the pool larger
 * @shrink: makes it smaller
 * @workers: what these two run on
 * @resize: guards what follows, and changes of @chunks; sleeps; @memory is got under it
 * @memory: where the chunks' memory comes from
 * @start: slots that the pool has at least
 * @max: slots that it may have
 * @start_chunks: the first chunks, which stay
 * @members: its users
 * @grows: how often it has grown
 * @shrinks: how often it has lost a chunk
 *
 * Who looks a chunk up by an address or for free blocks does so without a lock, but
 * within an RCU read-side section, and a chunk that is dropped is given back when
 * these are over. Who has a buffer or a block needs none: such a chunk is not dropped.
 */
struct vdma_pool {
	struct chunk *chunks[MAX_CHUNKS];
	unsigned int chunk_count;
	u32 slots;
	u32 largest;
	phys_addr_t end;
	atomic_t users;
	struct ida ids;
	u64 most;
	u16 capacity[CACHED_ORDERS];
	struct cache __percpu *caches;

	u64 grow_above;
	u64 peak;
	bool full;
	struct work_struct grow;
	struct delayed_work shrink;
	struct workqueue_struct *workers;

	struct mutex resize;	/* see above */
	struct vdma_memory memory;
	u32 start;
	u32 max;
	unsigned int start_chunks;
	struct list_head members;
	u64 grows;
	u64 shrinks;
};

u64 vdma_pool_used_slots(struct vdma_pool *pool);
void vdma_pool_drain(struct vdma_pool *pool);

int vdma_resize_init(struct vdma_pool *pool, size_t size, size_t max);
void vdma_resize_exit(struct vdma_pool *pool);
void vdma_resize_wanted(struct vdma_pool *pool);

#endif /* _VDMA_POOL_PARTS_H */
