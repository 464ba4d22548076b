/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages of vfio-user, as docs/interop/vfio-user.rst of QEMU has them.
 *
 * Numbers are in the host's byte order. Where a message is what an ioctl of VFIO has as its
 * argument, the structure is that of <linux/vfio.h>.
 */
#ifndef PROTOCOL_H
#define PROTOCOL_H

#include <stdint.h>

enum message_command {
	MESSAGE_VERSION = 1,
	MESSAGE_DMA_MAP = 2,
	MESSAGE_DMA_UNMAP = 3,
	MESSAGE_DEVICE_GET_INFO = 4,
	MESSAGE_DEVICE_GET_REGION_INFO = 5,
	MESSAGE_DEVICE_GET_IRQ_INFO = 7,
	MESSAGE_DEVICE_SET_IRQS = 8,
	MESSAGE_REGION_READ = 9,
	MESSAGE_REGION_WRITE = 10,
	MESSAGE_DEVICE_RESET = 13,
};

#define MESSAGE_TYPE_MASK	0x0f
#define MESSAGE_TYPE_COMMAND	0x00
#define MESSAGE_TYPE_REPLY	0x01
#define MESSAGE_NO_REPLY	0x10
#define MESSAGE_ERROR		0x20

struct message_header {
	uint16_t id;
	uint16_t command;
	uint32_t size;		/* with this header */
	uint32_t flags;
	uint32_t error;
};

struct version_message {
	uint16_t major;
	uint16_t minor;
	char data[];		/* JSON, with a NUL at its end */
};

#define DMA_READABLE		0x1
#define DMA_WRITABLE		0x2

struct dma_map_message {
	uint32_t argsz;
	uint32_t flags;
	uint64_t offset;	/* in the file that comes along */
	uint64_t address;
	uint64_t size;
};

#define DMA_UNMAP_ALL		0x2

struct dma_unmap_message {
	uint32_t argsz;
	uint32_t flags;
	uint64_t address;
	uint64_t size;
};

struct region_access_message {
	uint64_t offset;
	uint32_t region;
	uint32_t count;
	uint8_t data[];
};

/* The most that a client may read or write in one message; we say so in our answer to VERSION. */
#define MAX_TRANSFER		65536
#define MAX_BODY		(MAX_TRANSFER + 4096)
#define MAX_FDS			16
#define MAX_DMA_RANGES		65535

#endif
