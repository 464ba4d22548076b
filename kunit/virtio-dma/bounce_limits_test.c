// SPDX-License-Identifier: GPL-2.0
/*
 * Path bounce and its pool: who may use it, what does not fit, what is left over.
 *
 * Where a driver does what it must not, its operation is called directly: the DMA
 * API's own debugging would report the suite.
 */
#include <kunit/test.h>
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/gfp.h>
#include <linux/kmsg_dump.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/virtio_ids.h>

#include "bounce.h"
#include "bounced.h"
#include "device.h"
#include "fake_transport.h"
#include "faults.h"
#include "pool.h"
#include "routing.h"

/* --- parameters, and the pool's making --- */

static void bounce_parameters(struct kunit *test)
{
	static const struct {
		unsigned int mb;
		const char *fill;
		int err;
	} rows[] = {
		{ 4, "auto", 0 }, { 3, "auto", -EINVAL }, { 0, "auto", 0 },
		{ UINT_MAX, "auto", -EINVAL }, { 4, "", -EINVAL }, { 4, "zeros", -EINVAL },
		{ 4, "Zero", -EINVAL }, { 4, "zero", 0 }, { 4, "preserve", 0 }, { 4, "none", 0 },
		{ BOUNCED_POOL_MB, "auto", 0 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ_MSG(test, routing_pool(rows[i].mb, rows[i].fill), rows[i].err,
				    "pool_mb=%u fill=%s", rows[i].mb, rows[i].fill);
}

static int run_make_pool(void *context)
{
	struct vdma_device *vd = context;

	return vdma_path_bounce.unavailable(vd) ? -ENOMEM : 0;
}

static void undo_make_pool(void *context)
{
	vdma_bounce_exit();
}

/* The pool is made for the first device; when there is no memory for it, that device is refused. */
static void bounce_pool_without_memory(struct kunit *test)
{
	static const struct faulty faulty = {
		.run = run_make_pool,
		.undo = undo_make_pool,
		.error = -ENOMEM,
	};
	/* not bound: the pool is there for nobody */
	struct bounced b = bounced_plug_another(test, VIRTIO_ID_NET);
	const char *why;

	vdma_bounce_exit();
	KUNIT_ASSERT_EQ(test, routing_pool(4, "auto"), 0);
	current->fail_nth = 1;
	why = vdma_path_bounce.unavailable(b.vd);
	current->fail_nth = 0;
	KUNIT_EXPECT_STREQ(test, why,
			   "there is no memory for its pool: load virtio_dma with a smaller pool_mb");
	KUNIT_EXPECT_GT(test, fail_each_allocation(test, &faulty, b.vd), 0);
	KUNIT_EXPECT_EQ(test, routing_pool_figure(test, "size"), 0);
	KUNIT_EXPECT_NULL(test, vdma_path_bounce.unavailable(b.vd));
	KUNIT_EXPECT_EQ(test, routing_pool_figure(test, "size"), SZ_4M);
	/* the other cases want a larger one */
	vdma_bounce_exit();
}

/* What a user reads of the pool, and writes. */
static void bounce_pool_in_sysfs(struct kunit *test)
{
	struct bounced b = bounced_plug(test, VIRTIO_ID_NET, "zero");
	struct driver_attribute *reset = NULL;
	struct attribute **attr;
	dma_addr_t addr;
	void *memory;

	for (attr = vdma_pool_sysfs_groups[0]->attrs; *attr; attr++)
		if (!strcmp((*attr)->name, "reset"))
			reset = container_of(*attr, struct driver_attribute, attr);
	KUNIT_ASSERT_NOT_NULL(test, reset);
	KUNIT_EXPECT_EQ(test, reset->store(NULL, "1\n", 2), 2);

	memory = dma_alloc_coherent(b.dev, SZ_1M, &addr, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, memory);
	KUNIT_EXPECT_EQ(test, routing_pool_figure(test, "size"), BOUNCED_POOL_SIZE);
	KUNIT_EXPECT_EQ(test, routing_pool_figure(test, "used"), SZ_1M);
	KUNIT_EXPECT_EQ(test, routing_pool_figure(test, "most"), SZ_1M);
	dma_free_coherent(b.dev, SZ_1M, memory, addr);
	KUNIT_EXPECT_EQ(test, routing_pool_figure(test, "used"), 0);
	KUNIT_EXPECT_EQ(test, routing_pool_figure(test, "most"), SZ_1M);
	KUNIT_EXPECT_EQ(test, reset->store(NULL, "0\n", 2), -EINVAL);
	KUNIT_EXPECT_EQ(test, reset->store(NULL, "x\n", 2), -EINVAL);
	KUNIT_EXPECT_EQ(test, routing_pool_figure(test, "most"), SZ_1M);
	KUNIT_EXPECT_EQ(test, reset->store(NULL, "1\n", 2), 2);
	KUNIT_EXPECT_EQ(test, routing_pool_figure(test, "most"), 0);
}

/* --- the log --- */

/* Where the log ends now. */
static u64 end_of_log(void)
{
	struct kmsg_dump_iter iter;

	kmsg_dump_rewind(&iter);
	return iter.next_seq;
}

/* How many lines since then have that text; @line receives the last of them. */
static unsigned int lines_with(u64 since, const char *text, char *line, size_t size)
{
	struct kmsg_dump_iter iter;
	unsigned int count = 0;
	char next[256];
	size_t length;

	*line = '\0';
	kmsg_dump_rewind(&iter);
	iter.cur_seq = since;
	while (kmsg_dump_get_line(&iter, false, next, sizeof(next) - 1, &length)) {
		next[length] = '\0';
		if (!strstr(next, text))
			continue;
		strscpy(line, next, size);
		count++;
	}
	return count;
}

/* However slow the machine is, no second line is due during the test. */
static void stretch_ratelimit(struct bounced *b)
{
	b->vd->report_limit.interval = 3600 * HZ;
}

/* --- limits --- */

static void action_destroy_pool(void *pool)
{
	vdma_pool_destroy(pool);
}

/* Contiguous memory beyond what the page allocator gives: a pool has that. */
static void *get_8_mib(struct kunit *test)
{
	struct vdma_buffer buffer;
	struct vdma_pool_user user;
	struct vdma_pool *pool;
	size_t largest;

	pool = vdma_pool_create(SZ_64M, 0, NULL, &largest);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pool);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, action_destroy_pool, pool), 0);
	KUNIT_ASSERT_EQ(test, vdma_pool_join(pool, &user, U64_MAX), 0);
	KUNIT_ASSERT_EQ(test, vdma_pool_alloc(pool, &user, SZ_8M, VDMA_NO_ORIGINAL, &buffer), 0);
	vdma_pool_leave(pool, &user);
	return buffer.vaddr;
}

