// SPDX-License-Identifier: GPL-2.0
/*
 * Tries the bounce pool out on all CPUs against a plain model: buffers never
 * overlap, originals are found, and an emptied pool is whole again. The KUnit
 * suite does more; this one runs on any kernel, and on CPUs that really are many.
 *
 * Loading it runs the test; loading fails if the test does.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
/* those of the pool are virtio_dma's */
#define NOTRACE

#include <linux/module.h>
#include <linux/random.h>

#include "chunk.c"
#include "memory.c"
#include "pool.c"
#include "resize.c"
#include "sizing.c"
#include "pool_model.c"

static uint mib = 32;
module_param(mib, uint, 0444);
MODULE_PARM_DESC(mib, "size of the pool in MiB");

static uint rounds = 200000;
module_param(rounds, uint, 0444);
MODULE_PARM_DESC(rounds, "operations of each CPU");

static ulong seed;
module_param(seed, ulong, 0444);
MODULE_PARM_DESC(seed, "seed of the random operations; 0: take one and print it");

static bool run(struct pool_model *model, char *error)
{
	unsigned int moves = rounds * num_online_cpus();
	u64 refused;
	bool fine;

	fine = pool_model_race(model, seed, moves, &refused, error);
	pr_info("%u operations on %u CPUs, no room %llu times\n", moves,
		num_online_cpus(), refused);
	return fine;
}

static int __init vdma_pool_test_init(void)
{
	char error[POOL_ERROR_SIZE] = "there is no memory";
	struct pool_model *model;
	struct vdma_pool *pool;
	bool fine = false;
	size_t largest;

	if (!seed)
		seed = get_random_long() >> 16;
	pr_info("seed=%lu mib=%u\n", seed, mib);
	pool = vdma_pool_create((size_t)mib << 20, 0, NULL, &largest);
	if (IS_ERR(pool))
		return PTR_ERR(pool);
	pr_info("%u chunks, largest buffer %zu KiB\n", pool->chunk_count, largest >> 10);
	model = pool_model_create(pool, largest, false);
	if (model) {
		fine = run(model, error);
		pool_model_destroy(model);
	}
	vdma_pool_destroy(pool);
	if (!fine)
		pr_err("FAILED: %s\n", error);
	else
		pr_info("passed\n");
	return fine ? 0 : -EIO;
}

static void __exit vdma_pool_test_exit(void)
{
}

module_init(vdma_pool_test_init);
module_exit(vdma_pool_test_exit);

MODULE_DESCRIPTION("Test of the bounce pool of virtio_dma");
MODULE_LICENSE("GPL");
