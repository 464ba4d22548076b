/* SPDX-License-Identifier: GPL-2.0 */
/* What this CPU says of itself. */
#ifndef _GMT_CPU_H
#define _GMT_CPU_H

#include "mtrr.h"
#include "verdict.h"

void gmt_read_machine(struct gmt_machine *machine);
void gmt_read_mtrrs(struct gmt_mtrrs *mtrrs);
bool gmt_page_entry(const void *addr, unsigned int *pat_index, bool *large);

#endif /* _GMT_CPU_H */
