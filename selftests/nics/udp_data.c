// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams with known content, of all sizes from 1 byte up.
 *
 *	udp_data receive PORT COUNT		ends when all have come, each with its content
 *	udp_data send ADDRESS PORT COUNT LARGEST
 *
 * They go one at a time, each after the one before was acknowledged, so that none is lost for want
 * of room.
 */
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LARGEST		65000
#define DEADLINE_S	20

static unsigned char data[LARGEST + 1], wanted[LARGEST + 1];

static void fill(unsigned char *to, unsigned int number, size_t size)
{
	for (size_t i = 0; i < size; i++)
		to[i] = number * 31 + i * 7 + (i >> 8);
}

static int fail(const char *what)
{
	perror(what);
	return 1;
}

static int open_socket(const char *address, const char *port, int is_server)
{
	const struct addrinfo hints = {
		.ai_family = is_server ? AF_INET6 : AF_UNSPEC,
		.ai_socktype = SOCK_DGRAM,
		.ai_flags = AI_NUMERICHOST | (is_server ? AI_PASSIVE : 0),
	};
	const struct timeval deadline = { .tv_sec = DEADLINE_S };
	struct addrinfo *found;
	int fd;

	if (getaddrinfo(address, port, &hints, &found))
		return -1;
	fd = socket(found->ai_family, SOCK_DGRAM, 0);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof(deadline));
	if (is_server ? bind(fd, found->ai_addr, found->ai_addrlen) :
			connect(fd, found->ai_addr, found->ai_addrlen))
		return -1;
	freeaddrinfo(found);
	return fd;
}

static int receive_all(const char *port, unsigned int count)
{
	int fd = open_socket(NULL, port, 1);

	if (fd < 0)
		return fail("socket");
	for (unsigned int number = 0; number < count; number++) {
		struct sockaddr_storage from;
		socklen_t from_size = sizeof(from);
		ssize_t size = recvfrom(fd, data, sizeof(data), 0, (struct sockaddr *)&from,
					&from_size);

		if (size < 0)
			return fail("receive");
		fill(wanted, number, size);
		if (memcmp(data, wanted, size)) {
			fprintf(stderr, "datagram %u of %zd bytes differs\n", number, size);
			return 1;
		}
		if (sendto(fd, &number, sizeof(number), 0, (struct sockaddr *)&from,
			   from_size) < 0)
			return fail("acknowledge");
	}
	return 0;
}

static int send_all(const char *address, const char *port, unsigned int count, size_t largest)
{
	int fd = open_socket(address, port, 0);

	if (fd < 0)
		return fail("socket");
	for (unsigned int number = 0; number < count; number++) {
		size_t size = 1 + (largest - 1) * number / (count - 1);
		unsigned int acknowledged;

		fill(data, number, size);
		if (send(fd, data, size, 0) != (ssize_t)size)
			return fail("send");
		if (recv(fd, &acknowledged, sizeof(acknowledged), 0) != sizeof(acknowledged))
			return fail("acknowledgment");
		if (acknowledged != number) {
			fprintf(stderr, "datagram %u acknowledged, not %u\n", acknowledged, number);
			return 1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "receive"))
		return receive_all(argv[2], atoi(argv[3]));
	if (argc == 6 && !strcmp(argv[1], "send") && atoi(argv[4]) > 1 &&
	    atoi(argv[5]) <= LARGEST)
		return send_all(argv[2], argv[3], atoi(argv[4]), atoi(argv[5]));
	fprintf(stderr, "usage: %s receive PORT COUNT | send ADDRESS PORT COUNT LARGEST\n",
		argv[0]);
	return 2;
}
