/* SPDX-License-Identifier: GPL-2.0 */
/* What a write-combining mapping of a BAR is in fact. */
#ifndef _GMT_BAR_H
#define _GMT_BAR_H

#include <linux/pci.h>

#include "verdict.h"

/**
 * struct gmt_bar - what was found out about a BAR
 * @refused: why nothing was, or NULL
 * @start: physical address
 * @size: in bytes
 * @prefetchable: reading it has no side effects
 * @driver: name of the driver that is bound, or NULL
 * @machine: where the guest runs
 * @mapping: what ioremap_wc() of it comes to
 * @verdict: is that write-combining?
 * @hosts: with which hosts it is
 */
struct gmt_bar {
	const char *refused;
	u64 start;
	u64 size;
	bool prefetchable;
	const char *driver;
	struct gmt_machine machine;
	struct gmt_mapping mapping;
	struct gmt_verdict verdict;
	struct gmt_hosts hosts;
};

bool gmt_is_memory_bar(const struct pci_dev *pdev, unsigned int index);
void gmt_look_at_bar(struct pci_dev *pdev, unsigned int index, struct gmt_bar *bar);

#endif /* _GMT_BAR_H */
