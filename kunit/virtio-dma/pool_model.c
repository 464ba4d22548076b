// SPDX-License-Identifier: GPL-2.0
/*
 * Random operations on a pool, and after each of them: is it as the model says?
 *
 * The model is a bit for each slot that somebody holds. Buffers must not overlap
 * in it, and the pool must not be full while it has room.
 */
#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/io.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "pool_model.h"

/* More than any pool has. */
#define MODEL_CHUNKS 256

/**
 * struct model_chunk - a part of the pool
 * @first: its first physical address
 * @last: its last one
 * @slots: how many
 * @taken: a bit for each slot that somebody holds
 */
struct model_chunk {
	phys_addr_t first;
	phys_addr_t last;
	unsigned long slots;
	unsigned long *taken;
};

/**
 * struct pool_model - what is known of a pool
 * @pool: the pool
 * @size: all of it, in bytes
 * @largest: the largest buffer that it can hold, in bytes
 * @one_thread: all players play in one thread, so that figures can be compared
 * @players: how many
 * @held: bytes that they hold
 * @most: most bytes that they held
 * @most_seen: most of that which the pool was asked about
 * @chunk_count: parts of the pool
 * @chunk: the parts
 */
struct pool_model {
	struct vdma_pool *pool;
	u64 size;
	size_t largest;
	bool one_thread;
	unsigned int players;
	atomic64_t held;
	u64 most;
	u64 most_seen;
	unsigned int chunk_count;
	struct model_chunk chunk[MODEL_CHUNKS];
};

static __printf(2, 3) bool complain(struct pool_player *p, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(p->error, sizeof(p->error), format, args);
	va_end(args);
	return false;
}

static u32 random_below(struct pool_player *p, u32 limit)
{
	return prandom_u32_state(&p->random) % limit;
}

static bool one_in(struct pool_player *p, u32 n)
{
	return !random_below(p, n);
}

/* 1 byte to 8 MiB, of each magnitude about as many; often exactly at its end or next to it. */
static size_t random_size(struct pool_player *p)
{
	unsigned int bits = random_below(p, 24);

	/* so that a pool is mostly shared by many */
	if (bits > 18 && !one_in(p, 8))
		bits = 11;
	switch (random_below(p, 4)) {
	case 0:
		return (size_t)1 << bits;
	case 1:
		return ((size_t)1 << bits) + (bits < 23);
	default:
		return 1 + random_below(p, 1U << bits);
	}
}

/* --- the map of slots --- */

static struct model_chunk *find_model_chunk(struct pool_model *model, phys_addr_t phys)
{
	unsigned int i;

	for (i = 0; i < model->chunk_count; i++)
		if (phys >= model->chunk[i].first && phys <= model->chunk[i].last)
			return &model->chunk[i];
	return NULL;
}

static unsigned long change_bits(unsigned long *word, unsigned long mask, bool set)
{
	unsigned long old, seen = READ_ONCE(*word);

	do {
		old = seen;
		seen = cmpxchg(word, old, set ? old | mask : old & ~mask);
	} while (seen != old);
	return old;
}

/* Takes slots, or gives them up; false if somebody had one of them already, or nobody. */
static bool change_taken(unsigned long *map, size_t first, size_t count, bool take)
{
	bool fine = true;

	while (count) {
		unsigned int bit = first % BITS_PER_LONG;
		unsigned int here = min_t(size_t, count, BITS_PER_LONG - bit);
		unsigned long mask = GENMASK(bit + here - 1, bit);
		unsigned long old = change_bits(&map[first / BITS_PER_LONG], mask, take);

		fine &= (old & mask) == (take ? 0 : mask);
		first += here;
		count -= here;
	}
	return fine;
}

static bool change_claim(struct pool_model *model, const struct pool_live *live, bool take)
{
	struct model_chunk *chunk = find_model_chunk(model, live->buffer.phys);
	size_t first = (live->buffer.phys - chunk->first) >> VDMA_SLOT_SHIFT;

	return change_taken(chunk->taken, first, live->held >> VDMA_SLOT_SHIFT, take);
}

