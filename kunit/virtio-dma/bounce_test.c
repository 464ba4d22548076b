// SPDX-License-Identifier: GPL-2.0
/*
 * Path bounce through the DMA API: what is copied and what is not. The suite is
 * driver and device at once: as the device it reads and writes where the DMA
 * address says.
 */
#include <kunit/test.h>
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/random.h>
#include <linux/scatterlist.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/virtio_ids.h>

#include "bounced.h"
#include "device.h"
#include "fake_transport.h"
#include "routing.h"

/* --- every direction, attribute and fill --- */

/* Whose bytes are found somewhere. */
enum content {
	CALLERS,	/* what the buffer held */
	ZEROS,
	POOLS,		/* what the pool held */
};

/**
 * struct transfer - what a mapping is to do
 * @name: for people
 * @dir: its direction
 * @map_attrs: how it is mapped
 * @unmap_attrs: how it is unmapped
 * @fill: the parameter fill
 * @seen: what the device sees when it is mapped
 * @arrives: what the device has written arrives in the buffer
 * @rest: what arrives along with it, where the device has not written
 */
struct transfer {
	const char *name;
	enum dma_data_direction dir;
	unsigned long map_attrs;
	unsigned long unmap_attrs;
	const char *fill;
	enum content seen;
	bool arrives;
	enum content rest;
};

#define SKIP DMA_ATTR_SKIP_CPU_SYNC
#define OTHERS (DMA_ATTR_WEAK_ORDERING | DMA_ATTR_NO_WARN | DMA_ATTR_PRIVILEGED)

static const struct transfer transfers[] = {
	{ "to", DMA_TO_DEVICE, 0, 0, "zero", CALLERS },
	{ "to", DMA_TO_DEVICE, 0, 0, "none", CALLERS },
	{ "to", DMA_TO_DEVICE, 0, 0, "preserve", CALLERS },
	{ "to, others", DMA_TO_DEVICE, OTHERS, OTHERS, "zero", CALLERS },
	{ "to, synced later", DMA_TO_DEVICE, SKIP, 0, "zero", ZEROS },
	{ "to, synced later", DMA_TO_DEVICE, SKIP, 0, "none", ZEROS },
	{ "to, synced later", DMA_TO_DEVICE, SKIP, SKIP, "preserve", ZEROS },
	{ "from", DMA_FROM_DEVICE, 0, 0, "zero", ZEROS, true, ZEROS },
	{ "from", DMA_FROM_DEVICE, 0, 0, "none", POOLS, true, POOLS },
	{ "from", DMA_FROM_DEVICE, 0, 0, "preserve", CALLERS, true, CALLERS },
	{ "from, others", DMA_FROM_DEVICE, OTHERS, OTHERS, "zero", ZEROS, true, ZEROS },
	{ "from, synced later", DMA_FROM_DEVICE, SKIP, 0, "zero", ZEROS, true, ZEROS },
	{ "from, synced later", DMA_FROM_DEVICE, SKIP, 0, "none", POOLS, true, POOLS },
	{ "from, synced later", DMA_FROM_DEVICE, SKIP, 0, "preserve", ZEROS, true, ZEROS },
	{ "from, synced before", DMA_FROM_DEVICE, 0, SKIP, "zero", ZEROS },
	{ "from, synced before", DMA_FROM_DEVICE, 0, SKIP, "none", POOLS },
	{ "from, synced before", DMA_FROM_DEVICE, 0, SKIP, "preserve", CALLERS },
	{ "both", DMA_BIDIRECTIONAL, 0, 0, "zero", CALLERS, true, CALLERS },
	{ "both", DMA_BIDIRECTIONAL, 0, 0, "none", CALLERS, true, CALLERS },
	{ "both", DMA_BIDIRECTIONAL, 0, 0, "preserve", CALLERS, true, CALLERS },
	{ "both, others", DMA_BIDIRECTIONAL, OTHERS, OTHERS, "zero", CALLERS, true, CALLERS },
	{ "both, synced later", DMA_BIDIRECTIONAL, SKIP, 0, "zero", ZEROS, true, ZEROS },
	{ "both, synced later", DMA_BIDIRECTIONAL, SKIP, 0, "preserve", ZEROS, true, ZEROS },
	{ "both, synced before", DMA_BIDIRECTIONAL, 0, SKIP, "zero", CALLERS },
};

static const char * const fills[] = { "zero", "none", "preserve" };

static void describe_fill(const char * const *fill, char *text)
{
	snprintf(text, KUNIT_PARAM_DESC_SIZE, "fill=%s", *fill);
}

KUNIT_ARRAY_PARAM(fills, fills, describe_fill);

