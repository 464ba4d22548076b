// SPDX-License-Identifier: GPL-2.0
/*
 * Whole requests through a real virtqueue, the test acting as the device: what
 * addresses stand in the ring, what the device reads and writes, over each path and
 * in each layout of the ring.
 */
#include <kunit/resource.h>
#include <kunit/test.h>
#include <linux/dma-mapping.h>
#include <linux/scatterlist.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/swiotlb.h>
#include <linux/virtio_ids.h>
#include <linux/virtio_ring.h>

#include "device.h"
#include "fake_transport.h"
#include "loopback.h"
#include "requests.h"
#include "routing.h"

#define POOL_MB 4

#define MODERN	BIT_ULL(VIRTIO_F_VERSION_1)
#define ACCESS	BIT_ULL(VIRTIO_F_ACCESS_PLATFORM)
#define PACKED	BIT_ULL(VIRTIO_F_RING_PACKED)
#define INDIRECT BIT_ULL(VIRTIO_RING_F_INDIRECT_DESC)

/* Where what the device is given lies. */
enum place {
	IN_PLACE,	/* the driver's own memory */
	IN_POOL,	/* the bounce pool */
	IN_SWIOTLB,	/* the kernel's SWIOTLB */
};

/**
 * struct path_row - a path, and what becomes of a device's memory on it
 * @name: name of the row
 * @rules: the user's rules
 * @type: device type
 * @offered: feature bits that the device offers besides those of the layout
 * @cleared: feature bits that the driver turns down
 * @buffers: where the device finds buffers
 * @rings: where the device finds rings; coherent memory is not bounced by SWIOTLB
 * @packed: packed rings are possible
 * @counted: operations are counted
 * @unwritten: what a driver finds in the part of its buffer that the device has not
 *	written
 * @variant: differs in one thing from a row that is run with all layouts
 */
struct path_row {
	const char *name;
	const char *rules;
	u32 type;
	u64 offered;
	u64 cleared;
	enum place buffers;
	enum place rings;
	bool packed;
	bool counted;
	u8 unwritten;
	bool variant;
};

static const struct path_row path_rows[] = {
	{ "off", "net=off", VIRTIO_ID_NET, .packed = true, .unwritten = REQUEST_OLD },
	{
		"direct", "net=direct", VIRTIO_ID_NET,
		.packed = true, .counted = true, .unwritten = REQUEST_OLD,
	}, {
		"platform", "net=platform", VIRTIO_ID_NET,
		.packed = true, .unwritten = REQUEST_OLD,
	}, {
		"swiotlb", "net=swiotlb", VIRTIO_ID_NET,
		.buffers = IN_SWIOTLB, .unwritten = REQUEST_OLD,
	}, {
		"bounce", "net=bounce", VIRTIO_ID_NET,
		.buffers = IN_POOL, .rings = IN_POOL, .counted = true, .unwritten = 0,
	}, {
		"bounce, offered", "net=bounce", VIRTIO_ID_NET, .offered = ACCESS, .variant = true,
		.buffers = IN_POOL, .rings = IN_POOL, .counted = true, .unwritten = 0,
	}, {
		"bounce of a type that preserves", "9p=bounce", VIRTIO_ID_9P, .variant = true,
		.buffers = IN_POOL, .rings = IN_POOL, .counted = true,
		.unwritten = REQUEST_OLD,
	}, {
		"exempt balloon", "balloon=bounce", VIRTIO_ID_BALLOON, .cleared = ACCESS,
		.variant = true, .unwritten = REQUEST_OLD,
	},
};

/**
 * struct layout_row - a layout of the ring
 * @name: name of the row
 * @features: feature bits that the device offers for it
 */
struct layout_row {
	const char *name;
	u64 features;
};

static const struct layout_row layout_rows[] = {
	{ "legacy", 0 },
	{ "split", MODERN },
	{ "split indirect", MODERN | INDIRECT },
	{ "packed", MODERN | PACKED },
	{ "packed indirect", MODERN | PACKED | INDIRECT },
};

/**
 * struct ring_row - a path together with a layout of the ring
 * @path: the path
 * @layout: the layout
 */
struct ring_row {
	const struct path_row *path;
	const struct layout_row *layout;
};

