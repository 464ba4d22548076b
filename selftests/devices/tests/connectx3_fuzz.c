// SPDX-License-Identifier: GPL-2.0
/*
 * A hostile driver: commands, queues, doorbells and BlueFlame writes that are nearly right, or not
 * at all, and frames of all kinds from the wire.
 *
 *	connectx3_fuzz ROUNDS SEED
 *
 * The sanitizers say if the model does what it must not.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "connectx3_driver.h"
#include "random.h"

#define ROUNDS_PER_LIFE	500
#define DATA_PAGES	(DRIVER_PAGES - DATA)

struct fuzzer {
	uint64_t random;
	uint64_t commands, sent, received, blueflame;
	struct driver *driver;
};

static uint64_t below(struct fuzzer *fuzzer, uint64_t limit)
{
	return random_below(&fuzzer->random, limit);
}

static uint64_t next(struct fuzzer *fuzzer)
{
	return random_next(&fuzzer->random);
}

/* Small more often than not, so that it fits. */
static uint64_t number(struct fuzzer *fuzzer)
{
	return below(fuzzer, 4) ? below(fuzzer, 16) : next(fuzzer);
}

static uint32_t some_qpn(struct fuzzer *fuzzer)
{
	static const uint32_t known[] = {
		SEND_QPN, SEND_QPN, RECEIVE_QPN, RECEIVE_OTHER_QPN, SPREAD_QPN, 0x401,
	};

	return below(fuzzer, 8) ? known[below(fuzzer, sizeof(known) / sizeof(*known))] :
				  next(fuzzer) & INDEX_MASK;
}

static uint64_t some_address(struct fuzzer *fuzzer)
{
	return DRIVER_BASE + below(fuzzer, (DRIVER_PAGES + 1) * DRIVER_PAGE);
}

static void spoil(struct fuzzer *fuzzer, uint8_t *bytes, size_t size)
{
	for (uint64_t i = below(fuzzer, 4); i; i--)
		bytes[below(fuzzer, size)] = next(fuzzer);
}

static void send_command(struct fuzzer *fuzzer)
{
	static const uint16_t opcodes[] = {
		QUERY_DEV_CAP, QUERY_FW, INIT_HCA, INIT_PORT, CLOSE_PORT, SET_PORT, SW2HW_MPT,
		HW2SW_MPT, MAP_EQ, SW2HW_EQ, HW2SW_EQ, SW2HW_CQ, HW2SW_CQ, RST2INIT_QP,
		INIT2RTR_QP, RTR2RTS_QP, TO_ERROR_QP, TO_RESET_QP, QUERY_QP, MODIFY_CQ,
		QUERY_PORT, SET_VLAN_FILTER, SET_MULTICAST_FILTER, DUMP_ETH_STATS, UNMAP_ICM,
		MAP_ICM,
	};
	struct driver *driver = fuzzer->driver;
	unsigned int opcode = below(fuzzer, 32) ?
				      opcodes[below(fuzzer, sizeof(opcodes) / sizeof(*opcodes))] :
				      next(fuzzer) & 0xfff;
	uint8_t *in = driver_page(driver, MAILBOX_IN);

	for (size_t i = 0; i < MAILBOX_SIZE; i++)
		in[i] = below(fuzzer, 8) ? 0 : next(fuzzer);
	if (opcode == INIT_HCA || opcode == UNMAP_ICM)
		memset(in, 0, MAILBOX_SIZE);
	/* Queues small enough, so that a round does not take long; some are larger. */
	if (below(fuzzer, 64)) {
		((struct eq_context *)in)->log_size %= 12;
		((struct cq_context *)in)->log_size_and_uar.bytes[0] %= 12;
	}
	driver_command(driver, opcode, number(fuzzer) & 0xf,
		       below(fuzzer, 2) ? some_qpn(fuzzer) : number(fuzzer),
		       below(fuzzer, 16) ? driver_address(MAILBOX_IN) : next(fuzzer));
}

