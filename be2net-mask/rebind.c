// SPDX-License-Identifier: GPL-2.0
/* Raising the mask of a function at run time, when nobody uses it. */
#include <linux/device.h>
#include <linux/netdevice.h>
#include <linux/string.h>

#include "apply.h"
#include "rebind.h"

/**
 * enum usage - what is known of the use of a function
 * @NO_INTERFACE: nothing, as it has no network interface
 * @INTERFACE_DOWN: nobody uses it
 * @INTERFACE_UP: it is in use
 */
enum usage {
	NO_INTERFACE,
	INTERFACE_DOWN,
	INTERFACE_UP,
};

/* Of its own, so that module exit can wait for just this work. */
static struct workqueue_struct *rebinds;

/**
 * bnm_rebind_init() - get ready to rebind
 *
 * Context: may sleep; before any event.
 * Return: 0 or -ENOMEM.
 */
int bnm_rebind_init(void)
{
	rebinds = alloc_ordered_workqueue("be2net_mask", 0);
	return rebinds ? 0 : -ENOMEM;
}

/**
 * bnm_rebind_exit() - wait for what is under way
 *
 * Context: may sleep; after the last event.
 */
void bnm_rebind_exit(void)
{
	destroy_workqueue(rebinds);
}

static void bind_again(struct bnm_function *fn)
{
	struct device *dev = &fn->pdev->dev;

	device_release_driver(dev);
	if (device_attach(dev) <= 0)
		pci_err(fn->pdev, "be2net_mask: no driver was bound again\n");
}

/**
 * bnm_rebind_work() - bind the driver again
 * @work: of a function
 */
void bnm_rebind_work(struct work_struct *work)
{
	struct bnm_function *fn = container_of(work, struct bnm_function, rebind);

	bind_again(fn);
	bnm_function_put(fn);
}

/**
 * bnm_rebind_later() - bind the driver again, as soon as the device lock is free
 * @fn: the function
 *
 * Context: under the device lock, as in a notifier of the bus.
 */
void bnm_rebind_later(struct bnm_function *fn)
{
	kref_get(&fn->refs);
	if (!queue_work(rebinds, &fn->rebind))
		bnm_function_put(fn);
}

/* An interface brought up after this look is closed in order by its driver. */
static int look_at_child(struct device *dev, void *data)
{
	enum usage *usage = data;

	if (!dev->class || strcmp(dev->class->name, "net"))
		return 0;
	*usage = max(*usage, netif_running(to_net_dev(dev)) ? INTERFACE_UP : INTERFACE_DOWN);
	return 0;
}

static enum usage usage_of(struct bnm_function *fn)
{
	enum usage usage = NO_INTERFACE;

	device_for_each_child(&fn->pdev->dev, &usage, look_at_child);
	return usage;
}

static int refuse_up(struct bnm_function *fn)
{
	pci_err(fn->pdev, "be2net_mask: coherent mask left at %u bit: the network interface is up; set it down first\n",
		bnm_bits(fn->pdev->dev.coherent_dma_mask));
	return -EBUSY;
}

/* Can the mask be raised? 1: yes, 0: it need not be. */
static int check_room(struct bnm_function *fn)
{
	/* what the driver says by now may be more, or less, than after its probe */
	fn->declared = bnm_masks_of(&fn->pdev->dev);
	switch (bnm_room(&fn->declared)) {
	case BNM_ROOM:
		return 1;
	case BNM_ROOM_LEVEL:
		pci_info(fn->pdev, "be2net_mask: the coherent mask is as wide as the streaming mask already: %u bit\n",
			 bnm_bits(fn->declared.coherent));
		return 0;
	default:
		pci_err(fn->pdev, "be2net_mask: left alone: its driver declares %u bit for streaming, so a coherent mask above 32 bit could put memory where the device does not reach\n",
			bnm_bits(fn->declared.streaming));
		return -EINVAL;
	}
}

/* Returns 1 when the driver has to be bound again for it, 0 when nothing is left to do. */
static int ask(struct bnm_function *fn, enum usage usage)
{
	int room;

	if (!fn->bound) {
		pci_err(fn->pdev, "be2net_mask: no driver is bound, so nothing is known of its masks; bind it first\n");
		return -ENODEV;
	}
	if (fn->state == BNM_APPLIED) {
		fn->wanted = true;
		return 0;
	}
	room = check_room(fn);
	if (room <= 0)
		return room;
	if (usage == INTERFACE_UP)
		return refuse_up(fn);
	fn->wanted = true;
	fn->state = BNM_STOCK;
	return 1;
}

static int withdraw(struct bnm_function *fn, enum usage usage)
{
	if (fn->state == BNM_APPLIED && usage == INTERFACE_UP)
		return refuse_up(fn);
	fn->wanted = false;
	return fn->state == BNM_APPLIED;
}

static int decide(struct bnm_function *fn, bool on, enum usage *usage)
{
	struct device *dev = &fn->pdev->dev;
	int todo;

	/* Locked, so that no probe is half done. */
	device_lock(dev);
	bnm_recheck(fn);
	*usage = usage_of(fn);
	todo = on ? ask(fn, *usage) : withdraw(fn, *usage);
	device_unlock(dev);
	return todo;
}

static int result(struct bnm_function *fn, bool on)
{
	int err;

	device_lock(&fn->pdev->dev);
	if (!fn->bound)
		err = -ENODEV;
	else
		err = (fn->state == BNM_APPLIED) == on ? 0 : -EOPNOTSUPP;
	device_unlock(&fn->pdev->dev);
	return err;
}

static int choose(struct bnm_function *fn, bool on)
{
	enum usage usage;
	int todo;

	todo = decide(fn, on, &usage);
	if (todo <= 0)
		return todo;
	if (usage == NO_INTERFACE) {
		pci_info(fn->pdev, "be2net_mask: done when its driver is bound again: as it has no network interface, only you know when it is not in use\n");
		return 0;
	}
	bind_again(fn);
	/* if the driver did not take it, or declares less than before, it is being bound without */
	flush_workqueue(rebinds);
	return result(fn, on);
}

/**
 * bnm_choose() - raise the coherent mask of a function, or put it back
 * @fn: the function
 * @on: raise it
 *
 * The driver of a network card is bound again for it, if its interface is down.
 * What has no interface waits until somebody else binds the driver again.
 *
 * Context: process context, may sleep; takes the device lock, unbinds and binds
 * the driver. The caller keeps @fn and the module from going away.
 * Return: 0; -ENODEV without a driver; -EINVAL if the driver declares too little
 * for streaming, -EBUSY if the interface is up, both with everything left as it
 * was; -EOPNOTSUPP if the platform or the driver did not take the mask. The
 * reason is in the log.
 */
int bnm_choose(struct bnm_function *fn, bool on)
{
	int err;

	mutex_lock(&fn->choosing);
	err = choose(fn, on);
	mutex_unlock(&fn->choosing);
	return err;
}