static struct ring_row ring_rows[ARRAY_SIZE(path_rows) * ARRAY_SIZE(layout_rows)];
static unsigned int ring_row_count;

/* Where there are no packed rings, to be told so once is enough. */
static bool worth_a_run(const struct ring_row *row)
{
	u64 features = row->layout->features;

	if (row->path->variant)
		return features == MODERN;
	return row->path->packed || !(features & PACKED) || !(features & INDIRECT);
}

static void list_rows(void)
{
	unsigned int i, j;

	ring_row_count = 0;
	for (i = 0; i < ARRAY_SIZE(path_rows); i++) {
		for (j = 0; j < ARRAY_SIZE(layout_rows); j++) {
			struct ring_row row = { &path_rows[i], &layout_rows[j] };

			if (worth_a_run(&row))
				ring_rows[ring_row_count++] = row;
		}
	}
}

static const void *ring_gen_params(const void *previous, char *description)
{
	const struct ring_row *row = previous;

	row = row ? row + 1 : ring_rows;
	if (row == ring_rows + ring_row_count)
		return NULL;
	snprintf(description, KUNIT_PARAM_DESC_SIZE, "%s, %s", row->path->name,
		 row->layout->name);
	return row;
}

/* Where a map can find no room; there are no packed rings then. */
static bool exhaustible(const struct ring_row *row)
{
	return row->path->buffers != IN_PLACE && !(row->layout->features & PACKED);
}

static const void *exhaustible_gen_params(const void *previous, char *description)
{
	const struct ring_row *row = previous;

	do
		row = ring_gen_params(row, description);
	while (row && !exhaustible(row));
	return row;
}

/**
 * struct ring - a bound device, its first queue, and both ends of it
 * @test: the test
 * @path: what is expected of it
 * @fake: the device
 * @vd: what the module keeps for it
 * @vq: the driver's end of the queue
 * @device: the device's end
 */
struct ring {
	struct kunit *test;
	const struct path_row *path;
	struct fake_virtio *fake;
	struct vdma_device *vd;
	struct virtqueue *vq;
	struct loopback device;
};

static bool has_indirect(const struct ring *ring)
{
	return virtio_has_feature(ring->vq->vdev, VIRTIO_RING_F_INDIRECT_DESC);
}

static bool in_swiotlb(const struct ring *ring, u64 addr)
{
	const struct io_tlb_pool *pool = &ring->fake->dma_dev.dma_io_tlb_mem->defpool;

	return addr >= pool->start && addr < pool->end;
}

static void expect_place(struct ring *ring, enum place place, u64 addr)
{
	KUNIT_EXPECT_EQ_MSG(ring->test, routing_pool_has(ring->test, addr),
			    place == IN_POOL, "address %#llx and the bounce pool", addr);
	KUNIT_EXPECT_EQ_MSG(ring->test, in_swiotlb(ring, addr),
			    place == IN_SWIOTLB, "address %#llx and the SWIOTLB", addr);
}

static void open_ring(struct ring *ring, struct kunit *test)
{
	const struct ring_row *row = test->param_value;
	const struct fake_virtio_params params = {
		.type = row->path->type, .features = row->layout->features | row->path->offered,
	};
	const struct fake_driver_params driver_params = {
		.type = row->path->type, .cleared = row->path->cleared, .queues = 1,
	};

	ring->test = test;
	ring->path = row->path;
	ring->fake = fake_virtio_plug(test, &params);
	routing_rules(test, row->path->rules);
	fake_driver_register(test, &driver_params);
	KUNIT_ASSERT_TRUE(test, fake_virtio_bound(ring->fake));
	ring->vd = routing_device(test, ring->fake);
	ring->vq = ring->fake->vqs[0];
	loopback_init(&ring->device, test, ring->vq);
	KUNIT_ASSERT_EQ(test, ring->device.packed,
			row->layout->features & PACKED && row->path->packed);
	expect_place(ring, row->path->rings, ring->device.desc);
	expect_place(ring, row->path->rings, ring->device.driver);
	expect_place(ring, row->path->rings, ring->device.device);
}

/* --- the driver's end --- */

