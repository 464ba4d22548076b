// SPDX-License-Identifier: GPL-2.0
/*
 * Short TCP connections whose source ports the caller chooses, so that he knows their hash.
 *
 *	tcp_flows serve PORT			sends back what comes, for ever
 *	tcp_flows send ADDRESS PORT SOURCE...	a connection for each source port, one at a time
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DEADLINE_S	20

static int fail(const char *what)
{
	perror(what);
	return 1;
}

/* Any address of the family. */
static int bind_to(int fd, int family, unsigned int port)
{
	struct sockaddr_in6 address6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };

	if (family == AF_INET6)
		return bind(fd, (struct sockaddr *)&address6, sizeof(address6));
	return bind(fd, (struct sockaddr *)&address, sizeof(address));
}

static int serve(unsigned int port)
{
	int listener = socket(AF_INET6, SOCK_STREAM, 0);
	char data[4096];

	if (listener < 0 || bind_to(listener, AF_INET6, port) || listen(listener, 16))
		return fail("listen");
	for (;;) {
		int fd = accept(listener, NULL, NULL);
		ssize_t size;

		if (fd < 0)
			return fail("accept");
		while ((size = read(fd, data, sizeof(data))) > 0)
			if (write(fd, data, size) != size)
				return fail("write");
		close(fd);
	}
}

static int open_flow(const struct addrinfo *to, unsigned int source_port)
{
	const struct timeval deadline = { .tv_sec = DEADLINE_S };
	int fd = socket(to->ai_family, SOCK_STREAM, 0);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof(deadline));
	if (!bind_to(fd, to->ai_family, source_port) &&
	    !connect(fd, to->ai_addr, to->ai_addrlen))
		return fd;
	close(fd);
	return -1;
}

/* The port itself is what is sent and has to come back. */
static int send_flow(const struct addrinfo *to, unsigned int source_port)
{
	unsigned int answer = 0;
	int fd = open_flow(to, source_port);

	if (fd < 0)
		return fail("connect");
	if (write(fd, &source_port, sizeof(source_port)) != sizeof(source_port))
		return fail("write");
	if (recv(fd, &answer, sizeof(answer), MSG_WAITALL) != sizeof(answer))
		return fail("answer");
	shutdown(fd, SHUT_WR);
	if (answer != source_port || read(fd, &answer, sizeof(answer))) {
		fprintf(stderr, "flow %u: another answer\n", source_port);
		return 1;
	}
	close(fd);
	return 0;
}

static int send_all(const char *address, const char *port, char **sources)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST };
	struct addrinfo *to;

	if (getaddrinfo(address, port, &hints, &to))
		return fail(address);
	for (; *sources; sources++)
		if (send_flow(to, atoi(*sources)))
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "serve"))
		return serve(atoi(argv[2]));
	if (argc > 4 && !strcmp(argv[1], "send"))
		return send_all(argv[2], argv[3], argv + 4);
	fprintf(stderr, "usage: %s serve PORT | send ADDRESS PORT SOURCE...\n", argv[0]);
	return 2;
}
