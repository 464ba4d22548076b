// SPDX-License-Identifier: GPL-2.0
/* The functions that are looked at, each with a directory in sysfs. */
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "function.h"
#include "probe.h"

/* Guards @functions. A leaf. */
static DEFINE_MUTEX(functions_lock);
static LIST_HEAD(functions);

static void release_function(struct kobject *kobj)
{
	kfree(container_of(kobj, struct msix_function, kobj));
}

static const struct kobj_type function_ktype = {
	.release = release_function,
	.sysfs_ops = &kobj_sysfs_ops,
	.default_groups = msix_sysfs_groups,
};

static struct msix_function *find_locked(struct pci_dev *pdev)
{
	struct msix_function *function;

	lockdep_assert_held(&functions_lock);
	list_for_each_entry(function, &functions, node)
		if (function->pdev == pdev)
			return function;
	return NULL;
}

static bool publish(struct msix_function *function)
{
	bool is_new;

	mutex_lock(&functions_lock);
	is_new = !find_locked(function->pdev);
	if (is_new)
		list_add_tail(&function->node, &functions);
	mutex_unlock(&functions_lock);
	return is_new;
}

static struct msix_function *unpublish(struct pci_dev *pdev)
{
	struct msix_function *function;

	mutex_lock(&functions_lock);
	function = find_locked(pdev);
	if (function)
		list_del(&function->node);
	mutex_unlock(&functions_lock);
	return function;
}

static void tell(const struct msix_function *function)
{
	const struct msix_layout *layout = &function->layout;
	bool pba = layout->pba.sharing == MSIX_SHARES_REGISTERS;
	const struct msix_structure *structure = pba ? &layout->pba : &layout->table;

	if (layout->fault)
		pci_warn(function->pdev, "msix_pba: malformed MSI-X capability: table: %s; PBA: %s%s\n",
			 msix_fault_text(layout->table.fault), msix_fault_text(layout->pba.fault),
			 layout->fault == MSIX_OVERLAP ? "; table and PBA overlap" : "");
	else if (msix_hot_page_likely(layout))
		pci_warn(function->pdev, "msix_pba: hot page likely: the MSI-X %s shares its page (bar%u+%#llx) with what may be registers, which are slow where a hypervisor traps it\n",
			 pba ? "PBA" : "table", structure->bar, structure->first_page);
}

/**
 * msix_function_add() - look at a function
 * @pdev: the function
 *
 * A function that is looked at already is left as it is. One that does not
 * answer, or has no MSI-X, is told of in the log by whoever asked for it.
 *
 * Context: may sleep. @pdev cannot be removed meanwhile.
 * Return: 0; -ENODEV if it has no MSI-X that can be read, -ENOMEM, or an error
 * of sysfs.
 */
int msix_function_add(struct pci_dev *pdev)
{
	struct msix_function *function;
	struct msix_config config = {};
	int err;

	if (msix_probe(pdev, &config))
		return -ENODEV;
	function = kzalloc(sizeof(*function), GFP_KERNEL);
	if (!function)
		return -ENOMEM;
	function->pdev = pdev;
	function->layout = msix_layout(&config, PAGE_SIZE);
	mutex_init(&function->lock);
	kobject_init(&function->kobj, (void *)&function_ktype);
	if (!publish(function)) {
		err = 0;
		goto err_put;
	}
	err = kobject_add(&function->kobj, &pdev->dev.kobj, "msix_pba");
	if (err)
		goto err_unpublish;
	tell(function);
	return 0;

err_unpublish:
	unpublish(pdev);
err_put:
	kobject_put(&function->kobj);
	return err;
}

/**
 * msix_function_drop() - look no longer at a function
 * @pdev: the function, looked at or not
 *
 * Context: may sleep; waits for those who read or write its files.
 */
void msix_function_drop(struct pci_dev *pdev)
{
	struct msix_function *function = unpublish(pdev);

	if (!function)
		return;
	kobject_del(&function->kobj);
	kobject_put(&function->kobj);
}

static struct pci_dev *any_function(void)
{
	struct msix_function *first;

	mutex_lock(&functions_lock);
	first = list_first_entry_or_null(&functions, struct msix_function, node);
	mutex_unlock(&functions_lock);
	return first ? first->pdev : NULL;
}

/**
 * msix_functions_drop_all() - look no longer at any function
 *
 * Context: may sleep. No function can be added or removed meanwhile.
 */
void msix_functions_drop_all(void)
{
	struct pci_dev *pdev;

	while ((pdev = any_function()))
		msix_function_drop(pdev);
}
