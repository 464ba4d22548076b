/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A chunk: physically contiguous part of a pool, and the buddy allocator of its slots.
 * Seen by the files of the pool only.
 */
#ifndef _VDMA_CHUNK_H
#define _VDMA_CHUNK_H

#include <linux/spinlock.h>
#include <linux/types.h>

#include "memory.h"
#include "pool.h"

/* Blocks of an order are 1 << order slots; the largest are 128 MiB. */
#define ORDERS 17

/*
 * A slot is described by one state byte. An allocation is a row of blocks: the
 * first has FIRST, the last has LAST, mostly it is one block with both.
 *
 * What there is to know of a block is kept with its first two slots, so that taking
 * and returning one costs the same whatever its size. Its other slots, which get
 * their state when the block leaves the free lists, only lead there; when it is
 * back in them, their state means nothing.
 *
 * The state of a block that is not in a free list belongs to who has the block,
 * and changes without the chunk's lock. Whoever frees its buddy may look at it
 * meanwhile, which is safe because it never passes through STATE_FREE.
 */
#define STATE_ORDER	0x1f	/* of the block */
#define STATE_FIRST	0x20
#define STATE_LAST	0x40
#define STATE_USED	0x80	/* first slot of a block that is allocated */
#define STATE_FREE	0x20	/* | order: first slot of a block in a free list */
#define STATE_CACHED	0x40	/* | order: first slot of a block in a CPU's cache */
#define STATE_BODY	0x60	/* | order: slot of a block other than its first */
#define STATE_NONE	0x1f	/* slot that does not begin a block, now or any more */

#define NO_SLOT U32_MAX

/**
 * union slot - what is kept for each slot, besides its state
 * @original: of a block in use, in its first slot
 * @length: of a block in use, in its second slot: how many bytes have an original
 * @next: of a free block, in its first slot: the next one of its order
 * @prev: the one before
 */
union slot {
	u64 original;
	u64 length;
	struct {
		u32 next;
		u32 prev;
	};
};

/**
 * struct chunk - physically contiguous part of the pool
 * @phys: where it begins
 * @vaddr: the same, for the CPU
 * @count: number of slots; 0 once it is closed
 * @size: bytes of its memory
 * @slots: what is kept for each slot
 * @state: state of each slot
 * @owner: of each block in use, at its first slot, whose it is
 * @lock: guards the free lists, @free, and @slots and @state of blocks that are
 *	in a free list; a leaf, taken with interrupts off
 * @head: first block of each free list, or NO_SLOT
 * @free: slots in the free lists
 */
struct chunk {
	phys_addr_t phys;
	void *vaddr;
	u32 count;
	size_t size;
	union slot *slots;
	u8 *state;
	u8 *owner;

	spinlock_t lock;	/* see above */
	u32 head[ORDERS];
	u32 free;
};

struct chunk *vdma_chunk_create(const struct vdma_extent *extent);
void vdma_chunk_destroy(struct chunk *chunk);

unsigned int vdma_chunk_least_order(const struct chunk *chunk, unsigned int order);
u32 vdma_chunk_largest_run(const struct chunk *chunk);
u32 vdma_chunk_take(struct chunk *chunk, unsigned int order);
void vdma_chunk_free(struct chunk *chunk, u32 slot, unsigned int order);
void vdma_chunk_free_range(struct chunk *chunk, u32 slot, u32 end);
bool vdma_chunk_close(struct chunk *chunk);

#endif /* _VDMA_CHUNK_H */
