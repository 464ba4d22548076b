// SPDX-License-Identifier: GPL-2.0
/* RFC 791, 8200, 9293, 768, 1071; IEEE 802.1Q. */
#include <net/ethernet.h>
#include <netinet/in.h>
#include <string.h>

#include "frame.h"

#define MAC_SIZE		6
#define IPV4_HEADER		20
#define IPV4_FRAGMENT_MASK	0x3fff	/* "more fragments" and the offset */
#define IPV6_HEADER		40
#define TCP_HEADER		20
#define TCP_FIN			0x01
#define TCP_PSH			0x08
#define TCP_CWR			0x80
#define UDP_HEADER		8

static uint16_t get16(const uint8_t *at)
{
	return at[0] << 8 | at[1];
}

static uint32_t get32(const uint8_t *at)
{
	return (uint32_t)get16(at) << 16 | get16(at + 2);
}

static void put16(uint8_t *at, uint16_t value)
{
	at[0] = value >> 8;
	at[1] = value;
}

static void put32(uint8_t *at, uint32_t value)
{
	put16(at, value >> 16);
	put16(at + 2, value);
}

static bool parse_ipv4(const uint8_t *frame, size_t size, struct frame_headers *headers)
{
	const uint8_t *ip = frame + headers->l3;
	size_t header, total;

	if (size - headers->l3 < IPV4_HEADER || ip[0] >> 4 != 4)
		return false;
	header = (ip[0] & 0xf) * 4;
	total = get16(ip + 2);
	if (header < IPV4_HEADER || total < header || total > size - headers->l3)
		return false;
	headers->ip_version = 4;
	headers->is_fragment = get16(ip + 6) & IPV4_FRAGMENT_MASK;
	headers->protocol = headers->is_fragment ? 0 : ip[9];
	headers->l4 = headers->l3 + header;
	headers->end = headers->l3 + total;
	return true;
}

static bool parse_ipv6(const uint8_t *frame, size_t size, struct frame_headers *headers)
{
	const uint8_t *ip = frame + headers->l3;
	size_t payload;

	if (size - headers->l3 < IPV6_HEADER || ip[0] >> 4 != 6)
		return false;
	payload = get16(ip + 4);
	if (payload > size - headers->l3 - IPV6_HEADER)
		return false;
	headers->ip_version = 6;
	/* An extension header is no protocol that we know. */
	headers->protocol = ip[6];
	headers->l4 = headers->l3 + IPV6_HEADER;
	headers->end = headers->l4 + payload;
	return true;
}

static bool parse_l4(const uint8_t *frame, struct frame_headers *headers)
{
	size_t left = headers->end - headers->l4;
	size_t header;

	if (headers->protocol == IPPROTO_TCP && left >= TCP_HEADER)
		header = (frame[headers->l4 + 12] >> 4) * 4;
	else if (headers->protocol == IPPROTO_UDP && left >= UDP_HEADER)
		header = UDP_HEADER;
	else
		return false;
	if (header > left || (headers->protocol == IPPROTO_TCP && header < TCP_HEADER))
		return false;
	headers->payload = headers->l4 + header;
	return true;
}

void frame_parse(const uint8_t *frame, size_t size, struct frame_headers *headers)
{
	uint16_t type;
	bool is_ip = false;

	memset(headers, 0, sizeof(*headers));
	if (size < ETHERNET_HEADER)
		return;
	headers->l3 = ETHERNET_HEADER;
	type = get16(frame + 2 * MAC_SIZE);
	if (type == ETHERTYPE_VLAN && size >= ETHERNET_HEADER + VLAN_TAG_SIZE) {
		headers->has_vlan = true;
		headers->vlan = get16(frame + ETHERNET_HEADER);
		headers->l3 += VLAN_TAG_SIZE;
		type = get16(frame + ETHERNET_HEADER + 2);
	}
	if (type == ETHERTYPE_IP)
		is_ip = parse_ipv4(frame, size, headers);
	else if (type == ETHERTYPE_IPV6)
		is_ip = parse_ipv6(frame, size, headers);
	if (!is_ip || !parse_l4(frame, headers))
		headers->protocol = 0;
}

/* The sum of 16-bit words, to be folded. */
static uint64_t sum(const uint8_t *data, size_t size)
{
	uint64_t total = 0;

	for (; size >= 2; data += 2, size -= 2)
		total += get16(data);
	return size ? total + (data[0] << 8) : total;
}

static uint16_t fold(uint64_t total)
{
	while (total >> 16)
		total = (total & 0xffff) + (total >> 16);
	return total;
}

/* Folded sum of all that the checksum is over, itself included: 0xffff when that is right. */
static uint16_t l4_sum(const uint8_t *frame, const struct frame_headers *headers)
{
	const uint8_t *ip = frame + headers->l3;
	size_t size = headers->end - headers->l4;
	uint64_t total = size + headers->protocol;

	if (headers->ip_version == 4)
		total += sum(ip + 12, 2 * 4);
	else
		total += sum(ip + 8, 2 * 16);
	return fold(total + sum(frame + headers->l4, size));
}

