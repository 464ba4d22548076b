// SPDX-License-Identifier: GPL-2.0
/*
 * The host command register (HCR): seven words, the last of which starts the command. The driver
 * polls it for the end of the command, or wants an event: cmd.c:mlx4_cmd_post().
 */
#include "connectx3.h"

static uint64_t parameter(const struct cx3 *cx3, unsigned int word)
{
	return (uint64_t)from_be32(cx3->hcr[word]) << 32 | from_be32(cx3->hcr[word + 1]);
}

static void tell(struct cx3 *cx3, uint16_t token, enum command_status status, uint64_t out_param)
{
	struct event event = { .type = EVENT_COMMAND };

	event.command.token = to_be16(token);
	event.command.status = status;
	event.command.out_param = to_be64(out_param);
	cx3_async_event(cx3, &event);
}

static void run(struct cx3 *cx3, uint32_t start)
{
	struct command *command = &cx3->command;
	uint16_t token = from_be32(cx3->hcr[HCR_TOKEN]) >> HCR_TOKEN_SHIFT;
	enum command_status status;

	command->opcode = bits(start, 0, HCR_OPCODE_BITS);
	command->modifier = bits(start, HCR_OPMOD_SHIFT, HCR_OPMOD_BITS);
	command->in_modifier = from_be32(cx3->hcr[HCR_IN_MODIFIER]);
	command->in_param = parameter(cx3, HCR_IN_PARAM);
	command->out_param = parameter(cx3, HCR_OUT_PARAM);
	status = cx3_execute(cx3, command);
	cx3->hcr[HCR_OUT_PARAM] = to_be32(command->out_param >> 32);
	cx3->hcr[HCR_OUT_PARAM + 1] = to_be32(command->out_param);
	/* The toggle bit stays: by it the driver knows that it is the answer to this command. */
	cx3->hcr[HCR_STATUS] = to_be32((bits(start, 0, HCR_STATUS_SHIFT) & ~HCR_GO) |
				       (uint32_t)status << HCR_STATUS_SHIFT);
	if (start & HCR_EVENT)
		tell(cx3, token, status, command->out_param);
}

/* What the driver reads and writes are its own bytes: the register's are in the chip's order. */
uint32_t cx3_hcr_read(const struct cx3 *cx3, unsigned int word)
{
	uint32_t value;

	memcpy(&value, &cx3->hcr[word], sizeof(value));
	return value;
}

void cx3_hcr_write(struct cx3 *cx3, unsigned int word, uint32_t value)
{
	memcpy(&cx3->hcr[word], &value, sizeof(value));
	if (word == HCR_STATUS && from_be32(cx3->hcr[word]) & HCR_GO)
		run(cx3, from_be32(cx3->hcr[word]));
}
