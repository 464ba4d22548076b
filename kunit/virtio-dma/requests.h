/* SPDX-License-Identifier: GPL-2.0 */
/* Requests of a driver: buffers with content that tells which one it belongs to. */
#ifndef _VDMA_KUNIT_REQUESTS_H
#define _VDMA_KUNIT_REQUESTS_H

#include <kunit/test.h>
#include <linux/scatterlist.h>
#include <linux/types.h>

#include "loopback.h"

#define REQUEST_SEGMENTS 4

/* What is in a buffer before the device writes to it. */
#define REQUEST_OLD 0x5a

/**
 * struct request - a request
 * @memory: the pages that its buffers lie in
 * @sg: its buffers, those that the device reads first
 * @readable: how many the device reads
 * @writable: how many the device writes
 * @seed: what the content is made of
 * @taken: what the device found in the ring
 */
struct request {
	u8 *memory[REQUEST_SEGMENTS];
	struct scatterlist sg[REQUEST_SEGMENTS];
	unsigned int readable;
	unsigned int writable;
	u8 seed;
	struct loopback_request taken;
};

static inline unsigned int request_segments(const struct request *request)
{
	return request->readable + request->writable;
}

struct request *request_create(struct kunit *test, unsigned int readable,
			       unsigned int writable);
void request_fill(struct request *request, u8 seed);
u32 request_writable_bytes(const struct request *request);
u8 request_content(const struct request *request, unsigned int segment, size_t offset);
u32 request_count_wrong(const struct request *request, unsigned int segment,
			const u8 *at, u32 count);
u32 request_count_other(const u8 *at, u32 count, u8 value);

#endif /* _VDMA_KUNIT_REQUESTS_H */
