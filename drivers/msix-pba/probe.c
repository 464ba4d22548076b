// SPDX-License-Identifier: GPL-2.0
/* What configuration space says of a function. Nothing is written to it. */
#include "probe.h"

#define ALL_ONES_WORD	0xffff
#define ALL_ONES	0xffffffffU

static bool gone(struct pci_dev *pdev)
{
	u32 id;

	return pci_channel_offline(pdev) || pci_read_config_dword(pdev, PCI_VENDOR_ID, &id) ||
		id == ALL_ONES;
}

static unsigned int bars_of(const struct pci_dev *pdev)
{
	switch (pdev->hdr_type) {
	case PCI_HEADER_TYPE_NORMAL:
		return PCI_STD_NUM_BARS;
	case PCI_HEADER_TYPE_BRIDGE:
		return 2;
	default:
		return 0;
	}
}

/* The kernel knows the sizes, also of a virtual function's BARs, which its own header lacks. */
static void read_bars(struct pci_dev *pdev, struct msix_config *config)
{
	unsigned int i;

	config->bars = bars_of(pdev);
	for (i = 0; i < config->bars; i++) {
		const struct resource *resource = &pdev->resource[i];

		config->bar[i] = (struct msix_bar) {
			.size = resource->flags ? resource_size(resource) : 0,
			.memory = resource->flags & IORESOURCE_MEM,
			.upper_half = i && pdev->resource[i - 1].flags & IORESOURCE_MEM_64,
		};
	}
}

/**
 * msix_probe() - read what the layout depends on
 * @pdev: the function
 * @config: the result
 *
 * Context: may sleep.
 * Return: NULL, or why there is no result, as a sentence for the user.
 */
const char *msix_probe(struct pci_dev *pdev, struct msix_config *config)
{
	u8 capability = pci_find_capability(pdev, PCI_CAP_ID_MSIX);

	if (!capability)
		return gone(pdev) ? "it does not answer" : "it has no MSI-X capability";
	if (pci_read_config_word(pdev, capability + PCI_MSIX_FLAGS, &config->control) ||
	    pci_read_config_dword(pdev, capability + PCI_MSIX_TABLE, &config->table) ||
	    pci_read_config_dword(pdev, capability + PCI_MSIX_PBA, &config->pba) ||
	    config->control == ALL_ONES_WORD)
		return "it does not answer";
	read_bars(pdev, config);
	return NULL;
}

static bool powered_down(struct pci_dev *pdev)
{
	u16 control = 0;

	if (pdev->current_state == PCI_D3cold)
		return true;
	if (!pdev->pm_cap)
		return false;
	pci_read_config_word(pdev, pdev->pm_cap + PCI_PM_CTRL, &control);
	return control & PCI_PM_CTRL_STATE_MASK;
}

/* A virtual function's bit is always zero: the physical function's VF MSE counts for all. */
static bool decodes_memory(struct pci_dev *pdev)
{
	u16 command = 0;

	if (pdev->is_virtfn)
		return true;
	pci_read_config_word(pdev, PCI_COMMAND, &command);
	return command & PCI_COMMAND_MEMORY;
}

/**
 * msix_unreadable() - why a function's BARs cannot be read now
 * @pdev: the function
 *
 * Context: may sleep.
 * Return: NULL if they can, or the reason as a sentence for the user.
 */
const char *msix_unreadable(struct pci_dev *pdev)
{
	if (gone(pdev))
		return "it does not answer: has it been removed?";
	if (powered_down(pdev))
		return "it is powered down: use it, or write on to its power/control";
	if (!decodes_memory(pdev))
		return "its memory BARs are disabled: bind a driver, or write 1 to its enable file";
	return NULL;
}
