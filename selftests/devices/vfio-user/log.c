// SPDX-License-Identifier: GPL-2.0
/* The access log; vfu.h describes its lines. */
#include <inttypes.h>

#include "device.h"

void vfu_set_log(struct vfu *device, FILE *log)
{
	device->log = log;
}

void log_access(struct vfu *device, const char *kind, unsigned int region, uint64_t offset,
		unsigned int size, uint64_t value)
{
	if (device->log)
		fprintf(device->log, "%" PRIu64 " %s %u 0x%" PRIx64 " %u 0x%" PRIx64 "\n",
			++device->log_lines, kind, region, offset, size, value);
}

void log_map(struct vfu *device, uint64_t address, uint64_t size, bool has_file)
{
	if (device->log)
		fprintf(device->log, "%" PRIu64 " map 0x%" PRIx64 " %" PRIu64 " %s\n",
			++device->log_lines, address, size, has_file ? "file" : "none");
}

void log_unmap(struct vfu *device, uint64_t address, uint64_t size)
{
	if (device->log)
		fprintf(device->log, "%" PRIu64 " unmap 0x%" PRIx64 " %" PRIu64 "\n",
			++device->log_lines, address, size);
}

void log_interrupt(struct vfu *device, unsigned int vector)
{
	if (device->log)
		fprintf(device->log, "%" PRIu64 " interrupt %u\n", ++device->log_lines, vector);
}

void log_reset(struct vfu *device)
{
	if (device->log)
		fprintf(device->log, "%" PRIu64 " reset\n", ++device->log_lines);
}
