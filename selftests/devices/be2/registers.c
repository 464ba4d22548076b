// SPDX-License-Identifier: GPL-2.0
/* The PCI function: BARs, configuration space, reset. */
#include <string.h>

#include "be2.h"

/* Placed where the driver has no register. */
#define MSIX_TABLE	0x8000
#define MSIX_PBA	0x9000
#define MSIX_CAPABILITY	0x80
#define PCIE_CAPABILITY	0xb8

static uint32_t read_pcicfg(const struct be2 *be2, uint64_t offset)
{
	switch (offset) {
	case PCICFG_UE_LOW:
		return be2->faults.ue_low;
	case PCICFG_UE_HIGH:
		return be2->faults.ue_high;
	default:
		return 0;
	}
}

static uint32_t read_csr(const struct be2 *be2, uint64_t offset)
{
	if (offset != CSR_POST_STAGE)
		return 0;
	return be2->faults.ue_low || be2->faults.ue_high ? POST_ERROR : POST_READY;
}

static uint32_t read_doorbell(const struct be2 *be2, uint64_t offset)
{
	if (offset != DB_MAILBOX)
		return 0;
	return be2->faults.firmware_hangs ? 0 : MAILBOX_READY;
}

static uint64_t be2_read(void *model, unsigned int bar, uint64_t offset, unsigned int size)
{
	const struct be2 *be2 = model;

	if (size != sizeof(uint32_t))
		return 0;
	if (bar == be2->chip->pcicfg_bar)
		return read_pcicfg(be2, offset);
	return bar == CSR_BAR ? read_csr(be2, offset) : read_doorbell(be2, offset);
}

static void be2_write(void *model, unsigned int bar, uint64_t offset, unsigned int size,
		      uint64_t value)
{
	struct be2 *be2 = model;

	if (bar != DOORBELL_BAR || size != sizeof(uint32_t))
		return;
	switch (offset) {
	case DB_TX:
		be2_tx_doorbell(be2, value);
		break;
	case DB_RX:
		be2_rx_doorbell(be2, value);
		break;
	case DB_EVENT:
		be2_event_doorbell(be2, value);
		break;
	case DB_MCC:
		be2_mcc_doorbell(be2, value);
		break;
	case DB_MAILBOX:
		be2_mailbox_doorbell(be2, value);
		break;
	}
}

void be2_reset(struct be2 *be2)
{
	be2->mailbox_address = 0;
	memset(be2->eqs, 0, sizeof(be2->eqs));
	memset(be2->cqs, 0, sizeof(be2->cqs));
	memset(be2->tx, 0, sizeof(be2->tx));
	memset(be2->rx, 0, sizeof(be2->rx));
	memset(&be2->rss, 0, sizeof(be2->rss));
	be2->is_native = false;
	memset(&be2->mcc, 0, sizeof(be2->mcc));
	memset(&be2->filter, 0, sizeof(be2->filter));
	memset(&be2->statistics, 0, sizeof(be2->statistics));
	be2->flow_control[0] = 1;
	be2->flow_control[1] = 1;
}

static void reset_by_bus(void *model, enum vfu_reset why)
{
	(void)why;
	be2_reset(model);
}

struct vfu *be2_create_device(struct be2 *be2)
{
	const struct be2_chip *chip = be2->chip;
	struct vfu_setup setup = {
		.id = {
			.vendor = BE2_VENDOR, .device = chip->device,
			.subsystem_vendor = BE2_VENDOR, .subsystem = chip->device,
			.class_code = 0x020000, .revision = 2,
		},
		.bar = {
			[CSR_BAR] = { .size = CSR_BAR_SIZE, .is_64bit = true },
			[DOORBELL_BAR] = { .size = DOORBELL_BAR_SIZE, .is_64bit = true },
		},
		.msix = {
			.config_offset = MSIX_CAPABILITY, .vectors = chip->eqs,
			.table_bar = CSR_BAR, .table_offset = MSIX_TABLE,
			.pba_bar = CSR_BAR, .pba_offset = MSIX_PBA,
		},
		.pcie = { .config_offset = PCIE_CAPABILITY, .speed = 2, .width = 8 },
		.read = be2_read,
		.write = be2_write,
		.reset = reset_by_bus,
	};
	struct vfu *vfu;

	setup.bar[chip->pcicfg_bar].size = PCICFG_BAR_SIZE;
	vfu = vfu_create(&setup, be2);
	if (vfu)
		vfu_config_set(vfu, SLI_INTF, 4,
			       SLI_INTF_VALID | chip->family << SLI_INTF_FAMILY_SHIFT);
	return vfu;
}