/* Is that what a part of the buffer held, or zeros, or what the pool held? */
static bool holds(const u8 *at, size_t size, enum content content, const u8 *old)
{
	switch (content) {
	case CALLERS:
		return !memcmp(at, old, size);
	case ZEROS:
		return !memchr_inv(at, 0, size);
	default:
		return !memchr_inv(at, BOUNCED_OLD, size);
	}
}

static void one_transfer(struct kunit *test, struct bounced *b, const struct transfer *row,
			 struct buffer *buffer, size_t written)
{
	const u8 *old = buffer_old(buffer);
	size_t size = buffer->size;
	dma_addr_t addr;

	addr = dma_map_single_attrs(b->dev, buffer->at, size, row->dir, row->map_attrs);
	KUNIT_ASSERT_FALSE_MSG(test, dma_mapping_error(b->dev, addr), "%s: %zu bytes", row->name,
			       size);
	KUNIT_EXPECT_TRUE_MSG(test, routing_pool_has(test, addr), "%s: %zu bytes at %pad",
			      row->name, size, &addr);
	KUNIT_EXPECT_TRUE_MSG(test, holds(seen(addr), size, row->seen, old),
			      "%s: what the device sees of %zu bytes", row->name, size);
	/* the device may write where it must not, too */
	memset(seen(addr), 0xa5, row->arrives ? written : size);
	dma_unmap_single_attrs(b->dev, addr, size, row->dir, row->unmap_attrs);
	/* for the next one */
	memset(seen(addr), BOUNCED_OLD, size);
	if (!row->arrives) {
		KUNIT_EXPECT_TRUE_MSG(test, buffer_unchanged(buffer), "%s: %zu bytes came back",
				      row->name, size);
		return;
	}
	KUNIT_EXPECT_NULL_MSG(test, memchr_inv(buffer->at, 0xa5, written),
			      "%s: %zu of %zu bytes, written by the device", row->name, written,
			      size);
	KUNIT_EXPECT_TRUE_MSG(test, holds(buffer->at + written, size - written, row->rest,
					  old + written),
			      "%s: %zu bytes behind %zu that the device wrote", row->name,
			      size - written, written);
	KUNIT_EXPECT_TRUE_MSG(test, buffer_red_zones_intact(buffer), "%s: around %zu bytes",
			      row->name, size);
}

static void bounce_transfers(struct kunit *test)
{
	static const struct {
		size_t size;
		size_t written;
	} parts[] = {
		{ 1, 0 }, { 1, 1 }, { 7, 3 }, { 2047, 2046 }, { 2048, 2048 }, { 2049, 2048 },
		{ 5000, 1 }, { 65536, 30001 }, { 65537, 65537 }, { 300000, 200001 },
	};
	const char *fill = *(const char **)test->param_value;
	struct bounced b = bounced_plug(test, VIRTIO_ID_NET, fill);
	struct buffer buffer = buffer_get(test);
	const struct transfer *row;
	unsigned int i;

	bounced_soil_pool(test);
	for (row = transfers; row < transfers + ARRAY_SIZE(transfers); row++) {
		if (strcmp(row->fill, fill))
			continue;
		for (i = 0; i < ARRAY_SIZE(parts); i++) {
			buffer_renew(&buffer, parts[i].size);
			one_transfer(test, &b, row, &buffer, parts[i].written);
		}
	}
	KUNIT_EXPECT_EQ(test, bounced_held(&b), 0);
}

/* Without a parameter it goes by type: what drivers look at beyond what was written. */
static void bounce_fill_by_type(struct kunit *test)
{
	static const struct {
		u32 type;
		enum content seen;
	} rows[] = {
		{ VIRTIO_ID_NET, ZEROS }, { VIRTIO_ID_BLOCK, ZEROS }, { VIRTIO_ID_SCSI, CALLERS },
	};
	struct buffer buffer = buffer_get(test);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct bounced b = bounced_plug(test, rows[i].type, "auto");
		dma_addr_t addr;

		bounced_soil_pool(test);
		buffer_renew(&buffer, 5000);
		addr = dma_map_single(b.dev, buffer.at, 5000, DMA_FROM_DEVICE);
		KUNIT_ASSERT_FALSE(test, dma_mapping_error(b.dev, addr));
		KUNIT_EXPECT_TRUE_MSG(test, holds(seen(addr), 5000, rows[i].seen,
						  buffer_old(&buffer)),
				      "type %u", rows[i].type);
		dma_unmap_single(b.dev, addr, 5000, DMA_FROM_DEVICE);
	}
}

