/* SPDX-License-Identifier: GPL-2.0 */
#ifndef DEVICE_H
#define DEVICE_H

#include "channel.h"
#include "config.h"
#include "dma.h"
#include "irq.h"
#include "vfu.h"

/* Regions of a PCI device, as in <linux/vfio.h>: BARs, ROM, configuration space, VGA. */
#define REGION_COUNT	9
#define IRQ_TYPE_COUNT	5

/**
 * struct bar_memory - what is behind the shared areas of a BAR
 * @fd: a memfd as large as the BAR; -1 when it has no shared area
 * @memory: its mapping
 */
struct bar_memory {
	int fd;
	void *memory;
};

/**
 * struct vfu - one device and its connection
 * @setup: what it is
 * @model: for the callbacks
 * @listener: where the client will connect; -1 before and after
 * @channel: the connection
 * @has_version: VERSION, which has to come first, has come
 * @has_hung_up: messages are dropped from now on
 * @config: configuration space
 * @dma: what the guest has mapped
 * @irqs: interrupt vectors
 * @bars: shared memory of the BARs
 * @counters: what has happened
 * @log: may be NULL
 * @log_lines: written so far
 */
struct vfu {
	struct vfu_setup setup;
	void *model;
	int listener;
	struct channel channel;
	bool has_version;
	bool has_hung_up;
	struct config_space config;
	struct dma_table dma;
	struct irq_table irqs;
	struct bar_memory bars[VFU_BARS];
	struct vfu_counters counters;
	FILE *log;
	uint64_t log_lines;
};

void device_reset(struct vfu *device, enum vfu_reset why);

/* region.c; these return 0 or a negative errno. */
int region_init(struct vfu *device);
void region_exit(struct vfu *device);
int region_reply_info(struct vfu *device, const struct message *message);
int region_read(struct vfu *device, unsigned int region, uint64_t offset, uint8_t *data,
		size_t size);
int region_write(struct vfu *device, unsigned int region, uint64_t offset, const uint8_t *data,
		 size_t size);

/* log.c */
void log_access(struct vfu *device, const char *kind, unsigned int region, uint64_t offset,
		unsigned int size, uint64_t value);
void log_map(struct vfu *device, uint64_t address, uint64_t size, bool has_file);
void log_unmap(struct vfu *device, uint64_t address, uint64_t size);
void log_interrupt(struct vfu *device, unsigned int vector);
void log_reset(struct vfu *device);

#endif
