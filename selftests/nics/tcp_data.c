// SPDX-License-Identifier: GPL-2.0
/*
 * One TCP connection with known content both ways at the same time, of the same size each way.
 *
 *	tcp_data serve PORT SIZE		for one connection
 *	tcp_data connect ADDRESS PORT SIZE
 *
 * Both end well only if each has got all, right: an end that has compared all says so with one byte
 * more, the client first. The server answers, and only then does an end close. Nothing depends on
 * what becomes of data that are still under way when a direction is closed: some passt takes a FIN
 * that overtook data, which is lost then.
 */
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHUNK		65536
/* Without any progress. */
#define DEADLINE_S	60
#define ALL_RIGHT	'r'

/* Different, so that an end that gets its own data back notices. */
enum side { SERVER = 1, CLIENT = 2 };

static int fail(const char *what)
{
	perror(what);
	return 1;
}

/* The next bytes of a side's data; state is the side at first. */
static void fill(unsigned char *to, size_t size, uint32_t *state)
{
	for (size_t i = 0; i < size; i++) {
		*state = *state * 1664525 + 1013904223;
		to[i] = *state >> 24;
	}
}

static int write_all(int fd, const unsigned char *data, size_t size)
{
	while (size) {
		ssize_t written = send(fd, data, size, MSG_NOSIGNAL);

		if (written < 0)
			return fail("send");
		data += written;
		size -= written;
	}
	return 0;
}

static int send_data(int fd, size_t size, uint32_t state)
{
	unsigned char data[CHUNK];

	while (size) {
		size_t chunk = size < CHUNK ? size : CHUNK;

		fill(data, chunk, &state);
		if (write_all(fd, data, chunk))
			return 1;
		size -= chunk;
	}
	return 0;
}

/* before: how many bytes came before these */
static int compare(const unsigned char *got, const unsigned char *wanted, size_t size,
		   size_t before)
{
	for (size_t i = 0; i < size; i++)
		if (got[i] != wanted[i]) {
			fprintf(stderr, "byte %zu: got 0x%02x, want 0x%02x\n", before + i, got[i],
				wanted[i]);
			return 1;
		}
	return 0;
}

static int receive_data(int fd, size_t size, uint32_t state)
{
	unsigned char got[CHUNK], wanted[CHUNK];
	size_t sum = 0;

	while (sum < size) {
		ssize_t chunk = recv(fd, got, size - sum < CHUNK ? size - sum : CHUNK, 0);

		if (chunk < 0)
			return fail("receive");
		if (!chunk) {
			fprintf(stderr, "closed after %zu of %zu bytes\n", sum, size);
			return 1;
		}
		fill(wanted, chunk, &state);
		if (compare(got, wanted, chunk, sum))
			return 1;
		sum += chunk;
	}
	return 0;
}

static int receive_verdict(int fd)
{
	char verdict;
	ssize_t size = recv(fd, &verdict, 1, 0);

	if (size == 1 && verdict == ALL_RIGHT)
		return 0;
	if (size < 0)
		return fail("receive whether the other end is content");
	fprintf(stderr, "the other end did not say that all is right\n");
	return 1;
}

static int send_verdict(int fd)
{
	const unsigned char verdict = ALL_RIGHT;

	return write_all(fd, &verdict, 1);
}

/* A process sends while another receives, so that neither direction waits for the other. */
static int exchange(int fd, size_t size, enum side ours, enum side theirs)
{
	int status;
	pid_t sender = fork();

	if (sender < 0)
		return fail("fork");
	if (!sender)
		exit(send_data(fd, size, ours));
	if (receive_data(fd, size, theirs)) {
		/* the sender of ours ends, too, and the other end learns of it */
		shutdown(fd, SHUT_RDWR);
		return 1;
	}
	return waitpid(sender, &status, 0) != sender || status;
}

static int set_deadline(int fd)
{
	const struct timeval deadline = { .tv_sec = DEADLINE_S };

	return setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof(deadline)) ||
	       setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &deadline, sizeof(deadline));
}

/* Of address, or of any one to be a server at. */
static struct addrinfo *find(const char *address, const char *port)
{
	const struct addrinfo hints = {
		.ai_family = address ? AF_UNSPEC : AF_INET6,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICHOST | (address ? 0 : AI_PASSIVE),
	};
	struct addrinfo *found;

	return getaddrinfo(address, port, &hints, &found) ? NULL : found;
}

static int serve(const char *port, size_t size)
{
	struct addrinfo *at = find(NULL, port);
	int listener = at ? socket(at->ai_family, SOCK_STREAM, 0) : -1;
	const int yes = 1;
	int fd;

	if (listener < 0 || set_deadline(listener) ||
	    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) ||
	    bind(listener, at->ai_addr, at->ai_addrlen) || listen(listener, 1))
		return fail("listen");
	freeaddrinfo(at);
	fd = accept(listener, NULL, NULL);
	if (fd < 0 || set_deadline(fd))
		return fail("accept");
	/* Whoever has seen this exchange end finds no listener of ours. */
	close(listener);
	return exchange(fd, size, SERVER, CLIENT) || receive_verdict(fd) || send_verdict(fd);
}

static int connect_to(const char *address, const char *port, size_t size)
{
	struct addrinfo *to = find(address, port);
	int fd = to ? socket(to->ai_family, SOCK_STREAM, 0) : -1;

	if (fd < 0 || set_deadline(fd) || connect(fd, to->ai_addr, to->ai_addrlen))
		return fail("connect");
	freeaddrinfo(to);
	return exchange(fd, size, CLIENT, SERVER) || send_verdict(fd) || receive_verdict(fd);
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "serve"))
		return serve(argv[2], strtoul(argv[3], NULL, 0));
	if (argc == 5 && !strcmp(argv[1], "connect"))
		return connect_to(argv[2], argv[3], strtoul(argv[4], NULL, 0));
	fprintf(stderr, "usage: %s serve PORT SIZE | connect ADDRESS PORT SIZE\n", argv[0]);
	return 2;
}
