// SPDX-License-Identifier: GPL-2.0
/*
 * A pool of memory for bounce buffers.
 *
 * The pool is a list of chunks, each physically contiguous. A chunk is a buddy
 * allocator of slots under a lock of its own. In front of the chunks every CPU
 * has a cache of free blocks of the common sizes, so that the usual alloc and
 * free touch nothing that another CPU writes.
 *
 * All bookkeeping is outside of the pool's memory, which the host may write.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitops.h>
#include <linux/cc_platform.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/idr.h>
#include <linux/io.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/set_memory.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "pool.h"

/* Blocks of an order are 1 << order slots; the largest are 128 MiB. */
#define ORDERS 17
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

/*
 * Of a block in use: the address of its original, and, above that, how many of
 * its bytes have one if it has one slot only; larger blocks have a slot more to
 * keep that in. Physical addresses have at most 52 bits.
 */
#define ORIGINAL_BITS 52
#define ORIGINAL_MASK ((1ULL << ORIGINAL_BITS) - 1)

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
 * @count: number of slots
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
	union slot *slots;
	u8 *state;
	u8 *owner;

	spinlock_t lock;	/* see above */
	u32 head[ORDERS];
	u32 free;
};

/* A block: chunk number above, slot number in the low 24 bits. */
#define BLOCK_SLOT_BITS 24
#define CHUNK_MAX_SIZE (16ULL << 30)

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
 * struct piece - what the page allocator gave
 * @page: first page
 * @order: of the page allocator
 */
struct piece {
	struct page *page;
	unsigned int order;
};

/**
 * struct vdma_pool - the pool
 * @chunks: its chunks; entries below @chunk_count never change
 * @chunk_count: how many
 * @slots: slots in all chunks
 * @largest: slots of the largest piece that can be had when the pool is empty
 * @end: physical address behind the highest chunk
 * @users: number of users
 * @ids: their numbers
 * @most: most slots in use, as seen at refills
 * @capacity: blocks of each order that a CPU may cache
 * @caches: of each CPU
 * @pieces: where the memory came from
 * @piece_count: how many
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
	struct piece *pieces;
	unsigned int piece_count;
};

static u32 to_block(unsigned int chunk, u32 slot)
{
	return chunk << BLOCK_SLOT_BITS | slot;
}

static struct chunk *chunk_of(struct vdma_pool *pool, u32 block)
{
	return pool->chunks[block >> BLOCK_SLOT_BITS];
}

static u32 slot_of(u32 block)
{
	return block & ((1U << BLOCK_SLOT_BITS) - 1);
}

/* --- buddy allocator of a chunk --- */

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

/* Give one block back, and join it with its buddies. */
static void free_block(struct chunk *chunk, u32 slot, unsigned int order)
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

/* Give slots back that are no block: the largest aligned blocks they consist of. */
static void free_range(struct chunk *chunk, u32 slot, u32 end)
{
	while (slot < end) {
		unsigned int order = min_t(unsigned int, ilog2(end - slot), ORDERS - 1);

		if (slot)
			order = min_t(unsigned int, order, __ffs(slot));
		free_block(chunk, slot, order);
		slot += 1U << order;
	}
}

/* Of the free blocks of this order or a higher one: the least order; ORDERS if there is none. */
static unsigned int least_order(const struct chunk *chunk, unsigned int order)
{
	while (order < ORDERS && chunk->head[order] == NO_SLOT)
		order++;
	return order;
}

