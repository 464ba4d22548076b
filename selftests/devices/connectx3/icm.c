// SPDX-License-Identifier: GPL-2.0
/*
 * The chip keeps its tables in guest memory, which the driver gives it in pieces (MAP_ICM), each
 * for a part of the chip's virtual memory (ICM). Of these tables only that of translations (MTT)
 * is used here: the driver writes it directly.
 */
#include <stdlib.h>
#include <string.h>

#include "connectx3.h"

#define FIRST_CAPACITY	64
#define QUEUE_ENTRY	32
#define LARGEST_PAGE	4096
/* A hostile driver must not make us allocate without end. */
#define MOST_RANGES	BIT(17)

void cx3_icm_exit(struct cx3 *cx3)
{
	free(cx3->icm.ranges);
	memset(&cx3->icm, 0, sizeof(cx3->icm));
}

/* Index of the first range that ends after the address; icm->count when there is none. */
static size_t find(const struct cx3_icm *icm, uint64_t address)
{
	size_t low = 0, high = icm->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (icm->ranges[middle].address + icm->ranges[middle].size <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool make_room(struct cx3_icm *icm)
{
	size_t capacity = icm->capacity ? 2 * icm->capacity : FIRST_CAPACITY;
	struct cx3_icm_range *larger;

	if (icm->count < icm->capacity)
		return true;
	if (icm->count >= MOST_RANGES)
		return false;
	larger = realloc(icm->ranges, capacity * sizeof(*larger));
	if (!larger)
		return false;
	icm->ranges = larger;
	icm->capacity = capacity;
	return true;
}

static enum command_status add(struct cx3_icm *icm, const struct icm_chunk *chunk)
{
	uint64_t memory = from_be64(chunk->memory);
	unsigned int log_pages = bits(memory, 0, ICM_LOG_PAGES_BITS);
	struct cx3_icm_range range = {
		.address = from_be64(chunk->address),
		.memory = memory >> ICM_PAGE_SHIFT << ICM_PAGE_SHIFT,
		.size = 1ULL << (log_pages + ICM_PAGE_SHIFT),
	};
	size_t index = find(icm, range.address);

	if (range.address + range.size < range.address || !range.size)
		return COMMAND_BAD_PARAMETER;
	if (index < icm->count && icm->ranges[index].address < range.address + range.size)
		return COMMAND_ICM_ERROR;
	if (!make_room(icm))
		return COMMAND_EXCEEDS_LIMIT;
	memmove(&icm->ranges[index + 1], &icm->ranges[index],
		(icm->count - index) * sizeof(range));
	icm->ranges[index] = range;
	icm->count++;
	return COMMAND_OK;
}

enum command_status cx3_icm_map(struct cx3 *cx3, struct command *command)
{
	const struct icm_chunk *chunks = (const void *)command->in;
	enum command_status status = COMMAND_OK;

	if (command->in_modifier > ICM_CHUNKS)
		return COMMAND_BAD_PARAMETER;
	for (uint32_t i = 0; i < command->in_modifier && !status; i++)
		status = add(&cx3->icm, &chunks[i]);
	return status;
}

/* The driver takes back what it has given, in whole pieces: icm.c:mlx4_table_put(). */
enum command_status cx3_icm_unmap(struct cx3 *cx3, struct command *command)
{
	struct cx3_icm *icm = &cx3->icm;
	uint64_t start = command->in_param;
	uint64_t size = (uint64_t)command->in_modifier << ICM_PAGE_SHIFT;
	size_t first = find(icm, start), end = first;

	while (end < icm->count && icm->ranges[end].address >= start &&
	       icm->ranges[end].address + icm->ranges[end].size - start <= size)
		end++;
	memmove(&icm->ranges[first], &icm->ranges[end],
		(icm->count - end) * sizeof(*icm->ranges));
	icm->count -= end - first;
	return COMMAND_OK;
}

static bool icm_address(struct cx3 *cx3, uint64_t address, uint64_t *memory)
{
	const struct cx3_icm *icm = &cx3->icm;
	size_t index = find(icm, address);

	if (index == icm->count || icm->ranges[index].address > address) {
		cx3->counters.icm_unmapped++;
		return false;
	}
	*memory = icm->ranges[index].memory + (address - icm->ranges[index].address);
	return true;
}

bool cx3_buffer_address(struct cx3 *cx3, const struct cx3_buffer *buffer, uint64_t offset,
			uint64_t *address, size_t *here)
{
	uint64_t page_size = 1ULL << buffer->page_shift;
	uint64_t entry = buffer->mtt + (offset >> buffer->page_shift) * MTT_ENTRY_SIZE;
	uint64_t memory;
	be64 page;

	if (!icm_address(cx3, cx3->icm.mtt_base + entry, &memory) ||
	    !vfu_dma_read(cx3->vfu, "translation entry", memory, &page, sizeof(page)))
		return false;
	if (!(from_be64(page) & MTT_PRESENT)) {
		cx3->counters.icm_unmapped++;
		return false;
	}
	offset &= page_size - 1;
	*address = (from_be64(page) & ~(page_size - 1)) + offset;
	if (page_size - offset < *here)
		*here = page_size - offset;
	return true;
}

bool cx3_buffer_read(struct cx3 *cx3, const char *what, const struct cx3_buffer *buffer,
		     uint64_t offset, void *data, size_t size)
{
	uint8_t *to = data;

	while (size) {
		size_t here = size;
		uint64_t address;

		if (!cx3_buffer_address(cx3, buffer, offset, &address, &here) ||
		    !vfu_dma_read(cx3->vfu, what, address, to, here))
			return false;
		offset += here;
		to += here;
		size -= here;
	}
	return true;
}

bool cx3_buffer_write(struct cx3 *cx3, const char *what, const struct cx3_buffer *buffer,
		      uint64_t offset, const void *data, size_t size)
{
	const uint8_t *from = data;

	while (size) {
		size_t here = size;
		uint64_t address;

		if (!cx3_buffer_address(cx3, buffer, offset, &address, &here) ||
		    !vfu_dma_write(cx3->vfu, what, address, from, here))
			return false;
		offset += here;
		from += here;
		size -= here;
	}
	return true;
}

bool cx3_buffer_publish(struct cx3 *cx3, const char *what, const struct cx3_buffer *buffer,
			uint64_t offset, const void *entry)
{
	const size_t before = QUEUE_ENTRY - sizeof(uint32_t);
	size_t here = QUEUE_ENTRY;
	uint64_t address;
	uint32_t last;

	/* An entry is aligned, and so in one page. */
	if (!cx3_buffer_address(cx3, buffer, offset, &address, &here))
		return false;
	memcpy(&last, (const uint8_t *)entry + before, sizeof(last));
	return vfu_dma_write(cx3->vfu, what, address, entry, before) &&
	       vfu_dma_publish32(cx3->vfu, what, address + before, last);
}

bool cx3_buffer_take(struct cx3 *cx3, const struct cx3_buffer *buffer, unsigned int log_size)
{
	uint8_t page[LARGEST_PAGE] = { 0 };
	uint64_t size = (uint64_t)QUEUE_ENTRY << log_size;

	for (size_t i = QUEUE_ENTRY - 1; i < sizeof(page); i += QUEUE_ENTRY)
		page[i] = OWNER_BIT;
	for (uint64_t offset = 0; offset < size; offset += sizeof(page)) {
		size_t now = size - offset < sizeof(page) ? size - offset : sizeof(page);

		if (!cx3_buffer_write(cx3, "queue", buffer, offset, page, now))
			return false;
	}
	return true;
}
