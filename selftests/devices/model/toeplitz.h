/* SPDX-License-Identifier: GPL-2.0 */
/* The hash by which a NIC spreads flows over its receive queues. */
#ifndef TOEPLITZ_H
#define TOEPLITZ_H

#include <stddef.h>
#include <stdint.h>

#define TOEPLITZ_KEY_SIZE	40
/* Two IPv6 addresses and two ports. */
#define TOEPLITZ_LARGEST_INPUT	36

/**
 * toeplitz_hash() - the Toeplitz hash of what tells one flow from another
 * @key: as the driver gave it
 * @input: addresses and ports in network order, source before destination
 * @size: of @input in bytes, TOEPLITZ_LARGEST_INPUT at most
 *
 * As "RSS hashing types" of the Windows driver documentation define it.
 *
 * Return: the hash.
 */
uint32_t toeplitz_hash(const uint8_t key[TOEPLITZ_KEY_SIZE], const uint8_t *input, size_t size);

#endif
