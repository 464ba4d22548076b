// SPDX-License-Identifier: GPL-2.0
/*
 * A pool's memory, which becomes more and less while the pool is in use.
 *
 * Neither happens where buffers are mapped: whoever finds that the pool is to grow
 * wakes a work item. Chunks that the pool began with stay. One of the others is given
 * back when it is wholly free and the pool has been idle for a while: first it is
 * closed, so that nothing of it is handed out any more, then nobody can find it, and
 * then, when all who may have found it are through with it, its memory goes.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/dma-mapping.h>
#include <linux/gfp.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/ratelimit.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/sizes.h>

#include "pool_parts.h"
#include "sizing.h"
#include "trace.h"

/* What the page allocator gives in one piece, if it can. */
#define GROW_UNIT (SZ_4M >> VDMA_SLOT_SHIFT)
/* How often to look whether the pool can shrink, and whether it can grow after it could not. */
#define SHRINK_INTERVAL (10 * HZ)

/* In place of a chunk that is none. Nothing is found in it, and nothing free. */
static struct chunk no_chunk;

/* --- chunks --- */

static void update_end(struct vdma_pool *pool)
{
	phys_addr_t end = 0;
	unsigned int i;

	for (i = 0; i < pool->chunk_count; i++) {
		const struct chunk *chunk = pool->chunks[i];

		end = max_t(phys_addr_t, end, chunk->phys + chunk->size);
	}
	WRITE_ONCE(pool->end, end);
}

static void update_threshold(struct vdma_pool *pool)
{
	WRITE_ONCE(pool->grow_above, vdma_sizing_threshold(pool->slots, pool->max, GROW_UNIT));
}

static unsigned int empty_entry(const struct vdma_pool *pool)
{
	unsigned int i = 0;

	while (i < MAX_CHUNKS && pool->chunks[i] != &no_chunk)
		i++;
	return i;
}

static int add_chunk(struct vdma_pool *pool, const struct vdma_extent *extent)
{
	unsigned int index = empty_entry(pool);
	struct chunk *chunk;

	if (index == MAX_CHUNKS)
		return -ENOMEM;
	chunk = vdma_chunk_create(extent);
	if (!chunk)
		return -ENOMEM;
	/* whoever finds the chunk must find it whole */
	smp_store_release(&pool->chunks[index], chunk);
	if (index == pool->chunk_count)
		WRITE_ONCE(pool->chunk_count, index + 1);
	WRITE_ONCE(pool->slots, pool->slots + chunk->count);
	return 0;
}

/* Nobody finds it any more; who has found it may still look at it. */
static struct chunk *take_out_chunk(struct vdma_pool *pool, unsigned int index)
{
	struct chunk *chunk = pool->chunks[index];

	WRITE_ONCE(pool->slots, pool->slots - (chunk->size >> VDMA_SLOT_SHIFT));
	WRITE_ONCE(pool->chunks[index], &no_chunk);
	return chunk;
}

static void give_chunk_back(struct vdma_pool *pool, struct chunk *chunk)
{
	const struct vdma_extent extent = {
		.phys = chunk->phys,
		.vaddr = chunk->vaddr,
		.size = chunk->size,
	};

	vdma_chunk_destroy(chunk);
	vdma_memory_put(&pool->memory, &extent);
}

/*
 * Memory that becomes part of the pool: as much as there are entries and tables for,
 * and as the users can use.
 */
static int enlarge_below(struct vdma_pool *pool, size_t size, gfp_t gfp, u64 reach)
{
	struct vdma_extent *extents;
	int count, i, err = 0;

	count = vdma_memory_get(&pool->memory, size, gfp, &extents);
	if (count < 0)
		return count;
	for (i = 0; i < count; i++) {
		if (!err && extents[i].phys + extents[i].size - 1 > reach)
			err = -ERANGE;
		err = err ?: add_chunk(pool, &extents[i]);
		if (err)
			vdma_memory_put(&pool->memory, &extents[i]);
	}
	kvfree(extents);
	update_end(pool);
	return err;
}

/* --- growing --- */

static u64 reach_of_members(const struct vdma_pool *pool)
{
	const struct vdma_pool_user *user;
	u64 reach = U64_MAX;

	list_for_each_entry(user, &pool->members, member)
		reach = min(reach, user->reach);
	return reach;
}

/* Low memory is asked for only where other memory was too high. */
static int enlarge(struct vdma_pool *pool, size_t size, u64 reach)
{
	const gfp_t gfp = GFP_KERNEL | __GFP_RETRY_MAYFAIL;
	int err = enlarge_below(pool, size, gfp, reach);

	if (err == -ERANGE && reach >= DMA_BIT_MASK(32) && !pool->memory.window)
		err = enlarge_below(pool, size, gfp | GFP_DMA32, reach);
	return err;
}

/* By what is right, or if there is not as much memory, by less. */
static int grow(struct vdma_pool *pool)
{
	u64 step = vdma_sizing_step(pool->slots, pool->max, GROW_UNIT);
	u64 reach = reach_of_members(pool);
	u32 before = pool->slots;
	int err = 0;

	for (; step; step = step / 2 / GROW_UNIT * GROW_UNIT) {
		err = enlarge(pool, step << VDMA_SLOT_SHIFT, reach);
		if (pool->slots > before)
			return 0;
		if (err != -ENOMEM)
			break;
	}
	return err;
}

static u64 to_bytes(u64 slots)
{
	return slots << VDMA_SLOT_SHIFT;
}