/* Whatever others hold, three quarters of the pool at most, a request must find room. */
static void bounce_largest_mapping(struct kunit *test)
{
	struct bounced b = bounced_plug(test, VIRTIO_ID_NET, "zero");
	u32 *memory = get_8_mib(test);
	struct vdma_stats stats;
	dma_addr_t addr;
	unsigned int i;

	KUNIT_EXPECT_EQ(test, dma_max_mapping_size(b.dev), SZ_8M);
	KUNIT_ASSERT_EQ(test, dma_max_mapping_size(b.dev), BOUNCED_POOL_SIZE / 4);
	for (i = 0; i < SZ_8M / sizeof(*memory); i++)
		memory[i] = i;
	addr = dma_map_single(b.dev, memory, SZ_8M, DMA_TO_DEVICE);
	KUNIT_ASSERT_FALSE(test, dma_mapping_error(b.dev, addr));
	KUNIT_EXPECT_EQ(test, memcmp(seen(addr), memory, SZ_8M), 0);
	KUNIT_EXPECT_EQ(test, bounced_held(&b), SZ_8M);
	dma_unmap_single(b.dev, addr, SZ_8M, DMA_TO_DEVICE);

	addr = dma_map_page_attrs(b.dev, virt_to_page(memory), 0, SZ_8M + 1, DMA_TO_DEVICE,
				  DMA_ATTR_NO_WARN);
	KUNIT_EXPECT_TRUE(test, dma_mapping_error(b.dev, addr));
	stats = bounced_stats(&b);
	KUNIT_EXPECT_EQ(test, stats.map_failures, 1);
	KUNIT_EXPECT_EQ(test, stats.failures_too_large, 1);
	KUNIT_EXPECT_EQ(test, bounced_held(&b), 0);
}

