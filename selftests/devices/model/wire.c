// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "wire.h"

/*
 * A datagram socket says that it has room while a quarter of this is in use at most, so that
 * several large packets cut into segments fit in the rest.
 */
#define SOCKET_BUFFER	(8 << 20)

void wire_init(struct wire *wire)
{
	wire->fd = -1;
	wire->is_stream = false;
	wire->received = 0;
}

void wire_exit(struct wire *wire)
{
	if (wire->fd >= 0)
		close(wire->fd);
	wire->fd = -1;
}

int wire_join(struct wire *wire, int fd)
{
	int size = SOCKET_BUFFER, type;
	socklen_t type_size = sizeof(type);
	int flags = fcntl(fd, F_GETFL);

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_size))
		return -errno;
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK))
		return -errno;
	/* Root may have more than the machine's limit; others get what that is. */
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) &&
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)))
		return -errno;
	wire->fd = fd;
	wire->is_stream = type == SOCK_STREAM;
	return 0;
}

int wire_open_tap(struct wire *wire, const char *name)
{
	struct ifreq request = { .ifr_flags = IFF_TAP | IFF_NO_PI };
	int fd, error;

	if (strlen(name) >= sizeof(request.ifr_name))
		return -ENAMETOOLONG;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (ioctl(fd, TUNSETIFF, &request)) {
		error = -errno;
		close(fd);
		return error;
	}
	wire->fd = fd;
	return 0;
}

bool wire_has_room(const struct wire *wire)
{
	struct pollfd writable = { .fd = wire->fd, .events = POLLOUT };

	/* A cable whose other end is gone takes everything. */
	return wire->fd < 0 || poll(&writable, 1, 0) != 0;
}

/*
 * Nothing may follow a frame that is cut off. That does not happen while there is room: then the
 * largest frame fits.
 */
static bool send_to_stream(struct wire *wire, const uint8_t *frame, size_t size)
{
	uint32_t prefix = htonl(size);
	struct iovec parts[] = {
		{ .iov_base = &prefix, .iov_len = sizeof(prefix) },
		{ .iov_base = (void *)frame, .iov_len = size },
	};
	const struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
	ssize_t sent;

	if (!wire_has_room(wire))
		return false;
	sent = sendmsg(wire->fd, &message, MSG_NOSIGNAL);
	if (sent == (ssize_t)(sizeof(prefix) + size))
		return true;
	if (sent >= 0 || (errno != EAGAIN && errno != EINTR))
		wire_exit(wire);
	return false;
}

bool wire_send(struct wire *wire, const uint8_t *frame, size_t size)
{
	if (wire->fd < 0)
		return false;
	if (wire->is_stream)
		return send_to_stream(wire, frame, size);
	return write(wire->fd, frame, size) == (ssize_t)size;
}

/*
 * Goes on with a part of a frame, which begins after so many bytes of it. Returns whether the part
 * is complete.
 */
static bool read_part(struct wire *wire, uint8_t *part, size_t begins_after, size_t size)
{
	while (wire->received < begins_after + size) {
		size_t have = wire->received - begins_after;
		ssize_t got = read(wire->fd, part + have, size - have);

		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			return false;
		if (got <= 0) {
			wire_exit(wire);
			return false;
		}
		wire->received += got;
	}
	return true;
}

/* No more is read than the one frame, so that poll(2) tells of the next. */
static ssize_t receive_from_stream(struct wire *wire, uint8_t *frame, size_t room)
{
	uint32_t size;

	if (!read_part(wire, wire->prefix, 0, sizeof(wire->prefix)))
		return 0;
	memcpy(&size, wire->prefix, sizeof(size));
	size = ntohl(size);
	if (size > room || size > sizeof(wire->frame)) {
		wire_exit(wire);
		return 0;
	}
	if (!read_part(wire, wire->frame, sizeof(wire->prefix), size))
		return 0;
	memcpy(frame, wire->frame, size);
	wire->received = 0;
	return size;
}

static ssize_t receive(struct wire *wire, uint8_t *frame, size_t room)
{
	if (wire->fd < 0)
		return 0;
	return wire->is_stream ? receive_from_stream(wire, frame, room) :
				 read(wire->fd, frame, room);
}

size_t wire_receive(struct wire *wire, uint8_t *frame, size_t room)
{
	ssize_t size = receive(wire, frame, room);

	if (size < ETHERNET_HEADER)
		return 0;
	if (size < SHORTEST_FRAME) {
		memset(frame + size, 0, SHORTEST_FRAME - size);
		return SHORTEST_FRAME;
	}
	return size;
}
