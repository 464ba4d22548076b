// SPDX-License-Identifier: GPL-2.0
#include <net/ethernet.h>
#include <stdbool.h>

#include "bytes.h"
#include "frame.h"
#include "statistics.h"

/* Sizes on the wire are with the checksum of the frame, which models do not make. */
#define CRC_SIZE	4
#define PRIORITY_SHIFT	5
#define FIRST_WORD32	offsetof(struct port_statistics, rx_jabber)

_Static_assert(offsetof(struct port_statistics, rx_frames) == (81 + 36 + 27) * 8, "en_port.h");
_Static_assert(offsetof(struct port_statistics, tx_sizes) == 179 * 8, "en_port.h");
_Static_assert(offsetof(struct port_statistics, tx_frames) == (179 + 90 + 40 + 30) * 8,
	       "en_port.h");
_Static_assert(offsetof(struct port_statistics, rx_jabber) == 369 * 8, "en_port.h");

static enum size_class size_class(size_t size)
{
	static const size_t largest[SIZE_CLASSES - 1] = {
		64, 127, 255, 511, 1023, 1518, 1522, 1548,
	};
	unsigned int class = 0;

	while (class < SIZE_CLASSES - 1 && size > largest[class])
		class++;
	return class;
}

static bool is_tagged(const uint8_t *frame)
{
	return frame[12] == ETHERTYPE_VLAN >> 8 && frame[13] == (ETHERTYPE_VLAN & 0xff);
}

static unsigned int priority(const uint8_t *frame)
{
	return is_tagged(frame) ? frame[14] >> PRIORITY_SHIFT : NO_VLAN;
}

static void count_octets(struct octet_statistics *octets, size_t size)
{
	octets->framed += size + CRC_SIZE;
	octets->unframed += size;
	octets->good += size + CRC_SIZE;
}

static void count_frame(struct frame_statistics *frames, const uint8_t *frame)
{
	frames->all++;
	frames->tagged += is_tagged(frame);
}

void statistics_count_rx(struct port_statistics *statistics, const uint8_t *frame, size_t size)
{
	unsigned int p = priority(frame);
	uint64_t *casts[] = {
		[FRAME_UNICAST] = statistics->rx_unicast,
		[FRAME_MULTICAST] = statistics->rx_multicast,
		[FRAME_BROADCAST] = statistics->rx_broadcast,
	};

	casts[frame_cast(frame)][p]++;
	statistics->rx_sizes[size_class(size + CRC_SIZE)][p]++;
	count_octets(&statistics->rx_octets[p], size);
	count_frame(&statistics->rx_frames[p], frame);
	statistics->rx_good++;
}

void statistics_count_tx(struct port_statistics *statistics, const uint8_t *frame, size_t size)
{
	size_t on_wire = size < SHORTEST_FRAME ? SHORTEST_FRAME : size;
	unsigned int p = priority(frame);
	uint64_t *casts[] = {
		[FRAME_UNICAST] = statistics->tx_unicast,
		[FRAME_MULTICAST] = statistics->tx_multicast,
		[FRAME_BROADCAST] = statistics->tx_broadcast,
	};

	casts[frame_cast(frame)][p]++;
	statistics->tx_sizes[size_class(on_wire + CRC_SIZE)][p]++;
	count_octets(&statistics->tx_octets[p], on_wire);
	count_frame(&statistics->tx_frames[p], frame);
}

size_t statistics_dump(const struct port_statistics *statistics, uint8_t *answer)
{
	const uint8_t *from = (const uint8_t *)statistics;
	size_t at = 0;

	for (; at < FIRST_WORD32; at += sizeof(uint64_t)) {
		uint64_t value;
		be64 swapped;

		memcpy(&value, from + at, sizeof(value));
		swapped = to_be64(value);
		memcpy(answer + at, &swapped, sizeof(swapped));
	}
	for (; at + sizeof(uint32_t) <= offsetof(struct port_statistics, tx_dropped) + 4;
	     at += sizeof(uint32_t)) {
		uint32_t value;
		be32 swapped;

		memcpy(&value, from + at, sizeof(value));
		swapped = to_be32(value);
		memcpy(answer + at, &swapped, sizeof(swapped));
	}
	return at;
}