/* On path direct the device sees the buffer itself. */
static void bounce_or_direct(struct kunit *test)
{
	const struct fake_driver_params driver = { .type = VIRTIO_ID_NET };
	struct buffer buffer = buffer_get(test);
	struct bounced b;
	dma_addr_t addr;

	routing_rules(test, "net=direct");
	fake_driver_register(test, &driver);
	b = bounced_plug_another(test, VIRTIO_ID_NET);
	KUNIT_ASSERT_PTR_EQ(test, b.vd->path, &vdma_path_direct);
	buffer_renew(&buffer, 5000);
	addr = dma_map_single(b.dev, buffer.at, 5000, DMA_FROM_DEVICE);
	KUNIT_ASSERT_FALSE(test, dma_mapping_error(b.dev, addr));
	KUNIT_EXPECT_PTR_EQ(test, seen(addr), buffer.at);
	KUNIT_EXPECT_FALSE(test, routing_pool_has(test, addr));
	dma_unmap_single(b.dev, addr, 5000, DMA_FROM_DEVICE);
}

/* --- syncs --- */

enum effect { NOTHING, COPIED_OUT, COPIED_IN, CLEARED };

/**
 * struct sync_case - what a sync is to do
 * @name: for people
 * @for_device: to which side
 * @dir: of mapping and sync
 * @fill: the parameter fill
 * @effect: what it does
 */
struct sync_case {
	const char *name;
	bool for_device;
	enum dma_data_direction dir;
	const char *fill;
	enum effect effect;
};

static const struct sync_case syncs[] = {
	{ "for the CPU, to", false, DMA_TO_DEVICE, "zero", NOTHING },
	{ "for the CPU, from", false, DMA_FROM_DEVICE, "zero", COPIED_OUT },
	{ "for the CPU, from", false, DMA_FROM_DEVICE, "none", COPIED_OUT },
	{ "for the CPU, both", false, DMA_BIDIRECTIONAL, "zero", COPIED_OUT },
	{ "for the device, to", true, DMA_TO_DEVICE, "zero", COPIED_IN },
	{ "for the device, both", true, DMA_BIDIRECTIONAL, "zero", COPIED_IN },
	{ "for the device, from", true, DMA_FROM_DEVICE, "zero", CLEARED },
	{ "for the device, from", true, DMA_FROM_DEVICE, "none", NOTHING },
	{ "for the device, from", true, DMA_FROM_DEVICE, "preserve", COPIED_IN },
};

#define SYNCED_SIZE (3 * SZ_4K + 123)
#define DEVICES 0xaa
#define CPUS 0x55

/* Is the part as it has to be, and all around it as it was? */
static bool part_is(const u8 *at, size_t from, size_t size, u8 part, u8 around)
{
	return !memchr_inv(at, around, from) && !memchr_inv(at + from, part, size) &&
	       !memchr_inv(at + from + size, around, SYNCED_SIZE - from - size);
}

static void one_sync(struct kunit *test, struct bounced *b, const struct sync_case *row,
		     struct buffer *buffer, dma_addr_t addr, size_t from, size_t size)
{
	u8 in_pool = DEVICES, in_buffer = CPUS;

	memset(seen(addr), DEVICES, SYNCED_SIZE);
	memset(buffer->at, CPUS, SYNCED_SIZE);
	if (row->for_device)
		dma_sync_single_for_device(b->dev, addr + from, size, row->dir);
	else
		dma_sync_single_for_cpu(b->dev, addr + from, size, row->dir);
	if (row->effect == COPIED_OUT)
		in_buffer = DEVICES;
	else if (row->effect == COPIED_IN)
		in_pool = CPUS;
	else if (row->effect == CLEARED)
		in_pool = 0;
	KUNIT_EXPECT_TRUE_MSG(test, part_is(seen(addr), from, size, in_pool, DEVICES),
			      "%s: bytes %zu to %zu in the pool", row->name, from,
			      from + size - 1);
	KUNIT_EXPECT_TRUE_MSG(test, part_is(buffer->at, from, size, in_buffer, CPUS),
			      "%s: bytes %zu to %zu in the buffer", row->name, from,
			      from + size - 1);
	KUNIT_EXPECT_TRUE_MSG(test, buffer_red_zones_intact(buffer), "%s: bytes %zu to %zu",
			      row->name, from, from + size - 1);
}

static void sync_all_parts(struct kunit *test, struct bounced *b, const struct sync_case *row,
			   struct buffer *buffer)
{
	static const struct {
		size_t from;
		size_t size;
	} parts[] = {
		{ 0, 1 }, { 0, SYNCED_SIZE }, { 1, 1 }, { 2047, 1 }, { 2047, 2 }, { 2048, 2048 },
		{ 1999, 4099 }, { 4095, 1 }, { 4097, 7001 }, { SYNCED_SIZE - 1, 1 },
		{ 3, SYNCED_SIZE - 3 },
	};
	dma_addr_t addr;
	unsigned int i;

