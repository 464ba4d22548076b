// SPDX-License-Identifier: GPL-2.0
/*
 * The pool against a plain model of it, at random and on all CPUs; then what
 * pool.h promises, one thing after the other.
 */
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/io.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/random.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "faults.h"
#include "pool.h"
#include "pool_model.h"

static uint pool_moves = 1000000;
module_param(pool_moves, uint, 0444);
MODULE_PARM_DESC(pool_moves, "random operations on the pool, in all");

static ulong pool_seed;
module_param(pool_seed, ulong, 0444);
MODULE_PARM_DESC(pool_seed, "seed of the random operations; 0: take one and print it");

/* --- pools and users that go with the test --- */

static void action_destroy_pool(void *pool)
{
	vdma_pool_destroy(pool);
}

static struct vdma_pool *create_pool(struct kunit *test, size_t size, size_t *largest)
{
	struct vdma_pool *pool = vdma_pool_create(size, 0, NULL, largest);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pool);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, action_destroy_pool, pool), 0);
	return pool;
}

/**
 * struct guest - a user of a pool
 * @pool: the pool
 * @user: the user
 */
struct guest {
	struct vdma_pool *pool;
	struct vdma_pool_user user;
};

static void action_leave(void *data)
{
	struct guest *guest = data;

	vdma_pool_reclaim(guest->pool, &guest->user);
	vdma_pool_leave(guest->pool, &guest->user);
}

static struct guest *join_pool(struct kunit *test, struct vdma_pool *pool)
{
	struct guest *guest = kunit_kzalloc(test, sizeof(*guest), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, guest);
	guest->pool = pool;
	KUNIT_ASSERT_EQ(test, vdma_pool_join(pool, &guest->user, U64_MAX), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, action_leave, guest), 0);
	return guest;
}

static int get(struct guest *guest, size_t size, struct vdma_buffer *buffer)
{
	return vdma_pool_alloc(guest->pool, &guest->user, size, VDMA_NO_ORIGINAL, buffer);
}

static void put(struct guest *guest, const struct vdma_buffer *buffer)
{
	vdma_pool_free(guest->pool, &guest->user, buffer->phys);
}

static u64 held(const struct guest *guest)
{
	return vdma_pool_user_used(&guest->user);
}

static struct vdma_pool_info info_of(struct vdma_pool *pool)
{
	struct vdma_pool_info info;

	vdma_pool_get_info(pool, &info);
	return info;
}

/* --- at random --- */

/**
 * struct game - random operations on one pool
 * @size: what is asked for as its size, in bytes
 * @players: how many users it has
 * @parts: its share of pool_moves, in parts of all
 */
struct game {
	size_t size;
	unsigned int players;
	unsigned int parts;
};

#define GAME_PARTS 16

static const struct game games[] = {
	{ .size = 1, .players = 1, .parts = 1 },
	{ .size = 100000, .players = 2, .parts = 1 },
	{ .size = SZ_4M, .players = 1, .parts = 2 },
	{ .size = SZ_4M + 1, .players = 3, .parts = 2 },
	{ .size = 5 * SZ_4M, .players = 1, .parts = 2 },
	{ .size = SZ_32M, .players = 2, .parts = 2 },
};

static void describe_game(const struct game *game, char *text)
{
	snprintf(text, KUNIT_PARAM_DESC_SIZE, "%zu bytes, %u users", game->size, game->players);
}

KUNIT_ARRAY_PARAM(games, games, describe_game);

/* For the concurrent game. */
#define RACE_PARTS 6

static void action_destroy_model(void *model)
{
	pool_model_destroy(model);
}

static struct pool_model *create_model(struct kunit *test, struct vdma_pool *pool,
				       size_t largest, bool one_thread)
{
	struct pool_model *model = pool_model_create(pool, largest, one_thread);

	KUNIT_ASSERT_NOT_NULL(test, model);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, action_destroy_model, model), 0);
	return model;
}

static void action_destroy_player(void *player)
{
	pool_player_destroy(player);
}

static struct pool_player *create_player(struct kunit *test, struct pool_model *model,
					 u64 seed)
{
	struct pool_player *player = pool_player_create(model, seed);

	KUNIT_ASSERT_NOT_NULL(test, player);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, action_destroy_player, player), 0);
	return player;
}

static u64 announce_seed(struct kunit *test)
{
	if (!pool_seed)
		pool_seed = get_random_long() >> 16 | 1;
	kunit_info(test, "pool_seed=%lu", pool_seed);
	return pool_seed;
}

static void play(struct kunit *test, struct pool_player **players, unsigned int count,
		 unsigned int moves)
{
	unsigned int i;

	for (i = 0; i < moves; i++) {
		struct pool_player *player = players[i % count];

		if (!pool_player_move(player))
			KUNIT_FAIL_AND_ABORT(test, "move %u: %s", i, player->error);
		cond_resched();
	}
}

static void pool_random(struct kunit *test)
{
	const struct game *game = test->param_value;
	unsigned int moves = pool_moves / GAME_PARTS * game->parts, i;
	struct pool_player *players[3];
	u64 refused = 0, seed = announce_seed(test);
	struct pool_model *model;
	struct vdma_pool *pool;
	size_t largest;

	pool = create_pool(test, game->size, &largest);
	model = create_model(test, pool, largest, true);
	for (i = 0; i < game->players; i++)
		players[i] = create_player(test, model, seed + i);
	play(test, players, game->players, moves);
	for (i = 0; i < game->players; i++) {
		KUNIT_ASSERT_TRUE_MSG(test, pool_player_release_all(players[i]), "%s",
				      players[i]->error);
		refused += players[i]->refused;
	}
	KUNIT_EXPECT_GT_MSG(test, refused, 0ULL, "the pool was never full: that was not tried");
	while (--i)
		kunit_release_action(test, action_destroy_player, players[i]);
	KUNIT_EXPECT_TRUE_MSG(test, pool_player_whole_again(players[0]), "%s",
			      players[0]->error);
}

static void pool_on_all_cpus(struct kunit *test)
{
	char error[POOL_ERROR_SIZE];
	u64 refused, seed = announce_seed(test);
	struct pool_model *model;
	struct vdma_pool *pool;
	size_t largest;

	pool = create_pool(test, SZ_8M, &largest);
	model = create_model(test, pool, largest, false);
	KUNIT_EXPECT_TRUE_MSG(test, pool_model_race(model, seed,
						    pool_moves / GAME_PARTS * RACE_PARTS,
						    &refused, error),
			      "%s", error);
	KUNIT_EXPECT_GT_MSG(test, refused, 0ULL, "the pool was never full: that was not tried");
}

/* --- caches --- */

