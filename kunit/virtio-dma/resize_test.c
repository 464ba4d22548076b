// SPDX-License-Identifier: GPL-2.0
/*
 * A pool that grows and shrinks. Its work items are waited for, or called directly where
 * their own allocations are to fail; how they are woken is tried too.
 */
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/prandom.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "pool.h"
#include "pool_parts.h"

#define START SZ_4M
#define MOST SZ_64M
#define PIECE SZ_64K
#define PIECES(bytes) ((bytes) / PIECE)

/**
 * struct growing - a pool with one user, and what that holds
 * @pool: the pool
 * @user: the user
 * @buffers: its buffers, of PIECE bytes each
 * @count: how many
 * @failed: allocations that failed since the last look
 */
struct growing {
	struct vdma_pool *pool;
	struct vdma_pool_user user;
	struct vdma_buffer *buffers;
	unsigned int count;
	unsigned int failed;
};

static void action_destroy(void *data)
{
	struct growing *g = data;

	vdma_pool_reclaim(g->pool, &g->user);
	vdma_pool_leave(g->pool, &g->user);
	vdma_pool_destroy(g->pool);
}

static struct growing *create(struct kunit *test)
{
	struct growing *g = kunit_kzalloc(test, sizeof(*g), GFP_KERNEL);
	size_t largest;

	KUNIT_ASSERT_NOT_NULL(test, g);
	g->buffers = kunit_kcalloc(test, PIECES(MOST), sizeof(*g->buffers), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, g->buffers);
	g->pool = vdma_pool_create(START, MOST, NULL, &largest);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, g->pool);
	KUNIT_ASSERT_EQ(test, vdma_pool_join(g->pool, &g->user, U64_MAX), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, action_destroy, g), 0);
	return g;
}

static void settle(struct growing *g)
{
	flush_work(&g->pool->grow);
}

/* Before its time. */
static void look_whether_to_shrink(struct growing *g)
{
	mod_delayed_work(g->pool->workers, &g->pool->shrink, 0);
	flush_delayed_work(&g->pool->shrink);
}

static struct vdma_pool_info info_of(struct growing *g)
{
	struct vdma_pool_info info;

	vdma_pool_get_info(g->pool, &info);
	return info;
}

static int take_one(struct growing *g)
{
	int err = vdma_pool_alloc(g->pool, &g->user, PIECE, VDMA_NO_ORIGINAL,
				  &g->buffers[g->count]);

	if (err)
		g->failed++;
	else
		g->count++;
	return err;
}

/* As a driver does: what fails is tried again, here when the pool has had its time. */
static void take(struct kunit *test, struct growing *g, size_t bytes)
{
	unsigned int end = g->count + PIECES(bytes);

	while (g->count < end) {
		if (!take_one(g))
			continue;
		settle(g);
		KUNIT_ASSERT_EQ_MSG(test, take_one(g), 0, "no room though the pool has grown");
	}
	settle(g);
}

static void give(struct growing *g, size_t bytes)
{
	unsigned int end = g->count - PIECES(bytes);

	rcu_read_lock();
	while (g->count > end)
		vdma_pool_free(g->pool, &g->user, g->buffers[--g->count].phys);
	rcu_read_unlock();
}

static void resize_grows_at_half(struct kunit *test)
{
	struct growing *g = create(test);
	struct vdma_pool_info info = info_of(g);

	KUNIT_EXPECT_EQ(test, info.size, START);
	KUNIT_EXPECT_EQ(test, info.max, MOST);
	take(test, g, START / 4);
	KUNIT_EXPECT_EQ(test, info_of(g).size, START);
	take(test, g, START / 2);
	info = info_of(g);
	KUNIT_EXPECT_EQ(test, info.size, 2 * START);
	KUNIT_EXPECT_EQ(test, info.grows, 1);
	KUNIT_EXPECT_EQ(test, info.used, START / 4 * 3);
	KUNIT_EXPECT_EQ_MSG(test, g->failed, 0, "it grows before it is full");
}

/* A need of ten times what it began with: once it has grown nothing fails. */
static void resize_ten_times(struct kunit *test)
{
	struct growing *g = create(test);
	unsigned int i, j;

	take(test, g, 10 * START);
	KUNIT_EXPECT_EQ(test, info_of(g).size, MOST);
	for (i = 0; i < g->count; i++)
		memset(g->buffers[i].vaddr, i, PIECE);
	for (i = 0; i < g->count; i++)
		KUNIT_ASSERT_NULL_MSG(test, memchr_inv(g->buffers[i].vaddr, (u8)i, PIECE),
				      "buffer %u is another's too", i);
	g->failed = 0;
	for (j = 0; j < 3; j++) {
		give(g, 10 * START);
		for (i = 0; i < PIECES(10 * START); i++)
			KUNIT_ASSERT_EQ(test, take_one(g), 0);
	}
	KUNIT_EXPECT_EQ(test, g->failed, 0);
}

