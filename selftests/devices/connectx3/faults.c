// SPDX-License-Identifier: GPL-2.0
/* What the control socket offers beside counters: the link, and ways to misbehave. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "connectx3.h"

#define MAX_ARGUMENTS	3

/* All words but the first as numbers. Returns false unless there are exactly as many as wanted. */
static bool numbers(int count, char **words, int wanted, unsigned int *values)
{
	if (count - 1 != wanted)
		return false;
	for (int i = 0; i < wanted; i++) {
		char *end;
		unsigned long value = strtoul(words[1 + i], &end, 0);

		if (*end || end == words[1 + i] || value > UINT32_MAX)
			return false;
		values[i] = value;
	}
	return true;
}

static const char *run_link(void *model, int count, char **words, FILE *answer)
{
	(void)answer;
	if (count != 2 || (strcmp(words[1], "up") && strcmp(words[1], "down")))
		return "say: link up, or: link down";
	cx3_set_light(model, !strcmp(words[1], "up"));
	return NULL;
}

static const char *run_internal_error(void *model, int count, char **words, FILE *answer)
{
	struct cx3 *cx3 = model;

	(void)answer;
	if (!numbers(count, words, 1, &cx3->faults.error_buffer))
		return "say: internal-error WORD";
	return NULL;
}

static const char *run_fail(void *model, int count, char **words, FILE *answer)
{
	struct cx3 *cx3 = model;
	unsigned int values[MAX_ARGUMENTS];

	(void)answer;
	if (!numbers(count, words, 3, values) || values[1] > UINT8_MAX)
		return "say: fail OPCODE STATUS COUNT";
	cx3->faults.command_opcode = values[0];
	cx3->faults.command_status = values[1];
	cx3->faults.command_count = values[2];
	return NULL;
}

static const char *run_tx_error(void *model, int count, char **words, FILE *answer)
{
	struct cx3 *cx3 = model;
	unsigned int values[MAX_ARGUMENTS];

	(void)answer;
	if (!numbers(count, words, 2, values) || values[0] >= SYNDROMES)
		return "say: tx-error SYNDROME COUNT";
	cx3->faults.tx_syndrome = values[0];
	cx3->faults.tx_count = values[1];
	return NULL;
}

static const char *run_rx_error(void *model, int count, char **words, FILE *answer)
{
	struct cx3 *cx3 = model;
	unsigned int values[MAX_ARGUMENTS];

	(void)answer;
	if (!numbers(count, words, 2, values) || values[0] >= SYNDROMES)
		return "say: rx-error SYNDROME COUNT";
	cx3->faults.rx_syndrome = values[0];
	cx3->faults.rx_count = values[1];
	return NULL;
}

static const char *run_torn(void *model, int count, char **words, FILE *answer)
{
	struct cx3 *cx3 = model;

	(void)answer;
	if (!numbers(count, words, 1, &cx3->faults.torn_count))
		return "say: torn COUNT";
	return NULL;
}

const struct control_command cx3_commands[] = {
	{ "link", "up|down: plug the cable in, or out", run_link },
	{ "internal-error", "WORD: what the internal-error buffer begins with",
	  run_internal_error },
	{ "fail", "OPCODE STATUS COUNT: that command fails so many times", run_fail },
	{ "tx-error", "SYNDROME COUNT: so many descriptors are not sent, and completed with that",
	  run_tx_error },
	{ "rx-error", "SYNDROME COUNT: so many frames are completed with that", run_rx_error },
	{ "torn", "COUNT: so many BlueFlame writes arrive in pieces", run_torn },
	{ 0 },
};

void cx3_print_counters(void *model, FILE *answer)
{
	const struct cx3 *cx3 = model;
	const struct cx3_counters *counters = &cx3->counters;
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
		{ "tx_inline", counters->tx_inline },
		{ "tx_nops", counters->tx_nops },
		{ "tx_lost", counters->tx_lost },
		{ "tx_malformed", counters->tx_malformed },
		{ "tx_by_blueflame", counters->tx_by_blueflame },
		{ "tx_by_doorbell", counters->tx_by_doorbell },
		{ "doorbells", counters->doorbells },
		{ "doorbells_unknown", counters->doorbells_unknown },
		{ "blueflame_stores", counters->blueflame_stores },
		{ "blueflame_whole", counters->blueflame_whole },
		{ "blueflame_torn", counters->blueflame_torn },
		{ "blueflame_unordered_stores", counters->blueflame_unordered_stores },
		{ "blueflame_duplicated", counters->blueflame_duplicated },
		{ "blueflame_reordered", counters->blueflame_reordered },
		{ "blueflame_stale", counters->blueflame_stale },
		{ "blueflame_busy", counters->blueflame_busy },
		{ "blueflame_different", counters->blueflame_different },
		{ "blueflame_rejected", counters->blueflame_rejected },
		{ "rx_frames", counters->rx_frames },
		{ "rx_delivered", counters->rx_delivered },
		{ "rx_tagged", counters->rx_tagged },
		{ "rx_no_buffer", counters->rx_no_buffer },
		{ "rx_filtered", counters->rx_filtered },
		{ "rx_not_ready", counters->rx_not_ready },
		{ "commands", counters->commands },
		{ "commands_unknown", counters->commands_unknown },
		{ "icm_unmapped", counters->icm_unmapped },
		{ "bad_keys", counters->bad_keys },
		{ "overflows", counters->overflows },
		{ "blueflame_pending", cx3_blueflame_pending(cx3) },
		{ "tx_errors_left", cx3->faults.tx_count },
		{ "rx_errors_left", cx3->faults.rx_count },
		{ "torn_left", cx3->faults.torn_count },
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		fprintf(answer, "%s %" PRIu64 "\n", lines[i].name, lines[i].value);
}
