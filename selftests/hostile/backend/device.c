// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "device.h"

/* How far behind the end of a buffer writing goes on. */
#define MOST_OVERRUN	4096
/* So many buffers of a chain that was returned are written to at once. */
#define MOST_LATE_BUFFERS	4

void device_begin(struct device *device)
{
	if (device->misbehaving.wanted)
		device->misbehaving.request++;
}

size_t chain_size(const struct chain *chain, bool writable)
{
	size_t size = 0;

	for (unsigned int i = 0; i < chain->count; i++)
		if (chain->buffers[i].writable == writable)
			size += chain->buffers[i].length;
	return size;
}

/* Goes through the buffers of one kind; memory that is not shared with us is passed over. */
static size_t transfer(const struct device *device, const struct chain *chain, bool writable,
		       size_t skip, uint8_t *data, size_t size)
{
	size_t done = 0;

	for (unsigned int i = 0; i < chain->count && done < size; i++) {
		const struct buffer *buffer = &chain->buffers[i];
		size_t here;
		uint8_t *at;

		if (buffer->writable != writable)
			continue;
		if (skip >= buffer->length) {
			skip -= buffer->length;
			continue;
		}
		here = buffer->length - skip;
		if (here > size - done)
			here = size - done;
		at = memory_at(&device->memory, buffer->address + skip, here);
		if (at)
			memcpy(writable ? at : data + done, writable ? data + done : at, here);
		done += here;
		skip = 0;
	}
	return done;
}

size_t chain_read(const struct device *device, const struct chain *chain, size_t from, void *to,
		  size_t size)
{
	memset(to, 0, size);
	return transfer(device, chain, false, from, to, size);
}

size_t chain_write(const struct device *device, const struct chain *chain, size_t at,
		   const void *from, size_t size)
{
	return transfer(device, chain, true, at, (uint8_t *)from, size);
}

/* --- scribbling --- */

/* Bytes from an address up to a part of a ring; 0 if it is in one. */
static size_t up_to(const struct memory *memory, uint64_t address, size_t size, uint64_t user,
		    size_t part)
{
	uint64_t begin = memory_guest_of(memory, user);

	if (address >= begin && address - begin < part)
		return 0;
	if (address < begin && size > begin - address)
		return begin - address;
	return size;
}

/* A ring that we wrote over would be the end of the device, which only some classes are for. */
static size_t up_to_rings(const struct device *device, uint64_t address, size_t size)
{
	for (unsigned int i = 0; i < device->all->count; i++) {
		const struct device *other = &device->all->device[i];

		for (unsigned int j = 0; j < DEVICE_RINGS; j++) {
			const struct ring *ring = &other->rings[j];
			const struct vhost_ring_address *at = &ring->addresses;

			if (!ring->descriptors)
				continue;
			size = up_to(&device->memory, address, size, at->descriptors,
				     ring->size * sizeof(struct descriptor));
			size = up_to(&device->memory, address, size, at->available,
				     (3 + ring->size) * sizeof(uint16_t));
			size = up_to(&device->memory, address, size, at->used,
				     3 * sizeof(uint16_t) +
				     ring->size * sizeof(struct used_element));
		}
	}
	return size;
}

static bool scribble(const struct device *device, uint64_t address, size_t size)
{
	size_t room = memory_room(&device->memory, address);

	if (size > room)
		size = room;
	size = up_to_rings(device, address, size);
	if (!size)
		return false;
	misbehave_fill(memory_at(&device->memory, address, size), size,
		       device->misbehaving.request);
	return true;
}

static void scribble_on(struct device *device, const struct chain *chain, bool writable,
			unsigned int most, enum misbehaviour class)
{
	bool done = false;

	for (unsigned int i = 0; i < chain->count && most; i++) {
		const struct buffer *buffer = &chain->buffers[i];

		if (buffer->writable != writable)
			continue;
		done |= scribble(device, buffer->address, buffer->length);
		most--;
	}
	if (done)
		misbehaved(&device->misbehaving, class);
}

static void overrun(struct device *device, const struct chain *chain)
{
	struct misbehaving *m = &device->misbehaving;
	const struct buffer *buffer;

	if (!chain->count || !misbehave(m, OVERRUN))
		return;
	buffer = &chain->buffers[misbehave_number(m, OVERRUN, 0, chain->count)];
	if (buffer->writable && scribble(device, buffer->address + buffer->length,
					 1 + misbehave_number(m, OVERRUN, 1, MOST_OVERRUN)))
		misbehaved(m, OVERRUN);
}

static void write_late(struct device *device)
{
	struct misbehaving *m = &device->misbehaving;
	uint64_t kept = device->returned_count < RETURNED_CHAINS ? device->returned_count :
								   RETURNED_CHAINS;

	if (kept && misbehave(m, LATE_WRITE))
		scribble_on(device, &device->returned[misbehave_number(m, LATE_WRITE, 0, kept)],
			    true, MOST_LATE_BUFFERS, LATE_WRITE);
}

