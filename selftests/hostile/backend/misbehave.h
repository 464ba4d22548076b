/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether and how to misbehave: for each request a function of the seed, so that the same seed asks
 * for the same again.
 */
#ifndef MISBEHAVE_H
#define MISBEHAVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * enum misbehaviour - its classes; the names that the command `misbehave` takes are in misbehave.c
 * @SHORT_WRITE: less is written than asked for, and all of it claimed
 * @WRONG_LENGTH: the used length is not what was written: none, more than the chain has, wrapped
 * @OVERRUN: what is written goes on behind the end of a buffer
 * @LATE_WRITE: buffers that were returned are written to
 * @REWRITE: what was written is changed once the chain is returned, before the guest is told
 * @TABLES: addresses and lengths in the descriptor tables change under way and after the return
 * @PREMATURE: a chain is returned that was not looked at, and then worked on nevertheless
 * @TAMPER: buffers that are for reading only are written to
 * @WRONG_STATUS: of a disk, the status is not the one that is due
 * @HEADER: of a network card, the header of a packet is random
 * @OUT_OF_ORDER: of a network card, a buffer is filled and returned before the one that was made
 *	available earlier, which is allowed, but not what drivers expect
 * @NO_SUCH_ID: the used id is larger than the ring
 * @FREE_ID: the used id is one that the driver has not made available, or that was returned
 * @INDEX_JUMP: the used index goes on, or back, without anything having been returned
 */
enum misbehaviour {
	SHORT_WRITE,
	WRONG_LENGTH,
	OVERRUN,
	LATE_WRITE,
	REWRITE,
	TABLES,
	PREMATURE,
	TAMPER,
	WRONG_STATUS,
	HEADER,
	OUT_OF_ORDER,
	NO_SUCH_ID,
	FREE_ID,
	INDEX_JUMP,
	MISBEHAVIOURS
};

/**
 * struct misbehaving - how a device misbehaves, and how much it did
 * @seed: decides on everything
 * @wanted: the classes, as bits
 * @one_in: of so many requests one misbehaves in the way of each class
 * @request: number of the request under way
 * @counts: how often each class was done
 */
struct misbehaving {
	uint64_t seed;
	uint32_t wanted;
	unsigned int one_in;
	uint64_t request;
	uint64_t counts[MISBEHAVIOURS];
};

/**
 * misbehave_parse() - classes by name
 * @names: separated by commas; "none"
 * @classes: receives their bits
 *
 * Return: true, or false if there is no class of that name.
 */
bool misbehave_parse(char *names, uint32_t *classes);

const char *misbehave_name(enum misbehaviour class);

/**
 * misbehave() - shall the request under way misbehave in that way?
 *
 * Whoever is told so has to count it with misbehaved() when it is done: not all of it is possible.
 */
bool misbehave(const struct misbehaving *m, enum misbehaviour class);

void misbehaved(struct misbehaving *m, enum misbehaviour class);

/**
 * misbehave_number() - a random number for the request under way
 * @what: tells several numbers for the same class and request apart
 *
 * Return: a number below @limit, or 0 if that is 0.
 */
uint64_t misbehave_number(const struct misbehaving *m, enum misbehaviour class, unsigned int what,
			  uint64_t limit);

/**
 * misbehave_fill() - what we write: bytes that tell that they are ours
 * @serial: bytes for another serial number differ
 */
void misbehave_fill(void *to, size_t size, uint64_t serial);

#endif /* MISBEHAVE_H */
