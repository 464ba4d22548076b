// SPDX-License-Identifier: GPL-2.0
/*
 * A network card (VIRTIO 1.3, 5.1) that sends back what it is sent. When it misbehaves, what it
 * sends is of its own making.
 */
#include <string.h>

#include "device.h"

#define RING_RECEIVE	0
#define RING_TRANSMIT	1

#define F_CSUM		0
#define F_GUEST_CSUM	1
#define F_GUEST_TSO4	7
#define F_MRG_RXBUF	15

#define MOST_FRAME	1514
#define LEAST_FRAME	60
#define ADDRESS		6

struct header {
	uint8_t flags;
	uint8_t gso_type;
	uint16_t header_length;
	uint16_t gso_size;
	uint16_t checksum_start;
	uint16_t checksum_offset;
	uint16_t buffers;
};

struct packet {
	struct header header;
	uint8_t frame[MOST_FRAME];
};

/* As it came, from the other side. */
static size_t echo(const struct device *device, const struct chain *chain, struct packet *packet)
{
	size_t size = chain_read(device, chain, 0, packet, sizeof(*packet));
	uint8_t address[ADDRESS];

	memset(&packet->header, 0, sizeof(packet->header));
	packet->header.buffers = 1;
	memcpy(address, packet->frame, ADDRESS);
	memcpy(packet->frame, packet->frame + ADDRESS, ADDRESS);
	memcpy(packet->frame + ADDRESS, address, ADDRESS);
	return size;
}

/* Zero, a small number, or one of bytes that tell that they are the host's. */
static uint16_t header_number(const struct misbehaving *m, unsigned int what)
{
	const uint16_t choice[] = { 0, 1, 4, 0x80, 0x8e, 0xa2, 0xbf, 0x8080, 0xbfbf };

	return choice[misbehave_number(m, HEADER, what, sizeof(choice) / sizeof(*choice))];
}

/* None of its bytes looks like a writer's, as it is data to a driver that was lied to before. */
static void make_up_header(const struct misbehaving *m, struct header *header)
{
	const uint8_t gso_types[] = { 0, 1, 3, 4, 5, 0x80, 0x81, 0xbf };

	*header = (struct header) {
		.flags = misbehave_number(m, HEADER, 2, 8),
		.gso_type = gso_types[misbehave_number(m, HEADER, 3, sizeof(gso_types))],
		.header_length = header_number(m, 4),
		.gso_size = header_number(m, 5),
		.checksum_start = header_number(m, 6),
		.checksum_offset = header_number(m, 7),
		/* rarely, as it costs the packets that follow */
		.buffers = misbehave_number(m, HEADER, 8, 8) ? 1 :
			   misbehave_number(m, HEADER, 9, 4),
	};
}

static size_t make_up(struct device *device, struct packet *packet)
{
	struct misbehaving *m = &device->misbehaving;
	size_t size = LEAST_FRAME + misbehave_number(m, HEADER, 1, MOST_FRAME - LEAST_FRAME);

	memset(&packet->header, 0, sizeof(packet->header));
	packet->header.buffers = 1;
	misbehave_fill(packet->frame, size, m->request);
	if (misbehave(m, HEADER)) {
		make_up_header(m, &packet->header);
		misbehaved(m, HEADER);
	}
	return sizeof(packet->header) + size;
}

static void fill(struct device *device, const struct chain *chain, const struct packet *packet,
		 size_t size)
{
	struct ring *ring = &device->rings[RING_RECEIVE];
	struct misbehaving *m = &device->misbehaving;
	size_t written = size;
	bool is_returned;

	device_begin(device);
	is_returned = device_return_early(device, ring, chain, size);
	if (misbehave(m, SHORT_WRITE)) {
		written = misbehave_number(m, SHORT_WRITE, 0, size);
		misbehaved(m, SHORT_WRITE);
	}
	chain_write(device, chain, 0, packet, written);
	device_scribble(device, ring, chain);
	device_finish(device, ring, chain, size, is_returned);
}

static void receive(struct device *device, const struct packet *packet, size_t size)
{
	struct ring *ring = &device->rings[RING_RECEIVE];
	struct misbehaving *m = &device->misbehaving;
	struct chain first, second;

	if (!ring->descriptors || !ring->enabled || !ring_take(ring, &device->memory, &first))
		return;
	if (misbehave(m, OUT_OF_ORDER) && ring_take(ring, &device->memory, &second)) {
		misbehaved(m, OUT_OF_ORDER);
		fill(device, &second, packet, size);
	}
	fill(device, &first, packet, size);
}

static void serve(struct device *device, unsigned int index)
{
	struct ring *ring = &device->rings[index];
	struct packet packet;
	struct chain chain;
	size_t size;

	/* Buffers to receive into are taken when there is something to be received. */
	if (index != RING_TRANSMIT)
		return;
	while (ring_take(ring, &device->memory, &chain)) {
		device_begin(device);
		size = device->misbehaving.wanted ? make_up(device, &packet) :
						    echo(device, &chain, &packet);
		device_scribble(device, ring, &chain);
		device_finish(device, ring, &chain, 0, false);
		if (size > sizeof(packet.header))
			receive(device, &packet, size);
	}
}

const struct model card_model = {
	.features = 1ULL << F_CSUM | 1ULL << F_GUEST_CSUM | 1ULL << F_GUEST_TSO4 |
		    1ULL << F_MRG_RXBUF | 1ULL << VIRTIO_F_INDIRECT_DESC |
		    1ULL << VIRTIO_F_VERSION_1 | 1ULL << VHOST_F_PROTOCOL_FEATURES,
	.serve = serve,
};
