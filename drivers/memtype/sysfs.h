/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _GMT_SYSFS_H
#define _GMT_SYSFS_H

#include <linux/pci.h>

void gmt_sysfs_add(struct pci_dev *pdev);
void gmt_sysfs_remove(struct pci_dev *pdev);

#endif /* _GMT_SYSFS_H */
