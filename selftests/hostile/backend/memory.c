// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <sys/mman.h>

#include "memory.h"

void memory_clear(struct memory *memory)
{
	while (memory->count) {
		struct region *region = &memory->regions[--memory->count];

		munmap(region->mapping, region->mapped);
	}
}

/* From the begin of the file, as offsets need not be aligned to what mmap() wants. */
static int map(struct region *region, const struct vhost_region *from, int fd)
{
	if (!from->size || from->guest + from->size < from->guest ||
	    from->user + from->size < from->user || from->offset + from->size < from->offset)
		return -EINVAL;
	region->guest = from->guest;
	region->size = from->size;
	region->user = from->user;
	region->mapped = from->offset + from->size;
	region->mapping = mmap(NULL, region->mapped, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (region->mapping == MAP_FAILED)
		return -errno;
	region->base = (uint8_t *)region->mapping + from->offset;
	return 0;
}

int memory_set(struct memory *memory, const struct vhost_memory *table, const int *fds)
{
	memory_clear(memory);
	if (table->count > VHOST_MAX_REGIONS)
		return -EINVAL;
	for (unsigned int i = 0; i < table->count; i++) {
		int error = map(&memory->regions[i], &table->regions[i], fds[i]);

		if (error) {
			memory_clear(memory);
			return error;
		}
		memory->count++;
	}
	return 0;
}

static const struct region *find(const struct memory *memory, uint64_t guest)
{
	for (unsigned int i = 0; i < memory->count; i++) {
		const struct region *region = &memory->regions[i];

		if (guest >= region->guest && guest - region->guest < region->size)
			return region;
	}
	return NULL;
}

size_t memory_room(const struct memory *memory, uint64_t guest)
{
	const struct region *region = find(memory, guest);

	return region ? region->size - (guest - region->guest) : 0;
}

void *memory_at(const struct memory *memory, uint64_t guest, size_t size)
{
	const struct region *region = find(memory, guest);

	if (!region || size > region->size - (guest - region->guest))
		return NULL;
	return region->base + (guest - region->guest);
}

uint64_t memory_guest_of(const struct memory *memory, uint64_t user)
{
	for (unsigned int i = 0; i < memory->count; i++) {
		const struct region *region = &memory->regions[i];

		if (user >= region->user && user - region->user < region->size)
			return region->guest + (user - region->user);
	}
	return UINT64_MAX;
}
