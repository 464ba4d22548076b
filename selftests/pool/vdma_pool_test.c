// SPDX-License-Identifier: GPL-2.0
/*
 * Tries the bounce pool out on all CPUs against a plain model: buffers never
 * overlap, originals are found, and an emptied pool is whole again.
 *
 * Loading it runs the test; loading fails if the test does.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/random.h>

#include "pool.c"

static uint mib = 32;
module_param(mib, uint, 0444);
MODULE_PARM_DESC(mib, "size of the pool in MiB");

static uint rounds = 200000;
module_param(rounds, uint, 0444);
MODULE_PARM_DESC(rounds, "operations of each CPU");

static ulong seed;
module_param(seed, ulong, 0444);
MODULE_PARM_DESC(seed, "seed of the random operations; 0: take one and print it");

#define LIVE 256

/**
 * struct live - a buffer that the model knows to be allocated
 * @buffer: the buffer
 * @size: its size in bytes, 0 if there is none
 * @original: the address of its original, made up
 * @mark: what it is filled with
 */
struct live {
	struct vdma_buffer buffer;
	size_t size;
	phys_addr_t original;
	u8 mark;
};

/**
 * struct worker - one CPU's share of the test
 * @pool: the pool
 * @user: the user of the pool that this CPU plays
 * @random: its source of random numbers
 * @live: its buffers
 * @failures: allocations that found the pool full
 * @error: first thing that went wrong, or NULL
 * @done: completed at the end
 */
struct worker {
	struct vdma_pool *pool;
	struct vdma_pool_user user;
	struct rnd_state random;
	struct live live[LIVE];
	u64 failures;
	const char *error;
	struct completion done;
};

/* What the visitor expects next; the visits of one buffer are made by one CPU at a time. */
static DEFINE_PER_CPU(phys_addr_t, expected);
static DEFINE_PER_CPU(size_t, visited);
static DEFINE_PER_CPU(bool, mismatch);

static void check_original(void *in_pool, phys_addr_t original, size_t size)
{
	if (original != this_cpu_read(expected))
		this_cpu_write(mismatch, true);
	this_cpu_add(expected, size);
	this_cpu_add(visited, size);
}

static size_t random_size(struct rnd_state *random)
{
	unsigned int bits = prandom_u32_state(random) % 24;

	if (bits > 18 && prandom_u32_state(random) % 8)
		bits = 11;
	return 1 + prandom_u32_state(random) % (1U << bits);
}

static bool all_marked(const struct live *live)
{
	return !memchr_inv(live->buffer.vaddr, live->mark, live->size);
}

static const char *visit_part(struct worker *w, const struct live *live)
{
	size_t from = prandom_u32_state(&w->random) % live->size;
	size_t size = 1 + prandom_u32_state(&w->random) % (live->size - from);
	const char *error = NULL;

	preempt_disable();
	this_cpu_write(expected, live->original + from);
	this_cpu_write(visited, 0);
	this_cpu_write(mismatch, false);
	if (!vdma_pool_visit(w->pool, &w->user, live->buffer.phys + from, size,
			     check_original))
		error = "a part of a buffer was not found";
	else if (this_cpu_read(mismatch) || this_cpu_read(visited) != size)
		error = "a part of a buffer has the wrong original";
	preempt_enable();
	return error;
}

static const char *release(struct worker *w, struct live *live)
{
	if (!all_marked(live))
		return "somebody else wrote into a buffer";
	vdma_pool_free(w->pool, &w->user, live->buffer.phys);
	live->size = 0;
	return NULL;
}

static const char *acquire(struct worker *w, struct live *live)
{
	size_t size = random_size(&w->random);
	int err;

	live->original = (phys_addr_t)prandom_u32_state(&w->random) << 12 |
			 prandom_u32_state(&w->random) % PAGE_SIZE;
	err = vdma_pool_alloc(w->pool, &w->user, size, live->original,
			      &live->buffer);
	if (err == -ENOMEM || err == -EDQUOT || err == -E2BIG) {
		w->failures++;
		return NULL;
	}
	if (err)
		return "alloc failed with an unknown error";
	if (phys_to_virt(live->buffer.phys) != live->buffer.vaddr)
		return "the two addresses of a buffer differ";
	live->mark = prandom_u32_state(&w->random);
	live->size = size;
	memset(live->buffer.vaddr, live->mark, size);
	return NULL;
}