static int add_request(struct ring *ring, struct request *request)
{
	struct scatterlist *sgs[REQUEST_SEGMENTS];
	unsigned int n;

	for (n = 0; n < request_segments(request); n++)
		sgs[n] = &request->sg[n];
	return virtqueue_add_sgs(ring->vq, sgs, request->readable, request->writable,
				 request, GFP_KERNEL);
}

/* --- the device's end --- */

static void look_at_segment(struct ring *ring, struct request *request, unsigned int n)
{
	const struct loopback_segment *segment = &request->taken.segments[n];
	struct kunit *test = ring->test;
	u8 *memory = loopback_memory(test, segment->addr);

	KUNIT_EXPECT_EQ_MSG(test, segment->len, request->sg[n].length, "segment %u", n);
	KUNIT_EXPECT_EQ_MSG(test, segment->writable, n >= request->readable, "segment %u", n);
	KUNIT_EXPECT_EQ_MSG(test, segment->addr == sg_phys(&request->sg[n]),
			    ring->path->buffers == IN_PLACE, "segment %u", n);
	expect_place(ring, ring->path->buffers, segment->addr);
	if (!segment->writable)
		KUNIT_EXPECT_EQ_MSG(test, request_count_wrong(request, n, memory, segment->len),
				    0, "what the device reads from segment %u", n);
}

static void take_request(struct ring *ring, struct request *request)
{
	unsigned int count = request_segments(request), n;
	struct loopback_request *taken = &request->taken;
	bool indirect = has_indirect(ring) && count > 1;
	struct kunit *test = ring->test;

	KUNIT_ASSERT_TRUE(test, loopback_take(&ring->device, taken));
	KUNIT_ASSERT_EQ(test, taken->count, count);
	KUNIT_EXPECT_EQ(test, taken->descriptors, indirect ? 1 : count);
	KUNIT_EXPECT_EQ(test, !!taken->table, indirect);
	if (indirect)
		expect_place(ring, ring->path->buffers, taken->table);
	for (n = 0; n < count; n++)
		look_at_segment(ring, request, n);
}

/* The device writes some bytes and gives the request back. */
static void answer_request(struct ring *ring, struct request *request, u32 written)
{
	const struct loopback_segment *segment;
	u32 left = written, here, n, i;

	for (n = request->readable; n < request->taken.count; n++) {
		u8 *memory;

		segment = &request->taken.segments[n];
		memory = loopback_memory(ring->test, segment->addr);
		here = min(left, segment->len);
		for (i = 0; i < here; i++)
			memory[i] = request_content(request, n, i);
		left -= here;
	}
	loopback_give(&ring->device, &request->taken, written);
}

/* --- the driver's end again --- */

/* Until the driver fetches the answer, a device that gets copies has not touched its memory. */
static void expect_untouched(struct ring *ring, struct request *request)
{
	unsigned int n;

	if (ring->path->buffers == IN_PLACE)
		return;
	for (n = request->readable; n < request_segments(request); n++)
		KUNIT_EXPECT_EQ_MSG(ring->test,
				    request_count_other(sg_virt(&request->sg[n]),
							request->sg[n].length, REQUEST_OLD),
				    0, "segment %u", n);
}

static void expect_answer(struct ring *ring, struct request *request, u32 written)
{
	struct kunit *test = ring->test;
	u32 left = written, n;

	for (n = request->readable; n < request_segments(request); n++) {
		const u8 *buffer = sg_virt(&request->sg[n]);
		u32 length = request->sg[n].length, here = min(left, length);

		KUNIT_EXPECT_EQ_MSG(test, request_count_wrong(request, n, buffer, here), 0,
				    "what the device wrote to segment %u", n);
		KUNIT_EXPECT_EQ_MSG(test, request_count_other(buffer + here, length - here,
							      ring->path->unwritten), 0,
				    "what the device did not write to segment %u", n);
		left -= here;
	}
}

static void finish_request(struct ring *ring, struct request *request, u32 written)
{
	u32 len = ~0;

	KUNIT_ASSERT_PTR_EQ(ring->test, virtqueue_get_buf(ring->vq, &len), request);
	KUNIT_EXPECT_EQ(ring->test, len, written);
	expect_answer(ring, request, written);
}

