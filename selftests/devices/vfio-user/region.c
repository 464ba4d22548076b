// SPDX-License-Identifier: GPL-2.0
/* BARs and configuration space: what the client may know of them, and its accesses. */
#include <errno.h>
#include <linux/vfio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device.h"

#define AREA_ALIGNMENT	4096
#define LARGEST_ACCESS	8
#define VECTOR_SIZE	16
#define PBA_WORD_BITS	64

static bool areas_fit(const struct vfu_bar *bar)
{
	for (unsigned int i = 0; i < bar->shared_count; i++) {
		const struct vfu_area *area = &bar->shared[i];

		if ((area->offset | area->size) % AREA_ALIGNMENT || !area->size ||
		    area->offset > bar->size || area->size > bar->size - area->offset)
			return false;
	}
	return true;
}

static bool msix_fits(const struct vfu_setup *setup)
{
	const struct vfu_msix *msix = &setup->msix;
	uint64_t table_size = (uint64_t)msix->vectors * VECTOR_SIZE;
	uint64_t pba_size = (msix->vectors + PBA_WORD_BITS - 1) / PBA_WORD_BITS * 8;

	if (!msix->vectors)
		return true;
	return msix->vectors <= VFU_MAX_VECTORS && msix->table_bar < VFU_BARS &&
	       msix->pba_bar < VFU_BARS && !((msix->table_offset | msix->pba_offset) % 8) &&
	       msix->table_offset + table_size <= setup->bar[msix->table_bar].size &&
	       msix->pba_offset + pba_size <= setup->bar[msix->pba_bar].size;
}

static int share(struct bar_memory *bar, uint64_t size)
{
	bar->fd = memfd_create("bar", MFD_CLOEXEC);
	if (bar->fd < 0)
		return -errno;
	if (ftruncate(bar->fd, size))
		return -errno;
	bar->memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, bar->fd, 0);
	if (bar->memory == MAP_FAILED) {
		bar->memory = NULL;
		return -errno;
	}
	return 0;
}

int region_init(struct vfu *device)
{
	if (!msix_fits(&device->setup))
		return -EINVAL;
	for (unsigned int i = 0; i < VFU_BARS; i++) {
		const struct vfu_bar *bar = &device->setup.bar[i];
		int error;

		if (!areas_fit(bar))
			return -EINVAL;
		if (!bar->shared_count)
			continue;
		error = share(&device->bars[i], bar->size);
		if (error)
			return error;
	}
	return 0;
}

void region_exit(struct vfu *device)
{
	for (unsigned int i = 0; i < VFU_BARS; i++) {
		struct bar_memory *bar = &device->bars[i];

		if (bar->memory)
			munmap(bar->memory, device->setup.bar[i].size);
		if (bar->fd >= 0)
			close(bar->fd);
	}
}

static uint64_t region_size(const struct vfu *device, unsigned int region)
{
	if (region < VFU_BARS)
		return device->setup.bar[region].size;
	return region == VFIO_PCI_CONFIG_REGION_INDEX ? VFU_CONFIG_SIZE : 0;
}

static void fill_areas(struct vfio_region_info_cap_sparse_mmap *capability,
		       const struct vfu_bar *bar)
{
	capability->header.id = VFIO_REGION_INFO_CAP_SPARSE_MMAP;
	capability->header.version = 1;
	capability->nr_areas = bar->shared_count;
	for (unsigned int i = 0; i < bar->shared_count; i++) {
		capability->areas[i].offset = bar->shared[i].offset;
		capability->areas[i].size = bar->shared[i].size;
	}
}

static int reply_shared_info(struct vfu *device, uint32_t room,
			     const struct vfio_region_info *plain)
{
	const struct vfu_bar *bar = &device->setup.bar[plain->index];
	size_t size = sizeof(*plain) + sizeof(struct vfio_region_info_cap_sparse_mmap) +
		      bar->shared_count * sizeof(struct vfio_region_sparse_mmap_area);
	struct vfio_region_info *info;
	int error;

	info = calloc(1, size);
	if (!info)
		return channel_reply_error(&device->channel, ENOMEM);
	*info = *plain;
	info->argsz = size;
	info->flags |= VFIO_REGION_INFO_FLAG_MMAP | VFIO_REGION_INFO_FLAG_CAPS;
	/* QEMU 11.1 demands it also of an answer that has no room for the capability. */
	info->cap_offset = sizeof(*info);
	if (room < size) {
		/* The client asks again, with room for all of it. */
		error = channel_reply(&device->channel, info, sizeof(*info), -1);
	} else {
		fill_areas((void *)(info + 1), bar);
		error = channel_reply(&device->channel, info, size, device->bars[plain->index].fd);
	}
	free(info);
	return error;
}

