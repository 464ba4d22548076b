/* SPDX-License-Identifier: GPL-2.0 */
#ifndef CHANNEL_H
#define CHANNEL_H

#include <stddef.h>
#include <stdint.h>

#include "protocol.h"

/**
 * struct message - what the client has sent
 * @header: its header
 * @length: of the body
 * @body: aligned for any type
 * @fds: files that came along; -1 for one that was taken
 * @fd_count: number of them
 */
struct message {
	struct message_header header;
	uint32_t length;
	unsigned char *body;
	int fds[MAX_FDS];
	unsigned int fd_count;
};

/**
 * struct channel - the connection to the client
 * @fd: the socket; -1 when there is none
 * @received: bytes that have come of the message so far
 * @message: the message so far
 */
struct channel {
	int fd;
	size_t received;
	struct message message;
};

int channel_init(struct channel *channel);
void channel_exit(struct channel *channel);

/*
 * Returns 1 when channel->message is complete, 0 when more has to come first, and a negative errno
 * when the connection is over. Does not wait.
 */
int channel_receive(struct channel *channel);

/* The file that came with the message, which is now the caller's; -1 if there is none. */
int message_take_fd(struct message *message, unsigned int index);

/* Ready for the next message; closes what was not taken of this one. */
void channel_next(struct channel *channel);

/* Answers channel->message, unless it wants no answer. fd is sent along if it is not -1. */
int channel_reply(struct channel *channel, const void *body, size_t size, int fd);

/* Answers that the command failed with this errno, a positive number. */
int channel_reply_error(struct channel *channel, int error);

#endif
