// SPDX-License-Identifier: GPL-2.0
/* guest_memtype: is a write-combining mapping of a PCI device's memory so in fact? */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/pci.h>

#include "sysfs.h"

static int bus_event(struct notifier_block *nb, unsigned long event, void *data)
{
	if (event == BUS_NOTIFY_ADD_DEVICE)
		gmt_sysfs_add(to_pci_dev(data));
	else if (event == BUS_NOTIFY_DEL_DEVICE)
		gmt_sysfs_remove(to_pci_dev(data));
	return NOTIFY_DONE;
}

static struct notifier_block bus_notifier = {
	.notifier_call = bus_event,
};

static int __init guest_memtype_init(void)
{
	struct pci_dev *pdev = NULL;
	int err;

	err = bus_register_notifier(&pci_bus_type, &bus_notifier);
	if (err)
		return err;
	/* so that nothing is removed while it is added here */
	pci_lock_rescan_remove();
	for_each_pci_dev(pdev)
		gmt_sysfs_add(pdev);
	pci_unlock_rescan_remove();
	return 0;
}

static void __exit guest_memtype_exit(void)
{
	struct pci_dev *pdev = NULL;

	bus_unregister_notifier(&pci_bus_type, &bus_notifier);
	pci_lock_rescan_remove();
	for_each_pci_dev(pdev)
		gmt_sysfs_remove(pdev);
	pci_unlock_rescan_remove();
}

module_init(guest_memtype_init);
module_exit(guest_memtype_exit);

MODULE_DESCRIPTION("Memory types of PCI BARs: what was asked for, and what a host makes of it");
MODULE_AUTHOR("The guest drivers team");
MODULE_LICENSE("GPL");