	buffer_renew(buffer, SYNCED_SIZE);
	addr = dma_map_single(b->dev, buffer->at, SYNCED_SIZE, row->dir);
	KUNIT_ASSERT_FALSE_MSG(test, dma_mapping_error(b->dev, addr), "%s", row->name);
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		one_sync(test, b, row, buffer, addr, parts[i].from, parts[i].size);
	dma_unmap_single_attrs(b->dev, addr, SYNCED_SIZE, row->dir, SKIP);
}

static void bounce_syncs(struct kunit *test)
{
	const char *fill = *(const char **)test->param_value;
	struct bounced b = bounced_plug(test, VIRTIO_ID_NET, fill);
	struct buffer buffer = buffer_get(test);
	const struct sync_case *row;

	for (row = syncs; row < syncs + ARRAY_SIZE(syncs); row++)
		if (!strcmp(row->fill, fill))
			sync_all_parts(test, &b, row, &buffer);
}

#define PIECES 64

/* Of pieces of a buffer, mapped each for itself, two that lie side by side in the pool. */
static void find_neighbours(struct kunit *test, const dma_addr_t addr[PIECES], unsigned int pair[2])
{
	for (pair[0] = 0; pair[0] < PIECES; pair[0]++)
		for (pair[1] = 0; pair[1] < PIECES; pair[1]++)
			if (addr[pair[1]] == addr[pair[0]] + SZ_2K)
				return;
	KUNIT_FAIL_AND_ABORT(test, "no two mappings lie side by side");
}

static void sync_into_the_next(struct kunit *test, struct bounced *b, struct buffer *buffer,
			       enum dma_data_direction dir, u8 second)
{
	/* not by the API, whose debugging knows better than to allow it */
	const struct dma_map_ops *ops = get_dma_ops(b->dev);
	dma_addr_t addr[PIECES];
	unsigned int pair[2], i;
	u8 *at[2];

	for (i = 0; i < PIECES; i++) {
		u8 *piece = buffer->at + i * SZ_2K;

		addr[i] = ops->map_page(b->dev, virt_to_page(piece), offset_in_page(piece), SZ_2K,
					dir, 0);
		KUNIT_ASSERT_NE(test, addr[i], DMA_MAPPING_ERROR);
		memset(seen(addr[i]), DEVICES, SZ_2K);
	}
	memset(buffer->at, CPUS, PIECES * SZ_2K);
	find_neighbours(test, addr, pair);
	for (i = 0; i < 2; i++)
		at[i] = buffer->at + pair[i] * SZ_2K;

	ops->sync_single_for_cpu(b->dev, addr[pair[0]] + 1, SZ_4K - 1, dir);
	KUNIT_EXPECT_EQ_MSG(test, at[0][0], CPUS, "direction %u", dir);
	KUNIT_EXPECT_NULL_MSG(test, memchr_inv(at[0] + 1, DEVICES, SZ_2K - 1), "direction %u", dir);
	KUNIT_EXPECT_NULL_MSG(test, memchr_inv(at[1], second, SZ_2K), "direction %u", dir);
	for (i = 0; i < PIECES; i++)
		ops->unmap_page(b->dev, addr[i], SZ_2K, dir, SKIP);
}

/*
 * A length that the host has made up reaches the next mapping only where that is meant: AF_XDP
 * maps both ways.
 */
static void bounce_sync_of_too_much(struct kunit *test)
{
	struct bounced b = bounced_plug(test, VIRTIO_ID_NET, "none");
	struct buffer buffer = buffer_get(test);

	buffer_renew(&buffer, PIECES * SZ_2K);
	sync_into_the_next(test, &b, &buffer, DMA_FROM_DEVICE, CPUS);
	sync_into_the_next(test, &b, &buffer, DMA_BIDIRECTIONAL, DEVICES);
}

/* --- scatterlists --- */

#define FIRST_PART 5
#define ENTRIES 12

/**
 * struct list - a scatterlist in two parts, the first chained to the second
 * @first: one entry more than it has, for the chain
 * @second: the rest
 * @copy: what all of the arena held
 * @arena: where the buffers lie
 */
struct list {
	struct scatterlist first[FIRST_PART + 1];
	struct scatterlist second[ENTRIES - FIRST_PART];
	u8 *copy;
	u8 *arena;
};

