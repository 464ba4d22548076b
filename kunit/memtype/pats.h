/* SPDX-License-Identifier: GPL-2.0 */
/* Contents of IA32_PAT that are found in the field. */
#ifndef _GMT_KUNIT_PATS_H
#define _GMT_KUNIT_PATS_H

/* WB WT UC- UC, twice: Intel SDM, "Programming the PAT" */
#define PAT_POWER_ON	0x0007040600070406ULL
/* WB WC UC- UC WB WP UC- WT: memtype.c:pat_bp_init() */
#define PAT_LINUX	0x0407050600070106ULL
/* the same function, on CPUs that take no notice of the third bit */
#define PAT_OLD_CPUS	0x0007010600070106ULL

#endif /* _GMT_KUNIT_PATS_H */
