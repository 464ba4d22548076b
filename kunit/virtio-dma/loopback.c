// SPDX-License-Identifier: GPL-2.0
/*
 * The device's end of a virtqueue: split and packed rings as in VIRTIO 1.3, 2.7 and
 * 2.8. Driver and device are the same task, so there are no barriers.
 */
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/virtio_config.h>
#include <linux/virtio_ring.h>

#include "loopback.h"

/**
 * loopback_memory() - reach memory as the device does
 * @test: the test, which is ended if there is no memory at that address
 * @addr: address from a ring; guest-physical, for there is no IOMMU here
 *
 * Context: any.
 * Return: the memory.
 */
void *loopback_memory(struct kunit *test, u64 addr)
{
	KUNIT_ASSERT_TRUE_MSG(test, pfn_valid(PHYS_PFN(addr)), "no memory at %#llx", addr);
	return phys_to_virt(addr);
}

/**
 * loopback_init() - take the device's end of a queue
 * @lb: the device's end
 * @test: the test
 * @vq: a new queue
 *
 * Context: any.
 */
void loopback_init(struct loopback *lb, struct kunit *test, struct virtqueue *vq)
{
	*lb = (struct loopback) {
		.test = test,
		.vdev = vq->vdev,
		.size = virtqueue_get_vring_size(vq),
		.packed = virtio_has_feature(vq->vdev, VIRTIO_F_RING_PACKED),
		.desc = virtqueue_get_desc_addr(vq),
		.driver = virtqueue_get_avail_addr(vq),
		.device = virtqueue_get_used_addr(vq),
		.wrap = true,
		.wrap_used = true,
	};
}

static void add_segment(struct loopback *lb, struct loopback_request *request,
			u64 addr, u32 len, u16 flags)
{
	KUNIT_ASSERT_LT(lb->test, request->count, LOOPBACK_SEGMENTS);
	request->segments[request->count++] = (struct loopback_segment) {
		.addr = addr, .len = len, .writable = flags & VRING_DESC_F_WRITE,
	};
}

/* --- split rings, 2.7 --- */

/* One chain, in the ring itself or in an indirect table of @size entries. */
static u32 take_chain_split(struct loopback *lb, struct loopback_request *request,
			    const struct vring_desc *table, u32 size, u16 at)
{
	u32 length = 0;
	u16 flags;

	do {
		KUNIT_ASSERT_LT(lb->test, at, size);
		flags = virtio16_to_cpu(lb->vdev, table[at].flags);
		if (flags & VRING_DESC_F_INDIRECT)
			break;
		add_segment(lb, request, virtio64_to_cpu(lb->vdev, table[at].addr),
			    virtio32_to_cpu(lb->vdev, table[at].len), flags);
		at = virtio16_to_cpu(lb->vdev, table[at].next);
		length++;
	} while (flags & VRING_DESC_F_NEXT);
	return length;
}

static bool take_split(struct loopback *lb, struct loopback_request *request)
{
	const struct vring_avail *avail = loopback_memory(lb->test, lb->driver);
	const struct vring_desc *desc = loopback_memory(lb->test, lb->desc);
	const struct vring_desc *head;
	u32 bytes;

	if (lb->next == virtio16_to_cpu(lb->vdev, avail->idx))
		return false;
	request->id = virtio16_to_cpu(lb->vdev, avail->ring[lb->next++ % lb->size]);
	request->descriptors = take_chain_split(lb, request, desc, lb->size, request->id);
	if (request->descriptors)
		return true;

	head = &desc[request->id];
	bytes = virtio32_to_cpu(lb->vdev, head->len);
	request->table = virtio64_to_cpu(lb->vdev, head->addr);
	request->descriptors = 1;
	take_chain_split(lb, request, loopback_memory(lb->test, request->table),
			 bytes / sizeof(*desc), 0);
	return true;
}

