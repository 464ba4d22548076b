// SPDX-License-Identifier: GPL-2.0
/*
 * A hostile driver: commands, rings and doorbells that are nearly right, or not at all, and frames
 * of all kinds from the wire.
 *
 *	be2_fuzz ROUNDS SEED
 *
 * A round is a doorbell or a frame. The sanitizers say if the model does what it must not.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "../be2/be2.h"
#include "client.h"
#include "random.h"

#define PAGE		4096ULL
#define MEMORY_PAGES	64
#define BASE		0x100000ULL
#define MAILBOX_PAGE	0
#define ROUNDS_PER_LIFE	2000

struct fuzzer {
	uint64_t random;
	uint64_t commands, sent, received, hashed;
	struct be2 *be2;
	struct client *client;
	uint8_t *memory;
};

static uint64_t next(struct fuzzer *fuzzer)
{
	return random_next(&fuzzer->random);
}

static uint64_t below(struct fuzzer *fuzzer, uint64_t limit)
{
	return random_below(&fuzzer->random, limit);
}

static uint64_t some_page(struct fuzzer *fuzzer)
{
	return BASE + PAGE * below(fuzzer, MEMORY_PAGES + 1);
}

static void doorbell(struct fuzzer *fuzzer, uint64_t offset, uint32_t value)
{
	assert(!client_write(fuzzer->client, DOORBELL_BAR, offset, &value, sizeof(value)));
	be2_mcc_run(fuzzer->be2);
}

/* The addresses of a ring, in a request that is to make one. */
static void put_pages(struct fuzzer *fuzzer, struct page_address *pages, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		uint64_t page = some_page(fuzzer);

		pages[i].low = page;
		pages[i].high = below(fuzzer, 16) ? page >> 32 : next(fuzzer);
	}
}

static void fill_request(struct fuzzer *fuzzer, uint8_t *payload)
{
	static const uint8_t common[] = {
		1,  4,	5,  12, 12, 13, 13, 32, 34, 35, 36, 37, 41,  50,
		51, 53, 54, 55, 58, 59, 60, 61, 77, 89, 90, 90, 103, 170
	};
	static const uint8_t eth[] = { 1, 4, 7, 7, 8, 8, 9, 10 };
	struct request_header *header = (void *)payload;

	for (size_t i = 0; i < WRB_EMBEDDED_SIZE; i++)
		payload[i] = below(fuzzer, 4) ? 0 : next(fuzzer);
	header->subsystem = below(fuzzer, 3) ? SUBSYSTEM_COMMON : SUBSYSTEM_ETH;
	header->opcode = header->subsystem == SUBSYSTEM_COMMON ?
				 common[below(fuzzer, sizeof(common))] :
				 eth[below(fuzzer, sizeof(eth))];
	if (header->opcode == COMMON_FUNCTION_RESET && below(fuzzer, 16))
		header->opcode = COMMON_LINK_STATUS;
	if (header->subsystem == SUBSYSTEM_ETH) {
		struct tx_create_request *tx = (void *)payload;
		struct rx_create_request *rx = (void *)payload;

		if (header->opcode == ETH_TX_CREATE) {
			tx->page_count = 8;
			tx->size = below(fuzzer, 18);
			tx->cq = below(fuzzer, 4);
			put_pages(fuzzer, tx->pages, RING_PAGES);
		} else if (header->opcode == ETH_RX_CREATE) {
			rx->page_count = 2;
			rx->cq = below(fuzzer, 4);
			rx->fragment_size = below(fuzzer, 16);
			rx->is_rss = below(fuzzer, 4);
			put_pages(fuzzer, rx->pages, 2);
		} else if (header->opcode == ETH_RSS_CONFIG) {
			((struct rss_config_request *)payload)->table_size_log2 = below(fuzzer, 9);
		} else if (header->opcode == ETH_GET_STATISTICS) {
			header->version = below(fuzzer, 3);
		}
		return;
	}
	switch (header->opcode) {
	case COMMON_EQ_CREATE:
	case COMMON_CQ_CREATE:
		((struct eq_create_request *)payload)->page_count = 8;
		((struct cq_create_request *)payload)->context[1] &= 0x80ffffff;
		put_pages(fuzzer, ((struct eq_create_request *)payload)->pages, RING_PAGES);
		break;
	case COMMON_RX_FILTER:
		((struct rx_filter_request *)payload)->multicast_count = below(fuzzer, 130);
		break;
	case COMMON_MCC_CREATE_EXT:
		((struct mcc_create_request *)payload)->page_count = 8;
		((struct mcc_create_request *)payload)->context[0] &= 0x00ffffff;
		put_pages(fuzzer, ((struct mcc_create_request *)payload)->pages, RING_PAGES);
		break;
	}
}

