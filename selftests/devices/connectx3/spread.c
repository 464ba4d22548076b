// SPDX-License-Identifier: GPL-2.0
/* Receive-side scaling: the Toeplitz hash chooses one of a power of two of queue pairs. */
#include <netinet/in.h>

#include "connectx3.h"

#define QPN_MASK	0xffffff
#define IPV4_SOURCE	12
#define IPV6_SOURCE	8
#define PORTS_SIZE	4
/* Both addresses of IPv6, and both ports. */
#define LARGEST_INPUT	(2 * 16 + PORTS_SIZE)

/* For each bit of the input that is set, the 32 bits of the key that begin there. */
static uint32_t toeplitz(const uint8_t *key, const uint8_t *input, size_t size)
{
	uint32_t window = (uint32_t)key[0] << 24 | key[1] << 16 | key[2] << 8 | key[3];
	uint32_t hash = 0;

	for (size_t i = 0; i < size * 8; i++) {
		size_t next = i + 32;

		if (input[i / 8] & 0x80 >> i % 8)
			hash ^= window;
		window = window << 1 | (key[next / 8] >> (7 - next % 8) & 1);
	}
	return hash;
}

/* Which fields are hashed; 0 where the driver does not want that. */
static size_t input_of(uint8_t flags, const uint8_t *frame, const struct frame_headers *headers,
		       uint8_t *input)
{
	bool is_v4 = headers->ip_version == 4;
	size_t size = is_v4 ? 8 : 32;
	bool with_ports =
		(headers->protocol == IPPROTO_TCP &&
		 flags & (is_v4 ? RSS_TCP_IPV4 : RSS_TCP_IPV6)) ||
		(headers->protocol == IPPROTO_UDP && flags & (is_v4 ? RSS_UDP_IPV4 : RSS_UDP_IPV6));

	if (!headers->ip_version || (!with_ports && !(flags & (is_v4 ? RSS_IPV4 : RSS_IPV6))))
		return 0;
	memcpy(input, frame + headers->l3 + (is_v4 ? IPV4_SOURCE : IPV6_SOURCE), size);
	if (!with_ports)
		return size;
	memcpy(input + size, frame + headers->l4, PORTS_SIZE);
	return size + PORTS_SIZE;
}

uint32_t cx3_spread(const struct qp_context *context, const uint8_t *frame,
		    const struct frame_headers *headers, uint32_t *hash)
{
	uint32_t base = from_be32(context->rss_base);
	uint32_t rings = 1U << bits(base, RSS_LOG_SIZE_SHIFT, RSS_LOG_SIZE_BITS);
	uint8_t input[LARGEST_INPUT];
	size_t size = input_of(context->rss_flags, frame, headers, input);

	*hash = 0;
	if (!size || context->rss_function != RSS_TOEPLITZ)
		return from_be32(context->rss_default) & QPN_MASK;
	*hash = toeplitz(context->rss_key, input, size);
	if (headers->protocol == IPPROTO_UDP && size % 8)
		base = from_be32(context->rss_base_udp);
	return (base & QPN_MASK) + (*hash & (rings - 1));
}
