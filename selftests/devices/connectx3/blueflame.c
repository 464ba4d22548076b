// SPDX-License-Identifier: GPL-2.0
/*
 * BlueFlame: the driver stores a descriptor to the card instead of ringing the doorbell, after it
 * has put it in the queue all the same. So a descriptor that comes in pieces is not lost: the card
 * takes such a write for a doorbell, and fetches what is in the queue.
 *
 * Where the registers are trapped, each store is seen, in order. Where they are mapped, the guest's
 * stores go to memory that it shares with us, and only the last descriptor in each half of a
 * register is there when we look; those before it are fetched from the queue.
 */
#include <string.h>

#include "connectx3.h"

#define WORD		4
#define WORDS		(BLUEFLAME_BUFFER / WORD)

/* What the first 8 bytes of a descriptor say. */
struct head {
	uint16_t index;
	uint32_t number;
	size_t size;
};

static struct head head_of(const uint8_t *bytes)
{
	be32 words[2];

	memcpy(words, bytes, sizeof(words));
	return (struct head){
		.index = bits(from_be32(words[0]), BLUEFLAME_INDEX_SHIFT, BLUEFLAME_INDEX_BITS),
		.number = from_be32(words[1]) >> SEND_DOORBELL_QPN_SHIFT,
		.size = (from_be32(words[1]) & WQE_SIZE_MASK) * SEGMENT,
	};
}

static int16_t distance(uint16_t from, uint32_t to)
{
	return (int16_t)(uint16_t)(to - from);
}

/* Returns false for one that came already. */
static bool check_order(struct cx3 *cx3, struct cx3_qp *qp, uint16_t index)
{
	bool is_first = !qp->has_blueflame;
	uint16_t last = qp->last_blueflame;

	qp->has_blueflame = true;
	qp->last_blueflame = index;
	if (is_first)
		return true;
	if (index == last) {
		cx3->counters.blueflame_duplicated++;
		return false;
	}
	cx3->counters.blueflame_reordered += distance(last, index) < 0;
	return true;
}

/* Whether to execute what came, rather than what is in the queue. */
static bool is_of_use(struct cx3 *cx3, const struct cx3_qp *qp, const struct head *head,
		      const uint8_t *bytes)
{
	if (cx3->faults.torn_count) {
		cx3->faults.torn_count--;
		cx3->counters.blueflame_torn++;
		return false;
	}
	if (distance(qp->send.next, head->index) < 0) {
		cx3->counters.blueflame_stale++;
		return false;
	}
	if (qp->announced.is_there) {
		cx3->counters.blueflame_busy++;
		return false;
	}
	cx3->counters.blueflame_different +=
		!cx3_tx_is_in_queue(cx3, qp, head->index, bytes, head->size);
	return true;
}

/* A whole descriptor has come. */
static void take(struct cx3 *cx3, const struct head *head, const uint8_t *bytes)
{
	struct cx3_qp *qp = cx3_tx_find(cx3, head->number);

	cx3->counters.blueflame_whole++;
	if (!qp)
		return;
	if (head->number & BLUEFLAME_QPN_SKIP) {
		cx3->counters.blueflame_rejected++;
		return;
	}
	if (!check_order(cx3, qp, head->index))
		return;
	if (is_of_use(cx3, qp, head, bytes))
		cx3_tx_announce(cx3, qp, head->index, bytes, head->size);
	else
		cx3_tx_ring(cx3, qp);
}

/* --- trapped --- */

/* Descriptors are stored in whole blocks. */
static bool is_whole(const struct cx3_blueflame *buffer, const struct head *head)
{
	unsigned int words = (head->size + SEND_BLOCK - 1) / SEND_BLOCK * SEND_BLOCK / WORD;
	uint64_t needed = words < WORDS ? (1ULL << words) - 1 : UINT64_MAX;

	return head->size && head->size <= BLUEFLAME_BUFFER &&
	       (buffer->written & needed) == needed;
}

/* The driver begins anew where a descriptor is not whole: the rest of it will not come. */
static void give_up(struct cx3 *cx3, struct cx3_blueflame *buffer)
{
	const struct head head = head_of(buffer->bytes);
	struct cx3_qp *qp;

	buffer->written = 0;
	buffer->end = 0;
	cx3->counters.blueflame_torn++;
	qp = cx3_tx_find(cx3, head.number);
	if (qp)
		cx3_tx_ring(cx3, qp);
}

void cx3_blueflame_store(struct cx3 *cx3, uint64_t offset, unsigned int size, uint64_t value)
{
	struct cx3_blueflame *buffer = &cx3->blueflame[offset / BLUEFLAME_BUFFER];
	unsigned int at = offset % BLUEFLAME_BUFFER;
	struct head head;

	cx3->counters.blueflame_stores++;
	if (!at && buffer->written & 1)
		give_up(cx3, buffer);
	memcpy(buffer->bytes + at, &value, size);
	for (unsigned int word = at / WORD; word < (at + size) / WORD; word++)
		buffer->written |= 1ULL << word;
	cx3->counters.blueflame_unordered_stores += at != buffer->end;
	buffer->end = at + size;
	head = head_of(buffer->bytes);
	if ((buffer->written & 3) != 3 || !is_whole(buffer, &head))
		return;
	buffer->written = 0;
	buffer->end = 0;
	take(cx3, &head, buffer->bytes);
}

unsigned int cx3_blueflame_pending(const struct cx3 *cx3)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < BLUEFLAME_BUFFERS; i++)
		count += cx3->blueflame[i].written != 0;
	return count;
}

/* --- mapped --- */

/* Returns false while the guest is still storing, so that it is looked at again. */
static bool is_settled(struct cx3 *cx3, const struct head *head, const uint8_t *bytes)
{
	const struct cx3_qp *qp = cx3_qp_find(cx3, head->number);

	if (!qp || !head->size || head->size > BLUEFLAME_BUFFER ||
	    distance(qp->send.next, head->index) < 0)
		return true;
	return cx3_tx_is_in_queue(cx3, qp, head->index, bytes, head->size);
}

static void poll_buffer(struct cx3 *cx3, uint8_t *memory)
{
	uint64_t *first = (uint64_t *)memory;
	uint64_t seen = __atomic_load_n(first, __ATOMIC_ACQUIRE);
	uint8_t bytes[BLUEFLAME_BUFFER];
	struct head head;

	if (!seen)
		return;
	memcpy(bytes, memory, sizeof(bytes));
	memcpy(bytes, &seen, sizeof(seen));
	head = head_of(bytes);
	if (!is_settled(cx3, &head, bytes))
		return;
	/* So that the same is noticed when it comes again; a new one that has just come stays. */
	if (!__atomic_compare_exchange_n(first, &seen, 0, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return;
	if (head.size && head.size <= BLUEFLAME_BUFFER)
		take(cx3, &head, bytes);
}

void cx3_blueflame_poll(struct cx3 *cx3)
{
	uint8_t *memory = vfu_bar_memory(cx3->vfu, UAR_BAR);
	bool is_done[UAR_PAGES] = { 0 };

	if (!memory)
		return;
	for (unsigned int i = 0; i < CX3_QPS; i++) {
		const struct cx3_qp *qp = &cx3->qps[i];
		uint64_t page = BLUEFLAME_AREA + (uint64_t)qp->uar * UAR_PAGE;

		if (!qp->exists || qp->uar >= UAR_PAGES || is_done[qp->uar])
			continue;
		is_done[qp->uar] = true;
		for (unsigned int half = 0; half < BLUEFLAME_PER_UAR; half++)
			poll_buffer(cx3, memory + page + half * BLUEFLAME_BUFFER);
	}
}