/* What finds the pool full takes back all that lies in the caches of all CPUs. */
static int empty_caches(void *data)
{
	struct guest *guest = data;
	struct vdma_buffer buffer;

	while (!kthread_should_stop()) {
		if (!get(guest, SZ_4M, &buffer))
			put(guest, &buffer);
		cond_resched();
	}
	return 0;
}

#define RING 8
#define ROUNDS 100000

/* Takes and returns one slot after the other; how many are taken at once stays the same. */
static const char *use_cache(struct guest *guest, struct vdma_buffer *ring)
{
	unsigned int i, j;

	for (i = 0; i < ROUNDS; i++) {
		struct vdma_buffer *buffer = &ring[i % RING];

		put(guest, buffer);
		if (get(guest, VDMA_SLOT_SIZE, buffer))
			return "a slot cannot be had";
		for (j = 0; j < RING; j++)
			if (j != i % RING && ring[j].phys == buffer->phys)
				return "a slot was given away twice";
		cond_resched();
	}
	return NULL;
}

/* Nothing else lets one CPU look into the cache of another, so it is done as often as can be. */
static void pool_caches_emptied_by_others(struct kunit *test)
{
	struct vdma_buffer ring[RING];
	struct task_struct *task;
	struct guest *guest;
	unsigned int i, other;
	const char *error;
	size_t largest;

	guest = join_pool(test, create_pool(test, SZ_4M, &largest));
	for (i = 0; i < RING; i++)
		KUNIT_ASSERT_EQ(test, get(guest, VDMA_SLOT_SIZE, &ring[i]), 0);
	task = kthread_create(empty_caches, guest, "pool_emptier");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	migrate_disable();
	other = cpumask_any_but(cpu_online_mask, smp_processor_id());
	if (other < nr_cpu_ids)
		kthread_bind(task, other);
	wake_up_process(task);
	error = use_cache(guest, ring);
	migrate_enable();
	kthread_stop(task);
	KUNIT_EXPECT_NULL_MSG(test, error, "%s", error);
	for (i = 0; i < RING; i++)
		put(guest, &ring[i]);
	KUNIT_EXPECT_EQ(test, held(guest), 0);
	KUNIT_EXPECT_EQ(test, get(guest, SZ_4M, &ring[0]), 0);
}

/* --- sizes and alignment --- */

struct size_case {
	size_t size;
	size_t held;
};

/* What a buffer takes: whole slots, and up to 64 KiB a power of two of them. */
static const struct size_case sizes[] = {
	{ 1, SZ_2K }, { 2047, SZ_2K }, { 2048, SZ_2K }, { 2049, SZ_4K },
	{ 4096, SZ_4K }, { 4097, SZ_8K }, { 3 * SZ_4K, SZ_16K }, { SZ_32K + 1, SZ_64K },
	{ SZ_64K - 1, SZ_64K }, { SZ_64K, SZ_64K }, { SZ_64K + 1, SZ_64K + SZ_2K },
	{ 5 * SZ_16K, 5 * SZ_16K }, { SZ_1M - 1, SZ_1M }, { SZ_1M + 1, SZ_1M + SZ_2K },
	{ 3 * SZ_1M + 5, 3 * SZ_1M + SZ_2K }, { SZ_4M + 1, SZ_4M + SZ_2K },
	{ SZ_8M - 1, SZ_8M }, { SZ_8M, SZ_8M },
};

/* A pool that can hold 8 MiB: as large as need be for pieces to lie side by side. */
#define ROOMY SZ_64M

static void pool_sizes(struct kunit *test)
{
	const struct size_case *row;
	struct vdma_buffer buffer;
	struct guest *guest;
	size_t largest;

	guest = join_pool(test, create_pool(test, ROOMY, &largest));
	KUNIT_ASSERT_GE(test, largest, SZ_8M);
	for (row = sizes; row < sizes + ARRAY_SIZE(sizes); row++) {
		u64 align = min_t(u64, roundup_pow_of_two(row->size), SZ_64K);

		KUNIT_ASSERT_EQ_MSG(test, get(guest, row->size, &buffer), 0, "%zu bytes",
				    row->size);
		KUNIT_EXPECT_EQ_MSG(test, held(guest), row->held, "%zu bytes", row->size);
		KUNIT_EXPECT_EQ_MSG(test, buffer.phys & (align - 1), 0, "%zu bytes at %pa",
				    row->size, &buffer.phys);
		KUNIT_EXPECT_PTR_EQ_MSG(test, phys_to_virt(buffer.phys), buffer.vaddr,
					"%zu bytes", row->size);
		put(guest, &buffer);
		KUNIT_EXPECT_EQ_MSG(test, held(guest), 0, "%zu bytes", row->size);
	}
}

/* The end of a large buffer that is not taken can be had by others at once. */
static void pool_rest_of_a_large_buffer(struct kunit *test)
{
	struct vdma_buffer large, small;
	struct guest *guest;
	u64 before, rest = 0;
	size_t largest;

	guest = join_pool(test, create_pool(test, SZ_4M, &largest));
	KUNIT_ASSERT_EQ(test, largest, SZ_4M);
	KUNIT_ASSERT_EQ(test, get(guest, SZ_2M + SZ_2K, &large), 0);
	before = held(guest);
	while (!get(guest, SZ_2K, &small)) {
		rest += SZ_2K;
		KUNIT_ASSERT_TRUE(test, small.phys >= large.phys + SZ_2M + SZ_2K);
	}
	KUNIT_EXPECT_EQ(test, rest, SZ_2M - SZ_2K);
	KUNIT_EXPECT_EQ(test, held(guest), before + rest);
}

/* --- full and empty --- */

#define MOST_BUFFERS (SZ_8M / VDMA_SLOT_SIZE)

static unsigned int fill_up(struct guest *guest, size_t size, struct vdma_buffer *buffers,
			    int *err)
{
	unsigned int count = 0;

	while (count < MOST_BUFFERS) {
		*err = get(guest, size, &buffers[count]);
		if (*err)
			break;
		count++;
	}
	if (count == MOST_BUFFERS)
		*err = get(guest, size, &buffers[count]);
	return count;
}

/* In which order buffers go: each once, whatever @way. */
static unsigned int nth(unsigned int i, unsigned int count, unsigned int way)
{
	switch (way) {
	case 0:
		return i;
	case 1:
		return count - 1 - i;
	default:
		/* every other one, then the rest */
		return 2 * i < count ? 2 * i : 2 * (i - DIV_ROUND_UP(count, 2)) + 1;
	}
}

