// SPDX-License-Identifier: GPL-2.0
/*
 * Counts what DMA mappings cost on the path that a virtio-pci device is on. The
 * device has a driver, which is idle; the buffers and the ring are our own.
 *
 * The work is fixed and done with interrupts off, between two readings of the
 * time stamp counter. In an emulated guest that counts instructions (QEMU's
 * -icount shift=0) the counter is the number of instructions; elsewhere it is time.
 *
 * Loading it measures what run= names, and prints one line for each figure:
 * its name, what it was measured with, how often the work was done, how many
 * ticks that took in all, and how many of the calls failed.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/dma-mapping.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/scatterlist.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/virtio_config.h>
#include <linux/virtio_ring.h>
#include <linux/vmalloc.h>
#include <asm/cpufeature.h>
#include <asm/tsc.h>

#include "bench_device.h"

static char *device;
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "PCI name of the virtio device, 0000:00:05.0");

static char *run;
module_param(run, charp, 0444);
MODULE_PARM_DESC(run, "what to measure: cpu, calls, lists, live, filled, parallel, ring");

static ulong pool_bytes;
module_param(pool_bytes, ulong, 0444);
MODULE_PARM_DESC(pool_bytes, "for run=filled: size of the pool that the path takes buffers from");

static uint repeat = 1;
module_param(repeat, uint, 0444);
MODULE_PARM_DESC(repeat, "do everything so many times: 1 is enough where instructions are counted");

#define LARGEST (8UL << 20)

/* What the page allocator gives in one piece on all kernels; LARGEST is two of them. */
#define PIECE_SIZE (LARGEST / 2)
#define PIECES 16

static struct device *dev;
static struct virtio_device *vdev;
static u8 *arena;

/* --- measuring --- */

/**
 * struct ticks - a measurement
 * @begin: the counter at its begin
 * @flags: interrupt state to be restored
 */
struct ticks {
	u64 begin;
	unsigned long flags;
};

/*
 * While a CPU owes RCU a report, each end of a read-side critical section takes
 * the long way, and with interrupts off it cannot pay. Context: may sleep.
 */
static void settle(void)
{
	synchronize_rcu();
}

static struct ticks measure_begin(void)
{
	struct ticks t;

	local_irq_save(t.flags);
	t.begin = rdtsc_ordered();
	return t;
}

static u64 measure_end(const struct ticks *t)
{
	u64 end = rdtsc_ordered();

	local_irq_restore(t->flags);
	return end - t->begin;
}

/* Few where each takes long: what matters is that it is the same number each time. */
static unsigned int rounds_of(size_t size)
{
	return repeat * clamp_t(size_t, SZ_1M / size, 4, 256);
}

/**
 * struct way - in which a buffer is mapped and unmapped
 * @name: what it is called in the output
 * @dir: the direction
 * @attrs: attributes of both calls
 */
struct way {
	const char *name;
	enum dma_data_direction dir;
	unsigned long attrs;
};

/* The last is what the path itself costs, where it then copies and clears nothing. */
static const struct way ways[] = {
	{ "to_device", DMA_TO_DEVICE },
	{ "from_device", DMA_FROM_DEVICE },
	{ "uncopied", DMA_FROM_DEVICE, DMA_ATTR_SKIP_CPU_SYNC },
};

static dma_addr_t map(const void *buffer, size_t size, const struct way *way)
{
	return dma_map_page_attrs(dev, virt_to_page(buffer), offset_in_page(buffer),
				  size, way->dir, way->attrs | DMA_ATTR_NO_WARN);
}

static void unmap(dma_addr_t addr, size_t size, const struct way *way)
{
	dma_unmap_page_attrs(dev, addr, size, way->dir, way->attrs);
}

/* --- the CPU: what a copy and a clear cost, and by which routine --- */

static const size_t sizes[] = {
	64, 256, 512, SZ_1K, SZ_2K, SZ_4K, SZ_16K, SZ_64K, SZ_256K, SZ_1M, LARGEST
};

/* By address, as the compiler would otherwise put in a routine of its own. */
static void copy(size_t size)
{
	void *(*routine)(void *, const void *, size_t) = memcpy;

	OPTIMIZER_HIDE_VAR(routine);
	routine(arena + LARGEST / 2, arena, size);
}

static void clear(size_t size)
{
	void *(*routine)(void *, int, size_t) = memset;

	OPTIMIZER_HIDE_VAR(routine);
	routine(arena, 0, size);
}

