/* SPDX-License-Identifier: GPL-2.0 */
/* A device that only remembers what happened to it. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include "vfu.h"

#define SAMPLE_VECTORS	4
#define SAMPLE_MSIX	0x80
#define SAMPLE_PCIE	0xc0
#define SAMPLE_BAR2	65536

struct sample_access {
	unsigned int bar;
	uint64_t offset;
	unsigned int size;
	uint64_t value;
};

struct sample {
	struct sample_access last_writes[16];
	unsigned int writes;
	unsigned int resets;
	enum vfu_reset last_reset;
};

static uint64_t sample_read(void *model, unsigned int bar, uint64_t offset, unsigned int size)
{
	(void)model;
	(void)size;
	return (uint64_t)bar << 32 | offset;
}

static void sample_write(void *model, unsigned int bar, uint64_t offset, unsigned int size,
			 uint64_t value)
{
	struct sample *sample = model;

	sample->last_writes[sample->writes++ % 16] =
		(struct sample_access){ bar, offset, size, value };
}

static void sample_reset(void *model, enum vfu_reset why)
{
	struct sample *sample = model;

	sample->resets++;
	sample->last_reset = why;
}

static const struct vfu_area sample_shared = { .offset = SAMPLE_BAR2 / 2, .size = SAMPLE_BAR2 / 2 };

static const struct vfu_setup sample_setup = {
	.id = {
		.vendor = 0xf00d, .device = 1,
		.subsystem_vendor = 0xf00d, .subsystem = 2,
		.class_code = 0x020000,
	},
	.bar = {
		[0] = { .size = 4096 },
		[2] = { .size = SAMPLE_BAR2, .is_64bit = true, .prefetchable = true,
			.shared = &sample_shared, .shared_count = 1 },
	},
	.msix = {
		.config_offset = SAMPLE_MSIX, .vectors = SAMPLE_VECTORS,
		.table_bar = 0, .table_offset = 0x800,
		.pba_bar = 0, .pba_offset = 0xc00,
	},
	.pcie = { .config_offset = SAMPLE_PCIE, .speed = 3, .width = 8 },
	.read = sample_read,
	.write = sample_write,
	.reset = sample_reset,
};

#endif