static void pool_exhausted_and_recovered(struct kunit *test)
{
	static const size_t of[] = { 1, SZ_4K, 5000, SZ_64K, SZ_64K + 1, 300000, SZ_1M, SZ_4M };
	struct vdma_buffer *buffers, whole;
	unsigned int i, j, way, count;
	struct guest *guest;
	size_t largest;
	int err;

	guest = join_pool(test, create_pool(test, SZ_8M, &largest));
	buffers = kunit_kcalloc(test, MOST_BUFFERS + 1, sizeof(*buffers), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, buffers);
	for (i = 0; i < ARRAY_SIZE(of); i++) {
		/* by size, once it is aligned to that; the end of a large one can be had */
		size_t takes = of[i] <= SZ_64K ? max_t(size_t, roundup_pow_of_two(of[i]), SZ_2K) :
						 roundup_pow_of_two(of[i]);

		for (way = 0; way < 3; way++) {
			count = fill_up(guest, of[i], buffers, &err);
			KUNIT_EXPECT_EQ_MSG(test, err, -ENOMEM, "%zu bytes", of[i]);
			KUNIT_EXPECT_EQ_MSG(test, count, SZ_8M / takes, "%zu bytes, round %u",
					    of[i], way);
			for (j = 0; j < count; j++)
				put(guest, &buffers[nth(j, count, way)]);
			KUNIT_EXPECT_EQ_MSG(test, held(guest), 0, "%zu bytes, round %u", of[i],
					    way);
		}
		KUNIT_ASSERT_EQ_MSG(test, get(guest, largest, &whole), 0,
				    "the largest buffer after %zu bytes", of[i]);
		put(guest, &whole);
	}
}

static void pool_too_large(struct kunit *test)
{
	static const size_t of[] = { 1, SZ_4K, 100000, SZ_4M, SZ_4M + 1, 3 * SZ_4M };
	struct vdma_buffer buffer;
	struct guest *guest;
	size_t largest;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(of); i++) {
		guest = join_pool(test, create_pool(test, of[i], &largest));
		KUNIT_EXPECT_EQ_MSG(test, get(guest, largest + 1, &buffer), -E2BIG,
				    "pool of %zu", of[i]);
		KUNIT_EXPECT_EQ_MSG(test, get(guest, SIZE_MAX, &buffer), -E2BIG, "pool of %zu",
				    of[i]);
		KUNIT_EXPECT_EQ_MSG(test, get(guest, largest, &buffer), 0, "pool of %zu", of[i]);
		/* too large is said of a full pool, too: waiting does not help */
		KUNIT_EXPECT_EQ_MSG(test, get(guest, largest + 1, &buffer), -E2BIG,
				    "pool of %zu, full", of[i]);
	}
}

/* --- shares --- */

static u64 take_all(struct guest *guest, size_t size, int *err)
{
	struct vdma_buffer buffer;

	do {
		*err = get(guest, size, &buffer);
	} while (!*err);
	return held(guest);
}

/* Two users, of which one takes all it can get. */
static void check_share(struct kunit *test, struct guest *greedy, struct guest *modest,
			size_t size)
{
	u64 share, rest;
	int err;

	share = take_all(greedy, size, &err);
	KUNIT_EXPECT_EQ_MSG(test, err, -EDQUOT, "by %zu bytes", size);
	KUNIT_EXPECT_GE_MSG(test, share, SZ_4M + SZ_2M, "by %zu bytes", size);
	/* it is looked at when a cache is empty */
	KUNIT_EXPECT_LE_MSG(test, share, SZ_4M + SZ_2M + SZ_128K, "by %zu bytes", size);
	rest = take_all(modest, size, &err);
	KUNIT_EXPECT_EQ_MSG(test, err, -ENOMEM, "by %zu bytes", size);
	KUNIT_EXPECT_EQ_MSG(test, share + rest, SZ_8M, "by %zu bytes", size);

	/* who has its share gets nothing of what the other has put into the caches */
	vdma_pool_reclaim(modest->pool, &modest->user);
	KUNIT_EXPECT_EQ_MSG(test, take_all(greedy, size, &err), share, "by %zu bytes", size);
	KUNIT_EXPECT_EQ_MSG(test, err, -EDQUOT, "by %zu bytes", size);

	/* and may begin anew when it has returned it */
	vdma_pool_reclaim(greedy->pool, &greedy->user);
	KUNIT_EXPECT_GE_MSG(test, take_all(greedy, size, &err), SZ_4M + SZ_2M,
			    "again, by %zu bytes", size);
	vdma_pool_reclaim(greedy->pool, &greedy->user);
}

static void pool_shares(struct kunit *test)
{
	static const size_t of[] = { SZ_2K, SZ_64K, SZ_128K };
	struct guest *greedy, *modest;
	struct vdma_pool *pool;
	size_t largest;
	unsigned int i;
	int err;

	pool = create_pool(test, SZ_8M, &largest);
	greedy = join_pool(test, pool);
	KUNIT_EXPECT_EQ_MSG(test, take_all(greedy, SZ_2K, &err), SZ_8M, "alone");
	KUNIT_EXPECT_EQ_MSG(test, err, -ENOMEM, "alone");
	vdma_pool_reclaim(pool, &greedy->user);

	modest = join_pool(test, pool);
	for (i = 0; i < ARRAY_SIZE(of); i++)
		check_share(test, greedy, modest, of[i]);

	kunit_release_action(test, action_leave, modest);
	KUNIT_EXPECT_EQ_MSG(test, take_all(greedy, SZ_2K, &err), SZ_8M, "alone again");
}

/* --- users --- */

#define MOST_USERS 256

static void pool_users(struct kunit *test)
{
	struct vdma_pool_user one_more;
	struct vdma_buffer buffer;
	struct guest **guests;
	struct vdma_pool *pool;
	size_t largest;
	unsigned int i;

	pool = create_pool(test, SZ_4M, &largest);
	guests = kunit_kcalloc(test, MOST_USERS, sizeof(*guests), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, guests);
	for (i = 0; i < MOST_USERS; i++) {
		guests[i] = join_pool(test, pool);
		KUNIT_EXPECT_EQ(test, held(guests[i]), 0);
		KUNIT_ASSERT_EQ(test, get(guests[i], 1, &buffer), 0);
	}
	KUNIT_EXPECT_EQ(test, vdma_pool_join(pool, &one_more, U64_MAX), -ENOSPC);
	KUNIT_EXPECT_EQ(test, info_of(pool).used, MOST_USERS * VDMA_SLOT_SIZE);

	kunit_release_action(test, action_leave, guests[100]);
	KUNIT_EXPECT_EQ(test, info_of(pool).used, (MOST_USERS - 1) * VDMA_SLOT_SIZE);
	guests[100] = join_pool(test, pool);
	KUNIT_EXPECT_EQ_MSG(test, held(guests[100]), 0, "a user inherits from the one before");
	KUNIT_EXPECT_EQ(test, vdma_pool_user_most(&guests[100]->user), 0);
}