static const char *one_operation(struct worker *w)
{
	struct live *live = &w->live[prandom_u32_state(&w->random) % LIVE];

	if (!live->size)
		return acquire(w, live);
	if (prandom_u32_state(&w->random) % 4 == 0)
		return visit_part(w, live);
	return release(w, live);
}

static int work(void *data)
{
	struct worker *w = data;
	unsigned int i;

	for (i = 0; i < rounds && !w->error; i++) {
		w->error = one_operation(w);
		if (i % 64 == 0)
			cond_resched();
	}
	for (i = 0; i < LIVE; i++)
		if (w->live[i].size && !w->error)
			w->error = release(w, &w->live[i]);
	complete(&w->done);
	return 0;
}

static const char *whole_again(struct vdma_pool *pool, struct vdma_pool_user *user,
			       size_t largest)
{
	struct vdma_pool_info info;
	struct vdma_buffer buffer;

	vdma_pool_get_info(pool, &info);
	if (info.used)
		return "something is in use though all was freed";
	if (vdma_pool_alloc(pool, user, largest, 0, &buffer))
		return "the largest buffer cannot be had again";
	vdma_pool_free(pool, user, buffer.phys);
	if (vdma_pool_alloc(pool, user, largest + 1, 0, &buffer) != -E2BIG)
		return "more than the largest buffer was not refused as too large";
	return NULL;
}

static const char *run_workers(struct vdma_pool *pool, struct worker *workers)
{
	const char *error = NULL;
	u64 failures = 0;
	int cpu;

	for_each_online_cpu(cpu) {
		struct worker *w = &workers[cpu];
		struct task_struct *task;

		w->pool = pool;
		init_completion(&w->done);
		prandom_seed_state(&w->random, seed + cpu);
		if (vdma_pool_join(pool, &w->user))
			return "no memory for a user";
		task = kthread_create(work, w, "vdma_pool_test/%d", cpu);
		if (IS_ERR(task))
			return "no memory for a thread";
		kthread_bind(task, cpu);
		wake_up_process(task);
	}
	for_each_online_cpu(cpu) {
		wait_for_completion(&workers[cpu].done);
		vdma_pool_leave(pool, &workers[cpu].user);
		failures += workers[cpu].failures;
		error = error ?: workers[cpu].error;
	}
	pr_info("%u operations on each of %u CPUs, pool full %llu times\n",
		rounds, num_online_cpus(), failures);
	return error;
}

static int __init vdma_pool_test_init(void)
{
	struct worker *workers;
	struct vdma_pool_user user;
	struct vdma_pool *pool;
	const char *error;
	size_t largest;

	if (!seed)
		seed = get_random_long() >> 16;
	pr_info("seed=%lu mib=%u\n", seed, mib);
	pool = vdma_pool_create((size_t)mib << 20, &largest);
	if (IS_ERR(pool))
		return PTR_ERR(pool);
	pr_info("%u chunks, largest buffer %zu KiB\n", pool->chunk_count, largest >> 10);
	workers = kvcalloc(nr_cpu_ids, sizeof(*workers), GFP_KERNEL);
	if (!workers || vdma_pool_join(pool, &user)) {
		kvfree(workers);
		vdma_pool_destroy(pool);
		return -ENOMEM;
	}

	error = run_workers(pool, workers);
	if (!error)
		error = whole_again(pool, &user, largest);
	vdma_pool_leave(pool, &user);
	kvfree(workers);
	vdma_pool_destroy(pool);
	if (error)
		pr_err("FAILED: %s\n", error);
	else
		pr_info("passed\n");
	return error ? -EIO : 0;
}

static void __exit vdma_pool_test_exit(void)
{
}

module_init(vdma_pool_test_init);
module_exit(vdma_pool_test_exit);

MODULE_DESCRIPTION("Test of the bounce pool of virtio_dma");
MODULE_LICENSE("GPL");