static struct list *get_list(struct kunit *test)
{
	struct list *list = kunit_kzalloc(test, sizeof(*list), GFP_KERNEL);
	struct scatterlist *sg;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, list);
	list->arena = arena_get(test);
	list->copy = arena_get(test);
	get_random_bytes(list->arena, ARENA_SIZE);
	memcpy(list->copy, list->arena, ARENA_SIZE);
	sg_init_table(list->first, ARRAY_SIZE(list->first));
	sg_init_table(list->second, ARRAY_SIZE(list->second));
	sg_chain(list->first, ARRAY_SIZE(list->first), list->second);
	/* of all lengths, at all offsets, and over more than a page */
	for_each_sg(list->first, sg, ENTRIES, i)
		sg_set_buf(sg, list->arena + i * SZ_32K + i * 331 % PAGE_SIZE, 1 + i * 1777);
	return list;
}

static const u8 *list_copy(const struct list *list, struct scatterlist *sg)
{
	return list->copy + ((u8 *)sg_virt(sg) - list->arena);
}

static void bounce_scatterlist(struct kunit *test)
{
	struct bounced b = bounced_plug(test, VIRTIO_ID_NET, "zero");
	struct list *list = get_list(test);
	struct scatterlist *sg;
	struct vdma_stats stats;
	unsigned int i;
	u64 bytes = 0;

	KUNIT_ASSERT_EQ(test, dma_map_sg(b.dev, list->first, ENTRIES, DMA_BIDIRECTIONAL), ENTRIES);
	for_each_sg(list->first, sg, ENTRIES, i) {
		KUNIT_EXPECT_EQ_MSG(test, sg_dma_len(sg), sg->length, "entry %u", i);
		KUNIT_EXPECT_TRUE_MSG(test, routing_pool_has(test, sg_dma_address(sg)),
				      "entry %u", i);
		KUNIT_EXPECT_EQ_MSG(test, memcmp(seen(sg_dma_address(sg)), list_copy(list, sg),
						 sg->length), 0, "entry %u", i);
		memset(seen(sg_dma_address(sg)), 0x40 + i, sg->length);
		bytes += sg->length;
	}
	dma_sync_sg_for_cpu(b.dev, list->first, ENTRIES, DMA_BIDIRECTIONAL);
	for_each_sg(list->first, sg, ENTRIES, i) {
		KUNIT_EXPECT_NULL_MSG(test, memchr_inv(sg_virt(sg), 0x40 + i, sg->length),
				      "entry %u", i);
		memset(sg_virt(sg), 0x60 + i, sg->length);
	}
	dma_sync_sg_for_device(b.dev, list->first, ENTRIES, DMA_BIDIRECTIONAL);
	for_each_sg(list->first, sg, ENTRIES, i) {
		KUNIT_EXPECT_NULL_MSG(test, memchr_inv(seen(sg_dma_address(sg)), 0x60 + i,
						       sg->length), "entry %u", i);
		memset(seen(sg_dma_address(sg)), 0x80 + i, sg->length);
	}
	dma_unmap_sg(b.dev, list->first, ENTRIES, DMA_BIDIRECTIONAL);
	for_each_sg(list->first, sg, ENTRIES, i) {
		KUNIT_EXPECT_NULL_MSG(test, memchr_inv(sg_virt(sg), 0x80 + i, sg->length),
				      "entry %u", i);
		/* and only there */
		memcpy(sg_virt(sg), list_copy(list, sg), sg->length);
	}
	KUNIT_EXPECT_EQ(test, memcmp(list->arena, list->copy, ARENA_SIZE), 0);

	stats = bounced_stats(&b);
	KUNIT_EXPECT_EQ(test, stats.maps, ENTRIES);
	KUNIT_EXPECT_EQ(test, stats.unmaps, ENTRIES);
	KUNIT_EXPECT_EQ(test, stats.map_bytes, bytes);
	KUNIT_EXPECT_EQ(test, stats.bounced_to_device, 2 * bytes);
	KUNIT_EXPECT_EQ(test, stats.bounced_from_device, 2 * bytes);
	KUNIT_EXPECT_EQ(test, bounced_held(&b), 0);
}