/* Take one block of an order; NO_SLOT if there is none. */
static u32 take_block(struct chunk *chunk, unsigned int order)
{
	unsigned int from = least_order(chunk, order);
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

/* Slots of the largest free block. */
static u32 largest_run(const struct chunk *chunk)
{
	int order = ORDERS - 1;

	while (order >= 0 && READ_ONCE(chunk->head[order]) == NO_SLOT)
		order--;
	return order < 0 ? 0 : 1U << order;
}

/* --- the CPUs' caches --- */

static u32 *cached_blocks(struct cache *cache, unsigned int order)
{
	return cache->block + 2 * CACHE_BLOCKS - (2 * CACHE_BLOCKS >> order);
}

static u32 cache_pop(struct vdma_pool *pool, unsigned int order)
{
	struct cache *cache;
	unsigned long flags;
	u32 block = NO_SLOT;

	cache = raw_cpu_ptr(pool->caches);
	spin_lock_irqsave(&cache->lock, flags);
	if (cache->count[order])
		block = cached_blocks(cache, order)[--cache->count[order]];
	spin_unlock_irqrestore(&cache->lock, flags);
	return block;
}

static __always_inline bool cache_push(struct vdma_pool *pool, unsigned int order, u32 block)
{
	struct cache *cache;
	unsigned long flags;
	bool room;

	cache = raw_cpu_ptr(pool->caches);
	spin_lock_irqsave(&cache->lock, flags);
	room = cache->count[order] < pool->capacity[order];
	if (room)
		cached_blocks(cache, order)[cache->count[order]++] = block;
	spin_unlock_irqrestore(&cache->lock, flags);
	return room;
}

/* As many as there is room for; returns how many that were, from the first on. */
static unsigned int cache_fill(struct vdma_pool *pool, unsigned int order,
			       const u32 *block, unsigned int count)
{
	struct cache *cache;
	unsigned long flags;
	unsigned int room;

	cache = raw_cpu_ptr(pool->caches);
	spin_lock_irqsave(&cache->lock, flags);
	room = min_t(unsigned int, count, pool->capacity[order] - cache->count[order]);
	memcpy(cached_blocks(cache, order) + cache->count[order], block, room * sizeof(*block));
	cache->count[order] += room;
	spin_unlock_irqrestore(&cache->lock, flags);
	return room;
}

/*
 * Blocks that were taken together often come back together, in either order: the
 * first of these that are neighbours are freed as one. Returns how many that were.
 */
static unsigned int free_neighbours(struct chunk *chunk, const u32 *block,
				    unsigned int count, unsigned int order)
{
	u32 first = block[0], end = block[0] + (1U << order);
	unsigned int i;

	for (i = 1; i < count; i++) {
		if (block[i] == end)
			end += 1U << order;
		else if (block[i] + (1U << order) == first)
			first = block[i];
		else
			break;
	}
	free_range(chunk, slot_of(first), slot_of(first) + (end - first));
	return i;
}

/* All in a row that are of the same chunk cost one lock. */
static void give_back(struct vdma_pool *pool, const u32 *block, unsigned int count,
		      unsigned int order)
{
	unsigned int i = 0;
	unsigned long flags;

	while (i < count) {
		struct chunk *chunk = chunk_of(pool, block[i]);

		spin_lock_irqsave(&chunk->lock, flags);
		do
			i += free_neighbours(chunk, block + i, count - i, order);
		while (i < count && chunk_of(pool, block[i]) == chunk);
		spin_unlock_irqrestore(&chunk->lock, flags);
	}
}

/*
 * One in @part of a CPU's blocks of one order, out of its cache and into the chunks:
 * the oldest, which are least likely to be in the CPU's own caches.
 */
static void drain(struct vdma_pool *pool, struct cache *cache, unsigned int order,
		  unsigned int part)
{
	u32 block[CACHE_BLOCKS], *cached = cached_blocks(cache, order);
	unsigned int count, left;
	unsigned long flags;

	spin_lock_irqsave(&cache->lock, flags);
	count = cache->count[order] / part;
	left = cache->count[order] - count;
	memcpy(block, cached, count * sizeof(*block));
	memmove(cached, cached + count, left * sizeof(*block));
	cache->count[order] = left;
	spin_unlock_irqrestore(&cache->lock, flags);
	give_back(pool, block, count, order);
}

/* Half of a full cache goes at once, so that the chunk's lock is taken for many blocks. */
static noinline void make_room_and_push(struct vdma_pool *pool, unsigned int order, u32 block)
{
	drain(pool, raw_cpu_ptr(pool->caches), order, 2);
	if (!cache_push(pool, order, block))
		give_back(pool, &block, 1, order);
}

static void drain_all(struct vdma_pool *pool)
{
	unsigned int order;
	int cpu;

	for_each_possible_cpu(cpu)
		for (order = 0; order < CACHED_ORDERS; order++)
			drain(pool, per_cpu_ptr(pool->caches, cpu), order, 1);
}

static u64 cached_slots(struct vdma_pool *pool)
{
	unsigned int order;
	u64 slots = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct cache *cache = per_cpu_ptr(pool->caches, cpu);

		for (order = 0; order < CACHED_ORDERS; order++)
			slots += (u64)READ_ONCE(cache->count[order]) << order;
	}
	return slots;
}

/* --- users --- */

static u64 user_slots(const struct vdma_pool_user *user)
{
	s64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(user->used, cpu));
	return max_t(s64, sum, 0);
}

/*
 * A user that shares the pool gets about three quarters of it at most, so that
 * one that saturates the pool does not stop the others. One that has its share
 * gets nothing from the caches either, which others fill. It is looked at when a
 * cache is empty, so a user may go over by what is in the caches.
 */
static bool over_share(struct vdma_pool *pool, struct vdma_pool_user *user, u32 want)
{
	bool over = atomic_read(&pool->users) > 1 &&
		    user_slots(user) + want > pool->slots / 4 * 3;

	if (over != READ_ONCE(user->over))
		WRITE_ONCE(user->over, over);
	return over;
}

static u64 used_slots(struct vdma_pool *pool)
{
	u64 idle = cached_slots(pool);
	unsigned int i;

	for (i = 0; i < pool->chunk_count; i++)
		idle += READ_ONCE(pool->chunks[i]->free);
	return pool->slots - min_t(u64, idle, pool->slots);
}

static void note_most(u64 *most, u64 used)
{
	if (used > READ_ONCE(*most))
		WRITE_ONCE(*most, used);
}

/* --- allocation --- */

/*
 * Take blocks of one order that is cached, as many as are wanted and can be had:
 * the smallest there are first, and larger ones whole as far as they are wanted.
 */