static void measure_copy(size_t size)
{
	unsigned int i, rounds = rounds_of(size);
	struct ticks t = measure_begin();

	for (i = 0; i < rounds; i++)
		copy(size);
	pr_info("copy size=%zu rounds=%u ticks=%llu failed=0\n", size, rounds,
		measure_end(&t));
}

static void measure_clear(size_t size)
{
	unsigned int i, rounds = rounds_of(size);
	struct ticks t = measure_begin();

	for (i = 0; i < rounds; i++)
		clear(size);
	pr_info("clear size=%zu rounds=%u ticks=%llu failed=0\n", size, rounds,
		measure_end(&t));
}

static void measure_clear_page(void)
{
	unsigned int i, rounds = rounds_of(PAGE_SIZE);
	struct ticks t = measure_begin();

	for (i = 0; i < rounds; i++)
		clear_page(arena);
	pr_info("clear_page size=%lu rounds=%u ticks=%llu failed=0\n", PAGE_SIZE,
		rounds, measure_end(&t));
}

static int run_cpu(void)
{
	size_t i;

	pr_info("flags khz=%u rep_good=%d erms=%d fsrm=%d\n", tsc_khz,
		boot_cpu_has(X86_FEATURE_REP_GOOD), boot_cpu_has(X86_FEATURE_ERMS),
		boot_cpu_has(X86_FEATURE_FSRM));
	for (i = 0; i < ARRAY_SIZE(sizes) && sizes[i] <= LARGEST / 2; i++) {
		measure_copy(sizes[i]);
		measure_clear(sizes[i]);
	}
	measure_clear_page();
	return 0;
}

/* --- map and unmap, one buffer at a time --- */

static void measure_calls(size_t size, const struct way *way)
{
	unsigned int i, rounds = rounds_of(size), failed = 0;
	struct ticks t;
	u64 ticks;

	settle();
	/* what only the first call does is not what is asked */
	unmap(map(arena, size, way), size, way);

	t = measure_begin();
	for (i = 0; i < rounds; i++) {
		dma_addr_t addr = map(arena, size, way);

		if (dma_mapping_error(dev, addr))
			failed++;
		else
			unmap(addr, size, way);
	}
	ticks = measure_end(&t);
	pr_info("calls way=%s size=%zu rounds=%u ticks=%llu failed=%u\n", way->name,
		size, rounds, ticks, failed);
}

static int run_calls(void)
{
	size_t i, j, max = dma_max_mapping_size(dev);

	for (i = 0; i < ARRAY_SIZE(ways); i++)
		for (j = 0; j < ARRAY_SIZE(sizes) && sizes[j] <= max; j++)
			measure_calls(sizes[j], &ways[i]);
	return 0;
}

/* --- scatterlists of pages --- */

#define ENTRIES 16

static void measure_list(const struct way *way)
{
	unsigned int i, rounds = rounds_of(ENTRIES * PAGE_SIZE), failed = 0;
	struct scatterlist list[ENTRIES];
	struct ticks t;
	u64 ticks;

	sg_init_table(list, ENTRIES);
	for (i = 0; i < ENTRIES; i++)
		sg_set_buf(&list[i], arena + 2 * i * PAGE_SIZE, PAGE_SIZE);
	settle();
	if (dma_map_sg_attrs(dev, list, ENTRIES, way->dir, way->attrs) > 0)
		dma_unmap_sg_attrs(dev, list, ENTRIES, way->dir, way->attrs);

	t = measure_begin();
	for (i = 0; i < rounds; i++) {
		if (dma_map_sg_attrs(dev, list, ENTRIES, way->dir, way->attrs) <= 0)
			failed++;
		else
			dma_unmap_sg_attrs(dev, list, ENTRIES, way->dir, way->attrs);
	}
	ticks = measure_end(&t);
	pr_info("list way=%s size=%lu rounds=%u ticks=%llu failed=%u\n", way->name,
		ENTRIES * PAGE_SIZE, rounds, ticks, failed);
}

static int run_lists(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ways); i++)
		measure_list(&ways[i]);
	return 0;
}

/* --- many mappings that live at the same time --- */

/**
 * struct mapping - a mapping
 * @addr: its DMA address
 * @size: its size in bytes; 0 if there is none
 */
struct mapping {
	dma_addr_t addr;
	size_t size;
};

