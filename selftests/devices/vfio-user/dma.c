// SPDX-License-Identifier: GPL-2.0
/*
 * Guest memory as the device sees it.
 *
 * QEMU unmaps and maps again while the guest runs (firmware hides parts of low memory, BARs move,
 * and a vIOMMU follows each of the driver's mappings), so nothing is remembered from one access to
 * the next.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "dma.h"
#include "protocol.h"

#define DMA_PAGE_SIZE	4096ULL
#define FIRST_CAPACITY	64
#define FOUR_GIB	0x100000000ULL

void dma_init(struct dma_table *table, struct vfu_counters *counters)
{
	memset(table, 0, sizeof(*table));
	table->counters = counters;
	counters->dma_lowest = UINT64_MAX;
}

static void forget_memory(struct dma_range *range)
{
	if (range->memory)
		munmap(range->memory, range->size);
}

void dma_unmap_all(struct dma_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		forget_memory(&table->ranges[i]);
	table->counters->dma_unmaps += table->count;
	table->count = 0;
}

void dma_exit(struct dma_table *table)
{
	dma_unmap_all(table);
	free(table->ranges);
	table->ranges = NULL;
	table->capacity = 0;
}

static bool in_whole_pages(uint64_t address, uint64_t size)
{
	/* A range may end with the last byte of the address space, where its end is 0. */
	return size && !((address | size) & (DMA_PAGE_SIZE - 1)) && address + size - 1 >= address;
}

static uint64_t last_byte(const struct dma_range *range)
{
	return range->address + range->size - 1;
}

