// SPDX-License-Identifier: GPL-2.0
/*
 * Sends frames through a network card that misbehaves, and looks at what comes back.
 *
 *	card_check exact|hostile|broken INTERFACE FRAMES
 *
 * With `exact` each frame must come back as it was sent, with its addresses swapped. With `hostile`
 * each byte of what is received must be one that the host made, or zero, or below 8: what the host
 * has in the header of a packet, which becomes data when the host lies about where packets begin.
 * All else is foreign; what the frames that are sent are full of, above all. `broken` is the same,
 * but ends when the card takes no more frames.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bytes.h"

#define ETHERTYPE	0x88b5	/* IEEE 802: for local experiments */
#define LEAST		60
#define MOST		1514
#define HEADER		14
#define HEADER_BYTES	8
#define DEADLINE_MS	20000
/* A card that takes nothing for so long is broken, where that is to be expected. */
#define BROKEN_MS	1000
/* Nothing more is on its way when nothing has come for so long. */
#define QUIET_MS	300

static unsigned char sent[MOST], received[1 << 17];
static unsigned long frames, bytes, zero, foreign, wrong;

static int open_card(const char *name)
{
	const int large = 4 << 20;
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = if_nametoindex(name),
	};
	int fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));

	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)))
		err(1, "%s", name);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &large, sizeof(large));
	return fd;
}

static size_t make_frame(unsigned long number)
{
	size_t size = LEAST + number * 7919 % (MOST - LEAST);

	bytes_fill(sent, size, BYTE_OF_WRITER, number);
	/* neither is a group's */
	memcpy(sent, "\x02\x00\x00\x00\x00\x01\x02\x00\x00\x00\x00\x02\x88\xb5", HEADER);
	return size;
}

/* False if there is no room for it in time. */
static int send_frame(int fd, size_t size, int timeout)
{
	struct pollfd writable = { .fd = fd, .events = POLLOUT };

	while (send(fd, sent, size, MSG_DONTWAIT) < 0) {
		if (errno == ENOBUFS)
			poll(NULL, 0, 1);
		else if (errno != EAGAIN)
			err(1, "send");
		else if (poll(&writable, 1, timeout) <= 0)
			return 0;
	}
	return 1;
}

/* The size of the next frame that came from outside, or -1 when none does in time. */
static ssize_t receive_frame(int fd, int timeout)
{
	struct pollfd readable = { .fd = fd, .events = POLLIN };
	struct sockaddr_ll from;

	while (poll(&readable, 1, timeout) > 0) {
		socklen_t from_size = sizeof(from);
		ssize_t size = recvfrom(fd, received, sizeof(received), MSG_DONTWAIT,
					(struct sockaddr *)&from, &from_size);

		if (size < 0 && errno != EAGAIN && errno != ENETDOWN)
			err(1, "receive");
		if (size >= 0 && from.sll_pkttype != PACKET_OUTGOING)
			return size;
	}
	return -1;
}

static void classify(size_t size)
{
	frames++;
	bytes += size;
	for (size_t i = 0; i < size; i++) {
		zero += !received[i];
		if ((received[i] & BYTE_KIND) == BYTE_OF_HOST || received[i] < HEADER_BYTES)
			continue;
		if (!foreign++) {
			fprintf(stderr, "# frame of %zu bytes: foreign from byte %zu on:", size, i);
			for (size_t j = i; j < i + 16 && j < size; j++)
				fprintf(stderr, " %02x", received[j]);
			fprintf(stderr, "\n");
		}
	}
}

static void drain(int fd, int timeout)
{
	ssize_t size;

	while ((size = receive_frame(fd, timeout)) >= 0)
		classify(size);
}

/* Frames that the kernel sends by itself come back, too. */
static int is_reply(size_t size, size_t got)
{
	return got == size && !memcmp(received, sent + 6, 6) && !memcmp(received + 6, sent, 6) &&
	       !memcmp(received + HEADER - 2, sent + HEADER - 2, size - HEADER + 2);
}

static void expect_reply(int fd, size_t size)
{
	ssize_t got;

	do {
		got = receive_frame(fd, DEADLINE_MS);
		if (got < 0) {
			wrong++;
			return;
		}
	} while (!is_reply(size, got));
	frames++;
}

int main(int argc, char **argv)
{
	unsigned long count;
	int fd, is_exact, timeout;

	if (argc != 4)
		errx(2, "usage: card_check exact|hostile|broken INTERFACE FRAMES");
	is_exact = !strcmp(argv[1], "exact");
	timeout = strcmp(argv[1], "broken") ? DEADLINE_MS : BROKEN_MS;
	count = strtoul(argv[3], NULL, 0);
	fd = open_card(argv[2]);
	for (unsigned long i = 0; i < count; i++) {
		size_t size = make_frame(i);

		if (!send_frame(fd, size, timeout))
			break;
		if (is_exact)
			expect_reply(fd, size);
		else
			drain(fd, 0);
	}
	if (!is_exact)
		drain(fd, QUIET_MS);
	printf("frames %lu\nbytes %lu\nzero %lu\nforeign %lu\nwrong %lu\n", frames, bytes, zero,
	       foreign, wrong);
	return 0;
}
