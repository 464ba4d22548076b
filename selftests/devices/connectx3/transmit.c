// SPDX-License-Identifier: GPL-2.0
/*
 * Send queues. A descriptor (WQE) is in the queue when its owner bit is that of the current round.
 * A doorbell says only that there is something, and all that is there is executed; what comes by
 * BlueFlame is executed as it came, after all that precedes it in the queue, and nothing beyond.
 */
#include <string.h>

#include "connectx3.h"

/* So that neither a queue nor a hostile driver keeps us from the rest. */
#define DESCRIPTORS_AT_A_TIME	64

static bool can_send(const struct cx3_qp *qp)
{
	return qp->state == QP_READY_TO_SEND || qp->state == QP_ERROR;
}

static unsigned int blocks(const struct cx3_qp *qp, size_t size)
{
	return (size + (1U << qp->send.log_stride) - 1) >> qp->send.log_stride;
}

/* A descriptor may begin at the end of the queue and go on at its beginning. */
static bool read_queue(struct cx3 *cx3, const struct cx3_qp *qp, uint32_t index, uint8_t *wqe,
		       size_t size)
{
	const struct cx3_work_queue *send = &qp->send;
	uint64_t ring = 1ULL << (send->log_size + send->log_stride);
	uint64_t at = ((uint64_t)index << send->log_stride) & (ring - 1);
	size_t first = size < ring - at ? size : ring - at;

	if (size > ring)
		return false;
	return cx3_buffer_read(cx3, "send descriptor", &qp->buffer, send->offset + at, wqe,
			       first) &&
	       cx3_buffer_read(cx3, "send descriptor", &qp->buffer, send->offset, wqe + first,
			       size - first);
}

static bool is_of_this_round(const struct cx3_qp *qp, const struct wqe_control *control)
{
	bool owner = from_be32(control->owner_opcode) & WQE_OWNER;

	return owner == (qp->send.next >> qp->send.log_size & 1);
}

/* Returns the size of the next descriptor; 0 when there is none. */
static size_t fetch(struct cx3 *cx3, const struct cx3_qp *qp, uint8_t *wqe)
{
	struct wqe_control control;
	size_t size;

	if (!read_queue(cx3, qp, qp->send.next, (void *)&control, sizeof(control)) ||
	    !is_of_this_round(qp, &control))
		return 0;
	size = (control.size & WQE_SIZE_MASK) * SEGMENT;
	if (!size || !read_queue(cx3, qp, qp->send.next, wqe, size)) {
		cx3->counters.tx_malformed++;
		return 0;
	}
	return size;
}

bool cx3_tx_is_in_queue(struct cx3 *cx3, const struct cx3_qp *qp, uint16_t index,
			const uint8_t *wqe, size_t size)
{
	uint8_t there[LARGEST_WQE];

	return size <= sizeof(there) && read_queue(cx3, qp, index, there, size) &&
	       !memcmp(there, wqe, size);
}

static void complete(struct cx3 *cx3, const struct cx3_qp *qp, const struct wqe_control *control,
		     uint16_t index, size_t sent)
{
	uint32_t opcode = bits(from_be32(control->owner_opcode), 0, WQE_OPCODE_BITS);
	const struct completion entry = {
		.vlan_and_qpn = to_be32(qp->number),
		.byte_count = to_be32(sent),
		.index = to_be16(index),
		.opcode_and_owner = COMPLETION_IS_SEND | opcode,
	};

	if (from_be32(control->flags) & WQE_NOTIFY)
		cx3_complete(cx3, qp->send.cqn, &entry);
}

static enum syndrome injected(struct cx3_faults *faults)
{
	if (!faults->tx_count)
		return SYNDROME_NONE;
	faults->tx_count--;
	return faults->tx_syndrome;
}

static void execute(struct cx3 *cx3, struct cx3_qp *qp, const uint8_t *wqe, size_t size)
{
	uint16_t index = qp->send.next;
	enum syndrome syndrome = SYNDROME_FLUSHED;
	struct wqe_control control;
	size_t sent = 0;

	memcpy(&control, wqe, sizeof(control));
	qp->send.next += blocks(qp, size);
	if (qp->state == QP_READY_TO_SEND)
		syndrome = injected(&cx3->faults);
	if (syndrome == SYNDROME_NONE)
		syndrome = cx3_send(cx3, qp, wqe, size, &sent);
	if (syndrome == SYNDROME_NONE) {
		complete(cx3, qp, &control, index, sent);
		return;
	}
	/* All that follows is flushed, until the driver has reset the queue pair. */
	qp->state = QP_ERROR;
	cx3_complete_error(cx3, qp->send.cqn, qp, index, syndrome, true);
}

/* The next descriptor. Returns false when there is none. */
static bool step(struct cx3 *cx3, struct cx3_qp *qp)
{
	struct cx3_announced *announced = &qp->announced;
	uint8_t wqe[LARGEST_WQE];
	size_t size;

	if (announced->is_there && announced->index == (uint16_t)qp->send.next) {
		announced->is_there = false;
		cx3->counters.tx_by_blueflame++;
		execute(cx3, qp, announced->bytes, announced->size);
		return true;
	}
	size = fetch(cx3, qp, wqe);
	if (size) {
		cx3->counters.tx_by_doorbell++;
		execute(cx3, qp, wqe, size);
		return true;
	}
	if (announced->is_there) {
		announced->is_there = false;
		cx3->counters.blueflame_reordered++;
	}
	return false;
}

static bool has_work(const struct cx3_qp *qp)
{
	return qp->exists && (qp->has_doorbell || qp->announced.is_there);
}

static void run(struct cx3 *cx3, struct cx3_qp *qp)
{
	for (int i = 0; i < DESCRIPTORS_AT_A_TIME && has_work(qp); i++) {
		if (!wire_has_room(&cx3->wire))
			return;
		if (!step(cx3, qp))
			qp->has_doorbell = false;
	}
}

void cx3_tx_run(struct cx3 *cx3)
{
	for (unsigned int i = 0; i < CX3_QPS; i++)
		if (has_work(&cx3->qps[i]))
			run(cx3, &cx3->qps[i]);
}

bool cx3_tx_is_waiting(const struct cx3 *cx3)
{
	for (unsigned int i = 0; i < CX3_QPS; i++)
		if (has_work(&cx3->qps[i]))
			return true;
	return false;
}

struct cx3_qp *cx3_tx_find(struct cx3 *cx3, uint32_t number)
{
	struct cx3_qp *qp = cx3_qp_find(cx3, number);

	if (qp && can_send(qp))
		return qp;
	cx3->counters.doorbells_unknown++;
	return NULL;
}

void cx3_tx_ring(struct cx3 *cx3, struct cx3_qp *qp)
{
	qp->has_doorbell = true;
	run(cx3, qp);
}

void cx3_tx_announce(struct cx3 *cx3, struct cx3_qp *qp, uint16_t index, const uint8_t *wqe,
		     size_t size)
{
	struct cx3_announced *announced = &qp->announced;

	announced->is_there = true;
	announced->index = index;
	announced->size = size;
	memcpy(announced->bytes, wqe, size);
	run(cx3, qp);
}

void cx3_tx_doorbell(struct cx3 *cx3, uint32_t number)
{
	struct cx3_qp *qp = cx3_tx_find(cx3, number);

	cx3->counters.doorbells++;
	if (qp)
		cx3_tx_ring(cx3, qp);
}