static unsigned int take_blocks(struct chunk *chunk, unsigned int index,
				unsigned int order, unsigned int want, u32 *block)
{
	unsigned int got = 0;

	while (got < want) {
		unsigned int from = least_order(chunk, order);
		u32 slot, end;

		if (from == ORDERS)
			break;
		from = min_t(unsigned int, from, order + ilog2(want - got));
		slot = take_block(chunk, from);
		memset(&chunk->state[slot], STATE_BODY | order, 1U << from);
		for (end = slot + (1U << from); slot < end; slot += 1U << order) {
			chunk->state[slot] = STATE_CACHED | order;
			block[got++] = to_block(index, slot);
		}
	}
	return got;
}

/*
 * Take as many blocks as half fill the cache, so that the lock is taken for many
 * blocks, and use one of them.
 */
static u32 take_and_refill(struct vdma_pool *pool, unsigned int order)
{
	unsigned int want = max(pool->capacity[order] / 2, 1), got = 0, kept, i;
	u32 block[CACHE_BLOCKS / 2];
	unsigned long flags;

	for (i = 0; i < pool->chunk_count && !got; i++) {
		struct chunk *chunk = pool->chunks[i];

		spin_lock_irqsave(&chunk->lock, flags);
		got = take_blocks(chunk, i, order, want, block);
		spin_unlock_irqrestore(&chunk->lock, flags);
	}
	if (!got)
		return NO_SLOT;
	got--;
	kept = cache_fill(pool, order, block, got);
	give_back(pool, block + kept, got - kept, order);
	return block[got];
}

/* A block of a size that is not cached. */
static u32 take_large(struct vdma_pool *pool, unsigned int order)
{
	unsigned long flags;
	u32 slot = NO_SLOT;
	unsigned int i;

	for (i = 0; i < pool->chunk_count; i++) {
		struct chunk *chunk = pool->chunks[i];

		spin_lock_irqsave(&chunk->lock, flags);
		slot = take_block(chunk, order);
		spin_unlock_irqrestore(&chunk->lock, flags);
		if (slot != NO_SLOT)
			return to_block(i, slot);
	}
	return NO_SLOT;
}

static u32 take(struct vdma_pool *pool, unsigned int order)
{
	return order < CACHED_ORDERS ? take_and_refill(pool, order) :
				       take_large(pool, order);
}

/* All that is slow is not inlined, so that the usual case need not save registers for it. */
static noinline int alloc_slow(struct vdma_pool *pool, struct vdma_pool_user *user,
			       unsigned int order, u32 count, u32 *block)
{
	u64 used;

	if (over_share(pool, user, count))
		return -EDQUOT;
	*block = take(pool, order);
	if (*block == NO_SLOT) {
		drain_all(pool);
		*block = take(pool, order);
	}
	if (*block == NO_SLOT)
		return -ENOMEM;
	note_most(&user->most, user_slots(user) + count);
	/* what is too much of the block will be cut off; the figure is a snapshot */
	used = used_slots(pool);
	note_most(&pool->most, used - min_t(u64, used, (1U << order) - count));
	return 0;
}

static int alloc_block(struct vdma_pool *pool, struct vdma_pool_user *user,
		       unsigned int order, u32 count, u32 *block)
{
	if (order < CACHED_ORDERS && !READ_ONCE(user->over)) {
		*block = cache_pop(pool, order);
		if (*block != NO_SLOT)
			return 0;
	}
	return alloc_slow(pool, user, order, count, block);
}

/* Bytes behind the end of the buffer have no original. */
static void note_original(struct chunk *chunk, u32 slot, unsigned int order,
			  u64 length, phys_addr_t original)
{
	union slot *s = &chunk->slots[slot];

	s[0].original = original;
	if (order)
		s[1].length = length;
	else
		s[0].original |= length << ORIGINAL_BITS;
}

static phys_addr_t original_of(const struct chunk *chunk, u32 slot, unsigned int order,
			       u64 *length)
{
	const union slot *s = &chunk->slots[slot];

	*length = order ? s[1].length : s[0].original >> ORIGINAL_BITS;
	return s[0].original & ORIGINAL_MASK;
}

static void mark_used(struct chunk *chunk, u32 slot, u8 state, u8 owner)
{
	chunk->owner[slot] = owner;
	/* pairs with the one in reclaim_from_chunk(): owner before state */
	smp_wmb();
	chunk->state[slot] = STATE_USED | state;
}

/* A large block is cut to size; what is kept becomes a row of blocks. */
static noinline void cut_to_size(struct chunk *chunk, u32 slot, unsigned int order,
				 u32 count, size_t length, phys_addr_t original,
				 u8 owner)
{
	u32 end = slot + count, at = slot;
	unsigned long flags;

	while (at < end) {
		unsigned int part = ilog2(end - at);
		size_t here = min_t(size_t, length, (size_t)VDMA_SLOT_SIZE << part);
		u8 state = part;

		if (at + (1U << part) == end)
			state |= STATE_LAST;
		memset(&chunk->state[at], STATE_BODY | part, 1U << part);
		note_original(chunk, at, part, here, original);
		mark_used(chunk, at, state, owner);
		original += here;
		length -= here;
		at += 1U << part;
	}
	/* last, so that nobody finds a row that is not whole */
	smp_wmb();
	WRITE_ONCE(chunk->state[slot], chunk->state[slot] | STATE_FIRST);
	if (count == 1U << order)
		return;
	spin_lock_irqsave(&chunk->lock, flags);
	free_range(chunk, end, slot + (1U << order));
	spin_unlock_irqrestore(&chunk->lock, flags);
}