/* Each entry in turn is too large: all before it are undone, and nothing has come back. */
static void bounce_scatterlist_undone(struct kunit *test)
{
	struct bounced b = bounced_plug(test, VIRTIO_ID_NET, "zero");
	struct list *list = get_list(test);
	struct scatterlist *sg;
	unsigned int i, before = 0;

	for_each_sg(list->first, sg, ENTRIES, i) {
		unsigned int length = sg->length;
		struct vdma_stats stats;

		sg->length = dma_max_mapping_size(b.dev) + 1;
		KUNIT_EXPECT_EQ_MSG(test, dma_map_sg_attrs(b.dev, list->first, ENTRIES,
							   DMA_FROM_DEVICE, DMA_ATTR_NO_WARN), 0,
				    "entry %u", i);
		sg->length = length;
		before += i;
		stats = bounced_stats(&b);
		KUNIT_EXPECT_EQ_MSG(test, bounced_held(&b), 0, "entry %u", i);
		KUNIT_EXPECT_EQ_MSG(test, stats.maps, before, "entry %u", i);
		KUNIT_EXPECT_EQ_MSG(test, stats.unmaps, before, "entry %u", i);
		KUNIT_EXPECT_EQ_MSG(test, stats.map_failures, i + 1, "entry %u", i);
		KUNIT_EXPECT_EQ_MSG(test, stats.failures_too_large, i + 1, "entry %u", i);
		KUNIT_EXPECT_EQ_MSG(test, stats.bounced_from_device, 0, "entry %u", i);
		KUNIT_EXPECT_EQ_MSG(test, memcmp(list->arena, list->copy, ARENA_SIZE), 0,
				    "entry %u", i);
	}
	KUNIT_ASSERT_EQ(test, dma_map_sg(b.dev, list->first, ENTRIES, DMA_FROM_DEVICE), ENTRIES);
	dma_unmap_sg(b.dev, list->first, ENTRIES, DMA_FROM_DEVICE);
}

/* --- alignment --- */

static void bounce_keeps_alignment(struct kunit *test)
{
	static const struct {
		unsigned int mask;
		unsigned int offset;
		bool possible;
	} rows[] = {
		{ 0, 1234, true }, { 63, 1234, true }, { 511, 1535, true }, { 2047, 2047, true },
		{ 4095, 2047, true }, { 4095, 2048, false }, { 4095, 4095, false },
	};
	struct bounced b = bounced_plug(test, VIRTIO_ID_NET, "zero");
	u8 *arena = arena_get(test);
	unsigned int i;

	bounced_soil_pool(test);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const size_t size = 5000, at = PAGE_SIZE + rows[i].offset;
		unsigned int kept = rows[i].offset & rows[i].mask;
		dma_addr_t addr;

		memset(arena, 0x11, SZ_64K);
		memset(arena + at, 0x22, size);
		dma_set_min_align_mask(b.dev, rows[i].mask);
		addr = dma_map_single(b.dev, arena + at, size, DMA_BIDIRECTIONAL);
		KUNIT_EXPECT_EQ_MSG(test, dma_mapping_error(b.dev, addr) == 0, rows[i].possible,
				    "row %u", i);
		if (!rows[i].possible || dma_mapping_error(b.dev, addr))
			continue;
		KUNIT_EXPECT_EQ_MSG(test, addr & (SZ_4K - 1) & rows[i].mask, kept, "row %u", i);
		KUNIT_EXPECT_NULL_MSG(test, memchr_inv(seen(addr), 0x22, size), "row %u", i);
		KUNIT_EXPECT_NULL_MSG(test, memchr_inv(seen(addr - kept), BOUNCED_OLD, kept),
				      "row %u: what lies before the buffer went out", i);
		memset(seen(addr - kept), 0x33, kept + size);
		dma_unmap_single(b.dev, addr, size, DMA_BIDIRECTIONAL);
		/* for the next one */
		memset(seen(addr - kept), BOUNCED_OLD, kept + size);
		KUNIT_EXPECT_NULL_MSG(test, memchr_inv(arena, 0x11, at), "row %u", i);
		KUNIT_EXPECT_NULL_MSG(test, memchr_inv(arena + at, 0x33, size), "row %u", i);
		KUNIT_EXPECT_NULL_MSG(test, memchr_inv(arena + at + size, 0x11,
						       SZ_64K - at - size), "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, bounced_held(&b), 0, "row %u", i);
	}
}

/* --- counters --- */