/* A disk's request is cut into segments, and each is a mapping. */
static void bounce_largest_segment(struct kunit *test)
{
	struct bounced b = bounced_plug(test, VIRTIO_ID_BLOCK, "zero");
	struct buffer buffer = buffer_get(test);
	dma_addr_t addr;

	KUNIT_EXPECT_EQ(test, dma_max_mapping_size(b.dev), SZ_64K);
	KUNIT_EXPECT_EQ(test, b.vd->limits.segment_size, SZ_64K);
	KUNIT_EXPECT_EQ(test, b.vd->limits.segments, SZ_8M / SZ_64K);
	buffer_renew(&buffer, SZ_64K + 1);
	addr = dma_map_single(b.dev, buffer.at, SZ_64K, DMA_TO_DEVICE);
	KUNIT_ASSERT_FALSE(test, dma_mapping_error(b.dev, addr));
	dma_unmap_single(b.dev, addr, SZ_64K, DMA_TO_DEVICE);
	addr = dma_map_single(b.dev, buffer.at, SZ_64K + 1, DMA_TO_DEVICE);
	KUNIT_EXPECT_TRUE(test, dma_mapping_error(b.dev, addr));
}

/* --- what is not memory --- */

/* Beyond all memory, but an address all the same. */
#define NO_MEMORY BIT_ULL(45)

/* Where the memory that this page belongs to ends, or what the kernel takes for it. */
static phys_addr_t end_of_memory(struct page *page)
{
	phys_addr_t phys = ALIGN_DOWN(page_to_phys(page), SZ_1M);

	while (pfn_valid(PHYS_PFN(phys)))
		phys += SZ_1M;
	return phys;
}

static void bounce_not_memory(struct kunit *test)
{
	struct bounced b = bounced_plug(test, VIRTIO_ID_NET, "zero");
	struct page *page = virt_to_page(arena_get(test));
	phys_addr_t places[] = { NO_MEMORY, end_of_memory(page), end_of_memory(page) - 99 };
	u64 since = end_of_log();
	struct vdma_stats stats;
	dma_addr_t addr;
	unsigned int i;
	char line[256];

	stretch_ratelimit(&b);
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		addr = dma_map_page(b.dev, page, places[i] - page_to_phys(page), 100,
				    DMA_TO_DEVICE);
		KUNIT_EXPECT_TRUE_MSG(test, dma_mapping_error(b.dev, addr), "%pa", &places[i]);
	}
	addr = dma_map_resource(b.dev, NO_MEMORY, 100, DMA_TO_DEVICE, 0);
	KUNIT_EXPECT_TRUE(test, dma_mapping_error(b.dev, addr));
	stats = bounced_stats(&b);
	KUNIT_EXPECT_EQ(test, stats.map_failures, ARRAY_SIZE(places));
	KUNIT_EXPECT_EQ(test, stats.failures_too_large + stats.failures_full +
			stats.failures_over_share, 0);
	KUNIT_EXPECT_EQ(test, stats.maps, 0);
	KUNIT_EXPECT_EQ(test, bounced_held(&b), 0);
	KUNIT_EXPECT_EQ(test, lines_with(since, "not memory: 100 bytes not mapped", line,
					 sizeof(line)), 1);
}

/* --- coherent memory --- */

static void bounce_coherent(struct kunit *test)
{
	static const size_t sizes[] = { 1, SZ_4K, SZ_4K + 1, 3 * SZ_4K, SZ_64K, 300000, SZ_1M };
	struct bounced b = bounced_plug(test, VIRTIO_ID_NET, "none");
	unsigned int i;

	bounced_soil_pool(test);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		u64 align = min_t(u64, PAGE_SIZE << get_order(sizes[i]), SZ_64K);
		dma_addr_t addr;
		u8 *memory;

		memory = dma_alloc_coherent(b.dev, sizes[i], &addr, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL_MSG(test, memory, "%zu bytes", sizes[i]);
		KUNIT_EXPECT_EQ_MSG(test, bounced_stats(&b).allocs, i + 1, "%zu bytes", sizes[i]);
		KUNIT_EXPECT_NULL_MSG(test, memchr_inv(memory, 0, PAGE_ALIGN(sizes[i])),
				      "%zu bytes", sizes[i]);
		KUNIT_EXPECT_PTR_EQ_MSG(test, seen(addr), memory, "%zu bytes", sizes[i]);
		KUNIT_EXPECT_TRUE_MSG(test, routing_pool_has(test, addr), "%zu bytes", sizes[i]);
		KUNIT_EXPECT_EQ_MSG(test, addr & (align - 1), 0, "%zu bytes at %pad", sizes[i],
				    &addr);
		/* for the next one */
		memset(memory, BOUNCED_OLD, PAGE_ALIGN(sizes[i]));
		dma_free_coherent(b.dev, sizes[i], memory, addr);
		KUNIT_EXPECT_EQ_MSG(test, bounced_stats(&b).frees, i + 1, "%zu bytes", sizes[i]);
		KUNIT_EXPECT_EQ_MSG(test, bounced_held(&b), 0, "%zu bytes", sizes[i]);
	}
	KUNIT_EXPECT_EQ(test, bounced_stats(&b).maps, 0);
}

