// SPDX-License-Identifier: GPL-2.0
/* The life of a device and its connection, and what each message asks for. */
#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "device.h"

/* So that one call of vfu_serve() ends, however fast the client is. */
#define MESSAGES_PER_CALL	64

static const char our_version[] =
	"{\"capabilities\":{\"max_msg_fds\":16,\"max_data_xfer_size\":65536,\"pgsizes\":4096}}";

struct vfu *vfu_create(const struct vfu_setup *setup, void *model)
{
	struct vfu *device = calloc(1, sizeof(*device));
	int error;

	if (!device)
		return NULL;
	device->setup = *setup;
	device->model = model;
	device->listener = -1;
	device->channel.fd = -1;
	for (unsigned int i = 0; i < VFU_BARS; i++)
		device->bars[i].fd = -1;
	dma_init(&device->dma, &device->counters);
	error = channel_init(&device->channel);
	if (!error)
		error = irq_init(&device->irqs, setup->msix.vectors);
	if (!error)
		error = config_init(&device->config, setup);
	if (!error)
		error = region_init(device);
	if (!error)
		return device;
	vfu_destroy(device);
	errno = -error;
	return NULL;
}

void vfu_destroy(struct vfu *device)
{
	if (!device)
		return;
	if (device->listener >= 0)
		close(device->listener);
	channel_exit(&device->channel);
	irq_exit(&device->irqs);
	dma_exit(&device->dma);
	region_exit(device);
	free(device);
}

static bool is_busy(const struct vfu *device)
{
	return device->listener >= 0 || device->channel.fd >= 0;
}

int vfu_listen(struct vfu *device, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, error;

	if (is_busy(device))
		return -EBUSY;
	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	unlink(path);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 1)) {
		error = -errno;
		close(fd);
		return error;
	}
	device->listener = fd;
	return 0;
}

int vfu_attach(struct vfu *device, int fd)
{
	if (is_busy(device))
		return -EBUSY;
	device->channel.fd = fd;
	return 0;
}

int vfu_poll_fd(const struct vfu *device)
{
	return device->channel.fd >= 0 ? device->channel.fd : device->listener;
}

void vfu_hang_up(struct vfu *device)
{
	device->has_hung_up = true;
	if (device->channel.fd >= 0)
		shutdown(device->channel.fd, SHUT_RDWR);
}

void device_reset(struct vfu *device, enum vfu_reset why)
{
	device->counters.resets++;
	log_reset(device);
	config_reset(&device->config);
	if (device->setup.reset)
		device->setup.reset(device->model, why);
}

static void disconnect(struct vfu *device)
{
	channel_next(&device->channel);
	close(device->channel.fd);
	device->channel.fd = -1;
	device->has_version = false;
	device->has_hung_up = false;
	irq_clear(&device->irqs);
	dma_unmap_all(&device->dma);
	device_reset(device, VFU_RESET_DISCONNECT);
}

static int reply_status(struct vfu *device, int status)
{
	if (status)
		return channel_reply_error(&device->channel, -status);
	return channel_reply(&device->channel, NULL, 0, -1);
}

static int handle_version(struct vfu *device, const struct message *message)
{
	const struct version_message *request = (const void *)message->body;
	struct {
		uint16_t major, minor;
		char data[sizeof(our_version)];
	} reply;

	if (message->length < sizeof(*request) || device->has_version || request->major != 0)
		return channel_reply_error(&device->channel, EINVAL);
	reply.major = request->major;
	reply.minor = request->minor;
	memcpy(reply.data, our_version, sizeof(our_version));
	device->has_version = true;
	return channel_reply(&device->channel, &reply, sizeof(reply), -1);
}

static int map(struct vfu *device, struct message *message)
{
	const struct dma_map_message *request = (const void *)message->body;
	int fd, error;

	if (message->length < sizeof(*request))
		return -EINVAL;
	fd = message_take_fd(message, 0);
	error = dma_map(&device->dma, request->address, request->size, request->flags, fd,
			request->offset);
	if (fd >= 0)
		close(fd);
	if (!error)
		log_map(device, request->address, request->size, fd >= 0);
	return error;
}

static int unmap(struct vfu *device, const struct message *message)
{
	const struct dma_unmap_message *request = (const void *)message->body;
	int error = 0;

	if (message->length < sizeof(*request) || request->flags & ~DMA_UNMAP_ALL)
		return -EINVAL;
	/*
	 * With a vIOMMU there are ranges of which nothing was mapped; QEMU takes only success for
	 * an answer.
	 */
	if (request->flags & DMA_UNMAP_ALL)
		dma_unmap_all(&device->dma);
	else
		error = dma_unmap(&device->dma, request->address, request->size);
	if (!error)
		log_unmap(device, request->address, request->size);
	return error;
}

static int handle_unmap(struct vfu *device, const struct message *message)
{
	int error = unmap(device, message);

	if (error)
		return channel_reply_error(&device->channel, -error);
	return channel_reply(&device->channel, message->body, sizeof(struct dma_unmap_message), -1);
}

static int handle_device_info(struct vfu *device)
{
	/* Not struct vfio_device_info, which has grown since. */
	const struct {
		uint32_t argsz, flags, regions, irqs;
	} reply = {
		.argsz = sizeof(reply),
		.flags = VFIO_DEVICE_FLAGS_RESET | VFIO_DEVICE_FLAGS_PCI,
		.regions = REGION_COUNT,
		.irqs = IRQ_TYPE_COUNT,
	};

	return channel_reply(&device->channel, &reply, sizeof(reply), -1);
}

