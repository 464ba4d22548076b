// SPDX-License-Identifier: GPL-2.0
/* /sys/bus/pci/devices/DEVICE/memtype/ */
#include <linux/seq_buf.h>
#include <linux/sysfs.h>
#include <linux/xarray.h>

#include "bar.h"
#include "report.h"
#include "sysfs.h"

#define DIRECTORY "memtype"

/* The functions that have a directory, by their addresses; locked by itself. */
static DEFINE_XARRAY(functions);

/* A file of the directory: one BAR, as text or as JSON. */
struct bar_attribute {
	struct device_attribute attr;
	unsigned int bar;
	bool is_json;
};

static ssize_t bar_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	const struct bar_attribute *file = container_of(attr, struct bar_attribute, attr);
	struct pci_dev *pdev = to_pci_dev(dev);
	struct gmt_bar bar;
	struct seq_buf out;

	gmt_look_at_bar(pdev, file->bar, &bar);
	seq_buf_init(&out, buf, PAGE_SIZE);
	if (file->is_json)
		gmt_report_json(&out, pci_name(pdev), file->bar, &bar);
	else
		gmt_report_text(&out, &bar);
	return WARN_ON_ONCE(seq_buf_has_overflowed(&out)) ? -EOVERFLOW : (ssize_t)out.len;
}

#define BAR_TEXT(n) { __ATTR(bar##n, 0444, bar_show, NULL), n, false }
#define BAR_JSON(n) { __ATTR(bar##n##_json, 0444, bar_show, NULL), n, true }

static struct bar_attribute files[] = {
	BAR_TEXT(0), BAR_TEXT(1), BAR_TEXT(2), BAR_TEXT(3), BAR_TEXT(4), BAR_TEXT(5),
	BAR_JSON(0), BAR_JSON(1), BAR_JSON(2), BAR_JSON(3), BAR_JSON(4), BAR_JSON(5),
};

#define FILE(n) (&files[n].attr.attr)

static struct attribute *attributes[] = {
	FILE(0), FILE(1), FILE(2), FILE(3), FILE(4), FILE(5),
	FILE(6), FILE(7), FILE(8), FILE(9), FILE(10), FILE(11),
	NULL
};

static umode_t is_visible(struct kobject *kobj, struct attribute *attr, int index)
{
	struct pci_dev *pdev = to_pci_dev(kobj_to_dev(kobj));

	return gmt_is_memory_bar(pdev, files[index].bar) ? attr->mode : 0;
}

static const struct attribute_group group = {
	.name = DIRECTORY,
	.attrs = attributes,
	.is_visible = is_visible,
};

static bool has_memory(const struct pci_dev *pdev)
{
	unsigned int bar;

	for (bar = 0; bar < PCI_STD_NUM_BARS; bar++)
		if (gmt_is_memory_bar(pdev, bar))
			return true;
	return false;
}

/**
 * gmt_sysfs_add() - give a function its files, if it has memory
 * @pdev: the function
 *
 * Context: may sleep. @pdev cannot be removed meanwhile.
 */
void gmt_sysfs_add(struct pci_dev *pdev)
{
	int err;

	if (!has_memory(pdev))
		return;
	err = xa_insert(&functions, (unsigned long)pdev, pdev, GFP_KERNEL);
	/* it came between the notifier's registration and the search for those that were there */
	if (err == -EBUSY)
		return;
	if (!err)
		err = sysfs_create_group(&pdev->dev.kobj, &group);
	if (err) {
		xa_erase(&functions, (unsigned long)pdev);
		pci_err(pdev, KBUILD_MODNAME ": no directory " DIRECTORY ": error %d\n", err);
	}
}

/**
 * gmt_sysfs_remove() - take the files of a function away, if it has any
 * @pdev: the function
 *
 * Context: may sleep; waits for those who read them.
 */
void gmt_sysfs_remove(struct pci_dev *pdev)
{
	if (xa_erase(&functions, (unsigned long)pdev))
		sysfs_remove_group(&pdev->dev.kobj, &group);
}
