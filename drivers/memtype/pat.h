/* SPDX-License-Identifier: GPL-2.0 */
/* The page attribute table: which memory type a page-table entry asks for. */
#ifndef _GMT_PAT_H
#define _GMT_PAT_H

#include "memtype.h"

#define GMT_PAT_ENTRIES 8
/* What the table holds after power-on: WB WT UC- UC, twice. */
#define GMT_PAT_POWER_ON 0x0007040600070406ULL

unsigned int gmt_pat_index(u64 pte, bool large);
enum gmt_type gmt_pat_entry(u64 pat, unsigned int index);
int gmt_pat_find(u64 pat, enum gmt_type type);
bool gmt_pat_valid(u64 pat);
u64 gmt_pat_pte_bits(unsigned int index);

#endif /* _GMT_PAT_H */
