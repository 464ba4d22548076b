// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "frame.h"
#include "wire.h"

/*
 * A datagram socket says that it has room while a quarter of this is in use at most, so that
 * several large packets cut into segments fit in the rest.
 */
#define SOCKET_BUFFER	(8 << 20)

void wire_init(struct wire *wire)
{
	wire->fd = -1;
}

void wire_exit(struct wire *wire)
{
	if (wire->fd >= 0)
		close(wire->fd);
	wire->fd = -1;
}

int wire_join(struct wire *wire, int fd)
{
	int size = SOCKET_BUFFER;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK))
		return -errno;
	/* Root may have more than the machine's limit; others get what that is. */
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) &&
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)))
		return -errno;
	wire->fd = fd;
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

bool wire_send(struct wire *wire, const uint8_t *frame, size_t size)
{
	return wire->fd >= 0 && write(wire->fd, frame, size) == (ssize_t)size;
}

size_t wire_receive(struct wire *wire, uint8_t *frame, size_t room)
{
	ssize_t size = wire->fd < 0 ? -1 : read(wire->fd, frame, room);

	if (size < ETHERNET_HEADER)
		return 0;
	if (size < SHORTEST_FRAME) {
		memset(frame + size, 0, SHORTEST_FRAME - size);
		return SHORTEST_FRAME;
	}
	return size;
}
