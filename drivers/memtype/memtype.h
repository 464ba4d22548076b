/* SPDX-License-Identifier: GPL-2.0 */
/* Memory types of x86, whoever encodes them. */
#ifndef _GMT_MEMTYPE_H
#define _GMT_MEMTYPE_H

#include <linux/types.h>

/**
 * enum gmt_type - how accesses to memory are cached, combined and ordered
 * @GMT_UC: uncached, strong
 * @GMT_UC_MINUS: uncached unless an MTRR says write-combining; in a PAT only
 * @GMT_WC: write-combining
 * @GMT_WT: write-through
 * @GMT_WP: write-protected
 * @GMT_WB: write-back
 * @GMT_ENCODED: number of types that a register can name
 * @GMT_WC_PLUS: AMD: combines writes, and probes caches
 * @GMT_CD: AMD: uncached, and probes caches
 * @GMT_UNDEFINED: the architecture does not say
 * @GMT_INVALID: an encoding that faults, or a nested page table that does not work
 */
enum gmt_type {
	GMT_UC,
	GMT_UC_MINUS,
	GMT_WC,
	GMT_WT,
	GMT_WP,
	GMT_WB,
	GMT_ENCODED,
	GMT_WC_PLUS = GMT_ENCODED,
	GMT_CD,
	GMT_UNDEFINED,
	GMT_INVALID,
};

enum gmt_type gmt_type_of_code(u8 code);
u8 gmt_code_of_type(enum gmt_type type);
const char *gmt_type_name(enum gmt_type type);
bool gmt_combines_writes(enum gmt_type type);

#endif /* _GMT_MEMTYPE_H */
