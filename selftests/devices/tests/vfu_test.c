// SPDX-License-Identifier: GPL-2.0
/* The vfio-user library, seen from the client and from the model. */
#include <errno.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "client.h"
#include "sample.h"

#define PAGE	4096ULL
#define CONFIG	VFIO_PCI_CONFIG_REGION_INDEX
#define RW	(DMA_READABLE | DMA_WRITABLE)
#define BASE	0x100000ULL

struct fixture {
	struct sample sample;
	struct vfu *device;
	struct client client;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->device = vfu_create(&sample_setup, &f->sample);
	assert_non_null(f->device);
	client_connect(&f->client, f->device);
	assert_int_equal(client_version(&f->client), 0);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	client_disconnect(&f->client);
	vfu_destroy(f->device);
	free(f);
	return 0;
}

static uint64_t violations(const struct fixture *f)
{
	return vfu_get_counters(f->device)->violations;
}

/* --- connection --- */

static void version_comes_first(void **state)
{
	struct sample sample = { 0 };
	struct vfu *device = vfu_create(&sample_setup, &sample);
	struct client *client = calloc(1, sizeof(*client));
	uint32_t id;

	(void)state;
	client_connect(client, device);
	assert_int_equal(client_read(client, CONFIG, 0, &id, 4), EINVAL);
	assert_int_equal(client_version(client), 0);
	assert_int_equal(client->body[client->reply.size - sizeof(client->reply) - 1], 0);
	assert_int_equal(client_read(client, CONFIG, 0, &id, 4), 0);
	assert_int_equal(id, 0x0001f00d);
	assert_int_equal(client_version(client), EINVAL);
	client_disconnect(client);
	vfu_destroy(device);
	free(client);
}

static void message_in_pieces(void **state)
{
	struct fixture *f = *state;
	struct {
		struct message_header header;
		struct region_access_message access;
	} message = {
		.header = { .id = 7, .command = MESSAGE_REGION_READ, .size = sizeof(message) },
		.access = { .offset = 16, .region = 0, .count = 4 },
	};

	for (size_t i = 0; i < sizeof(message); i++) {
		assert_false(client_has_reply(&f->client));
		assert_int_equal(client_send_raw(&f->client, (char *)&message + i, 1, NULL, 0), 0);
	}
	assert_true(client_has_reply(&f->client));
}

static void messages_in_one_piece(void **state)
{
	struct fixture *f = *state;
	struct {
		struct message_header header;
		struct region_access_message access;
		uint8_t data[4];
	} __attribute__((packed)) messages[3];

	for (int i = 0; i < 3; i++) {
		messages[i].header = (struct message_header){
			.id = i, .command = MESSAGE_REGION_WRITE, .size = sizeof(messages[0]),
			.flags = MESSAGE_NO_REPLY,
		};
		messages[i].access =
			(struct region_access_message){ .offset = 4 * i, .region = 0, .count = 4 };
		memset(messages[i].data, i, 4);
	}
	assert_int_equal(client_send_raw(&f->client, messages, sizeof(messages), NULL, 0), 0);
	assert_int_equal(f->sample.writes, 3);
	assert_int_equal(f->sample.last_writes[2].offset, 8);
	assert_int_equal(f->sample.last_writes[2].value, 0x02020202);
	assert_false(client_has_reply(&f->client));
	assert_int_equal(vfu_get_counters(f->device)->posted, 3);
}

static void bad_sizes_end_the_connection(void **state)
{
	static const uint32_t sizes[] = { 0, 15, 16 + MAX_BODY + 1, UINT32_MAX };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct sample sample = { 0 };
		struct vfu *device = vfu_create(&sample_setup, &sample);
		struct client *client = calloc(1, sizeof(*client));
		struct message_header header = { .command = MESSAGE_VERSION, .size = sizes[i] };

		client_connect(client, device);
		assert_int_equal(client_send_raw(client, &header, sizeof(header), NULL, 0),
				 -EPROTO);
		assert_int_equal(vfu_serve(device), -ECONNRESET);
		assert_int_equal(vfu_poll_fd(device), -1);
		client_disconnect(client);
		vfu_destroy(device);
		free(client);
	}
}