int region_reply_info(struct vfu *device, const struct message *message)
{
	const struct vfio_region_info *request = (const void *)message->body;
	struct vfio_region_info info = { .argsz = sizeof(info) };

	if (message->length < sizeof(*request) || request->index >= REGION_COUNT)
		return channel_reply_error(&device->channel, EINVAL);
	info.index = request->index;
	info.size = region_size(device, info.index);
	if (info.size)
		info.flags = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE;
	if (info.index < VFU_BARS && device->bars[info.index].memory)
		return reply_shared_info(device, request->argsz, &info);
	return channel_reply(&device->channel, &info, sizeof(info), -1);
}

/* The largest access that begins at the offset, is aligned, and ends in time. */
static unsigned int piece(uint64_t offset, size_t left)
{
	unsigned int size = LARGEST_ACCESS;

	while (size > left || offset % size)
		size /= 2;
	return size;
}

static bool within(uint64_t offset, uint64_t start, uint64_t size)
{
	return offset >= start && offset - start < size;
}

/* The client has table and PBA itself, and never lets the guest's accesses through. */
static bool is_msix(const struct vfu *device, unsigned int bar, uint64_t offset)
{
	const struct vfu_msix *msix = &device->setup.msix;

	if (!msix->vectors)
		return false;
	return (bar == msix->table_bar &&
		within(offset, msix->table_offset, (uint64_t)msix->vectors * VECTOR_SIZE)) ||
	       (bar == msix->pba_bar &&
		within(offset, msix->pba_offset,
		       (msix->vectors + PBA_WORD_BITS - 1) / PBA_WORD_BITS * 8));
}

static uint64_t read_piece(struct vfu *device, unsigned int bar, uint64_t offset, unsigned int size)
{
	uint64_t value;

	if (is_msix(device, bar, offset) || !device->setup.read)
		return 0;
	device->counters.reads++;
	value = device->setup.read(device->model, bar, offset, size);
	return size < sizeof(value) ? value & ((1ULL << (8 * size)) - 1) : value;
}

static void write_piece(struct vfu *device, unsigned int bar, uint64_t offset, unsigned int size,
			uint64_t value)
{
	if (is_msix(device, bar, offset) || !device->setup.write)
		return;
	device->counters.writes++;
	device->setup.write(device->model, bar, offset, size, value);
}

static bool is_inside(const struct vfu *device, unsigned int region, uint64_t offset, size_t size)
{
	uint64_t end = region < REGION_COUNT ? region_size(device, region) : 0;

	return offset <= end && size <= end - offset;
}

int region_read(struct vfu *device, unsigned int region, uint64_t offset, uint8_t *data,
		size_t size)
{
	if (!is_inside(device, region, offset, size))
		return -EINVAL;
	if (region == VFIO_PCI_CONFIG_REGION_INDEX)
		config_read(&device->config, offset, data, size);
	while (size) {
		unsigned int now = piece(offset, size);
		uint64_t value = 0;

		if (region == VFIO_PCI_CONFIG_REGION_INDEX) {
			memcpy(&value, data, now);
		} else {
			value = read_piece(device, region, offset, now);
			memcpy(data, &value, now);
		}
		log_access(device, "read", region, offset, now, value);
		offset += now;
		data += now;
		size -= now;
	}
	return 0;
}

int region_write(struct vfu *device, unsigned int region, uint64_t offset, const uint8_t *data,
		 size_t size)
{
	bool wants_reset = false;

	if (!is_inside(device, region, offset, size))
		return -EINVAL;
	if (region == VFIO_PCI_CONFIG_REGION_INDEX)
		wants_reset = config_write(&device->config, offset, data, size);
	while (size) {
		unsigned int now = piece(offset, size);
		uint64_t value = 0;

		memcpy(&value, data, now);
		log_access(device, "write", region, offset, now, value);
		if (region != VFIO_PCI_CONFIG_REGION_INDEX)
			write_piece(device, region, offset, now, value);
		offset += now;
		data += now;
		size -= now;
	}
	if (wants_reset)
		device_reset(device, VFU_RESET_FUNCTION);
	return 0;
}
