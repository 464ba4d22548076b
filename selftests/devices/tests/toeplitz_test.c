// SPDX-License-Identifier: GPL-2.0
/* The hash, by the vectors of "Verifying the RSS hash calculation" of the Windows documentation. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "toeplitz.h"

static const uint8_t key[TOEPLITZ_KEY_SIZE] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
	0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
	0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

static const struct vector {
	const char *source, *destination;
	uint16_t source_port, destination_port;
	int family;
	uint32_t addresses_only, with_ports;
} vectors[] = {
	{ "66.9.149.187", "161.142.100.80", 2794, 1766, AF_INET, 0x323e8fc2, 0x51ccc178 },
	{ "199.92.111.2", "65.69.140.83", 14230, 4739, AF_INET, 0xd718262a, 0xc626b0ea },
	{ "24.19.198.95", "12.22.207.184", 12898, 38024, AF_INET, 0xd2d0a5de, 0x5c2b394a },
	{ "38.27.205.30", "209.142.163.6", 48228, 2217, AF_INET, 0x82989176, 0xafc7327f },
	{ "153.39.163.191", "202.188.127.2", 44251, 1303, AF_INET, 0x5d1809c5, 0x10e828a2 },
	{ "3ffe:2501:200:1fff::7", "3ffe:2501:200:3::1", 2794, 1766, AF_INET6, 0x2cc18cd5,
	  0x40207d3d },
	{ "3ffe:501:8::260:97ff:fe40:efab", "ff02::1", 14230, 4739, AF_INET6, 0x0f0c461c,
	  0xdde51bbf },
	{ "3ffe:1900:4545:3:200:f8ff:fe21:67cf", "fe80::200:f8ff:fe21:67cf", 44251, 38024,
	  AF_INET6, 0x4b61e985, 0x02d1feef },
};

/* Returns the size of the addresses alone; two ports follow them. */
static size_t make_input(const struct vector *vector, uint8_t *input)
{
	size_t size = vector->family == AF_INET ? 4 : 16;
	uint16_t ports[2] = { htons(vector->source_port), htons(vector->destination_port) };

	assert_int_equal(inet_pton(vector->family, vector->source, input), 1);
	assert_int_equal(inet_pton(vector->family, vector->destination, input + size), 1);
	memcpy(input + 2 * size, ports, sizeof(ports));
	return 2 * size;
}

static void addresses(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
		uint8_t input[TOEPLITZ_LARGEST_INPUT];
		size_t size = make_input(&vectors[i], input);

		assert_int_equal(toeplitz_hash(key, input, size), vectors[i].addresses_only);
	}
}

static void addresses_and_ports(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
		uint8_t input[TOEPLITZ_LARGEST_INPUT];
		size_t size = make_input(&vectors[i], input) + 2 * sizeof(uint16_t);

		assert_int_equal(toeplitz_hash(key, input, size), vectors[i].with_ports);
	}
}

static void no_input(void **state)
{
	(void)state;
	assert_int_equal(toeplitz_hash(key, NULL, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses),
		cmocka_unit_test(addresses_and_ports),
		cmocka_unit_test(no_input),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
