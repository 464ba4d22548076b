/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every byte in a buffer says by its two upper bits who put it there: the host, a reader that
 * filled its buffer before the read, or a writer. The lower ones differ by position, and by a
 * number: two buffers with different numbers agree in one byte of 64.
 */
#ifndef BYTES_H
#define BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BYTE_KIND		0xc0
#define BYTE_OF_READER		0x40
#define BYTE_OF_HOST		0x80
#define BYTE_OF_WRITER		0xc0

#define BYTES_PERIOD		65536

/* A period of bytes of a kind; made when it is first asked for. */
static inline const uint8_t *bytes_of(uint8_t kind)
{
	static uint8_t tables[4][BYTES_PERIOD];
	uint8_t *table = tables[kind >> 6];
	uint64_t x = 0x9e3779b97f4a7c15ULL;

	if (table[0])
		return table;
	for (size_t i = 0; i < BYTES_PERIOD; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		table[i] = kind | (x >> 58);
	}
	return table;
}

/* Where in its period a buffer begins. */
static inline size_t bytes_begin(uint64_t number, size_t position)
{
	uint64_t mixed = (number + 1) * 0x9e3779b97f4a7c15ULL;

	return ((mixed ^ mixed >> 32) + position) % BYTES_PERIOD;
}

/* Goes through a buffer in pieces that are contiguous in the table: fills it, or compares it. */
static inline bool bytes_go(uint8_t *at, size_t size, uint8_t kind, uint64_t number,
			    size_t position, bool is_filling)
{
	const uint8_t *table = bytes_of(kind);

	while (size) {
		size_t begin = bytes_begin(number, position);
		size_t here = size < BYTES_PERIOD - begin ? size : BYTES_PERIOD - begin;

		if (is_filling)
			memcpy(at, table + begin, here);
		else if (memcmp(at, table + begin, here))
			return false;
		at += here;
		position += here;
		size -= here;
	}
	return true;
}

static inline void bytes_fill(void *to, size_t size, uint8_t kind, uint64_t number)
{
	bytes_go(to, size, kind, number, 0, true);
}

/* Are these the bytes of a kind and number, from a position on? */
static inline bool bytes_match(const void *at, size_t size, uint8_t kind, uint64_t number,
			       size_t position)
{
	return bytes_go((void *)at, size, kind, number, position, false);
}

#endif /* BYTES_H */
