// SPDX-License-Identifier: GPL-2.0
/* Regions of memory: what a descriptor's memory key allows it to reach, and where that is. */
#include "connectx3.h"

/* mr.c:hw_index_to_key(): the upper 8 bits of an index are the lowest of its key. */
static uint32_t index_of_key(uint32_t key)
{
	return key >> 8 | key << 24;
}

static struct cx3_mr *find(struct cx3 *cx3, uint32_t index)
{
	uint32_t mask = (1U << cx3->log_mpts) - 1;

	for (unsigned int i = 0; i < CX3_MRS; i++)
		if (cx3->mrs[i].exists && !((cx3->mrs[i].index ^ index) & mask))
			return &cx3->mrs[i];
	return NULL;
}

static struct cx3_mr *find_free(struct cx3 *cx3)
{
	for (unsigned int i = 0; i < CX3_MRS; i++)
		if (!cx3->mrs[i].exists)
			return &cx3->mrs[i];
	return NULL;
}

enum command_status cx3_mr_create(struct cx3 *cx3, struct command *command)
{
	const struct mpt_entry *entry = (const void *)command->in;
	uint32_t page_shift = from_be32(entry->page_shift);
	bool is_physical = from_be32(entry->flags) & MPT_PHYSICAL;
	struct cx3_mr *mr;

	if (find(cx3, command->in_modifier))
		return COMMAND_BAD_RESOURCE_STATE;
	if (!is_physical && (page_shift < ICM_PAGE_SHIFT || page_shift > 31))
		return COMMAND_BAD_PARAMETER;
	mr = find_free(cx3);
	if (!mr)
		return COMMAND_EXCEEDS_LIMIT;
	*mr = (struct cx3_mr){
		.exists = true,
		.index = from_be32(entry->key),
		.pd = from_be32(entry->pd_flags) & PD_MASK,
		.is_physical = is_physical,
		.start = from_be64(entry->start),
		.length = from_be64(entry->length),
		.buffer = { from_be64(entry->mtt), page_shift },
	};
	return COMMAND_OK;
}

enum command_status cx3_mr_destroy(struct cx3 *cx3, struct command *command)
{
	struct cx3_mr *mr = find(cx3, command->in_modifier);

	if (!mr)
		return COMMAND_BAD_INDEX;
	mr->exists = false;
	return COMMAND_OK;
}

static bool contains(const struct cx3_mr *mr, uint64_t address, size_t size)
{
	uint64_t offset = address - mr->start;

	return address >= mr->start && offset <= mr->length && size <= mr->length - offset;
}

static const struct cx3_mr *allowed(struct cx3 *cx3, uint32_t pd, const struct wqe_data *segment,
				    size_t size)
{
	const struct cx3_mr *mr = find(cx3, index_of_key(from_be32(segment->key)));

	if (mr && mr->index == index_of_key(from_be32(segment->key)) && mr->pd == pd &&
	    contains(mr, from_be64(segment->address), size))
		return mr;
	cx3->counters.bad_keys++;
	return NULL;
}

bool cx3_mr_read(struct cx3 *cx3, const char *what, uint32_t pd, const struct wqe_data *segment,
		 void *data, size_t size)
{
	const struct cx3_mr *mr = allowed(cx3, pd, segment, size);
	uint64_t address = from_be64(segment->address);

	if (!mr)
		return false;
	if (mr->is_physical)
		return vfu_dma_read(cx3->vfu, what, address, data, size);
	return cx3_buffer_read(cx3, what, &mr->buffer, address - mr->start, data, size);
}

bool cx3_mr_write(struct cx3 *cx3, const char *what, uint32_t pd, const struct wqe_data *segment,
		  const void *data, size_t size)
{
	const struct cx3_mr *mr = allowed(cx3, pd, segment, size);
	uint64_t address = from_be64(segment->address);

	if (!mr)
		return false;
	if (mr->is_physical)
		return vfu_dma_write(cx3->vfu, what, address, data, size);
	return cx3_buffer_write(cx3, what, &mr->buffer, address - mr->start, data, size);
}
