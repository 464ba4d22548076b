// SPDX-License-Identifier: GPL-2.0
#include <assert.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client.h"

void client_connect(struct client *client, struct vfu *device)
{
	int ends[2];

	assert(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	assert(!vfu_attach(device, ends[0]));
	client->device = device;
	client->fd = ends[1];
	client->next_id = 1;
	client->reply_fd = -1;
}

static void close_reply_fd(struct client *client)
{
	if (client->reply_fd >= 0)
		close(client->reply_fd);
	client->reply_fd = -1;
}

void client_disconnect(struct client *client)
{
	close_reply_fd(client);
	if (client->fd >= 0)
		close(client->fd);
	client->fd = -1;
}

int client_send_raw(struct client *client, const void *data, size_t size, const int *fds,
		    size_t fd_count)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(64 * sizeof(int))];
	} control = { 0 };
	struct iovec part = { .iov_base = (void *)data, .iov_len = size };
	struct msghdr header = { .msg_iov = &part, .msg_iovlen = 1 };

	if (fd_count) {
		struct cmsghdr *c = &control.align;

		header.msg_control = &control;
		header.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(fd_count * sizeof(int));
		memcpy(CMSG_DATA(c), fds, fd_count * sizeof(int));
	}
	if (sendmsg(client->fd, &header, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)size)
		return -1;
	return vfu_serve(client->device);
}

bool client_has_reply(const struct client *client)
{
	struct pollfd readable = { .fd = client->fd, .events = POLLIN };

	return poll(&readable, 1, 0) == 1;
}

static void take_reply(struct client *client)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = { .iov_base = &client->reply, .iov_len = sizeof(client->reply) };
	struct msghdr header = {
		.msg_iov = &part, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	size_t size;

	assert(recvmsg(client->fd, &header, MSG_WAITALL) == sizeof(client->reply));
	if (header.msg_controllen)
		memcpy(&client->reply_fd, CMSG_DATA(&control.align), sizeof(int));
	assert(client->reply.size >= sizeof(client->reply));
	size = client->reply.size - sizeof(client->reply);
	assert(size <= sizeof(client->body));
	assert(!size || recv(client->fd, client->body, size, MSG_WAITALL) == (ssize_t)size);
}

int client_command(struct client *client, uint16_t command, const void *body, size_t size, int fd)
{
	struct {
		struct message_header header;
		uint8_t body[MAX_BODY];
	} message = {
		.header = { .id = client->next_id,
			    .command = command,
			    .size = sizeof(message.header) + size },
	};

	close_reply_fd(client);
	if (size)
		memcpy(message.body, body, size);
	assert(!client_send_raw(client, &message, message.header.size, &fd, fd >= 0));
	take_reply(client);
	assert(client->reply.id == client->next_id++);
	assert(client->reply.command == command);
	assert((client->reply.flags & MESSAGE_TYPE_MASK) == MESSAGE_TYPE_REPLY);
	assert(!(client->reply.flags & MESSAGE_ERROR) == !client->reply.error);
	return client->reply.error;
}

int client_version(struct client *client)
{
	static const struct {
		uint16_t major, minor;
		char data[3];
	} request = { .data = "{}" };

	return client_command(client, MESSAGE_VERSION, &request, sizeof(request), -1);
}

int client_map(struct client *client, uint64_t address, uint64_t size, uint32_t flags, int fd,
	       uint64_t offset)
{
	const struct dma_map_message request = {
		.argsz = sizeof(request),
		.flags = flags,
		.offset = offset,
		.address = address,
		.size = size,
	};

	return client_command(client, MESSAGE_DMA_MAP, &request, sizeof(request), fd);
}

int client_unmap(struct client *client, uint64_t address, uint64_t size, uint32_t flags)
{
	const struct dma_unmap_message request = {
		.argsz = sizeof(request), .flags = flags, .address = address, .size = size,
	};

	return client_command(client, MESSAGE_DMA_UNMAP, &request, sizeof(request), -1);
}

int client_read(struct client *client, uint32_t region, uint64_t offset, void *data, uint32_t size)
{
	const struct region_access_message request = { .offset = offset,
						       .region = region,
						       .count = size };
	int error = client_command(client, MESSAGE_REGION_READ, &request, sizeof(request), -1);

	if (error)
		return error;
	assert(client->reply.size == sizeof(struct message_header) + sizeof(request) + size);
	memcpy(data, client->body + sizeof(request), size);
	return 0;
}

int client_write(struct client *client, uint32_t region, uint64_t offset, const void *data,
		 uint32_t size)
{
	struct {
		struct region_access_message fixed;
		uint8_t data[MAX_TRANSFER];
	} request = { .fixed = { .offset = offset, .region = region, .count = size } };

	memcpy(request.data, data, size);
	return client_command(client, MESSAGE_REGION_WRITE, &request, sizeof(request.fixed) + size,
			      -1);
}

int client_set_irq(struct client *client, uint32_t vector, int eventfd)
{
	const struct vfio_irq_set request = {
		.argsz = sizeof(request),
		.flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER,
		.index = VFIO_PCI_MSIX_IRQ_INDEX,
		.start = vector,
		.count = 1,
	};

	return client_command(client, MESSAGE_DEVICE_SET_IRQS, &request, sizeof(request), eventfd);
}

int client_memory(size_t size)
{
	int fd = memfd_create("memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert(fd >= 0 && !ftruncate(fd, size));
	assert(!fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW));
	return fd;
}
