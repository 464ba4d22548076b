// SPDX-License-Identifier: GPL-2.0
/*
 * Reads from, and writes to, a disk that misbehaves, and says what has become of memory.
 *
 *	disk_check exact|hostile DEVICE REQUESTS NUMBER
 *
 * Two readers and two writers share the requests, each a process with O_DIRECT and small buffers
 * of its own, at any sector of a page, up to a few pages long. NUMBER is that of the bytes that
 * the disk is full of.
 *
 * A device may put what it likes into a buffer that it was given to write to. So after a read,
 * each byte in the buffer must be
 *	- one that the host made, as its upper bits say, or
 *	- zero, or
 *	- what the reader had put there itself before this very read.
 * All else is foreign: what a writer wrote, of which the host makes nothing that it gives to
 * readers, or what was in another reader's buffer, or in this one before another read.
 *
 * Bytes next to a buffer must stay as they are (canary), and so must those of a buffer whose read
 * has ended, until the next one into it (changed), and of a buffer that is written from
 * (written_changed). With `exact` the data must be right, too (wrong).
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bytes.h"

#define READERS		2
#define WRITERS		2
#define SECTOR		512
#define PAGE		4096
#define MOST		(8 * PAGE)
/* One request in so many is longer than a page. */
#define LONG_ONE_IN	16
/* The half of the disk that is read; the other is written to. */
#define HALF		(8 << 20)

/* Buffers that a process uses in turn, with a page before and after. */
#define ARENAS		8
#define ARENA		(MOST + 3 * PAGE)
#define CANARY		0x2a

struct result {
	unsigned long requests, errors, host, zero, kept;
	unsigned long foreign, canary, changed, written_changed, wrong;
};

struct arena {
	unsigned char *memory;		/* ARENA bytes */
	unsigned char *copy;		/* as it was when the last request had ended */
	size_t begin, size;		/* of the buffer */
	int is_used;
};

struct worker {
	int disk;
	int is_exact;
	int is_writer;
	unsigned int number;		/* among all */
	uint64_t disk_number;
	uint64_t random;
	struct result *result;
	struct arena arenas[ARENAS];
};

static uint64_t below(struct worker *w, uint64_t limit)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return (w->random >> 16) % limit;
}

static size_t count_differing(const unsigned char *a, const unsigned char *b, size_t size)
{
	size_t count = 0;

	if (memcmp(a, b, size))
		for (size_t i = 0; i < size; i++)
			count += a[i] != b[i];
	return count;
}

static size_t broken_canaries(const struct arena *a)
{
	static unsigned char whole[ARENA];
	size_t end = a->begin + a->size;

	if (!whole[0])
		memset(whole, CANARY, sizeof(whole));
	return count_differing(a->memory, whole, a->begin) +
	       count_differing(a->memory + end, whole, ARENA - end);
}

/* Nothing may have happened to it since its request has ended. */
static void check_ended(struct worker *w, const struct arena *a)
{
	size_t changed;

	if (!a->is_used)
		return;
	changed = count_differing(a->memory + a->begin, a->copy + a->begin, a->size);
	w->result->canary += broken_canaries(a);
	if (w->is_writer)
		w->result->written_changed += changed;
	else
		w->result->changed += changed;
}

static void prepare(struct worker *w, struct arena *a, uint64_t number)
{
	size_t most = below(w, LONG_ONE_IN) ? PAGE : MOST;

	a->begin = PAGE + below(w, PAGE / SECTOR) * SECTOR;
	a->size = SECTOR * (1 + below(w, most / SECTOR));
	memset(a->memory, CANARY, ARENA);
	bytes_fill(a->memory + a->begin, a->size, w->is_writer ? BYTE_OF_WRITER : BYTE_OF_READER,
		   number);
}

static void complain_once(const struct worker *w, const unsigned char *buffer, size_t at,
			  size_t size, uint64_t number)
{
	if (w->result->foreign)
		return;
	fprintf(stderr, "# request %llx of %zu bytes: foreign from byte %zu on:",
		(unsigned long long)number, size, at);
	for (size_t i = at; i < at + 16 && i < size; i++)
		fprintf(stderr, " %02x", buffer[i]);
	fprintf(stderr, "\n");
}

static void classify(struct worker *w, const unsigned char *buffer, size_t size, uint64_t number)
{
	struct result *r = w->result;

	for (size_t i = 0; i < size; i++) {
		if ((buffer[i] & BYTE_KIND) == BYTE_OF_HOST) {
			r->host++;
		} else if (!buffer[i]) {
			r->zero++;
		} else if (bytes_match(buffer + i, 1, BYTE_OF_READER, number, i)) {
			r->kept++;
		} else {
			complain_once(w, buffer, i, size, number);
			r->foreign++;
		}
	}
}

