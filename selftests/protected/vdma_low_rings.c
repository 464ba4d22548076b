// SPDX-License-Identifier: GPL-2.0
/*
 * Puts the rings of all virtio devices that have no driver yet below 4 GiB.
 *
 * The kernel's SWIOTLB bounces streaming mappings only. In a guest with encrypted
 * memory the kernel makes coherent memory, hence the rings, shared by itself; in one
 * that only plays it, what lies below 4 GiB is shared, and the rings have to be there.
 */
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/pci.h>

static int __init low_rings_init(void)
{
	struct pci_dev *pdev = NULL;
	unsigned int changed = 0;

	/* once virtio-pci is bound, which asks for all 64 bits */
	while ((pdev = pci_get_device(PCI_VENDOR_ID_REDHAT_QUMRANET, PCI_ANY_ID, pdev)))
		if (pdev->dev.driver && !dma_set_coherent_mask(&pdev->dev, DMA_BIT_MASK(32)))
			changed++;
	pr_info("%u devices take coherent memory below 4 GiB\n", changed);
	return changed ? 0 : -ENODEV;
}

static void __exit low_rings_exit(void)
{
}

module_init(low_rings_init);
module_exit(low_rings_exit);

MODULE_DESCRIPTION("Test: the rings of virtio devices below 4 GiB");
MODULE_LICENSE("GPL");