static void pass_request(struct ring *ring, struct request *request, u8 seed, u32 written)
{
	unsigned int kicks = ring->fake->kicks;

	request_fill(request, seed);
	KUNIT_ASSERT_EQ(ring->test, add_request(ring, request), 0);
	KUNIT_EXPECT_TRUE(ring->test, virtqueue_kick(ring->vq));
	KUNIT_EXPECT_EQ(ring->test, ring->fake->kicks, kicks + 1);
	take_request(ring, request);
	answer_request(ring, request, written);
	expect_untouched(ring, request);
	finish_request(ring, request, written);
}

/* No buffer is in the ring or mapped any more; the ring is still there. */
static void expect_unmapped(struct ring *ring)
{
	struct kunit *test = ring->test;
	struct vdma_stats stats;

	KUNIT_EXPECT_EQ(test, ring->vq->num_free, virtqueue_get_vring_size(ring->vq));
	vdma_stats_sum(ring->vd, &stats);
	KUNIT_EXPECT_EQ(test, stats.maps, stats.unmaps);
	KUNIT_EXPECT_EQ(test, stats.maps != 0, ring->path->counted);
	KUNIT_EXPECT_EQ(test, stats.allocs != 0, ring->path->counted);
	KUNIT_EXPECT_EQ(test, stats.frees, 0);
}

static void expect_idle(struct ring *ring)
{
	u32 len;

	KUNIT_EXPECT_NULL(ring->test, virtqueue_get_buf(ring->vq, &len));
	expect_unmapped(ring);
}

/* --- tests --- */

static void test_round_trip(struct kunit *test)
{
	struct request *request = request_create(test, 2, 2);
	u32 all = request_writable_bytes(request);
	u32 first = request->sg[2].length;
	struct ring ring;

	open_ring(&ring, test);
	pass_request(&ring, request, 1, all);
	/* short: nothing, part of the first segment, the first, part of the second */
	pass_request(&ring, request, 2, 0);
	pass_request(&ring, request, 3, first / 2);
	pass_request(&ring, request, 4, first);
	pass_request(&ring, request, 5, all - 1);
	expect_idle(&ring);
}

/* More often around than the ring is long, in steps that do not divide it. */
static void test_many(struct kunit *test)
{
	struct request *requests[] = {
		request_create(test, 1, 0), request_create(test, 0, 1),
		request_create(test, 1, 2), request_create(test, 2, 1),
	};
	struct ring ring;
	unsigned int i;

	open_ring(&ring, test);
	for (i = 0; i < FAKE_QUEUE_SIZE + 3; i++) {
		struct request *request = requests[i % ARRAY_SIZE(requests)];

		pass_request(&ring, request, i, request_writable_bytes(request));
	}
	expect_idle(&ring);
}

static void test_out_of_order(struct kunit *test)
{
	static const unsigned int order[] = { 2, 0, 1 };
	struct request *requests[ARRAY_SIZE(order)];
	struct ring ring;
	unsigned int i;

	open_ring(&ring, test);
	for (i = 0; i < ARRAY_SIZE(order); i++) {
		requests[i] = request_create(test, 1, 2);
		request_fill(requests[i], 100 + i);
		KUNIT_ASSERT_EQ(test, add_request(&ring, requests[i]), 0);
	}
	for (i = 0; i < ARRAY_SIZE(order); i++)
		take_request(&ring, requests[i]);
	for (i = 0; i < ARRAY_SIZE(order); i++)
		answer_request(&ring, requests[order[i]], 500 + i);
	for (i = 0; i < ARRAY_SIZE(order); i++)
		finish_request(&ring, requests[order[i]], 500 + i);
	expect_idle(&ring);
}