static void too_many_files_end_the_connection(void **state)
{
	struct fixture *f = *state;
	struct message_header header = { .command = MESSAGE_DEVICE_RESET, .size = sizeof(header) };
	int fds[MAX_FDS + 4];

	for (int i = 0; i < MAX_FDS + 4; i++)
		fds[i] = STDERR_FILENO;
	assert_int_equal(client_send_raw(&f->client, &header, sizeof(header), fds, MAX_FDS + 4),
			 -EPROTO);
}

static void unknown_command_is_refused(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(client_command(&f->client, 4711, NULL, 0, -1), ENOTSUP);
	assert_int_equal(client_command(&f->client, 15, NULL, 0, -1), ENOTSUP);
}

static void client_that_goes_resets(void **state)
{
	struct fixture *f = *state;
	int fd = client_memory(PAGE);

	assert_int_equal(client_map(&f->client, BASE, PAGE, RW, fd, 0), 0);
	close(fd);
	client_disconnect(&f->client);
	assert_int_equal(vfu_serve(f->device), -ECONNRESET);
	assert_int_equal(f->sample.resets, 1);
	assert_int_equal(f->sample.last_reset, VFU_RESET_DISCONNECT);
	assert_false(vfu_dma_read(f->device, "page", BASE, &fd, 4));
}

static void hanging_up_drops_messages(void **state)
{
	struct fixture *f = *state;
	struct message_header header = { .command = MESSAGE_DEVICE_RESET, .size = sizeof(header) };
	uint32_t value = 0;

	assert_int_equal(send(f->client.fd, &header, sizeof(header), 0), sizeof(header));
	vfu_hang_up(f->device);
	assert_int_equal(recv(f->client.fd, &value, sizeof(value), 0), 0);
	assert_int_equal(send(f->client.fd, &header, sizeof(header), MSG_NOSIGNAL), -1);
	assert_int_equal(errno, EPIPE);
	assert_int_equal(vfu_serve(f->device), -ECONNRESET);
	assert_int_equal(f->sample.resets, 1);
	assert_int_equal(f->sample.last_reset, VFU_RESET_DISCONNECT);
}

static void two_devices_in_one_process(void **state)
{
	struct fixture *f = *state;
	struct sample other_sample = { 0 };
	struct vfu *other = vfu_create(&sample_setup, &other_sample);
	struct client *client = calloc(1, sizeof(*client));
	uint32_t value = 5;

	client_connect(client, other);
	assert_int_equal(client_version(client), 0);
	assert_int_equal(client_write(client, 0, 0, &value, 4), 0);
	assert_int_equal(other_sample.writes, 1);
	assert_int_equal(f->sample.writes, 0);
	client_disconnect(client);
	vfu_destroy(other);
	free(client);
}

/* --- regions --- */

static void region_info(void **state)
{
	struct fixture *f = *state;
	struct vfio_region_info request = { .argsz = sizeof(request), .index = 0 };
	const struct vfio_region_info *info = (const void *)f->client.body;

	assert_int_equal(client_command(&f->client, MESSAGE_DEVICE_GET_REGION_INFO, &request,
					sizeof(request), -1),
			 0);
	assert_int_equal(info->size, 4096);
	assert_int_equal(info->flags, VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE);
	request.index = 1;
	assert_int_equal(client_command(&f->client, MESSAGE_DEVICE_GET_REGION_INFO, &request,
					sizeof(request), -1),
			 0);
	assert_int_equal(info->size, 0);
	request.index = 9;
	assert_int_equal(client_command(&f->client, MESSAGE_DEVICE_GET_REGION_INFO, &request,
					sizeof(request), -1),
			 EINVAL);
}

