/* SPDX-License-Identifier: GPL-2.0 */
/* The PCI functions that are looked at, and what is known of each. */
#ifndef _BNM_FUNCTION_H
#define _BNM_FUNCTION_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/workqueue.h>

#include "plan.h"

#define BNM_DRIVER_NAME_LEN 32

/**
 * enum bnm_state - what became of the last wish to have the mask raised
 * @BNM_STOCK: there was none, or it was not tried yet
 * @BNM_APPLIED: the mask is raised
 * @BNM_REFUSED: the platform did not take it
 * @BNM_OVERRULED: the driver sets the coherent mask itself
 * @BNM_UNDONE: the driver did not declare as much for streaming
 */
enum bnm_state {
	BNM_STOCK,
	BNM_APPLIED,
	BNM_REFUSED,
	BNM_OVERRULED,
	BNM_UNDONE,
};

/**
 * struct bnm_function - a PCI function that is looked at
 * @list: in the list of all; guarded by its lock in function.c
 * @refs: holders
 * @pdev: the function; a reference is held
 * @choosing: one writer of coherent_mask/apply at a time; taken before the lock of @pdev
 * @rebind: takes the driver off and binds it again
 * @driver: name of the driver that @declared is of; "" for none
 * @declared: the masks as that driver left them
 * @bound: a driver is bound
 * @wanted: the user asked for the mask to be raised
 * @state: what became of that
 * @applied: the coherent mask that was put in before the probe of the driver
 *	that is bound; 0 for none
 * @before: the coherent mask before that
 *
 * The device lock of @pdev guards all from @driver on.
 */
struct bnm_function {
	struct list_head list;
	struct kref refs;
	struct pci_dev *pdev;
	struct mutex choosing; /* writers of apply, in turn */
	struct work_struct rebind;

	char driver[BNM_DRIVER_NAME_LEN];
	struct bnm_masks declared;
	bool bound;
	bool wanted;
	enum bnm_state state;
	u64 applied;
	u64 before;
};

struct bnm_function *bnm_function_find(struct device *dev);
void bnm_function_put(struct bnm_function *fn);
int bnm_function_add(struct pci_dev *pdev);
void bnm_function_drop(struct device *dev);
unsigned int bnm_functions_count(bool (*counts)(const struct bnm_function *fn, const void *data),
				 const void *data);
void bnm_functions_drop_all(void);

/* coherent_mask/, sysfs.c */
extern const struct attribute_group bnm_sysfs_group;

#endif /* _BNM_FUNCTION_H */
