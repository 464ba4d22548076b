/* SPDX-License-Identifier: GPL-2.0 */
/* A model of a OneConnect 10 GbE adapter with the BladeEngine 2 or 3, one function, one port. */
#ifndef BE2_H
#define BE2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "command.h"
#include "control.h"
#include "frame.h"
#include "hw.h"
#include "statistics.h"
#include "vfu.h"
#include "wire.h"

/* The most that a chip has; be_main.c:BEx_get_resources() knows the numbers of queues. */
#define BE2_EQS			16
#define BE2_TX_RINGS		16
#define BE2_RX_RINGS		17
/* One for each ring, and one for commands. */
#define BE2_CQS			(BE2_TX_RINGS + BE2_RX_RINGS + 1)
#define BE2_MACS		32
#define BE2_RX_ENTRIES		1024
/* What a receive ring with 2 KiB fragments takes; the driver's largest MTU is 9000. */
#define BE2_LARGEST_RX		9216
#define BE2_LARGEST_STANDARD	(1500 + ETHERNET_HEADER + VLAN_TAG_SIZE)

/**
 * struct be2_chip - what tells one chip of the family from another
 * @name: for the command line
 * @device: PCI device ID
 * @pcicfg_bar: where the registers for the state of the chip are
 * @family: as configuration space says it
 * @eqs: event queues, each with an MSI-X vector
 * @tx_rings: transmit rings
 * @rx_rings: receive rings; when there are several, all but one are for RSS
 * @has_native_mode: can write receive completions of version 1
 * @statistics_version: of the answer to GET_STATISTICS
 */
struct be2_chip {
	const char *name;
	uint16_t device;
	unsigned int pcicfg_bar;
	unsigned int family;
	unsigned int eqs;
	unsigned int tx_rings;
	unsigned int rx_rings;
	bool has_native_mode;
	unsigned int statistics_version;
};

/**
 * struct be2_ring - a ring in guest memory
 * @exists: the driver has made it
 * @entries: number of entries
 * @entry_size: in bytes
 * @pages: where they are, a page of 4 KiB each
 * @next: entry that is written or read next; counts on, modulo @entries
 */
struct be2_ring {
	bool exists;
	uint32_t entries;
	uint32_t entry_size;
	uint64_t pages[RING_PAGES];
	uint32_t next;
};

/**
 * struct be2_eq - an event queue: tells which completion queue has something
 * @ring: of words
 * @pending: entries that the driver has not taken
 * @armed: the next event interrupts
 */
struct be2_eq {
	struct be2_ring ring;
	uint32_t pending;
	bool armed;
};

/**
 * struct be2_cq - a completion queue
 * @ring: of COMPLETION_WORDS words each
 * @eq: event queue that is told
 * @pending: entries that the driver has not taken
 * @armed: the next entry is told
 */
struct be2_cq {
	struct be2_ring ring;
	unsigned int eq;
	uint32_t pending;
	bool armed;
};

/**
 * struct be2_tx - a transmit ring
 * @ring: of struct tx_header and tx_fragment
 * @cq: where completions go
 * @posted: WRBs that the driver has announced and that have not been handled
 * @packets: that the driver has handed over here, since it was made
 */
struct be2_tx {
	struct be2_ring ring;
	unsigned int cq;
	uint32_t posted;
	uint64_t packets;
};

/**
 * struct be2_rx - a receive ring
 * @ring: of struct rx_buffer
 * @cq: where completions go
 * @posted: buffers that are free
 * @fragment_size: of each, in bytes
 * @is_rss: gets what the hash says; the one that does not gets the rest
 * @rss_id: its number in the table
 * @delivered: frames that the driver has got here, since it was made
 */
struct be2_rx {
	struct be2_ring ring;
	unsigned int cq;
	uint32_t posted;
	uint32_t fragment_size;
	bool is_rss;
	unsigned int rss_id;
	uint64_t delivered;
};

/**
 * struct be2_rss - which ring gets a frame
 * @hashes: RSS_HASH_*
 * @table_size: entries of @table in use, a power of two; 0 before there is one
 * @table: RSS numbers of rings
 * @key: of the hash
 */