/* So many are mapped one after the other, then unmapped in the order in which they came. */
static int measure_burst(const char *figure, size_t size, unsigned int live,
			 unsigned int rounds, const struct way *way)
{
	dma_addr_t *addr = vmalloc(array_size(live, sizeof(*addr)));
	unsigned int round, i, failed = 0;
	struct ticks t;
	u64 ticks = 0;

	if (!addr)
		return -ENOMEM;
	settle();
	/* the first round only brings the pool into the state that the others find */
	for (round = 0; round <= rounds; round++) {
		t = measure_begin();
		for (i = 0; i < live; i++)
			addr[i] = map(arena, size, way);
		for (i = 0; i < live; i++)
			if (!dma_mapping_error(dev, addr[i]))
				unmap(addr[i], size, way);
		if (round)
			ticks += measure_end(&t);
		else
			measure_end(&t);
		for (i = 0; round && i < live; i++)
			failed += !!dma_mapping_error(dev, addr[i]);
	}
	vfree(addr);
	pr_info("%s way=%s live=%u size=%zu rounds=%u ticks=%llu failed=%u\n", figure,
		way->name, live, size, rounds * live, ticks, failed);
	return 0;
}

/* A new one comes, the oldest goes: as with a queue that is kept full. */
static int measure_queue(size_t size, unsigned int live, unsigned int rounds,
			 const struct way *way)
{
	dma_addr_t *addr = vmalloc(array_size(live, sizeof(*addr)));
	unsigned int i, at = 0, failed = 0;
	struct ticks t;
	u64 ticks;

	if (!addr)
		return -ENOMEM;
	for (i = 0; i < live; i++)
		addr[i] = map(arena, size, way);
	settle();
	t = measure_begin();
	for (i = 0; i < rounds; i++) {
		if (dma_mapping_error(dev, addr[at]))
			failed++;
		else
			unmap(addr[at], size, way);
		addr[at] = map(arena, size, way);
		if (++at == live)
			at = 0;
	}
	ticks = measure_end(&t);
	for (i = 0; i < live; i++)
		if (!dma_mapping_error(dev, addr[i]))
			unmap(addr[i], size, way);
	vfree(addr);
	pr_info("queue way=%s live=%u size=%zu rounds=%u ticks=%llu failed=%u\n",
		way->name, live, size, rounds, ticks, failed);
	return 0;
}

#define FEW 8
#define MANY (100 * FEW)

static int run_live(void)
{
	static const unsigned int live[] = { FEW, MANY };
	size_t i, j;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		for (j = 0; j < ARRAY_SIZE(live) && !err; j++) {
			err = measure_queue(SZ_4K, live[j], repeat * 2 * MANY, &ways[i]);
			err = err ?: measure_burst("burst", SZ_4K, live[j],
						   repeat * 2 * MANY / live[j], &ways[i]);
		}
	}
	return err;
}

/* --- a pool that is full of other mappings --- */

static const struct way filling = { "", DMA_FROM_DEVICE, DMA_ATTR_SKIP_CPU_SYNC };

/* Mostly small ones, as traffic is; none larger than 64 KiB. */
static size_t random_size(struct rnd_state *rnd)
{
	return 1 + prandom_u32_state(rnd) % (SZ_2K << prandom_u32_state(rnd) % 6);
}

/* Until nothing more goes. Returns the size of all mappings, in whole slots. */
static size_t fill_pool(struct mapping *all, unsigned int count, struct rnd_state *rnd)
{
	size_t taken = 0;
	unsigned int i;

	for (i = 0; i < count; i++) {
		all[i].size = random_size(rnd);
		all[i].addr = map(arena, all[i].size, &filling);
		while (dma_mapping_error(dev, all[i].addr) && all[i].size > SZ_2K) {
			all[i].size = SZ_2K;
			all[i].addr = map(arena, all[i].size, &filling);
		}
		if (dma_mapping_error(dev, all[i].addr))
			break;
		taken += ALIGN(all[i].size, SZ_2K);
	}
	if (i < count)
		all[i].size = 0;
	return taken;
}

static void drop(struct mapping *m)
{
	if (m->size)
		unmap(m->addr, m->size, &filling);
	m->size = 0;
}

/* Takes mappings away at random, so that what is left lies scattered over the pool. */
static void thin_out(struct mapping *all, unsigned int count, size_t taken,
		     size_t wanted, struct rnd_state *rnd)
{
	while (taken > wanted) {
		struct mapping *m = &all[prandom_u32_state(rnd) % count];

		if (!m->size)
			continue;
		taken -= ALIGN(m->size, SZ_2K);
		drop(m);
	}
}

/* Few enough for what a pool that is 95 % full can still give. */
#define FILLED_LIVE 16

