// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues. An armed one tells its event queue of the next completion, and is no longer
 * armed. The driver says how far it has got in the doorbell record, and again when it arms.
 */
#include <string.h>

#include "connectx3.h"

#define LARGEST_LOG_PAGE	19
/* cq.c:mlx4_cq_modify(); the other is to resize, which mlx4_en does not use */
#define MODIFY_MODERATION	1

static struct cx3_cq *find(struct cx3 *cx3, uint32_t number)
{
	uint32_t mask = (1U << cx3->log_cqs) - 1;

	for (unsigned int i = 0; i < CX3_CQS; i++)
		if (cx3->cqs[i].exists && !((cx3->cqs[i].number ^ number) & mask))
			return &cx3->cqs[i];
	return NULL;
}

static struct cx3_cq *find_free(struct cx3 *cx3)
{
	for (unsigned int i = 0; i < CX3_CQS; i++)
		if (!cx3->cqs[i].exists)
			return &cx3->cqs[i];
	return NULL;
}

enum command_status cx3_cq_create(struct cx3 *cx3, struct command *command)
{
	const struct cq_context *context = (const void *)command->in;
	struct cx3_cq *free = find_free(cx3);
	struct cx3_cq cq = {
		.exists = true,
		.number = command->in_modifier & INDEX_MASK,
		.buffer.mtt = (uint64_t)context->mtt_high << 32 | from_be32(context->mtt_low),
		.buffer.page_shift = ICM_PAGE_SHIFT + context->log_page_size,
		.log_size = bits(from_be32(context->log_size_and_uar), CQ_LOG_SIZE_SHIFT,
				 CQ_LOG_SIZE_BITS),
		.eqn = context->eqn,
		.doorbell_record = from_be64(context->doorbell_record),
	};

	if (find(cx3, cq.number))
		return COMMAND_BAD_RESOURCE_STATE;
	if (!free)
		return COMMAND_EXCEEDS_LIMIT;
	if (cq.log_size >= INDEX_BITS || context->log_page_size > LARGEST_LOG_PAGE)
		return COMMAND_BAD_PARAMETER;
	if (!cx3_buffer_take(cx3, &cq.buffer, cq.log_size))
		return COMMAND_ICM_ERROR;
	*free = cq;
	return COMMAND_OK;
}

enum command_status cx3_cq_destroy(struct cx3 *cx3, struct command *command)
{
	struct cx3_cq *cq = find(cx3, command->in_modifier);

	if (!cq)
		return COMMAND_BAD_INDEX;
	cq->exists = false;
	return COMMAND_OK;
}

/* Each completion is told at once, whatever the driver has set. */
enum command_status cx3_cq_modify(struct cx3 *cx3, struct command *command)
{
	if (!find(cx3, command->in_modifier))
		return COMMAND_BAD_INDEX;
	return command->modifier == MODIFY_MODERATION ? COMMAND_OK : COMMAND_BAD_PARAMETER;
}

static void tell_eq(struct cx3 *cx3, struct cx3_cq *cq)
{
	struct event event = { .type = EVENT_COMPLETION };

	event.completion.cqn = to_be32(cq->number);
	cq->armed = false;
	cx3_event(cx3, cq->eqn, &event);
}

static void tell_overrun(struct cx3 *cx3, const struct cx3_cq *cq)
{
	struct event event = { .type = EVENT_CQ_ERROR };

	event.cq_error.cqn = to_be32(cq->number);
	event.cq_error.syndrome = CQ_ERROR_OVERRUN;
	cx3_async_event(cx3, &event);
}

static bool is_full(struct cx3 *cx3, const struct cx3_cq *cq)
{
	be32 consumer;

	if (!vfu_dma_read(cx3->vfu, "consumer index", cq->doorbell_record, &consumer,
			  sizeof(consumer)))
		return true;
	return ((cq->producer - from_be32(consumer)) & INDEX_MASK) >= 1U << cq->log_size;
}

void cx3_complete(struct cx3 *cx3, uint32_t cqn, const void *completion)
{
	struct cx3_cq *cq = find(cx3, cqn);
	struct completion entry;
	uint32_t size;

	if (!cq)
		return;
	if (is_full(cx3, cq)) {
		cx3->counters.overflows++;
		tell_overrun(cx3, cq);
		return;
	}
	size = 1U << cq->log_size;
	memcpy(&entry, completion, sizeof(entry));
	entry.opcode_and_owner |= cq->producer & size ? OWNER_BIT : 0;
	cx3_buffer_publish(cx3, "completion", &cq->buffer,
			   (uint64_t)(cq->producer & (size - 1)) * sizeof(entry), &entry);
	cq->producer++;
	if (cq->armed)
		tell_eq(cx3, cq);
}

void cx3_complete_error(struct cx3 *cx3, uint32_t cqn, const struct cx3_qp *qp, uint16_t index,
			enum syndrome syndrome, bool is_send)
{
	const struct error_completion entry = {
		.qpn = to_be32(qp->number),
		.index = to_be16(index),
		.syndrome = syndrome,
		.opcode_and_owner = COMPLETION_ERROR | (is_send ? COMPLETION_IS_SEND : 0),
	};

	cx3_complete(cx3, cqn, &entry);
}

void cx3_cq_doorbell(struct cx3 *cx3, uint32_t number, uint32_t consumer)
{
	struct cx3_cq *cq = find(cx3, number);

	if (!cq)
		return;
	cq->armed = true;
	if ((cq->producer - consumer) & INDEX_MASK)
		tell_eq(cx3, cq);
}