/**
 * vdma_pool_alloc() - get a buffer
 * @pool: the pool
 * @user: who it is for
 * @size: bytes, at least 1
 * @original: physical address of what will be bounced; used by
 *	visits only; VDMA_NO_ORIGINAL if there is none
 * @buffer: the buffer; aligned to its size rounded up to a power of two, as far
 *	as the chunk that it lies in is aligned: to 64 KiB at least
 *
 * The buffer's old content is whatever was last bounced there.
 *
 * Context: any. Does not sleep. No global lock in the usual case.
 * Return: 0; -E2BIG if the pool could not hold that much even when empty;
 * -EDQUOT if @user has its share; -ENOMEM if the pool is full.
 */
int vdma_pool_alloc(struct vdma_pool *pool, struct vdma_pool_user *user,
		    size_t size, phys_addr_t original,
		    struct vdma_buffer *buffer)
{
	size_t count = DIV_ROUND_UP(size, VDMA_SLOT_SIZE);
	unsigned int order = order_base_2(count);
	struct chunk *chunk;
	u32 block, slot;
	int err;

	if (unlikely(size > (size_t)pool->largest << VDMA_SLOT_SHIFT))
		return -E2BIG;
	if (order < CACHED_ORDERS)
		count = 1U << order;
	err = alloc_block(pool, user, order, count, &block);
	if (unlikely(err))
		return err;

	if (original == VDMA_NO_ORIGINAL) {
		original = 0;
		size = 0;
	}
	chunk = chunk_of(pool, block);
	slot = slot_of(block);
	if (likely(order < CACHED_ORDERS)) {
		note_original(chunk, slot, order, size, original);
		mark_used(chunk, slot, STATE_FIRST | STATE_LAST | order, user->id);
	} else {
		cut_to_size(chunk, slot, order, count, size, original, user->id);
	}
	this_cpu_add(*user->used, count);
	buffer->phys = chunk->phys + ((phys_addr_t)slot << VDMA_SLOT_SHIFT);
	buffer->vaddr = chunk->vaddr + ((size_t)slot << VDMA_SLOT_SHIFT);
	return 0;
}

/* Few chunks, as a rule one: pages of a young guest lie side by side. */
static struct chunk *find_chunk(struct vdma_pool *pool, phys_addr_t phys,
				unsigned int *index)
{
	unsigned int i;

	for (i = 0; i < pool->chunk_count; i++) {
		struct chunk *chunk = pool->chunks[i];

		if (phys >= chunk->phys &&
		    (phys - chunk->phys) >> VDMA_SLOT_SHIFT < chunk->count) {
			*index = i;
			return chunk;
		}
	}
	return NULL;
}

static noinline u32 free_row(struct chunk *chunk, u32 slot)
{
	u32 begin = slot;
	unsigned long flags;
	u8 state;

	spin_lock_irqsave(&chunk->lock, flags);
	do {
		state = chunk->state[slot];
		free_block(chunk, slot, state & STATE_ORDER);
		slot += 1U << (state & STATE_ORDER);
	} while (!(state & STATE_LAST));
	spin_unlock_irqrestore(&chunk->lock, flags);
	return slot - begin;
}

/* Does a buffer of a user begin with this slot? */
static bool begins(const struct chunk *chunk, u32 slot, const struct vdma_pool_user *user)
{
	const u8 first = STATE_USED | STATE_FIRST;

	return (chunk->state[slot] & first) == first && chunk->owner[slot] == user->id;
}

/* Is it one block, of a size that is cached? */
static bool is_common(u8 state)
{
	return state & STATE_LAST && (state & STATE_ORDER) < CACHED_ORDERS;
}

static __always_inline void free_buffer(struct vdma_pool *pool, struct vdma_pool_user *user,
					unsigned int index, u32 slot)
{
	struct chunk *chunk = pool->chunks[index];
	u8 state = chunk->state[slot];
	unsigned int order = state & STATE_ORDER;
	u32 count = 1U << order;

	if (likely(is_common(state))) {
		chunk->state[slot] = STATE_CACHED | order;
		if (unlikely(!cache_push(pool, order, to_block(index, slot))))
			make_room_and_push(pool, order, to_block(index, slot));
	} else {
		count = free_row(chunk, slot);
	}
	this_cpu_sub(*user->used, count);
}

static noinline void warn_no_buffer(phys_addr_t phys)
{
	pr_warn_once("ignored: freeing %pa, where the device has no buffer\n", &phys);
}

/**
 * vdma_pool_free() - give a buffer back
 * @pool: the pool
 * @user: who it was for
 * @phys: an address in the first slot of the buffer
 *
 * An address where no buffer of @user begins is ignored, and warned about once:
 * in 5.10 virtio_ring takes the address from the ring, where the host can have
 * changed it.
 *
 * Context: any. Does not sleep.
 */
void vdma_pool_free(struct vdma_pool *pool, struct vdma_pool_user *user,
		    phys_addr_t phys)
{
	unsigned int index;
	struct chunk *chunk = find_chunk(pool, phys, &index);
	u32 slot;

	if (unlikely(!chunk))
		return warn_no_buffer(phys);
	slot = (phys - chunk->phys) >> VDMA_SLOT_SHIFT;
	if (unlikely(!begins(chunk, slot, user)))
		return warn_no_buffer(phys);
	free_buffer(pool, user, index, slot);
}

