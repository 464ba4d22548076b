// SPDX-License-Identifier: GPL-2.0
/* Offloads: headers, checksums, segments, VLAN tags. */
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frame.h"

#define PAYLOAD		3000

/* An Ethernet frame with IPv4 or IPv6, and TCP or UDP; returns its size. */
static size_t make_frame(uint8_t *frame, unsigned int ip_version, unsigned int protocol,
			 size_t payload)
{
	size_t ip_size = ip_version == 4 ? 20 : 40;
	size_t l4_size = protocol == IPPROTO_TCP ? 32 : 8;
	uint8_t *ip = frame + ETHERNET_HEADER, *l4 = ip + ip_size;
	size_t l4_total = l4_size + payload;

	memset(frame, 0, ETHERNET_HEADER + ip_size + l4_size);
	memset(frame, 2, 12);
	if (ip_version == 4) {
		memcpy(frame + 12, "\x08\x00", 2);
		ip[0] = 0x45;
		ip[2] = (ip_size + l4_total) >> 8;
		ip[3] = ip_size + l4_total;
		ip[4] = 0x12;
		ip[5] = 0x34;
		ip[8] = 64;
		ip[9] = protocol;
		memcpy(ip + 12, "\x0a\x00\x00\x01\x0a\x00\x00\x02", 8);
	} else {
		memcpy(frame + 12, "\x86\xdd", 2);
		ip[0] = 0x60;
		ip[4] = l4_total >> 8;
		ip[5] = l4_total;
		ip[6] = protocol;
		ip[8] = 0xfd;
		ip[23] = 1;
		ip[24] = 0xfd;
		ip[39] = 2;
	}
	memcpy(l4, "\x13\x88\x00\x50", 4);
	if (protocol == IPPROTO_TCP) {
		memcpy(l4 + 4, "\xff\xff\xff\x00", 4);
		l4[12] = l4_size / 4 << 4;
		l4[13] = 0x99;	/* CWR, ACK, PSH, FIN */
	} else {
		l4[4] = l4_total >> 8;
		l4[5] = l4_total;
	}
	for (size_t i = 0; i < payload; i++)
		l4[l4_size + i] = i * 7 + (i >> 8);
	return ETHERNET_HEADER + ip_size + l4_total;
}

static void checksums_of_all_kinds(void **state)
{
	static const unsigned int versions[] = { 4, 6 }, protocols[] = { IPPROTO_TCP, IPPROTO_UDP };
	uint8_t frame[PAYLOAD + 200];

	(void)state;
	for (int v = 0; v < 2; v++) {
		for (int p = 0; p < 2; p++) {
			/* odd and even sizes */
			for (size_t payload = 0; payload < 5; payload++) {
				size_t size = make_frame(frame, versions[v], protocols[p], payload);
				struct frame_headers headers;

				frame_parse(frame, size, &headers);
				assert_int_equal(headers.ip_version, versions[v]);
				assert_int_equal(headers.protocol, protocols[p]);
				assert_int_equal(headers.end, size);
				frame[headers.payload] ^= payload ? 0 : 1;
				frame_fill_ip_checksum(frame, &headers);
				frame_fill_l4_checksum(frame, &headers);
				assert_true(frame_ip_checksum_ok(frame, &headers));
				assert_true(frame_l4_checksum_ok(frame, &headers));
				frame[size - 1] ^= 0x10;
				assert_false(frame_l4_checksum_ok(frame, &headers));
			}
		}
	}
}

static void checksum_of_a_known_header(void **state)
{
	/* the example of RFC 1071's arithmetic that everybody uses: checksum b861 */
	static const uint8_t header[] = {
		0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11,
		0x00, 0x00, 0xc0, 0xa8, 0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7,
	};
	uint8_t frame[ETHERNET_HEADER + 0x73] = { [12] = 8 };
	struct frame_headers headers;

	(void)state;
	memcpy(frame + ETHERNET_HEADER, header, sizeof(header));
	frame_parse(frame, sizeof(frame), &headers);
	frame_fill_ip_checksum(frame, &headers);
	assert_int_equal(frame[ETHERNET_HEADER + 10], 0xb8);
	assert_int_equal(frame[ETHERNET_HEADER + 11], 0x61);
}

static void udp_without_a_checksum_is_right(void **state)
{
	uint8_t frame[200];
	struct frame_headers headers;

	(void)state;
	frame_parse(frame, make_frame(frame, 4, IPPROTO_UDP, 20), &headers);
	assert_true(frame_l4_checksum_ok(frame, &headers));
	frame_parse(frame, make_frame(frame, 6, IPPROTO_UDP, 20), &headers);
	assert_false(frame_l4_checksum_ok(frame, &headers));
}