static void resize_no_further(struct kunit *test)
{
	struct growing *g = create(test);

	take(test, g, MOST);
	KUNIT_EXPECT_EQ(test, info_of(g).size, MOST);
	g->count--;
	KUNIT_EXPECT_EQ(test, vdma_pool_alloc(g->pool, &g->user, PIECE, VDMA_NO_ORIGINAL,
					      &g->buffers[0]), -ENOMEM);
	KUNIT_EXPECT_FALSE_MSG(test, work_pending(&g->pool->grow), "that is of no use");
	KUNIT_EXPECT_EQ(test, info_of(g).grows, 4);
}

/* One that is full for a large buffer, as its pieces are small, grows as well. */
static void resize_for_a_large_buffer(struct kunit *test)
{
	struct growing *g = create(test);
	struct vdma_buffer large;

	take(test, g, START / 4);
	KUNIT_ASSERT_EQ(test, info_of(g).size, START);
	KUNIT_EXPECT_EQ(test, vdma_pool_alloc(g->pool, &g->user, START, VDMA_NO_ORIGINAL, &large),
			-ENOMEM);
	settle(g);
	KUNIT_EXPECT_EQ(test, vdma_pool_alloc(g->pool, &g->user, START, VDMA_NO_ORIGINAL, &large),
			0);
	KUNIT_EXPECT_EQ_MSG(test, vdma_pool_alloc(g->pool, &g->user, 2 * START, VDMA_NO_ORIGINAL,
						  &large), -E2BIG,
			    "what only a pool that has grown can hold is promised to nobody");
}

/* --- shrinking --- */

static void resize_shrinks_when_idle(struct kunit *test)
{
	struct growing *g = create(test);
	struct vdma_pool_info info;
	u64 before;

	take(test, g, 10 * START);
	give(g, 10 * START);
	before = (u64)global_zone_page_state(NR_FREE_PAGES) << PAGE_SHIFT;
	look_whether_to_shrink(g);
	KUNIT_EXPECT_EQ_MSG(test, info_of(g).size, MOST, "it was in use until now");
	look_whether_to_shrink(g);
	info = info_of(g);
	KUNIT_EXPECT_EQ(test, info.size, START);
	KUNIT_EXPECT_GE(test, info.shrinks, 1);
	KUNIT_EXPECT_EQ(test, info.used, 0);
	KUNIT_EXPECT_GT_MSG(test, (u64)global_zone_page_state(NR_FREE_PAGES) << PAGE_SHIFT,
			    before + MOST / 2, "the memory did not come back");
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&g->pool->shrink));
	take(test, g, 10 * START);
	KUNIT_EXPECT_EQ_MSG(test, info_of(g).size, MOST, "and it grows again");
}

/* However large its chunks are: more than a quarter of all keeps all, an eighth keeps half. */
static void resize_shrinks_no_further(struct kunit *test)
{
	struct growing *g = create(test);
	u64 size;

	take(test, g, 10 * START);
	give(g, 10 * START - MOST / 4 - PIECE);
	look_whether_to_shrink(g);
	look_whether_to_shrink(g);
	KUNIT_EXPECT_EQ(test, info_of(g).size, MOST);
	KUNIT_EXPECT_TRUE_MSG(test, delayed_work_pending(&g->pool->shrink), "it looks again");
	give(g, MOST / 8 + PIECE);
	look_whether_to_shrink(g);
	look_whether_to_shrink(g);
	size = info_of(g).size;
	KUNIT_EXPECT_LT(test, size, MOST);
	KUNIT_EXPECT_GE(test, size, MOST / 2);
}

/* One buffer of a chunk keeps all of it, also when it lies in a CPU's cache no more. */
static void resize_keeps_what_is_in_use(struct kunit *test)
{
	struct growing *g = create(test);
	struct vdma_buffer last;
	phys_addr_t first, end;
	unsigned int i;
	bool found = false;

	take(test, g, 10 * START);
	last = g->buffers[g->count - 1];
	memset(last.vaddr, 0x3c, PIECE);
	g->count--;
	give(g, 10 * START - PIECE);
	look_whether_to_shrink(g);
	look_whether_to_shrink(g);
	KUNIT_EXPECT_LT(test, info_of(g).size, MOST);
	KUNIT_EXPECT_GT(test, info_of(g).size, START);
	for (i = 0; vdma_pool_chunk(g->pool, i, &first, &end); i++)
		found |= last.phys >= first && last.phys + PIECE - 1 <= end;
	KUNIT_EXPECT_TRUE(test, found);
	KUNIT_EXPECT_NULL(test, memchr_inv(last.vaddr, 0x3c, PIECE));
	rcu_read_lock();
	vdma_pool_free(g->pool, &g->user, last.phys);
	rcu_read_unlock();
	KUNIT_EXPECT_EQ(test, info_of(g).used, 0);
	look_whether_to_shrink(g);
	look_whether_to_shrink(g);
	KUNIT_EXPECT_EQ(test, info_of(g).size, START);
}

