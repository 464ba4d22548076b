/* SPDX-License-Identifier: GPL-2.0 */
/* A model of a ConnectX-3 adapter: one function, one Ethernet port. */
#ifndef CONNECTX3_H
#define CONNECTX3_H

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

#define CX3_VECTORS		16
#define CX3_LOG_EQS		6
#define CX3_EQS			BIT(CX3_LOG_EQS)
#define CX3_CQS			128
#define CX3_QPS			192
#define CX3_MRS			64
#define CX3_GROUPS		128
/* The driver's largest MTU, and what QUERY_PORT says. */
#define CX3_LARGEST_MTU		9600
#define CX3_LARGEST_STANDARD	(1500 + ETHERNET_HEADER + VLAN_TAG_SIZE)

/**
 * enum cx3_blueflame_mode - what the BlueFlame half of the UAR BAR is
 * @BLUEFLAME_OFF: the capability says that there is none
 * @BLUEFLAME_TRAPPED: each store is a message, exact and in order
 * @BLUEFLAME_MAPPED: memory that the guest shares with the model, which looks there now and then
 */
enum cx3_blueflame_mode {
	BLUEFLAME_OFF,
	BLUEFLAME_TRAPPED,
	BLUEFLAME_MAPPED,
};

/**
 * struct cx3_icm_range - a part of the chip's virtual memory (ICM), which is the guest's
 * @address: in the ICM
 * @memory: in the guest
 * @size: in bytes
 */
struct cx3_icm_range {
	uint64_t address;
	uint64_t memory;
	uint64_t size;
};

/**
 * struct cx3_icm - all of it
 * @ranges: in the order of their addresses, without overlap
 * @count: of them
 * @capacity: for how many there is room
 * @mtt_base: where the table of translations begins: what contexts say is an offset to it
 */
struct cx3_icm {
	struct cx3_icm_range *ranges;
	size_t count;
	size_t capacity;
	uint64_t mtt_base;
};

/**
 * struct cx3_buffer - memory that is in pages anywhere, which the translation table lists
 * @mtt: offset of its first entry in the table
 * @page_shift: log2 of the size of a page
 */
struct cx3_buffer {
	uint64_t mtt;
	unsigned int page_shift;
};

/**
 * struct cx3_eq - an event queue
 * @exists: the driver has given it to the chip
 * @buffer: of struct event
 * @log_size: log2 of the number of entries
 * @vector: which MSI-X vector tells of events
 * @producer: entry that is written next; counts on
 * @consumer: as the driver has said
 * @armed: the next event interrupts
 */
struct cx3_eq {
	bool exists;
	struct cx3_buffer buffer;
	unsigned int log_size;
	unsigned int vector;
	uint32_t producer;
	uint32_t consumer;
	bool armed;
};

/**
 * struct cx3_cq - a completion queue
 * @exists: the driver has given it to the chip
 * @number: as the driver says it
 * @buffer: of struct completion
 * @log_size: log2 of the number of entries
 * @eqn: event queue that is told
 * @doorbell_record: address of the consumer index
 * @producer: entry that is written next; counts on
 * @armed: the next completion is told
 */
struct cx3_cq {
	bool exists;
	uint32_t number;
	struct cx3_buffer buffer;
	unsigned int log_size;
	unsigned int eqn;
	uint64_t doorbell_record;
	uint32_t producer;
	bool armed;
};

/**
 * struct cx3_work_queue - one direction of a queue pair
 * @offset: in the buffer
 * @log_size: log2 of the number of entries
 * @log_stride: log2 of the size of an entry
 * @next: entry that is handled next; counts on
 * @cqn: completion queue
 */
struct cx3_work_queue {
	uint64_t offset;
	unsigned int log_size;
	unsigned int log_stride;
	uint32_t next;
	uint32_t cqn;
};

/* What a queue pair may do: enum mlx4_qp_state. */
enum cx3_qp_state {
	QP_INIT = 1,
	QP_READY_TO_RECEIVE = 2,
	QP_READY_TO_SEND = 3,
	QP_ERROR = 6,
};

/**
 * struct cx3_announced - a descriptor that came by BlueFlame and waits to be executed
 * @is_there: there is one
 * @index: of its first block in the send queue
 * @size: in bytes
 * @bytes: of it
 */
