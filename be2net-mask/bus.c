// SPDX-License-Identifier: GPL-2.0
/* What happens on the PCI bus: functions and drivers come and go. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/device.h>
#include <linux/notifier.h>
#include <linux/pci.h>

#include "apply.h"
#include "bus.h"
#include "function.h"
#include "ids.h"
#include "rebind.h"

/* A function that cannot be kept track of runs stock, and that must be seen. */
static void add(struct pci_dev *pdev)
{
	int err = bnm_function_add(pdev);

	if (err)
		pci_err(pdev, "be2net_mask: runs stock, its masks are not looked at: error %d\n",
			err);
}

/* The driver core holds the device lock meanwhile. */
static void driver_event(struct bnm_function *fn, unsigned long event)
{
	switch (event) {
	case BUS_NOTIFY_BIND_DRIVER:
		bnm_before_probe(fn);
		break;
	case BUS_NOTIFY_BOUND_DRIVER:
		bnm_after_probe(fn);
		break;
	case BUS_NOTIFY_DRIVER_NOT_BOUND:
		bnm_after_failed_probe(fn);
		break;
	case BUS_NOTIFY_UNBOUND_DRIVER:
		bnm_after_unbind(fn);
		break;
	}
}

static int bus_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct device *dev = data;
	struct bnm_function *fn;

	if (event == BUS_NOTIFY_ADD_DEVICE) {
		if (bnm_ids_match(&bnm_ids, to_pci_dev(dev)))
			add(to_pci_dev(dev));
		return NOTIFY_DONE;
	}
	/* not DEL_DEVICE: until it is off the bus, a driver may still be bound */
	if (event == BUS_NOTIFY_REMOVED_DEVICE) {
		bnm_function_drop(dev);
		return NOTIFY_DONE;
	}
	fn = bnm_function_find(dev);
	if (fn)
		driver_event(fn, event);
	bnm_function_put(fn);
	return NOTIFY_DONE;
}

static struct notifier_block bus_notifier = {
	.notifier_call = bus_event,
};

static int same_device(struct device *dev, const void *data)
{
	return dev == data;
}

static bool on_bus(struct device *dev)
{
	struct device *found = bus_find_device(&pci_bus_type, NULL, dev, same_device);

	put_device(found);
	return found;
}

/*
 * Removal takes a device off the bus, then its driver off the device, for which
 * it needs the device lock, and only then its last event comes and its directory
 * goes. So what is found on the bus under that lock can be added.
 */
static int add_present(struct device *dev, void *unused)
{
	struct bnm_function *fn;

	if (!bnm_ids_match(&bnm_ids, to_pci_dev(dev)))
		return 0;
	device_lock(dev);
	if (on_bus(dev))
		add(to_pci_dev(dev));
	fn = bnm_function_find(dev);
	if (fn && dev->driver && !fn->bound)
		bnm_after_probe(fn);
	device_unlock(dev);
	bnm_function_put(fn);
	return 0;
}

static bool is_named(const struct bnm_function *fn, const void *id)
{
	return bnm_id_matches(id, fn->pdev);
}

static void note_unmatched(void)
{
	const struct bnm_id *id;

	for (id = bnm_ids.id; id < bnm_ids.id + bnm_ids.count; id++) {
		if (bnm_functions_count(is_named, id))
			continue;
		if (id->by_address)
			pr_notice("ids: no function at %04x:%02x:%02x.%x; waiting for one\n",
				  id->domain, id->bus, PCI_SLOT(id->devfn), PCI_FUNC(id->devfn));
		else
			pr_notice("ids: no function is a %04x:%04x; waiting for one\n",
				  id->vendor, id->device);
	}
}

/**
 * bnm_bus_start() - begin to watch the PCI bus
 *
 * Context: may sleep; module init. bnm_ids says what is looked at.
 * Return: 0, -ENOMEM, or an error of the driver core.
 */
int bnm_bus_start(void)
{
	int err;

	err = bnm_rebind_init();
	if (err)
		return err;
	err = bus_register_notifier(&pci_bus_type, &bus_notifier);
	if (err)
		goto err_rebind_exit;
	bus_for_each_dev(&pci_bus_type, NULL, NULL, add_present);
	note_unmatched();
	return 0;

err_rebind_exit:
	bnm_rebind_exit();
	return err;
}

/**
 * bnm_bus_stop() - stop watching the PCI bus, and put all masks back
 *
 * Context: may sleep; module exit.
 */
void bnm_bus_stop(void)
{
	bus_unregister_notifier(&pci_bus_type, &bus_notifier);
	bnm_rebind_exit();
	bnm_functions_drop_all();
}
