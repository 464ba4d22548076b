// SPDX-License-Identifier: GPL-2.0
/*
 * A disk in memory (VIRTIO 1.3, 5.2). The first half is full of bytes of the host's and is not
 * meant to be written to; what is written to the rest is kept.
 */
#include <string.h>

#include "device.h"

#define SECTOR			512
#define F_SEG_MAX		2
#define SEG_MAX			126

#define TYPE_READ		0
#define TYPE_WRITE		1
#define TYPE_GET_ID		8
#define STATUS_OK		0
#define STATUS_IO_ERROR		1
#define STATUS_UNSUPPORTED	2

struct header {
	uint32_t type;
	uint32_t reserved;
	uint64_t sector;
};

static void fill_config(const struct device *device, void *to, size_t size)
{
	const struct {
		uint64_t capacity;
		uint32_t size_max;
		uint32_t seg_max;
	} config = { .capacity = DISK_SIZE / SECTOR, .seg_max = SEG_MAX };

	(void)device;
	memset(to, 0, size);
	memcpy(to, &config, size < sizeof(config) ? size : sizeof(config));
}

/* Up to which byte of the data to go: not to the end if the request is to misbehave so. */
static size_t due(struct device *device, size_t size)
{
	struct misbehaving *m = &device->misbehaving;

	if (!size || !misbehave(m, SHORT_WRITE))
		return size;
	misbehaved(m, SHORT_WRITE);
	return misbehave_number(m, SHORT_WRITE, 0, size);
}

static uint8_t perform(struct device *device, const struct chain *chain,
		       const struct header *header, size_t readable, size_t writable)
{
	uint64_t at = header->sector * SECTOR;
	bool is_write = header->type == TYPE_WRITE;
	size_t size = is_write ? readable : writable;

	if (header->type == TYPE_GET_ID)
		return STATUS_OK;
	if (header->type != TYPE_READ && !is_write)
		return STATUS_UNSUPPORTED;
	if (header->sector > DISK_SIZE / SECTOR || size > DISK_SIZE - at)
		return STATUS_IO_ERROR;
	if (is_write)
		chain_read(device, chain, sizeof(*header), device->disk + at, size);
	else
		chain_write(device, chain, 0, device->disk + at, due(device, size));
	return STATUS_OK;
}

static uint8_t status_to_tell(struct device *device, uint8_t status)
{
	struct misbehaving *m = &device->misbehaving;

	if (!misbehave(m, WRONG_STATUS))
		return status;
	misbehaved(m, WRONG_STATUS);
	return misbehave_number(m, WRONG_STATUS, 0, UINT8_MAX + 1);
}

static void serve_chain(struct device *device, struct ring *ring, const struct chain *chain)
{
	size_t readable = chain_size(chain, false), writable = chain_size(chain, true);
	struct header header;
	uint8_t status = STATUS_IO_ERROR;
	bool is_returned;

	/* Before anything is scribbled on. */
	if (chain_read(device, chain, 0, &header, sizeof(header)) < sizeof(header) || !writable) {
		device_finish(device, ring, chain, 0, false);
		return;
	}
	is_returned = device_return_early(device, ring, chain, writable);
	if (!chain->malformed)
		status = perform(device, chain, &header, readable - sizeof(header), writable - 1);
	status = status_to_tell(device, status);
	chain_write(device, chain, writable - 1, &status, sizeof(status));
	device_scribble(device, ring, chain);
	device_finish(device, ring, chain, writable, is_returned);
}

static void serve(struct device *device, unsigned int index)
{
	struct ring *ring = &device->rings[index];
	struct chain chain;

	while (ring_take(ring, &device->memory, &chain)) {
		device_begin(device);
		serve_chain(device, ring, &chain);
	}
}

const struct model disk_model = {
	.features = 1ULL << F_SEG_MAX | 1ULL << VIRTIO_F_INDIRECT_DESC |
		    1ULL << VIRTIO_F_VERSION_1 | 1ULL << VHOST_F_PROTOCOL_FEATURES,
	.serve = serve,
	.config = fill_config,
};
