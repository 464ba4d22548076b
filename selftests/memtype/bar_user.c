// SPDX-License-Identifier: GPL-2.0
/* Holds a BAR mapped, as a driver would, for as long as it is loaded. It does not access it. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/io.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/pci.h>

static char *device = "";
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "PCI function, like 0000:00:05.0");

static int bar;
module_param(bar, int, 0444);
MODULE_PARM_DESC(bar, "number of its BAR (default 0)");

static char *kind = "uncached";
module_param(kind, charp, 0444);
MODULE_PARM_DESC(kind, "uncached (default) or write-combining");

static void __iomem *mapping;

static struct pci_dev *find(void)
{
	struct pci_dev *pdev = NULL;

	for_each_pci_dev(pdev)
		if (!strcmp(pci_name(pdev), device))
			return pdev;
	return NULL;
}

static int __init bar_user_init(void)
{
	struct pci_dev *pdev = find();
	int err = 0;

	if (!pdev) {
		pr_err("there is no device \"%s\"\n", device);
		return -ENODEV;
	}
	if (!strcmp(kind, "uncached"))
		mapping = pci_ioremap_bar(pdev, bar);
	else if (!strcmp(kind, "write-combining"))
		mapping = pci_ioremap_wc_bar(pdev, bar);
	else
		err = -EINVAL;
	pci_dev_put(pdev);
	return mapping ? 0 : err ?: -ENXIO;
}

static void __exit bar_user_exit(void)
{
	iounmap(mapping);
}

module_init(bar_user_init);
module_exit(bar_user_exit);

MODULE_DESCRIPTION("Another user of a BAR, for the test of guest_memtype");
MODULE_LICENSE("GPL");
