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
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/idr.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "chunk.h"
#include "memory.h"
#include "pool.h"
#include "pool_parts.h"

/*
 * Of a block in use: the address of its original, and, above that, how many of
 * its bytes have one if it has one slot only; larger blocks have a slot more to
 * keep that in. Physical addresses have at most 52 bits.
 */
#define ORIGINAL_BITS 52
#define ORIGINAL_MASK ((1ULL << ORIGINAL_BITS) - 1)

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
	vdma_chunk_free_range(chunk, slot_of(first), slot_of(first) + (end - first));
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
 * the oldest, which are least likely to be in the CPU's own caches. The cache stays
 * locked meanwhile, so that nobody finds the blocks neither here nor there.
 */
static void drain(struct vdma_pool *pool, struct cache *cache, unsigned int order,
		  unsigned int part)
{
	u32 *cached = cached_blocks(cache, order);
	unsigned int count, left;
	unsigned long flags;

	spin_lock_irqsave(&cache->lock, flags);
	count = cache->count[order] / part;
	left = cache->count[order] - count;
	give_back(pool, cached, count, order);
	memmove(cached, cached + count, left * sizeof(*cached));
	cache->count[order] = left;
	spin_unlock_irqrestore(&cache->lock, flags);
}

/* Half of a full cache goes at once, so that the chunk's lock is taken for many blocks. */
static noinline void make_room_and_push(struct vdma_pool *pool, unsigned int order, u32 block)
{
	drain(pool, raw_cpu_ptr(pool->caches), order, 2);
	if (!cache_push(pool, order, block))
		give_back(pool, &block, 1, order);
}

/**
 * vdma_pool_drain() - take back what lies in the caches of all CPUs
 * @pool: the pool
 *
 * Context: any. Does not sleep.
 */
void vdma_pool_drain(struct vdma_pool *pool)
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
		    user_slots(user) + want > READ_ONCE(pool->slots) / 4 * 3;

	if (over != READ_ONCE(user->over))
		WRITE_ONCE(user->over, over);
	return over;
}

/**
 * vdma_pool_used_slots() - what is in use
 * @pool: the pool
 *
 * Context: any.
 * Return: slots; a snapshot taken without locks.
 */