/* The first slot of the block that a slot is in; that of any block if it is in none. */
static u32 first_slot(const struct chunk *chunk, u32 slot)
{
	u8 state = chunk->state[slot];

	if ((state & ~STATE_ORDER) != STATE_BODY)
		return slot;
	return slot & ~((1U << (state & STATE_ORDER)) - 1);
}

/**
 * struct stretch - bytes that are contiguous in the pool and in their original
 * @at: where they begin, from the begin of the chunk
 * @here: how many there are up to the end of their block
 * @size: how many of those have an original
 * @original: physical address of the original
 * @is_last: their buffer ends with their block
 */
struct stretch {
	size_t at;
	size_t here;
	size_t size;
	phys_addr_t original;
	bool is_last;
};

/* The rest of a block, from @at on; false if it is not in use by the user. */
static bool find_stretch(const struct chunk *chunk, const struct vdma_pool_user *user,
			 size_t at, struct stretch *s)
{
	size_t begin, offset;
	unsigned int order;
	u64 length;
	u32 slot;
	u8 state;

	if (at >> VDMA_SLOT_SHIFT >= chunk->count)
		return false;
	slot = first_slot(chunk, at >> VDMA_SLOT_SHIFT);
	state = chunk->state[slot];
	order = state & STATE_ORDER;
	begin = (size_t)slot << VDMA_SLOT_SHIFT;
	offset = at - begin;
	if (!(state & STATE_USED) || chunk->owner[slot] != user->id ||
	    offset >= (size_t)VDMA_SLOT_SIZE << order)
		return false;

	s->at = at;
	s->here = ((size_t)VDMA_SLOT_SIZE << order) - offset;
	s->original = original_of(chunk, slot, order, &length) + offset;
	s->size = offset < length ? length - offset : 0;
	s->is_last = state & STATE_LAST;
	return true;
}

static void visit_stretch(const struct chunk *chunk, const struct stretch *s,
			  vdma_pool_visitor visit)
{
	if (s->size)
		visit(chunk->vaddr + s->at, s->original, s->size);
}

/* Through one buffer, or on into the next one. */
static bool visit_stretches(struct vdma_pool *pool, const struct vdma_pool_user *user,
			    phys_addr_t phys, size_t size, bool across,
			    vdma_pool_visitor visit)
{
	unsigned int index;
	struct chunk *chunk = find_chunk(pool, phys, &index);
	struct stretch now = {}, next;
	bool whole = true;

	if (!chunk)
		return false;
	next.at = phys - chunk->phys;
	while (size) {
		if (!find_stretch(chunk, user, next.at, &next))
			return false;
		if (!across && next.is_last && size > next.here) {
			size = next.here;
			whole = false;
		}
		next.here = min(next.here, size);
		next.size = min(next.size, next.here);
		size -= next.here;
		if (now.size && now.at + now.size == next.at &&
		    now.original + now.size == next.original) {
			now.size += next.size;
		} else {
			visit_stretch(chunk, &now, visit);
			now = next;
		}
		next.at += next.here;
	}
	visit_stretch(chunk, &now, visit);
	return whole;
}

/**
 * vdma_pool_visit() - go through a part of a buffer with its original
 * @pool: the pool
 * @user: whose buffer it is
 * @phys: where the part begins
 * @size: its length in bytes
 * @visit: called for each stretch that is contiguous in the pool and in its
 *	original, in ascending order
 *
 * Bytes that have no original, because they lie behind the end of what is
 * bounced, are passed over.
 *
 * Context: any. Does not sleep, unless @visit does.
 * Return: true; false, with no more visited than what is in the buffer, if the
 * part is not all in one buffer of @user.
 */
bool vdma_pool_visit(struct vdma_pool *pool, const struct vdma_pool_user *user,
		     phys_addr_t phys, size_t size, vdma_pool_visitor visit)
{
	return visit_stretches(pool, user, phys, size, false, visit);
}

/**
 * vdma_pool_visit_across() - go through a part of one or more buffers with their originals
 * @pool: the pool
 * @user: whose buffers they are
 * @phys: where the part begins
 * @size: its length in bytes
 * @visit: as for vdma_pool_visit()
 *
 * Neighbouring buffers are taken for one, as AF_XDP does.
 *
 * Context: any. Does not sleep, unless @visit does.
 * Return: true; false, with nothing or only the first stretches visited, if the
 * part is not all in buffers of @user.
 */
bool vdma_pool_visit_across(struct vdma_pool *pool, const struct vdma_pool_user *user,
			    phys_addr_t phys, size_t size, vdma_pool_visitor visit)
{
	return visit_stretches(pool, user, phys, size, true, visit);
}

/**
 * vdma_pool_visit_and_free() - vdma_pool_visit(), then vdma_pool_free()
 * @pool: the pool
 * @user: whose buffer it is
 * @phys: an address in the first slot of the buffer
 * @size: length in bytes of the part to visit
 * @visit: as for vdma_pool_visit()
 *
 * Looks the usual buffer up only once.
 *
 * Context: any. Does not sleep, unless @visit does.
 * Return: as vdma_pool_visit(). The buffer is freed also when it was not visited, and
 * nobody else can free it meanwhile. Where no buffer of @user begins at @phys nothing
 * is done but to warn, once.
 */
