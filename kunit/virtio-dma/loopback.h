/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The device's end of a virtqueue: what a device finds in the ring, and how it
 * answers. It knows nothing but the addresses that the transport gives to a device.
 */
#ifndef _VDMA_KUNIT_LOOPBACK_H
#define _VDMA_KUNIT_LOOPBACK_H

#include <kunit/test.h>
#include <linux/types.h>
#include <linux/virtio.h>

#define LOOPBACK_SEGMENTS 16

/**
 * struct loopback_segment - a piece of memory that the driver has put into the ring
 * @addr: its address, as it stands in the ring
 * @len: its length in bytes
 * @writable: it is for the device to write, else for it to read
 */
struct loopback_segment {
	u64 addr;
	u32 len;
	bool writable;
};

/**
 * struct loopback_request - a buffer that the device has taken
 * @id: what the driver knows it by
 * @segments: its segments, in the order of the ring
 * @count: how many
 * @table: address of its indirect table; 0 if it has none
 * @descriptors: how many descriptors of the ring it takes
 */
struct loopback_request {
	u16 id;
	struct loopback_segment segments[LOOPBACK_SEGMENTS];
	unsigned int count;
	u64 table;
	unsigned int descriptors;
};

/**
 * struct loopback - a device at its end of a queue
 * @test: the test, which fails if the ring makes no sense
 * @vdev: the device
 * @size: descriptors of the ring
 * @packed: it is a packed ring
 * @desc: address of the descriptors
 * @driver: address of what the driver writes besides (available ring)
 * @device: address of what the device writes besides (used ring)
 * @next: split: next entry of the available ring; packed: next descriptor to take
 * @next_used: the same, to give back
 * @wrap: packed: what marks a descriptor as available now
 * @wrap_used: packed: what marks a descriptor as used now
 */
struct loopback {
	struct kunit *test;
	struct virtio_device *vdev;
	unsigned int size;
	bool packed;
	u64 desc;
	u64 driver;
	u64 device;
	u16 next;
	u16 next_used;
	bool wrap;
	bool wrap_used;
};

void loopback_init(struct loopback *lb, struct kunit *test, struct virtqueue *vq);
bool loopback_take(struct loopback *lb, struct loopback_request *request);
void loopback_give(struct loopback *lb, const struct loopback_request *request, u32 written);
void *loopback_memory(struct kunit *test, u64 addr);

#endif /* _VDMA_KUNIT_LOOPBACK_H */
