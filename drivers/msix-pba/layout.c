// SPDX-License-Identifier: GPL-2.0
/* Where a function keeps its MSI-X table and PBA, and who shares their pages. */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sizes.h>

#include "layout.h"

/* The PBA has a bit for each vector, in words of 64. */
#define PBA_WORD_BITS	64
#define PBA_WORD_BYTES	8

static const char * const fault_texts[] = {
	[MSIX_SOUND]		= "none",
	[MSIX_BIR_RESERVED]	= "its BIR names no BAR of this function",
	[MSIX_BAR_ABSENT]	= "the function does not have its BAR",
	[MSIX_BAR_UPPER_HALF]	= "its BIR names the upper half of a 64-bit BAR",
	[MSIX_BAR_PORTS]	= "its BAR decodes I/O ports",
	[MSIX_OFFSET_BEYOND_BAR] = "it begins beyond the end of its BAR",
	[MSIX_END_BEYOND_BAR]	= "it ends beyond the end of its BAR",
	[MSIX_OVERLAP]		= "table and PBA overlap",
};

static const char * const sharing_texts[] = {
	[MSIX_SHARES_NOTHING]	= "nothing",
	[MSIX_SHARES_TABLE]	= "the table only",
	[MSIX_SHARES_PBA]	= "the PBA only",
	[MSIX_SHARES_REGISTERS]	= "possibly registers",
};

static const char * const isolation_texts[] = {
	[MSIX_OWN_BARS]		= "a BAR each",
	[MSIX_ONE_BAR]		= "one BAR for both",
	[MSIX_BY_8K]		= "8 KiB",
	[MSIX_BY_4K]		= "4 KiB",
	[MSIX_NOT_ISOLATED]	= "possibly none",
};

/**
 * msix_fault_text() - a fault in words
 * @fault: the fault
 *
 * Context: any.
 * Return: static text, to be put after "table: " or "PBA: ".
 */
const char *msix_fault_text(enum msix_fault fault)
{
	return fault < ARRAY_SIZE(fault_texts) ? fault_texts[fault] : "invalid";
}

/**
 * msix_sharing_text() - what shares a page, in words
 * @sharing: what shares it
 *
 * Context: any.
 * Return: static text, to be put after "shared with ".
 */
const char *msix_sharing_text(enum msix_sharing sharing)
{
	return sharing < ARRAY_SIZE(sharing_texts) ? sharing_texts[sharing] : "invalid";
}

/**
 * msix_isolation_text() - an isolation in words
 * @isolation: the isolation
 *
 * Context: any.
 * Return: static text.
 */
const char *msix_isolation_text(enum msix_isolation isolation)
{
	return isolation < ARRAY_SIZE(isolation_texts) ? isolation_texts[isolation] : "invalid";
}

static enum msix_fault bar_fault(const struct msix_config *config, unsigned int bar)
{
	if (bar >= config->bars)
		return MSIX_BIR_RESERVED;
	if (config->bar[bar].upper_half)
		return MSIX_BAR_UPPER_HALF;
	if (!config->bar[bar].size)
		return MSIX_BAR_ABSENT;
	if (!config->bar[bar].memory)
		return MSIX_BAR_PORTS;
	return MSIX_SOUND;
}

static struct msix_structure locate(const struct msix_config *config, u32 where, u64 length,
				    u64 page_size)
{
	/* the PBA's register has the same shape as the table's */
	struct msix_structure found = {
		.bar = where & PCI_MSIX_TABLE_BIR,
		.offset = where & PCI_MSIX_TABLE_OFFSET,
		.length = length,
	};

	found.fault = bar_fault(config, found.bar);
	if (found.fault)
		return found;
	found.bar_size = config->bar[found.bar].size;
	if (found.offset >= found.bar_size)
		found.fault = MSIX_OFFSET_BEYOND_BAR;
	else if (length > found.bar_size - found.offset)
		found.fault = MSIX_END_BEYOND_BAR;
	found.first_page = round_down(found.offset, page_size);
	found.end_page = round_up(found.offset + length, page_size);
	return found;
}

static u64 end_of(const struct msix_structure *structure)
{
	return structure->offset + structure->length;
}

/* Bytes of [start, end) of its BAR that a structure covers. */
static u64 covered(const struct msix_structure *structure, u64 start, u64 end)
{
	u64 from = max(structure->offset, start);
	u64 to = min(end_of(structure), end);

	return from < to ? to - from : 0;
}

static bool overlap(const struct msix_structure *a, const struct msix_structure *b)
{
	return a->bar == b->bar && covered(a, b->offset, end_of(b));
}

/* Do table or PBA hold the first byte of the aligned range that this one begins in? */
static bool begins_range(const struct msix_layout *layout, const struct msix_structure *structure,
			 u64 range)
{
	u64 first = round_down(structure->offset, range);
	const struct msix_structure *all[] = { &layout->table, &layout->pba };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i]->bar == structure->bar && covered(all[i], first, first + 1))
			return true;
	return false;
}

static bool isolated_by(const struct msix_layout *layout, u64 range)
{
	return begins_range(layout, &layout->table, range) &&
	       begins_range(layout, &layout->pba, range);
}

