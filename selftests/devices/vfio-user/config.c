// SPDX-License-Identifier: GPL-2.0
/*
 * Configuration space, with the registers and names of <linux/pci_regs.h>.
 *
 * QEMU emulates BARs and MSI-X by itself, but sends on what the guest writes.
 */
#include <errno.h>
#include <linux/pci_regs.h>
#include <string.h>

#include "config.h"

#define MSIX_SIZE	12
/*
 * A version 2 capability (PCI Express Base Specification, 7.5.3) without the root port's registers.
 */
#define PCIE_SIZE	60
#define MAX_PAYLOAD_256	1

/* Sets what is there at first, and after a reset. */
static void put(struct config_space *config, unsigned int offset, unsigned int size, uint32_t value)
{
	for (unsigned int i = 0; i < size; i++)
		config->initial[offset + i] = value >> (8 * i);
}

static void allow(struct config_space *config, unsigned int offset, unsigned int size,
		  uint32_t mask)
{
	for (unsigned int i = 0; i < size; i++)
		config->writable[offset + i] = mask >> (8 * i);
}

static void put_header(struct config_space *config, const struct vfu_id *id)
{
	put(config, PCI_VENDOR_ID, 2, id->vendor);
	put(config, PCI_DEVICE_ID, 2, id->device);
	put(config, PCI_CLASS_REVISION, 4, id->class_code << 8 | id->revision);
	put(config, PCI_SUBSYSTEM_VENDOR_ID, 2, id->subsystem_vendor);
	put(config, PCI_SUBSYSTEM_ID, 2, id->subsystem);
	allow(config, PCI_COMMAND, 2, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_PARITY |
	      PCI_COMMAND_SERR | PCI_COMMAND_INTX_DISABLE);
	allow(config, PCI_CACHE_LINE_SIZE, 1, 0xff);
	allow(config, PCI_INTERRUPT_LINE, 1, 0xff);
}

static int put_bars(struct config_space *config, const struct vfu_bar *bars)
{
	for (unsigned int i = 0; i < VFU_BARS; i++) {
		unsigned int offset = PCI_BASE_ADDRESS_0 + 4 * i;
		uint64_t address_bits = ~(bars[i].size - 1);

		if (!bars[i].size)
			continue;
		if (bars[i].size & (bars[i].size - 1) || bars[i].size < 16)
			return -EINVAL;
		put(config, offset, 4, (bars[i].is_64bit ? PCI_BASE_ADDRESS_MEM_TYPE_64 : 0) |
		    (bars[i].prefetchable ? PCI_BASE_ADDRESS_MEM_PREFETCH : 0));
		allow(config, offset, 4, address_bits);
		if (!bars[i].is_64bit) {
			if (bars[i].size > UINT32_MAX)
				return -EINVAL;
			continue;
		}
		if (i + 1 == VFU_BARS || bars[i + 1].size)
			return -EINVAL;
		allow(config, offset + 4, 4, address_bits >> 32);
	}
	return 0;
}

static int add_capability(struct config_space *config, unsigned int offset, uint8_t id,
			  unsigned int size)
{
	if (offset < PCI_STD_HEADER_SIZEOF || offset & 3 || offset + size > PCI_CFG_SPACE_SIZE)
		return -EINVAL;
	for (unsigned int i = 0; i < size; i++)
		if (config->initial[offset + i])
			return -EINVAL;
	put(config, PCI_STATUS, 2, PCI_STATUS_CAP_LIST);
	put(config, config->last_capability, 1, offset);
	put(config, offset + PCI_CAP_LIST_ID, 1, id);
	config->last_capability = offset + PCI_CAP_LIST_NEXT;
	return 0;
}

