/* SPDX-License-Identifier: GPL-2.0 */
#ifndef DMA_H
#define DMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vfu.h"

/**
 * struct dma_range - what the client has mapped for the device
 * @address: as the device sees it
 * @size: in bytes
 * @memory: NULL when it is not shared with us
 * @readable: by the device
 * @writable: by the device
 */
struct dma_range {
	uint64_t address;
	uint64_t size;
	uint8_t *memory;
	bool readable;
	bool writable;
};

/**
 * struct dma_table - all of them
 * @ranges: sorted by address, none overlaps another
 * @count: of ranges
 * @capacity: of the array
 * @violations: the first accesses that could not be done
 * @counters: where accesses are counted
 */
struct dma_table {
	struct dma_range *ranges;
	size_t count;
	size_t capacity;
	struct vfu_violation violations[VFU_KEPT_VIOLATIONS];
	struct vfu_counters *counters;
};

void dma_init(struct dma_table *table, struct vfu_counters *counters);
void dma_exit(struct dma_table *table);

/*
 * Maps [address, address + size). fd is the file with the memory, or -1; it stays the caller's.
 * Returns 0; -EINVAL when the range is empty, wraps, is not in whole pages or not in the file;
 * -EEXIST when it overlaps one that is there; -ENOSPC; -ENOMEM; or what mmap(2) gave.
 */
int dma_map(struct dma_table *table, uint64_t address, uint64_t size, unsigned int flags, int fd,
	    uint64_t offset);

/*
 * Unmaps what lies in [address, address + size), also a part of a range. Whole pages, or -EINVAL.
 */
int dma_unmap(struct dma_table *table, uint64_t address, uint64_t size);

void dma_unmap_all(struct dma_table *table);

bool dma_read(struct dma_table *table, const char *what, uint64_t address, void *buffer,
	      size_t size);
bool dma_write(struct dma_table *table, const char *what, uint64_t address, const void *buffer,
	       size_t size);
bool dma_publish32(struct dma_table *table, const char *what, uint64_t address, uint32_t value);

#endif