/* Is there room for a buffer of that size, a power of two, where it would be aligned to it? */
static bool has_room(struct pool_model *model, u64 size)
{
	unsigned long slots = size >> VDMA_SLOT_SHIFT;
	unsigned int i;

	for (i = 0; i < model->chunk_count; i++) {
		struct model_chunk *chunk = &model->chunk[i];

		if (bitmap_find_next_zero_area(chunk->taken, chunk->slots, 0, slots,
					       slots - 1) < chunk->slots)
			return true;
	}
	return false;
}

/* --- marks --- */

/*
 * Two buffers share a slot at least if they share anything, so marks at both
 * ends of each slot do as well as marks all over, and far faster under KASAN.
 * A buffer of one slot is filled: it shows that all of it can be written.
 */
static void mark(const struct pool_live *live)
{
	u8 *at = live->buffer.vaddr, value = live->mark;
	size_t left = live->size;

	if (left <= VDMA_SLOT_SIZE) {
		memset(at, value, left);
		return;
	}
	while (left) {
		size_t here = min_t(size_t, left, VDMA_SLOT_SIZE);

		at[0] = value;
		at[here - 1] = value++;
		at += here;
		left -= here;
	}
}

static bool is_marked(const struct pool_live *live)
{
	const u8 *at = live->buffer.vaddr;
	size_t left = live->size;
	u8 value = live->mark;

	if (left <= VDMA_SLOT_SIZE)
		return !memchr_inv(at, value, left);
	while (left) {
		size_t here = min_t(size_t, left, VDMA_SLOT_SIZE);

		if (at[0] != value || at[here - 1] != value)
			return false;
		value++;
		at += here;
		left -= here;
	}
	return true;
}

/* --- visits --- */

/**
 * struct visit - what a visit has found so far
 * @in_pool: of the last stretch
 * @original: of the last stretch
 * @size: of the last stretch
 * @stretches: how many
 */
struct visit {
	void *in_pool;
	phys_addr_t original;
	size_t size;
	unsigned int stretches;
};

/* A visitor gets no argument of its own, but stays on its CPU. */
static DEFINE_PER_CPU(struct visit, visit);

static void note_visit(void *in_pool, phys_addr_t original, size_t size)
{
	struct visit *v = this_cpu_ptr(&visit);

	v->in_pool = in_pool;
	v->original = original;
	v->size = size;
	v->stretches++;
}

static bool visit_at(struct pool_player *p, phys_addr_t phys, size_t size,
		     struct visit *found)
{
	bool all;

	preempt_disable();
	memset(this_cpu_ptr(&visit), 0, sizeof(*found));
	all = vdma_pool_visit_across(p->model->pool, &p->user, phys, size, note_visit);
	*found = *this_cpu_ptr(&visit);
	preempt_enable();
	return all;
}

/* From anywhere in the buffer to anywhere in it, or in what it takes beyond its end. */
static bool visit_part(struct pool_player *p, const struct pool_live *live)
{
	size_t from = random_below(p, live->size);
	size_t size = 1 + random_below(p, live->held - from);
	struct visit found;

	if (!visit_at(p, live->buffer.phys + from, size, &found))
		return complain(p, "bytes %zu to %zu of a buffer of %zu were not found", from,
				from + size - 1, live->size);
	if (found.stretches != 1 || found.in_pool != live->buffer.vaddr + from ||
	    found.original != live->original + from ||
	    found.size != min(size, live->size - from))
		return complain(p, "%zu to %zu of %zu bytes: %u stretches, the last %zu of %pa",
				from, from + size - 1, live->size, found.stretches, found.size,
				&found.original);
	return true;
}

/* Where the player has no buffer, it must be able to do nothing. */
static bool try_where_nothing_is(struct pool_player *p, phys_addr_t phys)
{
	struct visit found;

	if (visit_at(p, phys, 1, &found) || found.stretches)
		return complain(p, "%pa could be visited, where the user has no buffer", &phys);
	vdma_pool_free(p->model->pool, &p->user, phys);
	if (vdma_pool_user_used(&p->user) != p->held)
		return complain(p, "%pa could be freed, where the user has no buffer", &phys);
	return true;
}

