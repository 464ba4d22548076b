// SPDX-License-Identifier: GPL-2.0
/* The page attribute table: IA32_PAT, and the bits of page tables that lead into it. */
#include <linux/bits.h>

#include "pat.h"

/* Bits of a page-table entry that make up the index: Intel SDM volume 3, "Page Attribute Table". */
#define PTE_PWT		BIT_ULL(3)
#define PTE_PCD		BIT_ULL(4)
#define PTE_PAT		BIT_ULL(7)	/* of a 4 KiB page; elsewhere this bit is the page size */
#define PTE_PAT_LARGE	BIT_ULL(12)

#define INDEX_PWT	BIT(0)
#define INDEX_PCD	BIT(1)
#define INDEX_PAT	BIT(2)

static u8 pat_byte(u64 pat, unsigned int index)
{
	return pat >> (8 * index);
}

/**
 * gmt_pat_index() - which entry of the table a page asks for
 * @pte: the entry of the page tables that maps it
 * @large: it maps 2 MiB or 1 GiB
 *
 * Context: any.
 * Return: 0 to 7.
 */
unsigned int gmt_pat_index(u64 pte, bool large)
{
	return (pte & PTE_PWT ? INDEX_PWT : 0) |
	       (pte & PTE_PCD ? INDEX_PCD : 0) |
	       (pte & (large ? PTE_PAT_LARGE : PTE_PAT) ? INDEX_PAT : 0);
}

/**
 * gmt_pat_pte_bits() - the opposite of gmt_pat_index(), for a 4 KiB page
 * @index: 0 to 7
 *
 * Context: any.
 * Return: the bits of a page-table entry that ask for this entry.
 */
u64 gmt_pat_pte_bits(unsigned int index)
{
	return (index & INDEX_PWT ? PTE_PWT : 0) |
	       (index & INDEX_PCD ? PTE_PCD : 0) |
	       (index & INDEX_PAT ? PTE_PAT : 0);
}

/**
 * gmt_pat_entry() - what an entry of the table says
 * @pat: the whole table, MSR 0x277
 * @index: 0 to 7
 *
 * Context: any.
 * Return: the type, GMT_INVALID for a reserved code.
 */
enum gmt_type gmt_pat_entry(u64 pat, unsigned int index)
{
	return gmt_type_of_code(pat_byte(pat, index));
}

/**
 * gmt_pat_find() - which entry of the table has a type
 * @pat: the whole table
 * @type: the type wanted
 *
 * Context: any.
 * Return: the first such entry, -1 if there is none.
 */
int gmt_pat_find(u64 pat, enum gmt_type type)
{
	int index;

	for (index = 0; index < GMT_PAT_ENTRIES; index++)
		if (gmt_pat_entry(pat, index) == type)
			return index;
	return -1;
}

/**
 * gmt_pat_valid() - would a CPU take this table?
 * @pat: the whole table
 *
 * Context: any.
 * Return: false if writing it to the MSR faults.
 */
bool gmt_pat_valid(u64 pat)
{
	return gmt_pat_find(pat, GMT_INVALID) < 0;
}