static void pool_reclaim(struct kunit *test)
{
	static const size_t of[] = { 1, SZ_4K, SZ_64K, SZ_64K + 1, SZ_256K + 5 };
	struct vdma_buffer left[ARRAY_SIZE(of)], kept[ARRAY_SIZE(of)];
	struct guest *leaver, *stayer;
	struct vdma_pool *pool;
	size_t largest;
	unsigned int i;
	u64 stays;

	pool = create_pool(test, SZ_4M, &largest);
	leaver = join_pool(test, pool);
	stayer = join_pool(test, pool);
	for (i = 0; i < ARRAY_SIZE(of); i++) {
		KUNIT_ASSERT_EQ(test, get(leaver, of[i], &left[i]), 0);
		KUNIT_ASSERT_EQ(test, get(stayer, of[i], &kept[i]), 0);
	}
	stays = held(stayer);
	vdma_pool_reclaim(pool, &leaver->user);
	KUNIT_EXPECT_EQ(test, held(leaver), 0);
	KUNIT_EXPECT_EQ(test, held(stayer), stays);
	KUNIT_EXPECT_EQ(test, info_of(pool).used, stays);
	for (i = 0; i < ARRAY_SIZE(of); i++)
		put(stayer, &kept[i]);
	KUNIT_EXPECT_EQ(test, info_of(pool).used, 0);
	KUNIT_EXPECT_EQ(test, get(stayer, largest / 4 * 3, &kept[0]), 0);
}

/* --- visits --- */

#define MOST_STRETCHES 8

struct stretch {
	void *in_pool;
	phys_addr_t original;
	size_t size;
};

/* Visitors get no argument; the cases that use this run in one thread. */
static struct stretch stretches[MOST_STRETCHES];
static unsigned int stretch_count;

static void note_stretch(void *in_pool, phys_addr_t original, size_t size)
{
	if (stretch_count < MOST_STRETCHES)
		stretches[stretch_count] = (struct stretch){ in_pool, original, size };
	stretch_count++;
}

static bool visit(const struct guest *guest, phys_addr_t phys, size_t size)
{
	stretch_count = 0;
	return vdma_pool_visit_across(guest->pool, &guest->user, phys, size, note_stretch);
}

static bool visit_one(const struct guest *guest, phys_addr_t phys, size_t size)
{
	stretch_count = 0;
	return vdma_pool_visit(guest->pool, &guest->user, phys, size, note_stretch);
}

/* Two buffers of a slot each that lie side by side, in this order. */
static void get_neighbours(struct kunit *test, struct guest *first, struct guest *second,
			   const phys_addr_t originals[2], size_t size,
			   struct vdma_buffer pair[2])
{
	struct vdma_buffer both;

	/* what was one buffer a moment ago is cut in two by emptying the caches */
	KUNIT_ASSERT_EQ(test, get(first, SZ_4K, &both), 0);
	put(first, &both);
	KUNIT_ASSERT_EQ(test, vdma_pool_alloc(first->pool, &first->user, size, originals[0],
					      &pair[0]), 0);
	do
		KUNIT_ASSERT_EQ(test, vdma_pool_alloc(second->pool, &second->user, size,
						      originals[1], &pair[1]), 0);
	while (pair[1].phys != pair[0].phys + VDMA_SLOT_SIZE);
}

struct visit_case {
	const char *name;
	phys_addr_t originals[2];
	size_t size;
	size_t from;
	size_t length;
	unsigned int stretches;
	struct {
		size_t offset;
		phys_addr_t original;
		size_t size;
	} stretch[2];
};

static const struct visit_case visits[] = {
	{
		"one slot, all of it", { 0x1000, 0x9000 }, 2048, 0, 2048,
		1, { { 0, 0x1000, 2048 } }
	}, {
		"one byte, the last", { 0x1000, 0x9000 }, 2048, 2047, 1,
		1, { { 2047, 0x17ff, 1 } }
	}, {
		"across two, the originals elsewhere", { 0x1000, 0x9000 }, 2048, 1000, 2048,
		2, { { 1000, 0x13e8, 1048 }, { 2048, 0x9000, 1000 } }
	}, {
		"across two, the originals side by side", { 0x1000, 0x1800 }, 2048, 1000, 2048,
		1, { { 1000, 0x13e8, 2048 } }
	}, {
		"across two short ones", { 0x1000, 0x9000 }, 100, 50, 2048,
		2, { { 50, 0x1032, 50 }, { 2048, 0x9000, 50 } }
	}, {
		"two short ones whose originals would be side by side", { 0x1000, 0x1064 }, 100,
		0, 4096, 2, { { 0, 0x1000, 100 }, { 2048, 0x1064, 100 } }
	}, {
		"behind the end of a short one", { 0x1000, 0x9000 }, 100, 100, 1948,
		0
	}, {
		"no original", { VDMA_NO_ORIGINAL, 0x9000 }, 2048, 0, 4096,
		1, { { 2048, 0x9000, 2048 } }
	}, {
		"neither has an original", { VDMA_NO_ORIGINAL, VDMA_NO_ORIGINAL }, 2048, 0, 4096,
		0
	}, {
		"the highest original", { (1ULL << 52) - 2048, 0 }, 2048, 5, 2043,
		1, { { 5, (1ULL << 52) - 2043, 2043 } }
	},
};