static bool is_held(const struct pool_player *p, phys_addr_t phys)
{
	const struct pool_live *live;

	for (live = p->live; live < p->live + POOL_LIVE; live++)
		if (live->size && phys >= live->buffer.phys &&
		    phys - live->buffer.phys < live->held)
			return true;
	return false;
}

static bool trespass(struct pool_player *p)
{
	struct model_chunk *chunk = &p->model->chunk[random_below(p, p->model->chunk_count)];
	phys_addr_t phys = chunk->first + random_below(p, chunk->last - chunk->first + 1);

	return is_held(p, phys) || try_where_nothing_is(p, phys);
}

/* --- allocations --- */

/* What a buffer is aligned to, if its chunk is. */
static u64 own_alignment(size_t size)
{
	return roundup_pow_of_two(max_t(size_t, size, VDMA_SLOT_SIZE));
}

static bool check_full(struct pool_player *p, size_t size)
{
	struct pool_model *model = p->model;
	struct vdma_pool_info info;

	p->refused++;
	if (!model->one_thread)
		return true;
	if (has_room(model, own_alignment(size)))
		return complain(p, "%zu bytes refused, though there is room", size);
	/* the caches have just been emptied: the figure is exact */
	vdma_pool_get_info(model->pool, &info);
	if (info.largest_run && !has_room(model, info.largest_run))
		return complain(p, "there is no free run of %llu bytes", info.largest_run);
	if (has_room(model, info.largest_run ? info.largest_run * 2 : VDMA_SLOT_SIZE))
		return complain(p, "there is a larger free run than %llu bytes", info.largest_run);
	return true;
}

static bool check_over_share(struct pool_player *p, size_t size)
{
	p->refused++;
	if (p->model->players < 2)
		return complain(p, "a share was refused to the only user");
	if (p->held + own_alignment(size) <= p->model->size / 4 * 3)
		return complain(p, "%zu bytes refused to a user of %llu bytes", size, p->held);
	return true;
}

static bool check_refusal(struct pool_player *p, size_t size, int err)
{
	bool too_large = size > p->model->largest;

	if (too_large != (err == -E2BIG))
		return complain(p, "%zu bytes: error %d", size, err);
	switch (err) {
	case -E2BIG:
		return true;
	case -ENOMEM:
		return check_full(p, size);
	case -EDQUOT:
		return check_over_share(p, size);
	default:
		return complain(p, "%zu bytes: error %d", size, err);
	}
}

static bool check_buffer(struct pool_player *p, const struct pool_live *live)
{
	phys_addr_t phys = live->buffer.phys;
	struct model_chunk *chunk = find_model_chunk(p->model, phys);
	u64 alignment = own_alignment(live->size);

	if (live->size > p->model->largest)
		return complain(p, "%zu bytes: more than the largest buffer", live->size);
	if (live->held < live->size || live->held > alignment || live->held % VDMA_SLOT_SIZE)
		return complain(p, "a buffer of %zu bytes takes %zu", live->size, live->held);
	if (!chunk || chunk->last - phys < live->held - 1)
		return complain(p, "%zu bytes at %pa: not all in the pool", live->held, &phys);
	if (phys_to_virt(phys) != live->buffer.vaddr)
		return complain(p, "%pa: the other address is of another place", &phys);
	if (chunk->first)
		alignment = min_t(u64, alignment, 1ULL << __ffs64(chunk->first));
	if (phys & (alignment - 1))
		return complain(p, "%zu bytes at %pa: not aligned", live->size, &phys);
	if (!change_claim(p->model, live, true))
		return complain(p, "%zu bytes at %pa: somebody else has them", live->held, &phys);
	return true;
}