static void shared_area_is_shared(void **state)
{
	struct fixture *f = *state;
	struct vfio_region_info request = { .argsz = sizeof(request), .index = 2 };
	const struct vfio_region_info *info = (const void *)f->client.body;
	const struct vfio_region_info_cap_sparse_mmap *sparse;
	uint8_t *memory;

	assert_int_equal(client_command(&f->client, MESSAGE_DEVICE_GET_REGION_INFO, &request,
					sizeof(request), -1),
			 0);
	assert_int_equal(f->client.reply_fd, -1);
	assert_int_equal(info->cap_offset, sizeof(*info));
	request.argsz = info->argsz;
	assert_int_equal(client_command(&f->client, MESSAGE_DEVICE_GET_REGION_INFO, &request,
					sizeof(request), -1),
			 0);
	assert_true(f->client.reply_fd >= 0);
	assert_true(info->flags & VFIO_REGION_INFO_FLAG_MMAP);
	sparse = (const void *)(f->client.body + info->cap_offset);
	assert_int_equal(sparse->header.id, VFIO_REGION_INFO_CAP_SPARSE_MMAP);
	assert_int_equal(sparse->nr_areas, 1);
	assert_int_equal(sparse->areas[0].offset, SAMPLE_BAR2 / 2);
	assert_int_equal(sparse->areas[0].size, SAMPLE_BAR2 / 2);
	memory = mmap(NULL, SAMPLE_BAR2, PROT_READ | PROT_WRITE, MAP_SHARED, f->client.reply_fd, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	memory[SAMPLE_BAR2 / 2 + 5] = 42;
	assert_int_equal(((uint8_t *)vfu_bar_memory(f->device, 2))[SAMPLE_BAR2 / 2 + 5], 42);
	assert_null(vfu_bar_memory(f->device, 0));
	munmap(memory, SAMPLE_BAR2);
}

static void long_write_arrives_in_order(void **state)
{
	struct fixture *f = *state;
	uint8_t data[23];

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = i;
	assert_int_equal(client_write(&f->client, 2, 4, data, sizeof(data)), 0);
	assert_int_equal(f->sample.writes, 5);
	assert_int_equal(f->sample.last_writes[0].offset, 4);
	assert_int_equal(f->sample.last_writes[0].size, 4);
	assert_int_equal(f->sample.last_writes[1].offset, 8);
	assert_int_equal(f->sample.last_writes[1].size, 8);
	assert_int_equal(f->sample.last_writes[1].value, 0x0b0a090807060504);
	assert_int_equal(f->sample.last_writes[4].offset, 26);
	assert_int_equal(f->sample.last_writes[4].size, 1);
	assert_int_equal(f->sample.last_writes[4].value, 22);
}

static void access_outside_a_region(void **state)
{
	struct fixture *f = *state;
	uint64_t value = 0;

	assert_int_equal(client_read(&f->client, 0, 4096, &value, 1), EINVAL);
	assert_int_equal(client_read(&f->client, 0, 4092, &value, 8), EINVAL);
	assert_int_equal(client_write(&f->client, 0, UINT64_MAX, &value, 2), EINVAL);
	assert_int_equal(client_write(&f->client, 1, 0, &value, 4), EINVAL);
	assert_int_equal(client_write(&f->client, UINT32_MAX, 0, &value, 4), EINVAL);
	assert_int_equal(f->sample.writes, 0);
	assert_int_equal(client_read(&f->client, 0, 4088, &value, 8), 0);
	assert_int_equal(value, 4088);
}

static void count_must_match_the_data(void **state)
{
	struct fixture *f = *state;
	struct {
		struct region_access_message fixed;
		uint8_t data[4];
	} __attribute__((packed)) request = { .fixed = { .region = 0, .count = 8 } };

	assert_int_equal(client_command(&f->client, MESSAGE_REGION_WRITE, &request, sizeof(request),
					-1),
			 EINVAL);
	request.fixed.count = MAX_TRANSFER + 1;
	assert_int_equal(client_command(&f->client, MESSAGE_REGION_READ, &request,
					sizeof(request.fixed), -1),
			 EINVAL);
	assert_int_equal(client_command(&f->client, MESSAGE_REGION_READ, &request, 8, -1), EINVAL);
}

static void msix_table_is_not_the_models(void **state)
{
	struct fixture *f = *state;
	uint64_t value = 1;

	assert_int_equal(client_write(&f->client, 0, 0x800, &value, 8), 0);
	assert_int_equal(client_write(&f->client, 0, 0xc00, &value, 8), 0);
	assert_int_equal(f->sample.writes, 0);
	assert_int_equal(client_write(&f->client, 0, 0x840, &value, 8), 0);
	assert_int_equal(f->sample.writes, 1);
	assert_int_equal(client_read(&f->client, 0, 0xc00, &value, 8), 0);
	assert_int_equal(value, 0);
}

/* --- configuration space --- */

static void capabilities_are_linked(void **state)
{
	struct fixture *f = *state;
	uint8_t bytes[256];

	assert_int_equal(client_read(&f->client, CONFIG, 0, bytes, sizeof(bytes)), 0);
	assert_true(bytes[PCI_STATUS] & PCI_STATUS_CAP_LIST);
	assert_int_equal(bytes[PCI_CAPABILITY_LIST], SAMPLE_MSIX);
	assert_int_equal(bytes[SAMPLE_MSIX], PCI_CAP_ID_MSIX);
	assert_int_equal(bytes[SAMPLE_MSIX + PCI_CAP_LIST_NEXT], SAMPLE_PCIE);
	assert_int_equal(bytes[SAMPLE_PCIE], PCI_CAP_ID_EXP);
	assert_int_equal(bytes[SAMPLE_PCIE + PCI_CAP_LIST_NEXT], 0);
	assert_int_equal(bytes[PCI_BASE_ADDRESS_2],
			 PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH);
}

static void only_writable_bits_change(void **state)
{
	struct fixture *f = *state;
	uint32_t ones = UINT32_MAX, value;

	client_write(&f->client, CONFIG, PCI_VENDOR_ID, &ones, 4);
	client_read(&f->client, CONFIG, PCI_VENDOR_ID, &value, 4);
	assert_int_equal(value, 0x0001f00d);
	client_write(&f->client, CONFIG, PCI_BASE_ADDRESS_0, &ones, 4);
	client_read(&f->client, CONFIG, PCI_BASE_ADDRESS_0, &value, 4);
	assert_int_equal(value, 0xfffff000);
	client_write(&f->client, CONFIG, PCI_BASE_ADDRESS_0 + 8, &ones, 4);
	client_read(&f->client, CONFIG, PCI_BASE_ADDRESS_0 + 8, &value, 4);
	assert_int_equal(value, 0xffff000c);
	assert_int_equal(client_write(&f->client, CONFIG, 4094, &ones, 4),
			 EINVAL);
}

static void flr_resets_the_function(void **state)
{
	struct fixture *f = *state;
	uint16_t control = PCI_EXP_DEVCTL_BCR_FLR, command = PCI_COMMAND_MASTER;

	client_write(&f->client, CONFIG, PCI_COMMAND, &command, 2);
	client_write(&f->client, CONFIG, SAMPLE_PCIE + PCI_EXP_DEVCTL,
		     &control, 2);
	assert_int_equal(f->sample.resets, 1);
	assert_int_equal(f->sample.last_reset, VFU_RESET_FUNCTION);
	assert_int_equal(vfu_config_get(f->device, PCI_COMMAND, 2), 0);
	assert_int_equal(vfu_config_get(f->device, SAMPLE_PCIE + PCI_EXP_DEVCTL, 2), 0);
	assert_int_equal(client_command(&f->client, MESSAGE_DEVICE_RESET, NULL, 0, -1), 0);
	assert_int_equal(f->sample.last_reset, VFU_RESET_CLIENT);
}

static void contradictory_setups_are_refused(void **state)
{
	struct vfu_setup setup;

	(void)state;
#define expect_refused(change)						\
	do {								\
		setup = sample_setup;					\
		change;							\
		errno = 0;						\
		assert_null(vfu_create(&setup, NULL));			\
		assert_int_equal(errno, EINVAL);			\
	} while (0)
	expect_refused(setup.bar[0].size = 3000);
	expect_refused(setup.bar[3].size = 4096);
	expect_refused(setup.msix.table_offset = 0xfe0);
	expect_refused(setup.msix.vectors = 4000);
	expect_refused(setup.msix.config_offset = SAMPLE_PCIE);
	expect_refused(setup.msix.config_offset = 0x3c);
	expect_refused(setup.pcie.config_offset = 0xf0);
	expect_refused(setup.bar[2].size = SAMPLE_BAR2 / 2);
#undef expect_refused
}

/* --- memory --- */

static void memory_is_read_and_written(void **state)
{
	struct fixture *f = *state;
	int fd = client_memory(4 * PAGE);
	uint8_t *memory = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	uint32_t value = 0;

	assert_int_equal(client_map(&f->client, BASE, 2 * PAGE, RW, fd, PAGE), 0);
	memory[PAGE + 8] = 77;
	assert_true(vfu_dma_read(f->device, "word", BASE + 8, &value, 4));
	assert_int_equal(value, 77);
	assert_true(vfu_dma_publish32(f->device, "flag", BASE + PAGE, 0x12345678));
	memcpy(&value, memory + 2 * PAGE, 4);
	assert_int_equal(value, 0x12345678);
	assert_int_equal(violations(f), 0);
	assert_int_equal(vfu_get_counters(f->device)->dma_lowest, BASE + 8);
	assert_int_equal(vfu_get_counters(f->device)->dma_highest, BASE + PAGE + 3);
	munmap(memory, 4 * PAGE);
	close(fd);
}

static void access_across_mappings(void **state)
{
	struct fixture *f = *state;
	int fd = client_memory(3 * PAGE);
	uint8_t sent[PAGE + 200], got[PAGE + 200];

	/* in the reverse order, so that neighbours are none in the file */
	for (uint64_t i = 0; i < 3; i++)
		assert_false(client_map(&f->client, BASE + i * PAGE, PAGE, RW, fd, (2 - i) * PAGE));
	for (size_t i = 0; i < sizeof(sent); i++)
		sent[i] = i * 7;
	assert_true(vfu_dma_write(f->device, "frame", BASE + PAGE - 100, sent, sizeof(sent)));
	assert_true(vfu_dma_read(f->device, "frame", BASE + PAGE - 100, got, sizeof(got)));
	assert_memory_equal(sent, got, sizeof(sent));
	assert_int_equal(violations(f), 0);
	close(fd);
}

static void nothing_happens_outside(void **state)
{
	struct fixture *f = *state;
	int fd = client_memory(2 * PAGE);
	uint8_t *memory = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	uint8_t data[64];
	const struct vfu_violation *violation;

	memset(data, 0xff, sizeof(data));
	assert_int_equal(client_map(&f->client, BASE, PAGE, RW, fd, 0), 0);
	assert_false(vfu_dma_write(f->device, "tail", BASE + PAGE - 32, data, sizeof(data)));
	assert_int_equal(memory[PAGE - 1], 0);
	assert_int_equal(violations(f), 1);
	violation = vfu_get_violation(f->device, 0);
	assert_string_equal(violation->what, "tail");
	assert_int_equal(violation->address, BASE + PAGE);
	assert_true(violation->is_write);
	assert_int_equal(violation->reason, VFU_UNMAPPED);
	assert_null(vfu_get_violation(f->device, 1));
	assert_false(vfu_dma_read(f->device, "wrap", UINT64_MAX - 3, data, 8));
	assert_false(vfu_dma_read(f->device, "null", 0, data, 8));
	assert_int_equal(violations(f), 3);
	munmap(memory, 2 * PAGE);
	close(fd);
}

static void direction_is_respected(void **state)
{
	struct fixture *f = *state;
	int fd = client_memory(2 * PAGE);
	uint32_t value = 1;

	assert_int_equal(client_map(&f->client, BASE, PAGE, DMA_READABLE, fd, 0), 0);
	assert_int_equal(client_map(&f->client, BASE + PAGE, PAGE, DMA_WRITABLE, fd, PAGE), 0);
	assert_true(vfu_dma_read(f->device, "a", BASE, &value, 4));
	assert_false(vfu_dma_write(f->device, "b", BASE, &value, 4));
	assert_false(vfu_dma_read(f->device, "c", BASE + PAGE, &value, 4));
	assert_true(vfu_dma_write(f->device, "d", BASE + PAGE, &value, 4));
	assert_int_equal(violations(f), 2);
	assert_int_equal(vfu_get_violation(f->device, 0)->reason, VFU_NOT_PERMITTED);
	close(fd);
}

static void memory_that_is_not_shared(void **state)
{
	struct fixture *f = *state;
	int loose = memfd_create("can shrink", MFD_CLOEXEC);
	uint32_t value;

	assert_int_equal(ftruncate(loose, PAGE), 0);
	assert_int_equal(client_map(&f->client, BASE, PAGE, RW, -1, 0), 0);
	assert_int_equal(client_map(&f->client, 2 * BASE, PAGE, RW, loose, 0), 0);
	assert_false(vfu_dma_read(f->device, "rom", BASE, &value, 4));
	assert_false(vfu_dma_read(f->device, "loose", 2 * BASE, &value, 4));
	assert_int_equal(vfu_get_violation(f->device, 0)->reason, VFU_NO_MEMORY);
	assert_int_equal(vfu_get_violation(f->device, 1)->reason, VFU_NO_MEMORY);
	close(loose);
}

static void bad_mappings_are_refused(void **state)
{
	struct fixture *f = *state;
	int fd = client_memory(2 * PAGE);

	assert_int_equal(client_map(&f->client, BASE, 0, RW, fd, 0), EINVAL);
	assert_int_equal(client_map(&f->client, BASE + 1, PAGE, RW, fd, 0), EINVAL);
	assert_int_equal(client_map(&f->client, BASE, PAGE + 1, RW, fd, 0), EINVAL);
	assert_int_equal(client_map(&f->client, BASE, PAGE, RW, fd, 2 * PAGE), EINVAL);
	assert_int_equal(client_map(&f->client, BASE, PAGE, RW, fd, 1), EINVAL);
	assert_int_equal(client_map(&f->client, BASE, 4 * PAGE, RW, fd, 0), EINVAL);
	assert_int_equal(client_map(&f->client, -PAGE, 2 * PAGE, RW, fd, 0), EINVAL);
	assert_int_equal(client_map(&f->client, BASE, PAGE, RW, fd, -PAGE), EINVAL);
	assert_int_equal(client_map(&f->client, -PAGE, PAGE, RW, fd, 0), 0);
	assert_int_equal(client_map(&f->client, BASE, 2 * PAGE, RW, fd, 0), 0);
	assert_int_equal(client_map(&f->client, BASE + PAGE, PAGE, RW, fd, 0), EEXIST);
	assert_int_equal(client_map(&f->client, BASE - PAGE, 2 * PAGE, RW, fd, 0), EEXIST);
	assert_int_equal(vfu_get_counters(f->device)->dma_maps, 2);
	close(fd);
}

static void unmap_takes_what_is_inside(void **state)
{
	struct fixture *f = *state;
	int fd = client_memory(8 * PAGE);
	uint32_t value;

	assert_int_equal(client_map(&f->client, BASE, 8 * PAGE, RW, fd, 0), 0);
	assert_int_equal(client_unmap(&f->client, BASE + 2 * PAGE, 3 * PAGE, 0), 0);
	for (unsigned int page = 0; page < 8; page++)
		assert_int_equal(vfu_dma_read(f->device, "page", BASE + page * PAGE, &value, 4),
				 page < 2 || page > 4);
	/* a range of which only a part was ever mapped, and one of which nothing was */
	assert_int_equal(client_unmap(&f->client, 0, 1ULL << 40, 0), 0);
	assert_int_equal(client_unmap(&f->client, 0, 1ULL << 40, 0), 0);
	assert_false(vfu_dma_read(f->device, "page", BASE, &value, 4));
	assert_int_equal(client_map(&f->client, BASE, PAGE, RW, fd, 0), 0);
	assert_int_equal(client_unmap(&f->client, 0, 0, DMA_UNMAP_ALL), 0);
	assert_false(vfu_dma_read(f->device, "page", BASE, &value, 4));
	assert_int_equal(client_unmap(&f->client, BASE, 17, 0), EINVAL);
	close(fd);
}

static void many_mappings(void **state)
{
	struct fixture *f = *state;
	int fd = client_memory(PAGE);
	uint8_t value = 9;

	/* in an order that is neither up nor down */
	for (uint64_t i = 0; i < 1000; i++)
		assert_false(client_map(&f->client, (i * 377 % 1000) * 2 * PAGE, PAGE, RW, fd, 0));
	for (uint64_t i = 0; i < 2000; i++)
		assert_int_equal(vfu_dma_write(f->device, "page", i * PAGE, &value, 1), i % 2 == 0);
	assert_int_equal(client_unmap(&f->client, 0, 2000 * PAGE, 0), 0);
	assert_int_equal(vfu_get_counters(f->device)->dma_unmaps, 1000);
	close(fd);
}

/* --- interrupts --- */

static void interrupts_reach_their_vector(void **state)
{
	struct fixture *f = *state;
	int fds[2] = { eventfd(0, EFD_NONBLOCK), eventfd(0, EFD_NONBLOCK) };
	uint64_t count;

	assert_false(vfu_interrupt(f->device, 1));
	assert_int_equal(client_set_irq(&f->client, 1, fds[0]), 0);
	assert_int_equal(client_set_irq(&f->client, 3, fds[1]), 0);
	assert_true(vfu_interrupt(f->device, 3));
	assert_true(vfu_interrupt(f->device, 3));
	assert_int_equal(read(fds[1], &count, sizeof(count)), sizeof(count));
	assert_int_equal(count, 2);
	assert_int_equal(read(fds[0], &count, sizeof(count)), -1);
	assert_int_equal(client_set_irq(&f->client, 3, -1), 0);
	assert_false(vfu_interrupt(f->device, 3));
	assert_false(vfu_interrupt(f->device, 4711));
	assert_int_equal(vfu_get_counters(f->device)->interrupts, 2);
	assert_int_equal(vfu_get_counters(f->device)->interrupts_off, 3);
	close(fds[0]);
	close(fds[1]);
}

static void bad_vectors_are_refused(void **state)
{
	struct fixture *f = *state;
	struct vfio_irq_set request = {
		.flags = VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER,
		.index = VFIO_PCI_MSIX_IRQ_INDEX, .start = UINT32_MAX, .count = 2,
	};
	int pipes[2];

	assert_int_equal(client_command(&f->client, MESSAGE_DEVICE_SET_IRQS, &request,
					sizeof(request), -1),
			 EINVAL);
	request.start = 3;
	assert_int_equal(client_command(&f->client, MESSAGE_DEVICE_SET_IRQS, &request,
					sizeof(request), -1),
			 EINVAL);
	request.index = VFIO_PCI_MSI_IRQ_INDEX;
	assert_int_equal(client_command(&f->client, MESSAGE_DEVICE_SET_IRQS, &request,
					sizeof(request), -1),
			 EINVAL);
	assert_int_equal(client_command(&f->client, MESSAGE_DEVICE_SET_IRQS, &request, 4, -1),
			 EINVAL);
	/* a pipe whose reader has gone would end us with SIGPIPE */
	assert_int_equal(pipe(pipes), 0);
	close(pipes[0]);
	assert_int_equal(client_set_irq(&f->client, 0, pipes[1]), EINVAL);
	assert_false(vfu_interrupt(f->device, 0));
	close(pipes[1]);
}

/* --- log --- */

static void log_has_every_access(void **state)
{
	struct fixture *f = *state;
	char text[512] = "";
	FILE *log = fmemopen(text, sizeof(text), "w");
	uint32_t value = 0xabc;

	vfu_set_log(f->device, log);
	client_write(&f->client, 0, 0x10, &value, 4);
	client_read(&f->client, 0, 0x20, &value, 4);
	client_map(&f->client, BASE, PAGE, RW, -1, 0);
	client_unmap(&f->client, BASE, PAGE, 0);
	vfu_set_log(f->device, NULL);
	client_write(&f->client, 0, 0x10, &value, 4);
	fclose(log);
	assert_string_equal(text, "1 write 0 0x10 4 0xabc\n2 read 0 0x20 4 0x20\n"
				  "3 map 0x100000 4096 none\n4 unmap 0x100000 4096\n");
}

#define with_device(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_comes_first),
		with_device(message_in_pieces),
		with_device(messages_in_one_piece),
		cmocka_unit_test(bad_sizes_end_the_connection),
		with_device(too_many_files_end_the_connection),
		with_device(unknown_command_is_refused),
		with_device(client_that_goes_resets),
		with_device(hanging_up_drops_messages),
		with_device(two_devices_in_one_process),
		with_device(region_info),
		with_device(shared_area_is_shared),
		with_device(long_write_arrives_in_order),
		with_device(access_outside_a_region),
		with_device(count_must_match_the_data),
		with_device(msix_table_is_not_the_models),
		with_device(capabilities_are_linked),
		with_device(only_writable_bits_change),
		with_device(flr_resets_the_function),
		cmocka_unit_test(contradictory_setups_are_refused),
		with_device(memory_is_read_and_written),
		with_device(access_across_mappings),
		with_device(nothing_happens_outside),
		with_device(direction_is_respected),
		with_device(memory_that_is_not_shared),
		with_device(bad_mappings_are_refused),
		with_device(unmap_takes_what_is_inside),
		with_device(many_mappings),
		with_device(interrupts_reach_their_vector),
		with_device(bad_vectors_are_refused),
		with_device(log_has_every_access),
	};

	return cmocka_run_group_tests_name("vfio-user", tests, NULL, NULL);
}
