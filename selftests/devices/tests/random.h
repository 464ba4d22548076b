/* SPDX-License-Identifier: GPL-2.0 */
/* Random numbers of fuzzers: the same seed gives the same rounds everywhere. */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>
#include <stdlib.h>

static inline uint64_t random_seed(const char *text)
{
	return strtoull(text, NULL, 0) * 0x9e3779b97f4a7c15 + 1;
}

/* xorshift64 */
static inline uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static inline uint64_t random_below(uint64_t *state, uint64_t limit)
{
	return random_next(state) % limit;
}

#endif