static void grow_and_tell(struct vdma_pool *pool)
{
	u32 before = pool->slots;
	int err = grow(pool);

	if (!err) {
		trace_vdma_grow(to_bytes(before), to_bytes(pool->slots),
				to_bytes(vdma_pool_used_slots(pool)));
		WRITE_ONCE(pool->grows, pool->grows + 1);
		/* who found it full before this was done finds room now */
		WRITE_ONCE(pool->full, false);
		update_threshold(pool);
	} else {
		WRITE_ONCE(pool->grow_above, U64_MAX);
		pr_warn_ratelimited("the pool stays at %u MiB, though half of it is in use: no memory to grow: error %d\n",
				    pool->slots >> (20 - VDMA_SLOT_SHIFT), err);
	}
	queue_delayed_work(pool->workers, &pool->shrink, SHRINK_INTERVAL);
}

static void grow_work(struct work_struct *work)
{
	struct vdma_pool *pool = container_of(work, struct vdma_pool, grow);

	mutex_lock(&pool->resize);
	if (pool->grow_above != U64_MAX &&
	    (xchg(&pool->full, false) || vdma_pool_used_slots(pool) > pool->grow_above))
		grow_and_tell(pool);
	mutex_unlock(&pool->resize);
}

/**
 * vdma_resize_wanted() - have the pool grow, soon
 * @pool: the pool
 *
 * Context: any. Does not sleep.
 */
void vdma_resize_wanted(struct vdma_pool *pool)
{
	queue_work(pool->workers, &pool->grow);
}

/* --- shrinking --- */

static bool may_drop(const struct vdma_pool *pool, unsigned int index, u64 peak)
{
	const struct chunk *chunk = pool->chunks[index];

	return chunk->count && vdma_sizing_may_drop(pool->slots, chunk->count, pool->start, peak);
}

/* The youngest first: what is in use gathers in the old ones, which are looked at first. */
static void drop_chunks(struct vdma_pool *pool, u64 peak)
{
	unsigned int i = pool->chunk_count;

	while (i-- > pool->start_chunks) {
		struct chunk *chunk = pool->chunks[i];

		if (!may_drop(pool, i, peak))
			continue;
		vdma_pool_drain(pool);
		if (!vdma_chunk_close(chunk))
			continue;
		trace_vdma_shrink(to_bytes(pool->slots), to_bytes(pool->slots) - chunk->size,
				  to_bytes(vdma_pool_used_slots(pool)));
		take_out_chunk(pool, i);
		synchronize_rcu();
		give_chunk_back(pool, chunk);
		WRITE_ONCE(pool->shrinks, pool->shrinks + 1);
	}
	update_end(pool);
}

static void shrink_work(struct work_struct *work)
{
	struct vdma_pool *pool = container_of(to_delayed_work(work), struct vdma_pool, shrink);
	u64 used, peak;

	mutex_lock(&pool->resize);
	used = vdma_pool_used_slots(pool);
	peak = max(xchg(&pool->peak, used), used);
	drop_chunks(pool, peak);
	update_threshold(pool);
	if (pool->slots > pool->start)
		queue_delayed_work(pool->workers, &pool->shrink, SHRINK_INTERVAL);
	mutex_unlock(&pool->resize);
}

/* --- beginning and end --- */

static void remove_all_chunks(struct vdma_pool *pool)
{
	unsigned int i;

	for (i = 0; i < pool->chunk_count; i++)
		if (pool->chunks[i] != &no_chunk)
			give_chunk_back(pool, take_out_chunk(pool, i));
}

static void note_start(struct vdma_pool *pool, size_t max)
{
	unsigned int i;

	pool->start = pool->slots;
	pool->start_chunks = pool->chunk_count;
	pool->max = max_t(u64, pool->slots, (u64)max >> VDMA_SLOT_SHIFT);
	for (i = 0; i < pool->chunk_count; i++)
		pool->largest = max(pool->largest, vdma_chunk_largest_run(pool->chunks[i]));
	update_threshold(pool);
}

/**
 * vdma_resize_init() - get a pool the memory that it begins with
 * @pool: the pool, with its source of memory
 * @size: bytes
 * @max: bytes that it may grow to
 *
 * Context: may sleep.
 * Return: 0 or an error, as vdma_pool_create().
 */
int vdma_resize_init(struct vdma_pool *pool, size_t size, size_t max)
{
	unsigned int i;
	int err = -ENOMEM;

	for (i = 0; i < MAX_CHUNKS; i++)
		pool->chunks[i] = &no_chunk;
	mutex_init(&pool->resize);
	INIT_LIST_HEAD(&pool->members);
	INIT_WORK(&pool->grow, grow_work);
	INIT_DELAYED_WORK(&pool->shrink, shrink_work);
	pool->workers = alloc_workqueue("virtio_dma_pool", WQ_UNBOUND, 1);
	if (!pool->workers)
		return err;
	err = enlarge_below(pool, size, GFP_KERNEL | __GFP_RETRY_MAYFAIL, U64_MAX);
	if (err)
		goto err_remove_chunks;
	note_start(pool, max);
	return 0;

err_remove_chunks:
	remove_all_chunks(pool);
	destroy_workqueue(pool->workers);
	return err;
}

/**
 * vdma_resize_exit() - give a pool's memory back
 * @pool: the pool, which nobody uses any more
 *
 * Context: may sleep.
 */
void vdma_resize_exit(struct vdma_pool *pool)
{
	cancel_work_sync(&pool->grow);
	cancel_delayed_work_sync(&pool->shrink);
	destroy_workqueue(pool->workers);
	remove_all_chunks(pool);
}
