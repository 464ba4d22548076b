/* SPDX-License-Identifier: GPL-2.0 */
/* What the port counts, as DUMP_ETH_STATS has it: en_port.h:struct mlx4_en_stat_out_mbox. */
#ifndef STATISTICS_H
#define STATISTICS_H

#include <stddef.h>
#include <stdint.h>

/* By priority of the VLAN tag, then those without a tag; when sending also those looped back. */
#define RX_PRIORITIES	9
#define TX_PRIORITIES	10
#define NO_VLAN		8

/* Ranges of frame sizes that are counted apart. */
enum size_class {
	SIZE_64,
	SIZE_127,
	SIZE_255,
	SIZE_511,
	SIZE_1023,
	SIZE_1518,
	SIZE_1522,
	SIZE_1548,
	SIZE_MTU,
	SIZE_CLASSES,
};

struct octet_statistics {
	uint64_t framed;
	uint64_t unframed;
	uint64_t good;
};

struct frame_statistics {
	uint64_t all;
	uint64_t tagged;
	uint64_t reserved;
};

/* All of 64 bits, and as a table they are handed out; drops are of 32 bits and follow. */
struct port_statistics {
	uint64_t rx_sizes[SIZE_CLASSES][RX_PRIORITIES];
	uint64_t rx_giant[RX_PRIORITIES];
	uint64_t rx_broadcast[RX_PRIORITIES];
	uint64_t rx_multicast[RX_PRIORITIES];
	uint64_t rx_unicast[RX_PRIORITIES];
	struct octet_statistics rx_octets[RX_PRIORITIES];
	struct frame_statistics rx_frames[RX_PRIORITIES];
	uint64_t rx_control;
	uint64_t reserved[3];
	uint64_t rx_in_range_length;
	uint64_t rx_out_range_length;
	uint64_t rx_too_long;
	uint64_t rx_pcs_errors;
	uint64_t tx_sizes[SIZE_CLASSES][TX_PRIORITIES];
	uint64_t tx_giant[TX_PRIORITIES];
	uint64_t tx_broadcast[TX_PRIORITIES];
	uint64_t tx_multicast[TX_PRIORITIES];
	uint64_t tx_unicast[TX_PRIORITIES];
	struct octet_statistics tx_octets[TX_PRIORITIES];
	struct frame_statistics tx_frames[TX_PRIORITIES];
	uint32_t rx_jabber;
	uint32_t rx_crc_errors;
	uint32_t rx_runts;
	uint32_t rx_short;
	uint32_t rx_dropped;
	uint32_t rx_overflow;
	uint32_t rx_length_errors;
	uint32_t rx_good;
	uint32_t tx_dropped;
};

/* The tag, if there is one, is in the frame. */
void statistics_count_rx(struct port_statistics *statistics, const uint8_t *frame, size_t size);
void statistics_count_tx(struct port_statistics *statistics, const uint8_t *frame, size_t size);

/* As the driver wants it, big-endian. Returns the size. */
size_t statistics_dump(const struct port_statistics *statistics, uint8_t *answer);

#endif