struct cx3_announced {
	bool is_there;
	uint16_t index;
	unsigned int size;
	uint8_t bytes[BLUEFLAME_BUFFER];
};

/**
 * struct cx3_qp - a queue pair
 * @exists: the driver has given it to the chip
 * @number: as the driver says it
 * @state: as the driver has it
 * @context: as it was given
 * @pd: protection domain
 * @uar: page of its doorbells
 * @buffer: of both queues
 * @send: descriptors to be sent
 * @receive: descriptors of free buffers
 * @doorbell_record: address of the receive queue's producer index
 * @has_doorbell: a doorbell has been rung, and not all that lies in the queue is executed
 * @announced: what came by BlueFlame
 * @has_blueflame: there was a BlueFlame write ever
 * @last_blueflame: index of the last one
 */
struct cx3_qp {
	bool exists;
	uint32_t number;
	enum cx3_qp_state state;
	struct qp_context context;
	uint32_t pd;
	unsigned int uar;
	struct cx3_buffer buffer;
	struct cx3_work_queue send;
	struct cx3_work_queue receive;
	uint64_t doorbell_record;
	bool has_doorbell;
	struct cx3_announced announced;
	bool has_blueflame;
	uint16_t last_blueflame;
};

/**
 * struct cx3_mr - a region of memory that descriptors may name
 * @exists: the driver has given it to the chip
 * @index: that with which its key begins
 * @pd: protection domain
 * @is_physical: addresses are those of the bus
 * @start: first address
 * @length: in bytes
 * @buffer: its pages
 */
struct cx3_mr {
	bool exists;
	uint32_t index;
	uint32_t pd;
	bool is_physical;
	uint64_t start;
	uint64_t length;
	struct cx3_buffer buffer;
};

/**
 * struct cx3_blueflame - half a BlueFlame register
 * @written: bit map of the words that were stored since the last whole descriptor
 * @end: offset behind the last store
 * @bytes: what was stored
 */
struct cx3_blueflame {
	uint64_t written;
	unsigned int end;
	uint8_t bytes[BLUEFLAME_BUFFER];
};

/**
 * struct cx3_port - the port, and which frames it takes
 * @has_light: the cable is plugged in
 * @is_open: the driver has initialized it
 * @largest_frame: that is received, without the checksum
 * @macs: table of own addresses; 0 is none
 * @base_qpn: queue pair of the first of them; the others' follow
 * @promiscuous_qpn: queue pair for what is nobody's, if @is_promiscuous
 * @is_promiscuous: take it
 * @multicast_qpn: queue pair for groups
 * @takes_multicast: there is one
 * @filters_multicast: only the groups in @groups
 * @groups: as they were listed
 * @group_count: of them
 * @vlans: bit map of VLAN IDs
 */
struct cx3_port {
	bool has_light;
	bool is_open;
	size_t largest_frame;
	uint64_t macs[PORT_MACS];
	uint32_t base_qpn;
	uint32_t promiscuous_qpn;
	bool is_promiscuous;
	uint32_t multicast_qpn;
	bool takes_multicast;
	bool filters_multicast;
	uint64_t groups[CX3_GROUPS];
	unsigned int group_count;
	uint32_t vlans[VLAN_FILTER_WORDS];
};

/**
 * struct cx3_faults - how the model is to misbehave; stays over a reset
 * @error_buffer: first word of the internal-error buffer; a reset of the chip clears it
 * @command_opcode: of the command that fails
 * @command_status: what it fails with
 * @command_count: how many times
 * @tx_syndrome: what send completions say
 * @tx_count: how many times
 * @rx_syndrome: what receive completions say
 * @rx_count: how many times
 * @torn_count: how many BlueFlame writes arrive in pieces
 */
struct cx3_faults {
	uint32_t error_buffer;
	unsigned int command_opcode;
	unsigned int command_status;
	unsigned int command_count;
	unsigned int tx_syndrome;
	unsigned int tx_count;
	unsigned int rx_syndrome;
	unsigned int rx_count;
	unsigned int torn_count;
};

