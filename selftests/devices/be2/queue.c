// SPDX-License-Identifier: GPL-2.0
/*
 * Rings, and how a completion becomes an interrupt.
 *
 * A completion queue that is armed tells its event queue of an entry, and is no longer armed; an
 * event queue that is armed interrupts, and is no longer armed. The driver takes entries, zeroes
 * them, says how many it took, and arms again; what came meanwhile is told at once then.
 */
#include <string.h>

#include "be2.h"

bool be2_ring_init(struct be2_ring *ring, uint32_t entries, uint32_t entry_size,
		   const struct page_address *pages, unsigned int page_count)
{
	unsigned int needed = (entries * entry_size + RING_PAGE - 1) / RING_PAGE;

	memset(ring, 0, sizeof(*ring));
	if (needed > page_count || needed > RING_PAGES)
		return false;
	for (unsigned int i = 0; i < needed; i++)
		ring->pages[i] = pages[i].low | (uint64_t)pages[i].high << 32;
	ring->entries = entries;
	ring->entry_size = entry_size;
	ring->exists = true;
	return true;
}

uint64_t be2_ring_address(const struct be2_ring *ring, uint32_t index)
{
	uint32_t offset = index % ring->entries * ring->entry_size;

	return ring->pages[offset / RING_PAGE] + offset % RING_PAGE;
}

static void interrupt(struct be2 *be2, unsigned int eq)
{
	if (be2->faults.lost_interrupts) {
		be2->faults.lost_interrupts--;
		return;
	}
	vfu_interrupt(be2->vfu, eq);
}

static void tell_host(struct be2 *be2, unsigned int number)
{
	struct be2_eq *eq = &be2->eqs[number];

	if (!eq->armed || !eq->pending)
		return;
	eq->armed = false;
	interrupt(be2, number);
}

static void tell_eq(struct be2 *be2, unsigned int number)
{
	struct be2_cq *cq = &be2->cqs[number];
	struct be2_eq *eq = &be2->eqs[cq->eq];

	if (!cq->armed || !cq->pending || !eq->ring.exists)
		return;
	cq->armed = false;
	if (eq->pending == eq->ring.entries) {
		be2->counters.overflows++;
		return;
	}
	vfu_dma_publish32(be2->vfu, "event", be2_ring_address(&eq->ring, eq->ring.next++),
			  EVENT_VALID | number << EVENT_CQ_SHIFT);
	eq->pending++;
	tell_host(be2, cq->eq);
}

void be2_complete(struct be2 *be2, unsigned int number, const uint32_t words[COMPLETION_WORDS],
		  unsigned int valid_word)
{
	struct be2_cq *cq = &be2->cqs[number % BE2_CQS];
	uint32_t entry[COMPLETION_WORDS];
	uint64_t address;

	if (!cq->ring.exists)
		return;
	if (cq->pending == cq->ring.entries) {
		be2->counters.overflows++;
		return;
	}
	address = be2_ring_address(&cq->ring, cq->ring.next++);
	/* The driver waits for the valid bit, so its word comes last. */
	memcpy(entry, words, sizeof(entry));
	entry[valid_word] = 0;
	vfu_dma_write(be2->vfu, "completion", address, entry, sizeof(entry));
	vfu_dma_publish32(be2->vfu, "completion", address + valid_word * sizeof(*entry),
			  words[valid_word] | COMPLETION_VALID);
	cq->pending++;
	tell_eq(be2, number % BE2_CQS);
}

/* The driver says how many it took; a wrong number must not make more of them. */
static void take(uint32_t *pending, uint32_t popped)
{
	*pending -= popped < *pending ? popped : *pending;
}

void be2_event_doorbell(struct be2 *be2, uint32_t value)
{
	uint32_t popped = bits(value, DB_EVENT_POPPED_SHIFT, DB_EVENT_POPPED_BITS);
	bool rearm = value & DB_EVENT_REARM;

	if (value & DB_EVENT_IS_EQ) {
		unsigned int number = bits(value, 0, DB_EVENT_EQ_ID_BITS);

		if (number >= BE2_EQS)
			return;
		take(&be2->eqs[number].pending, popped);
		be2->eqs[number].armed |= rearm;
		tell_host(be2, number);
	} else {
		unsigned int number = bits(value, 0, DB_EVENT_CQ_ID_BITS);

		if (number >= BE2_CQS)
			return;
		take(&be2->cqs[number].pending, popped);
		be2->cqs[number].armed = rearm;
		tell_eq(be2, number);
	}
}