/* virtio_ring asks for large rings first, and does not want failures of that in the log. */
static void bounce_coherent_too_large(struct kunit *test)
{
	struct bounced b = bounced_plug(test, VIRTIO_ID_NET, "zero");
	u64 since = end_of_log();
	dma_addr_t addr;
	char line[256];

	KUNIT_EXPECT_NULL(test, dma_alloc_coherent(b.dev, BOUNCED_POOL_SIZE + 1, &addr,
						   GFP_KERNEL | __GFP_NOWARN));
	KUNIT_EXPECT_EQ(test, lines_with(since, "larger than the path allows", line,
					 sizeof(line)), 0);
	KUNIT_EXPECT_NULL(test, dma_alloc_coherent(b.dev, BOUNCED_POOL_SIZE + 1, &addr,
						   GFP_KERNEL));
	KUNIT_EXPECT_EQ(test, lines_with(since, "larger than the path allows", line,
					 sizeof(line)), 1);
	KUNIT_EXPECT_EQ(test, bounced_stats(&b).map_failures, 2);
	KUNIT_EXPECT_EQ(test, bounced_stats(&b).failures_too_large, 2);
	KUNIT_EXPECT_EQ(test, bounced_stats(&b).allocs, 0);
}

/* --- masks --- */

static u64 end_of_pool(struct kunit *test)
{
	phys_addr_t first, last = 0;
	unsigned int i = 0;

	while (routing_pool_chunk(test, i, &first, &last))
		i++;
	return last;
}

static void bounce_masks(struct kunit *test)
{
	struct bounced b = bounced_plug(test, VIRTIO_ID_NET, "zero");
	u64 last = end_of_pool(test), required = roundup_pow_of_two(last + 1) - 1;

	KUNIT_EXPECT_EQ(test, dma_get_required_mask(b.dev), required);
	KUNIT_EXPECT_EQ(test, dma_set_mask_and_coherent(b.dev, required), 0);
	KUNIT_EXPECT_EQ_MSG(test, dma_set_mask(b.dev, last), 0, "up to the last byte");
	KUNIT_EXPECT_EQ_MSG(test, dma_set_mask(b.dev, required >> 1), -EIO, "half of it");
	KUNIT_EXPECT_EQ_MSG(test, dma_set_mask(b.dev, last - 1), -EIO, "one byte less");
	b.dev->bus_dma_limit = last - 1;
	KUNIT_EXPECT_EQ_MSG(test, dma_set_mask(b.dev, required), -EIO, "the bus reaches less far");
	b.dev->bus_dma_limit = 0;
}

/* A device that cannot reach the pool is refused before it does anything. */
static void bounce_out_of_reach(struct kunit *test)
{
	static const struct {
		const char *name;
		bool streaming, coherent, bus;
	} rows[] = {
		{ "streaming mask", true, false, false },
		{ "coherent mask", false, true, false },
		{ "bus", false, false, true },
	};
	struct bounced b = bounced_plug(test, VIRTIO_ID_NET, "zero");
	u64 last = end_of_pool(test);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		b.fake->dma_mask = rows[i].streaming ? last - 1 : last;
		b.dev->coherent_dma_mask = rows[i].coherent ? last - 1 : last;
		b.dev->bus_dma_limit = rows[i].bus ? last - 1 : 0;
		KUNIT_EXPECT_NOT_NULL_MSG(test, vdma_path_bounce.unavailable(b.vd), "%s",
					  rows[i].name);
	}
	b.dev->coherent_dma_mask = last;
	b.dev->bus_dma_limit = last;
	KUNIT_EXPECT_NULL_MSG(test, vdma_path_bounce.unavailable(b.vd), "just within reach");
	b.dev->bus_dma_limit = 0;
}

/* --- a full pool --- */

#define FILLING (BOUNCED_POOL_SIZE / SZ_64K)