struct be2_rss {
	unsigned int hashes;
	unsigned int table_size;
	uint8_t table[RSS_TABLE_SIZE];
	uint8_t key[RSS_KEY_SIZE];
};

/**
 * struct be2_mcc - the ring of commands
 * @ring: of struct command_wrb
 * @cq: where completions and asynchronous events go
 * @posted: commands that the driver has announced and that have not been executed
 * @async_events: those that the driver wants
 */
struct be2_mcc {
	struct be2_ring ring;
	unsigned int cq;
	uint32_t posted;
	uint32_t async_events;
};

/**
 * struct be2_filter - which frames the interface takes
 * @flags: INTERFACE_*
 * @mac_used: entries of @macs that hold an address
 * @macs: own addresses
 * @multicast_count: entries of @multicasts that hold one
 * @multicasts: groups
 * @vlans: bit map of VLAN IDs
 */
struct be2_filter {
	uint32_t flags;
	bool mac_used[BE2_MACS];
	uint8_t macs[BE2_MACS][MAC_SIZE];
	unsigned int multicast_count;
	uint8_t multicasts[FILTER_MULTICASTS][MAC_SIZE];
	uint32_t vlans[4096 / 32];
};

/**
 * struct be2_faults - how the model is to misbehave; stays over a reset
 * @ue_low: unrecoverable error bits
 * @ue_high: likewise
 * @firmware_hangs: no command is answered
 * @command_subsystem: of the command that fails
 * @command_opcode: of the command that fails
 * @command_status: what it fails with
 * @command_count: how many times
 * @tx_status: what transmit completions say
 * @tx_count: how many times
 * @lost_interrupts: interrupts that will not be sent
 */
struct be2_faults {
	uint32_t ue_low;
	uint32_t ue_high;
	bool firmware_hangs;
	unsigned int command_subsystem;
	unsigned int command_opcode;
	unsigned int command_status;
	unsigned int command_count;
	unsigned int tx_status;
	unsigned int tx_count;
	unsigned int lost_interrupts;
};

/**
 * struct be2_counters - what the tests ask for
 * @tx_packets: packets that the driver has handed over
 * @tx_frames: frames put on the wire
 * @tx_jumbo: those of them that are longer than an MTU of 1500 makes them
 * @tx_tso: packets that were cut into segments
 * @tx_tagged: packets that a VLAN tag was put into
 * @tx_checksums: packets whose checksum was put in
 * @tx_lost: frames that were lost as there was no link, or no room on the wire
 * @tx_malformed: packets whose descriptors contradict themselves: a bug of the driver
 * @rx_frames: frames that came in
 * @rx_delivered: those of them that the driver got
 * @rx_hashed: those of the delivered ones that the hash of RSS chose the ring for
 * @rx_tagged: those of the delivered ones that a VLAN tag was taken out of
 * @rx_no_buffer: those that were lost as the driver had given no buffer
 * @rx_filtered: those that the filter kept out
 * @rx_not_ready: those that came while the driver had no ring, and those too long for one
 * @commands: commands executed
 * @commands_unknown: those that the model does not know
 * @overflows: completions or events lost as the driver's queue was full: a bug of the driver
 */
struct be2_counters {
	uint64_t tx_packets;
	uint64_t tx_frames;
	uint64_t tx_jumbo;
	uint64_t tx_tso;
	uint64_t tx_tagged;
	uint64_t tx_checksums;
	uint64_t tx_lost;
	uint64_t tx_malformed;
	uint64_t rx_frames;
	uint64_t rx_delivered;
	uint64_t rx_hashed;
	uint64_t rx_tagged;
	uint64_t rx_no_buffer;
	uint64_t rx_filtered;
	uint64_t rx_not_ready;
	uint64_t commands;
	uint64_t commands_unknown;
	uint64_t overflows;
};