static void describe_visit(const struct visit_case *row, char *text)
{
	strscpy(text, row->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(visits, visits, describe_visit);

static void pool_visit(struct kunit *test)
{
	const struct visit_case *row = test->param_value;
	struct vdma_buffer pair[2];
	struct guest *guest;
	size_t largest;
	unsigned int i;

	guest = join_pool(test, create_pool(test, SZ_4M, &largest));
	get_neighbours(test, guest, guest, row->originals, row->size, pair);
	KUNIT_ASSERT_TRUE(test, visit(guest, pair[0].phys + row->from, row->length));
	KUNIT_ASSERT_EQ(test, stretch_count, row->stretches);
	for (i = 0; i < row->stretches; i++) {
		KUNIT_EXPECT_PTR_EQ_MSG(test, stretches[i].in_pool,
					pair[0].vaddr + row->stretch[i].offset, "stretch %u", i);
		KUNIT_EXPECT_EQ_MSG(test, stretches[i].original, row->stretch[i].original,
				    "stretch %u", i);
		KUNIT_EXPECT_EQ_MSG(test, stretches[i].size, row->stretch[i].size,
				    "stretch %u", i);
	}
}

static void pool_visit_large(struct kunit *test)
{
	const size_t size = 3 * SZ_1M + 77;
	struct vdma_buffer buffer;
	struct guest *guest;
	size_t largest;

	guest = join_pool(test, create_pool(test, SZ_4M, &largest));
	KUNIT_ASSERT_EQ(test, vdma_pool_alloc(guest->pool, &guest->user, size, 0x12345, &buffer),
			0);
	KUNIT_EXPECT_TRUE(test, visit(guest, buffer.phys, 3 * SZ_1M + SZ_2K));
	KUNIT_EXPECT_EQ(test, stretch_count, 1);
	KUNIT_EXPECT_PTR_EQ(test, stretches[0].in_pool, buffer.vaddr);
	KUNIT_EXPECT_EQ(test, stretches[0].original, 0x12345);
	KUNIT_EXPECT_EQ(test, stretches[0].size, size);
	KUNIT_EXPECT_FALSE_MSG(test, visit(guest, buffer.phys, 3 * SZ_1M + SZ_2K + 1),
			       "one byte too many");
}

/**
 * struct cut_case - a part that begins in the first of two buffers that lie side by side
 * @from: where it begins in the first one
 * @length: its bytes
 * @whole: it is all in the first one
 * @visited: bytes that are to be visited
 */
struct cut_case {
	size_t from;
	size_t length;
	bool whole;
	size_t visited;
};

/* A buffer of a slot each, and one that is a row of several blocks. */
static const struct cut_case cuts[] = {
	{ 0, SZ_2K, true, SZ_2K },
	{ 0, SZ_2K + 1, false, SZ_2K },
	{ 2047, 1, true, 1 },
	{ 2047, 2, false, 1 },
	{ 100, SZ_4K, false, SZ_2K - 100 },
	{ 0, SZ_1M, false, SZ_2K },
	{ 7, SIZE_MAX - 7, false, SZ_2K - 7 },
};

static void pool_visit_ends_with_the_buffer(struct kunit *test)
{
	static const phys_addr_t side_by_side[] = { 0x1000, 0x1800 };
	const size_t large = 3 * SZ_64K;
	const struct cut_case *row;
	struct vdma_buffer pair[2], row_of_blocks;
	struct guest *guest;
	size_t largest;

	guest = join_pool(test, create_pool(test, SZ_4M, &largest));
	get_neighbours(test, guest, guest, side_by_side, SZ_2K, pair);
	for (row = cuts; row < cuts + ARRAY_SIZE(cuts); row++) {
		KUNIT_EXPECT_EQ_MSG(test, visit_one(guest, pair[0].phys + row->from, row->length),
				    row->whole, "row %td", row - cuts);
		KUNIT_EXPECT_EQ_MSG(test, stretch_count, 1, "row %td", row - cuts);
		KUNIT_EXPECT_EQ_MSG(test, stretches[0].size, row->visited, "row %td", row - cuts);
	}

	KUNIT_ASSERT_EQ(test, vdma_pool_alloc(guest->pool, &guest->user, large, 0x100000,
					      &row_of_blocks), 0);
	KUNIT_EXPECT_TRUE(test, visit_one(guest, row_of_blocks.phys, large));
	KUNIT_EXPECT_EQ(test, stretches[0].size, large);
	KUNIT_EXPECT_FALSE(test, visit_one(guest, row_of_blocks.phys + 5, large));
	KUNIT_EXPECT_EQ(test, stretches[0].size, large - 5);
}

/* --- what is refused --- */

static void pool_foreign_buffers(struct kunit *test)
{
	static const phys_addr_t originals[] = { 0x1000, 0x1800 };
	struct guest *owner, *stranger;
	struct vdma_buffer pair[2];
	struct vdma_pool *pool;
	size_t largest;
	u64 owned, strange;

	pool = create_pool(test, SZ_4M, &largest);
	owner = join_pool(test, pool);
	stranger = join_pool(test, pool);
	get_neighbours(test, owner, stranger, originals, SZ_2K, pair);
	KUNIT_EXPECT_FALSE(test, visit(stranger, pair[0].phys, 1));
	KUNIT_EXPECT_EQ(test, stretch_count, 0);
	KUNIT_EXPECT_FALSE_MSG(test, visit(owner, pair[0].phys, SZ_2K + 1),
			       "from the own one into another's");
	KUNIT_EXPECT_FALSE_MSG(test, visit(owner, pair[1].phys, 1), "another's");

	owned = held(owner);
	strange = held(stranger);
	put(stranger, &pair[0]);
	put(owner, &pair[1]);
	KUNIT_EXPECT_EQ(test, held(owner), owned);
	KUNIT_EXPECT_EQ(test, held(stranger), strange);
	KUNIT_EXPECT_TRUE(test, visit(owner, pair[0].phys, SZ_2K));
	KUNIT_EXPECT_TRUE(test, visit(stranger, pair[1].phys, SZ_2K));
}

/* Of every kind: sizes that CPUs cache, larger ones, and those that are several blocks. */
static void pool_what_is_no_buffer(struct kunit *test)
{
	static const size_t of[] = { 1, SZ_4K, SZ_64K, SZ_128K, SZ_128K + 1, 200000 };
	struct vdma_buffer buffer;
	struct guest *guest;
	size_t largest;
	unsigned int i;
	u64 takes;

	guest = join_pool(test, create_pool(test, SZ_4M, &largest));
	for (i = 0; i < ARRAY_SIZE(of); i++) {
		phys_addr_t at;

		KUNIT_ASSERT_EQ(test, get(guest, of[i], &buffer), 0);
		takes = held(guest);
		for (at = VDMA_SLOT_SIZE; at < takes; at += VDMA_SLOT_SIZE)
			vdma_pool_free(guest->pool, &guest->user, buffer.phys + at);
		KUNIT_EXPECT_EQ_MSG(test, held(guest), takes, "freed in the middle of %zu bytes",
				    of[i]);
		vdma_pool_free(guest->pool, &guest->user, buffer.phys + VDMA_SLOT_SIZE - 1);
		KUNIT_EXPECT_EQ_MSG(test, held(guest), 0, "by its first slot's end, %zu bytes",
				    of[i]);
		put(guest, &buffer);
		KUNIT_EXPECT_EQ_MSG(test, held(guest), 0, "freed twice, %zu bytes", of[i]);
		KUNIT_EXPECT_EQ_MSG(test, info_of(guest->pool).used, 0, "freed twice, %zu bytes",
				    of[i]);
		KUNIT_EXPECT_FALSE_MSG(test, visit(guest, buffer.phys, 1), "%zu bytes, freed",
				       of[i]);
	}
	KUNIT_EXPECT_EQ(test, get(guest, largest, &buffer), 0);
}

static void pool_outside(struct kunit *test)
{
	struct vdma_buffer buffer;
	phys_addr_t first, last;
	struct vdma_pool *pool;
	struct guest *guest;
	size_t largest;

	pool = create_pool(test, SZ_4M, &largest);
	guest = join_pool(test, pool);
	KUNIT_ASSERT_TRUE(test, vdma_pool_chunk(pool, 0, &first, &last));
	KUNIT_ASSERT_EQ(test, last - first + 1, largest);
	KUNIT_ASSERT_EQ(test, get(guest, largest, &buffer), 0);
	KUNIT_EXPECT_TRUE(test, visit(guest, last, 1));
	KUNIT_EXPECT_FALSE(test, visit(guest, last, 2));
	KUNIT_EXPECT_FALSE(test, visit(guest, last + 1, 1));
	KUNIT_EXPECT_FALSE(test, visit(guest, first - 1, 1));
	KUNIT_EXPECT_FALSE(test, visit(guest, 0, 1));
	KUNIT_EXPECT_FALSE(test, visit(guest, VDMA_NO_ORIGINAL, 1));
	vdma_pool_free(pool, &guest->user, last + 1);
	vdma_pool_free(pool, &guest->user, first - 1);
	vdma_pool_free(pool, &guest->user, VDMA_NO_ORIGINAL);
	KUNIT_EXPECT_EQ(test, held(guest), largest);
}

/* Two users of a buffer that the host has made one of them free in the midst of a visit. */
static struct guest *rival, *heir;
static struct vdma_buffer contested, inherited;

/* What another CPU can do meanwhile where the host names a buffer twice, as in 5.10 it can. */
static void free_and_inherit(void *in_pool, phys_addr_t original, size_t size)
{
	vdma_pool_free(rival->pool, &rival->user, contested.phys);
	get(heir, SZ_2K, &inherited);
}

static void pool_freed_while_visited(struct kunit *test)
{
	struct vdma_pool *pool;
	size_t largest;

	pool = create_pool(test, SZ_4M, &largest);
	rival = join_pool(test, pool);
	heir = join_pool(test, pool);
	KUNIT_ASSERT_EQ(test, vdma_pool_alloc(pool, &rival->user, SZ_2K, 0x1000, &contested), 0);
	vdma_pool_visit_and_free(pool, &rival->user, contested.phys, SZ_2K, free_and_inherit);
	KUNIT_EXPECT_EQ(test, held(rival), 0);
	KUNIT_EXPECT_EQ(test, held(heir), SZ_2K);
	KUNIT_EXPECT_TRUE_MSG(test, visit(heir, inherited.phys, SZ_2K),
			      "another device's buffer was freed");
	put(heir, &inherited);
}

static size_t length_visited;

static void note_length(void *in_pool, phys_addr_t original, size_t size)
{
	length_visited += size;
}

/* A length that wraps with the offset in the buffer. */
static void pool_visit_with_hostile_length(struct kunit *test)
{
	struct vdma_buffer buffer;
	struct guest *guest;
	size_t largest;
	bool visited;

	guest = join_pool(test, create_pool(test, SZ_4M, &largest));
	KUNIT_ASSERT_EQ(test, vdma_pool_alloc(guest->pool, &guest->user, SZ_2K, 0x1000,
					      &buffer), 0);
	length_visited = 0;
	visited = vdma_pool_visit_and_free(guest->pool, &guest->user, buffer.phys + 200,
					   SIZE_MAX - 100, note_length);
	KUNIT_EXPECT_FALSE(test, visited);
	KUNIT_EXPECT_LE(test, length_visited, SZ_2K);
	KUNIT_EXPECT_EQ(test, held(guest), 0);
}

/* --- figures --- */

static void pool_figures(struct kunit *test)
{
	struct vdma_buffer a, b, c;
	struct guest *one, *two;
	struct vdma_pool *pool;
	size_t largest;

	pool = create_pool(test, SZ_4M, &largest);
	one = join_pool(test, pool);
	two = join_pool(test, pool);
	KUNIT_EXPECT_EQ(test, info_of(pool).size, SZ_4M);
	KUNIT_EXPECT_EQ(test, info_of(pool).largest_run, SZ_4M);
	KUNIT_EXPECT_EQ(test, info_of(pool).most, 0);

	/* the end of what is cut to size is in use by nobody, not for a moment */
	KUNIT_ASSERT_EQ(test, get(one, SZ_1M + 1, &a), 0);
	KUNIT_EXPECT_EQ(test, info_of(pool).used, SZ_1M + SZ_2K);
	KUNIT_EXPECT_EQ(test, info_of(pool).most, SZ_1M + SZ_2K);
	KUNIT_EXPECT_EQ(test, vdma_pool_user_most(&one->user), SZ_1M + SZ_2K);
	KUNIT_EXPECT_EQ(test, info_of(pool).largest_run, SZ_2M);

	KUNIT_ASSERT_EQ(test, get(two, SZ_2M, &b), 0);
	KUNIT_EXPECT_EQ(test, info_of(pool).largest_run, SZ_512K);
	KUNIT_ASSERT_EQ(test, get(two, 3 * SZ_64K, &c), 0);
	KUNIT_EXPECT_EQ(test, held(one), SZ_1M + SZ_2K);
	KUNIT_EXPECT_EQ(test, held(two), SZ_2M + 3 * SZ_64K);
	KUNIT_EXPECT_EQ(test, vdma_pool_user_most(&two->user), SZ_2M + 3 * SZ_64K);
	KUNIT_EXPECT_EQ(test, info_of(pool).most, 3 * SZ_1M + SZ_2K + 3 * SZ_64K);

	put(two, &b);
	put(two, &c);
	KUNIT_EXPECT_EQ(test, info_of(pool).used, SZ_1M + SZ_2K);
	KUNIT_EXPECT_EQ(test, info_of(pool).most, 3 * SZ_1M + SZ_2K + 3 * SZ_64K);
	KUNIT_EXPECT_EQ(test, vdma_pool_user_most(&two->user), SZ_2M + 3 * SZ_64K);
	vdma_pool_reset_most(pool);
	KUNIT_EXPECT_EQ(test, info_of(pool).most, SZ_1M + SZ_2K);

	put(one, &a);
	KUNIT_EXPECT_EQ(test, info_of(pool).largest_run, SZ_4M);
}

/* Blocks that lie in a CPU's cache are nobody's, and there for everybody. */
static void pool_caches_do_not_count(struct kunit *test)
{
	struct vdma_buffer buffer, whole;
	struct guest *guest;
	size_t largest;

	guest = join_pool(test, create_pool(test, SZ_4M, &largest));
	KUNIT_ASSERT_EQ(test, get(guest, 1, &buffer), 0);
	KUNIT_EXPECT_EQ(test, info_of(guest->pool).used, SZ_2K);
	put(guest, &buffer);
	KUNIT_EXPECT_EQ(test, info_of(guest->pool).used, 0);
	KUNIT_EXPECT_LT_MSG(test, info_of(guest->pool).largest_run, SZ_4M,
			    "nothing is in the caches: nothing was tried");
	KUNIT_EXPECT_EQ(test, get(guest, SZ_4M, &whole), 0);
}

/* --- where nothing may sleep --- */

/* One alloc, visit and free of each kind, and a pool that is full. */
static int use_pool(struct guest *guest)
{
	static const size_t of[] = { 1, SZ_64K, SZ_64K + 1, SZ_1M };
	struct vdma_buffer buffer, again;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(of); i++) {
		if (get(guest, of[i], &buffer))
			return -1;
		if (!vdma_pool_visit(guest->pool, &guest->user, buffer.phys, of[i], note_stretch))
			return -2;
		put(guest, &buffer);
	}
	if (get(guest, SZ_4M, &buffer))
		return -3;
	if (get(guest, 1, &again) != -ENOMEM)
		return -4;
	put(guest, &buffer);
	return held(guest) ? -5 : 0;
}

/* Guards nothing: it is held. */
static DEFINE_SPINLOCK(held_lock);

static void pool_in_atomic_context(struct kunit *test)
{
	struct guest *guest;
	unsigned long flags;
	size_t largest;
	int err;

	guest = join_pool(test, create_pool(test, SZ_4M, &largest));
	spin_lock_irqsave(&held_lock, flags);
	err = use_pool(guest);
	/* and has left them off */
	if (!err && !irqs_disabled())
		err = -6;
	spin_unlock_irqrestore(&held_lock, flags);
	KUNIT_EXPECT_EQ(test, err, 0);
}

struct interrupt {
	struct irq_work work;
	struct guest *guest;
	bool in_interrupt;
	int err;
};

static void use_pool_in_interrupt(struct irq_work *work)
{
	struct interrupt *interrupt = container_of(work, struct interrupt, work);

	interrupt->in_interrupt = in_hardirq();
	interrupt->err = use_pool(interrupt->guest);
}

/* Lockdep learns by this that interrupts take the locks, too, and watches all others. */
static void pool_in_interrupt(struct kunit *test)
{
	struct interrupt *interrupt = kunit_kzalloc(test, sizeof(*interrupt), GFP_KERNEL);
	size_t largest;

	KUNIT_ASSERT_NOT_NULL(test, interrupt);
	interrupt->guest = join_pool(test, create_pool(test, SZ_4M, &largest));
	init_irq_work(&interrupt->work, use_pool_in_interrupt);
	irq_work_queue(&interrupt->work);
	irq_work_sync(&interrupt->work);
	KUNIT_EXPECT_TRUE(test, interrupt->in_interrupt);
	KUNIT_EXPECT_EQ(test, interrupt->err, 0);
	KUNIT_EXPECT_EQ(test, use_pool(interrupt->guest), 0);
}

/* --- making a pool --- */

struct create_case {
	size_t asked;
	size_t size;
};

/* Whole pieces of the page allocator: a power of two of pages, 4 MiB at most. */
static const struct create_case creations[] = {
	{ 1, SZ_4K }, { SZ_4K, SZ_4K }, { SZ_4K + 1, SZ_8K }, { 100000, SZ_128K },
	{ SZ_2M - 1, SZ_2M }, { SZ_4M, SZ_4M }, { SZ_4M + 1, SZ_8M }, { 7 * SZ_4M, 7 * SZ_4M },
	{ 7 * SZ_4M + 1, 8 * SZ_4M },
};

static void check_chunks(struct kunit *test, struct vdma_pool *pool, size_t asked)
{
	phys_addr_t first, last, end = 0;
	u64 size = 0;
	unsigned int i;

	for (i = 0; vdma_pool_chunk(pool, i, &first, &last); i++) {
		KUNIT_EXPECT_TRUE_MSG(test, i == 0 || first > end, "pool of %zu, chunk %u", asked,
				      i);
		KUNIT_EXPECT_NULL_MSG(test, memchr_inv(phys_to_virt(first), 0, last - first + 1),
				      "pool of %zu: old memory can be seen", asked);
		size += last - first + 1;
		end = last + 1;
	}
	KUNIT_EXPECT_GT_MSG(test, i, 0, "pool of %zu", asked);
	KUNIT_EXPECT_EQ_MSG(test, size, info_of(pool).size, "pool of %zu", asked);
	KUNIT_EXPECT_EQ_MSG(test, vdma_pool_end(pool), end, "pool of %zu", asked);
}

static void pool_create(struct kunit *test)
{
	const struct create_case *row;
	struct vdma_pool *pool;
	size_t largest;

	for (row = creations; row < creations + ARRAY_SIZE(creations); row++) {
		pool = create_pool(test, row->asked, &largest);
		KUNIT_EXPECT_EQ_MSG(test, info_of(pool).size, row->size, "pool of %zu", row->asked);
		KUNIT_EXPECT_EQ_MSG(test, info_of(pool).used, 0, "pool of %zu", row->asked);
		KUNIT_EXPECT_EQ_MSG(test, info_of(pool).largest_run, largest, "pool of %zu",
				    row->asked);
		KUNIT_EXPECT_TRUE_MSG(test, is_power_of_2(largest) && largest <= row->size,
				      "pool of %zu: largest buffer %zu", row->asked, largest);
		check_chunks(test, pool, row->asked);
		kunit_release_action(test, action_destroy_pool, pool);
	}
}

/* --- memory in pieces --- */

#define HOLES 4
#define HOLE_ORDER (ilog2(SZ_4M) - PAGE_SHIFT)

/**
 * struct blocks - memory of which every other piece is taken
 * @block: blocks of 4 MiB, each the neighbour of the one before
 * @count: how many are left
 */
struct blocks {
	struct page *block[2 * HOLES + 1];
	unsigned int count;
};

static void action_free_blocks(void *data)
{
	struct blocks *blocks = data;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(blocks->block); i++)
		if (blocks->block[i])
			__free_pages(blocks->block[i], HOLE_ORDER);
}

