/* SPDX-License-Identifier: GPL-2.0 */
/* What the cost of reading a page says of it. No side effects. */
#ifndef _MSIX_PBA_VERDICT_H
#define _MSIX_PBA_VERDICT_H

#include <linux/types.h>

/**
 * struct msix_cost - what one read costs, of many
 * @reads: how many were done; 0: none, and nothing else counts
 * @low_ps: lower quartile, in picoseconds
 * @median_ps: median
 * @high_ps: upper quartile
 */
struct msix_cost {
	u64 reads;
	u64 low_ps;
	u64 median_ps;
	u64 high_ps;
};

/**
 * enum msix_verdict - does reading a page leave the guest?
 * @MSIX_CANNOT_TELL: the figures do not say
 * @MSIX_DIRECT: no
 * @MSIX_TRAPPED: yes
 */
enum msix_verdict {
	MSIX_CANNOT_TELL,
	MSIX_DIRECT,
	MSIX_TRAPPED,
};

/**
 * enum msix_reason - what a verdict is based on
 * @MSIX_NO_DIFFERENCE: too little between the page and what it was compared with
 * @MSIX_TOO_SLOW: no device takes that long to answer
 * @MSIX_SLOWER_THAN_OTHER: several times what the other page costs
 * @MSIX_FASTER_THAN_OTHER: a fraction of what the other page costs
 * @MSIX_FASTER_THAN_EXIT: a fraction of what leaving the guest costs
 */
enum msix_reason {
	MSIX_NO_DIFFERENCE,
	MSIX_TOO_SLOW,
	MSIX_SLOWER_THAN_OTHER,
	MSIX_FASTER_THAN_OTHER,
	MSIX_FASTER_THAN_EXIT,
};

enum msix_reason msix_judge(const struct msix_cost *page, const struct msix_cost *other,
			    const struct msix_cost *leave);
enum msix_verdict msix_verdict_of(enum msix_reason reason);
const char *msix_verdict_text(enum msix_verdict verdict);
const char *msix_reason_text(enum msix_reason reason);
struct msix_cost msix_cost_of(u64 *batch_ns, unsigned int batches, unsigned int reads,
			      u64 overhead_ns);
u64 msix_median(u64 *values, unsigned int count);

#endif /* _MSIX_PBA_VERDICT_H */