static int add_pcie(struct config_space *config, const struct vfu_pcie *pcie)
{
	unsigned int at = pcie->config_offset;
	uint32_t link = pcie->speed | (uint32_t)pcie->width << 4;
	int error;

	if (!at)
		return 0;
	error = add_capability(config, at, PCI_CAP_ID_EXP, PCIE_SIZE);
	if (error)
		return error;
	put(config, at + PCI_EXP_FLAGS, 2, 2 | PCI_EXP_TYPE_ENDPOINT << 4);
	put(config, at + PCI_EXP_DEVCAP, 4,
	    PCI_EXP_DEVCAP_FLR | PCI_EXP_DEVCAP_RBER | MAX_PAYLOAD_256);
	allow(config, at + PCI_EXP_DEVCTL, 2,
	      PCI_EXP_DEVCTL_CERE | PCI_EXP_DEVCTL_NFERE | PCI_EXP_DEVCTL_FERE |
		      PCI_EXP_DEVCTL_URRE | PCI_EXP_DEVCTL_RELAX_EN | PCI_EXP_DEVCTL_PAYLOAD |
		      PCI_EXP_DEVCTL_NOSNOOP_EN | PCI_EXP_DEVCTL_READRQ);
	put(config, at + PCI_EXP_LNKCAP, 4, link);
	put(config, at + PCI_EXP_LNKSTA, 2, link);
	put(config, at + PCI_EXP_LNKCAP2, 4, (2U << pcie->speed) - 2);
	config->flr_at = at + PCI_EXP_DEVCTL + 1;
	return 0;
}

static int add_msix(struct config_space *config, const struct vfu_msix *msix)
{
	unsigned int at = msix->config_offset;
	int error;

	if (!msix->vectors)
		return 0;
	error = add_capability(config, at, PCI_CAP_ID_MSIX, MSIX_SIZE);
	if (error)
		return error;
	put(config, at + PCI_MSIX_FLAGS, 2, msix->vectors - 1);
	put(config, at + PCI_MSIX_TABLE, 4, msix->table_offset | msix->table_bar);
	put(config, at + PCI_MSIX_PBA, 4, msix->pba_offset | msix->pba_bar);
	allow(config, at + PCI_MSIX_FLAGS, 2, PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL);
	return 0;
}

int config_init(struct config_space *config, const struct vfu_setup *setup)
{
	int error;

	memset(config, 0, sizeof(*config));
	config->last_capability = PCI_CAPABILITY_LIST;
	put_header(config, &setup->id);
	error = put_bars(config, setup->bar);
	if (!error)
		error = add_msix(config, &setup->msix);
	if (!error)
		error = add_pcie(config, &setup->pcie);
	config_reset(config);
	return error;
}

void config_reset(struct config_space *config)
{
	memcpy(config->bytes, config->initial, sizeof(config->bytes));
}

void config_read(const struct config_space *config, uint64_t offset, uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		data[i] = offset + i < VFU_CONFIG_SIZE ? config->bytes[offset + i] : 0xff;
}

bool config_write(struct config_space *config, uint64_t offset, const uint8_t *data, size_t size)
{
	bool wants_reset = false;

	for (size_t i = 0; i < size && offset + i < VFU_CONFIG_SIZE; i++) {
		size_t at = offset + i;
		uint8_t mask = config->writable[at];

		config->bytes[at] = (config->bytes[at] & ~mask) | (data[i] & mask);
		if (config->flr_at && at == config->flr_at &&
		    data[i] & (PCI_EXP_DEVCTL_BCR_FLR >> 8))
			wants_reset = true;
	}
	return wants_reset;
}

void config_set(struct config_space *config, unsigned int offset, unsigned int size, uint32_t value)
{
	put(config, offset, size, value);
	memcpy(config->bytes + offset, config->initial + offset, size);
}

uint32_t config_get(const struct config_space *config, unsigned int offset, unsigned int size)
{
	uint32_t value = 0;

	for (unsigned int i = 0; i < size; i++)
		value |= (uint32_t)config->bytes[offset + i] << (8 * i);
	return value;
}
