// SPDX-License-Identifier: GPL-2.0
/* The PCI function: BARs, configuration space, reset. */
#include <string.h>

#include "connectx3.h"

/* Placed where the driver has no register. */
#define MSIX_TABLE	0x7c000
#define MSIX_PBA	0x7d000
#define PCIE_CAPABILITY	0x60
#define MSIX_CAPABILITY	0x9c
/* 8 GT/s */
#define PCIE_SPEED	3
#define PCIE_WIDTH	8

static bool is_hcr(uint64_t offset)
{
	return offset >= HCR && offset < HCR + HCR_WORDS * sizeof(be32);
}

static uint64_t read_register(const struct cx3 *cx3, uint64_t offset)
{
	if (is_hcr(offset))
		return cx3_hcr_read(cx3, (offset - HCR) / sizeof(be32));
	if (offset == ERROR_BUFFER)
		return be32toh(cx3->faults.error_buffer);
	/* Among them: who owns the chip, and the semaphore of its flash. */
	return 0;
}

static uint64_t cx3_read(void *model, unsigned int bar, uint64_t offset, unsigned int size)
{
	const struct cx3 *cx3 = model;

	return bar == REGISTER_BAR && size == sizeof(uint32_t) ? read_register(cx3, offset) : 0;
}

static void write_register(struct cx3 *cx3, uint64_t offset, uint32_t value)
{
	if (is_hcr(offset)) {
		cx3_hcr_write(cx3, (offset - HCR) / sizeof(be32), value);
	} else if (offset == RESET_REGISTER && be32toh(value) == RESET_VALUE) {
		cx3->faults.error_buffer = 0;
		cx3_reset(cx3);
	}
}

/* The bytes of a store, as words of the chip. */
static uint32_t word(uint64_t value, unsigned int number)
{
	return be32toh(value >> (32 * number));
}

static void write_uar(struct cx3 *cx3, uint64_t offset, unsigned int size, uint64_t value)
{
	uint64_t page = offset / UAR_PAGE;
	unsigned int at = offset % UAR_PAGE;
	const unsigned int eqs_end =
		UAR_EQ_DOORBELLS + UAR_EQS_PER_PAGE * UAR_EQ_DOORBELL_SIZE;

	if (size == sizeof(uint32_t) && at == UAR_SEND_DOORBELL)
		cx3_tx_doorbell(cx3, word(value, 0) >> SEND_DOORBELL_QPN_SHIFT);
	else if (size == sizeof(uint64_t) && at == UAR_CQ_DOORBELL)
		cx3_cq_doorbell(cx3, bits(word(value, 0), 0, CQ_DOORBELL_NUMBER_BITS),
				word(value, 1));
	else if (size == sizeof(uint32_t) && at >= UAR_EQ_DOORBELLS && at < eqs_end)
		cx3_eq_doorbell(cx3,
				page * UAR_EQS_PER_PAGE +
					(at - UAR_EQ_DOORBELLS) / UAR_EQ_DOORBELL_SIZE,
				word(value, 0));
}

static void cx3_write(void *model, unsigned int bar, uint64_t offset, unsigned int size,
		      uint64_t value)
{
	struct cx3 *cx3 = model;

	if (bar == REGISTER_BAR) {
		if (size == sizeof(uint32_t))
			write_register(cx3, offset, value);
	} else if (offset < BLUEFLAME_AREA) {
		write_uar(cx3, offset, size, value);
	} else if (cx3->blueflame_mode != BLUEFLAME_OFF) {
		cx3_blueflame_store(cx3, offset - BLUEFLAME_AREA, size, value);
	}
}

void cx3_reset(struct cx3 *cx3)
{
	bool has_light = cx3->port.has_light;

	cx3_icm_exit(cx3);
	memset(cx3->hcr, 0, sizeof(cx3->hcr));
	memset(cx3->eqs, 0, sizeof(cx3->eqs));
	memset(cx3->event_eqs, -1, sizeof(cx3->event_eqs));
	memset(cx3->cqs, 0, sizeof(cx3->cqs));
	memset(cx3->qps, 0, sizeof(cx3->qps));
	memset(cx3->mrs, 0, sizeof(cx3->mrs));
	memset(cx3->blueflame, 0, sizeof(cx3->blueflame));
	memset(&cx3->port, 0, sizeof(cx3->port));
	memset(&cx3->statistics, 0, sizeof(cx3->statistics));
	cx3->port.has_light = has_light;
}

static void reset_by_bus(void *model, enum vfu_reset why)
{
	(void)why;
	cx3_reset(model);
}

struct vfu *cx3_create_device(struct cx3 *cx3)
{
	static const struct vfu_area blueflame = { BLUEFLAME_AREA, BLUEFLAME_AREA_SIZE };
	const struct vfu_setup setup = {
		.id = {
			.vendor = CX3_VENDOR, .device = CX3_DEVICE,
			.subsystem_vendor = CX3_VENDOR, .subsystem = CX3_SUBSYSTEM,
			.class_code = 0x020000,
		},
		.bar = {
			[REGISTER_BAR] = { .size = REGISTER_BAR_SIZE, .is_64bit = true },
			[UAR_BAR] = {
				.size = UAR_BAR_SIZE, .is_64bit = true, .prefetchable = true,
				.shared = &blueflame,
				.shared_count = cx3->blueflame_mode == BLUEFLAME_MAPPED,
			},
		},
		.msix = {
			.config_offset = MSIX_CAPABILITY, .vectors = CX3_VECTORS,
			.table_bar = REGISTER_BAR, .table_offset = MSIX_TABLE,
			.pba_bar = REGISTER_BAR, .pba_offset = MSIX_PBA,
		},
		.pcie = {
			.config_offset = PCIE_CAPABILITY, .speed = PCIE_SPEED, .width = PCIE_WIDTH,
		},
		.read = cx3_read,
		.write = cx3_write,
		.reset = reset_by_bus,
	};

	cx3_reset(cx3);
	return vfu_create(&setup, cx3);
}