static void headers_that_lie_are_not_believed(void **state)
{
	uint8_t frame[200];
	struct frame_headers headers;
	size_t size = make_frame(frame, 4, IPPROTO_TCP, 20);

	(void)state;
	/* every prefix: nothing may be read behind it, which ASan watches */
	for (size_t i = 0; i <= size; i++) {
		uint8_t *cut = malloc(i ? i : 1);

		memcpy(cut, frame, i);
		frame_parse(cut, i, &headers);
		assert_true(headers.end <= i);
		if (i < size)
			assert_int_equal(headers.protocol, 0);
		free(cut);
	}
	frame[ETHERNET_HEADER] = 0x44;
	frame_parse(frame, size, &headers);
	assert_int_equal(headers.ip_version, 0);
	make_frame(frame, 4, IPPROTO_TCP, 20);
	frame[ETHERNET_HEADER + 20 + 12] = 0xf0;
	frame_parse(frame, size, &headers);
	assert_int_equal(headers.protocol, 0);
	make_frame(frame, 4, IPPROTO_TCP, 20);
	frame[ETHERNET_HEADER + 6] = 0x20;
	frame_parse(frame, size, &headers);
	assert_true(headers.is_fragment);
	assert_int_equal(headers.protocol, 0);
}

/* What the segments carry, put together again. */
struct sink {
	size_t payload;
	unsigned int count;
	unsigned int mss;
	uint8_t flags[8];
	uint8_t data[PAYLOAD];
};

static void take_segment(void *context, uint8_t *segment, size_t size)
{
	struct sink *sink = context;
	struct frame_headers headers;
	uint32_t sequence;
	size_t payload;

	frame_parse(segment, size, &headers);
	assert_int_equal(headers.protocol, IPPROTO_TCP);
	assert_int_equal(headers.end, size);
	assert_true(frame_ip_checksum_ok(segment, &headers));
	assert_true(frame_l4_checksum_ok(segment, &headers));
	payload = headers.end - headers.payload;
	assert_true(payload <= sink->mss);
	memcpy(&sequence, segment + headers.l4 + 4, sizeof(sequence));
	assert_int_equal(ntohl(sequence), (uint32_t)(0xffffff00 + sink->payload));
	if (headers.ip_version == 4)
		assert_int_equal(segment[headers.l3 + 5], 0x34 + sink->count);
	sink->flags[sink->count++] = segment[headers.l4 + 13];
	memcpy(sink->data + sink->payload, segment + headers.payload, payload);
	sink->payload += payload;
}

static void segments_carry_what_the_packet_did(void **state)
{
	uint8_t frame[PAYLOAD + 200];

	(void)state;
	for (unsigned int version = 4; version <= 6; version += 2) {
		for (int vlan = 0; vlan < 2; vlan++) {
			struct sink sink = { .mss = 1000 };
			struct frame_headers headers;
			size_t size = make_frame(frame, version, IPPROTO_TCP, 2500);

			if (vlan)
				size = frame_insert_vlan(frame, size, 0x2007);
			frame_parse(frame, size, &headers);
			assert_int_equal(frame_segment(frame, &headers, 1000, take_segment, &sink),
					 3);
			assert_int_equal(sink.payload, 2500);
			assert_memory_equal(sink.data, frame + headers.payload, 2500);
			assert_int_equal(sink.flags[0], 0x90);	/* CWR, ACK */
			assert_int_equal(sink.flags[1], 0x10);
			assert_int_equal(sink.flags[2], 0x19);	/* ACK, PSH, FIN */
		}
	}
}

static void no_segments_of_what_cannot_be_cut(void **state)
{
	uint8_t frame[200];
	struct frame_headers headers;

	(void)state;
	frame_parse(frame, make_frame(frame, 4, IPPROTO_UDP, 20), &headers);
	assert_int_equal(frame_segment(frame, &headers, 10, take_segment, NULL), 0);
	frame_parse(frame, make_frame(frame, 4, IPPROTO_TCP, 20), &headers);
	assert_int_equal(frame_segment(frame, &headers, 0, take_segment, NULL), 0);
}

static void vlan_tag_in_and_out(void **state)
{
	uint8_t frame[200], plain[200];
	struct frame_headers headers;
	size_t size = make_frame(plain, 4, IPPROTO_TCP, 20);

	(void)state;
	memcpy(frame, plain, size);
	assert_int_equal(frame_insert_vlan(frame, size, 0x6007), size + 4);
	frame_parse(frame, size + 4, &headers);
	assert_true(headers.has_vlan);
	assert_int_equal(headers.vlan, 0x6007);
	assert_int_equal(headers.protocol, IPPROTO_TCP);
	assert_int_equal(frame_remove_vlan(frame, size + 4), size);
	assert_memory_equal(frame, plain, size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checksums_of_all_kinds),
		cmocka_unit_test(checksum_of_a_known_header),
		cmocka_unit_test(udp_without_a_checksum_is_right),
		cmocka_unit_test(headers_that_lie_are_not_believed),
		cmocka_unit_test(segments_carry_what_the_packet_did),
		cmocka_unit_test(no_segments_of_what_cannot_be_cut),
		cmocka_unit_test(vlan_tag_in_and_out),
	};

	return cmocka_run_group_tests_name("frame", tests, NULL, NULL);
}