static void test_full(struct kunit *test)
{
	struct request *requests[FAKE_QUEUE_SIZE + 1];
	unsigned int count, i;
	struct ring ring;

	open_ring(&ring, test);
	count = has_indirect(&ring) ? FAKE_QUEUE_SIZE : FAKE_QUEUE_SIZE / 2;
	for (i = 0; i <= count; i++) {
		requests[i] = request_create(test, 1, 1);
		request_fill(requests[i], i);
		KUNIT_ASSERT_EQ_MSG(test, add_request(&ring, requests[i]),
				    i < count ? 0 : -ENOSPC, "request %u of %u", i, count);
	}
	KUNIT_EXPECT_EQ(test, ring.vq->num_free, 0);

	for (i = 0; i < count; i++) {
		take_request(&ring, requests[i]);
		answer_request(&ring, requests[i], 10 * i);
	}
	finish_request(&ring, requests[0], 0);
	KUNIT_EXPECT_EQ(test, add_request(&ring, requests[count]), 0);
	KUNIT_EXPECT_EQ(test, ring.vq->num_free, 0);
	for (i = 1; i < count; i++)
		finish_request(&ring, requests[i], 10 * i);
	take_request(&ring, requests[count]);
	answer_request(&ring, requests[count], 1);
	finish_request(&ring, requests[count], 1);
	expect_idle(&ring);
}

/* One request the device has answered, one it has taken, one it has not seen. */
static void test_detach(struct kunit *test)
{
	struct request *requests[3], *request;
	unsigned int i, found[3] = {};
	struct ring ring;
	u64 used;

	open_ring(&ring, test);
	used = routing_pool_used(test);
	for (i = 0; i < ARRAY_SIZE(requests); i++) {
		requests[i] = request_create(test, 1, 2);
		request_fill(requests[i], i);
		KUNIT_ASSERT_EQ(test, add_request(&ring, requests[i]), 0);
	}
	take_request(&ring, requests[0]);
	answer_request(&ring, requests[0], request_writable_bytes(requests[0]));
	take_request(&ring, requests[1]);

	virtio_reset_device(&ring.fake->vdev);
	while ((request = virtqueue_detach_unused_buf(ring.vq)))
		for (i = 0; i < ARRAY_SIZE(requests); i++)
			found[i] += request == requests[i];
	for (i = 0; i < ARRAY_SIZE(requests); i++)
		KUNIT_EXPECT_EQ_MSG(test, found[i], 1, "request %u", i);
	expect_answer(&ring, requests[0], request_writable_bytes(requests[0]));
	expect_answer(&ring, requests[1], 0);
	expect_answer(&ring, requests[2], 0);
	KUNIT_EXPECT_EQ(test, routing_pool_used(test), used);
	expect_unmapped(&ring);
}

/* --- a map that fails --- */

#define SLOT 2048
#define TICKETS 8
#define OCCUPIED_MAX 4096
#define QUIET (DMA_ATTR_NO_WARN | DMA_ATTR_SKIP_CPU_SYNC)

/**
 * struct occupation - mappings that take all there is
 * @dev: whose
 * @memory: what is mapped, again and again
 * @addr: the mappings; the first TICKETS are of one slot each
 * @size: their sizes in bytes
 * @count: how many there are
 * @tickets: how many of the first ones there are still
 */
struct occupation {
	struct device *dev;
	void *memory;
	dma_addr_t addr[OCCUPIED_MAX];
	u32 size[OCCUPIED_MAX];
	unsigned int count;
	unsigned int tickets;
};

static bool map_one(struct occupation *o, u32 size)
{
	dma_addr_t addr = dma_map_single_attrs(o->dev, o->memory, size, DMA_TO_DEVICE, QUIET);

	if (dma_mapping_error(o->dev, addr))
		return false;
	o->addr[o->count] = addr;
	o->size[o->count++] = size;
	return true;
}

static void unmap_one(struct occupation *o, unsigned int i)
{
	dma_unmap_single_attrs(o->dev, o->addr[i], o->size[i], DMA_TO_DEVICE, QUIET);
}

static void action_vacate(void *data)
{
	struct occupation *o = data;

	while (o->count > TICKETS)
		unmap_one(o, --o->count);
	while (o->tickets)
		unmap_one(o, --o->tickets);
	o->count = 0;
}

static struct occupation *occupy(struct ring *ring)
{
	struct kunit *test = ring->test;
	struct occupation *o = kunit_kzalloc(test, sizeof(*o), GFP_KERNEL);
	u32 size;

