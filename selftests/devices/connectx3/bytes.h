/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Big-endian numbers as they lie in memory. They are types of their own, of single bytes, so that
 * a structure has them where the chip has them, and so that none is used without conversion.
 */
#ifndef BYTES_H
#define BYTES_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

typedef struct { uint8_t bytes[2]; } be16;
typedef struct { uint8_t bytes[4]; } be32;
typedef struct { uint8_t bytes[8]; } be64;

static inline uint16_t from_be16(be16 value)
{
	return value.bytes[0] << 8 | value.bytes[1];
}

static inline uint32_t from_be32(be32 value)
{
	uint32_t bytes;

	memcpy(&bytes, &value, sizeof(bytes));
	return be32toh(bytes);
}

static inline uint64_t from_be64(be64 value)
{
	uint64_t bytes;

	memcpy(&bytes, &value, sizeof(bytes));
	return be64toh(bytes);
}

static inline be16 to_be16(uint16_t value)
{
	return (be16){ { value >> 8, value } };
}

static inline be32 to_be32(uint32_t value)
{
	uint32_t bytes = htobe32(value);
	be32 result;

	memcpy(&result, &bytes, sizeof(result));
	return result;
}

static inline be64 to_be64(uint64_t value)
{
	uint64_t bytes = htobe64(value);
	be64 result;

	memcpy(&result, &bytes, sizeof(result));
	return result;
}

#endif
