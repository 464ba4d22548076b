// SPDX-License-Identifier: GPL-2.0
/* Queue pairs: what the driver says of them, and which state they are in. */
#include <string.h>

#include "connectx3.h"

#define LARGEST_LOG_PAGE	19
/* A mailbox begins with a mask of optional parameters: qp.c:__mlx4_qp_modify(). */
#define CONTEXT_OFFSET		8
#define NUMBER_MASK		0xffffff

struct cx3_qp *cx3_qp_find(struct cx3 *cx3, uint32_t number)
{
	uint32_t mask = (1U << cx3->log_qps) - 1;

	for (unsigned int i = 0; i < CX3_QPS; i++)
		if (cx3->qps[i].exists && !((cx3->qps[i].number ^ number) & mask))
			return &cx3->qps[i];
	return NULL;
}

static struct cx3_qp *find_free(struct cx3 *cx3)
{
	for (unsigned int i = 0; i < CX3_QPS; i++)
		if (!cx3->qps[i].exists)
			return &cx3->qps[i];
	return NULL;
}

static struct cx3_work_queue work_queue(uint8_t size_stride, be32 cqn)
{
	return (struct cx3_work_queue){
		.log_size = size_stride >> QP_LOG_SIZE_SHIFT,
		.log_stride = QP_SMALLEST_STRIDE + bits(size_stride, 0, QP_STRIDE_BITS),
		.cqn = from_be32(cqn) & NUMBER_MASK,
	};
}

/* That with the larger entries comes first, if they are alike then that for sending. */
static void place_queues(struct cx3_qp *qp)
{
	if (qp->receive.log_stride > qp->send.log_stride)
		qp->send.offset = 1ULL << (qp->receive.log_size + qp->receive.log_stride);
	else
		qp->receive.offset = 1ULL << (qp->send.log_size + qp->send.log_stride);
}

enum command_status cx3_qp_init(struct cx3 *cx3, struct command *command)
{
	const struct qp_context *context = (const void *)(command->in + CONTEXT_OFFSET);
	struct cx3_qp *qp = find_free(cx3);

	if (cx3_qp_find(cx3, command->in_modifier & NUMBER_MASK))
		return COMMAND_BAD_QP_STATE;
	if (!qp)
		return COMMAND_EXCEEDS_LIMIT;
	if (context->log_page_size > LARGEST_LOG_PAGE)
		return COMMAND_BAD_PARAMETER;
	*qp = (struct cx3_qp){
		.exists = true,
		.number = command->in_modifier & NUMBER_MASK,
		.state = QP_INIT,
		.context = *context,
		.pd = from_be32(context->pd) & PD_MASK,
		.uar = from_be32(context->uar) & NUMBER_MASK,
		.buffer.mtt = (uint64_t)context->mtt_high << 32 | from_be32(context->mtt_low),
		.buffer.page_shift = ICM_PAGE_SHIFT + context->log_page_size,
		.send = work_queue(context->sq_size_stride, context->send_cq),
		.receive = work_queue(context->rq_size_stride, context->receive_cq),
		.doorbell_record = from_be64(context->doorbell_record),
	};
	place_queues(qp);
	return COMMAND_OK;
}

static const struct {
	unsigned int opcode;
	enum cx3_qp_state from;
	enum cx3_qp_state to;
} transitions[] = {
	{ INIT2RTR_QP, QP_INIT, QP_READY_TO_RECEIVE },
	{ RTR2RTS_QP, QP_READY_TO_RECEIVE, QP_READY_TO_SEND },
	{ RTS2RTS_QP, QP_READY_TO_SEND, QP_READY_TO_SEND },
};

/* qp.c: a queue pair that is reset twice, or that had an error, may be reset, too. */
static enum command_status reset(struct cx3_qp *qp)
{
	if (qp)
		qp->exists = false;
	return COMMAND_OK;
}

enum command_status cx3_qp_modify(struct cx3 *cx3, struct command *command)
{
	struct cx3_qp *qp = cx3_qp_find(cx3, command->in_modifier & NUMBER_MASK);

	if (command->opcode == TO_RESET_QP)
		return reset(qp);
	if (!qp)
		return COMMAND_BAD_QP_STATE;
	if (command->opcode == TO_ERROR_QP) {
		qp->state = QP_ERROR;
		return COMMAND_OK;
	}
	for (size_t i = 0; i < sizeof(transitions) / sizeof(*transitions); i++) {
		if (transitions[i].opcode != command->opcode || transitions[i].from != qp->state)
			continue;
		qp->state = transitions[i].to;
		return COMMAND_OK;
	}
	return COMMAND_BAD_QP_STATE;
}

/* qp.c:mlx4_qp_query(): the state is in the upper 4 bits of the flags. */
enum command_status cx3_qp_query(struct cx3 *cx3, struct command *command)
{
	const struct cx3_qp *qp = cx3_qp_find(cx3, command->in_modifier & NUMBER_MASK);
	struct qp_context *answer = (void *)(command->out + CONTEXT_OFFSET);
	uint32_t flags;

	if (!qp)
		return COMMAND_BAD_RESOURCE;
	*answer = qp->context;
	flags = bits(from_be32(qp->context.flags), 0, QP_STATE_SHIFT);
	answer->flags = to_be32(flags | (uint32_t)qp->state << QP_STATE_SHIFT);
	return COMMAND_OK;
}
