// SPDX-License-Identifier: GPL-2.0
/*
 * The masks of one function: learned, raised, checked, put back.
 *
 * No event lies between a driver's dma_set_mask() and its first allocation. So
 * what a driver declares is learned after one probe, and put into force before
 * the next one.
 */
#include <linux/dma-mapping.h>
#include <linux/iommu.h>
#include <linux/pci.h>
#include <linux/string.h>

#include "apply.h"
#include "compat/compat.h"
#include "rebind.h"

/**
 * bnm_masks_of() - the masks of a device
 * @dev: a device that does DMA
 *
 * Return: as they are now.
 */
struct bnm_masks bnm_masks_of(struct device *dev)
{
	return (struct bnm_masks) {
		.streaming = dma_get_mask(dev),
		.coherent = dev->coherent_dma_mask,
	};
}

/**
 * bnm_learn() - note what the bound driver declared
 * @fn: the function, with a driver, without a raised mask
 *
 * Context: under the device lock.
 */
void bnm_learn(struct bnm_function *fn)
{
	struct device *dev = &fn->pdev->dev;

	device_lock_assert(dev);
	fn->bound = true;
	fn->declared = bnm_masks_of(dev);
	/* a name that is cut off would only ever be compared with itself uncut: not raised */
	strscpy(fn->driver, dev->driver->name, sizeof(fn->driver));
}

/* Not through dma_set_coherent_mask(): what was there before needs nobody's leave. */
static void put_back(struct bnm_function *fn)
{
	struct device *dev = &fn->pdev->dev;

	dev->coherent_dma_mask = bnm_restored(fn->before, fn->applied, dev->coherent_dma_mask);
}

static int raise(struct bnm_function *fn)
{
	struct device *dev = &fn->pdev->dev;
	u64 streaming = dma_get_mask(dev);
	int err;

	err = dma_set_mask(dev, bnm_probe_streaming(streaming));
	if (err)
		return err;
	err = dma_set_coherent_mask(dev, fn->declared.streaming);
	if (err)
		goto err_streaming;
	return 0;

err_streaming:
	*dev->dma_mask = streaming;
	return err;
}

/**
 * bnm_before_probe() - a driver is about to probe: raise the mask, if asked to
 * @fn: the function
 *
 * Context: BUS_NOTIFY_BIND_DRIVER, under the device lock; may sleep.
 */
void bnm_before_probe(struct bnm_function *fn)
{
	struct device *dev = &fn->pdev->dev;

	device_lock_assert(dev);
	if (!bnm_applies(fn->wanted, fn->driver, dev->driver->name))
		return;
	fn->before = dev->coherent_dma_mask;
	if (raise(fn)) {
		fn->wanted = false;
		fn->state = BNM_REFUSED;
		pci_warn(fn->pdev, "be2net_mask: the platform refuses a coherent mask of %u bit; it stays at %u bit\n",
			 bnm_bits(fn->declared.streaming), bnm_bits(fn->before));
		return;
	}
	fn->applied = fn->declared.streaming;
}

static void say_verdict(struct bnm_function *fn)
{
	char text[BNM_VERDICT_SIZE];
	struct bnm_facts facts;

	bnm_gather(fn, &facts);
	bnm_verdict_text(text, &facts);
	pci_info(fn->pdev, "be2net_mask: %s\n", text);
}

static void give_up(struct bnm_function *fn, enum bnm_state state)
{
	fn->wanted = false;
	fn->state = state;
}

static void take_overruling(struct bnm_function *fn)
{
	give_up(fn, BNM_OVERRULED);
	pci_info(fn->pdev, "be2net_mask: left alone: the driver itself sets the coherent mask to %u bit\n",
		 bnm_bits(fn->pdev->dev.coherent_dma_mask));
}

static void check_raised(struct bnm_function *fn)
{
	struct bnm_masks now = bnm_masks_of(&fn->pdev->dev);

	switch (bnm_outcome(fn->applied, &now)) {
	case BNM_MASK_KEPT:
		fn->state = BNM_APPLIED;
		break;
	case BNM_MASK_OVERRULED:
		take_overruling(fn);
		break;
	case BNM_MASK_TOO_WIDE:
		put_back(fn);
		give_up(fn, BNM_UNDONE);
		pci_warn(fn->pdev, "be2net_mask: the driver declares %u bit for streaming, not the %u bit that it did before: coherent mask put back to %u bit, driver bound again\n",
			 bnm_bits(now.streaming), bnm_bits(fn->applied), bnm_bits(fn->before));
		bnm_rebind_later(fn);
		break;
	}
}

