/* SPDX-License-Identifier: GPL-2.0 */
/* What reading pages of a function costs. */
#ifndef _MSIX_PBA_MEASURE_H
#define _MSIX_PBA_MEASURE_H

#include <linux/pci.h>

#include "request.h"
#include "verdict.h"

/**
 * struct msix_measurement - what was measured
 * @request: what was read
 * @cost: what a read of each place costs; no reads of one that was not asked for
 * @leave: what the cheapest way out of the guest costs
 * @reason: what the verdict is based on
 */
struct msix_measurement {
	struct msix_request request;
	struct msix_cost cost[MSIX_REQUEST_PAGES];
	struct msix_cost leave;
	enum msix_reason reason;
};

int msix_measure(struct pci_dev *pdev, struct msix_measurement *measurement, const char **why);

#endif /* _MSIX_PBA_MEASURE_H */
