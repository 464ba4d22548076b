// SPDX-License-Identifier: GPL-2.0
/*
 * The connection: bytes and files into messages, and answers out again.
 *
 * The client is not trusted. Its messages may be of any form and come in pieces of any size.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channel.h"

/* A client that does not take its answer for so long is given up. */
#define REPLY_DEADLINE_MS	5000

int channel_init(struct channel *channel)
{
	memset(channel, 0, sizeof(*channel));
	channel->fd = -1;
	channel->message.body = malloc(MAX_BODY);
	return channel->message.body ? 0 : -ENOMEM;
}

void channel_exit(struct channel *channel)
{
	channel_next(channel);
	if (channel->fd >= 0)
		close(channel->fd);
	channel->fd = -1;
	free(channel->message.body);
	channel->message.body = NULL;
}

int message_take_fd(struct message *message, unsigned int index)
{
	int fd;

	if (index >= message->fd_count)
		return -1;
	fd = message->fds[index];
	message->fds[index] = -1;
	return fd;
}

void channel_next(struct channel *channel)
{
	struct message *message = &channel->message;

	for (unsigned int i = 0; i < message->fd_count; i++)
		if (message->fds[i] >= 0)
			close(message->fds[i]);
	message->fd_count = 0;
	message->length = 0;
	channel->received = 0;
}

static int keep_fds(struct message *message, struct msghdr *received)
{
	int error = received->msg_flags & MSG_CTRUNC ? -EPROTO : 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(received); c; c = CMSG_NXTHDR(received, c)) {
		const unsigned char *data = CMSG_DATA(c);
		size_t count;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < count; i++) {
			int fd;

			memcpy(&fd, data + i * sizeof(fd), sizeof(fd));
			if (message->fd_count < MAX_FDS) {
				message->fds[message->fd_count++] = fd;
			} else {
				close(fd);
				error = -EPROTO;
			}
		}
	}
	return error;
}

/* Returns 1 when all bytes have come that are wanted, 0 when not yet, or a negative errno. */
static int receive_bytes(struct channel *channel, void *to, size_t wanted)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(MAX_FDS * sizeof(int))];
	} control;
	struct iovec into = { .iov_base = to, .iov_len = wanted };
	struct msghdr header = {
		.msg_iov = &into, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	ssize_t got;
	int error;

	if (!wanted)
		return 1;
	do {
		got = recvmsg(channel->fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno == EAGAIN ? 0 : -errno;
	error = keep_fds(&channel->message, &header);
	if (error)
		return error;
	if (!got)
		return -ECONNRESET;
	channel->received += got;
	return (size_t)got == wanted;
}

static int receive_header(struct channel *channel)
{
	struct message *message = &channel->message;
	size_t have = channel->received;
	int status;

	status = receive_bytes(channel, (char *)&message->header + have,
			       sizeof(message->header) - have);
	if (status <= 0)
		return status;
	if (message->header.size < sizeof(message->header) ||
	    message->header.size - sizeof(message->header) > MAX_BODY)
		return -EPROTO;
	message->length = message->header.size - sizeof(message->header);
	return 1;
}

int channel_receive(struct channel *channel)
{
	struct message *message = &channel->message;
	size_t have;

	/* Header and body apart: a longer read could run into the files of the next message. */
	if (channel->received < sizeof(message->header)) {
		int status = receive_header(channel);

		if (status <= 0)
			return status;
	}
	have = channel->received - sizeof(message->header);
	return receive_bytes(channel, message->body + have, message->length - have);
}

static int wait_writable(int fd)
{
	struct pollfd writable = { .fd = fd, .events = POLLOUT };
	int ready = poll(&writable, 1, REPLY_DEADLINE_MS);

	if (ready < 0)
		return errno == EINTR ? 0 : -errno;
	return ready ? 0 : -ETIMEDOUT;
}

static int send_all(int fd, struct msghdr *header)
{
	struct iovec *part = header->msg_iov;

	while (header->msg_iovlen) {
		ssize_t sent = sendmsg(fd, header, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent < 0 && errno == EAGAIN) {
			int error = wait_writable(fd);

			if (error)
				return error;
			continue;
		}
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return -errno;
		/* The files went with the first bytes. */
		header->msg_control = NULL;
		header->msg_controllen = 0;
		while (header->msg_iovlen && (size_t)sent >= part->iov_len) {
			sent -= part->iov_len;
			header->msg_iov = ++part;
			header->msg_iovlen--;
		}
		if (header->msg_iovlen) {
			part->iov_base = (char *)part->iov_base + sent;
			part->iov_len -= sent;
		}
	}
	return 0;
}

static int send_reply(struct channel *channel, struct message_header *reply, const void *body,
		      size_t size, int fd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec parts[] = {
		{ .iov_base = reply, .iov_len = sizeof(*reply) },
		{ .iov_base = (void *)body, .iov_len = size },
	};
	struct msghdr header = { .msg_iov = parts, .msg_iovlen = size ? 2 : 1 };

	if (channel->message.header.flags & MESSAGE_NO_REPLY)
		return 0;
	if (fd >= 0) {
		struct cmsghdr *c = &control.align;

		header.msg_control = &control;
		header.msg_controllen = sizeof(control);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	return send_all(channel->fd, &header);
}

int channel_reply(struct channel *channel, const void *body, size_t size, int fd)
{
	struct message_header reply = {
		.id = channel->message.header.id,
		.command = channel->message.header.command,
		.size = sizeof(reply) + size,
		.flags = MESSAGE_TYPE_REPLY,
	};

	return send_reply(channel, &reply, body, size, fd);
}

int channel_reply_error(struct channel *channel, int error)
{
	struct message_header reply = {
		.id = channel->message.header.id,
		.command = channel->message.header.command,
		.size = sizeof(reply),
		.flags = MESSAGE_TYPE_REPLY | MESSAGE_ERROR,
		.error = error,
	};

	return send_reply(channel, &reply, NULL, 0, -1);
}
