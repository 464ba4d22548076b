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
static unsigned int gather(struct be2 *be2, unsigned int wrbs, size_t *size)
{
	struct be2_ring *ring = &be2->tx.ring;

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

static void complete(struct be2 *be2, const struct tx_header *header, uint32_t last,
		     unsigned int status)
{
	const struct tx_completion completion = {
		.index_and_status = last | status << TX_STATUS_SHIFT,
	};

	if (header->flags & (TX_EVENT | TX_COMPLETE))
		be2_complete(be2, be2->tx.cq, (const uint32_t *)&completion,
			     offsetof(struct tx_completion, valid) / sizeof(uint32_t));
}

static unsigned int handle_packet(struct be2 *be2, const struct tx_header *header,
				  unsigned int wrbs)
{
	size_t size;
	unsigned int status;

	be2->counters.tx_packets++;
	if (be2->faults.tx_count) {
		be2->faults.tx_count--;
		return be2->faults.tx_status;
	}
	status = gather(be2, wrbs, &size);
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
static bool take_packet(struct be2 *be2)
{
	struct be2_ring *ring = &be2->tx.ring;
	struct tx_header header;
	unsigned int wrbs, status;

	if (!vfu_dma_read(be2->vfu, "transmit WRB", be2_ring_address(ring, ring->next), &header,
			  sizeof(header)))
		return false;
	wrbs = bits(header.flags, TX_WRBS_SHIFT, TX_WRBS_BITS);
	if (!wrbs || wrbs > be2->tx.posted)
		return false;
	status = handle_packet(be2, &header, wrbs);
	ring->next += wrbs;
	be2->tx.posted -= wrbs;
	complete(be2, &header, (ring->next - 1) % ring->entries, status);
	return true;
}

void be2_tx_run(struct be2 *be2)
{
	while (be2->tx.ring.exists && be2->tx.posted && wire_has_room(&be2->wire)) {
		if (!take_packet(be2)) {
			be2->counters.tx_malformed++;
			be2->tx.posted = 0;
		}
	}
}

bool be2_tx_is_waiting(const struct be2 *be2)
{
	return be2->tx.ring.exists && be2->tx.posted;
}

void be2_tx_doorbell(struct be2 *be2, uint32_t value)
{
	uint32_t posted = bits(value, DB_POSTED_SHIFT, DB_POSTED_BITS);

	if (bits(value, 0, DB_TX_ID_BITS) || !be2->tx.ring.exists)
		return;
	if (posted > be2->tx.ring.entries - be2->tx.posted) {
		be2->counters.tx_malformed++;
		return;
	}
	be2->tx.posted += posted;
	be2_tx_run(be2);
}
