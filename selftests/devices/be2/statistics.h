/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hardware statistics, which are counted in version 0, the BladeEngine 2's: struct be_hw_stats_v0
 * of be_cmds.h. The BladeEngine 3 answers with version 1.
 */
#ifndef STATISTICS_H
#define STATISTICS_H

#include <stddef.h>
#include <stdint.h>

#include "command.h"

#define STATISTICS_PORTS	2
#define STATISTICS_RX_RINGS	44

/* Ranges of frame sizes that are counted apart. */
enum size_class {
	SIZE_64,
	SIZE_65_127,
	SIZE_128_255,
	SIZE_256_511,
	SIZE_512_1023,
	SIZE_1024_1518,
	SIZE_1519_2047,
	SIZE_2048_4095,
	SIZE_4096_8191,
	SIZE_8192_9216,
	SIZE_CLASSES,
};

/* struct be_port_rxf_stats_v0 */
struct port_statistics {
	uint32_t rx_bytes[2];
	uint32_t rx_frames;
	uint32_t rx_cast[3];		/* by enum frame_cast */
	uint32_t rx_crc_errors;
	uint32_t rx_alignment_errors;
	uint32_t rx_pause_frames;
	uint32_t rx_control_frames;
	uint32_t rx_in_range_errors;
	uint32_t rx_out_range_errors;
	uint32_t rx_too_long;
	uint32_t rx_address_filtered;
	uint32_t rx_vlan_filtered;
	uint32_t rx_too_small;
	uint32_t rx_too_short;
	uint32_t rx_header_too_small;
	uint32_t rx_tcp_length;
	uint32_t rx_runts;
	uint32_t rx_sizes[SIZE_CLASSES];
	uint32_t rx_ip_checksum_errors;
	uint32_t rx_tcp_checksum_errors;
	uint32_t rx_udp_checksum_errors;
	uint32_t rx_non_rss;
	uint32_t rx_ipv4;
	uint32_t rx_ipv6;
	uint32_t rx_ipv4_bytes[2];
	uint32_t rx_ipv6_bytes[2];
	uint32_t rx_chutes[3];
	uint32_t rx_management;
	uint32_t rx_switched[3];
	uint32_t tx_bytes[2];
	uint32_t tx_cast[3];
	uint32_t tx_pause_frames;
	uint32_t tx_control_frames;
	uint32_t tx_sizes[SIZE_CLASSES];
	uint32_t rx_fifo_overflow;
	uint32_t rx_input_fifo_overflow;
};

/* struct be_hw_stats_v0, be_rxf_stats_v0, be_erx_stats_v0, be_pmem_stats */
struct hardware_statistics {
	struct port_statistics port[STATISTICS_PORTS];
	uint32_t rx_drops_no_pbuf;
	uint32_t rx_drops_no_txpb;
	uint32_t rx_drops_no_erx_descriptor;
	uint32_t rx_drops_no_tpre_descriptor;
	uint32_t management[8];
	uint32_t rx_drops_too_many_fragments;
	uint32_t rx_drops_invalid_ring;
	uint32_t forwarded;
	uint32_t rx_drops_mtu;
	uint32_t reserved[7];
	uint32_t jabber[STATISTICS_PORTS];
	uint32_t reserved2[6];
	uint32_t reserved3[48];
	uint32_t rx_drops_no_fragments[STATISTICS_RX_RINGS];
	uint32_t reserved4[4];
	uint32_t red_drops;
	uint32_t reserved5[5];
};

_Static_assert(offsetof(struct port_statistics, rx_ip_checksum_errors) == 30 * 4, "be_cmds.h");
_Static_assert(offsetof(struct port_statistics, tx_bytes) == 47 * 4, "be_cmds.h");
_Static_assert(offsetof(struct port_statistics, rx_input_fifo_overflow) == 65 * 4, "be_cmds.h");
_Static_assert(offsetof(struct hardware_statistics, rx_drops_mtu) == 147 * 4, "be_cmds.h");

struct statistics_response {
	struct response_header header;
	struct hardware_statistics statistics;
};

#define STATISTICS_V1_PORTS	4
#define STATISTICS_V1_RX_RINGS	68

/* struct be_port_rxf_stats_v1 */
struct port_statistics_v1 {
	uint32_t reserved[12];
	uint32_t rx_crc_errors;
	uint32_t rx_alignment_errors;
	uint32_t rx_pause_frames;
	uint32_t rx_priority_pause_frames;
	uint32_t rx_control_frames;
	uint32_t rx_in_range_errors;
	uint32_t rx_out_range_errors;
	uint32_t rx_too_long;
	uint32_t rx_address_filtered;	/* the VLAN's, too */
	uint32_t rx_too_small;
	uint32_t rx_too_short;
	uint32_t rx_header_too_small;
	uint32_t rx_tcp_length;
	uint32_t rx_runts;
	uint32_t reserved2[10];
	uint32_t rx_ip_checksum_errors;
	uint32_t rx_tcp_checksum_errors;
	uint32_t rx_udp_checksum_errors;
	uint32_t reserved3[33];
};

/* struct be_hw_stats_v1, be_rxf_stats_v1, be_erx_stats_v1, be_pmem_stats */
struct hardware_statistics_v1 {
	struct port_statistics_v1 port[STATISTICS_V1_PORTS];
	uint32_t reserved[2];
	uint32_t rx_drops_no_pbuf;
	uint32_t rx_drops_no_txpb;
	uint32_t rx_drops_no_erx_descriptor;
	uint32_t rx_drops_no_tpre_descriptor;
	uint32_t reserved2[6];
	uint32_t rx_drops_too_many_fragments;
	uint32_t rx_drops_invalid_ring;
	uint32_t forwarded;
	uint32_t rx_drops_mtu;
	uint32_t reserved3[14];
	uint32_t reserved4[48];
	uint32_t rx_drops_no_fragments[STATISTICS_V1_RX_RINGS];
	uint32_t reserved5[4];
	uint32_t red_drops;
	uint32_t reserved6[23];
};

_Static_assert(offsetof(struct port_statistics_v1, rx_ip_checksum_errors) == 36 * 4, "be_cmds.h");
_Static_assert(sizeof(struct port_statistics_v1) == 72 * 4, "be_cmds.h");
_Static_assert(offsetof(struct hardware_statistics_v1, rx_drops_no_fragments) == 366 * 4,
	       "be_cmds.h");

struct statistics_response_v1 {
	struct response_header header;
	struct hardware_statistics_v1 statistics;
};

/* What version 1 has of what is counted; all else in it is zero already. */
void statistics_to_v1(const struct hardware_statistics *from, struct hardware_statistics_v1 *to);

void statistics_count_rx(struct port_statistics *port, const uint8_t *frame, size_t size);
void statistics_count_tx(struct port_statistics *port, const uint8_t *frame, size_t size);

#endif