static int measure_filled(struct mapping *all, unsigned int count, unsigned int percent)
{
	static const size_t filled_sizes[] = { 64, SZ_4K, SZ_16K };
	size_t taken, i;
	struct rnd_state rnd;
	char name[16];
	int err = 0;

	prandom_seed_state(&rnd, 1);
	taken = fill_pool(all, count, &rnd);
	thin_out(all, count, taken, taken / 100 * percent, &rnd);
	snprintf(name, sizeof(name), "filled_%u", percent);
	for (i = 0; i < ARRAY_SIZE(filled_sizes) * ARRAY_SIZE(ways) && !err; i++)
		err = measure_burst(name, filled_sizes[i / ARRAY_SIZE(ways)], FILLED_LIVE,
				    16 * repeat, &ways[i % ARRAY_SIZE(ways)]);
	for (i = 0; i < count; i++)
		drop(&all[i]);
	return err;
}

static int run_filled(void)
{
	static const unsigned int percents[] = { 10, 50, 95 };
	unsigned int count = pool_bytes / SZ_2K;
	struct mapping *all;
	int err = 0;
	size_t i;

	if (!count) {
		pr_err("run=filled needs pool_bytes=\n");
		return -EINVAL;
	}
	all = vzalloc(array_size(count, sizeof(*all)));
	if (!all)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(percents) && !err; i++)
		err = measure_filled(all, count, percents[i]);
	vfree(all);
	return err;
}

/* --- all CPUs at once --- */

/**
 * struct worker - the work of one CPU
 * @buffer: what it maps
 * @begin: the counter when all had arrived
 * @end: the counter when it had done its work
 * @failed: calls that failed
 * @done: completed at the end
 */
struct worker {
	u8 *buffer;
	u64 begin;
	u64 end;
	unsigned int failed;
	struct completion done;
};

#define PARALLEL_ROUNDS 2000
static atomic_t absent;

static int work(void *data)
{
	struct worker *w = data;
	unsigned long flags;
	unsigned int i;

	settle();
	local_irq_save(flags);
	atomic_dec(&absent);
	while (atomic_read(&absent))
		cpu_relax();
	w->begin = rdtsc_ordered();
	for (i = 0; i < repeat * PARALLEL_ROUNDS; i++) {
		dma_addr_t addr = map(w->buffer, SZ_4K, &ways[2]);

		if (dma_mapping_error(dev, addr))
			w->failed++;
		else
			unmap(addr, SZ_4K, &ways[2]);
	}
	w->end = rdtsc_ordered();
	local_irq_restore(flags);
	complete(&w->done);
	return 0;
}

/* Where instructions are counted, one counter counts those of all CPUs. */
static int run_parallel(void)
{
	unsigned int cpu, count = 0, failed = 0;
	u64 begin = U64_MAX, end = 0;
	struct worker *workers;

	workers = kcalloc(nr_cpu_ids, sizeof(*workers), GFP_KERNEL);
	if (!workers)
		return -ENOMEM;
	cpus_read_lock();
	atomic_set(&absent, num_online_cpus());
	for_each_online_cpu(cpu) {
		struct task_struct *task;

		workers[cpu].buffer = arena + cpu * SZ_4K;
		init_completion(&workers[cpu].done);
		task = kthread_create(work, &workers[cpu], "vdma_bench/%u", cpu);
		if (WARN_ON(IS_ERR(task))) {
			atomic_dec(&absent);
			complete(&workers[cpu].done);
			continue;
		}
		kthread_bind(task, cpu);
		wake_up_process(task);
	}
	for_each_online_cpu(cpu) {
		wait_for_completion(&workers[cpu].done);
		begin = min(begin, workers[cpu].begin);
		end = max(end, workers[cpu].end);
		failed += workers[cpu].failed;
		count++;
	}
	cpus_read_unlock();
	kfree(workers);
	pr_info("parallel way=%s cpus=%u size=%d rounds=%u ticks=%llu failed=%u\n",
		ways[2].name, count, SZ_4K, count * repeat * PARALLEL_ROUNDS,
		end - begin, failed);
	return 0;
}

/* --- a whole request: added to a ring, used by the device, got back --- */

#define RING_SIZE 128
#define RING_INDEX 1000	/* none of the device's own */

static bool no_kick(struct virtqueue *vq)
{
	return true;
}

/* The device's part. It takes the only request there is, and says that it is done. */
static void use_request(struct virtqueue *vq)
{
	const struct vring *vring = virtqueue_get_vring(vq);
	u16 idx = virtio16_to_cpu(vdev, vring->used->idx);
	vring_used_elem_t *elem = &vring->used->ring[idx % RING_SIZE];
	u16 head = virtio16_to_cpu(vdev, vring->avail->ring[idx % RING_SIZE]);

	elem->id = cpu_to_virtio32(vdev, head);
	elem->len = 0;
	vring->used->idx = cpu_to_virtio16(vdev, idx + 1);
}

