// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "frame.h"
#include "statistics.h"

/* Sizes on the wire are with the checksum of the frame, which models do not make. */
#define CRC_SIZE	4

static enum size_class size_class(size_t size)
{
	static const size_t largest[SIZE_CLASSES] = {
		64, 127, 255, 511, 1023, 1518, 2047, 4095, 8191, 9216,
	};
	unsigned int class = 0;

	while (class < SIZE_CLASSES - 1 && size > largest[class])
		class++;
	return class;
}

/* The counter's low and high word. */
static void add64(uint32_t *counter, uint64_t more)
{
	uint64_t sum = (counter[0] | (uint64_t)counter[1] << 32) + more;

	counter[0] = sum;
	counter[1] = sum >> 32;
}

void statistics_count_rx(struct port_statistics *port, const uint8_t *frame, size_t size)
{
	port->rx_frames++;
	port->rx_cast[frame_cast(frame)]++;
	port->rx_sizes[size_class(size + CRC_SIZE)]++;
	add64(port->rx_bytes, size + CRC_SIZE);
}

void statistics_count_tx(struct port_statistics *port, const uint8_t *frame, size_t size)
{
	size_t on_wire = size < SHORTEST_FRAME ? SHORTEST_FRAME : size;

	port->tx_cast[frame_cast(frame)]++;
	port->tx_sizes[size_class(on_wire + CRC_SIZE)]++;
	add64(port->tx_bytes, on_wire + CRC_SIZE);
}

static void port_to_v1(const struct port_statistics *from, struct port_statistics_v1 *to)
{
	to->rx_too_long = from->rx_too_long;
	to->rx_address_filtered = from->rx_address_filtered + from->rx_vlan_filtered;
	to->rx_ip_checksum_errors = from->rx_ip_checksum_errors;
	to->rx_tcp_checksum_errors = from->rx_tcp_checksum_errors;
	to->rx_udp_checksum_errors = from->rx_udp_checksum_errors;
}

void statistics_to_v1(const struct hardware_statistics *from, struct hardware_statistics_v1 *to)
{
	for (unsigned int i = 0; i < STATISTICS_PORTS; i++)
		port_to_v1(&from->port[i], &to->port[i]);
	to->rx_drops_too_many_fragments = from->rx_drops_too_many_fragments;
	memcpy(to->rx_drops_no_fragments, from->rx_drops_no_fragments,
	       sizeof(from->rx_drops_no_fragments));
}