/* Maps the same 64 KiB again and again; returns how often. */
static unsigned int fill_pool(struct bounced *b, void *memory, dma_addr_t *addrs)
{
	unsigned int count;

	for (count = 0; count < FILLING; count++) {
		addrs[count] = dma_map_single_attrs(b->dev, memory, SZ_64K, DMA_TO_DEVICE,
						    DMA_ATTR_NO_WARN);
		if (dma_mapping_error(b->dev, addrs[count]))
			break;
	}
	return count;
}

static void empty_pool(struct bounced *b, const dma_addr_t *addrs, unsigned int count)
{
	while (count--)
		dma_unmap_single(b->dev, addrs[count], SZ_64K, DMA_TO_DEVICE);
}

static void bounce_full(struct kunit *test)
{
	static const char full[] = "the bounce pool is full: wanted 1000 bytes, free 0 of 33554432";
	struct bounced b = bounced_plug(test, VIRTIO_ID_NET, "zero");
	dma_addr_t *addrs = kunit_kcalloc(test, FILLING, sizeof(*addrs), GFP_KERNEL), addr;
	u8 *memory = arena_get(test);
	struct vdma_stats stats;
	unsigned int count, i;
	char line[256];
	u64 since;

	KUNIT_ASSERT_NOT_NULL(test, addrs);
	stretch_ratelimit(&b);
	memset(memory, 0x77, SZ_64K);
	count = fill_pool(&b, memory, addrs);
	KUNIT_EXPECT_EQ(test, count, FILLING);
	since = end_of_log();
	addr = dma_map_single_attrs(b.dev, memory, 1, DMA_TO_DEVICE, DMA_ATTR_NO_WARN);
	KUNIT_EXPECT_TRUE(test, dma_mapping_error(b.dev, addr));
	KUNIT_EXPECT_EQ_MSG(test, lines_with(since, "pool is full", line, sizeof(line)), 0,
			    "the driver said not to warn");
	for (i = 0; i < 20; i++) {
		addr = dma_map_single(b.dev, memory, 1000 + i, DMA_TO_DEVICE);
		KUNIT_EXPECT_TRUE(test, dma_mapping_error(b.dev, addr));
	}
	KUNIT_EXPECT_NULL(test, dma_alloc_coherent(b.dev, SZ_4K, &addr, GFP_KERNEL));
	KUNIT_EXPECT_EQ(test, lines_with(since, "pool is full", line, sizeof(line)), 1);
	KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(line, full), "%s", line);
	KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(line, "largest run 0; raise pool_max_mb (now 32)"),
				  "%s", line);
	KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(line, dev_name(b.dev)), "%s", line);
	stats = bounced_stats(&b);
	KUNIT_EXPECT_EQ(test, stats.map_failures, 22);
	KUNIT_EXPECT_EQ(test, stats.failures_full, 22);
	KUNIT_EXPECT_EQ(test, stats.maps, count);

	for (i = 0; i < count; i++)
		KUNIT_EXPECT_NULL_MSG(test, memchr_inv(seen(addrs[i]), 0x77, SZ_64K),
				      "mapping %u", i);
	empty_pool(&b, addrs, 1);
	addrs[0] = dma_map_single(b.dev, memory, SZ_64K, DMA_TO_DEVICE);
	KUNIT_EXPECT_FALSE_MSG(test, dma_mapping_error(b.dev, addrs[0]), "there is room again");
	empty_pool(&b, addrs, count);
	KUNIT_EXPECT_EQ(test, bounced_held(&b), 0);
}