/**
 * bnm_after_probe() - a driver has probed: learn or check what it declared
 * @fn: the function
 *
 * Context: BUS_NOTIFY_BOUND_DRIVER, under the device lock; may sleep.
 */
void bnm_after_probe(struct bnm_function *fn)
{
	device_lock_assert(&fn->pdev->dev);
	fn->bound = true;
	if (fn->applied)
		check_raised(fn);
	else
		bnm_learn(fn);
	say_verdict(fn);
}

/**
 * bnm_recheck() - has the driver changed its masks since its probe?
 * @fn: the function
 *
 * A driver may do so at any time, and no event tells. A raised mask that the
 * driver's word no longer covers is put back at once.
 *
 * Context: under the device lock.
 */
void bnm_recheck(struct bnm_function *fn)
{
	struct bnm_masks now = bnm_masks_of(&fn->pdev->dev);

	device_lock_assert(&fn->pdev->dev);
	if (!fn->bound || fn->state != BNM_APPLIED)
		return;
	switch (bnm_outcome(fn->applied, &now)) {
	case BNM_MASK_KEPT:
		break;
	case BNM_MASK_OVERRULED:
		take_overruling(fn);
		break;
	case BNM_MASK_TOO_WIDE:
		put_back(fn);
		give_up(fn, BNM_UNDONE);
		pci_warn(fn->pdev, "be2net_mask: the driver changed its streaming mask from %u to %u bit after its probe: coherent mask put back to %u bit; bind the driver again to move what it allocated before\n",
			 bnm_bits(fn->applied), bnm_bits(now.streaming), bnm_bits(fn->before));
		break;
	}
}

/**
 * bnm_restore() - put the coherent mask back, if it was raised
 * @fn: the function
 *
 * Context: under the device lock.
 */
void bnm_restore(struct bnm_function *fn)
{
	device_lock_assert(&fn->pdev->dev);
	if (!fn->applied)
		return;
	put_back(fn);
	fn->applied = 0;
	if (fn->state == BNM_APPLIED)
		fn->state = BNM_STOCK;
}

/**
 * bnm_after_failed_probe() - a driver did not take the function
 * @fn: the function
 *
 * If it was to find a raised mask, it is given another chance without.
 *
 * Context: BUS_NOTIFY_DRIVER_NOT_BOUND, under the device lock.
 */
void bnm_after_failed_probe(struct bnm_function *fn)
{
	device_lock_assert(&fn->pdev->dev);
	if (!fn->applied)
		return;
	bnm_restore(fn);
	give_up(fn, BNM_UNDONE);
	pci_warn(fn->pdev, "be2net_mask: no driver was bound with the raised coherent mask: put back to %u bit, tried again\n",
		 bnm_bits(fn->before));
	bnm_rebind_later(fn);
}

/**
 * bnm_after_unbind() - the driver is gone
 * @fn: the function
 *
 * Context: BUS_NOTIFY_UNBOUND_DRIVER, under the device lock.
 */
void bnm_after_unbind(struct bnm_function *fn)
{
	bnm_restore(fn);
	fn->bound = false;
}

/* Bound, its domain and group cannot go away; unbound, the group's type may be changed. */
static enum bnm_domain domain_of(struct device *dev)
{
	struct iommu_domain *domain = iommu_get_domain_for_dev(dev);

	return domain ? bnm_domain_of_type(domain->type) : BNM_DOMAIN_NONE;
}

/**
 * bnm_gather() - all that a verdict depends on
 * @fn: the function
 * @facts: filled in; of a function without driver only that it has none
 *
 * Context: under the device lock.
 */
void bnm_gather(struct bnm_function *fn, struct bnm_facts *facts)
{
	struct device *dev = &fn->pdev->dev;

	device_lock_assert(dev);
	*facts = (struct bnm_facts) { .era = bnm_running_era(), .bound = fn->bound };
	if (!fn->bound)
		return;
	facts->masks = bnm_masks_of(dev);
	facts->required = dma_get_required_mask(dev);
	facts->bus_limit = dev->bus_dma_limit;
	facts->domain = domain_of(dev);
	facts->max_mapping = dma_max_mapping_size(dev);
	facts->overruled = fn->state == BNM_OVERRULED;
	if (fn->state == BNM_APPLIED)
		facts->raised_from = fn->before;
}