bool vdma_pool_visit_and_free(struct vdma_pool *pool, struct vdma_pool_user *user,
			      phys_addr_t phys, size_t size, vdma_pool_visitor visit)
{
	unsigned int index;
	struct chunk *chunk = find_chunk(pool, phys, &index);
	phys_addr_t original;
	bool visited = true;
	size_t at, begin;
	u64 length;
	u32 slot;

	if (unlikely(!chunk))
		goto err_no_buffer;
	at = phys - chunk->phys;
	slot = at >> VDMA_SLOT_SHIFT;
	if (unlikely(!begins(chunk, slot, user)))
		goto err_no_buffer;

	begin = (size_t)slot << VDMA_SLOT_SHIFT;
	/* so nobody else frees it meanwhile, whatever address the host made him believe */
	WRITE_ONCE(chunk->state[slot], chunk->state[slot] & ~STATE_FIRST);
	original = original_of(chunk, slot, chunk->state[slot] & STATE_ORDER, &length);
	if (likely(size <= length && at - begin <= length - size))
		visit(chunk->vaddr + at, original + (at - begin), size);
	else
		visited = vdma_pool_visit(pool, user, phys, size, visit);
	free_buffer(pool, user, index, slot);
	return visited;

err_no_buffer:
	warn_no_buffer(phys);
	return false;
}

/* --- making a pool --- */

/* What is asked of the page allocator, and the least that is taken instead. */
#define PIECE_SIZE (4UL << 20)
#define PIECE_MIN_SIZE (64UL << 10)

static int by_address(const void *a, const void *b)
{
	unsigned long pfn_a = page_to_pfn(((const struct piece *)a)->page);
	unsigned long pfn_b = page_to_pfn(((const struct piece *)b)->page);

	return pfn_a < pfn_b ? -1 : pfn_a > pfn_b;
}

static size_t piece_size(const struct piece *piece)
{
	return PAGE_SIZE << piece->order;
}

static void free_pieces(struct vdma_pool *pool)
{
	while (pool->piece_count--)
		__free_pages(pool->pieces[pool->piece_count].page,
			     pool->pieces[pool->piece_count].order);
	kvfree(pool->pieces);
}

/* There was room for more of them, had they been small. */
static void trim_pieces(struct vdma_pool *pool)
{
	size_t size = array_size(pool->piece_count, sizeof(*pool->pieces));
	struct piece *pieces = kvmalloc(size, GFP_KERNEL);

	if (!pieces)
		return;
	memcpy(pieces, pool->pieces, size);
	kvfree(pool->pieces);
	pool->pieces = pieces;
}

/* Large pieces first, smaller ones where memory is fragmented. Zeroed: the host will see it. */
static int alloc_pieces(struct vdma_pool *pool, size_t size)
{
	unsigned int order = get_order(min_t(size_t, size, PIECE_SIZE));
	size_t got = 0;

	pool->pieces = kvcalloc(DIV_ROUND_UP(size, PIECE_MIN_SIZE),
				sizeof(*pool->pieces), GFP_KERNEL);
	if (!pool->pieces)
		return -ENOMEM;

	while (got < size) {
		struct piece *piece = &pool->pieces[pool->piece_count];

		piece->order = order;
		piece->page = alloc_pages(GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN |
					  __GFP_RETRY_MAYFAIL, order);
		if (piece->page) {
			pool->piece_count++;
			got += piece_size(piece);
			continue;
		}
		if (PAGE_SIZE << order <= PIECE_MIN_SIZE)
			goto err_free_pieces;
		order--;
	}
	trim_pieces(pool);
	sort(pool->pieces, pool->piece_count, sizeof(*pool->pieces), by_address, NULL);
	return 0;

err_free_pieces:
	free_pieces(pool);
	return -ENOMEM;
}

static void destroy_chunk(struct chunk *chunk)
{
	vfree(chunk->slots);
	kfree(chunk);
}

static struct chunk *create_chunk(struct page *page, size_t size)
{
	struct chunk *chunk = kzalloc(sizeof(*chunk), GFP_KERNEL);
	unsigned long flags;
	unsigned int order;

