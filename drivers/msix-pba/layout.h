/* SPDX-License-Identifier: GPL-2.0 */
/* Where a function keeps its MSI-X table and PBA, and who shares their pages. No side effects. */
#ifndef _MSIX_PBA_LAYOUT_H
#define _MSIX_PBA_LAYOUT_H

#include <linux/pci.h>
#include <linux/types.h>

/**
 * struct msix_bar - what the layout depends on of one base address register
 * @size: bytes that it decodes; 0 if the function does not have it
 * @memory: it decodes memory, not I/O ports
 * @upper_half: it is the upper half of the 64-bit register before it
 */
struct msix_bar {
	u64 size;
	bool memory;
	bool upper_half;
};

/**
 * struct msix_config - what configuration space says
 * @control: Message Control of the MSI-X capability
 * @table: Table Offset and Table BIR
 * @pba: PBA Offset and PBA BIR
 * @bars: base address registers of this type of header: 6, or 2 of a bridge
 * @bar: the first @bars of these count
 */
struct msix_config {
	u16 control;
	u32 table;
	u32 pba;
	unsigned int bars;
	struct msix_bar bar[PCI_STD_NUM_BARS];
};

/**
 * enum msix_fault - what is wrong with a capability
 * @MSIX_SOUND: nothing
 * @MSIX_BIR_RESERVED: the BIR names no BAR of this header
 * @MSIX_BAR_ABSENT: the function does not have the BAR
 * @MSIX_BAR_UPPER_HALF: the BIR names the upper half of a 64-bit BAR
 * @MSIX_BAR_PORTS: the BAR decodes I/O ports
 * @MSIX_OFFSET_BEYOND_BAR: it begins after the end of the BAR
 * @MSIX_END_BEYOND_BAR: it ends after the end of the BAR
 * @MSIX_OVERLAP: table and PBA overlap
 */
enum msix_fault {
	MSIX_SOUND,
	MSIX_BIR_RESERVED,
	MSIX_BAR_ABSENT,
	MSIX_BAR_UPPER_HALF,
	MSIX_BAR_PORTS,
	MSIX_OFFSET_BEYOND_BAR,
	MSIX_END_BEYOND_BAR,
	MSIX_OVERLAP,
};

/**
 * enum msix_sharing - what else is on the pages that the table or the PBA occupies
 * @MSIX_SHARES_NOTHING: nothing that could be told from the capability
 * @MSIX_SHARES_TABLE: of the PBA: the table, and nothing else that could be told
 * @MSIX_SHARES_PBA: of the table: the PBA, and nothing else that could be told
 * @MSIX_SHARES_REGISTERS: possibly registers: the page begins with neither, or
 *	reaches beyond the BAR
 */
enum msix_sharing {
	MSIX_SHARES_NOTHING,
	MSIX_SHARES_TABLE,
	MSIX_SHARES_PBA,
	MSIX_SHARES_REGISTERS,
};

/**
 * enum msix_isolation - how table and PBA stand apart from all else, the best first
 *
 * PCI Express Base 5.0, 7.7.2 (PCI 3.0, 6.8.2): the 4 KiB are a rule, the others
 * are what its implementation note recommends, in this order.
 *
 * @MSIX_OWN_BARS: each has a BAR in which there is room for nothing else
 * @MSIX_ONE_BAR: both have one BAR in which there is room for nothing else
 * @MSIX_BY_8K: the aligned 8 KiB that they are in begin with one of them
 * @MSIX_BY_4K: the aligned 4 KiB that they are in begin with one of them
 * @MSIX_NOT_ISOLATED: something may stand before them in their 4 KiB
 */
enum msix_isolation {
	MSIX_OWN_BARS,
	MSIX_ONE_BAR,
	MSIX_BY_8K,
	MSIX_BY_4K,
	MSIX_NOT_ISOLATED,
};

/**
 * struct msix_structure - the table or the PBA
 * @fault: what is wrong with it; if anything is, only @bar and @offset count
 * @bar: number of its BAR
 * @offset: of its first byte in the BAR
 * @length: bytes
 * @bar_size: bytes of the BAR
 * @first_page: offset of the first page that it occupies
 * @end_page: offset of the end of the last one; may be beyond that of the BAR
 * @sharing: what else is on these pages; counts only if the whole layout is sound
 * @before: bytes on these pages before it that neither structure covers; the same
 * @after: after it, and within the BAR; the same
 */
struct msix_structure {
	enum msix_fault fault;
	unsigned int bar;
	u64 offset;
	u64 length;
	u64 bar_size;
	u64 first_page;
	u64 end_page;
	enum msix_sharing sharing;
	u64 before;
	u64 after;
};

/**
 * struct msix_layout - what the capability says, and what follows from it
 * @vectors: number of vectors
 * @page_size: bytes; what a page is here
 * @table: the table
 * @pba: the PBA
 * @fault: the first fault found; if there is one, nothing below counts
 * @other_pages: pages of the PBA's BAR that hold neither structure
 * @small_bar: the PBA's BAR is smaller than a page
 * @isolation: how the structures stand apart from all else
 */
struct msix_layout {
	unsigned int vectors;
	u64 page_size;
	struct msix_structure table;
	struct msix_structure pba;
	enum msix_fault fault;
	u64 other_pages;
	bool small_bar;
	enum msix_isolation isolation;
};

struct msix_layout msix_layout(const struct msix_config *config, u64 page_size);
bool msix_hot_page_likely(const struct msix_layout *layout);
const char *msix_fault_text(enum msix_fault fault);
const char *msix_sharing_text(enum msix_sharing sharing);
const char *msix_isolation_text(enum msix_isolation isolation);

#endif /* _MSIX_PBA_LAYOUT_H */
