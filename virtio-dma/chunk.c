// SPDX-License-Identifier: GPL-2.0
/* A chunk: the buddy allocator of the slots in physically contiguous memory. */
#include <linux/bitops.h>
#include <linux/gfp.h>
#include <linux/lockdep.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "chunk.h"

/* --- free lists --- */

static void list_insert(struct chunk *chunk, u32 slot, unsigned int order)
{
	u32 next = chunk->head[order];

	chunk->slots[slot].next = next;
	chunk->slots[slot].prev = NO_SLOT;
	if (next != NO_SLOT)
		chunk->slots[next].prev = slot;
	chunk->head[order] = slot;
	chunk->state[slot] = STATE_FREE | order;
}

static void list_remove(struct chunk *chunk, u32 slot, unsigned int order)
{
	union slot *s = &chunk->slots[slot];

	if (s->prev == NO_SLOT)
		chunk->head[order] = s->next;
	else
		chunk->slots[s->prev].next = s->next;
	if (s->next != NO_SLOT)
		chunk->slots[s->next].prev = s->prev;
	chunk->state[slot] = STATE_NONE;
}

/**
 * vdma_chunk_free() - give one block back, and join it with its buddies
 * @chunk: the chunk, whose lock is held
 * @slot: its first slot
 * @order: its order
 */
void vdma_chunk_free(struct chunk *chunk, u32 slot, unsigned int order)
{
	lockdep_assert_held(&chunk->lock);
	chunk->free += 1U << order;
	while (order < ORDERS - 1) {
		u32 buddy = slot ^ 1U << order;

		if (buddy + (1U << order) > chunk->count ||
		    READ_ONCE(chunk->state[buddy]) != (STATE_FREE | order))
			break;
		list_remove(chunk, buddy, order);
		chunk->state[slot] = STATE_NONE;
		slot = min(slot, buddy);
		order++;
	}
	list_insert(chunk, slot, order);
}

/**
 * vdma_chunk_free_range() - give slots back that are no block
 * @chunk: the chunk, whose lock is held
 * @slot: the first of them
 * @end: the one behind the last
 *
 * They become the largest aligned blocks that they consist of.
 */
void vdma_chunk_free_range(struct chunk *chunk, u32 slot, u32 end)
{
	while (slot < end) {
		unsigned int order = min_t(unsigned int, ilog2(end - slot), ORDERS - 1);

		if (slot)
			order = min_t(unsigned int, order, __ffs(slot));
		vdma_chunk_free(chunk, slot, order);
		slot += 1U << order;
	}
}

/**
 * vdma_chunk_least_order() - how large must a block be that is taken to pieces?
 * @chunk: the chunk, whose lock is held
 * @order: the order that is wanted
 *
 * Return: the least order of which there are free blocks, and that is not below
 * @order; ORDERS if there is none.
 */
unsigned int vdma_chunk_least_order(const struct chunk *chunk, unsigned int order)
{
	while (order < ORDERS && chunk->head[order] == NO_SLOT)
		order++;
	return order;
}

/**
 * vdma_chunk_take() - take one block
 * @chunk: the chunk, whose lock is held
 * @order: its order
 *
 * Return: its first slot; NO_SLOT if there is none.
 */
u32 vdma_chunk_take(struct chunk *chunk, unsigned int order)
{
	unsigned int from = vdma_chunk_least_order(chunk, order);
	u32 slot;

	lockdep_assert_held(&chunk->lock);
	if (from == ORDERS)
		return NO_SLOT;

	slot = chunk->head[from];
	list_remove(chunk, slot, from);
	while (from > order) {
		from--;
		list_insert(chunk, slot + (1U << from), from);
	}
	chunk->free -= 1U << order;
	return slot;
}

/**
 * vdma_chunk_largest_run() - how large is the largest free block?
 * @chunk: the chunk; without its lock the answer is a snapshot
 *
 * Return: slots.
 */
u32 vdma_chunk_largest_run(const struct chunk *chunk)
{
	int order = ORDERS - 1;

	if (!READ_ONCE(chunk->free))
		return 0;
	while (order >= 0 && READ_ONCE(chunk->head[order]) == NO_SLOT)
		order--;
	return order < 0 ? 0 : 1U << order;
}

/* --- making and closing one --- */

/**
 * vdma_chunk_destroy() - forget a chunk
 * @chunk: the chunk, that nobody else knows; its memory stays
 *
 * Context: may sleep.
 */
void vdma_chunk_destroy(struct chunk *chunk)
{
	vfree(chunk->slots);
	kfree(chunk);
}

/**
 * vdma_chunk_create() - make a chunk of memory
 * @extent: the memory
 *
 * Context: may sleep.
 * Return: the chunk, all free; NULL if there is no memory for its tables.
 */
struct chunk *vdma_chunk_create(const struct vdma_extent *extent)
{
	struct chunk *chunk = kzalloc(sizeof(*chunk), GFP_KERNEL);
	unsigned long flags;
	unsigned int order;

	if (!chunk)
		return NULL;
	chunk->phys = extent->phys;
	chunk->vaddr = extent->vaddr;
	chunk->count = extent->size >> VDMA_SLOT_SHIFT;
	chunk->size = extent->size;
	/*
	 * All tables in one: whole pages of 4 MiB of pool, which kmalloc would round
	 * up. Who wanted the pool says that there is no memory for it.
	 */
	chunk->slots = __vmalloc(array_size(chunk->count, sizeof(*chunk->slots) +
					    sizeof(*chunk->state) + sizeof(*chunk->owner)),
				 GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
	if (!chunk->slots) {
		vdma_chunk_destroy(chunk);
		return NULL;
	}
	chunk->state = (u8 *)(chunk->slots + chunk->count);
	chunk->owner = chunk->state + chunk->count;

	spin_lock_init(&chunk->lock);
	for (order = 0; order < ORDERS; order++)
		chunk->head[order] = NO_SLOT;
	memset(chunk->state, STATE_NONE, chunk->count);
	spin_lock_irqsave(&chunk->lock, flags);
	vdma_chunk_free_range(chunk, 0, chunk->count);
	spin_unlock_irqrestore(&chunk->lock, flags);
	return chunk;
}

/**
 * vdma_chunk_close() - hand out nothing of a chunk any more
 * @chunk: the chunk
 *
 * Only of a chunk that is wholly free: neither in use nor in any CPU's cache.
 *
 * Context: any. Does not sleep.
 * Return: whether it has been closed.
 */
bool vdma_chunk_close(struct chunk *chunk)
{
	unsigned long flags;
	unsigned int order;
	bool whole;

	spin_lock_irqsave(&chunk->lock, flags);
	whole = chunk->free == chunk->count;
	if (whole) {
		for (order = 0; order < ORDERS; order++)
			WRITE_ONCE(chunk->head[order], NO_SLOT);
		WRITE_ONCE(chunk->free, 0);
		WRITE_ONCE(chunk->count, 0);
	}
	spin_unlock_irqrestore(&chunk->lock, flags);
	return whole;
}