/*
 * Free blocks that are no neighbours. The page allocator hands the blocks out first
 * that came back last, and has none of this size in its lists for CPUs.
 */
static void make_holes(struct kunit *test)
{
	struct blocks *blocks = kunit_kzalloc(test, sizeof(*blocks), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, blocks);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, action_free_blocks, blocks), 0);
	for (i = 0; i < ARRAY_SIZE(blocks->block); i++) {
		blocks->block[i] = alloc_pages(GFP_KERNEL, HOLE_ORDER);
		KUNIT_ASSERT_NOT_NULL(test, blocks->block[i]);
	}
	for (i = 1; i < ARRAY_SIZE(blocks->block); i += 2) {
		__free_pages(blocks->block[i], HOLE_ORDER);
		blocks->block[i] = NULL;
	}
}

static unsigned int count_chunks(struct vdma_pool *pool)
{
	phys_addr_t first, last;
	unsigned int count = 0;

	while (vdma_pool_chunk(pool, count, &first, &last))
		count++;
	return count;
}

static void pool_in_pieces(struct kunit *test)
{
	u64 seed = announce_seed(test);
	struct pool_player *players[1];
	struct pool_model *model;
	struct vdma_pool *pool;
	size_t largest;

	make_holes(test);
	pool = create_pool(test, HOLES * SZ_4M, &largest);
	KUNIT_ASSERT_EQ(test, count_chunks(pool), HOLES);
	KUNIT_EXPECT_EQ(test, largest, SZ_4M);
	check_chunks(test, pool, HOLES * SZ_4M);

	model = create_model(test, pool, largest, true);
	players[0] = create_player(test, model, seed);
	play(test, players, 1, pool_moves / GAME_PARTS / 4);
	KUNIT_EXPECT_TRUE_MSG(test, pool_player_release_all(players[0]), "%s", players[0]->error);
	KUNIT_EXPECT_TRUE_MSG(test, pool_player_whole_again(players[0]), "%s", players[0]->error);
}