static void send_command(struct fuzzer *fuzzer)
{
	struct command_wrb *wrb = (void *)(fuzzer->memory + MAILBOX_PAGE * PAGE);
	uint64_t address = BASE + MAILBOX_PAGE * PAGE;

	memset(wrb, 0, sizeof(*wrb));
	if (below(fuzzer, 4)) {
		wrb->flags = WRB_EMBEDDED;
		wrb->payload_size = next(fuzzer);
		fill_request(fuzzer, wrb->embedded);
	} else {
		uint64_t page = below(fuzzer, MEMORY_PAGES);

		fill_request(fuzzer, fuzzer->memory + page * PAGE);
		wrb->sge.address_low = BASE + page * PAGE;
		wrb->sge.length = below(fuzzer, 8) ? below(fuzzer, PAGE) : next(fuzzer);
	}
	doorbell(fuzzer, DB_MAILBOX, MAILBOX_ADDRESS_HIGH);
	doorbell(fuzzer, DB_MAILBOX, address >> MAILBOX_LOW_SHIFT << MAILBOX_ADDRESS_SHIFT);
}

/* What may be descriptors somewhere: small lengths, addresses that exist. */
static void fill_page(struct fuzzer *fuzzer)
{
	uint32_t *words = (uint32_t *)(fuzzer->memory + below(fuzzer, MEMORY_PAGES) * PAGE);

	for (size_t i = 0; i < PAGE / sizeof(*words); i += 4) {
		words[i] = below(fuzzer, 8) ? 0 : next(fuzzer);
		words[i + 1] = some_page(fuzzer) + below(fuzzer, PAGE);
		words[i + 2] = next(fuzzer) & 0xfffc3fff & ~(TX_WRBS_BITS << TX_WRBS_SHIFT);
		words[i + 2] |= (1 + below(fuzzer, below(fuzzer, 2) ? 4 : 31)) << TX_WRBS_SHIFT;
		words[i + 3] = below(fuzzer, below(fuzzer, 4) ? 2048 : 65536);
	}
}

/* One packet with headers that are right, in the place where the ring is read next. */
static void send_packet(struct fuzzer *fuzzer)
{
	static const uint8_t headers[] = {
		2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0,
		0x45, 0, 0x04, 0, 0, 1, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
		0, 80, 0, 81, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x18, 1, 0, 0, 0, 0, 0,
	};
	unsigned int id = below(fuzzer, below(fuzzer, 2) ? 2 : fuzzer->be2->chip->tx_rings);
	struct be2_ring *ring = &fuzzer->be2->tx[id].ring;
	uint64_t page = below(fuzzer, MEMORY_PAGES);
	struct tx_header header = {
		.flags = (uint32_t)next(fuzzer) &
			 (TX_EVENT | TX_COMPLETE | TX_LSO | TX_TCP_CHECKSUM | TX_VLAN | 0xfffc0000),
	};
	struct tx_fragment fragment = { .address_low = BASE + page * PAGE };
	uint8_t *frame = fuzzer->memory + page * PAGE;

	if (!ring->exists)
		return;
	fragment.length = 1024 + ETHERNET_HEADER;
	header.flags |= 2 << TX_WRBS_SHIFT;
	header.length_and_vlan = fragment.length | (uint32_t)next(fuzzer) << 16;
	memcpy(frame, headers, sizeof(headers));
	frame[below(fuzzer, sizeof(headers))] ^= below(fuzzer, 4) ? 0 : next(fuzzer);
	vfu_dma_write(fuzzer->be2->vfu, "test", be2_ring_address(ring, ring->next), &header,
		      sizeof(header));
	vfu_dma_write(fuzzer->be2->vfu, "test", be2_ring_address(ring, ring->next + 1), &fragment,
		      sizeof(fragment));
	doorbell(fuzzer, DB_TX, id | 2 << DB_POSTED_SHIFT);
}

/* For the hash, which wants headers that are right. */
static void make_tcp(uint8_t *frame, size_t size)
{
	size_t total = size - ETHERNET_HEADER;

	memcpy(frame + 12, "\x08\x00\x45\x00", 4);
	frame[16] = total >> 8;
	frame[17] = total;
	memcpy(frame + 20, "\x00\x00\x40\x06", 4);
	frame[46] = 0x50;
}

