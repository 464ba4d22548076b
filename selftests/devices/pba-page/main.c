// SPDX-License-Identifier: GPL-2.0
/*
 * A device whose registers share a page with the pending bit array, as some disks and RAID
 * controllers have it:
 *
 *	BAR 0	0x0000	DOORBELL: a write is an interrupt of that vector
 *		0x2000	vector table, alone on its page
 *		0x3000	RUNG: how often the doorbell was rung
 *		0x3800	pending bit array
 *
 * The page of RUNG and PBA is memory that the guest has in common with the model, so that reading
 * there costs what it costs on the way: nothing, unless somebody traps it.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "vfu.h"

#define VECTORS		4
#define DOORBELL	0x0000
#define TABLE		0x2000
#define RUNG		0x3000
#define PBA		0x3800
#define BAR_SIZE	0x4000
#define PAGE		0x1000

/* Not assigned to anybody; QEMU's own test devices have the vendor, too. */
#define VENDOR		0x1b36
#define DEVICE		0xfba0

static const char usage[] = "usage: %s --socket PATH [--control PATH] [--log FILE]\n";

struct pba_page {
	struct vfu *vfu;
	struct control control;
	uint32_t rung;
};

static void set_rung(struct pba_page *device, uint32_t rung)
{
	uint32_t *memory = vfu_bar_memory(device->vfu, 0);

	device->rung = rung;
	/* The guest reads it at any time. */
	__atomic_store_n(memory + RUNG / sizeof(*memory), rung, __ATOMIC_RELEASE);
}

static uint64_t pba_page_read(void *model, unsigned int bar, uint64_t offset, unsigned int size)
{
	(void)model;
	(void)bar;
	(void)offset;
	(void)size;
	return 0;
}

static void pba_page_write(void *model, unsigned int bar, uint64_t offset, unsigned int size,
			   uint64_t value)
{
	struct pba_page *device = model;

	(void)bar;
	if (offset != DOORBELL || size != sizeof(uint32_t))
		return;
	set_rung(device, device->rung + 1);
	if (value < VECTORS)
		vfu_interrupt(device->vfu, value);
}

static void pba_page_reset(void *model, enum vfu_reset why)
{
	(void)why;
	set_rung(model, 0);
}

static void print_counters(void *model, FILE *answer)
{
	const struct pba_page *device = model;

	fprintf(answer, "rung %" PRIu32 "\n", device->rung);
}

static const struct vfu_area shared = { .offset = RUNG, .size = PAGE };

static const struct vfu_setup setup = {
	.id = {
		.vendor = VENDOR, .device = DEVICE,
		.subsystem_vendor = VENDOR, .subsystem = DEVICE,
		.class_code = 0x088000,
	},
	.bar = { [0] = { .size = BAR_SIZE, .shared = &shared, .shared_count = 1 } },
	.msix = {
		.config_offset = 0x80, .vectors = VECTORS,
		.table_bar = 0, .table_offset = TABLE,
		.pba_bar = 0, .pba_offset = PBA,
	},
	.pcie = { .config_offset = 0xc0, .speed = 3, .width = 4 },
	.read = pba_page_read,
	.write = pba_page_write,
	.reset = pba_page_reset,
};

static const struct control_command no_commands[] = { { 0 } };

static int fail(const char *what, int error)
{
	fprintf(stderr, "pba-page: %s: %s\n", what, strerror(error));
	return 1;
}

/* Until the client goes. Returns a negative errno. */
static int serve(struct pba_page *device)
{
	for (;;) {
		struct pollfd fds[] = {
			{ .fd = vfu_poll_fd(device->vfu), .events = POLLIN },
			{ .fd = control_poll_fd(&device->control), .events = POLLIN },
		};
		int error;

		if (poll(fds, sizeof(fds) / sizeof(*fds), -1) < 0 && errno != EINTR)
			return -errno;
		if (fds[0].revents) {
			error = vfu_serve(device->vfu);
			if (error)
				return error;
		}
		if (fds[1].revents)
			control_serve(&device->control);
	}
}

struct arguments {
	const char *socket;
	const char *control;
	const char *log;
};

static bool parse(int count, char **words, struct arguments *arguments)
{
	static const struct option options[] = {
		{ "socket", required_argument, NULL, 's' },
		{ "control", required_argument, NULL, 'c' },
		{ "log", required_argument, NULL, 'l' },
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
		default:
			return false;
		}
	}
	return arguments->socket && optind == count;
}

static int open_all(struct pba_page *device, const struct arguments *arguments)
{
	int error;

	device->vfu = vfu_create(&setup, device);
	if (!device->vfu)
		return fail("device", errno);
	device->control.device = device->vfu;
	if (arguments->log) {
		device->control.log = fopen(arguments->log, "w");
		if (!device->control.log)
			return fail(arguments->log, errno);
	}
	if (arguments->control) {
		error = control_listen(&device->control, arguments->control);
		if (error)
			return fail(arguments->control, -error);
	}
	/* The last, as it tells whoever started us that all is ready. */
	error = vfu_listen(device->vfu, arguments->socket);
	return error ? fail(arguments->socket, -error) : 0;
}

int main(int count, char **words)
{
	struct pba_page device = {
		.control = {
			.model = &device, .commands = no_commands, .print_counters = print_counters,
			.listener = -1, .client = -1,
		},
	};
	struct arguments arguments = { 0 };
	int status;

	if (!parse(count, words, &arguments)) {
		fprintf(stderr, usage, words[0]);
		return 2;
	}
	status = open_all(&device, &arguments);
	if (!status) {
		int error = serve(&device);

		if (error != -ECONNRESET)
			status = fail("serving", -error);
	}
	control_exit(&device.control);
	if (device.control.log)
		fclose(device.control.log);
	vfu_destroy(device.vfu);
	return status;
}
