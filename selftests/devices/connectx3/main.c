// SPDX-License-Identifier: GPL-2.0
/* The program: one adapter, its sockets, its wire. */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "connectx3.h"

/* So that neither side waits long for the other. */
#define FRAMES_AT_A_TIME	64
/* How often to look where the guest stores without a message. */
#define LOOK_NS			250000

static const char usage[] =
	"usage: %s --socket PATH [--control PATH] [--log FILE] [--mac ADDRESS]\n"
	"          [--wire FD | --tap NAME] [--blueflame trapped|mapped|off] [--vf]\n"
	"\n"
	"  --socket PATH   where QEMU connects: -device '{\"driver\":\"vfio-user-pci\",...}'\n"
	"  --control PATH  where somebody may ask for counters; say help there\n"
	"  --log FILE      where accesses are written to after: log on\n"
	"  --mac ADDRESS   of the adapter\n"
	"  --wire FD       open file: an end of a socket pair (AF_UNIX, SOCK_DGRAM)\n"
	"  --tap NAME      a TAP device of this machine\n"
	"  --blueflame     trapped: each store to a BlueFlame register is seen (the default);\n"
	"                  mapped: the guest stores without an exit; off: there is no BlueFlame\n"
	"  --vf            capabilities as a virtual function would see them, without BlueFlame\n";

struct arguments {
	const char *socket;
	const char *control;
	const char *log;
	const char *mac;
	const char *wire;
	const char *tap;
	const char *blueflame;
	bool is_vf;
};

static int fail(const char *what, int error)
{
	fprintf(stderr, "connectx3: %s: %s\n", what, strerror(error));
	return 1;
}

static bool parse(int count, char **words, struct arguments *arguments)
{
	static const struct option options[] = {
		{ "socket", required_argument, NULL, 's' },
		{ "control", required_argument, NULL, 'c' },
		{ "log", required_argument, NULL, 'l' },
		{ "mac", required_argument, NULL, 'm' },
		{ "wire", required_argument, NULL, 'w' },
		{ "tap", required_argument, NULL, 't' },
		{ "blueflame", required_argument, NULL, 'b' },
		{ "vf", no_argument, NULL, 'v' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(count, words, "", options, NULL)) != -1) {
		switch (option) {
		case 's':
			arguments->socket = optarg;
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
		case 'b':
			arguments->blueflame = optarg;
			break;
		case 'v':
			arguments->is_vf = true;
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

static bool parse_blueflame(const char *text, enum cx3_blueflame_mode *mode)
{
	static const char *const names[] = {
		[BLUEFLAME_OFF] = "off",
		[BLUEFLAME_TRAPPED] = "trapped",
		[BLUEFLAME_MAPPED] = "mapped",
	};

	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(text, names[i]))
			continue;
		*mode = i;
		return true;
	}
	return false;
}

static int plug_in(struct wire *wire, const struct arguments *arguments)
{
	if (arguments->tap)
		return wire_open_tap(wire, arguments->tap);
	if (arguments->wire)
		return wire_join(wire, atoi(arguments->wire));
	return 0;
}

static void receive_some(struct cx3 *cx3)
{
	size_t size;

	for (int i = 0; i < FRAMES_AT_A_TIME; i++) {
		size = wire_receive(&cx3->wire, cx3->received, sizeof(cx3->received));
		if (!size)
			break;
		cx3_receive(cx3, cx3->received, size);
	}
}

/* How long to wait for the next event; NULL is as long as it takes. */
static const struct timespec *patience(const struct cx3 *cx3)
{
	static const struct timespec none = { 0 }, until_next_look = { .tv_nsec = LOOK_NS };

	if (cx3_tx_is_waiting(cx3) && wire_has_room(&cx3->wire))
		return &none;
	return cx3->blueflame_mode == BLUEFLAME_MAPPED ? &until_next_look : NULL;
}

/* Until the client goes. Returns a negative errno. */
static int serve(struct cx3 *cx3)
{
	for (;;) {
		struct pollfd fds[] = {
			{ .fd = vfu_poll_fd(cx3->vfu), .events = POLLIN },
			{ .fd = cx3->wire.fd,
			  .events = POLLIN | (cx3_tx_is_waiting(cx3) ? POLLOUT : 0) },
			{ .fd = control_poll_fd(&cx3->control), .events = POLLIN },
		};
		int error;

		if (ppoll(fds, sizeof(fds) / sizeof(*fds), patience(cx3), NULL) < 0 &&
		    errno != EINTR)
			return -errno;
		if (fds[0].revents) {
			error = vfu_serve(cx3->vfu);
			if (error)
				return error;
		}
		if (fds[1].revents & (POLLERR | POLLHUP))
			wire_exit(&cx3->wire);
		if (fds[1].revents & POLLIN)
			receive_some(cx3);
		cx3_blueflame_poll(cx3);
		cx3_tx_run(cx3);
		if (fds[2].revents)
			control_serve(&cx3->control);
	}
}

static int open_all(struct cx3 *cx3, const struct arguments *arguments)
{
	int error;

	if (arguments->mac && !parse_mac(arguments->mac, cx3->mac))
		return fail(arguments->mac, EINVAL);
	if (arguments->blueflame && !parse_blueflame(arguments->blueflame, &cx3->blueflame_mode))
		return fail(arguments->blueflame, EINVAL);
	cx3->is_vf = arguments->is_vf;
	error = plug_in(&cx3->wire, arguments);
	if (error)
		return fail("wire", -error);
	cx3->vfu = cx3_create_device(cx3);
	if (!cx3->vfu)
		return fail("device", errno);
	cx3->control.device = cx3->vfu;
	if (arguments->log) {
		cx3->control.log = fopen(arguments->log, "w");
		if (!cx3->control.log)
			return fail(arguments->log, errno);
	}
	if (arguments->control) {
		error = control_listen(&cx3->control, arguments->control);
		if (error)
			return fail(arguments->control, -error);
	}
	/* The last, as it tells whoever started us that all is ready. */
	error = vfu_listen(cx3->vfu, arguments->socket);
	if (error)
		return fail(arguments->socket, -error);
	return 0;
}

static void close_all(struct cx3 *cx3)
{
	control_exit(&cx3->control);
	if (cx3->control.log)
		fclose(cx3->control.log);
	vfu_destroy(cx3->vfu);
	cx3_icm_exit(cx3);
	wire_exit(&cx3->wire);
	free(cx3);
}

int main(int count, char **words)
{
	struct arguments arguments = { 0 };
	struct cx3 *cx3;
	int status;

	if (!parse(count, words, &arguments)) {
		fprintf(stderr, usage, words[0]);
		return 2;
	}
	cx3 = calloc(1, sizeof(*cx3));
	if (!cx3)
		return fail("memory", ENOMEM);
	memcpy(cx3->mac, (const uint8_t[]){ 2, 0, 0, 0xc3, 0, 1 }, MAC_SIZE);
	cx3->blueflame_mode = BLUEFLAME_TRAPPED;
	cx3->port.has_light = true;
	cx3->control.model = cx3;
	cx3->control.commands = cx3_commands;
	cx3->control.print_counters = cx3_print_counters;
	cx3->control.listener = -1;
	cx3->control.client = -1;
	wire_init(&cx3->wire);
	status = open_all(cx3, &arguments);
	if (!status) {
		int error = serve(cx3);

		if (error != -ECONNRESET)
			status = fail("serving", -error);
	}
	close_all(cx3);
	return status;
}