static void spread_over_rings(struct fuzzer *fuzzer)
{
	struct be2_rss *rss = &fuzzer->be2->rss;

	rss->hashes = next(fuzzer);
	rss->table_size = 1U << below(fuzzer, 8);
	for (unsigned int i = 0; i < RSS_TABLE_SIZE; i++)
		rss->table[i] = below(fuzzer, 16) ? below(fuzzer, 4) : next(fuzzer);
}

static void receive_frame(struct fuzzer *fuzzer)
{
	uint8_t *frame = fuzzer->be2->received;
	unsigned int ring = below(fuzzer, 4);
	size_t size =
		SHORTEST_FRAME + below(fuzzer, below(fuzzer, 8) ? 1500 : BE2_LARGEST_RX + 100);

	for (size_t i = 0; i < 64 && i < size; i++)
		frame[i] = next(fuzzer);
	/* As if the right commands had been hit upon. */
	if (below(fuzzer, 2))
		fuzzer->be2->filter.flags = next(fuzzer) | below(fuzzer, 2) * INTERFACE_PROMISCUOUS;
	if (below(fuzzer, 2))
		spread_over_rings(fuzzer);
	if (below(fuzzer, 2) && fuzzer->be2->rx[ring].ring.exists)
		doorbell(fuzzer, DB_RX, ring | 8 << DB_RX_POSTED_SHIFT);
	if (below(fuzzer, 2))
		memcpy(frame + 12, "\x81\x00", 2);
	else if (below(fuzzer, 2))
		make_tcp(frame, size);
	be2_receive(fuzzer->be2, frame, size);
}

static void round_of(struct fuzzer *fuzzer)
{
	static const uint64_t doorbells[] = { DB_TX, DB_RX, DB_EVENT, DB_MCC, DB_MAILBOX };

	switch (below(fuzzer, 8)) {
	case 0:
	case 1:
	case 2:
		send_command(fuzzer);
		break;
	case 3:
		fill_page(fuzzer);
		break;
	case 4:
		send_packet(fuzzer);
		break;
	case 5:
		receive_frame(fuzzer);
		break;
	case 6:
		/* small numbers more often than not, so that they fit */
		doorbell(fuzzer, doorbells[below(fuzzer, 5)],
			 below(fuzzer, 4) ?
				 below(fuzzer, 4) | below(fuzzer, 8) << 16 |
					 below(fuzzer, 8) << 24 | below(fuzzer, 2) << 29 :
				 next(fuzzer));
		break;
	default:
		be2_set_link(fuzzer->be2, below(fuzzer, 8));
	}
}

static void live(struct fuzzer *fuzzer, uint64_t rounds)
{
	int fd = client_memory(MEMORY_PAGES * PAGE);
	struct be2 *be2 = calloc(1, sizeof(*be2));

	fuzzer->memory = mmap(NULL, MEMORY_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	fuzzer->be2 = be2;
	fuzzer->client = calloc(1, sizeof(*fuzzer->client));
	assert(fuzzer->memory != MAP_FAILED && be2 && fuzzer->client);
	wire_init(&be2->wire);
	be2->chip = be2_find_chip(below(fuzzer, 2) ? "be2" : "be3");
	be2->link_is_up = true;
	be2->firmware_timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	be2->vfu = be2_create_device(be2);
	assert(be2->vfu);
	client_connect(fuzzer->client, be2->vfu);
	assert(!client_version(fuzzer->client));
	assert(!client_map(fuzzer->client, BASE, MEMORY_PAGES * PAGE, DMA_READABLE | DMA_WRITABLE,
			   fd, 0));
	while (rounds--)
		round_of(fuzzer);
	fuzzer->commands += be2->counters.commands;
	fuzzer->sent += be2->counters.tx_packets;
	fuzzer->received += be2->counters.rx_delivered;
	fuzzer->hashed += be2->counters.rx_hashed;
	client_disconnect(fuzzer->client);
	vfu_destroy(be2->vfu);
	munmap(fuzzer->memory, MEMORY_PAGES * PAGE);
	close(be2->firmware_timer);
	close(fd);
	free(fuzzer->client);
	free(be2);
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
	       " packets, %" PRIu64 " frames, %" PRIu64 " of them hashed\n",
	       done, argv[2], fuzzer.commands, fuzzer.sent, fuzzer.received, fuzzer.hashed);
	/* A fuzzer that gets nowhere finds nothing. */
	return !(fuzzer.commands && fuzzer.sent && fuzzer.received && fuzzer.hashed);
}