/* Of two devices one cannot take all. */
static void bounce_share(struct kunit *test)
{
	struct bounced greedy = bounced_plug(test, VIRTIO_ID_NET, "zero");
	struct bounced modest = bounced_plug_another(test, VIRTIO_ID_NET);
	dma_addr_t *addrs = kunit_kcalloc(test, FILLING, sizeof(*addrs), GFP_KERNEL), addr;
	u8 *memory = arena_get(test);
	unsigned int count;
	char line[256];
	u64 since;

	KUNIT_ASSERT_NOT_NULL(test, addrs);
	memset(memory, 0, SZ_64K);
	count = fill_pool(&greedy, memory, addrs);
	KUNIT_EXPECT_GE(test, count, FILLING / 4 * 3);
	KUNIT_EXPECT_LT(test, count, FILLING);
	KUNIT_EXPECT_EQ(test, bounced_stats(&greedy).failures_over_share, 1);
	since = end_of_log();
	addr = dma_map_single(greedy.dev, memory, SZ_64K, DMA_TO_DEVICE);
	KUNIT_EXPECT_TRUE(test, dma_mapping_error(greedy.dev, addr));
	KUNIT_EXPECT_EQ(test, lines_with(since, "has its share of the bounce pool", line,
					 sizeof(line)), 1);
	KUNIT_EXPECT_EQ(test, bounced_stats(&greedy).failures_over_share, 2);
	KUNIT_EXPECT_EQ(test, bounced_stats(&greedy).map_failures, 2);

	addr = dma_map_single(modest.dev, memory, SZ_64K, DMA_TO_DEVICE);
	KUNIT_EXPECT_FALSE_MSG(test, dma_mapping_error(modest.dev, addr), "the other device");
	dma_unmap_single(modest.dev, addr, SZ_64K, DMA_TO_DEVICE);
	empty_pool(&greedy, addrs, count);
}

/* --- drivers that do what they must not --- */

static void bounce_unmapped_twice(struct kunit *test)
{
	struct bounced b = bounced_plug(test, VIRTIO_ID_NET, "zero");
	const struct dma_map_ops *ops = get_dma_ops(b.dev);
	struct buffer buffer = buffer_get(test);
	dma_addr_t addr, next;

	buffer_renew(&buffer, 3000);
	addr = dma_map_single(b.dev, buffer.at, 3000, DMA_FROM_DEVICE);
	KUNIT_ASSERT_FALSE(test, dma_mapping_error(b.dev, addr));
	dma_unmap_single_attrs(b.dev, addr, 3000, DMA_FROM_DEVICE, DMA_ATTR_SKIP_CPU_SYNC);
	KUNIT_EXPECT_EQ(test, bounced_held(&b), 0);

	ops->unmap_page(b.dev, addr, 3000, DMA_FROM_DEVICE, 0);
	KUNIT_EXPECT_TRUE_MSG(test, buffer_unchanged(&buffer), "it came back after all");
	KUNIT_EXPECT_EQ(test, bounced_held(&b), 0);
	KUNIT_EXPECT_EQ(test, routing_pool_figure(test, "used"), 0);
	ops->sync_single_for_cpu(b.dev, addr, 3000, DMA_FROM_DEVICE);
	ops->sync_single_for_device(b.dev, addr, 3000, DMA_FROM_DEVICE);
	KUNIT_EXPECT_TRUE_MSG(test, buffer_unchanged(&buffer), "it was synced after all");

	/* and the place is not given away twice */
	addr = dma_map_single(b.dev, buffer.at, 3000, DMA_TO_DEVICE);
	KUNIT_ASSERT_FALSE(test, dma_mapping_error(b.dev, addr));
	next = dma_map_single(b.dev, buffer.at, 3000, DMA_TO_DEVICE);
	KUNIT_ASSERT_FALSE(test, dma_mapping_error(b.dev, next));
	KUNIT_EXPECT_NE(test, addr, next);
	KUNIT_EXPECT_EQ(test, bounced_held(&b), 2 * SZ_4K);
	dma_unmap_single(b.dev, addr, 3000, DMA_TO_DEVICE);
	dma_unmap_single(b.dev, next, 3000, DMA_TO_DEVICE);
}

static void bounce_unmapped_by_another(struct kunit *test)
{
	struct bounced owner = bounced_plug(test, VIRTIO_ID_NET, "zero");
	struct bounced stranger = bounced_plug_another(test, VIRTIO_ID_NET);
	const struct dma_map_ops *ops = get_dma_ops(stranger.dev);
	struct buffer buffer = buffer_get(test);
	dma_addr_t addr;

	buffer_renew(&buffer, 3000);
	addr = dma_map_single(owner.dev, buffer.at, 3000, DMA_FROM_DEVICE);
	KUNIT_ASSERT_FALSE(test, dma_mapping_error(owner.dev, addr));
	memset(seen(addr), 0xa5, 3000);
	ops->sync_single_for_cpu(stranger.dev, addr, 3000, DMA_FROM_DEVICE);
	ops->sync_single_for_device(stranger.dev, addr, 3000, DMA_FROM_DEVICE);
	ops->unmap_page(stranger.dev, addr, 3000, DMA_FROM_DEVICE, 0);
	KUNIT_EXPECT_TRUE(test, buffer_unchanged(&buffer));
	KUNIT_EXPECT_EQ(test, bounced_held(&owner), SZ_4K);
	KUNIT_EXPECT_EQ(test, bounced_stats(&stranger).bounced_from_device, 0);
	dma_unmap_single(owner.dev, addr, 3000, DMA_FROM_DEVICE);
	KUNIT_EXPECT_NULL(test, memchr_inv(buffer.at, 0xa5, 3000));
}

