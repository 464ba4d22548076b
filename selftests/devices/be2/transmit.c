// SPDX-License-Identifier: GPL-2.0
/*
 * Sending. A packet is a header WRB that says how many WRBs there are, and one WRB for each
 * fragment; the driver may add a fragment of no length, so that their number is even.
 */
#include <string.h>

#include "be2.h"

static void send_frame(void *context, uint8_t *frame, size_t size)
{
	struct be2 *be2 = context;

	if (!be2->link_is_up || !wire_send(&be2->wire, frame, size)) {
		be2->counters.tx_lost++;
		return;
	}
	be2->counters.tx_frames++;
	be2->counters.tx_jumbo += size > BE2_LARGEST_STANDARD;
	statistics_count_tx(&be2->statistics.port[0], frame, size);
}

/* Returns false when the driver asks for what the packet does not allow. */
static bool send_packet(struct be2 *be2, const struct tx_header *header, size_t size)
{
	struct frame_headers headers;

	if (header->flags & TX_VLAN) {
		size = frame_insert_vlan(be2->frame, size, header->length_and_vlan >> 16);
		be2->counters.tx_tagged++;
	}
	frame_parse(be2->frame, size, &headers);
	if (header->flags & TX_LSO) {
		be2->counters.tx_tso++;
		return frame_segment(be2->frame, &headers,
				     bits(header->flags, TX_MSS_SHIFT, TX_MSS_BITS), send_frame,
				     be2);
	}
	if (header->flags & TX_IP_CHECKSUM)
		frame_fill_ip_checksum(be2->frame, &headers);
	if (header->flags & (TX_TCP_CHECKSUM | TX_UDP_CHECKSUM)) {
		be2->counters.tx_checksums++;
		frame_fill_l4_checksum(be2->frame, &headers);
	}
	send_frame(be2, be2->frame, size);
	return true;
}

/* Puts the fragments together. Returns a status for the completion, and the size of the packet. */
static unsigned int gather(struct be2 *be2, const struct be2_ring *ring, unsigned int wrbs,
			   size_t *size)
{
	*size = 0;
	for (unsigned int i = 1; i < wrbs; i++) {
		struct tx_fragment wrb;
		uint64_t address;
		uint32_t length;

		if (!vfu_dma_read(be2->vfu, "transmit WRB", be2_ring_address(ring, ring->next + i),
				  &wrb, sizeof(wrb)))
			return TX_STATUS_DMA_ERROR;
		address = wrb.address_low | (uint64_t)wrb.address_high << 32;
		length = wrb.length & 0xffff;
		if (length > sizeof(be2->frame) - VLAN_TAG_SIZE - *size)
			return TX_STATUS_PARSE_ERROR;
		if (!vfu_dma_read(be2->vfu, "packet", address, be2->frame + *size, length))
			return TX_STATUS_DMA_ERROR;
		*size += length;
	}
	return 0;
}

static void complete(struct be2 *be2, const struct be2_tx *tx, const struct tx_header *header,
		     unsigned int status)
{
	const struct tx_completion completion = {
		.index_and_status = (tx->ring.next - 1) % tx->ring.entries |
				    status << TX_STATUS_SHIFT,
	};

	if (header->flags & (TX_EVENT | TX_COMPLETE))
		be2_complete(be2, tx->cq, (const uint32_t *)&completion,
			     offsetof(struct tx_completion, valid) / sizeof(uint32_t));
}

static unsigned int handle_packet(struct be2 *be2, struct be2_tx *tx,
				  const struct tx_header *header, unsigned int wrbs)
{
	size_t size;
	unsigned int status;

	be2->counters.tx_packets++;
	tx->packets++;
	if (be2->faults.tx_count) {
		be2->faults.tx_count--;
		return be2->faults.tx_status;
	}
	status = gather(be2, &tx->ring, wrbs, &size);
	if (status)
		return status;
	if (size < ETHERNET_HEADER || size != (header->length_and_vlan & 0xffff) ||
	    !send_packet(be2, header, size)) {
		be2->counters.tx_malformed++;
		return TX_STATUS_PARSE_ERROR;
	}
	return 0;
}

/* Returns false when it cannot be told where the next packet begins. */
static bool take_packet(struct be2 *be2, struct be2_tx *tx)
{
	struct be2_ring *ring = &tx->ring;
	struct tx_header header;
	unsigned int wrbs, status;

	if (!vfu_dma_read(be2->vfu, "transmit WRB", be2_ring_address(ring, ring->next), &header,
			  sizeof(header)))
		return false;
	wrbs = bits(header.flags, TX_WRBS_SHIFT, TX_WRBS_BITS);
	if (!wrbs || wrbs > tx->posted)
		return false;
	status = handle_packet(be2, tx, &header, wrbs);
	ring->next += wrbs;
	tx->posted -= wrbs;
	complete(be2, tx, &header, status);
	return true;
}

static bool is_waiting(const struct be2_tx *tx)
{
	return tx->ring.exists && tx->posted;
}

bool be2_tx_is_waiting(const struct be2 *be2)
{
	for (unsigned int i = 0; i < be2->chip->tx_rings; i++)
		if (is_waiting(&be2->tx[i]))
			return true;
	return false;
}

/* A packet of each ring in turn, so that none waits for another to be empty. */
void be2_tx_run(struct be2 *be2)
{
	while (be2_tx_is_waiting(be2)) {
		for (unsigned int i = 0; i < be2->chip->tx_rings; i++) {
			struct be2_tx *tx = &be2->tx[i];

			if (!is_waiting(tx))
				continue;
			if (!wire_has_room(&be2->wire))
				return;
			if (!take_packet(be2, tx)) {
				be2->counters.tx_malformed++;
				tx->posted = 0;
			}
		}
	}
}

void be2_tx_doorbell(struct be2 *be2, uint32_t value)
{
	unsigned int id = bits(value, 0, DB_TX_ID_BITS);
	uint32_t posted = bits(value, DB_POSTED_SHIFT, DB_POSTED_BITS);
	struct be2_tx *tx;

	if (id >= be2->chip->tx_rings || !be2->tx[id].ring.exists)
		return;
	tx = &be2->tx[id];
	if (posted > tx->ring.entries - tx->posted) {
		be2->counters.tx_malformed++;
		return;
	}
	tx->posted += posted;
	be2_tx_run(be2);
}
