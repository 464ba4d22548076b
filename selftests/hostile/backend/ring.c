// SPDX-License-Identifier: GPL-2.0
/*
 * The driver is not trusted: besides its own mistakes, what it has put into memory that we scribble
 * on is no longer what it was.
 */
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "ring.h"

#define FLAG_NEXT		1
#define FLAG_WRITE		2
#define FLAG_INDIRECT		4
#define AVAILABLE_NO_INTERRUPT	1

/* Both rings begin with flags and index, two bytes each. */
#define RING_FLAGS		0
#define RING_INDEX		1
#define RING_ENTRIES		2

static struct used_element *used_elements(const struct ring *ring)
{
	return (struct used_element *)(ring->used + RING_ENTRIES);
}

bool ring_start(struct ring *ring, const struct memory *memory)
{
	const struct vhost_ring_address *at = &ring->addresses;

	ring->descriptors = memory_at(memory, memory_guest_of(memory, at->descriptors),
				      ring->size * sizeof(struct descriptor));
	ring->available = memory_at(memory, memory_guest_of(memory, at->available),
				    (RING_ENTRIES + ring->size) * sizeof(uint16_t));
	ring->used = memory_at(memory, memory_guest_of(memory, at->used),
			       RING_ENTRIES * sizeof(uint16_t) +
			       ring->size * sizeof(struct used_element));
	if (!ring->size || !ring->descriptors || !ring->available || !ring->used) {
		ring->descriptors = NULL;
		return false;
	}
	ring->returned = __atomic_load_n(ring->used + RING_INDEX, __ATOMIC_ACQUIRE);
	memset(ring->ours, 0, sizeof(ring->ours));
	return true;
}

void ring_stop(struct ring *ring)
{
	ring->descriptors = NULL;
}

/* The driver's table is read once: what it says later is not looked at. */
static void follow(const void *table, unsigned int size, unsigned int index, struct chain *chain)
{
	struct descriptor descriptor;

	do {
		if (index >= size || chain->count == CHAIN_MAX_BUFFERS) {
			chain->malformed = true;
			return;
		}
		memcpy(&descriptor, (const uint8_t *)table + index * sizeof(descriptor),
		       sizeof(descriptor));
		chain->buffers[chain->count++] = (struct buffer) {
			.address = descriptor.address,
			.length = descriptor.length,
			.writable = descriptor.flags & FLAG_WRITE,
		};
		index = descriptor.next;
	} while (descriptor.flags & FLAG_NEXT);
}

static void follow_indirect(const struct memory *memory, const struct descriptor *first,
			    struct chain *chain)
{
	const void *table = memory_at(memory, first->address, first->length);

	if (!table) {
		chain->malformed = true;
		return;
	}
	chain->table = first->address;
	chain->table_length = first->length;
	follow(table, first->length / sizeof(struct descriptor), 0, chain);
}

bool ring_take(struct ring *ring, const struct memory *memory, struct chain *chain)
{
	uint16_t end = __atomic_load_n(ring->available + RING_INDEX, __ATOMIC_ACQUIRE);
	struct descriptor first;

	if (ring->taken == end)
		return false;
	memset(chain, 0, offsetof(struct chain, buffers));
	chain->malformed = false;
	chain->head = ring->available[RING_ENTRIES + ring->taken++ % ring->size];
	if (chain->head >= ring->size) {
		chain->malformed = true;
		return true;
	}
	ring->ours[chain->head] = true;
	memcpy(&first, &ring->descriptors[chain->head], sizeof(first));
	if (first.flags & FLAG_INDIRECT)
		follow_indirect(memory, &first, chain);
	else
		follow(ring->descriptors, ring->size, chain->head, chain);
	return true;
}

void ring_return(struct ring *ring, uint32_t id, uint32_t length)
{
	struct used_element *element = &used_elements(ring)[ring->returned % ring->size];

	element->id = id;
	element->length = length;
	if (id < ring->size)
		ring->ours[id] = false;
	ring_skip(ring, 1);
}

void ring_skip(struct ring *ring, int16_t count)
{
	ring->returned += count;
	__atomic_store_n(ring->used + RING_INDEX, ring->returned, __ATOMIC_RELEASE);
}

void ring_interrupt(struct ring *ring)
{
	uint16_t flags;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	flags = __atomic_load_n(ring->available + RING_FLAGS, __ATOMIC_ACQUIRE);
	if (ring->call >= 0 && !(flags & AVAILABLE_NO_INTERRUPT))
		eventfd_write(ring->call, 1);
}
