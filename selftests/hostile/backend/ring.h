/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A split virtqueue, from the device's end (VIRTIO 1.3, 2.7).
 */
#ifndef RING_H
#define RING_H

#include <stdbool.h>
#include <stdint.h>

#include "memory.h"

#define RING_MAX_SIZE		1024
#define CHAIN_MAX_BUFFERS	160

struct descriptor {
	uint64_t address;
	uint32_t length;
	uint16_t flags;
	uint16_t next;
};

struct used_element {
	uint32_t id;
	uint32_t length;
};

/**
 * struct ring - a virtqueue
 * @size: its number of descriptors
 * @enabled: the front end has enabled it
 * @kick: event file by which the guest tells of new chains, or -1
 * @call: event file by which we tell of returned ones, or -1
 * @addresses: where it lies, as QEMU has it
 * @descriptors: its descriptor table; NULL until the ring is set up
 * @available: its available ring: flags, index, entries
 * @used: its used ring: flags, index, elements
 * @taken: index of the next available entry
 * @returned: index of the next used element
 * @ours: which chains we have, by the number of their first descriptor
 */
struct ring {
	unsigned int size;
	bool enabled;
	int kick;
	int call;
	struct vhost_ring_address addresses;
	struct descriptor *descriptors;
	uint16_t *available;
	uint16_t *used;
	uint16_t taken;
	uint16_t returned;
	bool ours[RING_MAX_SIZE];
};

struct buffer {
	uint64_t address;
	uint32_t length;
	bool writable;
};

/**
 * struct chain - what the driver has made available at once
 * @head: number of its first descriptor
 * @table: address of its indirect table, or 0
 * @table_length: bytes of that
 * @count: number of buffers
 * @buffers: the buffers
 * @malformed: it could not be followed to its end
 */
struct chain {
	uint16_t head;
	uint64_t table;
	uint32_t table_length;
	unsigned int count;
	struct buffer buffers[CHAIN_MAX_BUFFERS];
	bool malformed;
};

/**
 * ring_start() - find the parts of a ring of which size and addresses are set
 *
 * Return: true, or false if they are not all in the memory that is shared with us.
 */
bool ring_start(struct ring *ring, const struct memory *memory);

void ring_stop(struct ring *ring);

/**
 * ring_take() - take the next available chain
 *
 * Return: true, or false if there is none.
 */
bool ring_take(struct ring *ring, const struct memory *memory, struct chain *chain);

/**
 * ring_return() - tell the driver that a chain is done
 * @ring: the ring
 * @id: what to say of which chain it is
 * @length: what to say of how many bytes were written
 */
void ring_return(struct ring *ring, uint32_t id, uint32_t length);

/**
 * ring_skip() - move the used index on, or back, without having returned anything
 */
void ring_skip(struct ring *ring, int16_t count);

/**
 * ring_interrupt() - tell the driver to look, unless it does not want to be told
 */
void ring_interrupt(struct ring *ring);

#endif /* RING_H */
