// SPDX-License-Identifier: GPL-2.0
/* What the control socket offers beside counters: the link, and ways to misbehave. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "be2.h"

#define MAX_ARGUMENTS	4

/* Numbers from words[first] on. Returns false unless there are exactly as many as wanted. */
static bool numbers(int count, char **words, int first, int wanted, unsigned int *values)
{
	if (count - first != wanted)
		return false;
	for (int i = 0; i < wanted; i++) {
		char *end;
		unsigned long value = strtoul(words[first + i], &end, 0);

		if (*end || end == words[first + i] || value > UINT32_MAX)
			return false;
		values[i] = value;
	}
	return true;
}

static bool is_switch(const char *word, const char *on, const char *off, bool *value)
{
	*value = !strcmp(word, on);
	return *value || !strcmp(word, off);
}

static const char *run_link(void *model, int count, char **words, FILE *answer)
{
	bool is_up;

	(void)answer;
	if (count != 2 || !is_switch(words[1], "up", "down", &is_up))
		return "say: link up, or: link down";
	be2_set_link(model, is_up);
	return NULL;
}

static const char *run_ue(void *model, int count, char **words, FILE *answer)
{
	struct be2 *be2 = model;
	unsigned int values[MAX_ARGUMENTS];

	(void)answer;
	if (!numbers(count, words, 1, 2, values))
		return "say: ue LOW HIGH";
	be2->faults.ue_low = values[0];
	be2->faults.ue_high = values[1];
	return NULL;
}

static const char *run_hang(void *model, int count, char **words, FILE *answer)
{
	struct be2 *be2 = model;
	bool hangs;

	(void)answer;
	if (count != 2 || !is_switch(words[1], "on", "off", &hangs))
		return "say: hang on, or: hang off";
	be2->faults.firmware_hangs = hangs;
	be2_mcc_run(be2);
	return NULL;
}

static const char *run_fail(void *model, int count, char **words, FILE *answer)
{
	struct be2 *be2 = model;
	unsigned int values[MAX_ARGUMENTS];

	(void)answer;
	if (!numbers(count, words, 1, 4, values))
		return "say: fail SUBSYSTEM OPCODE STATUS COUNT";
	be2->faults.command_subsystem = values[0];
	be2->faults.command_opcode = values[1];
	be2->faults.command_status = values[2];
	be2->faults.command_count = values[3];
	return NULL;
}

static const char *run_tx_error(void *model, int count, char **words, FILE *answer)
{
	struct be2 *be2 = model;
	unsigned int values[MAX_ARGUMENTS];

	(void)answer;
	if (!numbers(count, words, 1, 2, values) || values[0] > 15)
		return "say: tx-error STATUS COUNT";
	be2->faults.tx_status = values[0];
	be2->faults.tx_count = values[1];
	return NULL;
}

static const char *run_lose_interrupts(void *model, int count, char **words, FILE *answer)
{
	struct be2 *be2 = model;

	(void)answer;
	if (!numbers(count, words, 1, 1, &be2->faults.lost_interrupts))
		return "say: lose-interrupts COUNT";
	return NULL;
}

const struct control_command be2_commands[] = {
	{ "link", "up|down: plug the cable in, or out", run_link },
	{ "ue", "LOW HIGH: the unrecoverable error bits", run_ue },
	{ "hang", "on|off: the firmware answers no command", run_hang },
	{ "fail", "SUBSYSTEM OPCODE STATUS COUNT: that command fails so many times", run_fail },
	{ "tx-error", "STATUS COUNT: so many packets are not sent, and completed with the status",
	  run_tx_error },
	{ "lose-interrupts", "COUNT: so many interrupts are not sent", run_lose_interrupts },
	{ 0 },
};

void be2_print_counters(void *model, FILE *answer)
{
	const struct be2 *be2 = model;
	const struct be2_counters *counters = &be2->counters;
	const struct {
		const char *name;
		uint64_t value;
	} lines[] = {
		{ "tx_packets", counters->tx_packets },
		{ "tx_frames", counters->tx_frames },
		{ "tx_jumbo", counters->tx_jumbo },
		{ "tx_tso", counters->tx_tso },
		{ "tx_tagged", counters->tx_tagged },
		{ "tx_checksums", counters->tx_checksums },
		{ "tx_lost", counters->tx_lost },
		{ "tx_malformed", counters->tx_malformed },
		{ "rx_frames", counters->rx_frames },
		{ "rx_delivered", counters->rx_delivered },
		{ "rx_hashed", counters->rx_hashed },
		{ "rx_tagged", counters->rx_tagged },
		{ "rx_no_buffer", counters->rx_no_buffer },
		{ "rx_filtered", counters->rx_filtered },
		{ "rx_not_ready", counters->rx_not_ready },
		{ "commands", counters->commands },
		{ "commands_unknown", counters->commands_unknown },
		{ "overflows", counters->overflows },
		{ "lost_interrupts_left", be2->faults.lost_interrupts },
		{ "tx_errors_left", be2->faults.tx_count },
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		fprintf(answer, "%s %" PRIu64 "\n", lines[i].name, lines[i].value);
	for (unsigned int i = 0; i < be2->chip->tx_rings; i++)
		fprintf(answer, "tx%u_packets %" PRIu64 "\n", i, be2->tx[i].packets);
	for (unsigned int i = 0; i < be2->chip->rx_rings; i++)
		fprintf(answer, "rx%u_delivered %" PRIu64 "\n", i, be2->rx[i].delivered);
}