/* --- no memory --- */

/* The work item, by this task, whose allocations can be made to fail. */
static void grow_here(struct growing *g, unsigned int nth)
{
	cancel_work_sync(&g->pool->grow);
	g->pool->full = true;
	current->fail_nth = nth;
	g->pool->grow.func(&g->pool->grow);
	current->fail_nth = 0;
}

static void resize_without_memory(struct kunit *test)
{
	struct growing *g = create(test);
	unsigned int nth, failed = 0;

	for (nth = 1; info_of(g).size == START && nth < 100; nth++) {
		grow_here(g, nth);
		if (info_of(g).size != START)
			break;
		failed++;
		KUNIT_EXPECT_EQ(test, info_of(g).grows, 0);
		KUNIT_EXPECT_EQ_MSG(test, g->pool->grow_above, U64_MAX, "it is not asked at once");
		KUNIT_EXPECT_EQ(test, take_one(g), 0);
		give(g, PIECE);
		look_whether_to_shrink(g);
		KUNIT_EXPECT_EQ_MSG(test, g->pool->grow_above, START / 2 >> VDMA_SLOT_SHIFT,
				    "but after a while");
	}
	KUNIT_EXPECT_GT(test, failed, 0);
	KUNIT_EXPECT_EQ(test, info_of(g).size, 2 * START);
}

/* --- users that cannot use all addresses --- */

static void resize_within_reach(struct kunit *test)
{
	struct growing *g = create(test);
	struct vdma_pool_user narrow = {}, other = {};
	u64 end = vdma_pool_end(g->pool);

	KUNIT_EXPECT_EQ(test, vdma_pool_join(g->pool, &other, end - 2), -ERANGE);
	KUNIT_EXPECT_TRUE(test, !other.used);
	KUNIT_ASSERT_EQ(test, vdma_pool_join(g->pool, &narrow, end - 1), 0);
	grow_here(g, 0);
	KUNIT_EXPECT_LE(test, vdma_pool_end(g->pool), end);
	vdma_pool_leave(g->pool, &narrow);
	look_whether_to_shrink(g);
	grow_here(g, 0);
	KUNIT_EXPECT_GT(test, info_of(g).size, START);
}

static void resize_narrowed(struct kunit *test)
{
	struct growing *g = create(test);
	u64 end = vdma_pool_end(g->pool);

	KUNIT_EXPECT_FALSE(test, vdma_pool_narrow(g->pool, &g->user, end - 2));
	KUNIT_EXPECT_EQ(test, g->user.reach, U64_MAX);
	KUNIT_EXPECT_TRUE(test, vdma_pool_narrow(g->pool, &g->user, end - 1));
	KUNIT_EXPECT_TRUE(test, vdma_pool_narrow(g->pool, &g->user, U64_MAX));
	KUNIT_EXPECT_EQ(test, g->user.reach, end - 1);
	grow_here(g, 0);
	KUNIT_EXPECT_LE(test, vdma_pool_end(g->pool), end);
}

/* --- all at once --- */

#define HELD 48
#define MOVES 30000

/**
 * struct worker - takes and gives back, and looks at what is not its own
 * @pool: the pool
 * @user: itself
 * @random: where its decisions come from
 * @live: what it holds
 * @sizes: how large that is; 0: nothing
 * @refused: how often there was no room
 * @error: the first thing that went wrong
 * @done: it has finished
 */
struct worker {
	struct vdma_pool *pool;
	struct vdma_pool_user user;
	struct rnd_state random;
	struct vdma_buffer live[HELD];
	size_t sizes[HELD];
	unsigned int refused;
	const char *error;
	struct completion done;
};

static void visit_nothing(void *in_pool, phys_addr_t original, size_t size)
{
}

static u8 mark_of(const struct worker *w, unsigned int i)
{
	return w->user.id * HELD + i;
}

static void let_go(struct worker *w, unsigned int i)
{
	if (memchr_inv(w->live[i].vaddr, mark_of(w, i), w->sizes[i]))
		w->error = "a buffer is another's too";
	rcu_read_lock();
	vdma_pool_free(w->pool, &w->user, w->live[i].phys);
	rcu_read_unlock();
	w->sizes[i] = 0;
}