/* --- allocations that fail --- */

struct creation {
	size_t size;
	struct vdma_pool *pool;
	size_t largest;
};

static void undo_create(void *context)
{
	struct creation *creation = context;

	vdma_pool_destroy(creation->pool);
}

/* Where there is no piece as large as wanted, smaller ones do; but it has to be all. */
static int run_create(void *context)
{
	struct creation *creation = context;

	creation->pool = vdma_pool_create(creation->size, 0, NULL, &creation->largest);
	if (IS_ERR(creation->pool))
		return PTR_ERR(creation->pool);
	if (info_of(creation->pool).size == creation->size)
		return 0;
	undo_create(creation);
	return -EMSGSIZE;
}

/* With those in the CPUs' lists, which take a whole block of 4 MiB at a time. */
static u64 free_bytes(void)
{
	struct zone *zone = NODE_DATA(0)->node_zones;
	struct zone *end = zone + MAX_NR_ZONES;
	u64 pages = global_zone_page_state(NR_FREE_PAGES);
	int cpu;

	for (; zone < end; zone++)
		for_each_possible_cpu(cpu)
			pages += READ_ONCE(per_cpu_ptr(zone->per_cpu_pageset, cpu)->count);
	return pages << PAGE_SHIFT;
}

/*
 * kmemleak sees what is lost of small memory, but not pages. A pool that is lost
 * but once takes 8 MiB along, the last of its pieces 4.
 */