/*
 * Not the flags: on 5.15 and later they are all that the driver reads again, and it cannot bear
 * NEXT where there was none.
 */
static void change_table(void *table, size_t count, uint64_t serial)
{
	struct descriptor descriptor;

	/* By copies, as an address that we made up ourselves need not be aligned. */
	for (size_t i = 0; i < count; i++, table = (uint8_t *)table + sizeof(descriptor)) {
		memcpy(&descriptor, table, sizeof(descriptor));
		misbehave_fill(&descriptor.address, sizeof(descriptor.address), serial + i);
		misbehave_fill(&descriptor.length, sizeof(descriptor.length), serial + i);
		misbehave_fill(&descriptor.next, sizeof(descriptor.next), serial + i);
		memcpy(table, &descriptor, sizeof(descriptor));
	}
}

static void change_tables(struct device *device, struct ring *ring, const struct chain *chain)
{
	struct misbehaving *m = &device->misbehaving;
	void *table;

	if (!misbehave(m, TABLES) || chain->head >= ring->size)
		return;
	change_table(&ring->descriptors[chain->head], 1, m->request);
	table = chain->table ? memory_at(&device->memory, chain->table, chain->table_length) : NULL;
	if (table && up_to_rings(device, chain->table, chain->table_length) == chain->table_length)
		change_table(table, chain->table_length / sizeof(struct descriptor), m->request);
	misbehaved(m, TABLES);
}

void device_scribble(struct device *device, struct ring *ring, const struct chain *chain)
{
	if (misbehave(&device->misbehaving, TAMPER))
		scribble_on(device, chain, false, CHAIN_MAX_BUFFERS, TAMPER);
	overrun(device, chain);
	change_tables(device, ring, chain);
}

/* --- returning --- */

static uint32_t length_to_tell(struct device *device, const struct chain *chain, uint32_t length)
{
	struct misbehaving *m = &device->misbehaving;
	uint32_t size = chain_size(chain, true);
	const uint32_t lies[] = {
		0, 1, 11, 12, 13, 26, size - 1, size + 1, 2 * size, 4096, 65535, 65536, 1 << 20,
		INT32_MAX, 1U << 31, UINT32_MAX - 11, UINT32_MAX - 1, UINT32_MAX,
		size + misbehave_number(m, WRONG_LENGTH, 1, 1 << 16),
		misbehave_number(m, WRONG_LENGTH, 2, UINT32_MAX),
	};

	if (!misbehave(m, WRONG_LENGTH))
		return length;
	misbehaved(m, WRONG_LENGTH);
	return lies[misbehave_number(m, WRONG_LENGTH, 0, sizeof(lies) / sizeof(*lies))];
}

/* The driver gives such a ring up. */
static void break_ring(struct device *device, struct ring *ring)
{
	struct misbehaving *m = &device->misbehaving;
	unsigned int id;

	if (misbehave(m, NO_SUCH_ID)) {
		id = misbehave_number(m, NO_SUCH_ID, 0, 2) ? UINT32_MAX : ring->size;
		ring_return(ring, id, 0);
		misbehaved(m, NO_SUCH_ID);
	}
	id = misbehave_number(m, FREE_ID, 0, ring->size);
	if (!ring->ours[id] && misbehave(m, FREE_ID)) {
		ring_return(ring, id, 0);
		misbehaved(m, FREE_ID);
	}
	if (misbehave(m, INDEX_JUMP)) {
		ring_skip(ring, misbehave_number(m, INDEX_JUMP, 0, 2) ? 1 : -1);
		misbehaved(m, INDEX_JUMP);
	}
}

bool device_return_early(struct device *device, struct ring *ring, const struct chain *chain,
			 uint32_t length)
{
	if (!misbehave(&device->misbehaving, PREMATURE))
		return false;
	misbehaved(&device->misbehaving, PREMATURE);
	ring_return(ring, chain->head, length_to_tell(device, chain, length));
	ring_interrupt(ring);
	return true;
}

void device_finish(struct device *device, struct ring *ring, const struct chain *chain,
		   uint32_t length, bool is_returned)
{
	break_ring(device, ring);
	if (!is_returned)
		ring_return(ring, chain->head, length_to_tell(device, chain, length));
	if (misbehave(&device->misbehaving, REWRITE))
		scribble_on(device, chain, true, CHAIN_MAX_BUFFERS, REWRITE);
	change_tables(device, ring, chain);
	write_late(device);
	device->returned[device->returned_count++ % RETURNED_CHAINS] = *chain;
	ring_interrupt(ring);
}