static void note_held(struct pool_player *p, s64 more)
{
	u64 held = atomic64_add_return(more, &p->model->held);

	p->held += more;
	if (p->model->one_thread)
		p->model->most = max(p->model->most, held);
}

static bool acquire(struct pool_player *p, struct pool_live *live)
{
	size_t size = random_size(p);
	int err;

	live->original = (phys_addr_t)random_below(p, U32_MAX) << 12 |
			 random_below(p, PAGE_SIZE);
	err = vdma_pool_alloc(p->model->pool, &p->user, size, live->original, &live->buffer);
	if (err)
		return check_refusal(p, size, err);
	live->size = size;
	live->held = vdma_pool_user_used(&p->user) - p->held;
	note_held(p, live->held);
	if (!check_buffer(p, live))
		return false;
	live->mark = random_below(p, 256);
	mark(live);
	return true;
}

/* The model's side of giving a buffer back; before the pool's. */
static bool forget(struct pool_player *p, struct pool_live *live)
{
	phys_addr_t phys = live->buffer.phys;

	if (!is_marked(live))
		return complain(p, "somebody else wrote to %zu bytes at %pa", live->size, &phys);
	if (!change_claim(p->model, live, false))
		return complain(p, "somebody else gave up %zu bytes at %pa", live->held, &phys);
	note_held(p, -(s64)live->held);
	live->size = 0;
	return true;
}

static bool release(struct pool_player *p, struct pool_live *live)
{
	u32 offset = random_below(p, min_t(size_t, live->size, VDMA_SLOT_SIZE));

	if (!forget(p, live))
		return false;
	vdma_pool_free(p->model->pool, &p->user, live->buffer.phys + offset);
	if (vdma_pool_user_used(&p->user) != p->held)
		return complain(p, "a buffer of %zu bytes returned %llu", live->held,
				p->held + live->held - vdma_pool_user_used(&p->user));
	return !one_in(p, 4) || try_where_nothing_is(p, live->buffer.phys);
}

static bool reclaim(struct pool_player *p)
{
	unsigned int i;

	for (i = 0; i < POOL_LIVE; i++)
		if (p->live[i].size && !forget(p, &p->live[i]))
			return false;
	vdma_pool_reclaim(p->model->pool, &p->user);
	if (vdma_pool_user_used(&p->user))
		return complain(p, "a user has %llu bytes after all were reclaimed",
				vdma_pool_user_used(&p->user));
	return true;
}

/* --- the pool as a whole --- */

static bool check_figures(struct pool_player *p)
{
	struct pool_model *model = p->model;
	u64 held = atomic64_read(&model->held);
	struct vdma_pool_info info;

	vdma_pool_get_info(model->pool, &info);
	model->most_seen = max(model->most_seen, held);
	if (info.size != model->size || info.used != held)
		return complain(p, "the pool says size %llu, used %llu; the model %llu, %llu",
				info.size, info.used, model->size, held);
	if (info.most < model->most_seen || info.most > model->most)
		return complain(p, "the pool says most %llu; the model %llu to %llu", info.most,
				model->most_seen, model->most);
	if (info.largest_run && !has_room(model, info.largest_run))
		return complain(p, "there is no free run of %llu bytes", info.largest_run);
	return true;
}

/* So many that the pool is full now and then, but not most of the time. */
static u32 live_count(struct pool_model *model)
{
	return clamp_t(u64, model->size / model->players / SZ_32K, 4, POOL_LIVE);
}

/**
 * pool_player_move() - make one random operation, and check what came of it
 * @p: the player
 *
 * Context: may sleep.
 * Return: true, or false with the reason in @p->error.
 */
bool pool_player_move(struct pool_player *p)
{
	struct pool_live *live = &p->live[random_below(p, live_count(p->model))];
	bool fine;

	if (one_in(p, 16384))
		fine = reclaim(p);
	else if (one_in(p, 16))
		fine = trespass(p);
	else if (!live->size)
		fine = acquire(p, live);
	else if (one_in(p, 4))
		fine = visit_part(p, live);
	else
		fine = release(p, live);
	if (fine && p->model->one_thread && one_in(p, 16))
		fine = check_figures(p);
	return fine;
}