static void give_split(struct loopback *lb, const struct loopback_request *request,
		       u32 written)
{
	struct vring_used *used = loopback_memory(lb->test, lb->device);
	vring_used_elem_t *entry = &used->ring[lb->next_used++ % lb->size];

	entry->id = cpu_to_virtio32(lb->vdev, request->id);
	entry->len = cpu_to_virtio32(lb->vdev, written);
	used->idx = cpu_to_virtio16(lb->vdev, lb->next_used);
}

/* --- packed rings, 2.8 --- */

#define AVAIL BIT(VRING_PACKED_DESC_F_AVAIL)
#define USED BIT(VRING_PACKED_DESC_F_USED)

static bool is_available(const struct loopback *lb, u16 flags)
{
	return !!(flags & AVAIL) == lb->wrap && !!(flags & USED) != lb->wrap;
}

/* Moves on by some descriptors; past the end what the marks mean turns over. */
static void advance(const struct loopback *lb, u16 *at, bool *wrap, unsigned int by)
{
	*at += by;
	if (*at < lb->size)
		return;
	*at -= lb->size;
	*wrap = !*wrap;
}

static void take_table_packed(struct loopback *lb, struct loopback_request *request,
			      u32 bytes)
{
	const struct vring_packed_desc *table = loopback_memory(lb->test, request->table);
	unsigned int i;

	for (i = 0; i < bytes / sizeof(*table); i++)
		add_segment(lb, request, le64_to_cpu(table[i].addr),
			    le32_to_cpu(table[i].len), le16_to_cpu(table[i].flags));
}

/* The id stands in the last descriptor of a chain. */
static bool take_packed(struct loopback *lb, struct loopback_request *request)
{
	const struct vring_packed_desc *ring = loopback_memory(lb->test, lb->desc);
	const struct vring_packed_desc *desc;
	u16 flags;

	do {
		desc = &ring[lb->next];
		flags = le16_to_cpu(desc->flags);
		if (!is_available(lb, flags)) {
			KUNIT_EXPECT_EQ_MSG(lb->test, request->descriptors, 0,
					    "a chain ends in what is not available");
			return false;
		}
		if (flags & VRING_DESC_F_INDIRECT) {
			request->table = le64_to_cpu(desc->addr);
			take_table_packed(lb, request, le32_to_cpu(desc->len));
		} else {
			add_segment(lb, request, le64_to_cpu(desc->addr),
				    le32_to_cpu(desc->len), flags);
		}
		request->descriptors++;
		advance(lb, &lb->next, &lb->wrap, 1);
	} while (flags & VRING_DESC_F_NEXT);
	request->id = le16_to_cpu(desc->id);
	return true;
}

static void give_packed(struct loopback *lb, const struct loopback_request *request,
			u32 written)
{
	struct vring_packed_desc *ring = loopback_memory(lb->test, lb->desc);
	struct vring_packed_desc *desc = &ring[lb->next_used];

	desc->id = cpu_to_le16(request->id);
	desc->len = cpu_to_le32(written);
	desc->flags = cpu_to_le16(lb->wrap_used ? AVAIL | USED : 0);
	advance(lb, &lb->next_used, &lb->wrap_used, request->descriptors);
}

/**
 * loopback_take() - take the next buffer from the ring
 * @lb: the device's end
 * @request: receives the buffer
 *
 * Context: any.
 * Return: true, or false if the driver has put no further one into it.
 */
bool loopback_take(struct loopback *lb, struct loopback_request *request)
{
	*request = (struct loopback_request) {};
	return lb->packed ? take_packed(lb, request) : take_split(lb, request);
}

/**
 * loopback_give() - give a buffer back to the driver
 * @lb: the device's end
 * @request: the buffer
 * @written: bytes that the device says it wrote into it
 *
 * Context: any.
 */
void loopback_give(struct loopback *lb, const struct loopback_request *request, u32 written)
{
	if (lb->packed)
		give_packed(lb, request, written);
	else
		give_split(lb, request, written);
}
