// SPDX-License-Identifier: GPL-2.0
/*
 * A hostile client: sends messages that are nearly right, or not at all, and memory that it takes
 * back.
 *
 *	fuzz ROUNDS SEED
 *
 * Whatever it sends, the device must go on or end the connection; the sanitizers say if it does
 * neither.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "client.h"
#include "random.h"
#include "sample.h"

#define MEMORY_PAGES	16
#define PAGE		4096ULL

struct fuzzer {
	uint64_t random;
	int memory;
	int event;
	int pipe;
};

static uint64_t next(struct fuzzer *fuzzer)
{
	return random_next(&fuzzer->random);
}

static uint64_t below(struct fuzzer *fuzzer, uint64_t limit)
{
	return random_below(&fuzzer->random, limit);
}

/* Numbers at which mistakes are made. */
static uint64_t interesting(struct fuzzer *fuzzer)
{
	switch (below(fuzzer, 8)) {
	case 0:
		return below(fuzzer, 16);
	case 1:
		return PAGE * below(fuzzer, MEMORY_PAGES);
	case 2:
		return -PAGE * below(fuzzer, 4);
	case 3:
		return 1ULL << below(fuzzer, 64);
	case 4:
		return UINT32_MAX - below(fuzzer, 4);
	case 5:
		return UINT64_MAX - below(fuzzer, 4);
	case 6:
		return PAGE * below(fuzzer, MEMORY_PAGES) + below(fuzzer, 16);
	default:
		return next(fuzzer);
	}
}

static size_t fill_body(struct fuzzer *fuzzer, uint8_t *body)
{
	static const unsigned int sizes[] = { 0, 4, 8, 16, 20, 24, 32, 40, 64, 4096 };
	size_t size = sizes[below(fuzzer, sizeof(sizes) / sizeof(*sizes))];

	if (!below(fuzzer, 8))
		size = below(fuzzer, MAX_BODY);
	/* As 64 or as 32 bits: messages have fields of both. */
	for (size_t at = 0; at + 8 <= size && at < 64; at += 8) {
		uint64_t value = interesting(fuzzer);

		if (below(fuzzer, 2))
			value = (uint32_t)value | interesting(fuzzer) << 32;
		memcpy(body + at, &value, 8);
	}
	return size;
}

static size_t fill_fds(struct fuzzer *fuzzer, int *fds)
{
	size_t count = below(fuzzer, 3) ? below(fuzzer, 2) : below(fuzzer, MAX_FDS + 4);

	for (size_t i = 0; i < count; i++) {
		const int choice[] = { fuzzer->memory, fuzzer->event, fuzzer->pipe };

		fds[i] = choice[below(fuzzer, 3)];
	}
	return count;
}

static int send_message(struct fuzzer *fuzzer, struct client *client)
{
	static struct {
		struct message_header header;
		uint8_t body[MAX_BODY + 64];
	} message;
	int fds[MAX_FDS + 4];
	size_t size = sizeof(message.header) + fill_body(fuzzer, message.body);
	size_t fd_count = fill_fds(fuzzer, fds);

	message.header = (struct message_header){
		.id = next(fuzzer),
		.command = below(fuzzer, 32) ? 1 + below(fuzzer, 16) : next(fuzzer),
		.size = below(fuzzer, 64) ? size : interesting(fuzzer),
		.flags = below(fuzzer, 32) ? MESSAGE_NO_REPLY * below(fuzzer, 2) : next(fuzzer),
	};
	return client_send_raw(client, &message, size, fds, fd_count);
}

static void discard_replies(struct client *client)
{
	static uint8_t bytes[1 << 17];

	while (client_has_reply(client))
		if (read(client->fd, bytes, sizeof(bytes)) <= 0)
			return;
}

/* What a model does meanwhile. */
static void use_memory(struct fuzzer *fuzzer, struct vfu *device)
{
	static uint8_t data[8 * PAGE];
	uint64_t address = interesting(fuzzer);

	vfu_dma_read(device, "read", address, data, below(fuzzer, sizeof(data)));
	vfu_dma_write(device, "write", address, data, below(fuzzer, sizeof(data)));
	vfu_dma_publish32(device, "publish", address, 1);
	vfu_interrupt(device, below(fuzzer, SAMPLE_VECTORS + 1));
}

/* One connection, until it ends or has had enough. */
static uint64_t connect_once(struct fuzzer *fuzzer)
{
	struct sample sample = { 0 };
	struct vfu *device = vfu_create(&sample_setup, &sample);
	struct client *client = calloc(1, sizeof(*client));
	uint64_t sent = 0;

	assert(device && client);
	client_connect(client, device);
	if (below(fuzzer, 16))
		client_version(client);
	while (sent < 256 && !send_message(fuzzer, client)) {
		discard_replies(client);
		use_memory(fuzzer, device);
		sent++;
	}
	use_memory(fuzzer, device);
	client_disconnect(client);
	vfu_serve(device);
	vfu_destroy(device);
	free(client);
	return sent + 1;
}

int main(int argc, char **argv)
{
	struct fuzzer fuzzer;
	uint64_t rounds, sent = 0;
	int pipes[2];

	if (argc != 3) {
		fprintf(stderr, "usage: %s ROUNDS SEED\n", argv[0]);
		return 2;
	}
	rounds = strtoull(argv[1], NULL, 0);
	fuzzer.random = random_seed(argv[2]);
	fuzzer.memory = client_memory(MEMORY_PAGES * PAGE);
	fuzzer.event = eventfd(0, EFD_NONBLOCK);
	assert(!pipe(pipes));
	close(pipes[0]);
	fuzzer.pipe = pipes[1];
	while (sent < rounds)
		sent += connect_once(&fuzzer);
	printf("%llu messages, seed %s: no crash\n", (unsigned long long)sent, argv[2]);
	return 0;
}