/**
 * struct cx3_counters - what the tests ask for
 * @tx_packets: packets that the driver has handed over
 * @tx_frames: frames put on the wire
 * @tx_jumbo: those of them that are longer than an MTU of 1500 makes them
 * @tx_tso: packets that were cut into segments
 * @tx_tagged: packets that a VLAN tag was put into
 * @tx_checksums: packets whose checksum was put in
 * @tx_inline: packets that were in the descriptor
 * @tx_nops: descriptors that did nothing
 * @tx_lost: frames that were lost as there was no link, or no room on the wire
 * @tx_malformed: descriptors that contradict themselves: a bug of the driver
 * @tx_by_blueflame: descriptors executed as they came by BlueFlame
 * @tx_by_doorbell: descriptors fetched from the queue, as a doorbell told of them, as a later one
 *	came by BlueFlame, or as a BlueFlame write could not be used
 * @doorbells: send doorbells
 * @doorbells_unknown: those for a queue pair that cannot send: a bug of the driver
 * @blueflame_stores: stores to BlueFlame registers, as far as they are messages
 * @blueflame_whole: descriptors that came whole
 * @blueflame_torn: descriptors that came in pieces
 * @blueflame_unordered_stores: stores of one that was not made in ascending order
 * @blueflame_duplicated: descriptors that came twice: a bug of the driver
 * @blueflame_reordered: descriptors that came after a later one, or before an earlier one was in
 *	the queue: a bug of the driver
 * @blueflame_stale: descriptors that had been fetched from the queue already
 * @blueflame_busy: descriptors that came before the last was executed; they were fetched
 * @blueflame_different: descriptors that were not the same in the queue: a bug of the driver
 * @blueflame_rejected: descriptors for a queue pair that must not use BlueFlame: a bug of the
 *	driver
 * @rx_frames: frames that came in
 * @rx_delivered: those of them that the driver got
 * @rx_tagged: those of the delivered ones that a VLAN tag was taken out of
 * @rx_no_buffer: those that were lost as the driver had given no buffer
 * @rx_filtered: those that the filter kept out
 * @rx_not_ready: those that came while the driver had no queue, and those too long for one
 * @commands: commands executed
 * @commands_unknown: those that the model does not know
 * @icm_unmapped: accesses to the chip's virtual memory where there is none: a bug of the driver
 * @bad_keys: segments whose memory key did not allow the access: a bug of the driver
 * @overflows: completions or events lost as the driver's queue was full: a bug of the driver
 */
struct cx3_counters {
	uint64_t tx_packets;
	uint64_t tx_frames;
	uint64_t tx_jumbo;
	uint64_t tx_tso;
	uint64_t tx_tagged;
	uint64_t tx_checksums;
	uint64_t tx_inline;
	uint64_t tx_nops;
	uint64_t tx_lost;
	uint64_t tx_malformed;
	uint64_t tx_by_blueflame;
	uint64_t tx_by_doorbell;
	uint64_t doorbells;
	uint64_t doorbells_unknown;
	uint64_t blueflame_stores;
	uint64_t blueflame_whole;
	uint64_t blueflame_torn;
	uint64_t blueflame_unordered_stores;
	uint64_t blueflame_duplicated;
	uint64_t blueflame_reordered;
	uint64_t blueflame_stale;
	uint64_t blueflame_busy;
	uint64_t blueflame_different;
	uint64_t blueflame_rejected;
	uint64_t rx_frames;
	uint64_t rx_delivered;
	uint64_t rx_tagged;
	uint64_t rx_no_buffer;
	uint64_t rx_filtered;
	uint64_t rx_not_ready;
	uint64_t commands;
	uint64_t commands_unknown;
	uint64_t icm_unmapped;
	uint64_t bad_keys;
	uint64_t overflows;
};

/**
 * struct cx3 - the adapter
 * @vfu: the PCI device
 * @wire: what the port is plugged into
 * @control: who asks for counters
 * @mac: the address that it was made with
 * @blueflame_mode: what the BlueFlame half of the BAR is
 * @is_vf: capabilities are as a virtual function would see them
 * @hcr: the command register, as written and answered
 * @icm: the chip's virtual memory
 * @log_qps: log2 of the number of queue pairs, which their numbers are taken modulo
 * @log_cqs: likewise for completion queues
 * @log_mpts: likewise for memory regions
 * @eqs: event queues, by number
 * @event_eqs: the event queue for each type of event; -1 when nobody wants it
 * @cqs: completion queues
 * @qps: queue pairs
 * @mrs: memory regions
 * @blueflame: halves of BlueFlame registers
 * @port: the port
 * @statistics: what the port counts for the driver
 * @faults: how to misbehave
 * @counters: what is counted for tests
 * @command: the one being executed
 * @frame: the packet being sent, with room for a VLAN tag
 * @received: the frame being received
 */
