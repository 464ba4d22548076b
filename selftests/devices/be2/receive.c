// SPDX-License-Identifier: GPL-2.0
/* Receiving: a frame takes as many buffers as it needs, one completion tells of it. */
#include <netinet/in.h>

#include "be2.h"

/* Writes the frame to the next buffers. Returns false when one of them is not there. */
static bool scatter(struct be2 *be2, struct be2_rx *rx, const uint8_t *frame, size_t size)
{
	bool all_there = true;

	while (size) {
		size_t now = size < rx->fragment_size ? size : rx->fragment_size;
		struct rx_buffer buffer;
		uint64_t address;

		address = be2_ring_address(&rx->ring, rx->ring.next++);
		rx->posted--;
		if (vfu_dma_read(be2->vfu, "receive descriptor", address, &buffer,
				 sizeof(buffer))) {
			address = buffer.address_low | (uint64_t)buffer.address_high << 32;
			all_there &= vfu_dma_write(be2->vfu, "receive buffer", address, frame, now);
		} else {
			all_there = false;
		}
		frame += now;
		size -= now;
	}
	return all_there;
}

static uint32_t checksum_flags(struct be2 *be2, const uint8_t *frame,
			       const struct frame_headers *headers)
{
	struct port_statistics *port = &be2->statistics.port[0];
	bool ip_ok = frame_ip_checksum_ok(frame, headers);
	bool l4_ok = frame_l4_checksum_ok(frame, headers);
	uint32_t flags = 0;

	port->rx_ip_checksum_errors += !ip_ok;
	if (headers->ip_version == 6)
		flags |= RX_IS_IPV6;
	else if (headers->ip_version == 4 && ip_ok)
		flags |= RX_IP_CHECKSUM_OK;
	if (headers->protocol == IPPROTO_TCP) {
		port->rx_tcp_checksum_errors += !l4_ok;
		flags |= RX_IS_TCP | (l4_ok ? RX_L4_CHECKSUM_OK : 0);
	} else if (headers->protocol == IPPROTO_UDP) {
		port->rx_udp_checksum_errors += !l4_ok;
		flags |= RX_IS_UDP | (l4_ok ? RX_L4_CHECKSUM_OK : 0);
	}
	return flags;
}

static uint16_t swapped(uint16_t value)
{
	return value << 8 | value >> 8;
}

/* What is in another place in each version of a completion. */
static void add_versioned(const struct be2 *be2, const struct frame_headers *headers,
			  struct rx_completion *completion)
{
	if (headers->has_vlan && be2->is_native)
		completion->vlan_and_size |= RX_NATIVE_HAS_VLAN;
	else if (headers->has_vlan)
		completion->flags |= RX_HAS_VLAN;
	if (headers->is_fragment && !be2->is_native)
		completion->flags |= RX_IS_IP_FRAGMENT;
}

/* headers are of the frame as it came, with the tag that is no longer in it. */
static void deliver(struct be2 *be2, struct be2_rx *rx, const uint8_t *frame, size_t size,
		    const struct frame_headers *headers, uint32_t flags, uint32_t hash)
{
	uint32_t first = rx->ring.next % rx->ring.entries;
	uint32_t buffers = (size + rx->fragment_size - 1) / rx->fragment_size;
	struct rx_completion completion = {
		/* be_main.c:be_rx_compl_get() swaps the tag. */
		.vlan_and_size = swapped(headers->vlan) | (uint32_t)size << RX_SIZE_SHIFT,
		.flags = flags | first << RX_INDEX_SHIFT | buffers << RX_FRAGMENTS_SHIFT,
		.cast_and_valid = frame_cast(frame) << RX_CAST_SHIFT,
		.hash = hash,
	};

	add_versioned(be2, headers, &completion);
	if (!scatter(be2, rx, frame, size))
		completion.flags |= RX_ERROR;
	be2->counters.rx_delivered++;
	be2->counters.rx_hashed += !!(flags & RX_HAS_HASH);
	be2->counters.rx_tagged += headers->has_vlan;
	rx->delivered++;
	be2_complete(be2, rx->cq, (const uint32_t *)&completion,
		     offsetof(struct rx_completion, cast_and_valid) / sizeof(uint32_t));
}

static bool has_buffers(struct be2 *be2, unsigned int ring, size_t size)
{
	const struct be2_rx *rx = &be2->rx[ring];
	size_t needed = (size + rx->fragment_size - 1) / rx->fragment_size;

	if (needed >= 1U << RX_FRAGMENTS_BITS) {
		be2->statistics.rx_drops_too_many_fragments++;
		be2->counters.rx_no_buffer++;
		return false;
	}
	if (needed <= rx->posted)
		return true;
	be2->counters.rx_no_buffer++;
	be2->statistics.rx_drops_no_fragments[ring]++;
	return false;
}

void be2_receive(struct be2 *be2, uint8_t *frame, size_t size)
{
	struct port_statistics *port = &be2->statistics.port[0];
	struct frame_headers headers;
	unsigned int ring;
	uint32_t flags, hash = 0;

	if (!be2->link_is_up)
		return;
	be2->counters.rx_frames++;
	if (size > BE2_LARGEST_RX) {
		be2->counters.rx_not_ready++;
		port->rx_too_long++;
		return;
	}
	statistics_count_rx(port, frame, size);
	frame_parse(frame, size, &headers);
	flags = be2_rss_choose(be2, frame, &headers, &ring, &hash) ? RX_HAS_HASH : 0;
	if (!be2->rx[ring].ring.exists) {
		be2->counters.rx_not_ready++;
		return;
	}
	if (!be2_filter_takes(be2, frame, &headers)) {
		be2->counters.rx_filtered++;
		return;
	}
	flags |= checksum_flags(be2, frame, &headers);
	if (headers.has_vlan)
		size = frame_remove_vlan(frame, size);
	if (has_buffers(be2, ring, size))
		deliver(be2, &be2->rx[ring], frame, size, &headers, flags, hash);
}

/*
 * After the last frame the driver waits for a completion that has no buffers:
 * be_main.c:be_rx_cq_clean().
 */
void be2_rx_flush(struct be2 *be2, struct be2_rx *rx)
{
	const struct rx_completion completion = { 0 };

	be2_complete(be2, rx->cq, (const uint32_t *)&completion,
		     offsetof(struct rx_completion, cast_and_valid) / sizeof(uint32_t));
}

void be2_rx_doorbell(struct be2 *be2, uint32_t value)
{
	unsigned int id = bits(value, 0, DB_RX_ID_BITS);
	uint32_t posted = bits(value, DB_RX_POSTED_SHIFT, DB_RX_POSTED_BITS);

	if (id >= be2->chip->rx_rings || !be2->rx[id].ring.exists)
		return;
	if (posted > be2->rx[id].ring.entries - be2->rx[id].posted)
		posted = be2->rx[id].ring.entries - be2->rx[id].posted;
	be2->rx[id].posted += posted;
}