/* --- the end --- */

/* Some drivers never unmap, others when they have left the device. */
static void bounce_left_behind(struct kunit *test)
{
	const struct fake_driver_params driver = { .type = VIRTIO_ID_NET };
	struct bounced stays = bounced_plug(test, VIRTIO_ID_NET, "zero");
	struct bounced goes = bounced_plug_another(test, VIRTIO_ID_NET);
	const struct dma_map_ops *ops = get_dma_ops(goes.dev);
	typeof(ops->unmap_page) unmap = ops->unmap_page;
	struct buffer buffer = buffer_get(test), other = buffer_get(test);
	dma_addr_t addr, kept, coherent;
	void *memory;

	buffer_renew(&buffer, 70000);
	buffer_renew(&other, 3000);
	kept = dma_map_single(stays.dev, other.at, 3000, DMA_FROM_DEVICE);
	KUNIT_ASSERT_FALSE(test, dma_mapping_error(stays.dev, kept));
	addr = dma_map_single(goes.dev, buffer.at, 70000, DMA_FROM_DEVICE);
	KUNIT_ASSERT_FALSE(test, dma_mapping_error(goes.dev, addr));
	/* nobody can free it later, which the kernel's DMA debugging would hold against us */
	memory = ops->alloc(goes.dev, SZ_4K, &coherent, GFP_KERNEL, 0);
	KUNIT_ASSERT_NOT_NULL(test, memory);

	device_release_driver(&goes.fake->vdev.dev);
	KUNIT_EXPECT_PTR_EQ(test, get_dma_ops(goes.dev), NULL);
	KUNIT_EXPECT_EQ_MSG(test, routing_pool_figure(test, "used"), SZ_4K,
			    "all is taken back but what the other device has");
	/* a late unmap, by who still has our operation, and by who asks the device */
	unmap(goes.dev, addr, 70000, DMA_FROM_DEVICE, 0);
	dma_unmap_single(goes.dev, addr, 70000, DMA_FROM_DEVICE);
	KUNIT_EXPECT_TRUE(test, buffer_unchanged(&buffer));
	KUNIT_EXPECT_EQ(test, routing_pool_figure(test, "used"), SZ_4K);

	memset(seen(kept), 0xa5, 3000);
	dma_unmap_single(stays.dev, kept, 3000, DMA_FROM_DEVICE);
	KUNIT_EXPECT_NULL(test, memchr_inv(other.at, 0xa5, 3000));
	KUNIT_EXPECT_EQ(test, routing_pool_figure(test, "used"), 0);
	fake_driver_register(test, &driver);
}

static int bounce_limits_suite_init(struct kunit_suite *suite)
{
	return routing_start(BOUNCED_POOL_MB);
}

static void bounce_limits_suite_exit(struct kunit_suite *suite)
{
	routing_stop();
}

static struct kunit_case bounce_limits_cases[] = {
	KUNIT_CASE(bounce_parameters),
	KUNIT_CASE(bounce_pool_without_memory),
	KUNIT_CASE(bounce_pool_in_sysfs),
	KUNIT_CASE(bounce_largest_mapping),
	KUNIT_CASE(bounce_largest_segment),
	KUNIT_CASE(bounce_not_memory),
	KUNIT_CASE(bounce_coherent),
	KUNIT_CASE(bounce_coherent_too_large),
	KUNIT_CASE(bounce_masks),
	KUNIT_CASE(bounce_out_of_reach),
	KUNIT_CASE(bounce_full),
	KUNIT_CASE(bounce_share),
	KUNIT_CASE(bounce_unmapped_twice),
	KUNIT_CASE(bounce_unmapped_by_another),
	KUNIT_CASE(bounce_left_behind),
	{}
};

static struct kunit_suite bounce_limits_suite = {
	.name = "virtio_dma_bounce_limits",
	.suite_init = bounce_limits_suite_init,
	.suite_exit = bounce_limits_suite_exit,
	.test_cases = bounce_limits_cases,
};

kunit_test_suite(bounce_limits_suite);