static u64 pages_in(u64 bytes, u64 page_size)
{
	return div64_u64(round_up(bytes, page_size), page_size);
}

static u64 pages_of(const struct msix_structure *structure, u64 page_size)
{
	return pages_in(structure->end_page - structure->first_page, page_size);
}

/* Pages of its BAR in which there is neither structure. */
static u64 other_pages(const struct msix_layout *layout, const struct msix_structure *structure,
		       u64 page_size)
{
	const struct msix_structure *table = &layout->table, *pba = &layout->pba;
	u64 pages = pages_in(structure->bar_size, page_size);
	u64 from, to;

	pages -= pages_of(structure, page_size);
	if (table->bar != pba->bar)
		return pages;
	pages -= pages_of(structure == pba ? table : pba, page_size);
	from = max(table->first_page, pba->first_page);
	to = min(table->end_page, pba->end_page);
	return from < to ? pages + pages_in(to - from, page_size) : pages;
}

static bool on_pages_of(const struct msix_structure *structure, const struct msix_structure *pages)
{
	return structure->bar == pages->bar &&
	       covered(structure, pages->first_page, pages->end_page);
}

/*
 * What comes after the structures in a page is padding as a rule. What comes
 * before them is not: nobody would put it there.
 */
static enum msix_sharing sharing(const struct msix_layout *layout,
				 const struct msix_structure *structure)
{
	const struct msix_structure *table = &layout->table, *pba = &layout->pba;

	if (structure->bar_size < layout->page_size ||
	    !begins_range(layout, structure, layout->page_size))
		return MSIX_SHARES_REGISTERS;
	if (structure == pba && on_pages_of(table, pba))
		return MSIX_SHARES_TABLE;
	if (structure == table && on_pages_of(pba, table))
		return MSIX_SHARES_PBA;
	return MSIX_SHARES_NOTHING;
}

static void look_around(const struct msix_layout *layout, struct msix_structure *structure,
			const struct msix_structure *other)
{
	u64 end = min(structure->end_page, structure->bar_size);

	structure->sharing = sharing(layout, structure);
	structure->before = structure->offset - structure->first_page;
	structure->after = end - end_of(structure);
	if (other->bar == structure->bar) {
		structure->before -= covered(other, structure->first_page, structure->offset);
		structure->after -= covered(other, end_of(structure), end);
	}
}

/* By the specification's 4 KiB, whatever a page is here. */
static enum msix_isolation isolation(const struct msix_config *config,
				     const struct msix_layout *given)
{
	struct msix_layout layout = *given;

	layout.table = locate(config, config->table, layout.table.length, SZ_4K);
	layout.pba = locate(config, config->pba, layout.pba.length, SZ_4K);
	if (!isolated_by(&layout, SZ_4K))
		return MSIX_NOT_ISOLATED;
	if (!other_pages(&layout, &layout.table, SZ_4K) &&
	    !other_pages(&layout, &layout.pba, SZ_4K))
		return layout.table.bar == layout.pba.bar ? MSIX_ONE_BAR : MSIX_OWN_BARS;
	return isolated_by(&layout, SZ_8K) ? MSIX_BY_8K : MSIX_BY_4K;
}

/**
 * msix_layout() - the layout that a capability describes
 * @config: what configuration space says; may be any nonsense
 * @page_size: bytes of a page, a power of two; at most 2 GiB
 *
 * A pure function. Locations: PCI Express Base 5.0, 7.7.2.
 *
 * Context: any.
 * Return: the layout, with @fault set if the capability makes no sense.
 */
struct msix_layout msix_layout(const struct msix_config *config, u64 page_size)
{
	struct msix_layout layout = { .page_size = page_size };
	unsigned int words;

	/* the field is the number of vectors less one: there is no capability without a vector */
	layout.vectors = (config->control & PCI_MSIX_FLAGS_QSIZE) + 1;
	words = DIV_ROUND_UP(layout.vectors, PBA_WORD_BITS);
	layout.table = locate(config, config->table, (u64)layout.vectors * PCI_MSIX_ENTRY_SIZE,
			      page_size);
	layout.pba = locate(config, config->pba, words * PBA_WORD_BYTES, page_size);

	layout.fault = layout.table.fault ?: layout.pba.fault;
	if (!layout.fault && overlap(&layout.table, &layout.pba))
		layout.fault = MSIX_OVERLAP;
	if (layout.fault)
		return layout;

	layout.small_bar = layout.pba.bar_size < page_size;
	look_around(&layout, &layout.table, &layout.pba);
	look_around(&layout, &layout.pba, &layout.table);
	layout.isolation = isolation(config, &layout);
	layout.other_pages = other_pages(&layout, &layout.pba, page_size);
	return layout;
}

/**
 * msix_hot_page_likely() - may a page that is trapped for MSI-X hold registers?
 * @layout: the layout
 *
 * Context: any.
 * Return: true if what shares a page with table or PBA may be registers.
 */
bool msix_hot_page_likely(const struct msix_layout *layout)
{
	return !layout->fault && (layout->table.sharing == MSIX_SHARES_REGISTERS ||
				  layout->pba.sharing == MSIX_SHARES_REGISTERS);
}