/**
 * pool_player_release_all() - give everything back
 * @p: the player
 *
 * Context: any.
 * Return: true, or false with the reason in @p->error.
 */
bool pool_player_release_all(struct pool_player *p)
{
	unsigned int i;

	for (i = 0; i < POOL_LIVE; i++)
		if (p->live[i].size && !release(p, &p->live[i]))
			return false;
	return true;
}

/**
 * pool_player_whole_again() - check that a pool in which nothing is held has not suffered
 * @p: a player that plays alone
 *
 * Context: any.
 * Return: true, or false with the reason in @p->error.
 */
bool pool_player_whole_again(struct pool_player *p)
{
	struct pool_model *model = p->model;
	struct vdma_pool_info info;
	struct vdma_buffer buffer;
	int err;

	vdma_pool_get_info(model->pool, &info);
	if (info.used)
		return complain(p, "%llu bytes are used though nobody holds any", info.used);
	err = vdma_pool_alloc(model->pool, &p->user, model->largest, 0, &buffer);
	if (err)
		return complain(p, "the largest buffer cannot be had again: error %d", err);
	vdma_pool_free(model->pool, &p->user, buffer.phys);
	err = vdma_pool_alloc(model->pool, &p->user, model->largest + 1, 0, &buffer);
	if (err != -E2BIG)
		return complain(p, "more than the largest buffer: error %d", err);
	return true;
}

/* --- making and ending --- */

/**
 * pool_model_create() - make a model of a pool
 * @pool: the pool, in which nobody holds anything
 * @largest: the largest buffer it can hold, in bytes
 * @one_thread: all players play in one thread, so that figures of the whole pool
 *	can be checked, too
 *
 * Context: may sleep.
 * Return: the model, or NULL if there is no memory.
 */
struct pool_model *pool_model_create(struct vdma_pool *pool, size_t largest,
				     bool one_thread)
{
	struct pool_model *model = kvzalloc(sizeof(*model), GFP_KERNEL);
	struct model_chunk *chunk;

	if (!model)
		return NULL;
	model->pool = pool;
	model->largest = largest;
	model->one_thread = one_thread;
	for (;;) {
		chunk = &model->chunk[model->chunk_count];
		if (!vdma_pool_chunk(pool, model->chunk_count, &chunk->first, &chunk->last))
			break;
		chunk->slots = (chunk->last - chunk->first + 1) >> VDMA_SLOT_SHIFT;
		chunk->taken = bitmap_zalloc(chunk->slots, GFP_KERNEL);
		if (!chunk->taken)
			goto err_destroy;
		model->size += (u64)chunk->slots << VDMA_SLOT_SHIFT;
		model->chunk_count++;
	}
	return model;

err_destroy:
	pool_model_destroy(model);
	return NULL;
}

/**
 * pool_model_destroy() - free a model
 * @model: the model, without players
 *
 * Context: may sleep.
 */
void pool_model_destroy(struct pool_model *model)
{
	while (model->chunk_count)
		bitmap_free(model->chunk[--model->chunk_count].taken);
	kvfree(model);
}

/**
 * pool_player_create() - let one more user into the pool
 * @model: the model; no player has moved yet
 * @seed: of what it will do
 *
 * Context: may sleep.
 * Return: the player, or NULL if there is no memory.
 */
struct pool_player *pool_player_create(struct pool_model *model, u64 seed)
{
	struct pool_player *p = kvzalloc(sizeof(*p), GFP_KERNEL);

	if (!p)
		return NULL;
	if (vdma_pool_join(model->pool, &p->user, U64_MAX)) {
		kvfree(p);
		return NULL;
	}
	p->model = model;
	prandom_seed_state(&p->random, seed);
	model->players++;
	return p;
}

/**
 * pool_player_destroy() - let a user go
 * @p: the player; what it holds is taken back without a check
 *
 * Context: may sleep.
 */