	if (!chunk)
		return NULL;
	chunk->phys = page_to_phys(page);
	chunk->vaddr = page_address(page);
	chunk->count = size >> VDMA_SLOT_SHIFT;
	/*
	 * All tables in one: whole pages of 4 MiB of pool, which kmalloc would round
	 * up. Who wanted the pool says that there is no memory for it.
	 */
	chunk->slots = __vmalloc(array_size(chunk->count, sizeof(*chunk->slots) +
					    sizeof(*chunk->state) + sizeof(*chunk->owner)),
				 GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
	if (!chunk->slots) {
		destroy_chunk(chunk);
		return NULL;
	}
	chunk->state = (u8 *)(chunk->slots + chunk->count);
	chunk->owner = chunk->state + chunk->count;

	spin_lock_init(&chunk->lock);
	for (order = 0; order < ORDERS; order++)
		chunk->head[order] = NO_SLOT;
	memset(chunk->state, STATE_NONE, chunk->count);
	spin_lock_irqsave(&chunk->lock, flags);
	free_range(chunk, 0, chunk->count);
	spin_unlock_irqrestore(&chunk->lock, flags);
	return chunk;
}

static int add_chunk(struct vdma_pool *pool, struct page *page, size_t size)
{
	struct chunk *chunk;

	if (pool->chunk_count == MAX_CHUNKS)
		return -ENOMEM;
	chunk = create_chunk(page, size);
	if (!chunk)
		return -ENOMEM;
	pool->chunks[pool->chunk_count++] = chunk;
	pool->slots += chunk->count;
	pool->largest = max(pool->largest, largest_run(chunk));
	pool->end = max_t(phys_addr_t, pool->end, chunk->phys + size);
	return 0;
}

static void destroy_chunks(struct vdma_pool *pool)
{
	while (pool->chunk_count)
		destroy_chunk(pool->chunks[--pool->chunk_count]);
}

/* Neighbouring pieces make one chunk, so that buffers may be larger than a piece. */
static int create_chunks(struct vdma_pool *pool)
{
	unsigned int i = 0;
	int err = 0;

	while (i < pool->piece_count && !err) {
		struct page *first = pool->pieces[i].page;
		size_t size = 0;

		do
			size += piece_size(&pool->pieces[i++]);
		while (i < pool->piece_count && size < CHUNK_MAX_SIZE &&
		       page_to_phys(pool->pieces[i].page) == page_to_phys(first) + size);
		err = add_chunk(pool, first, size);
	}
	if (err)
		destroy_chunks(pool);
	return err;
}

/*
 * In a memory-encrypting guest the host can only read what has been decrypted.
 * Memory that cannot be encrypted again must never be used by the kernel for
 * anything else: it is leaked on purpose.
 */
static int share_with_host(struct vdma_pool *pool)
{
	unsigned int i;

	if (!cc_platform_has(CC_ATTR_MEM_ENCRYPT))
		return 0;
	for (i = 0; i < pool->piece_count; i++) {
		const struct piece *piece = &pool->pieces[i];

		if (set_memory_decrypted((unsigned long)page_address(piece->page),
					 1 << piece->order))
			return -EIO;
	}
	return 0;
}

static void unshare_with_host(struct vdma_pool *pool)
{
	unsigned int i, kept = 0;

	if (!cc_platform_has(CC_ATTR_MEM_ENCRYPT))
		return;
	for (i = 0; i < pool->piece_count; i++) {
		struct piece piece = pool->pieces[i];

		if (set_memory_encrypted((unsigned long)page_address(piece.page),
					 1 << piece.order))
			pr_warn("%zu KiB of the pool could not be encrypted again: leaked\n",
				piece_size(&piece) >> 10);
		else
			pool->pieces[kept++] = piece;
	}
	pool->piece_count = kept;
}

static void set_cache_capacity(struct vdma_pool *pool)
{
	/* all caches together hold a quarter of a small pool at most */
	u32 share = pool->slots / (4 * CACHED_ORDERS * num_possible_cpus());
	unsigned int order;

	for (order = 0; order < CACHED_ORDERS; order++)
		pool->capacity[order] = min_t(u32, share, CACHE_BLOCKS) >> order;
}

static int create_caches(struct vdma_pool *pool)
{
	int cpu;

	pool->caches = alloc_percpu(struct cache);
	if (!pool->caches)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		spin_lock_init(&per_cpu_ptr(pool->caches, cpu)->lock);
	set_cache_capacity(pool);
	return 0;
}

/**
 * vdma_pool_create() - make a pool
 * @size: bytes; rounded up to what the page allocator gives in one piece
 * @largest: receives the size in bytes of the largest buffer it can hold
 *
 * Context: may sleep.
 * Return: the pool, or ERR_PTR(-ENOMEM) if there is not that much memory, or
 * only in too many pieces; ERR_PTR(-EIO) if it could not be decrypted.
 */
struct vdma_pool *vdma_pool_create(size_t size, size_t *largest)
{
	struct vdma_pool *pool = kzalloc(sizeof(*pool), GFP_KERNEL);
	int err = -ENOMEM;