static size_t l4_checksum_at(const struct frame_headers *headers)
{
	return headers->l4 + (headers->protocol == IPPROTO_TCP ? 16 : 6);
}

bool frame_ip_checksum_ok(const uint8_t *frame, const struct frame_headers *headers)
{
	if (headers->ip_version != 4)
		return true;
	return fold(sum(frame + headers->l3, headers->l4 - headers->l3)) == 0xffff;
}

bool frame_l4_checksum_ok(const uint8_t *frame, const struct frame_headers *headers)
{
	if (!headers->protocol)
		return true;
	/* A UDP datagram over IPv4 may go without. */
	if (headers->protocol == IPPROTO_UDP && headers->ip_version == 4 &&
	    !get16(frame + l4_checksum_at(headers)))
		return true;
	return l4_sum(frame, headers) == 0xffff;
}

void frame_fill_ip_checksum(uint8_t *frame, const struct frame_headers *headers)
{
	uint8_t *checksum = frame + headers->l3 + 10;

	if (headers->ip_version != 4)
		return;
	put16(checksum, 0);
	put16(checksum, ~fold(sum(frame + headers->l3, headers->l4 - headers->l3)));
}

void frame_fill_l4_checksum(uint8_t *frame, const struct frame_headers *headers)
{
	uint8_t *checksum = frame + l4_checksum_at(headers);
	uint16_t value;

	if (!headers->protocol)
		return;
	put16(checksum, 0);
	value = ~l4_sum(frame, headers);
	/* In UDP 0 says that there is none; 0xffff is the same number. */
	put16(checksum, value || headers->protocol == IPPROTO_TCP ? value : 0xffff);
}

static void set_ip_length(uint8_t *frame, const struct frame_headers *headers, uint16_t id)
{
	uint8_t *ip = frame + headers->l3;

	if (headers->ip_version == 4) {
		put16(ip + 2, headers->end - headers->l3);
		put16(ip + 4, id);
	} else {
		put16(ip + 4, headers->end - headers->l4);
	}
}

unsigned int frame_segment(const uint8_t *frame, const struct frame_headers *headers,
			   unsigned int mss,
			   void (*send)(void *context, uint8_t *segment, size_t size),
			   void *context)
{
	uint8_t segment[LARGEST_FRAME];
	uint32_t sequence;
	uint8_t flags;
	uint16_t id;
	unsigned int count = 0;

	if (headers->protocol != IPPROTO_TCP || !mss || headers->end > sizeof(segment))
		return 0;
	sequence = get32(frame + headers->l4 + 4);
	flags = frame[headers->l4 + 13];
	id = get16(frame + headers->l3 + 4);
	memcpy(segment, frame, headers->payload);
	for (size_t at = headers->payload; at < headers->end; at += mss, count++) {
		size_t size = headers->end - at < mss ? headers->end - at : mss;
		bool is_last = at + size == headers->end;
		struct frame_headers of_segment = *headers;
		uint8_t *tcp = segment + headers->l4;

		of_segment.end = headers->payload + size;
		memcpy(segment + headers->payload, frame + at, size);
		set_ip_length(segment, &of_segment, id + count);
		put32(tcp + 4, sequence + (at - headers->payload));
		/* What ends the data belongs to the last, what tells of congestion to the first. */
		tcp[13] = flags & ~(is_last ? 0 : TCP_FIN | TCP_PSH) & ~(count ? TCP_CWR : 0);
		frame_fill_ip_checksum(segment, &of_segment);
		frame_fill_l4_checksum(segment, &of_segment);
		send(context, segment, of_segment.end);
	}
	return count;
}

size_t frame_insert_vlan(uint8_t *frame, size_t size, uint16_t vlan)
{
	uint8_t *tag = frame + 2 * MAC_SIZE;

	memmove(tag + VLAN_TAG_SIZE, tag, size - 2 * MAC_SIZE);
	put16(tag, ETHERTYPE_VLAN);
	put16(tag + 2, vlan);
	return size + VLAN_TAG_SIZE;
}

size_t frame_remove_vlan(uint8_t *frame, size_t size)
{
	uint8_t *tag = frame + 2 * MAC_SIZE;

	memmove(tag, tag + VLAN_TAG_SIZE, size - 2 * MAC_SIZE - VLAN_TAG_SIZE);
	return size - VLAN_TAG_SIZE;
}

enum frame_cast frame_cast(const uint8_t *frame)
{
	static const uint8_t broadcast[MAC_SIZE] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

	if (!memcmp(frame, broadcast, sizeof(broadcast)))
		return FRAME_BROADCAST;
	return frame[0] & 1 ? FRAME_MULTICAST : FRAME_UNICAST;
}