struct cx3 {
	struct vfu *vfu;
	struct wire wire;
	struct control control;
	uint8_t mac[MAC_SIZE];
	enum cx3_blueflame_mode blueflame_mode;
	bool is_vf;
	be32 hcr[HCR_WORDS];
	struct cx3_icm icm;
	unsigned int log_qps;
	unsigned int log_cqs;
	unsigned int log_mpts;
	struct cx3_eq eqs[CX3_EQS];
	int event_eqs[EVENT_TYPES];
	struct cx3_cq cqs[CX3_CQS];
	struct cx3_qp qps[CX3_QPS];
	struct cx3_mr mrs[CX3_MRS];
	struct cx3_blueflame blueflame[BLUEFLAME_BUFFERS];
	struct cx3_port port;
	struct port_statistics statistics;
	struct cx3_faults faults;
	struct cx3_counters counters;
	struct command command;
	uint8_t frame[LARGEST_FRAME];
	uint8_t received[LARGEST_FRAME];
};

/* registers.c: the PCI device. Returns it, or NULL with errno. */
struct vfu *cx3_create_device(struct cx3 *cx3);

/* As after power-on, but for the cable, faults and counters. */
void cx3_reset(struct cx3 *cx3);

/* hcr.c: the command register. */
uint32_t cx3_hcr_read(const struct cx3 *cx3, unsigned int word);
void cx3_hcr_write(struct cx3 *cx3, unsigned int word, uint32_t value);

/* command.c */
enum command_status cx3_execute(struct cx3 *cx3, struct command *command);

/* capability.c: what the driver asks before it begins. */
enum command_status cx3_query_firmware(struct cx3 *cx3, struct command *command);
enum command_status cx3_query_capabilities(struct cx3 *cx3, struct command *command);
enum command_status cx3_query_port(struct cx3 *cx3, struct command *command);

/* icm.c: the chip's virtual memory, and buffers that it describes. */
void cx3_icm_exit(struct cx3 *cx3);
enum command_status cx3_icm_map(struct cx3 *cx3, struct command *command);
enum command_status cx3_icm_unmap(struct cx3 *cx3, struct command *command);

/*
 * The address of what is at the offset in a buffer, and in *here how much of it is in one piece.
 * Returns false when the translation is not there.
 */
bool cx3_buffer_address(struct cx3 *cx3, const struct cx3_buffer *buffer, uint64_t offset,
			uint64_t *address, size_t *here);
bool cx3_buffer_read(struct cx3 *cx3, const char *what, const struct cx3_buffer *buffer,
		     uint64_t offset, void *data, size_t size);
bool cx3_buffer_write(struct cx3 *cx3, const char *what, const struct cx3_buffer *buffer,
		      uint64_t offset, const void *data, size_t size);

/* Writes an entry of 32 bytes; its last word, with the owner bit, only when all else is visible. */
bool cx3_buffer_publish(struct cx3 *cx3, const char *what, const struct cx3_buffer *buffer,
			uint64_t offset, const void *entry);

/* Makes the chip the owner of all entries of 32 bytes, as it does when it is given a queue. */
bool cx3_buffer_take(struct cx3 *cx3, const struct cx3_buffer *buffer, unsigned int log_size);

/* memory.c: regions that descriptors may name. */
enum command_status cx3_mr_create(struct cx3 *cx3, struct command *command);
enum command_status cx3_mr_destroy(struct cx3 *cx3, struct command *command);
bool cx3_mr_read(struct cx3 *cx3, const char *what, uint32_t pd, const struct wqe_data *segment,
		 void *data, size_t size);
bool cx3_mr_write(struct cx3 *cx3, const char *what, uint32_t pd, const struct wqe_data *segment,
		  const void *data, size_t size);

/* event.c: event queues. */
enum command_status cx3_eq_create(struct cx3 *cx3, struct command *command);
enum command_status cx3_eq_destroy(struct cx3 *cx3, struct command *command);
enum command_status cx3_eq_map_events(struct cx3 *cx3, struct command *command);
void cx3_eq_doorbell(struct cx3 *cx3, unsigned int number, uint32_t value);