/* Index of the first range that ends at or after the address; table->count when there is none. */
static size_t find(const struct dma_table *table, uint64_t address)
{
	size_t low = 0, high = table->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (last_byte(&table->ranges[middle]) < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int make_room(struct dma_table *table)
{
	struct dma_range *larger;
	size_t capacity;

	if (table->count < table->capacity)
		return 0;
	capacity = table->capacity ? 2 * table->capacity : FIRST_CAPACITY;
	larger = realloc(table->ranges, capacity * sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	table->ranges = larger;
	table->capacity = capacity;
	return 0;
}

static void insert(struct dma_table *table, size_t index, const struct dma_range *range)
{
	memmove(&table->ranges[index + 1], &table->ranges[index],
		(table->count - index) * sizeof(*range));
	table->ranges[index] = *range;
	table->count++;
}

/*
 * A file that can be made shorter under us would kill us at the next access. QEMU's memory-backend-
 * memfd is sealed against it; other files are treated as memory that is not shared.
 */
static bool cannot_shrink(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & F_SEAL_SHRINK);
}

static int map_memory(struct dma_range *range, int fd, uint64_t offset)
{
	struct stat file;
	void *memory;

	if (fd < 0 || !(range->readable || range->writable) || !cannot_shrink(fd))
		return 0;
	if (fstat(fd, &file))
		return -errno;
	if ((uint64_t)file.st_size < offset || (uint64_t)file.st_size - offset < range->size)
		return -EINVAL;
	memory = mmap(NULL, range->size, PROT_READ | (range->writable ? PROT_WRITE : 0), MAP_SHARED,
		      fd, offset);
	if (memory == MAP_FAILED)
		return -errno;
	range->memory = memory;
	return 0;
}

int dma_map(struct dma_table *table, uint64_t address, uint64_t size, unsigned int flags, int fd,
	    uint64_t offset)
{
	struct dma_range range = {
		.address = address,
		.size = size,
		.readable = flags & DMA_READABLE,
		.writable = flags & DMA_WRITABLE,
	};
	size_t index;
	int error;

	if (!in_whole_pages(address, size) || offset & (DMA_PAGE_SIZE - 1))
		return -EINVAL;
	index = find(table, address);
	if (index < table->count && table->ranges[index].address <= last_byte(&range))
		return -EEXIST;
	if (table->count >= MAX_DMA_RANGES)
		return -ENOSPC;
	error = make_room(table);
	if (error)
		return error;
	error = map_memory(&range, fd, offset);
	if (error)
		return error;
	insert(table, index, &range);
	table->counters->dma_maps++;
	return 0;
}

/* Makes the range at index begin where the address is, with a range of its own before it. */
static int split(struct dma_table *table, size_t index, uint64_t address)
{
	struct dma_range before;
	struct dma_range *after;
	int error = make_room(table);

	if (error)
		return error;
	before = table->ranges[index];
	before.size = address - before.address;
	insert(table, index, &before);
	after = &table->ranges[index + 1];
	after->address += before.size;
	after->size -= before.size;
	if (after->memory)
		after->memory += before.size;
	return 0;
}

/* Makes sure that no range lies on both sides of the address. */
static int split_at(struct dma_table *table, uint64_t address)
{
	size_t index = find(table, address);

	if (index == table->count || table->ranges[index].address >= address)
		return 0;
	return split(table, index, address);
}

int dma_unmap(struct dma_table *table, uint64_t address, uint64_t size)
{
	uint64_t last = address + size - 1;
	size_t first, end;
	int error;

	if (!in_whole_pages(address, size))
		return -EINVAL;
	error = split_at(table, address);
	if (!error && last != UINT64_MAX)
		error = split_at(table, last + 1);
	if (error)
		return error;
	first = find(table, address);
	for (end = first; end < table->count && table->ranges[end].address <= last; end++)
		forget_memory(&table->ranges[end]);
	if (first == end)
		return 0;
	memmove(&table->ranges[first], &table->ranges[end],
		(table->count - end) * sizeof(*table->ranges));
	table->count -= end - first;
	table->counters->dma_unmaps += end - first;
	return 0;
}

static void keep_violation(struct dma_table *table, const struct vfu_violation *violation)
{
	uint64_t number = table->counters->violations++;

	if (number < VFU_KEPT_VIOLATIONS)
		table->violations[number] = *violation;
}

/*
 * Whether [violation->address, + size) can be reached; if not, violation says where not, and why.
 */
static bool reachable(const struct dma_table *table, struct vfu_violation *violation)
{
	uint64_t address = violation->address, left = violation->size;

	for (size_t i = find(table, address); left; i++) {
		const struct dma_range *range;
		uint64_t here;

		violation->address = address;
		if (i == table->count || table->ranges[i].address > address) {
			violation->reason = VFU_UNMAPPED;
			return false;
		}
		range = &table->ranges[i];
		if (violation->is_write ? !range->writable : !range->readable) {
			violation->reason = VFU_NOT_PERMITTED;
			return false;
		}
		if (!range->memory) {
			violation->reason = VFU_NO_MEMORY;
			return false;
		}
		here = last_byte(range) - address + 1;
		if (here >= left)
			return true;
		address += here;
		left -= here;
	}
	return true;
}

static void count_access(struct vfu_counters *counters, uint64_t address, size_t size,
			 bool is_write)
{
	uint64_t last = address + size - 1;

	if (address < counters->dma_lowest)
		counters->dma_lowest = address;
	if (last > counters->dma_highest)
		counters->dma_highest = last;
	counters->dma_above_4g += last >= FOUR_GIB;
	if (is_write) {
		counters->dma_writes++;
		counters->dma_write_bytes += size;
	} else {
		counters->dma_reads++;
		counters->dma_read_bytes += size;
	}
}

static bool may_access(struct dma_table *table, const char *what, uint64_t address, size_t size,
		       bool is_write)
{
	struct vfu_violation violation = {
		.what = what, .address = address, .size = size, .is_write = is_write
	};

	count_access(table->counters, address, size, is_write);
	/* What wraps runs into address 0 in the sum, and off the end of the table in the search. */
	if (reachable(table, &violation))
		return true;
	keep_violation(table, &violation);
	return false;
}

/*
 * The memory at the address, and in *here how much of it lies in one piece. Only after
 * may_access().
 */
static uint8_t *memory_at(const struct dma_table *table, uint64_t address, size_t *here)
{
	const struct dma_range *range = &table->ranges[find(table, address)];
	uint64_t offset = address - range->address;

	if (range->size - offset < *here)
		*here = range->size - offset;
	return range->memory + offset;
}

bool dma_read(struct dma_table *table, const char *what, uint64_t address, void *buffer,
	      size_t size)
{
	uint8_t *to = buffer;

	if (!size)
		return true;
	if (!may_access(table, what, address, size, false))
		return false;
	while (size) {
		size_t here = size;
		const uint8_t *from = memory_at(table, address, &here);

		memcpy(to, from, here);
		address += here;
		to += here;
		size -= here;
	}
	return true;
}

bool dma_write(struct dma_table *table, const char *what, uint64_t address, const void *buffer,
	       size_t size)
{
	const uint8_t *from = buffer;

	if (!size)
		return true;
	if (!may_access(table, what, address, size, true))
		return false;
	while (size) {
		size_t here = size;
		uint8_t *to = memory_at(table, address, &here);

		memcpy(to, from, here);
		address += here;
		from += here;
		size -= here;
	}
	return true;
}

bool dma_publish32(struct dma_table *table, const char *what, uint64_t address, uint32_t value)
{
	size_t here = sizeof(value);
	uint8_t *memory;

	address &= ~3ULL;
	if (!may_access(table, what, address, sizeof(value), true))
		return false;
	memory = memory_at(table, address, &here);
	__atomic_store_n((uint32_t *)memory, value, __ATOMIC_RELEASE);
	return true;
}