static void read_once(struct worker *w, struct arena *a, uint64_t number)
{
	off_t where = below(w, (HALF - MOST) / SECTOR) * SECTOR;
	unsigned char *buffer = a->memory + a->begin;
	ssize_t got = pread(w->disk, buffer, a->size, where);

	if (got != (ssize_t)a->size)
		w->result->errors++;
	if (w->is_exact && !bytes_match(buffer, a->size, BYTE_OF_HOST, w->disk_number, where))
		w->result->wrong++;
	classify(w, buffer, a->size, number);
}

/* Each writer has a part of the disk's second half. */
static void write_once(struct worker *w, struct arena *a, uint64_t number)
{
	static unsigned char back[MOST] __attribute__((aligned(PAGE)));
	size_t part = HALF / (READERS + WRITERS);
	off_t where = HALF + w->number * part + below(w, (part - MOST) / SECTOR) * SECTOR;
	unsigned char *buffer = a->memory + a->begin;
	ssize_t put = pwrite(w->disk, buffer, a->size, where);

	if (put != (ssize_t)a->size)
		w->result->errors++;
	if (!bytes_match(buffer, a->size, BYTE_OF_WRITER, number, 0))
		w->result->written_changed++;
	if (w->is_exact && (pread(w->disk, back, a->size, where) != (ssize_t)a->size ||
			    memcmp(back, buffer, a->size)))
		w->result->wrong++;
}

static void work(struct worker *w, unsigned long requests)
{
	for (int i = 0; i < ARENAS; i++) {
		w->arenas[i].memory = aligned_alloc(PAGE, ARENA);
		w->arenas[i].copy = malloc(ARENA);
		if (!w->arenas[i].memory || !w->arenas[i].copy)
			errx(1, "no memory");
	}
	for (unsigned long i = 0; i < requests; i++) {
		struct arena *a = &w->arenas[i % ARENAS];
		uint64_t number = (uint64_t)(w->number + 1) << 32 | i;

		check_ended(w, a);
		prepare(w, a, number);
		if (w->is_writer)
			write_once(w, a, number);
		else
			read_once(w, a, number);
		w->result->canary += broken_canaries(a);
		memcpy(a->copy, a->memory, ARENA);
		a->is_used = 1;
		w->result->requests++;
	}
	for (int i = 0; i < ARENAS; i++)
		check_ended(w, &w->arenas[i]);
}

static void print_sum(const struct result *results)
{
	struct result sum = {};

	for (int i = 0; i < READERS + WRITERS; i++) {
		sum.requests += results[i].requests;
		sum.errors += results[i].errors;
		sum.host += results[i].host;
		sum.zero += results[i].zero;
		sum.kept += results[i].kept;
		sum.foreign += results[i].foreign;
		sum.canary += results[i].canary;
		sum.changed += results[i].changed;
		sum.written_changed += results[i].written_changed;
		sum.wrong += results[i].wrong;
	}
	printf("requests %lu\nerrors %lu\nhost %lu\nzero %lu\nkept %lu\n", sum.requests, sum.errors,
	       sum.host, sum.zero, sum.kept);
	printf("foreign %lu\ncanary %lu\nchanged %lu\nwritten_changed %lu\nwrong %lu\n",
	       sum.foreign, sum.canary, sum.changed, sum.written_changed, sum.wrong);
}

static int all_ended_well(void)
{
	int status, well = 1;

	while (wait(&status) > 0)
		well &= WIFEXITED(status) && !WEXITSTATUS(status);
	return well;
}

int main(int argc, char **argv)
{
	struct result *results = mmap(NULL, sizeof(*results) * (READERS + WRITERS),
				      PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct worker w = {};

	if (argc != 5 || results == MAP_FAILED)
		errx(2, "usage: disk_check exact|hostile DEVICE REQUESTS NUMBER");
	w.is_exact = !strcmp(argv[1], "exact");
	w.disk_number = strtoull(argv[4], NULL, 0);
	w.disk = open(argv[2], O_RDWR | O_DIRECT);
	if (w.disk < 0)
		err(1, "%s", argv[2]);
	for (w.number = 0; w.number < READERS + WRITERS; w.number++) {
		w.is_writer = w.number >= READERS;
		w.random = w.disk_number + w.number + 1;
		w.result = &results[w.number];
		switch (fork()) {
		case -1:
			err(1, "fork");
		case 0:
			work(&w, strtoul(argv[3], NULL, 0) / (READERS + WRITERS));
			_exit(0);
		}
	}
	if (!all_ended_well())
		errx(1, "a worker has ended early");
	print_sum(results);
	return 0;
}
