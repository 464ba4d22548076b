/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a NIC model's cable is plugged into: another model, a TAP device of this machine, or a
 * program that takes frames on a stream, as passt and QEMU's own network backends do.
 */
#ifndef WIRE_H
#define WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "frame.h"

/* On a stream each frame comes after its size, in network order. */
#define WIRE_PREFIX	4

/**
 * struct wire - one end of a cable
 * @fd: for poll(2); -1 when nothing is plugged in
 * @is_stream: frames have their size before them
 * @received: bytes of @prefix and @frame that have come; of a stream only
 * @prefix: the size of @frame
 * @frame: what has come of the next frame
 */
struct wire {
	int fd;
	bool is_stream;
	size_t received;
	uint8_t prefix[WIRE_PREFIX];
	uint8_t frame[LARGEST_FRAME];
};

/* No cable: what is sent is lost. */
void wire_init(struct wire *wire);
void wire_exit(struct wire *wire);

/*
 * One end of socketpair(AF_UNIX, SOCK_DGRAM), or a stream socket that is connected; the wire closes
 * it. Returns 0 or a negative errno.
 */
int wire_join(struct wire *wire, int fd);

/* The TAP device of that name, made if it is not there. Returns 0 or a negative errno. */
int wire_open_tap(struct wire *wire, const char *name);

/*
 * Whether there is room for the segments of one large packet. A NIC that waits for it, as a real
 * one waits for its line, loses nothing.
 */
bool wire_has_room(const struct wire *wire);

/* Returns false when the frame is lost. A stream that takes only a part of it is unplugged. */
bool wire_send(struct wire *wire, const uint8_t *frame, size_t size);

/*
 * Takes a frame, padded to the length that one has on a wire. Returns its size, or 0 if there is
 * none. A stream that ends, or that has no frames on it, is unplugged.
 */
size_t wire_receive(struct wire *wire, uint8_t *frame, size_t room);

#endif
