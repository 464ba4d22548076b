// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps a secret in private memory of the guest, where the host must not find it.
 *
 *	secret SEED LOWEST hold MIB		in this process, until it is killed
 *	secret SEED LOWEST free MIB		in kernel pages that are given back, for others to get
 *	secret SEED LOWEST page-cache FILE MIB	in a file
 *	secret SEED LOWEST read FILE SIZE COUNT	in buffers that O_DIRECT reads into
 *	secret SEED LOWEST write FILE		in what goes to a disk: the host is to find it
 *
 * The secret is made of the seed, so that nobody has to tell it. No page of it may
 * be below the physical address LOWEST, where memory is shared.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096UL
#define MIB (1UL << 20)
/* /proc/PID/pagemap: Documentation/admin-guide/mm/pagemap.rst */
#define PAGEMAP_PRESENT (1ULL << 63)
#define PAGEMAP_FRAME ((1ULL << 55) - 1)

static uint64_t secret[2];
static uint64_t lowest;

/* SplitMix64, as in search.py. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static void fill(unsigned char *buffer, size_t size)
{
	size_t i;

	for (i = 0; i < size; i += sizeof(secret))
		memcpy(buffer + i, secret, sizeof(secret));
}

static bool holds_secret(const unsigned char *buffer, size_t size)
{
	return memmem(buffer, size, secret, sizeof(secret));
}

static void check_private(const unsigned char *buffer, size_t size)
{
	int pagemap = open("/proc/self/pagemap", O_RDONLY);
	uint64_t entry;
	size_t i;

	if (pagemap < 0)
		err(1, "pagemap");
	for (i = 0; i < size; i += PAGE) {
		off_t place = ((uintptr_t)buffer + i) / PAGE * sizeof(entry);

		if (pread(pagemap, &entry, sizeof(entry), place) != sizeof(entry))
			err(1, "pagemap");
		if (!(entry & PAGEMAP_PRESENT) || !(entry & PAGEMAP_FRAME))
			errx(1, "a page of the secret is not to be found");
		if ((entry & PAGEMAP_FRAME) * PAGE < lowest)
			errx(1, "a page of the secret is in shared memory: %#llx",
			     (entry & PAGEMAP_FRAME) * PAGE);
	}
	close(pagemap);
}

static unsigned char *buffer_with_secret(size_t size)
{
	unsigned char *buffer = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (buffer == MAP_FAILED)
		err(1, "no memory");
	fill(buffer, size);
	check_private(buffer, size);
	return buffer;
}

static int open_file(const char *name, int flags)
{
	int file = open(name, flags, 0600);

	if (file < 0)
		err(1, "%s", name);
	return file;
}

static void put_into_page_cache(const char *name, size_t size)
{
	int file = open_file(name, O_RDWR | O_CREAT);
	unsigned char *buffer;

	if (ftruncate(file, size))
		err(1, "%s", name);
	buffer = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (buffer == MAP_FAILED)
		err(1, "%s", name);
	fill(buffer, size);
	check_private(buffer, size);
}

/*
 * The kernel keeps what it can move apart from what it cannot: those who get pages
 * of pipes next are disks and network cards, as with no page of a process.
 */
static void free_pages_of_pipes(unsigned int count)
{
	unsigned char *buffer = buffer_with_secret(MIB);
	unsigned int i;
	int ends[2];

	for (i = 0; i < count; i++)
		if (pipe(ends) || fcntl(ends[1], F_SETPIPE_SZ, MIB) != (int)MIB ||
		    write(ends[1], buffer, MIB) != (ssize_t)MIB)
			err(1, "pipe");
}

static void read_into_secret(const char *name, size_t size, unsigned int count)
{
	unsigned char *buffer = buffer_with_secret(size);
	int file = open_file(name, O_RDONLY | O_DIRECT);
	unsigned int i;

	for (i = 0; i < count; i++) {
		fill(buffer, size);
		if (pread(file, buffer, size, 0) != (ssize_t)size)
			err(1, "reading %s", name);
		if (holds_secret(buffer, size))
			errx(1, "%s was not read in whole: the secret is still there", name);
	}
}

static void write_secret(const char *name)
{
	int file = open_file(name, O_WRONLY | O_DIRECT);

	if (pwrite(file, buffer_with_secret(MIB), MIB, 0) != (ssize_t)MIB)
		err(1, "writing %s", name);
}

int main(int argc, char **argv)
{
	uint64_t seed;
	const char *what = argc > 4 ? argv[3] : "";

	if (argc > 4) {
		seed = strtoull(argv[1], NULL, 0);
		secret[0] = next_random(&seed);
		secret[1] = next_random(&seed);
		lowest = strtoull(argv[2], NULL, 0);
	}
	if (argc == 5 && !strcmp(what, "hold")) {
		buffer_with_secret(strtoul(argv[4], NULL, 0) * MIB);
		if (daemon(1, 0))
			err(1, "daemon");
		pause();
	} else if (argc == 5 && !strcmp(what, "free")) {
		free_pages_of_pipes(strtoul(argv[4], NULL, 0));
	} else if (argc == 6 && !strcmp(what, "page-cache")) {
		put_into_page_cache(argv[4], strtoul(argv[5], NULL, 0) * MIB);
	} else if (argc == 7 && !strcmp(what, "read")) {
		read_into_secret(argv[4], strtoul(argv[5], NULL, 0), strtoul(argv[6], NULL, 0));
	} else if (argc == 5 && !strcmp(what, "write")) {
		write_secret(argv[4]);
	} else {
		errx(2, "usage: secret SEED LOWEST hold|free MIB | page-cache FILE MIB | read FILE SIZE COUNT | write FILE");
	}
	return 0;
}
