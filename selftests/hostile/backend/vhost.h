/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the front end (QEMU) and the back end of a vhost-user device say to each other.
 *
 * From QEMU's docs/interop/vhost-user.rst. Both run on the same machine, in its byte order, which
 * is taken to be little-endian, as virtio's is.
 */
#ifndef VHOST_H
#define VHOST_H

#include <stdint.h>

#define VHOST_MAX_FDS		8
#define VHOST_MAX_REGIONS	8
#define VHOST_MAX_BODY		512

#define VHOST_VERSION		0x1
#define VHOST_REPLY		0x4

#define VHOST_F_PROTOCOL_FEATURES	30
#define VHOST_PROTOCOL_F_CONFIG		9

/* Of what names a ring's event file: its number is in the low bits, and there may be no file. */
#define VHOST_RING_MASK		0xff
#define VHOST_NO_FD		0x100

enum vhost_request {
	VHOST_GET_FEATURES = 1,
	VHOST_SET_FEATURES = 2,
	VHOST_SET_OWNER = 3,
	VHOST_RESET_OWNER = 4,
	VHOST_SET_MEM_TABLE = 5,
	VHOST_SET_VRING_NUM = 8,
	VHOST_SET_VRING_ADDR = 9,
	VHOST_SET_VRING_BASE = 10,
	VHOST_GET_VRING_BASE = 11,
	VHOST_SET_VRING_KICK = 12,
	VHOST_SET_VRING_CALL = 13,
	VHOST_SET_VRING_ERR = 14,
	VHOST_GET_PROTOCOL_FEATURES = 15,
	VHOST_SET_PROTOCOL_FEATURES = 16,
	VHOST_SET_VRING_ENABLE = 18,
	VHOST_GET_CONFIG = 24,
	VHOST_SET_CONFIG = 25,
};

struct vhost_header {
	uint32_t request;
	uint32_t flags;
	uint32_t size;
};

struct vhost_region {
	uint64_t guest;
	uint64_t size;
	uint64_t user;		/* where QEMU has it mapped */
	uint64_t offset;	/* in the file */
};

struct vhost_memory {
	uint32_t count;
	uint32_t padding;
	struct vhost_region regions[VHOST_MAX_REGIONS];
};

struct vhost_ring_state {
	uint32_t index;
	uint32_t value;
};

struct vhost_ring_address {
	uint32_t index;
	uint32_t flags;
	uint64_t descriptors;
	uint64_t used;
	uint64_t available;
	uint64_t log;
};

struct vhost_config {
	uint32_t offset;
	uint32_t size;
	uint32_t flags;
	uint8_t bytes[256];
};

union vhost_body {
	uint64_t number;
	struct vhost_memory memory;
	struct vhost_ring_state state;
	struct vhost_ring_address address;
	struct vhost_config config;
	uint8_t bytes[VHOST_MAX_BODY];
};

struct vhost_message {
	struct vhost_header header;
	union vhost_body body;
	int fds[VHOST_MAX_FDS];
	unsigned int fd_count;
};

#endif /* VHOST_H */