static int handle_irq_info(struct vfu *device, const struct message *message)
{
	const struct vfio_irq_info *request = (const void *)message->body;
	struct vfio_irq_info reply = { .argsz = sizeof(reply), .flags = VFIO_IRQ_INFO_EVENTFD };

	if (message->length < sizeof(*request) || request->index >= IRQ_TYPE_COUNT)
		return channel_reply_error(&device->channel, EINVAL);
	reply.index = request->index;
	reply.count = request->index == VFIO_PCI_MSIX_IRQ_INDEX ? device->irqs.count : 0;
	return channel_reply(&device->channel, &reply, sizeof(reply), -1);
}

static int handle_read(struct vfu *device, struct message *message)
{
	struct region_access_message *request = (void *)message->body;
	int error;

	if (message->length < sizeof(*request) || request->count > MAX_TRANSFER)
		return channel_reply_error(&device->channel, EINVAL);
	error = region_read(device, request->region, request->offset, request->data,
			    request->count);
	if (error)
		return channel_reply_error(&device->channel, -error);
	return channel_reply(&device->channel, request, sizeof(*request) + request->count, -1);
}

static int handle_write(struct vfu *device, const struct message *message)
{
	const struct region_access_message *request = (const void *)message->body;
	int error;

	if (message->length < sizeof(*request) ||
	    request->count > message->length - sizeof(*request))
		return channel_reply_error(&device->channel, EINVAL);
	error = region_write(device, request->region, request->offset, request->data,
			     request->count);
	if (error)
		return channel_reply_error(&device->channel, -error);
	return channel_reply(&device->channel, request, sizeof(*request), -1);
}

static int handle(struct vfu *device, struct message *message)
{
	if ((message->header.flags & MESSAGE_TYPE_MASK) != MESSAGE_TYPE_COMMAND)
		return -EPROTO;		/* we ask for nothing, so nothing can be a reply */
	device->counters.messages++;
	device->counters.posted += !!(message->header.flags & MESSAGE_NO_REPLY);
	if (!device->has_version && message->header.command != MESSAGE_VERSION)
		return channel_reply_error(&device->channel, EINVAL);
	switch (message->header.command) {
	case MESSAGE_VERSION:
		return handle_version(device, message);
	case MESSAGE_DMA_MAP:
		return reply_status(device, map(device, message));
	case MESSAGE_DMA_UNMAP:
		return handle_unmap(device, message);
	case MESSAGE_DEVICE_GET_INFO:
		return handle_device_info(device);
	case MESSAGE_DEVICE_GET_REGION_INFO:
		return region_reply_info(device, message);
	case MESSAGE_DEVICE_GET_IRQ_INFO:
		return handle_irq_info(device, message);
	case MESSAGE_DEVICE_SET_IRQS:
		return reply_status(device, irq_configure(&device->irqs, message));
	case MESSAGE_REGION_READ:
		return handle_read(device, message);
	case MESSAGE_REGION_WRITE:
		return handle_write(device, message);
	case MESSAGE_DEVICE_RESET:
		device_reset(device, VFU_RESET_CLIENT);
		return reply_status(device, 0);
	default:
		return channel_reply_error(&device->channel, ENOTSUP);
	}
}

static int take_client(struct vfu *device)
{
	int fd = accept4(device->listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return errno == EAGAIN || errno == EINTR || errno == ECONNABORTED ? 0 : -errno;
	close(device->listener);
	device->listener = -1;
	device->channel.fd = fd;
	return 0;
}

int vfu_serve(struct vfu *device)
{
	int status = 0;

	if (device->channel.fd < 0)
		return device->listener < 0 ? -ECONNRESET : take_client(device);
	for (int i = 0; i < MESSAGES_PER_CALL; i++) {
		status = channel_receive(&device->channel);
		if (status <= 0)
			break;
		status = device->has_hung_up ? 0 : handle(device, &device->channel.message);
		if (status)
			break;
		channel_next(&device->channel);
	}
	if (status < 0)
		disconnect(device);
	return status;
}

bool vfu_interrupt(struct vfu *device, unsigned int vector)
{
	if (!irq_send(&device->irqs, vector)) {
		device->counters.interrupts_off++;
		return false;
	}
	device->counters.interrupts++;
	log_interrupt(device, vector);
	return true;
}

void *vfu_bar_memory(struct vfu *device, unsigned int bar)
{
	return bar < VFU_BARS ? device->bars[bar].memory : NULL;
}

void vfu_config_set(struct vfu *device, unsigned int offset, unsigned int size, uint32_t value)
{
	config_set(&device->config, offset, size, value);
}

uint32_t vfu_config_get(const struct vfu *device, unsigned int offset, unsigned int size)
{
	return config_get(&device->config, offset, size);
}

bool vfu_dma_read(struct vfu *device, const char *what, uint64_t address, void *buffer, size_t size)
{
	return dma_read(&device->dma, what, address, buffer, size);
}

bool vfu_dma_write(struct vfu *device, const char *what, uint64_t address, const void *buffer,
		   size_t size)
{
	return dma_write(&device->dma, what, address, buffer, size);
}

bool vfu_dma_publish32(struct vfu *device, const char *what, uint64_t address, uint32_t value)
{
	return dma_publish32(&device->dma, what, address, value);
}

const struct vfu_counters *vfu_get_counters(const struct vfu *device)
{
	return &device->counters;
}

const struct vfu_violation *vfu_get_violation(const struct vfu *device, unsigned int index)
{
	if (index >= VFU_KEPT_VIOLATIONS || index >= device->counters.violations)
		return NULL;
	return &device->dma.violations[index];
}