/* Descriptors of all kinds, at the place where the queue is read next. */
static struct wqe_control *put(struct fuzzer *fuzzer)
{
	static const uint8_t headers[] = {
		2, 0, 0, 0xc3, 0, 2, 2, 0, 0, 0xc3, 0, 1, 8, 0,
		0x45, 0, 0x04, 0, 0, 1, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
		0, 80, 0, 81, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x18, 1, 0, 0, 0, 0, 0,
	};
	static const unsigned int kinds[] = { WQE_NOP, WQE_SEND, WQE_SEND, WQE_LSO, 0x1f };
	struct driver *driver = fuzzer->driver;
	uint8_t segments[6 * SEGMENT] = { 0 };
	size_t count = below(fuzzer, 6);
	unsigned int page = DATA + below(fuzzer, DATA_PAGES);
	struct wqe_data data = {
		.byte_count = to_be32(1024 + ETHERNET_HEADER),
		.key = to_be32(below(fuzzer, 8) ? PHYSICAL_KEY : number(fuzzer) << 8),
		.address = to_be64(driver_address(page)),
	};
	struct wqe_control *control;

	memcpy(driver_page(driver, page), headers, sizeof(headers));
	for (size_t i = 0; i < count; i++) {
		memcpy(segments + i * SEGMENT, &data, sizeof(data));
		if (!below(fuzzer, 3))
			spoil(fuzzer, segments + i * SEGMENT, SEGMENT);
		data.byte_count = to_be32(number(fuzzer) & 0xffff);
		data.address = to_be64(some_address(fuzzer));
	}
	/* As if the driver had set all up again. */
	if (driver->cx3->qps[0].state == QP_ERROR && below(fuzzer, 4))
		driver->cx3->qps[0].state = QP_READY_TO_SEND;
	if (below(fuzzer, 2))
		driver->cx3->port.is_open = true;
	/* So that it does not go over the end of the queue. */
	driver->posted = fuzzer->driver->cx3->qps[0].send.next;
	if (driver->posted % ENTRIES >= ENTRIES - 2)
		count = 0;
	control = driver_put(driver, SEND_QPN, kinds[below(fuzzer, 5)], segments, count * SEGMENT,
			     next(fuzzer));
	if (!below(fuzzer, 4))
		spoil(fuzzer, (uint8_t *)control, sizeof(*control));
	return control;
}

static void store(struct fuzzer *fuzzer)
{
	uint64_t value = next(fuzzer);
	unsigned int size = 1U << below(fuzzer, 4);
	uint64_t offset = below(fuzzer, 2) ?
				  BLUEFLAME_AREA + DRIVER_UAR * UAR_PAGE +
					  below(fuzzer, UAR_PAGE / size) * size :
				  below(fuzzer, UAR_BAR_SIZE / size) * size;

	assert(!client_write(&fuzzer->driver->client, UAR_BAR, offset, &value, size));
}

static void doorbell(struct fuzzer *fuzzer)
{
	be32 words[2] = { to_be32(number(fuzzer) | 2 << 24), to_be32(number(fuzzer)) };
	static const uint64_t at[] = {
		DRIVER_UAR * UAR_PAGE + UAR_CQ_DOORBELL, UAR_PAGE + UAR_EQ_DOORBELLS,
	};

	if (below(fuzzer, 2))
		words[0] = to_be32(2 << 24 | DRIVER_CQN);
	if (below(fuzzer, 2))
		assert(!client_write(&fuzzer->driver->client, UAR_BAR, at[0], words, 8));
	else
		assert(!client_write(&fuzzer->driver->client, UAR_BAR, at[1], words + 1, 4));
}