/* To the queue that wants events of its type. */
void cx3_async_event(struct cx3 *cx3, const struct event *event);
void cx3_event(struct cx3 *cx3, unsigned int eqn, const struct event *event);

/* completion.c: completion queues. */
enum command_status cx3_cq_create(struct cx3 *cx3, struct command *command);
enum command_status cx3_cq_destroy(struct cx3 *cx3, struct command *command);
enum command_status cx3_cq_modify(struct cx3 *cx3, struct command *command);
void cx3_cq_doorbell(struct cx3 *cx3, uint32_t number, uint32_t consumer);

/* entry: struct completion or error_completion, without the owner bit. */
void cx3_complete(struct cx3 *cx3, uint32_t cqn, const void *entry);
void cx3_complete_error(struct cx3 *cx3, uint32_t cqn, const struct cx3_qp *qp, uint16_t index,
			enum syndrome syndrome, bool is_send);

/* qp.c: queue pairs. */
enum command_status cx3_qp_init(struct cx3 *cx3, struct command *command);
enum command_status cx3_qp_modify(struct cx3 *cx3, struct command *command);
enum command_status cx3_qp_query(struct cx3 *cx3, struct command *command);
struct cx3_qp *cx3_qp_find(struct cx3 *cx3, uint32_t number);

/* transmit.c */
void cx3_tx_doorbell(struct cx3 *cx3, uint32_t number);

/* The queue pair, if it can send; NULL, and counted, if not. */
struct cx3_qp *cx3_tx_find(struct cx3 *cx3, uint32_t number);

/* All that is in the queue is to be sent. */
void cx3_tx_ring(struct cx3 *cx3, struct cx3_qp *qp);

/* That descriptor is to be sent, and what precedes it; at most BLUEFLAME_BUFFER bytes. */
void cx3_tx_announce(struct cx3 *cx3, struct cx3_qp *qp, uint16_t index, const uint8_t *wqe,
		     size_t size);

/* Whether that descriptor is in the send queue, at that index. */
bool cx3_tx_is_in_queue(struct cx3 *cx3, const struct cx3_qp *qp, uint16_t index,
			const uint8_t *wqe, size_t size);
bool cx3_tx_is_waiting(const struct cx3 *cx3);
void cx3_tx_run(struct cx3 *cx3);

/* send.c: one descriptor. */
enum syndrome cx3_send(struct cx3 *cx3, const struct cx3_qp *qp, const uint8_t *wqe, size_t size,
		       size_t *sent);

/* blueflame.c */
void cx3_blueflame_store(struct cx3 *cx3, uint64_t offset, unsigned int size, uint64_t value);

/* Looks for what the guest has stored where there are no messages. */
void cx3_blueflame_poll(struct cx3 *cx3);

/* How many halves of registers hold a descriptor that is not whole. */
unsigned int cx3_blueflame_pending(const struct cx3 *cx3);

/* port.c */
enum command_status cx3_port_open(struct cx3 *cx3, struct command *command);
enum command_status cx3_port_close(struct cx3 *cx3, struct command *command);
enum command_status cx3_port_set(struct cx3 *cx3, struct command *command);
enum command_status cx3_port_set_vlans(struct cx3 *cx3, struct command *command);
enum command_status cx3_port_set_multicast(struct cx3 *cx3, struct command *command);
bool cx3_port_is_up(const struct cx3_port *port);
void cx3_set_light(struct cx3 *cx3, bool has_light);

/* filter.c: whether a frame is taken, and by which queue pair. */
bool cx3_filter_takes(struct cx3 *cx3, const uint8_t *frame, const struct frame_headers *headers,
		      uint32_t *qpn);

/*
 * spread.c: the queue pair that gets the frame, out of those that the context spreads frames over,
 * and the Toeplitz hash that chose it.
 */
uint32_t cx3_spread(const struct qp_context *context, const uint8_t *frame,
		    const struct frame_headers *headers, uint32_t *hash);

/* receive.c */
void cx3_receive(struct cx3 *cx3, uint8_t *frame, size_t size);

/* faults.c: what the control socket offers. */
extern const struct control_command cx3_commands[];
void cx3_print_counters(void *model, FILE *answer);

#endif
