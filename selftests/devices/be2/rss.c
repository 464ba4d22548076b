// SPDX-License-Identifier: GPL-2.0
/* Which ring gets a frame: by the hash of its addresses, where the driver wants that. */
#include <netinet/in.h>
#include <string.h>

#include "be2.h"
#include "toeplitz.h"

_Static_assert(RSS_KEY_SIZE == TOEPLITZ_KEY_SIZE, "be.h:RSS_HASH_KEY_LEN");

/* Offset and size of the addresses in an IP header, source before destination. */
#define IPV4_ADDRESSES		12
#define IPV4_ADDRESSES_SIZE	8
#define IPV6_ADDRESSES		8
#define IPV6_ADDRESSES_SIZE	32
/* Where TCP and UDP begin with. */
#define PORTS_SIZE		4

static unsigned int hash_of_ports(const struct frame_headers *headers)
{
	bool is_ipv4 = headers->ip_version == 4;

	switch (headers->protocol) {
	case IPPROTO_TCP:
		return is_ipv4 ? RSS_HASH_TCP_IPV4 : RSS_HASH_TCP_IPV6;
	case IPPROTO_UDP:
		return is_ipv4 ? RSS_HASH_UDP_IPV4 : RSS_HASH_UDP_IPV6;
	default:
		return 0;
	}
}

/* Returns the size of what is to be hashed, 0 when nothing is. */
static size_t gather(unsigned int hashes, const uint8_t *frame,
		     const struct frame_headers *headers, uint8_t *input)
{
	bool is_ipv4 = headers->ip_version == 4;
	const uint8_t *addresses = frame + headers->l3 +
				   (is_ipv4 ? IPV4_ADDRESSES : IPV6_ADDRESSES);
	size_t size = is_ipv4 ? IPV4_ADDRESSES_SIZE : IPV6_ADDRESSES_SIZE;

	if (!headers->ip_version)
		return 0;
	memcpy(input, addresses, size);
	if (hashes & hash_of_ports(headers)) {
		memcpy(input + size, frame + headers->l4, PORTS_SIZE);
		return size + PORTS_SIZE;
	}
	return hashes & (is_ipv4 ? RSS_HASH_IPV4 : RSS_HASH_IPV6) ? size : 0;
}

static bool find_ring(const struct be2 *be2, unsigned int rss_id, unsigned int *ring)
{
	for (unsigned int i = 0; i < be2->chip->rx_rings; i++) {
		if (!be2->rx[i].ring.exists || !be2->rx[i].is_rss || be2->rx[i].rss_id != rss_id)
			continue;
		*ring = i;
		return true;
	}
	return false;
}

static unsigned int default_ring(const struct be2 *be2)
{
	for (unsigned int i = 0; i < be2->chip->rx_rings; i++)
		if (be2->rx[i].ring.exists && !be2->rx[i].is_rss)
			return i;
	return 0;
}

bool be2_rss_choose(const struct be2 *be2, const uint8_t *frame,
		    const struct frame_headers *headers, unsigned int *ring, uint32_t *hash)
{
	const struct be2_rss *rss = &be2->rss;
	uint8_t input[TOEPLITZ_LARGEST_INPUT];
	size_t size = rss->table_size ? gather(rss->hashes, frame, headers, input) : 0;

	if (size) {
		*hash = toeplitz_hash(rss->key, input, size);
		if (find_ring(be2, rss->table[*hash % rss->table_size], ring))
			return true;
	}
	*ring = default_ring(be2);
	return false;
}
