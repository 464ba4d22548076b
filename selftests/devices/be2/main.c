// SPDX-License-Identifier: GPL-2.0
/* The program: one adapter, its sockets, its wire. */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "be2.h"

#define FIRMWARE_DELAY_US	5000

/* So that neither side waits long for the other. */
#define FRAMES_AT_A_TIME	64

static const char usage[] =
	"usage: %s --socket PATH [--chip be2|be3] [--control PATH] [--log FILE] [--mac ADDRESS]\n"
	"          [--wire FD | --tap NAME] [--firmware-delay MICROSECONDS]\n"
	"\n"
	"  --socket PATH   where QEMU connects: -device '{\"driver\":\"vfio-user-pci\",...}'\n"
	"  --chip NAME     be2, with a queue each way, or be3, with many and RSS; be2 if not said\n"
	"  --control PATH  where somebody may ask for counters; say help there\n"
	"  --log FILE      where accesses are written to after: log on\n"
	"  --mac ADDRESS   of the adapter\n"
	"  --wire FD       open file: an end of a socket pair (AF_UNIX, SOCK_DGRAM)\n"
	"  --tap NAME      a TAP device of this machine\n"
	"  --firmware-delay MICROSECONDS\n"
	"                  how long a command in the ring takes\n";

struct arguments {
	const char *socket;
	const char *chip;
	const char *control;
	const char *log;
	const char *mac;
	const char *wire;
	const char *tap;
	const char *firmware_delay;
};

static int fail(const char *what, int error)
{
	fprintf(stderr, "be2: %s: %s\n", what, strerror(error));
	return 1;
}

static bool parse(int count, char **words, struct arguments *arguments)
{
	static const struct option options[] = {
		{ "socket", required_argument, NULL, 's' },
		{ "chip", required_argument, NULL, 'b' },
		{ "control", required_argument, NULL, 'c' },
		{ "log", required_argument, NULL, 'l' },
		{ "mac", required_argument, NULL, 'm' },
		{ "wire", required_argument, NULL, 'w' },
		{ "tap", required_argument, NULL, 't' },
		{ "firmware-delay", required_argument, NULL, 'f' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(count, words, "", options, NULL)) != -1) {
		switch (option) {
		case 's':
			arguments->socket = optarg;
			break;
		case 'b':
			arguments->chip = optarg;
			break;
		case 'c':
			arguments->control = optarg;
			break;
		case 'l':
			arguments->log = optarg;
			break;
		case 'm':
			arguments->mac = optarg;
			break;
		case 'w':
			arguments->wire = optarg;
			break;
		case 't':
			arguments->tap = optarg;
			break;
		case 'f':
			arguments->firmware_delay = optarg;
			break;
		default:
			return false;
		}
	}
	return arguments->socket && optind == count && !(arguments->wire && arguments->tap);
}

static bool parse_mac(const char *text, uint8_t *mac)
{
	int used = 0;

	return sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &mac[0], &mac[1], &mac[2],
		      &mac[3], &mac[4], &mac[5], &used) == MAC_SIZE &&
	       !text[used] && !(mac[0] & 1);
}

static int plug_in(struct wire *wire, const struct arguments *arguments)
{
	if (arguments->tap)
		return wire_open_tap(wire, arguments->tap);
	if (arguments->wire)
		return wire_join(wire, atoi(arguments->wire));
	return 0;
}

static void receive_some(struct be2 *be2)
{
	size_t size;

	for (int i = 0; i < FRAMES_AT_A_TIME; i++) {
		size = wire_receive(&be2->wire, be2->received, sizeof(be2->received));
		if (!size)
			break;
		be2_receive(be2, be2->received, size);
	}
}

/* Until the client goes. Returns a negative errno. */
static int serve(struct be2 *be2)
{
	for (;;) {
		struct pollfd fds[] = {
			{ .fd = vfu_poll_fd(be2->vfu), .events = POLLIN },
			{ .fd = be2->wire.fd,
			  .events = POLLIN | (be2_tx_is_waiting(be2) ? POLLOUT : 0) },
			{ .fd = control_poll_fd(&be2->control), .events = POLLIN },
			{ .fd = be2->firmware_timer, .events = POLLIN },
		};
		int error;

		if (poll(fds, sizeof(fds) / sizeof(*fds), -1) < 0 && errno != EINTR)
			return -errno;
		if (fds[0].revents) {
			error = vfu_serve(be2->vfu);
			if (error)
				return error;
		}
		if (fds[1].revents & (POLLERR | POLLHUP))
			wire_exit(&be2->wire);
		if (fds[1].revents & POLLIN)
			receive_some(be2);
		be2_tx_run(be2);
		if (fds[3].revents)
			be2_mcc_run(be2);
		if (fds[2].revents)
			control_serve(&be2->control);
	}
}

static int open_all(struct be2 *be2, const struct arguments *arguments)
{
	int error;

	be2->chip = be2_find_chip(arguments->chip);
	if (!be2->chip)
		return fail(arguments->chip, EINVAL);
	if (arguments->mac && !parse_mac(arguments->mac, be2->mac))
		return fail(arguments->mac, EINVAL);
	if (arguments->firmware_delay)
		be2->firmware_delay_us = strtoul(arguments->firmware_delay, NULL, 0);
	be2->firmware_timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (be2->firmware_timer < 0)
		return fail("timer", errno);
	error = plug_in(&be2->wire, arguments);
	if (error)
		return fail("wire", -error);
	be2->vfu = be2_create_device(be2);
	if (!be2->vfu)
		return fail("device", errno);
	be2->control.device = be2->vfu;
	if (arguments->log) {
		be2->control.log = fopen(arguments->log, "w");
		if (!be2->control.log)
			return fail(arguments->log, errno);
	}
	if (arguments->control) {
		error = control_listen(&be2->control, arguments->control);
		if (error)
			return fail(arguments->control, -error);
	}
	/* The last, as it tells whoever started us that all is ready. */
	error = vfu_listen(be2->vfu, arguments->socket);
	if (error)
		return fail(arguments->socket, -error);
	return 0;
}

static void close_all(struct be2 *be2)
{
	control_exit(&be2->control);
	if (be2->control.log)
		fclose(be2->control.log);
	vfu_destroy(be2->vfu);
	wire_exit(&be2->wire);
	if (be2->firmware_timer >= 0)
		close(be2->firmware_timer);
	free(be2);
}

int main(int count, char **words)
{
	struct arguments arguments = { .chip = "be2" };
	struct be2 *be2;
	int status;

	if (!parse(count, words, &arguments)) {
		fprintf(stderr, usage, words[0]);
		return 2;
	}
	be2 = calloc(1, sizeof(*be2));
	if (!be2)
		return fail("memory", ENOMEM);
	memcpy(be2->mac, (const uint8_t[]){ 2, 0, 0, 0xbe, 2, 1 }, MAC_SIZE);
	be2->link_is_up = true;
	be2->firmware_timer = -1;
	be2->firmware_delay_us = FIRMWARE_DELAY_US;
	be2->control.model = be2;
	be2->control.commands = be2_commands;
	be2->control.print_counters = be2_print_counters;
	be2->control.listener = -1;
	be2->control.client = -1;
	wire_init(&be2->wire);
	status = open_all(be2, &arguments);
	if (!status) {
		int error = serve(be2);

		if (error != -ECONNRESET)
			status = fail("serving", -error);
	}
	close_all(be2);
	return status;
}
