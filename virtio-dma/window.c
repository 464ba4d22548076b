// SPDX-License-Identifier: GPL-2.0
/*
 * The window: is it ours to take, and taking it.
 *
 * A guest whose host sees none of its memory but one range plays, or is, a
 * protected guest. That range must not be memory of the kernel, which would put
 * private pages there, nor anything else's.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/errno.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/kernel.h>
#include <linux/kstrtox.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/pci.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "window.h"

/* --- what is written --- */

static unsigned int suffix_shift(char suffix)
{
	switch (suffix) {
	case 'K':
	case 'k':
		return 10;
	case 'M':
	case 'm':
		return 20;
	case 'G':
	case 'g':
		return 30;
	case 'T':
	case 't':
		return 40;
	default:
		return 0;
	}
}

/* As memparse() takes it, but nothing may follow, and what is too large is no number. */
static int parse_bytes(const char *text, u64 *bytes)
{
	size_t length = strlen(text);
	unsigned int shift = length ? suffix_shift(text[length - 1]) : 0;
	char digits[24];

	if (shift)
		length--;
	if (!length || length >= sizeof(digits))
		return -EINVAL;
	strscpy(digits, text, length + 1);
	if (kstrtoull(digits, 0, bytes) || *bytes > U64_MAX >> shift)
		return -EINVAL;
	*bytes <<= shift;
	return 0;
}

/**
 * vdma_window_parse() - understand the parameters of a window
 * @phys: parameter pool_phys, or NULL if it was not given
 * @size: parameter pool_size, or NULL if it was not given
 * @window: receives the window; its size is 0 if neither was given
 *
 * Both are bytes, with K, M, G or T behind if need be.
 *
 * Context: any.
 * Return: 0, or -EINVAL with the reason in the log.
 */
int vdma_window_parse(const char *phys, const char *size, struct vdma_window *window)
{
	*window = (struct vdma_window){};
	if (!phys && !size)
		return 0;
	if (!phys || !size) {
		pr_err("%s refused: a window has both, pool_phys= and pool_size=\n",
		       phys ? "pool_phys=" : "pool_size=");
		return -EINVAL;
	}
	if (parse_bytes(phys, &window->phys)) {
		pr_err("pool_phys=%s refused: no physical address, as 0x30000000 or 768M\n", phys);
		return -EINVAL;
	}
	if (parse_bytes(size, &window->size)) {
		pr_err("pool_size=%s refused: no number of bytes, as 0x10000000 or 256M\n", size);
		return -EINVAL;
	}
	if (!window->size) {
		pr_err("pool_size=%s refused: there is nothing in it\n", size);
		return -EINVAL;
	}
	return 0;
}

/* --- what is to be said of it --- */

/**
 * vdma_window_judge() - may the pool live there?
 * @window: the window
 * @facts: what the system says about it
 *
 * Context: any; looks at nothing but its arguments.
 * Return: the verdict, the first that applies in the order of the values.
 */
enum vdma_window_verdict vdma_window_judge(const struct vdma_window *window,
					   const struct vdma_window_facts *facts)
{
	u64 last = window->phys + window->size - 1;

	if (!window->size)
		return VDMA_WINDOW_EMPTY;
	if ((window->phys | window->size) & (max_t(u64, VDMA_WINDOW_ALIGN, PAGE_SIZE) - 1))
		return VDMA_WINDOW_MISALIGNED;
	if (last < window->phys)
		return VDMA_WINDOW_WRAPS;
	if (last > facts->top || window->size > SIZE_MAX)
		return VDMA_WINDOW_BEYOND;
	if (window->size < VDMA_WINDOW_MIN_SIZE)
		return VDMA_WINDOW_SMALL;
	if (facts->is_ram)
		return VDMA_WINDOW_RAM;
	if (facts->is_pci)
		return VDMA_WINDOW_PCI;
	return VDMA_WINDOW_FINE;
}

static bool is_assigned_memory(const struct resource *r)
{
	return resource_type(r) == IORESOURCE_MEM && r->end && !(r->flags & IORESOURCE_UNSET);
}

/* The BAR that a window would lie over need not be claimed by any driver yet. */
static struct pci_dev *pci_dev_within(u64 first, u64 last)
{
	struct pci_dev *dev = NULL;
	unsigned int i;

	for_each_pci_dev(dev)
		for (i = 0; i < PCI_NUM_RESOURCES; i++) {
			const struct resource *r = &dev->resource[i];

			if (is_assigned_memory(r) && r->start <= last && r->end >= first)
				return dev;
		}
	return NULL;
}

static void refuse(const struct vdma_window *window, const char *who, const char *why)
{
	pr_err("window of %llu bytes at %#llx (%s) refused: %s\n", window->size, window->phys,
	       who, why);
}

