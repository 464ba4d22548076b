// SPDX-License-Identifier: GPL-2.0
/*
 * vhost-user devices that misbehave: disks in memory, and network cards that send back what they
 * are sent.
 *
 *	backend SEED disk=SOCKET|card=SOCKET...
 *
 * A device is named after the file of its socket. Commands come on standard input, a line each, and
 * are answered by "ok", after what was asked for:
 *
 *	misbehave DEVICE CLASS,CLASS... ONE_IN	in each way, one request in so many; or "none"
 *	counters DEVICE		requests while it misbehaved, and how often in which way
 *
 * The end of standard input ends it.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "frontend.h"

#define MAX_LINE	256
#define SEPARATORS	"\n "
/* Of each device: its socket and its rings. And standard input. */
#define MAX_POLLED	(MAX_DEVICES * (1 + DEVICE_RINGS) + 1)

static struct devices all;

/* --- commands --- */

static struct device *find(const char *name)
{
	for (unsigned int i = 0; name && i < all.count; i++)
		if (!strcmp(all.device[i].name, name))
			return &all.device[i];
	return NULL;
}

static const char *run_misbehave(struct device *device, char *classes, const char *one_in)
{
	uint32_t wanted;

	if (!classes || !misbehave_parse(classes, &wanted))
		return "no such class";
	device->misbehaving.one_in = one_in ? strtoul(one_in, NULL, 0) : 0;
	if (wanted && !device->misbehaving.one_in)
		return "one request in how many?";
	device->misbehaving.wanted = wanted;
	return NULL;
}

static void print_counters(const struct device *device)
{
	const struct misbehaving *m = &device->misbehaving;

	printf("requests %" PRIu64 "\n", m->request);
	for (unsigned int class = 0; class < MISBEHAVIOURS; class++)
		printf("%s %" PRIu64 "\n", misbehave_name(class), m->counts[class]);
}

static const char *run(char *line)
{
	char *rest, *command = strtok_r(line, SEPARATORS, &rest);
	struct device *device = find(strtok_r(NULL, SEPARATORS, &rest));
	char *classes;

	if (!command || !device)
		return "no such device";
	if (!strcmp(command, "counters")) {
		print_counters(device);
		return NULL;
	}
	if (strcmp(command, "misbehave"))
		return "no such command";
	classes = strtok_r(NULL, SEPARATORS, &rest);
	return run_misbehave(device, classes, strtok_r(NULL, SEPARATORS, &rest));
}

/* Standard input is not buffered, or poll() would not tell of what is in the buffer. */
static bool serve_commands(void)
{
	char line[MAX_LINE];
	const char *error;

	if (!fgets(line, sizeof(line), stdin))
		return false;
	error = run(line);
	if (error)
		printf("error %s\n", error);
	else
		printf("ok\n");
	fflush(stdout);
	return true;
}

/* --- devices --- */

static int listen_at(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || strlen(path) >= sizeof(address.sun_path))
		return -1;
	memcpy(address.sun_path, path, strlen(path) + 1);
	return bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 1) ? -1 : fd;
}

static const struct model *parse_model(const char *argument, const char **path)
{
	*path = argument + strlen("disk=");
	if (!strncmp(argument, "disk=", strlen("disk=")))
		return &disk_model;
	if (!strncmp(argument, "card=", strlen("card=")))
		return &card_model;
	return NULL;
}

static bool add_device(const char *argument, uint64_t seed)
{
	struct device *device = &all.device[all.count];
	const char *path;

	if (all.count == MAX_DEVICES)
		return false;
	device->model = parse_model(argument, &path);
	if (!device->model)
		return false;
	device->name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	device->all = &all;
	device->client = -1;
	/* Another device with the same requests misbehaves otherwise. */
	device->misbehaving.seed = seed + ((uint64_t)all.count << 48);
	for (unsigned int i = 0; i < DEVICE_RINGS; i++)
		device->rings[i] = (struct ring) { .kick = -1, .call = -1 };
	if (device->model == &disk_model) {
		device->disk = calloc(1, DISK_SIZE);
		if (!device->disk)
			return false;
		misbehave_fill(device->disk, DISK_SIZE / 2, seed);
	}
	device->listener = listen_at(path);
	all.count++;
	return device->listener >= 0;
}

static void serve_ring(struct device *device, unsigned int index)
{
	struct ring *ring = &device->rings[index];

	if (ring->descriptors && ring->enabled)
		device->model->serve(device, index);
}

/* What the guest made available before we were told that we may look counts, too. */
static void serve_rings(struct device *device)
{
	for (unsigned int i = 0; i < DEVICE_RINGS; i++)
		serve_ring(device, i);
}

static void serve_kick(struct device *device, unsigned int index)
{
	eventfd_t kicks;

	eventfd_read(device->rings[index].kick, &kicks);
	serve_ring(device, index);
}

static void serve_socket(struct device *device)
{
	int error;

	if (device->client < 0) {
		device->client = accept4(device->listener, NULL, NULL, SOCK_CLOEXEC);
		return;
	}
	error = frontend_serve(device);
	if (!error)
		return serve_rings(device);
	if (error != -ECONNRESET)
		fprintf(stderr, "%s: %s\n", device->name, strerror(-error));
	frontend_disconnect(device);
}

static bool serve_all(void)
{
	struct pollfd polled[MAX_POLLED] = { { .fd = STDIN_FILENO, .events = POLLIN } };
	struct pollfd *p = polled + 1;

	for (unsigned int i = 0; i < all.count; i++) {
		const struct device *device = &all.device[i];

		*p++ = (struct pollfd) {
			.fd = device->client < 0 ? device->listener : device->client,
			.events = POLLIN,
		};
		for (unsigned int j = 0; j < DEVICE_RINGS; j++)
			*p++ = (struct pollfd) { .fd = device->rings[j].kick, .events = POLLIN };
	}
	if (poll(polled, p - polled, -1) < 0)
		return errno == EINTR;
	p = polled + 1;
	for (unsigned int i = 0; i < all.count; i++) {
		for (unsigned int j = 0; j < DEVICE_RINGS; j++)
			if (p[1 + j].revents)
				serve_kick(&all.device[i], j);
		if (p->revents)
			serve_socket(&all.device[i]);
		p += 1 + DEVICE_RINGS;
	}
	return !polled->revents || serve_commands();
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: %s SEED disk=SOCKET|card=SOCKET...\n", argv[0]);
		return 2;
	}
	setvbuf(stdin, NULL, _IONBF, 0);
	for (int i = 2; i < argc; i++) {
		if (!add_device(argv[i], strtoull(argv[1], NULL, 0))) {
			fprintf(stderr, "%s: no such device\n", argv[i]);
			return 1;
		}
	}
	while (serve_all())
		;
	for (unsigned int i = 0; i < all.count; i++) {
		frontend_disconnect(&all.device[i]);
		free(all.device[i].disk);
	}
	return 0;
}
