/* SPDX-License-Identifier: GPL-2.0 */
/* The functions that are looked at, each with a directory in sysfs. */
#ifndef _MSIX_PBA_FUNCTION_H
#define _MSIX_PBA_FUNCTION_H

#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pci.h>

#include "layout.h"
#include "measure.h"

/**
 * struct msix_function - a function that is looked at
 * @node: entry in the list of all
 * @kobj: the directory msix_pba of the device; its reference is the list's
 * @pdev: the function; in the directory there is no file without it
 * @layout: its layout when it came; a BAR that is resized later is not looked at again
 * @lock: guards what follows, and is held while measuring
 * @measured: there is a measurement
 * @measurement: the last one
 */
struct msix_function {
	struct list_head node;
	struct kobject kobj;
	struct pci_dev *pdev;
	struct msix_layout layout;
	struct mutex lock;	/* guards what follows */
	bool measured;
	struct msix_measurement measurement;
};

int msix_function_add(struct pci_dev *pdev);
void msix_function_drop(struct pci_dev *pdev);
void msix_functions_drop_all(void);

extern const struct attribute_group *msix_sysfs_groups[];

#endif /* _MSIX_PBA_FUNCTION_H */