/**
 * struct be2 - the adapter
 * @chip: which of the family
 * @vfu: the PCI device
 * @wire: what the port is plugged into
 * @control: who asks for counters
 * @mac: the address that it was made with
 * @link_is_up: there is light
 * @mailbox_address: of the mailbox, as far as it was written
 * @eqs: event queues; the number is that of the MSI-X vector, too
 * @cqs: completion queues
 * @tx: transmit rings
 * @rx: receive rings
 * @rss: which of those gets a frame
 * @is_native: receive completions are of version 1
 * @mcc: the command ring
 * @filter: what is received
 * @flow_control: as set, tx and rx
 * @statistics: what the hardware counts for the driver
 * @firmware_timer: a timerfd; once it is due, the firmware turns to the commands in the ring
 * @firmware_delay_us: how long it takes to do so, in microseconds
 * @faults: how to misbehave
 * @counters: what is counted for tests
 * @frame: the packet being sent, with room for a VLAN tag
 * @received: the frame being received
 */
struct be2 {
	const struct be2_chip *chip;
	struct vfu *vfu;
	struct wire wire;
	struct control control;
	uint8_t mac[MAC_SIZE];
	bool link_is_up;
	uint64_t mailbox_address;
	struct be2_eq eqs[BE2_EQS];
	struct be2_cq cqs[BE2_CQS];
	struct be2_tx tx[BE2_TX_RINGS];
	struct be2_rx rx[BE2_RX_RINGS];
	struct be2_rss rss;
	bool is_native;
	struct be2_mcc mcc;
	struct be2_filter filter;
	uint16_t flow_control[2];
	struct hardware_statistics statistics;
	int firmware_timer;
	unsigned int firmware_delay_us;
	struct be2_faults faults;
	struct be2_counters counters;
	uint8_t frame[LARGEST_FRAME];
	uint8_t received[LARGEST_FRAME];
};

/* chip.c: NULL when there is none of that name. */
const struct be2_chip *be2_find_chip(const char *name);

/* registers.c: the PCI device of be2->chip. Returns it, or NULL with errno. */
struct vfu *be2_create_device(struct be2 *be2);

/* As after power-on, but for link, faults and counters. */
void be2_reset(struct be2 *be2);

/*
 * queue.c: entries is a power of two. Returns false when the ring needs more pages than there are.
 */
bool be2_ring_init(struct be2_ring *ring, uint32_t entries, uint32_t entry_size,
		   const struct page_address *pages, unsigned int page_count);
uint64_t be2_ring_address(const struct be2_ring *ring, uint32_t index);

void be2_complete(struct be2 *be2, unsigned int cq, const uint32_t words[COMPLETION_WORDS],
		  unsigned int valid_word);
void be2_event_doorbell(struct be2 *be2, uint32_t value);

/* mailbox.c: commands out of guest memory, and answers back in. */
void be2_mailbox_doorbell(struct be2 *be2, uint32_t value);
void be2_mcc_doorbell(struct be2 *be2, uint32_t value);
void be2_mcc_run(struct be2 *be2);

/*
 * command.c: executes what is in payload, in place. Returns the status, and in *size how much of
 * the payload is the answer.
 */
enum command_status be2_execute(struct be2 *be2, uint8_t *payload, size_t *size);

/* transmit.c */
void be2_tx_doorbell(struct be2 *be2, uint32_t value);
bool be2_tx_is_waiting(const struct be2 *be2);
void be2_tx_run(struct be2 *be2);

/* receive.c */
void be2_rx_doorbell(struct be2 *be2, uint32_t value);
void be2_receive(struct be2 *be2, uint8_t *frame, size_t size);
void be2_rx_flush(struct be2 *be2, struct be2_rx *rx);

/*
 * rss.c: the ring for a frame, which may not exist. Returns true with the hash when that was the
 * reason.
 */
bool be2_rss_choose(const struct be2 *be2, const uint8_t *frame,
		    const struct frame_headers *headers, unsigned int *ring, uint32_t *hash);

/* filter.c */
bool be2_filter_takes(struct be2 *be2, const uint8_t *frame, const struct frame_headers *headers);
int be2_filter_add_mac(struct be2_filter *filter, const uint8_t *mac);
void be2_filter_set_vlans(struct be2_filter *filter, const uint16_t *vlans, unsigned int count);

/* link.c */
void be2_set_link(struct be2 *be2, bool is_up);

/* faults.c: what the control socket offers. */
extern const struct control_command be2_commands[];
void be2_print_counters(void *model, FILE *answer);

#endif