/**
 * struct request - what a driver puts into a ring at once
 * @name: what it is called in the output
 * @out: buffers that the device reads
 * @in: buffers that the device writes
 * @size: of the buffer of data; the others are a header and a status
 */
struct request {
	const char *name;
	unsigned int out;
	unsigned int in;
	size_t size;
};

static const struct request requests[] = {
	{ "net_send", 1, 0, 1514 },
	{ "disk_write", 2, 1, SZ_4K },
	{ "disk_read", 1, 2, SZ_4K },
};

static int measure_request(struct virtqueue *vq, const struct request *r)
{
	struct scatterlist header, data, status, *lists[3];
	unsigned int i, rounds = repeat * 256, failed = 0;
	struct ticks t;
	u64 ticks = 0;

	sg_init_one(&header, arena, 16);
	sg_init_one(&data, arena + PAGE_SIZE, r->size);
	sg_init_one(&status, arena + 4 * PAGE_SIZE, 1);
	lists[0] = r->out + r->in == 1 ? &data : &header;
	lists[1] = &data;
	lists[2] = &status;

	settle();
	for (i = 0; i <= rounds; i++) {
		unsigned int length;

		t = measure_begin();
		failed += !!virtqueue_add_sgs(vq, lists, r->out, r->in, arena, GFP_ATOMIC);
		use_request(vq);
		failed += virtqueue_get_buf(vq, &length) != arena;
		if (i)
			ticks += measure_end(&t);
		else
			measure_end(&t);
	}
	pr_info("request kind=%s size=%zu rounds=%u ticks=%llu failed=%u\n", r->name,
		r->size, rounds, ticks, failed);
	return failed ? -EIO : 0;
}

static int run_ring(void)
{
	struct virtqueue *vq;
	int err = 0;
	size_t i;

	vq = vring_create_virtqueue(RING_INDEX, RING_SIZE, PAGE_SIZE, vdev, true, false,
				    false, no_kick, NULL, "bench");
	if (!vq)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(requests) && !err; i++)
		err = measure_request(vq, &requests[i]);
	vring_del_virtqueue(vq);
	return err;
}

/* --- running --- */

static const struct {
	const char *name;
	int (*run)(void);
} runs[] = {
	{ "cpu", run_cpu },
	{ "calls", run_calls },
	{ "lists", run_lists },
	{ "live", run_live },
	{ "filled", run_filled },
	{ "parallel", run_parallel },
	{ "ring", run_ring },
};

static int run_by_name(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(runs); i++)
		if (!strcmp(runs[i].name, name))
			return runs[i].run();
	pr_err("run=%s: there is no such measurement\n", name);
	return -EINVAL;
}

static u8 *pieces[PIECES];

/*
 * Contiguous memory larger than one piece: two that happen to be neighbours. The
 * lowest there is: what lies above the kernel's SWIOTLB takes it a look more.
 */
static u8 *find_arena(void)
{
	u8 *lowest = NULL;
	unsigned int i, j;

	for (i = 0; i < PIECES; i++)
		pieces[i] = alloc_pages_exact(PIECE_SIZE, GFP_KERNEL | __GFP_NOWARN);
	for (i = 0; i < PIECES; i++)
		for (j = 0; pieces[i] && j < PIECES; j++)
			if (pieces[j] == pieces[i] + PIECE_SIZE && (!lowest || pieces[i] < lowest))
				lowest = pieces[i];
	return lowest;
}

static void free_arena(void)
{
	unsigned int i;

	for (i = 0; i < PIECES; i++)
		if (pieces[i])
			free_pages_exact(pieces[i], PIECE_SIZE);
}

static int __init vdma_bench_init(void)
{
	int err = -ENOMEM;

	vdev = find_virtio_pci(device ?: "");
	if (!vdev) {
		pr_err("no virtio-pci device %s\n", device ?: "given: device=0000:00:05.0");
		return -ENODEV;
	}
	dev = vdev->dev.parent;
	arena = find_arena();
	if (arena)
		err = run_by_name(run ?: "");
	else
		pr_err("no contiguous memory to map\n");
	free_arena();
	put_device(dev);
	return err;
}

static void __exit vdma_bench_exit(void)
{
}

module_init(vdma_bench_init);
module_exit(vdma_bench_exit);

MODULE_DESCRIPTION("Counts what DMA mappings of a virtio device cost");
MODULE_LICENSE("GPL");