static void bounce_counters(struct kunit *test)
{
	struct bounced b = bounced_plug(test, VIRTIO_ID_NET, "zero");
	struct buffer buffer = buffer_get(test);
	struct vdma_stats stats, expected = {};
	dma_addr_t addr;

#define EXPECT_STATS(what) do { \
	stats = bounced_stats(&b); \
	KUNIT_EXPECT_MEMEQ_MSG(test, &stats, &expected, sizeof(stats), what); \
} while (0)

	EXPECT_STATS("at first");
	buffer_renew(&buffer, 5000);
	addr = dma_map_single(b.dev, buffer.at, 5000, DMA_TO_DEVICE);
	KUNIT_ASSERT_FALSE(test, dma_mapping_error(b.dev, addr));
	expected.maps = 1;
	expected.map_bytes = 5000;
	expected.bounced_to_device = 5000;
	EXPECT_STATS("map to the device");
	dma_sync_single_for_cpu(b.dev, addr, 5000, DMA_TO_DEVICE);
	EXPECT_STATS("sync for the CPU, to the device");
	dma_sync_single_for_device(b.dev, addr + 1000, 10, DMA_TO_DEVICE);
	expected.bounced_to_device += 10;
	EXPECT_STATS("sync for the device");
	dma_unmap_single(b.dev, addr, 5000, DMA_TO_DEVICE);
	expected.unmaps = 1;
	EXPECT_STATS("unmap to the device");

	addr = dma_map_single(b.dev, buffer.at, 5000, DMA_FROM_DEVICE);
	KUNIT_ASSERT_FALSE(test, dma_mapping_error(b.dev, addr));
	expected.maps = 2;
	expected.map_bytes += 5000;
	EXPECT_STATS("map from the device");
	dma_sync_single_for_cpu(b.dev, addr + 7, 70, DMA_FROM_DEVICE);
	expected.bounced_from_device = 70;
	EXPECT_STATS("sync for the CPU");
	dma_sync_single_for_device(b.dev, addr + 7, 70, DMA_FROM_DEVICE);
	EXPECT_STATS("sync for the device, from the device");
	dma_unmap_single(b.dev, addr, 5000, DMA_FROM_DEVICE);
	expected.bounced_from_device += 5000;
	expected.unmaps = 2;
	EXPECT_STATS("unmap from the device");
#undef EXPECT_STATS
}

/* --- what must not get out, and what must not get in --- */

#define SECRET 0x5ec2e7c0ffee1234ULL

static bool pool_holds_secret(struct kunit *test)
{
	phys_addr_t first, last;
	unsigned int i;

	for (i = 0; routing_pool_chunk(test, i, &first, &last); i++) {
		const u64 *at = phys_to_virt(first), *end = phys_to_virt(last);

		while (at <= end)
			if (*at++ == SECRET)
				return true;
	}
	return false;
}

/* The old content of a buffer that the device is to write is the guest's own business. */
static void bounce_no_leak(struct kunit *test)
{
	static const struct {
		const char *fill;
		unsigned long attrs;
		bool goes_out;
	} rows[] = {
		{ "zero", 0, false }, { "none", 0, false }, { "zero", SKIP, false },
		{ "preserve", SKIP, false },
		/* preserve cannot do without; and shows that the search finds what is there */
		{ "preserve", 0, true },
	};
	u64 *private = (u64 *)arena_get(test);
	unsigned int i;

	memset64(private, SECRET, SZ_64K / sizeof(u64));
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct bounced b = bounced_plug(test, VIRTIO_ID_NET, rows[i].fill);
		dma_addr_t addr;

		bounced_soil_pool(test);
		addr = dma_map_single_attrs(b.dev, private, SZ_64K, DMA_FROM_DEVICE,
					    rows[i].attrs);
		KUNIT_ASSERT_FALSE(test, dma_mapping_error(b.dev, addr));
		KUNIT_EXPECT_EQ_MSG(test, pool_holds_secret(test), rows[i].goes_out,
				    "row %u, mapped", i);
		if (!rows[i].goes_out && !rows[i].attrs) {
			dma_sync_single_for_device(b.dev, addr, SZ_64K, DMA_FROM_DEVICE);
			KUNIT_EXPECT_FALSE_MSG(test, pool_holds_secret(test), "row %u, synced", i);
		}
		dma_unmap_single_attrs(b.dev, addr, SZ_64K, DMA_FROM_DEVICE, SKIP);
		fake_virtio_unplug(test, b.fake);
	}
}

/* One device bounces a secret, another gets the same place and writes but a part of it. */
static void bounce_no_strangers_bytes(struct kunit *test)
{
	static const struct {
		const char *fill;
		enum content rest;
	} rows[] = { { "zero", ZEROS }, { "preserve", CALLERS }, { "none", POOLS } };
	struct buffer buffer = buffer_get(test);
	u8 *secret = arena_get(test);
	unsigned int i;

	memset(secret, BOUNCED_OLD, SZ_4K);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct bounced stranger = bounced_plug(test, VIRTIO_ID_NET, rows[i].fill);
		struct bounced b = bounced_plug_another(test, VIRTIO_ID_NET);
		dma_addr_t first, addr;

		buffer_renew(&buffer, SZ_4K);
		/* the pool's caches give back last what they got last, on one CPU */
		migrate_disable();
		first = dma_map_single(stranger.dev, secret, SZ_4K, DMA_TO_DEVICE);
		KUNIT_EXPECT_FALSE(test, dma_mapping_error(stranger.dev, first));
		dma_unmap_single(stranger.dev, first, SZ_4K, DMA_TO_DEVICE);
		addr = dma_map_single(b.dev, buffer.at, SZ_4K, DMA_FROM_DEVICE);
		migrate_enable();
		KUNIT_ASSERT_FALSE(test, dma_mapping_error(b.dev, addr));
		KUNIT_ASSERT_EQ_MSG(test, addr, first, "another place: nothing was tried");
		memset(seen(addr), 0xa5, 100);
		dma_unmap_single(b.dev, addr, SZ_4K, DMA_FROM_DEVICE);
		KUNIT_EXPECT_NULL_MSG(test, memchr_inv(buffer.at, 0xa5, 100), "fill=%s",
				      rows[i].fill);
		KUNIT_EXPECT_TRUE_MSG(test, holds(buffer.at + 100, SZ_4K - 100, rows[i].rest,
						  buffer_old(&buffer) + 100), "fill=%s",
				      rows[i].fill);
		KUNIT_EXPECT_TRUE_MSG(test, buffer_red_zones_intact(&buffer), "fill=%s",
				      rows[i].fill);
		fake_virtio_unplug(test, b.fake);
		fake_virtio_unplug(test, stranger.fake);
	}
}

