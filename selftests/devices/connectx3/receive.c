// SPDX-License-Identifier: GPL-2.0
/* Receiving: a frame takes one descriptor, with as many buffers as it needs of those in there. */
#include <netinet/in.h>
#include <string.h>

#include "connectx3.h"

#define LARGEST_STRIDE	2048

/* Returns false when the driver has given no descriptor. */
static bool has_descriptor(struct cx3 *cx3, const struct cx3_qp *qp)
{
	be32 producer;

	if (!vfu_dma_read(cx3->vfu, "receive doorbell record", qp->doorbell_record, &producer,
			  sizeof(producer)))
		return false;
	/* en_rx.c:mlx4_en_update_rx_prod_db() gives the lower 16 bits. */
	return (uint16_t)(from_be32(producer) - qp->receive.next) != 0;
}

static bool read_descriptor(struct cx3 *cx3, const struct cx3_qp *qp, uint8_t *descriptor)
{
	const struct cx3_work_queue *queue = &qp->receive;
	uint64_t index = queue->next & ((1ULL << queue->log_size) - 1);

	return cx3_buffer_read(cx3, "receive descriptor", &qp->buffer,
			       queue->offset + (index << queue->log_stride), descriptor,
			       1ULL << queue->log_stride);
}

/* Writes the frame to the buffers of the descriptor. */
static enum syndrome scatter(struct cx3 *cx3, const struct cx3_qp *qp, const uint8_t *frame,
			     size_t size)
{
	uint8_t descriptor[LARGEST_STRIDE];
	size_t stride = 1ULL << qp->receive.log_stride;

	if (stride > sizeof(descriptor) || !read_descriptor(cx3, qp, descriptor))
		return SYNDROME_LOCAL_OPERATION;
	for (size_t at = 0; size && at + sizeof(struct wqe_data) <= stride;
	     at += sizeof(struct wqe_data)) {
		struct wqe_data segment;
		size_t now;

		memcpy(&segment, descriptor + at, sizeof(segment));
		now = from_be32(segment.byte_count);
		if (!now)
			break;
		now = size < now ? size : now;
		if (!cx3_mr_write(cx3, "receive buffer", qp->pd, &segment, frame, now))
			return SYNDROME_LOCAL_PROTECTION;
		frame += now;
		size -= now;
	}
	return size ? SYNDROME_LOCAL_LENGTH : SYNDROME_NONE;
}

static void describe(const uint8_t *frame, const struct frame_headers *headers,
		     struct completion *completion)
{
	bool has_l4 = headers->protocol == IPPROTO_TCP || headers->protocol == IPPROTO_UDP;
	uint16_t status = 0;

	if (headers->ip_version == 4)
		status |= headers->is_fragment ? STATUS_IPV4_FRAGMENT : STATUS_IPV4;
	else if (headers->ip_version == 6)
		status |= STATUS_IPV6;
	if (headers->ip_version && frame_ip_checksum_ok(frame, headers))
		status |= STATUS_IP_OK;
	if (has_l4)
		status |= headers->protocol == IPPROTO_TCP ? STATUS_TCP : STATUS_UDP;
	completion->status = to_be16(status);
	if (has_l4 && frame_l4_checksum_ok(frame, headers))
		completion->checksum = to_be16(CHECKSUM_OK);
}

static enum syndrome injected(struct cx3_faults *faults)
{
	if (!faults->rx_count)
		return SYNDROME_NONE;
	faults->rx_count--;
	return faults->rx_syndrome;
}

static void deliver(struct cx3 *cx3, struct cx3_qp *qp, const uint8_t *frame, size_t size,
		    struct completion *completion)
{
	uint16_t index = qp->receive.next;
	enum syndrome syndrome = scatter(cx3, qp, frame, size);

	if (syndrome == SYNDROME_NONE)
		syndrome = injected(&cx3->faults);
	qp->receive.next++;
	if (syndrome != SYNDROME_NONE) {
		cx3_complete_error(cx3, qp->receive.cqn, qp, index, syndrome, false);
		return;
	}
	cx3->counters.rx_delivered++;
	completion->vlan_and_qpn = to_be32(from_be32(completion->vlan_and_qpn) | qp->number);
	completion->byte_count = to_be32(size);
	completion->index = to_be16(index);
	completion->opcode_and_owner = COMPLETION_RECEIVED;
	cx3_complete(cx3, qp->receive.cqn, completion);
}

/* The queue pair that is to get the frame; NULL when the driver has none. */
static struct cx3_qp *receiver(struct cx3 *cx3, uint32_t qpn, const uint8_t *frame,
			       const struct frame_headers *headers, uint32_t *hash)
{
	struct cx3_qp *qp = cx3_qp_find(cx3, qpn);

	if (qp && from_be32(qp->context.flags) & QP_IS_RSS)
		qp = cx3_qp_find(cx3, cx3_spread(&qp->context, frame, headers, hash));
	if (!qp || from_be32(qp->context.flags) & QP_IS_RSS || !qp->receive.log_size)
		return NULL;
	return qp->state == QP_READY_TO_RECEIVE || qp->state == QP_READY_TO_SEND ? qp : NULL;
}

static void drop_not_ready(struct cx3 *cx3)
{
	cx3->counters.rx_not_ready++;
	cx3->statistics.rx_dropped++;
}

static void receive_for(struct cx3 *cx3, uint32_t qpn, uint8_t *frame, size_t size,
			const struct frame_headers *headers)
{
	struct completion completion = { 0 };
	uint32_t hash = 0;
	struct cx3_qp *qp = receiver(cx3, qpn, frame, headers, &hash);

	if (!qp) {
		drop_not_ready(cx3);
		return;
	}
	if (!has_descriptor(cx3, qp)) {
		cx3->counters.rx_no_buffer++;
		cx3->statistics.rx_dropped++;
		cx3->statistics.rx_overflow++;
		return;
	}
	describe(frame, headers, &completion);
	completion.hash = to_be32(hash);
	if (headers->has_vlan && !(from_be32(qp->context.param3) & QP_KEEP_VLAN)) {
		size = frame_remove_vlan(frame, size);
		completion.vlan_and_qpn = to_be32(COMPLETION_HAS_VLAN);
		completion.vlan = to_be16(headers->vlan);
		cx3->counters.rx_tagged++;
	}
	deliver(cx3, qp, frame, size, &completion);
}

void cx3_receive(struct cx3 *cx3, uint8_t *frame, size_t size)
{
	struct frame_headers headers;
	uint32_t qpn;

	if (!cx3_port_is_up(&cx3->port))
		return;
	cx3->counters.rx_frames++;
	if (size > cx3->port.largest_frame) {
		cx3->statistics.rx_giant[NO_VLAN]++;
		drop_not_ready(cx3);
		return;
	}
	statistics_count_rx(&cx3->statistics, frame, size);
	frame_parse(frame, size, &headers);
	if (!cx3_filter_takes(cx3, frame, &headers, &qpn)) {
		cx3->counters.rx_filtered++;
		return;
	}
	receive_for(cx3, qpn, frame, size, &headers);
}
