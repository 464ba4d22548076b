/* SPDX-License-Identifier: GPL-2.0 */
/* What configuration space says of a function. */
#ifndef _MSIX_PBA_PROBE_H
#define _MSIX_PBA_PROBE_H

#include <linux/pci.h>

#include "layout.h"

const char *msix_probe(struct pci_dev *pdev, struct msix_config *config);
const char *msix_unreadable(struct pci_dev *pdev);

#endif /* _MSIX_PBA_PROBE_H */
