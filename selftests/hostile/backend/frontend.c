// SPDX-License-Identifier: GPL-2.0
/*
 * The connection to the front end, QEMU, which is trusted: the guest does not write its messages.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "frontend.h"

/* --- messages --- */

static void take_fds(struct msghdr *received, struct vhost_message *message)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(received);

	message->fd_count = 0;
	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
		return;
	message->fd_count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	memcpy(message->fds, CMSG_DATA(c), message->fd_count * sizeof(int));
}

static int receive_all(int fd, void *to, size_t size)
{
	ssize_t got = size ? recv(fd, to, size, MSG_WAITALL) : 0;

	return got == (ssize_t)size ? 0 : got < 0 ? -errno : -ECONNRESET;
}

static int receive(int fd, struct vhost_message *message)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(VHOST_MAX_FDS * sizeof(int))];
	} control;
	struct iovec into = { &message->header, sizeof(message->header) };
	struct msghdr header = {
		.msg_iov = &into, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	ssize_t got = recvmsg(fd, &header, MSG_WAITALL | MSG_CMSG_CLOEXEC);

	if (got < 0)
		return -errno;
	take_fds(&header, message);
	if (got != sizeof(message->header))
		return -ECONNRESET;
	if (message->header.size > sizeof(message->body))
		return -EPROTO;
	memset(&message->body, 0, sizeof(message->body));
	return receive_all(fd, &message->body, message->header.size);
}

static int reply(int fd, struct vhost_message *message, uint32_t size)
{
	struct iovec parts[] = {
		{ &message->header, sizeof(message->header) },
		{ &message->body, size },
	};
	struct msghdr header = { .msg_iov = parts, .msg_iovlen = 2 };
	ssize_t sent;

	message->header.flags = VHOST_VERSION | VHOST_REPLY;
	message->header.size = size;
	sent = sendmsg(fd, &header, MSG_NOSIGNAL);
	return sent == (ssize_t)(sizeof(message->header) + size) ? 0 : -EPIPE;
}

static int reply_number(int fd, struct vhost_message *message, uint64_t number)
{
	message->body.number = number;
	return reply(fd, message, sizeof(number));
}

static int take_fd(struct vhost_message *message, unsigned int index)
{
	int fd = -1;

	if (index < message->fd_count) {
		fd = message->fds[index];
		message->fds[index] = -1;
	}
	return fd;
}

static void close_fds(struct vhost_message *message)
{
	for (unsigned int i = 0; i < message->fd_count; i++)
		if (message->fds[i] >= 0)
			close(message->fds[i]);
}

/* --- what they ask for --- */

static void replace_fd(int *fd, int with)
{
	if (*fd >= 0)
		close(*fd);
	*fd = with;
}

static void forget_rings(struct device *device)
{
	for (unsigned int i = 0; i < DEVICE_RINGS; i++)
		ring_stop(&device->rings[i]);
	/* What was returned is no longer this driver's, and may be anything. */
	device->returned_count = 0;
}

static int set_memory(struct device *device, const struct vhost_message *message)
{
	const struct vhost_memory *table = &message->body.memory;

	if (table->count != message->fd_count)
		return -EPROTO;
	forget_rings(device);
	return memory_set(&device->memory, table, message->fds);
}

static void enable_all(struct device *device)
{
	for (unsigned int i = 0; i < DEVICE_RINGS; i++)
		device->rings[i].enabled = true;
}

static int set_features(struct device *device, uint64_t features)
{
	device->features = features;
	if (!(features & 1ULL << VHOST_F_PROTOCOL_FEATURES))
		enable_all(device);
	return 0;
}

static int answer_config(struct device *device, struct vhost_message *message)
{
	struct vhost_config *config = &message->body.config;

	if (!device->model->config || config->offset || config->size > sizeof(config->bytes))
		return -EPROTO;
	device->model->config(device, config->bytes, config->size);
	return reply(device->client, message, offsetof(struct vhost_config, bytes) + config->size);
}

static int stop_ring(struct device *device, struct ring *ring, struct vhost_message *message)
{
	ring_stop(ring);
	replace_fd(&ring->kick, -1);
	replace_fd(&ring->call, -1);
	message->body.state.value = ring->taken;
	return reply(device->client, message, sizeof(message->body.state));
}

/* A ring runs from when we are told where its kicks come from. */
static int set_kick(struct device *device, struct ring *ring, struct vhost_message *message)
{
	replace_fd(&ring->kick, take_fd(message, 0));
	return ring_start(ring, &device->memory) ? 0 : -EFAULT;
}

static int handle_ring(struct device *device, struct vhost_message *message)
{
	union vhost_body *body = &message->body;
	unsigned int index = body->state.index & VHOST_RING_MASK;
	struct ring *ring;

	if (index >= DEVICE_RINGS)
		return -EPROTO;
	ring = &device->rings[index];
	switch (message->header.request) {
	case VHOST_SET_VRING_NUM:
		if (body->state.value > RING_MAX_SIZE)
			return -EPROTO;
		ring->size = body->state.value;
		return 0;
	case VHOST_SET_VRING_ADDR:
		ring->addresses = body->address;
		return 0;
	case VHOST_SET_VRING_BASE:
		ring->taken = body->state.value;
		return 0;
	case VHOST_GET_VRING_BASE:
		return stop_ring(device, ring, message);
	case VHOST_SET_VRING_KICK:
		return set_kick(device, ring, message);
	case VHOST_SET_VRING_CALL:
		replace_fd(&ring->call, take_fd(message, 0));
		return 0;
	case VHOST_SET_VRING_ENABLE:
		ring->enabled = body->state.value;
		return 0;
	default:
		return 0;
	}
}

static int handle(struct device *device, struct vhost_message *message)
{
	switch (message->header.request) {
	case VHOST_GET_FEATURES:
		return reply_number(device->client, message, device->model->features);
	case VHOST_GET_PROTOCOL_FEATURES:
		return reply_number(device->client, message,
				    device->model->config ? 1ULL << VHOST_PROTOCOL_F_CONFIG : 0);
	case VHOST_SET_FEATURES:
		return set_features(device, message->body.number);
	case VHOST_SET_MEM_TABLE:
		return set_memory(device, message);
	case VHOST_GET_CONFIG:
		return answer_config(device, message);
	case VHOST_SET_OWNER:
	case VHOST_RESET_OWNER:
	case VHOST_SET_PROTOCOL_FEATURES:
	case VHOST_SET_CONFIG:
		return 0;
	case VHOST_SET_VRING_NUM ... VHOST_SET_VRING_ERR:
	case VHOST_SET_VRING_ENABLE:
		return handle_ring(device, message);
	default:
		return -ENOTSUP;
	}
}

int frontend_serve(struct device *device)
{
	struct vhost_message message = { 0 };
	int error = receive(device->client, &message);

	if (!error)
		error = handle(device, &message);
	close_fds(&message);
	return error;
}

void frontend_disconnect(struct device *device)
{
	forget_rings(device);
	for (unsigned int i = 0; i < DEVICE_RINGS; i++) {
		replace_fd(&device->rings[i].kick, -1);
		replace_fd(&device->rings[i].call, -1);
	}
	memory_clear(&device->memory);
	replace_fd(&device->client, -1);
}