	if (!pool)
		return ERR_PTR(err);
	ida_init(&pool->ids);
	err = alloc_pieces(pool, size);
	if (err)
		goto err_free_pool;
	err = create_chunks(pool);
	if (err)
		goto err_free_pieces;
	err = create_caches(pool);
	if (err)
		goto err_destroy_chunks;
	err = share_with_host(pool);
	if (err)
		goto err_unshare;
	*largest = (size_t)pool->largest << VDMA_SLOT_SHIFT;
	return pool;

err_unshare:
	unshare_with_host(pool);
	free_percpu(pool->caches);
err_destroy_chunks:
	destroy_chunks(pool);
err_free_pieces:
	free_pieces(pool);
err_free_pool:
	kfree(pool);
	return ERR_PTR(err);
}

/**
 * vdma_pool_destroy() - give a pool's memory back
 * @pool: the pool, without users and buffers
 *
 * Context: may sleep.
 */
void vdma_pool_destroy(struct vdma_pool *pool)
{
	unshare_with_host(pool);
	free_percpu(pool->caches);
	destroy_chunks(pool);
	free_pieces(pool);
	kfree(pool);
}

/**
 * vdma_pool_join() - become a user of a pool
 * @pool: the pool
 * @user: the user
 *
 * Context: may sleep.
 * Return: 0, -ENOMEM, or -ENOSPC if there are 256 users already.
 */
int vdma_pool_join(struct vdma_pool *pool, struct vdma_pool_user *user)
{
	int id = ida_alloc_max(&pool->ids, U8_MAX, GFP_KERNEL);

	if (id < 0)
		return id;
	user->used = alloc_percpu(s64);
	if (!user->used) {
		ida_free(&pool->ids, id);
		return -ENOMEM;
	}
	user->id = id;
	user->over = false;
	user->most = 0;
	atomic_inc(&pool->users);
	return 0;
}

/**
 * vdma_pool_leave() - be a user no longer
 * @pool: the pool
 * @user: the user, without buffers
 *
 * Context: may sleep.
 */
void vdma_pool_leave(struct vdma_pool *pool, struct vdma_pool_user *user)
{
	atomic_dec(&pool->users);
	ida_free(&pool->ids, user->id);
	free_percpu(user->used);
	user->used = NULL;
}

/**
 * vdma_pool_end() - how high the pool reaches
 * @pool: the pool
 *
 * Context: any.
 * Return: physical address of the byte behind its highest one.
 */
phys_addr_t vdma_pool_end(const struct vdma_pool *pool)
{
	return pool->end;
}

/**
 * vdma_pool_chunk() - where a chunk of the pool lies
 * @pool: the pool
 * @index: number of the chunk, from 0
 * @first: receives its first physical address
 * @last: receives its last one
 *
 * Context: any.
 * Return: true, or false if there are not that many chunks.
 */
bool vdma_pool_chunk(const struct vdma_pool *pool, unsigned int index,
		     phys_addr_t *first, phys_addr_t *last)
{
	const struct chunk *chunk;

	if (index >= pool->chunk_count)
		return false;
	chunk = pool->chunks[index];
	*first = chunk->phys;
	*last = chunk->phys + ((phys_addr_t)chunk->count << VDMA_SLOT_SHIFT) - 1;
	return true;
}

/**
 * vdma_pool_get_info() - ask how a pool is doing
 * @pool: the pool
 * @info: the answer; a snapshot taken without locks
 *
 * Context: any.
 */
void vdma_pool_get_info(struct vdma_pool *pool, struct vdma_pool_info *info)
{
	u32 run = 0;
	unsigned int i;

	note_most(&pool->most, used_slots(pool));
	for (i = 0; i < pool->chunk_count; i++)
		run = max(run, largest_run(pool->chunks[i]));
	info->size = (u64)pool->slots << VDMA_SLOT_SHIFT;
	info->used = used_slots(pool) << VDMA_SLOT_SHIFT;
	info->most = READ_ONCE(pool->most) << VDMA_SLOT_SHIFT;
	info->largest_run = (u64)run << VDMA_SLOT_SHIFT;
}

/**
 * vdma_pool_reset_most() - begin to look for the most in use anew
 * @pool: the pool
 *
 * Context: any.
 */
void vdma_pool_reset_most(struct vdma_pool *pool)
{
	WRITE_ONCE(pool->most, used_slots(pool));
}

/**
 * vdma_pool_user_used() - what a user holds
 * @user: the user
 *
 * Context: any.
 * Return: bytes.
 */
u64 vdma_pool_user_used(const struct vdma_pool_user *user)
{
	return user_slots(user) << VDMA_SLOT_SHIFT;
}

/**
 * vdma_pool_user_most() - the most that a user held
 * @user: the user
 *
 * Context: any.
 * Return: bytes, as seen whenever a CPU's cache was refilled for it.
 */
u64 vdma_pool_user_most(const struct vdma_pool_user *user)
{
	return READ_ONCE(user->most) << VDMA_SLOT_SHIFT;
}

static void reclaim_from_chunk(struct vdma_pool *pool, struct chunk *chunk,
			       struct vdma_pool_user *user)
{
	const u8 first = STATE_USED | STATE_FIRST;
	u32 slot;

	for (slot = 0; slot < chunk->count; slot++) {
		if ((READ_ONCE(chunk->state[slot]) & first) != first)
			continue;
		/* pairs with the one in vdma_pool_alloc(): not the owner of before */
		smp_rmb();
		if (chunk->owner[slot] == user->id)
			vdma_pool_free(pool, user, chunk->phys +
				       ((phys_addr_t)slot << VDMA_SLOT_SHIFT));
		cond_resched();
	}
}

/**
 * vdma_pool_reclaim() - free all buffers of a user
 * @pool: the pool
 * @user: the user; nobody else frees or visits its buffers meanwhile
 *
 * Looks at every slot of the pool.
 *
 * Context: may sleep.
 */
void vdma_pool_reclaim(struct vdma_pool *pool, struct vdma_pool_user *user)
{
	unsigned int i;

	for (i = 0; i < pool->chunk_count; i++)
		reclaim_from_chunk(pool, pool->chunks[i], user);
}
