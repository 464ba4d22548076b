// SPDX-License-Identifier: GPL-2.0
/*
 * What a send descriptor does. Behind the control segment there are data segments, and inline ones
 * that have the data in them; one that cuts a large packet begins with the headers of it.
 */
#include <string.h>

#include "connectx3.h"

/**
 * struct gathering - a packet that is being put together
 * @wqe: the descriptor
 * @size: of it
 * @at: offset of the segment that comes next
 * @frame: the packet
 * @length: of it so far
 */
struct gathering {
	const uint8_t *wqe;
	size_t size;
	size_t at;
	uint8_t *frame;
	size_t length;
};

static void send_frame(void *context, uint8_t *frame, size_t size)
{
	struct cx3 *cx3 = context;

	if (!cx3_port_is_up(&cx3->port) || !wire_send(&cx3->wire, frame, size)) {
		cx3->counters.tx_lost++;
		cx3->statistics.tx_dropped++;
		return;
	}
	cx3->counters.tx_frames++;
	cx3->counters.tx_jumbo += size > CX3_LARGEST_STANDARD;
	statistics_count_tx(&cx3->statistics, frame, size);
}

static uint32_t word_at(const struct gathering *gathering, size_t at)
{
	be32 word;

	memcpy(&word, gathering->wqe + at, sizeof(word));
	return from_be32(word);
}

static bool has_room(const struct gathering *gathering, size_t more)
{
	return more <= LARGEST_FRAME - VLAN_TAG_SIZE - gathering->length;
}

/* Data behind a word, up to the next whole segment. */
static bool take_inline(struct gathering *gathering, size_t length)
{
	size_t data = gathering->at + sizeof(be32);

	if (data > gathering->size || length > gathering->size - data ||
	    !has_room(gathering, length))
		return false;
	memcpy(gathering->frame + gathering->length, gathering->wqe + data, length);
	gathering->length += length;
	gathering->at = (data + length + SEGMENT - 1) / SEGMENT * SEGMENT;
	return true;
}

static enum syndrome take_data(struct cx3 *cx3, const struct cx3_qp *qp,
			       struct gathering *gathering)
{
	struct wqe_data segment;
	size_t length;

	if (gathering->size - gathering->at < sizeof(segment))
		return SYNDROME_LOCAL_LENGTH;
	memcpy(&segment, gathering->wqe + gathering->at, sizeof(segment));
	length = from_be32(segment.byte_count);
	if (!has_room(gathering, length))
		return SYNDROME_LOCAL_LENGTH;
	if (!cx3_mr_read(cx3, "packet", qp->pd, &segment, gathering->frame + gathering->length,
			 length))
		return SYNDROME_LOCAL_PROTECTION;
	gathering->length += length;
	gathering->at += sizeof(segment);
	return SYNDROME_NONE;
}

static enum syndrome gather(struct cx3 *cx3, const struct cx3_qp *qp, struct gathering *gathering)
{
	enum syndrome syndrome = SYNDROME_NONE;
	bool has_inline = false;

	while (gathering->at < gathering->size && syndrome == SYNDROME_NONE) {
		uint32_t head = word_at(gathering, gathering->at);

		if (!(head & WQE_INLINE)) {
			syndrome = take_data(cx3, qp, gathering);
			continue;
		}
		has_inline = true;
		if (!take_inline(gathering, head & ~WQE_INLINE))
			syndrome = SYNDROME_LOCAL_LENGTH;
	}
	cx3->counters.tx_inline += has_inline;
	return syndrome;
}

/* Returns false when the driver asks for what the packet does not allow. */
static bool send_packet(struct cx3 *cx3, const struct wqe_control *control, size_t size,
			unsigned int mss)
{
	uint32_t flags = from_be32(control->flags);
	struct frame_headers headers;

	if (size < ETHERNET_HEADER || control->insert_vlan & WQE_INSERT_SVLAN)
		return false;
	if (control->insert_vlan & WQE_INSERT_CVLAN) {
		size = frame_insert_vlan(cx3->frame, size, from_be16(control->vlan));
		cx3->counters.tx_tagged++;
	}
	frame_parse(cx3->frame, size, &headers);
	if (mss) {
		cx3->counters.tx_tso++;
		return frame_segment(cx3->frame, &headers, mss, send_frame, cx3);
	}
	if (flags & WQE_IP_CHECKSUM)
		frame_fill_ip_checksum(cx3->frame, &headers);
	if (flags & WQE_L4_CHECKSUM) {
		cx3->counters.tx_checksums++;
		frame_fill_l4_checksum(cx3->frame, &headers);
	}
	send_frame(cx3, cx3->frame, size);
	return true;
}

static enum syndrome send(struct cx3 *cx3, const struct cx3_qp *qp, struct gathering *gathering,
			  const struct wqe_control *control, bool is_large)
{
	unsigned int mss = 0;
	enum syndrome syndrome;

	cx3->counters.tx_packets++;
	if (is_large) {
		uint32_t head = gathering->size >= gathering->at + sizeof(be32) ?
					word_at(gathering, gathering->at) : 0;

		mss = head >> WQE_MSS_SHIFT;
		if (!mss || !take_inline(gathering, bits(head, 0, WQE_HEADER_BITS)))
			return SYNDROME_LOCAL_LENGTH;
	}
	syndrome = gather(cx3, qp, gathering);
	if (syndrome != SYNDROME_NONE)
		return syndrome;
	return send_packet(cx3, control, gathering->length, mss) ? SYNDROME_NONE :
								   SYNDROME_LOCAL_OPERATION;
}

enum syndrome cx3_send(struct cx3 *cx3, const struct cx3_qp *qp, const uint8_t *wqe, size_t size,
		       size_t *sent)
{
	struct gathering gathering = {
		.wqe = wqe, .size = size, .at = sizeof(struct wqe_control), .frame = cx3->frame,
	};
	bool is_raw = bits(from_be32(qp->context.flags), QP_SERVICE_SHIFT, QP_SERVICE_BITS) ==
		      QP_SERVICE_RAW;
	enum syndrome syndrome = SYNDROME_LOCAL_OPERATION;
	struct wqe_control control;
	uint32_t opcode;

	memcpy(&control, wqe, sizeof(control));
	opcode = bits(from_be32(control.owner_opcode), 0, WQE_OPCODE_BITS);
	if (opcode == WQE_NOP) {
		cx3->counters.tx_nops++;
		return SYNDROME_NONE;
	}
	if (is_raw && (opcode == WQE_SEND || opcode == WQE_LSO))
		syndrome = send(cx3, qp, &gathering, &control, opcode == WQE_LSO);
	if (syndrome != SYNDROME_NONE)
		cx3->counters.tx_malformed++;
	*sent = gathering.length;
	return syndrome;
}