static void receive(struct fuzzer *fuzzer)
{
	struct cx3 *cx3 = fuzzer->driver->cx3;
	size_t size = SHORTEST_FRAME + below(fuzzer, below(fuzzer, 8) ? 1400 : 9000);

	for (size_t i = 0; i < 80 && i < size; i++)
		cx3->received[i] = next(fuzzer);
	/* As if the right command had been hit upon. */
	cx3->port.is_promiscuous = below(fuzzer, 2);
	cx3->port.promiscuous_qpn = some_qpn(fuzzer);
	if (below(fuzzer, 2))
		memcpy(cx3->received + 12, below(fuzzer, 2) ? "\x81\x00" : "\x08\x00", 2);
	if (below(fuzzer, 2))
		cx3->received[14] = 0x45;
	driver_give_buffer(fuzzer->driver, QUEUE_RECEIVE + below(fuzzer, 2),
			   DATA + below(fuzzer, DATA_PAGES + 1));
	cx3_receive(cx3, cx3->received, size);
}

static void discard_frames(struct driver *driver)
{
	uint8_t frame[LARGEST_FRAME];

	while (read(driver->wire, frame, sizeof(frame)) > 0)
		;
}

static void round_of(struct fuzzer *fuzzer)
{
	struct driver *driver = fuzzer->driver;
	struct wqe_control *wqe;

	switch (below(fuzzer, 16)) {
	case 0:
		send_command(fuzzer);
		break;
	case 1:
	case 2:
		put(fuzzer);
		driver_ring(driver, some_qpn(fuzzer));
		break;
	case 3:
	case 4:
	case 5:
		wqe = put(fuzzer);
		/* The register may reach beyond the queue. */
		if (driver->posted % ENTRIES < ENTRIES - 4)
			driver_blueflame(driver, wqe, below(fuzzer, BLUEFLAME_PER_UAR), 0,
					 8 * below(fuzzer, 33));
		break;
	case 6:
		store(fuzzer);
		break;
	case 7:
		doorbell(fuzzer);
		break;
	case 8:
		cx3_set_light(driver->cx3, below(fuzzer, 8));
		break;
	case 9:
		/* What translations, records and queues say. */
		spoil(fuzzer, driver_page(driver, 2 + below(fuzzer, 12)), DRIVER_PAGE);
		break;
	case 10:
		cx3_blueflame_poll(driver->cx3);
		break;
	case 11:
		while (driver_completion(driver))
			;
		break;
	case 12:
		driver->cx3->faults.torn_count = below(fuzzer, 3);
		driver->cx3->faults.tx_count = !below(fuzzer, 64);
		break;
	default:
		receive(fuzzer);
	}
	cx3_tx_run(driver->cx3);
	discard_frames(driver);
}

static void live(struct fuzzer *fuzzer, uint64_t rounds)
{
	const struct cx3_counters *counters;

	fuzzer->driver = driver_start(below(fuzzer, 2) ? BLUEFLAME_TRAPPED : BLUEFLAME_MAPPED);
	driver_set_up(fuzzer->driver);
	while (rounds--)
		round_of(fuzzer);
	counters = &fuzzer->driver->cx3->counters;
	fuzzer->commands += counters->commands;
	fuzzer->sent += counters->tx_frames;
	fuzzer->blueflame += counters->tx_by_blueflame;
	fuzzer->received += counters->rx_delivered;
	driver_stop(fuzzer->driver);
}

int main(int argc, char **argv)
{
	struct fuzzer fuzzer = { 0 };
	uint64_t rounds, done;

	if (argc != 3) {
		fprintf(stderr, "usage: %s ROUNDS SEED\n", argv[0]);
		return 2;
	}
	rounds = strtoull(argv[1], NULL, 0);
	fuzzer.random = random_seed(argv[2]);
	for (done = 0; done < rounds; done += ROUNDS_PER_LIFE)
		live(&fuzzer, ROUNDS_PER_LIFE);
	printf("%" PRIu64 " rounds, seed %s: no crash; %" PRIu64 " commands, %" PRIu64
	       " frames, %" PRIu64 " descriptors by BlueFlame, %" PRIu64 " frames received\n",
	       done, argv[2], fuzzer.commands, fuzzer.sent, fuzzer.blueflame, fuzzer.received);
	/* A fuzzer that gets nowhere finds nothing. */
	return !(fuzzer.commands && fuzzer.sent && fuzzer.blueflame && fuzzer.received);
}
