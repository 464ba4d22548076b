// SPDX-License-Identifier: GPL-2.0
/* msix_pba: who shares the pages of a function's MSI-X table and PBA, and do they trap? */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/notifier.h>
#include <linux/pci.h>

#include "function.h"
#include "probe.h"
#include "selection.h"

/* Most characters of a wrong address that are shown. */
#define ADDRESS_SHOWN 80

static char *devices;
module_param(devices, charp, 0444);
MODULE_PARM_DESC(devices, "comma-separated PCI functions to look at, like 0000:00:05.0 (default: all that have MSI-X)");

static bool selected(struct pci_dev *pdev)
{
	struct msix_address address = {
		.domain = pci_domain_nr(pdev->bus),
		.bus = pdev->bus->number,
		.devfn = pdev->devfn,
	};

	return msix_selected(devices, &address);
}

/* One of thousands that cannot be looked at must be seen. */
static void look_at(struct pci_dev *pdev)
{
	int err;

	if (!selected(pdev))
		return;
	err = msix_function_add(pdev);
	if (err && err != -ENODEV)
		pci_err(pdev, "msix_pba: not looked at: error %d\n", err);
}

/* Nobody holds a lock of the device here. A device leaves only after DEL_DEVICE. */
static int bus_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct pci_dev *pdev = to_pci_dev(data);

	if (event == BUS_NOTIFY_ADD_DEVICE)
		look_at(pdev);
	else if (event == BUS_NOTIFY_DEL_DEVICE)
		msix_function_drop(pdev);
	return NOTIFY_DONE;
}

static struct notifier_block bus_notifier = {
	.notifier_call = bus_event,
};

static int __init check_selection(void)
{
	const char *list = devices && *devices ? devices : NULL;
	struct msix_address address;

	while (list) {
		const char *word = list;
		const char *why = msix_selection_next(&list, &address);

		if (why) {
			pr_err("device \"%.*s\" refused: %s\n",
			       min_t(int, strcspn(word, ","), ADDRESS_SHOWN), word, why);
			return -EINVAL;
		}
	}
	return 0;
}

/* Of what was named and is not looked at, the user wants to know why. */
static void __init tell_of_named(const struct msix_address *address)
{
	struct pci_dev *pdev = pci_get_domain_bus_and_slot(address->domain, address->bus,
							   address->devfn);
	struct msix_config config;
	const char *why;

	if (!pdev) {
		pr_warn("%04x:%02x:%02x.%d is not there; it is looked at if it comes\n",
			address->domain,
			address->bus, PCI_SLOT(address->devfn), PCI_FUNC(address->devfn));
		return;
	}
	why = msix_probe(pdev, &config);
	if (why)
		pci_warn(pdev, "msix_pba: not looked at: %s\n", why);
	pci_dev_put(pdev);
}

static void __init tell_of_all_named(void)
{
	const char *list = devices && *devices ? devices : NULL;
	struct msix_address address;

	while (list)
		if (!msix_selection_next(&list, &address))
			tell_of_named(&address);
}

static int __init msix_pba_init(void)
{
	struct pci_dev *pdev = NULL;
	int err;

	err = check_selection();
	if (err)
		return err;
	err = bus_register_notifier(&pci_bus_type, &bus_notifier);
	if (err)
		return err;
	/* so that nothing is removed while it is added here */
	pci_lock_rescan_remove();
	for_each_pci_dev(pdev)
		look_at(pdev);
	pci_unlock_rescan_remove();
	tell_of_all_named();
	return 0;
}

static void __exit msix_pba_exit(void)
{
	/* not under the lock: whoever is being notified may hold it */
	bus_unregister_notifier(&pci_bus_type, &bus_notifier);
	pci_lock_rescan_remove();
	msix_functions_drop_all();
	pci_unlock_rescan_remove();
}

module_init(msix_pba_init);
module_exit(msix_pba_exit);

MODULE_DESCRIPTION("MSI-X table and PBA: whose pages they share, and whether these trap");
MODULE_AUTHOR("The guest drivers team");
MODULE_LICENSE("GPL");