void pool_player_destroy(struct pool_player *p)
{
	vdma_pool_reclaim(p->model->pool, &p->user);
	vdma_pool_leave(p->model->pool, &p->user);
	p->model->players--;
	kvfree(p);
}

/* --- on all CPUs at once --- */

/**
 * struct racer - a player with a thread of its own
 * @player: the player
 * @moves: how many it is to make
 * @done: it has made them
 */
struct racer {
	struct pool_player *player;
	unsigned int moves;
	struct completion done;
};

static const char no_memory[] = "there is no memory for all players";

static int race(void *data)
{
	struct racer *racer = data;
	bool fine = true;
	unsigned int i;

	for (i = 0; i < racer->moves && fine; i++) {
		fine = pool_player_move(racer->player);
		cond_resched();
	}
	if (fine)
		pool_player_release_all(racer->player);
	complete(&racer->done);
	return 0;
}

/* @cpu: where it stays, or nr_cpu_ids: it may move from CPU to CPU */
static bool start_racer(struct racer *racer, unsigned int cpu)
{
	struct task_struct *task = kthread_create(race, racer, "pool_racer");

	if (IS_ERR(task))
		return false;
	if (cpu < nr_cpu_ids)
		kthread_bind(task, cpu);
	wake_up_process(task);
	return true;
}

/* Returns how many were started: two for each CPU, unless there was no memory. */
static unsigned int start_racers(struct racer *racers)
{
	unsigned int started = 0, cpu;

	for_each_online_cpu(cpu) {
		if (!start_racer(&racers[started], cpu))
			break;
		started++;
		if (!start_racer(&racers[started], nr_cpu_ids))
			break;
		started++;
	}
	return started;
}

static bool create_racers(struct pool_model *model, struct racer *racers,
			  unsigned int count, u64 seed, unsigned int moves)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		racers[i].player = pool_player_create(model, seed + i);
		if (!racers[i].player)
			return false;
		racers[i].moves = moves / count;
		init_completion(&racers[i].done);
	}
	return true;
}

/* Waits for the first @started, and lets all go. */
static void end_racers(struct racer *racers, unsigned int count, unsigned int started,
		       u64 *refused, char *error)
{
	unsigned int i;

	for (i = 0; i < started; i++)
		wait_for_completion(&racers[i].done);
	for (i = 0; i < count && racers[i].player; i++) {
		*refused += racers[i].player->refused;
		if (!*error)
			strscpy(error, racers[i].player->error, POOL_ERROR_SIZE);
		pool_player_destroy(racers[i].player);
	}
}

static void check_whole_again(struct pool_model *model, char *error)
{
	struct pool_player *p = pool_player_create(model, 0);

	if (!p) {
		strscpy(error, no_memory, POOL_ERROR_SIZE);
		return;
	}
	if (!pool_player_whole_again(p))
		strscpy(error, p->error, POOL_ERROR_SIZE);
	pool_player_destroy(p);
}

/**
 * pool_model_race() - let players play on all CPUs at once, two on each
 * @model: the model, without players and not for one thread
 * @seed: of what they do
 * @moves: random operations, of all together
 * @refused: receives how many allocations found the pool full, or the player with
 *	its share
 * @error: receives the first thing that went wrong, POOL_ERROR_SIZE bytes at most
 *
 * Context: may sleep.
 * Return: true if all went well, and the pool is whole again.
 */
bool pool_model_race(struct pool_model *model, u64 seed, unsigned int moves,
		     u64 *refused, char *error)
{
	unsigned int count = 2 * num_online_cpus(), started = 0;
	struct racer *racers = kcalloc(count, sizeof(*racers), GFP_KERNEL);

	*refused = 0;
	*error = 0;
	if (racers && create_racers(model, racers, count, seed, moves))
		started = start_racers(racers);
	if (started < count)
		strscpy(error, no_memory, POOL_ERROR_SIZE);
	if (racers)
		end_racers(racers, count, started, refused, error);
	kfree(racers);
	if (!*error)
		check_whole_again(model, error);
	return !*error;
}