/* How the guest must be booted for the kernel to keep its hands off. */
static void refuse_ram(const struct vdma_window *window, const char *who)
{
	bool whole_mib = !((window->size | window->phys) & (SZ_1M - 1));
	char why[120];

	snprintf(why, sizeof(why),
		 "the kernel uses memory there: boot with memmap=%llu%c$%#llx",
		 window->size >> (whole_mib ? 20 : 10), whole_mib ? 'M' : 'K', window->phys);
	refuse(window, who, why);
}

static void refuse_pci(const struct vdma_window *window, const char *who, struct pci_dev *dev)
{
	char why[80];

	snprintf(why, sizeof(why), "PCI device %s is there: name memory that nothing else has",
		 pci_name(dev));
	refuse(window, who, why);
}

static const char *const verdict_text[VDMA_WINDOW_VERDICTS] = {
	[VDMA_WINDOW_EMPTY] = "there is nothing in it",
	[VDMA_WINDOW_MISALIGNED] = "it must begin and end at a multiple of 64 KiB and of a page",
	[VDMA_WINDOW_WRAPS] = "it ends behind the last address of 64 bits",
	[VDMA_WINDOW_BEYOND] = "it ends above what this machine can address",
	[VDMA_WINDOW_SMALL] = "a pool has 4 MiB or more",
};

/* --- taking it --- */

static int check(const struct vdma_window *window, const char *who)
{
	u64 last = window->phys + window->size - 1;
	struct vdma_window_facts facts = { .top = iomem_resource.end };
	enum vdma_window_verdict verdict;
	struct pci_dev *dev = NULL;

	/* the system can be asked about ranges only, and is not where this is none */
	if (last >= window->phys && last <= facts.top && window->size <= SIZE_MAX) {
		facts.is_ram = region_intersects(window->phys, window->size,
						 IORESOURCE_SYSTEM_RAM,
						 IORES_DESC_NONE) != REGION_DISJOINT;
		dev = pci_dev_within(window->phys, last);
		facts.is_pci = dev;
	}
	verdict = vdma_window_judge(window, &facts);
	if (verdict == VDMA_WINDOW_RAM)
		refuse_ram(window, who);
	else if (verdict == VDMA_WINDOW_PCI)
		refuse_pci(window, who, dev);
	else if (verdict != VDMA_WINDOW_FINE)
		refuse(window, who, verdict_text[verdict]);
	pci_dev_put(dev);
	return verdict == VDMA_WINDOW_FINE ? 0 : -EINVAL;
}

/* Is there memory? What is set aside on the command line may be more than the guest has. */
static bool answers(const struct vdma_window *window)
{
	size_t at;

	for (at = 0; at < window->size; at += PAGE_SIZE) {
		WRITE_ONCE(*(u64 *)(window->vaddr + at), ~(u64)at);
		cond_resched();
	}
	for (at = 0; at < window->size; at += PAGE_SIZE) {
		if (READ_ONCE(*(u64 *)(window->vaddr + at)) != ~(u64)at)
			return false;
		cond_resched();
	}
	return true;
}

/**
 * vdma_window_take() - have the window for ourselves, and mapped
 * @window: the window; its vaddr is filled in
 * @who: who named it, for the log
 *
 * What is in the window is lost. It is not decrypted in a guest whose memory is
 * encrypted: the host named it, so it is shared already, and it is mapped so.
 *
 * Context: may sleep.
 * Return: 0; or with the reason in the log -EINVAL if the pool cannot live there,
 * -EBUSY if something else has claimed part of it, -ENOMEM if it cannot be mapped.
 */
int vdma_window_take(struct vdma_window *window, const char *who)
{
	int err = check(window, who);

	if (err)
		return err;
	if (!request_mem_region(window->phys, window->size, "virtio_dma pool")) {
		refuse(window, who,
		       "/proc/iomem shows what else is there: name memory that nothing else has");
		return -EBUSY;
	}
	window->vaddr = memremap(window->phys, window->size, MEMREMAP_WB | MEMREMAP_DEC);
	if (!window->vaddr) {
		refuse(window, who, "it cannot be mapped as memory: name some that is");
		err = -ENOMEM;
		goto err_release;
	}
	if (!answers(window)) {
		refuse(window, who,
		       "there is no memory behind part of it: give the guest more, or name less");
		err = -EINVAL;
		goto err_unmap;
	}
	return 0;

err_unmap:
	memunmap(window->vaddr);
err_release:
	release_mem_region(window->phys, window->size);
	window->vaddr = NULL;
	return err;
}

/**
 * vdma_window_release() - give the window back
 * @window: the window; one that was not taken is ignored
 *
 * Context: may sleep.
 */
void vdma_window_release(struct vdma_window *window)
{
	if (!window->vaddr)
		return;
	memunmap(window->vaddr);
	release_mem_region(window->phys, window->size);
	window->vaddr = NULL;
}
