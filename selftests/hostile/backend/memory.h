/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vhost.h"

struct region {
	uint64_t guest;
	uint64_t size;
	uint64_t user;
	uint8_t *base;		/* where we have it mapped */
	void *mapping;
	size_t mapped;
};

/**
 * struct memory - what the front end has shared of the guest's memory
 */
struct memory {
	struct region regions[VHOST_MAX_REGIONS];
	unsigned int count;
};

/**
 * memory_set() - map what the front end shares
 * @memory: receives it; what it held before is unmapped
 * @table: addresses of the regions
 * @fds: their files
 *
 * Return: 0, or a negative errno with nothing mapped.
 */
int memory_set(struct memory *memory, const struct vhost_memory *table, const int *fds);

void memory_clear(struct memory *memory);

/**
 * memory_at() - the bytes at a guest-physical address
 *
 * Return: where they are, or NULL if not all of them are shared with us.
 */
void *memory_at(const struct memory *memory, uint64_t guest, size_t size);

/**
 * memory_room() - how many bytes follow a guest-physical address, with it, in its region
 */
size_t memory_room(const struct memory *memory, uint64_t guest);

/**
 * memory_guest_of() - the guest-physical address of what QEMU has at an address of its own
 *
 * Return: the address, or UINT64_MAX if it lies in no region.
 */
uint64_t memory_guest_of(const struct memory *memory, uint64_t user);

#endif /* MEMORY_H */