	KUNIT_ASSERT_NOT_NULL(test, o);
	o->dev = &ring->fake->dma_dev;
	o->memory = kunit_kzalloc(test, SZ_256K, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, o->memory);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, action_vacate, o), 0);
	while (o->tickets < TICKETS) {
		KUNIT_ASSERT_TRUE(test, map_one(o, SLOT));
		o->tickets++;
	}
	for (size = SZ_256K; size >= SLOT; size /= 2)
		while (o->count < OCCUPIED_MAX && map_one(o, size))
			;
	KUNIT_ASSERT_LT(test, o->count, OCCUPIED_MAX);
	return o;
}

static void free_one_slot(struct occupation *o)
{
	unmap_one(o, --o->tickets);
}

static void expect_free_slots(struct kunit *test, struct occupation *o, unsigned int free)
{
	unsigned int count = o->count;

	while (o->count < OCCUPIED_MAX && map_one(o, SLOT))
		;
	KUNIT_EXPECT_EQ(test, o->count - count, free);
	while (o->count > count)
		unmap_one(o, --o->count);
}

/* Each segment, wherever it begins, takes one slot. */
static struct request *create_request_of_slots(struct kunit *test)
{
	struct request *request = request_create(test, 1, 2);
	unsigned int n;

	for (n = 0; n < request_segments(request); n++)
		request->sg[n].length = min_t(u32, request->sg[n].length, SLOT);
	return request;
}

/*
 * What virtio_ring has mapped of a request before it failed it unmaps again, which is
 * as if the device had written nothing.
 */
static void expect_unwound(struct ring *ring, struct request *request, unsigned int mapped)
{
	unsigned int n;

	for (n = request->readable; n < request_segments(request); n++) {
		u8 expected = n < mapped ? ring->path->unwritten : REQUEST_OLD;

		KUNIT_EXPECT_EQ_MSG(ring->test,
				    request_count_other(sg_virt(&request->sg[n]),
							request->sg[n].length, expected),
				    0, "segment %u, %u were mapped", n, mapped);
	}
}

/* With less free than it takes, the request fails at its first, second, ... mapping. */
static void test_map_fails(struct kunit *test)
{
	struct request *request = create_request_of_slots(test);
	u32 all = request_writable_bytes(request);
	struct loopback_request taken;
	unsigned int needed, free;
	struct occupation *o;
	struct ring ring;

	open_ring(&ring, test);
	needed = request_segments(request) + has_indirect(&ring);
	o = occupy(&ring);
	for (free = 0; free < needed; free++) {
		request_fill(request, 77 + free);
		expect_free_slots(test, o, free);
		KUNIT_EXPECT_EQ_MSG(test, add_request(&ring, request), -ENOMEM,
				    "%u slots free", free);
		KUNIT_EXPECT_EQ(test, ring.vq->num_free, FAKE_QUEUE_SIZE);
		KUNIT_EXPECT_FALSE(test, loopback_take(&ring.device, &taken));
		expect_free_slots(test, o, free);
		expect_unwound(&ring, request, free);
		free_one_slot(o);
	}
	KUNIT_ASSERT_EQ(test, add_request(&ring, request), 0);
	expect_free_slots(test, o, 0);
	take_request(&ring, request);
	answer_request(&ring, request, all);
	finish_request(&ring, request, all);
	expect_free_slots(test, o, needed);

	kunit_release_action(test, action_vacate, o);
	expect_idle(&ring);
}

static int ring_suite_init(struct kunit_suite *suite)
{
	list_rows();
	return routing_start(POOL_MB);
}

static void ring_suite_exit(struct kunit_suite *suite)
{
	routing_stop();
}

static struct kunit_case ring_cases[] = {
	KUNIT_CASE_PARAM(test_round_trip, ring_gen_params),
	KUNIT_CASE_PARAM(test_many, ring_gen_params),
	KUNIT_CASE_PARAM(test_out_of_order, ring_gen_params),
	KUNIT_CASE_PARAM(test_full, ring_gen_params),
	KUNIT_CASE_PARAM(test_detach, ring_gen_params),
	KUNIT_CASE_PARAM(test_map_fails, exhaustible_gen_params),
	{}
};

static struct kunit_suite ring_suite = {
	.name = "virtio_dma_ring",
	.suite_init = ring_suite_init,
	.suite_exit = ring_suite_exit,
	.test_cases = ring_cases,
};

kunit_test_suite(ring_suite);
