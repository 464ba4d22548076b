/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What disks and network cards have in common: rings, chains, and most ways to misbehave.
 */
#ifndef DEVICE_H
#define DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory.h"
#include "misbehave.h"
#include "ring.h"

#define MAX_DEVICES	16
#define DEVICE_RINGS	2
/* So many chains that were returned are remembered, to be written to. */
#define RETURNED_CHAINS	64

#define VIRTIO_F_INDIRECT_DESC	28
#define VIRTIO_F_VERSION_1	32

struct device;

/**
 * struct model - what a device is
 * @features: that it offers
 * @serve: do what there is to do on a ring
 * @config: fill in its configuration space; NULL if the front end has it
 */
struct model {
	uint64_t features;
	void (*serve)(struct device *device, unsigned int ring);
	void (*config)(const struct device *device, void *to, size_t size);
};

/**
 * struct device - a device
 * @name: what it is called on the command line of ours
 * @model: what it is
 * @listener: socket on which the front end connects, or -1 once it has
 * @client: the connection, or -1
 * @features: that the driver accepted
 * @memory: of the guest
 * @rings: its virtqueues
 * @misbehaving: how it misbehaves
 * @returned: chains that were returned, the last ones
 * @returned_count: how many ever were
 * @all: all devices, whose rings misbehaving spares
 * @disk: of a disk, its content
 */
struct device {
	const char *name;
	const struct model *model;
	int listener;
	int client;
	uint64_t features;
	struct memory memory;
	struct ring rings[DEVICE_RINGS];
	struct misbehaving misbehaving;
	struct chain returned[RETURNED_CHAINS];
	uint64_t returned_count;
	const struct devices *all;
	uint8_t *disk;
};

struct devices {
	struct device device[MAX_DEVICES];
	unsigned int count;
};

extern const struct model disk_model;
extern const struct model card_model;

#define DISK_SIZE	(16U << 20)

/**
 * device_begin() - a request begins
 */
void device_begin(struct device *device);

size_t chain_size(const struct chain *chain, bool writable);

/**
 * chain_read() - read from the buffers of a chain that are for reading
 * @from: where to begin, in all of them together
 *
 * Return: how many bytes there were, @size at most.
 */
size_t chain_read(const struct device *device, const struct chain *chain, size_t from, void *to,
		  size_t size);

/**
 * chain_write() - write to the buffers of a chain that are for writing
 * @at: where to begin, in all of them together
 *
 * Return: how many bytes there was room for, @size at most.
 */
size_t chain_write(const struct device *device, const struct chain *chain, size_t at,
		   const void *from, size_t size);

/**
 * device_return_early() - perhaps return a chain before it was worked on
 * @length: what is due to be said of how many bytes were written
 *
 * Return: true if it was returned.
 */
bool device_return_early(struct device *device, struct ring *ring, const struct chain *chain,
			 uint32_t length);

/**
 * device_scribble() - perhaps write where, or when, one must not
 *
 * To be called when all that is asked for was read from the chain.
 */
void device_scribble(struct device *device, struct ring *ring, const struct chain *chain);

/**
 * device_finish() - return a chain, honestly or not
 * @length: how many bytes were written, or are due
 * @is_returned: it was already
 */
void device_finish(struct device *device, struct ring *ring, const struct chain *chain,
		   uint32_t length, bool is_returned);

#endif /* DEVICE_H */
