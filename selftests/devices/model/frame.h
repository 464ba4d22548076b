/* SPDX-License-Identifier: GPL-2.0 */
/* Ethernet frames as a NIC's offloads see them: where the headers are, checksums, segments. */
#ifndef FRAME_H
#define FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ETHERNET_HEADER	14
#define VLAN_TAG_SIZE	4
#define SHORTEST_FRAME	60
/* What TSO hands us at most: 64 KiB of IP packet. */
#define LARGEST_FRAME	(65536 + ETHERNET_HEADER + VLAN_TAG_SIZE)

/**
 * struct frame_headers - what is in a frame, as far as it is complete
 * @ip_version: 4, 6, or 0 when it is something else
 * @protocol: of layer 4, IPPROTO_TCP or IPPROTO_UDP; 0 when it is something else, or a fragment
 * @is_fragment: of an IPv4 packet
 * @has_vlan: there is a tag in the frame
 * @vlan: the tag with priority
 * @l3: offset of the IP header
 * @l4: offset of the TCP or UDP header
 * @payload: offset of what TCP or UDP carries
 * @end: offset of the end of the IP packet, without the frame's padding
 */
struct frame_headers {
	unsigned int ip_version;
	unsigned int protocol;
	bool is_fragment;
	bool has_vlan;
	uint16_t vlan;
	size_t l3;
	size_t l4;
	size_t payload;
	size_t end;
};

/* Finds the headers; of what is cut off or contradicts itself only those below are reported. */
void frame_parse(const uint8_t *frame, size_t size, struct frame_headers *headers);

/* Whether a checksum that is there is right; true when there is none of that kind. */
bool frame_ip_checksum_ok(const uint8_t *frame, const struct frame_headers *headers);
bool frame_l4_checksum_ok(const uint8_t *frame, const struct frame_headers *headers);

/* Put the checksum in. Nothing is done where there is none of that kind. */
void frame_fill_ip_checksum(uint8_t *frame, const struct frame_headers *headers);
void frame_fill_l4_checksum(uint8_t *frame, const struct frame_headers *headers);

/**
 * frame_segment() - cut a large TCP frame into those that go on the wire
 * @frame: with complete headers, but without checksums
 * @headers: of it; protocol is TCP
 * @mss: bytes of payload in each
 * @send: gets each segment, with its checksums
 * @context: for @send
 *
 * Return: number of segments; 0 when the headers do not allow it.
 */
unsigned int frame_segment(const uint8_t *frame, const struct frame_headers *headers,
			   unsigned int mss,
			   void (*send)(void *context, uint8_t *segment, size_t size),
			   void *context);

/* frame has room for four more bytes. Returns the new size. */
size_t frame_insert_vlan(uint8_t *frame, size_t size, uint16_t vlan);

/* Returns the new size. */
size_t frame_remove_vlan(uint8_t *frame, size_t size);

enum frame_cast {
	FRAME_UNICAST,
	FRAME_MULTICAST,
	FRAME_BROADCAST,
};

enum frame_cast frame_cast(const uint8_t *frame);

#endif
