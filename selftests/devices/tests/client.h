/* SPDX-License-Identifier: GPL-2.0 */
/* A client of a device in the same process, as QEMU is one of a device in another. */
#ifndef CLIENT_H
#define CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol.h"
#include "vfu.h"

/**
 * struct client - one connection
 * @device: who answers
 * @fd: our end
 * @next_id: of the next message
 * @reply: header of the last answer
 * @body: its body
 * @reply_fd: the file that came with it, or -1; the client closes it before the next message
 */
struct client {
	struct vfu *device;
	int fd;
	uint16_t next_id;
	struct message_header reply;
	uint8_t body[MAX_BODY] __attribute__((aligned(8)));
	int reply_fd;
};

/* Connects; the test has failed if that does not work. */
void client_connect(struct client *client, struct vfu *device);
void client_disconnect(struct client *client);

/* Sends bytes as they are; returns what vfu_serve() then says. */
int client_send_raw(struct client *client, const void *data, size_t size, const int *fds,
		    size_t fd_count);

/* Sends a command and takes the answer. Returns the errno of the answer, 0 for success. */
int client_command(struct client *client, uint16_t command, const void *body, size_t size, int fd);

/* As client_command(), for the commands that tests use most. */
int client_version(struct client *client);
int client_map(struct client *client, uint64_t address, uint64_t size, uint32_t flags, int fd,
	       uint64_t offset);
int client_unmap(struct client *client, uint64_t address, uint64_t size, uint32_t flags);
int client_read(struct client *client, uint32_t region, uint64_t offset, void *data, uint32_t size);
int client_write(struct client *client, uint32_t region, uint64_t offset, const void *data,
		 uint32_t size);
int client_set_irq(struct client *client, uint32_t vector, int eventfd);

/* Whether an answer is waiting. */
bool client_has_reply(const struct client *client);

/* A file like QEMU's memory-backend-memfd: sealed against shrinking. */
int client_memory(size_t size);

#endif