static void pool_create_without_memory(struct kunit *test)
{
	static const struct faulty faulty = {
		.run = run_create,
		.undo = undo_create,
		.error = -ENOMEM,
	};
	struct creation small = { .size = SZ_64K }, large = { .size = SZ_8M };
	unsigned int i;
	u64 before;

	/* what the kernel keeps for the next time, it has now */
	KUNIT_ASSERT_EQ(test, run_create(&large), 0);
	undo_create(&large);
	before = free_bytes();
	KUNIT_EXPECT_GT(test, fail_each_allocation(test, &faulty, &large), 0);
	KUNIT_EXPECT_GT(test, free_bytes() + SZ_4M, before);
	/*
	 * One piece, as small as they get, and tables too small for vmalloc. Several
	 * times: where the kernel gets itself memory now and then, numbers shift.
	 */
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_GT(test, fail_each_allocation(test, &faulty, &small), 0);
}

static int run_join(void *context)
{
	struct guest *guest = context;

	return vdma_pool_join(guest->pool, &guest->user, U64_MAX);
}

static void undo_join(void *context)
{
	struct guest *guest = context;

	vdma_pool_leave(guest->pool, &guest->user);
}

/*
 * The numbers of the first users take no memory, and a first attempt to get some
 * without sleeping may fail: so it is tried with each.
 */
static void pool_join_without_memory(struct kunit *test)
{
	static const struct faulty faulty = {
		.run = run_join,
		.undo = undo_join,
		.error = -ENOMEM,
	};
	struct guest extra = {};
	size_t largest;
	unsigned int i;

	extra.pool = create_pool(test, SZ_4M, &largest);
	for (i = 0; i < MOST_USERS; i++) {
		fail_each_allocation(test, &faulty, &extra);
		join_pool(test, extra.pool);
	}
	KUNIT_EXPECT_EQ(test, vdma_pool_join(extra.pool, &extra.user, U64_MAX), -ENOSPC);
}

static struct kunit_case pool_cases[] = {
	KUNIT_CASE(pool_create),
	KUNIT_CASE(pool_sizes),
	KUNIT_CASE(pool_rest_of_a_large_buffer),
	KUNIT_CASE(pool_exhausted_and_recovered),
	KUNIT_CASE(pool_too_large),
	KUNIT_CASE(pool_shares),
	KUNIT_CASE(pool_users),
	KUNIT_CASE(pool_reclaim),
	KUNIT_CASE_PARAM(pool_visit, visits_gen_params),
	KUNIT_CASE(pool_visit_large),
	KUNIT_CASE(pool_visit_ends_with_the_buffer),
	KUNIT_CASE(pool_foreign_buffers),
	KUNIT_CASE(pool_what_is_no_buffer),
	KUNIT_CASE(pool_outside),
	KUNIT_CASE(pool_freed_while_visited),
	KUNIT_CASE(pool_visit_with_hostile_length),
	KUNIT_CASE(pool_figures),
	KUNIT_CASE(pool_caches_do_not_count),
	KUNIT_CASE(pool_in_atomic_context),
	KUNIT_CASE(pool_in_interrupt),
	KUNIT_CASE(pool_in_pieces),
	KUNIT_CASE_SLOW(pool_create_without_memory),
	KUNIT_CASE(pool_join_without_memory),
	KUNIT_CASE_PARAM_ATTR(pool_random, games_gen_params, { .speed = KUNIT_SPEED_SLOW }),
	KUNIT_CASE_SLOW(pool_on_all_cpus),
	KUNIT_CASE_SLOW(pool_caches_emptied_by_others),
	{}
};

static struct kunit_suite pool_suite = {
	.name = "virtio_dma_pool",
	.test_cases = pool_cases,
};

kunit_test_suite(pool_suite);
