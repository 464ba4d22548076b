// SPDX-License-Identifier: GPL-2.0
/* What a write-combining mapping of a BAR is in fact. */
#include <linux/io.h>
#include <linux/mm.h>

#include "bar.h"
#include "cpu.h"
#include "pat.h"

/*
 * One mapping of ours at a time: two of the same page would be each other's other user.
 * Taken inside a device's lock.
 */
static DEFINE_MUTEX(mapping_lock);

/**
 * gmt_is_memory_bar() - is there anything to look at?
 * @pdev: the function
 * @index: number of the BAR, 0 to 5
 *
 * Context: any.
 * Return: false for ports, BARs that are not there, and upper halves of others.
 */
bool gmt_is_memory_bar(const struct pci_dev *pdev, unsigned int index)
{
	return pci_resource_flags(pdev, index) & IORESOURCE_MEM && pci_resource_len(pdev, index);
}

static const char *refused(const struct pci_dev *pdev, unsigned int index)
{
	unsigned long flags = pci_resource_flags(pdev, index);

	if (flags & (IORESOURCE_UNSET | IORESOURCE_DISABLED) || !pci_resource_start(pdev, index))
		return "no address is assigned to the BAR";
	return NULL;
}

/* The page tables are all that is looked at: the device sees none of it. */
static const char *map_and_look(phys_addr_t start, struct gmt_mapping *mapping)
{
	const char *why = NULL;
	void __iomem *addr;

	mutex_lock(&mapping_lock);
	addr = ioremap_wc(start, PAGE_SIZE);
	if (!addr)
		why = "the kernel does not map it";
	else if (!gmt_page_entry((__force const void *)addr, &mapping->pat_index, &mapping->large))
		why = "its mapping is not in the page tables";
	if (addr)
		iounmap(addr);
	mutex_unlock(&mapping_lock);
	return why;
}

/**
 * gmt_look_at_bar() - map a BAR write-combining and see what comes of it
 * @pdev: the function
 * @index: number of a BAR for which gmt_is_memory_bar() holds
 * @bar: to fill in
 *
 * The first page is mapped for an instant and not accessed. While it is, somebody else
 * who maps it uncached would get it write-combining, too: so no driver can be bound or
 * unbound meanwhile. One that is bound already has its mappings as a rule, and then
 * their type is what ours gets.
 *
 * Context: may sleep; takes the device's lock.
 */
void gmt_look_at_bar(struct pci_dev *pdev, unsigned int index, struct gmt_bar *bar)
{
	struct gmt_mtrrs mtrrs;

	*bar = (struct gmt_bar){
		.start = pci_resource_start(pdev, index),
		.size = pci_resource_len(pdev, index),
		.prefetchable = pci_resource_flags(pdev, index) & IORESOURCE_PREFETCH,
	};
	device_lock(&pdev->dev);
	bar->driver = pdev->dev.driver ? pdev->dev.driver->name : NULL;
	bar->refused = refused(pdev, index);
	if (!bar->refused)
		bar->refused = map_and_look(bar->start, &bar->mapping);
	device_unlock(&pdev->dev);
	if (bar->refused)
		return;

	gmt_read_machine(&bar->machine);
	gmt_read_mtrrs(&mtrrs);
	bar->mapping.mtrr = gmt_mtrr_lookup(&mtrrs, bar->start);
	bar->mapping.mtrr_kvm = gmt_mtrr_lookup_kvm(&mtrrs, bar->start);
	bar->verdict = gmt_judge(&bar->machine, &bar->mapping);
	bar->hosts = gmt_ask_hosts(&bar->machine, &bar->mapping);
}