/* --- where nothing may sleep or allocate --- */

/* Guards nothing: it is held. */
static DEFINE_SPINLOCK(held_lock);

static void bounce_in_atomic_context(struct kunit *test)
{
	struct bounced b = bounced_plug(test, VIRTIO_ID_NET, "preserve");
	const struct dma_map_ops *ops = get_dma_ops(b.dev);
	struct list *list = get_list(test);
	struct buffer buffer = buffer_get(test);
	unsigned int left, mapped;
	unsigned long flags;
	dma_addr_t addr, coherent;
	void *memory;

	buffer_renew(&buffer, 70000);
	spin_lock_irqsave(&held_lock, flags);
	/* would fail the first allocation: there is none */
	current->fail_nth = 1;
	addr = ops->map_page(b.dev, virt_to_page(buffer.at), offset_in_page(buffer.at), 70000,
			     DMA_BIDIRECTIONAL, 0);
	ops->sync_single_for_cpu(b.dev, addr, 70000, DMA_BIDIRECTIONAL);
	ops->sync_single_for_device(b.dev, addr, 70000, DMA_BIDIRECTIONAL);
	ops->unmap_page(b.dev, addr, 70000, DMA_BIDIRECTIONAL, 0);
	mapped = ops->map_sg(b.dev, list->first, ENTRIES, DMA_FROM_DEVICE, 0);
	ops->unmap_sg(b.dev, list->first, mapped, DMA_FROM_DEVICE, 0);
	memory = ops->alloc(b.dev, SZ_64K, &coherent, GFP_ATOMIC, 0);
	ops->free(b.dev, SZ_64K, memory, coherent, 0);
	left = current->fail_nth;
	current->fail_nth = 0;
	spin_unlock_irqrestore(&held_lock, flags);
	KUNIT_EXPECT_EQ(test, left, 1);
	KUNIT_EXPECT_NE(test, addr, DMA_MAPPING_ERROR);
	KUNIT_EXPECT_EQ(test, mapped, ENTRIES);
	KUNIT_EXPECT_NOT_NULL(test, memory);
	KUNIT_EXPECT_EQ(test, bounced_held(&b), 0);
	KUNIT_EXPECT_TRUE(test, buffer_unchanged(&buffer));
}

static int bounce_suite_init(struct kunit_suite *suite)
{
	return routing_start(BOUNCED_POOL_MB);
}

static void bounce_suite_exit(struct kunit_suite *suite)
{
	routing_stop();
}

static struct kunit_case bounce_cases[] = {
	KUNIT_CASE_PARAM(bounce_transfers, fills_gen_params),
	KUNIT_CASE(bounce_fill_by_type),
	KUNIT_CASE(bounce_or_direct),
	KUNIT_CASE_PARAM(bounce_syncs, fills_gen_params),
	KUNIT_CASE(bounce_sync_of_too_much),
	KUNIT_CASE(bounce_scatterlist),
	KUNIT_CASE(bounce_scatterlist_undone),
	KUNIT_CASE(bounce_keeps_alignment),
	KUNIT_CASE(bounce_counters),
	KUNIT_CASE(bounce_no_leak),
	KUNIT_CASE(bounce_no_strangers_bytes),
	KUNIT_CASE(bounce_in_atomic_context),
	{}
};

static struct kunit_suite bounce_suite = {
	.name = "virtio_dma_bounce",
	.suite_init = bounce_suite_init,
	.suite_exit = bounce_suite_exit,
	.test_cases = bounce_cases,
};

kunit_test_suite(bounce_suite);
