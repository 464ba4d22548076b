// SPDX-License-Identifier: GPL-2.0
/* Requests of a driver. */
#include <linux/mm.h>
#include <linux/slab.h>

#include "requests.h"

/* With odd ends, and more than a page. */
static const u32 readable_sizes[] = { 101, 5000 };
static const u32 writable_sizes[] = { 3001, 64 };

/* Each has pages of its own: no two may share a cache line. None begins with its page. */
static void add_buffer(struct kunit *test, struct request *request, u32 size)
{
	unsigned int n = request_segments(request);

	request->memory[n] = kunit_kmalloc(test, PAGE_ALIGN(size + 1 + n), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, request->memory[n]);
	sg_init_one(&request->sg[n], request->memory[n] + 1 + n, size);
}

/**
 * request_create() - make a request
 * @test: the test, at whose end it is freed
 * @readable: how many buffers the device reads, 2 at most
 * @writable: how many buffers the device writes, 2 at most
 *
 * Context: may sleep.
 * Return: the request.
 */
struct request *request_create(struct kunit *test, unsigned int readable,
			       unsigned int writable)
{
	struct request *request = kunit_kzalloc(test, sizeof(*request), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, request);
	for (; request->readable < readable; request->readable++)
		add_buffer(test, request, readable_sizes[request->readable]);
	for (; request->writable < writable; request->writable++)
		add_buffer(test, request, writable_sizes[request->writable]);
	return request;
}

/**
 * request_content() - what a byte of a request should be
 * @request: the request
 * @segment: number of the buffer
 * @offset: of the byte in it
 *
 * Context: any.
 * Return: what the driver puts there, or the device, whoever writes it.
 */
u8 request_content(const struct request *request, unsigned int segment, size_t offset)
{
	return request->seed + 31 * segment + 7 * offset + offset / 256;
}

/**
 * request_fill() - write the content that the device reads, and spoil the rest
 * @request: the request
 * @seed: what the content is made of
 *
 * Context: any.
 */
void request_fill(struct request *request, u8 seed)
{
	unsigned int n, i;

	request->seed = seed;
	for (n = 0; n < request_segments(request); n++) {
		u8 *buffer = sg_virt(&request->sg[n]);

		for (i = 0; i < request->sg[n].length; i++)
			buffer[i] = n < request->readable ? request_content(request, n, i) :
							    REQUEST_OLD;
	}
}

/**
 * request_writable_bytes() - how much a device can write
 * @request: the request
 *
 * Context: any.
 * Return: bytes.
 */
u32 request_writable_bytes(const struct request *request)
{
	unsigned int n;
	u32 bytes = 0;

	for (n = request->readable; n < request_segments(request); n++)
		bytes += request->sg[n].length;
	return bytes;
}

/**
 * request_count_wrong() - compare with what should be there
 * @request: the request
 * @segment: number of the buffer
 * @at: a copy of the buffer, or the buffer
 * @count: how many bytes to compare
 *
 * Context: any.
 * Return: bytes that are not what they should be.
 */
u32 request_count_wrong(const struct request *request, unsigned int segment,
			const u8 *at, u32 count)
{
	u32 wrong = 0, i;

	for (i = 0; i < count; i++)
		wrong += at[i] != request_content(request, segment, i);
	return wrong;
}

/**
 * request_count_other() - compare with a single value
 * @at: bytes
 * @count: how many
 * @value: what all of them should be
 *
 * Context: any.
 * Return: bytes that have another value.
 */
u32 request_count_other(const u8 *at, u32 count, u8 value)
{
	u32 other = 0, i;

	for (i = 0; i < count; i++)
		other += at[i] != value;
	return other;
}
