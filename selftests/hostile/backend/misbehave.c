// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "bytes.h"
#include "misbehave.h"

static const char *const names[MISBEHAVIOURS] = {
	[SHORT_WRITE] = "short-write",
	[WRONG_LENGTH] = "wrong-length",
	[OVERRUN] = "overrun",
	[LATE_WRITE] = "late-write",
	[REWRITE] = "rewrite",
	[TABLES] = "tables",
	[PREMATURE] = "premature",
	[TAMPER] = "tamper",
	[WRONG_STATUS] = "wrong-status",
	[HEADER] = "header",
	[OUT_OF_ORDER] = "out-of-order",
	[NO_SUCH_ID] = "no-such-id",
	[FREE_ID] = "free-id",
	[INDEX_JUMP] = "index-jump",
};

const char *misbehave_name(enum misbehaviour class)
{
	return names[class];
}

static bool find(const char *name, uint32_t *classes)
{
	for (unsigned int class = 0; class < MISBEHAVIOURS; class++) {
		if (!strcmp(names[class], name)) {
			*classes |= 1U << class;
			return true;
		}
	}
	return !strcmp(name, "none");
}

bool misbehave_parse(char *text, uint32_t *classes)
{
	char *rest;

	*classes = 0;
	for (char *name = strtok_r(text, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
		if (!find(name, classes))
			return false;
	return true;
}

/* Three rounds of xorshift* after mixing in what the number depends on. */
static uint64_t random_for(const struct misbehaving *m, enum misbehaviour class, unsigned int what)
{
	uint64_t x = m->seed ^ m->request * 0x9e3779b97f4a7c15ULL ^
		     (uint64_t)(class + 1) << 32 ^ what;

	for (int round = 0; round < 3; round++) {
		x ^= x >> 12;
		x ^= x << 25;
		x ^= x >> 27;
		x = (x + 1) * 0x2545f4914f6cdd1dULL;
	}
	return x >> 16;
}

uint64_t misbehave_number(const struct misbehaving *m, enum misbehaviour class, unsigned int what,
			  uint64_t limit)
{
	return limit ? random_for(m, class, what + 1) % limit : 0;
}

bool misbehave(const struct misbehaving *m, enum misbehaviour class)
{
	return m->wanted & 1U << class && !(random_for(m, class, 0) % m->one_in);
}

void misbehaved(struct misbehaving *m, enum misbehaviour class)
{
	m->counts[class]++;
}

void misbehave_fill(void *to, size_t size, uint64_t serial)
{
	bytes_fill(to, size, BYTE_OF_HOST, serial);
}
