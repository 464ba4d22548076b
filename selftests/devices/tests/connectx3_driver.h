/* SPDX-License-Identifier: GPL-2.0 */
/* A driver of the ConnectX-3 model in the same process: one queue of each kind, in known places. */
#ifndef CONNECTX3_DRIVER_H
#define CONNECTX3_DRIVER_H

#include "../connectx3/connectx3.h"
#include "client.h"

#define DRIVER_PAGE		4096ULL
#define DRIVER_PAGES		64
#define DRIVER_BASE		0x100000ULL
/* Pages of the driver's memory; queues are where the translation table says. */
#define MAILBOX_IN		0
#define MAILBOX_OUT		1
#define TRANSLATIONS		2
#define RECORDS			3
#define QUEUES			8
#define DATA			32
/* Where the translation table is for the chip. */
#define ICM_TRANSLATIONS	0x40000ULL

/* Pages of the queues, counted from QUEUES. */
enum driver_queue {
	QUEUE_EVENTS,
	QUEUE_COMPLETIONS,
	QUEUE_SEND,
	QUEUE_RECEIVE,
	QUEUE_RECEIVE_OTHER,
	REGION,
};

#define DRIVER_EQN		4
#define DRIVER_CQN		0x80
#define DRIVER_UAR		129
/* Without the bits that BlueFlame must not have. */
#define SEND_QPN		0x400
#define RECEIVE_QPN		0x410
#define RECEIVE_OTHER_QPN	0x411
#define SPREAD_QPN		0x440
#define PHYSICAL_KEY		0x100
#define REGION_KEY		0x200
#define DRIVER_PD		7
#define REGION_ADDRESS		0x7000000ULL
#define LOG_ENTRIES		6
#define ENTRIES			BIT(LOG_ENTRIES)

/**
 * struct driver - the driver, and the card
 * @cx3: the model
 * @client: what stands between
 * @memory: DRIVER_PAGES pages, at DRIVER_BASE for the card
 * @memory_fd: of it
 * @wire: the other end of the card's cable
 * @interrupt: eventfd of its first vector
 * @posted: blocks of the send queue that were used
 * @received: receive buffers that were given
 * @completed: completions that were taken
 * @events: events that were taken
 */
struct driver {
	struct cx3 *cx3;
	struct client client;
	uint8_t *memory;
	int memory_fd;
	int wire;
	int interrupt;
	uint32_t posted;
	uint32_t received;
	uint32_t completed;
	uint32_t events;
};

/* A card, and the driver connected to it. */
struct driver *driver_start(enum cx3_blueflame_mode mode);
void driver_stop(struct driver *driver);

/* All that is needed to send and receive. */
void driver_set_up(struct driver *driver);

static inline uint8_t *driver_page(struct driver *driver, unsigned int page)
{
	return driver->memory + page * DRIVER_PAGE;
}

static inline uint64_t driver_address(unsigned int page)
{
	return DRIVER_BASE + page * DRIVER_PAGE;
}

/* Returns the status of the command; with a mailbox its address is the parameter. */
unsigned int driver_command(struct driver *driver, unsigned int opcode, unsigned int modifier,
			    uint32_t in_modifier, uint64_t in_param);

/* Posts nothing yet: puts a descriptor in the queue, at the next place. */
struct wqe_control *driver_put(struct driver *driver, uint32_t qpn, unsigned int opcode,
			       const void *segments, size_t size, uint32_t flags);
void driver_ring(struct driver *driver, uint32_t qpn);

/* Stores bytes [from, to) of what was put last to a BlueFlame register, 8 at a time. */
void driver_blueflame(struct driver *driver, const void *wqe, unsigned int half, size_t from,
		      size_t to);

/* The next completion, as far as there is one; NULL if not. */
const struct completion *driver_completion(struct driver *driver);
const struct event *driver_event(struct driver *driver);
void driver_arm_cq(struct driver *driver);

/* A buffer of 2 KiB in the data pages for what is received. */
void driver_give_buffer(struct driver *driver, enum driver_queue queue, unsigned int page);

#endif
