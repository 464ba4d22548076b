// SPDX-License-Identifier: GPL-2.0
/* The PCI functions that are looked at: their list and their life. */
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "apply.h"
#include "function.h"
#include "rebind.h"

static LIST_HEAD(functions);
/* Guards the list. A leaf: nothing else is locked under it. */
static DEFINE_MUTEX(functions_lock);

static struct bnm_function *find_locked(struct device *dev)
{
	struct bnm_function *fn;

	lockdep_assert_held(&functions_lock);
	list_for_each_entry(fn, &functions, list)
		if (&fn->pdev->dev == dev)
			return fn;
	return NULL;
}

/**
 * bnm_function_find() - what is known of a PCI function
 * @dev: the function's device
 *
 * Context: may sleep.
 * Return: a reference, to be put; NULL if the function is not looked at.
 */
struct bnm_function *bnm_function_find(struct device *dev)
{
	struct bnm_function *fn;

	mutex_lock(&functions_lock);
	fn = find_locked(dev);
	if (fn)
		kref_get(&fn->refs);
	mutex_unlock(&functions_lock);
	return fn;
}

static void release(struct kref *refs)
{
	struct bnm_function *fn = container_of(refs, struct bnm_function, refs);

	pci_dev_put(fn->pdev);
	mutex_destroy(&fn->choosing);
	kfree(fn);
}

/**
 * bnm_function_put() - drop a reference
 * @fn: may be NULL
 */
void bnm_function_put(struct bnm_function *fn)
{
	if (fn)
		kref_put(&fn->refs, release);
}

static struct bnm_function *new_function(struct pci_dev *pdev)
{
	struct bnm_function *fn = kzalloc(sizeof(*fn), GFP_KERNEL);

	if (!fn)
		return NULL;
	kref_init(&fn->refs);
	fn->pdev = pci_dev_get(pdev);
	mutex_init(&fn->choosing);
	INIT_WORK(&fn->rebind, bnm_rebind_work);
	return fn;
}

/* False when another one was faster. */
static bool publish(struct bnm_function *fn)
{
	bool first;

	mutex_lock(&functions_lock);
	first = !find_locked(&fn->pdev->dev);
	if (first)
		list_add_tail(&fn->list, &functions);
	mutex_unlock(&functions_lock);
	return first;
}

static void unpublish(struct bnm_function *fn)
{
	mutex_lock(&functions_lock);
	list_del(&fn->list);
	mutex_unlock(&functions_lock);
}

/**
 * bnm_function_add() - begin to look at a function
 * @pdev: the function; one that is known already stays as it is
 *
 * Context: may sleep. The device is in sysfs, and stays there meanwhile.
 * Return: 0, -ENOMEM, or an error of sysfs.
 */
int bnm_function_add(struct pci_dev *pdev)
{
	struct bnm_function *fn = new_function(pdev);
	int err = 0;

	if (!fn)
		return -ENOMEM;
	if (!publish(fn))
		goto put;
	err = sysfs_create_group(&pdev->dev.kobj, &bnm_sysfs_group);
	if (!err)
		return 0;
	unpublish(fn);
put:
	bnm_function_put(fn);
	return err;
}

/* Of whoever took it off the list. Waits for those who read or write its files. */
static void forget(struct bnm_function *fn)
{
	sysfs_remove_group(&fn->pdev->dev.kobj, &bnm_sysfs_group);
	bnm_function_put(fn);
}

/**
 * bnm_function_drop() - the device goes away
 * @dev: the function's device, still in sysfs
 *
 * Context: may sleep. Without the device lock, which readers of its files take.
 */
void bnm_function_drop(struct device *dev)
{
	struct bnm_function *fn;

	mutex_lock(&functions_lock);
	fn = find_locked(dev);
	if (fn)
		list_del(&fn->list);
	mutex_unlock(&functions_lock);
	if (fn)
		forget(fn);
}

/**
 * bnm_functions_count() - how many of the functions are of a kind
 * @counts: is this one?
 * @data: handed to @counts
 *
 * Context: may sleep; @counts is called under the lock of the list.
 * Return: how many.
 */
unsigned int bnm_functions_count(bool (*counts)(const struct bnm_function *fn, const void *data),
				 const void *data)
{
	struct bnm_function *fn;
	unsigned int count = 0;

	mutex_lock(&functions_lock);
	list_for_each_entry(fn, &functions, list)
		count += counts(fn, data);
	mutex_unlock(&functions_lock);
	return count;
}

static struct bnm_function *take_first(void)
{
	struct bnm_function *fn;

	mutex_lock(&functions_lock);
	fn = list_first_entry_or_null(&functions, struct bnm_function, list);
	if (fn)
		list_del(&fn->list);
	mutex_unlock(&functions_lock);
	return fn;
}

/**
 * bnm_functions_drop_all() - put all masks back, and forget all functions
 *
 * A driver that is bound keeps what it has: the memory is where it said that
 * its device reaches.
 *
 * Context: may sleep; takes device locks. No event of the bus comes any more.
 */
void bnm_functions_drop_all(void)
{
	struct bnm_function *fn;

	while ((fn = take_first())) {
		device_lock(&fn->pdev->dev);
		bnm_restore(fn);
		device_unlock(&fn->pdev->dev);
		forget(fn);
	}
}