static void get_hold(struct worker *w, unsigned int i)
{
	size_t size = 1 + prandom_u32_state(&w->random) % SZ_256K;

	if (vdma_pool_alloc(w->pool, &w->user, size, VDMA_NO_ORIGINAL, &w->live[i])) {
		w->refused++;
		return;
	}
	w->sizes[i] = size;
	memset(w->live[i].vaddr, mark_of(w, i), size);
}

/* An address that was the worker's before: a hostile host makes the driver believe such. */
static void look_at_old(struct worker *w, unsigned int i)
{
	rcu_read_lock();
	vdma_pool_visit(w->pool, &w->user, w->live[i].phys + SZ_2K, 1, visit_nothing);
	rcu_read_unlock();
}

/* Busy and idle in turn, so that the pool has reason to grow and to shrink. */
static int work_on(void *data)
{
	struct worker *w = data;
	unsigned int move;

	for (move = 0; move < MOVES && !w->error; move++) {
		unsigned int i = prandom_u32_state(&w->random) % HELD;
		bool idle = move / 512 % 2;

		if (w->sizes[i])
			let_go(w, i);
		else if (idle)
			look_at_old(w, i);
		else
			get_hold(w, i);
		cond_resched();
	}
	complete(&w->done);
	return 0;
}

static struct worker *start_worker(struct kunit *test, struct vdma_pool *pool, unsigned int number)
{
	struct worker *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	w->pool = pool;
	prandom_seed_state(&w->random, 1234 + number);
	init_completion(&w->done);
	KUNIT_ASSERT_EQ(test, vdma_pool_join(pool, &w->user, U64_MAX), 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, kthread_run(work_on, w, "resize_worker/%u", number));
	return w;
}

static void end_worker(struct kunit *test, struct worker *w)
{
	unsigned int i;

	KUNIT_EXPECT_NULL_MSG(test, w->error, "%s", w->error);
	for (i = 0; i < HELD; i++)
		if (w->sizes[i])
			let_go(w, i);
	KUNIT_EXPECT_EQ(test, vdma_pool_user_used(&w->user), 0);
	vdma_pool_leave(w->pool, &w->user);
}

/* KASAN sees who uses what is gone. */
static void resize_under_load(struct kunit *test)
{
	struct growing *g = create(test);
	struct worker *workers[4];
	struct vdma_pool_info info;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(workers); i++)
		workers[i] = start_worker(test, g->pool, i);
	for (i = 0; i < ARRAY_SIZE(workers); i++)
		while (!try_wait_for_completion(&workers[i]->done)) {
			look_whether_to_shrink(g);
			cond_resched();
		}
	for (i = 0; i < ARRAY_SIZE(workers); i++)
		end_worker(test, workers[i]);
	info = info_of(g);
	kunit_info(test, "grown %llu times, shrunk %llu times", info.grows, info.shrinks);
	KUNIT_EXPECT_GT(test, info.grows, 1);
	KUNIT_EXPECT_GT(test, info.shrinks, 1);
	KUNIT_EXPECT_EQ(test, info.used, 0);
	look_whether_to_shrink(g);
	look_whether_to_shrink(g);
	KUNIT_EXPECT_EQ(test, info_of(g).size, START);
	KUNIT_EXPECT_EQ(test, info_of(g).used, 0);
}

/* A pool that goes while it is about to grow, and while it is about to shrink. */
static void resize_destroyed_meanwhile(struct kunit *test)
{
	unsigned int round;

	for (round = 0; round < 20; round++) {
		struct growing *g = create(test);

		while (g->count < PIECES(START))
			if (take_one(g))
				break;
		give(g, g->count * PIECE);
		mod_delayed_work(g->pool->workers, &g->pool->shrink, 0);
		kunit_release_action(test, action_destroy, g);
	}
}

static struct kunit_case resize_cases[] = {
	KUNIT_CASE(resize_grows_at_half),
	KUNIT_CASE(resize_ten_times),
	KUNIT_CASE(resize_no_further),
	KUNIT_CASE(resize_for_a_large_buffer),
	KUNIT_CASE(resize_shrinks_when_idle),
	KUNIT_CASE(resize_shrinks_no_further),
	KUNIT_CASE(resize_keeps_what_is_in_use),
	KUNIT_CASE(resize_without_memory),
	KUNIT_CASE(resize_within_reach),
	KUNIT_CASE(resize_narrowed),
	KUNIT_CASE_SLOW(resize_under_load),
	KUNIT_CASE_SLOW(resize_destroyed_meanwhile),
	{}
};

static struct kunit_suite resize_suite = {
	.name = "virtio_dma_resize",
	.test_cases = resize_cases,
};

kunit_test_suite(resize_suite);
