// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "control.h"

static const char *run_help(struct control *control, FILE *answer)
{
	fputs("help\ncounters\nviolations\nlog on|off\ntouch ADDRESS\nhang-up\n", answer);
	for (const struct control_command *c = control->commands; c->name; c++)
		fprintf(answer, "%s %s\n", c->name, c->help);
	return NULL;
}

static const char *run_counters(struct control *control, FILE *answer)
{
	const struct vfu_counters *counters = vfu_get_counters(control->device);
	const struct {
		const char *name;
		uint64_t value;
	} lines[] = {
		{ "messages", counters->messages },
		{ "posted", counters->posted },
		{ "reads", counters->reads },
		{ "writes", counters->writes },
		{ "interrupts", counters->interrupts },
		{ "interrupts_off", counters->interrupts_off },
		{ "resets", counters->resets },
		{ "dma_maps", counters->dma_maps },
		{ "dma_unmaps", counters->dma_unmaps },
		{ "dma_reads", counters->dma_reads },
		{ "dma_writes", counters->dma_writes },
		{ "dma_read_bytes", counters->dma_read_bytes },
		{ "dma_write_bytes", counters->dma_write_bytes },
		{ "dma_lowest", counters->dma_lowest },
		{ "dma_highest", counters->dma_highest },
		{ "dma_above_4g", counters->dma_above_4g },
		{ "violations", counters->violations },
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		fprintf(answer, "%s %" PRIu64 "\n", lines[i].name, lines[i].value);
	control->print_counters(control->model, answer);
	return NULL;
}

static const char *run_violations(struct control *control, FILE *answer)
{
	static const char *const reasons[] = {
		[VFU_UNMAPPED] = "unmapped",
		[VFU_NOT_PERMITTED] = "not-permitted",
		[VFU_NO_MEMORY] = "no-memory",
	};
	const struct vfu_violation *v;

	for (unsigned int i = 0; (v = vfu_get_violation(control->device, i)); i++)
		fprintf(answer, "%s 0x%" PRIx64 " of %" PRIu64 " bytes: %s: %s\n",
			v->is_write ? "write" : "read", v->address, v->size, reasons[v->reason],
			v->what);
	return NULL;
}

static const char *run_log(struct control *control, int count, char **words)
{
	if (!control->log)
		return "the model was started without a file for the log";
	if (count != 2 || (strcmp(words[1], "on") && strcmp(words[1], "off")))
		return "say: log on, or: log off";
	fflush(control->log);
	vfu_set_log(control->device, strcmp(words[1], "on") ? NULL : control->log);
	return NULL;
}

static const char *run_touch(struct control *control, int count, char **words)
{
	uint32_t value;

	if (count != 2)
		return "say: touch ADDRESS";
	vfu_dma_read(control->device, "touch", strtoull(words[1], NULL, 0), &value, sizeof(value));
	return NULL;
}

static const char *run(struct control *control, int count, char **words, FILE *answer)
{
	if (!strcmp(words[0], "help"))
		return run_help(control, answer);
	if (!strcmp(words[0], "counters"))
		return run_counters(control, answer);
	if (!strcmp(words[0], "violations"))
		return run_violations(control, answer);
	if (!strcmp(words[0], "log"))
		return run_log(control, count, words);
	if (!strcmp(words[0], "hang-up")) {
		vfu_hang_up(control->device);
		return NULL;
	}
	if (!strcmp(words[0], "touch"))
		return run_touch(control, count, words);
	for (const struct control_command *c = control->commands; c->name; c++)
		if (!strcmp(words[0], c->name))
			return c->run(control->model, count, words, answer);
	return "no such command; try: help";
}

static void close_client(struct control *control)
{
	close(control->client);
	control->client = -1;
	control->length = 0;
}

static void answer_line(struct control *control, char *line)
{
	char *words[CONTROL_WORDS], *text = NULL, *rest;
	size_t size = 0;
	int count = 0;
	const char *error;
	FILE *answer = open_memstream(&text, &size);

	if (!answer)
		return close_client(control);
	for (char *word = strtok_r(line, " \t\r", &rest); word && count < CONTROL_WORDS;
	     word = strtok_r(NULL, " \t\r", &rest))
		words[count++] = word;
	error = count ? run(control, count, words, answer) : "an empty line";
	if (error) {
		rewind(answer);
		fprintf(answer, "error %s\n", error);
	} else {
		fputs("ok\n", answer);
	}
	fclose(answer);
	/* Answers are short; somebody who does not read them loses the connection. */
	if (send(control->client, text, size, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)size)
		close_client(control);
	free(text);
}

static void take_client(struct control *control)
{
	control->client = accept4(control->listener, NULL, NULL, SOCK_CLOEXEC);
	control->length = 0;
}

static void take_bytes(struct control *control)
{
	ssize_t got = recv(control->client, control->line + control->length,
			   sizeof(control->line) - control->length, MSG_DONTWAIT);
	char *end;

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0)
		return close_client(control);
	control->length += got;
	while (control->client >= 0 && (end = memchr(control->line, '\n', control->length))) {
		size_t used = end - control->line + 1;

		*end = '\0';
		answer_line(control, control->line);
		if (control->client < 0)
			return;
		control->length -= used;
		memmove(control->line, end + 1, control->length);
	}
	if (control->length == sizeof(control->line))
		close_client(control);
}

int control_listen(struct control *control, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int error;

	control->client = -1;
	control->length = 0;
	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path) + 1);
	control->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (control->listener < 0)
		return -errno;
	unlink(path);
	if (!bind(control->listener, (struct sockaddr *)&address, sizeof(address)) &&
	    !listen(control->listener, 1))
		return 0;
	error = -errno;
	close(control->listener);
	control->listener = -1;
	return error;
}

void control_exit(struct control *control)
{
	if (control->client >= 0)
		close_client(control);
	if (control->listener >= 0)
		close(control->listener);
	control->listener = -1;
}

int control_poll_fd(const struct control *control)
{
	return control->client >= 0 ? control->client : control->listener;
}

void control_serve(struct control *control)
{
	if (control->client < 0)
		take_client(control);
	else
		take_bytes(control);
}
