// SPDX-License-Identifier: GPL-2.0
#include "toeplitz.h"

/* Each bit of the input that is set adds the 32 bits of the key that begin at its position. */
uint32_t toeplitz_hash(const uint8_t key[TOEPLITZ_KEY_SIZE], const uint8_t *input, size_t size)
{
	uint32_t window = (uint32_t)key[0] << 24 | key[1] << 16 | key[2] << 8 | key[3];
	uint32_t hash = 0;

	for (size_t i = 0; i < size; i++) {
		uint8_t coming = key[i + sizeof(window)];

		for (int bit = 7; bit >= 0; bit--) {
			if (input[i] >> bit & 1)
				hash ^= window;
			window = window << 1 | (coming >> bit & 1);
		}
	}
	return hash;
}