u64 vdma_pool_used_slots(struct vdma_pool *pool)
{
	u64 slots = 0, idle = cached_slots(pool);
	unsigned int i;

	rcu_read_lock();
	for (i = 0; i < READ_ONCE(pool->chunk_count); i++) {
		const struct chunk *chunk = READ_ONCE(pool->chunks[i]);

		slots += READ_ONCE(chunk->count);
		idle += READ_ONCE(chunk->free);
	}
	rcu_read_unlock();
	return slots - min(idle, slots);
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
		unsigned int from = vdma_chunk_least_order(chunk, order);
		u32 slot, end;

		if (from == ORDERS)
			break;
		from = min_t(unsigned int, from, order + ilog2(want - got));
		slot = vdma_chunk_take(chunk, from);
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

	for (i = 0; i < READ_ONCE(pool->chunk_count) && !got; i++) {
		struct chunk *chunk = READ_ONCE(pool->chunks[i]);

		if (!READ_ONCE(chunk->free))
			continue;
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

	for (i = 0; i < READ_ONCE(pool->chunk_count); i++) {
		struct chunk *chunk = READ_ONCE(pool->chunks[i]);

		if (!READ_ONCE(chunk->free))
			continue;
		spin_lock_irqsave(&chunk->lock, flags);
		slot = vdma_chunk_take(chunk, order);
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

static u32 take_or_drain(struct vdma_pool *pool, unsigned int order)
{
	u32 block;

	rcu_read_lock();
	block = take(pool, order);
	if (block == NO_SLOT) {
		vdma_pool_drain(pool);
		block = take(pool, order);
	}
	rcu_read_unlock();
	return block;
}

/*
 * Growing takes memory, which may take sleep, so it is left to a work item: who finds
 * the pool full before that has to try again. A pool that cannot grow is not asked to.
 */
static void no_room(struct vdma_pool *pool)
{
	if (READ_ONCE(pool->grow_above) == U64_MAX)
		return;
	WRITE_ONCE(pool->full, true);
	vdma_resize_wanted(pool);
}

/* All that is slow is not inlined, so that the usual case need not save registers for it. */
static noinline int alloc_slow(struct vdma_pool *pool, struct vdma_pool_user *user,
			       unsigned int order, u32 count, u32 *block)
{
	u64 used;

	if (over_share(pool, user, count)) {
		no_room(pool);
		return -EDQUOT;
	}
	*block = take_or_drain(pool, order);
	if (*block == NO_SLOT) {
		no_room(pool);
		return -ENOMEM;
	}
	note_most(&user->most, user_slots(user) + count);
	/* what is too much of the block will be cut off; the figure is a snapshot */
	used = vdma_pool_used_slots(pool);
	used -= min_t(u64, used, (1U << order) - count);
	note_most(&pool->most, used);
	note_most(&pool->peak, used);
	if (used > READ_ONCE(pool->grow_above))
		vdma_resize_wanted(pool);
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
	/* pairs with those of whoever looks at both: owner before state */
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
	vdma_chunk_free_range(chunk, end, slot + (1U << order));
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

/*
 * Few chunks, as a rule one: pages of a young guest lie side by side. Within an RCU
 * read-side section, as the address may be in a chunk that is being dropped.
 */
static struct chunk *find_chunk(struct vdma_pool *pool, phys_addr_t phys,
				unsigned int *index)
{
	unsigned int i;

	for (i = 0; i < READ_ONCE(pool->chunk_count); i++) {
		struct chunk *chunk = READ_ONCE(pool->chunks[i]);

		if (phys >= chunk->phys &&
		    (phys - chunk->phys) >> VDMA_SLOT_SHIFT < READ_ONCE(chunk->count)) {
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
		vdma_chunk_free(chunk, slot, state & STATE_ORDER);
		slot += 1U << (state & STATE_ORDER);
	} while (!(state & STATE_LAST));
	spin_unlock_irqrestore(&chunk->lock, flags);
	return slot - begin;
}

/* Does a buffer of a user begin with this slot? */
static bool begins(const struct chunk *chunk, u32 slot, const struct vdma_pool_user *user)
{
	const u8 first = STATE_USED | STATE_FIRST;

	if ((READ_ONCE(chunk->state[slot]) & first) != first)
		return false;
	/* pairs with the one in mark_used(): not the owner of before */
	smp_rmb();
	return chunk->owner[slot] == user->id;
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
 * Context: any, within an RCU read-side section. Does not sleep.
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

	if (at >> VDMA_SLOT_SHIFT >= READ_ONCE(chunk->count))
		return false;
	slot = first_slot(chunk, at >> VDMA_SLOT_SHIFT);
	state = READ_ONCE(chunk->state[slot]);
	/* pairs with the one in mark_used(): not the owner of before */
	smp_rmb();
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
 * Context: any, within an RCU read-side section. Does not sleep.
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
 * Context: any, within an RCU read-side section. Does not sleep.
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
 * Context: any, within an RCU read-side section. Does not sleep.
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
 * @size: bytes; rounded up to what there is in one piece
 * @max: bytes that it may grow to; not more than @size: it does not grow
 * @window: where it is to lie, which stays as long as the pool does; NULL: in memory
 *	from the page allocator
 * @largest: receives the size in bytes of the largest buffer it can hold, even when
 *	there is no memory for it to grow
 *
 * Context: may sleep.
 * Return: the pool, or ERR_PTR(-ENOMEM) if there is not that much memory, or
 * only in too many pieces; ERR_PTR(-EIO) if it could not be decrypted.
 */
struct vdma_pool *vdma_pool_create(size_t size, size_t max, const struct vdma_window *window,
				   size_t *largest)
{
	struct vdma_pool *pool = kzalloc(sizeof(*pool), GFP_KERNEL);
	int err = -ENOMEM;

	if (!pool)
		return ERR_PTR(err);
	ida_init(&pool->ids);
	err = vdma_memory_init(&pool->memory, window);
	if (err)
		goto err_free_pool;
	err = vdma_resize_init(pool, size, max);
	if (err)
		goto err_exit_memory;
	err = create_caches(pool);
	if (err)
		goto err_exit_resize;
	*largest = (size_t)pool->largest << VDMA_SLOT_SHIFT;
	return pool;

err_exit_resize:
	vdma_resize_exit(pool);
err_exit_memory:
	vdma_memory_exit(&pool->memory);
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
	/* first, as what makes the pool smaller drains the caches */
	vdma_resize_exit(pool);
	free_percpu(pool->caches);
	vdma_memory_exit(&pool->memory);
	kfree(pool);
}

/**
 * vdma_pool_join() - become a user of a pool
 * @pool: the pool
 * @user: the user
 * @reach: highest physical address that it can use
 *
 * As long as it is a user the pool does not grow above @reach.
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM; -ENOSPC if there are 256 users already; -ERANGE if the pool lies
 * beyond @reach, in part at least.
 */
int vdma_pool_join(struct vdma_pool *pool, struct vdma_pool_user *user, u64 reach)
{
	int id = ida_alloc_max(&pool->ids, U8_MAX, GFP_KERNEL);
	int err = -ENOMEM;

	if (id < 0)
		return id;
	user->used = alloc_percpu(s64);
	if (!user->used)
		goto err_free_id;
	user->id = id;
	user->over = false;
	user->most = 0;
	user->reach = reach;
	mutex_lock(&pool->resize);
	if (pool->end - 1 > reach) {
		err = -ERANGE;
		goto err_unlock;
	}
	list_add(&user->member, &pool->members);
	mutex_unlock(&pool->resize);
	atomic_inc(&pool->users);
	return 0;

err_unlock:
	mutex_unlock(&pool->resize);
	free_percpu(user->used);
	user->used = NULL;
err_free_id:
	ida_free(&pool->ids, id);
	return err;
}

/**
 * vdma_pool_narrow() - a user can use fewer addresses than it said
 * @pool: the pool
 * @user: the user
 * @reach: highest physical address that it can use now
 *
 * Context: may sleep.
 * Return: true, and the pool will not grow above @reach; false if it lies there already.
 */
bool vdma_pool_narrow(struct vdma_pool *pool, struct vdma_pool_user *user, u64 reach)
{
	bool within;

	mutex_lock(&pool->resize);
	within = pool->end - 1 <= reach;
	if (within)
		user->reach = min(user->reach, reach);
	mutex_unlock(&pool->resize);
	return within;
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
	mutex_lock(&pool->resize);
	list_del(&user->member);
	mutex_unlock(&pool->resize);
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
	return READ_ONCE(pool->end);
}

/**
 * vdma_pool_chunk() - where a chunk of the pool lies
 * @pool: the pool
 * @index: number of the chunk among those that there are, from 0
 * @first: receives its first physical address
 * @last: receives its last one
 *
 * Context: any.
 * Return: true, or false if there are not that many chunks.
 */
bool vdma_pool_chunk(const struct vdma_pool *pool, unsigned int index,
		     phys_addr_t *first, phys_addr_t *last)
{
	unsigned int i;

	rcu_read_lock();
	for (i = 0; i < READ_ONCE(pool->chunk_count); i++) {
		const struct chunk *chunk = READ_ONCE(pool->chunks[i]);
		u32 count = READ_ONCE(chunk->count);

		if (count && !index--) {
			*first = chunk->phys;
			*last = chunk->phys + ((phys_addr_t)count << VDMA_SLOT_SHIFT) - 1;
			rcu_read_unlock();
			return true;
		}
	}
	rcu_read_unlock();
	return false;
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

	note_most(&pool->most, vdma_pool_used_slots(pool));
	rcu_read_lock();
	for (i = 0; i < READ_ONCE(pool->chunk_count); i++)
		run = max(run, vdma_chunk_largest_run(READ_ONCE(pool->chunks[i])));
	rcu_read_unlock();
	info->size = (u64)READ_ONCE(pool->slots) << VDMA_SLOT_SHIFT;
	info->max = (u64)pool->max << VDMA_SLOT_SHIFT;
	info->grows = READ_ONCE(pool->grows);
	info->shrinks = READ_ONCE(pool->shrinks);
	info->used = vdma_pool_used_slots(pool) << VDMA_SLOT_SHIFT;
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
	WRITE_ONCE(pool->most, vdma_pool_used_slots(pool));
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

static void reclaim_from_chunk(struct vdma_pool *pool, unsigned int index,
			       struct vdma_pool_user *user)
{
	const struct chunk *chunk = pool->chunks[index];
	const u8 first = STATE_USED | STATE_FIRST;
	u32 slot;

	for (slot = 0; slot < chunk->count; slot++) {
		if ((READ_ONCE(chunk->state[slot]) & first) != first)
			continue;
		/* pairs with the one in mark_used(): not the owner of before */
		smp_rmb();
		if (chunk->owner[slot] == user->id)
			free_buffer(pool, user, index, slot);
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

	mutex_lock(&pool->resize);
	for (i = 0; i < pool->chunk_count; i++)
		reclaim_from_chunk(pool, i, user);
	mutex_unlock(&pool->resize);
}
