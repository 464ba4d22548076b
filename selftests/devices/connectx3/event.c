// SPDX-License-Identifier: GPL-2.0
/*
 * Event queues. An armed one interrupts at the next event, and is no longer armed; the driver takes
 * events, says how far it has got, and arms again. What came meanwhile interrupts at once then.
 */
#include "connectx3.h"

/* The queue's pages are of 4 KiB, and log_page_size says more: eq.c:mlx4_create_eq(). */
#define LARGEST_LOG_PAGE	19

static struct cx3_eq *find(struct cx3 *cx3, unsigned int number)
{
	return number < CX3_EQS && cx3->eqs[number].exists ? &cx3->eqs[number] : NULL;
}

enum command_status cx3_eq_create(struct cx3 *cx3, struct command *command)
{
	const struct eq_context *context = (const void *)command->in;
	struct cx3_eq eq = {
		.exists = true,
		.buffer.mtt = (uint64_t)context->mtt_high << 32 | from_be32(context->mtt_low),
		.buffer.page_shift = ICM_PAGE_SHIFT + context->log_page_size,
		.log_size = context->log_size,
		.vector = context->vector,
		.armed = true,
	};

	if (command->in_modifier >= CX3_EQS)
		return COMMAND_BAD_INDEX;
	if (cx3->eqs[command->in_modifier].exists)
		return COMMAND_BAD_RESOURCE_STATE;
	if (eq.log_size >= INDEX_BITS || context->log_page_size > LARGEST_LOG_PAGE ||
	    eq.vector >= CX3_VECTORS)
		return COMMAND_BAD_PARAMETER;
	if (!cx3_buffer_take(cx3, &eq.buffer, eq.log_size))
		return COMMAND_ICM_ERROR;
	cx3->eqs[command->in_modifier] = eq;
	return COMMAND_OK;
}

enum command_status cx3_eq_destroy(struct cx3 *cx3, struct command *command)
{
	struct cx3_eq *eq = find(cx3, command->in_modifier);

	if (!eq)
		return COMMAND_BAD_INDEX;
	eq->exists = false;
	return COMMAND_OK;
}

/* eq.c:mlx4_MAP_EQ(): a bit for each type of event; the top bit of the number takes them away. */
enum command_status cx3_eq_map_events(struct cx3 *cx3, struct command *command)
{
	int eqn = command->in_modifier >> 31 ? -1 : (int)(command->in_modifier & (CX3_EQS - 1));

	for (unsigned int type = 0; type < EVENT_TYPES; type++)
		if (command->in_param >> type & 1)
			cx3->event_eqs[type] = eqn;
	return COMMAND_OK;
}

static void tell_host(struct cx3 *cx3, struct cx3_eq *eq)
{
	if (!eq->armed || !((eq->producer - eq->consumer) & INDEX_MASK))
		return;
	eq->armed = false;
	vfu_interrupt(cx3->vfu, eq->vector);
}

void cx3_event(struct cx3 *cx3, unsigned int eqn, const struct event *event)
{
	struct cx3_eq *eq = find(cx3, eqn);
	struct event entry = *event;
	uint32_t size;

	if (!eq)
		return;
	size = 1U << eq->log_size;
	if (((eq->producer - eq->consumer) & INDEX_MASK) >= size) {
		cx3->counters.overflows++;
		return;
	}
	entry.owner = eq->producer & size ? OWNER_BIT : 0;
	cx3_buffer_publish(cx3, "event", &eq->buffer,
			   (uint64_t)(eq->producer & (size - 1)) * sizeof(entry), &entry);
	eq->producer++;
	tell_host(cx3, eq);
}

void cx3_async_event(struct cx3 *cx3, const struct event *event)
{
	int eqn = cx3->event_eqs[event->type % EVENT_TYPES];

	if (eqn >= 0)
		cx3_event(cx3, eqn, event);
}

void cx3_eq_doorbell(struct cx3 *cx3, unsigned int number, uint32_t value)
{
	struct cx3_eq *eq = find(cx3, number);

	if (!eq)
		return;
	eq->consumer = value & INDEX_MASK;
	eq->armed |= value & EQ_DOORBELL_ARM;
	tell_host(cx3, eq);
}
