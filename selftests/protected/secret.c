// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps a secret in private memory of the guest, where the host must not find it.
 *
 *	secret SEED LOWEST hold MIB		in this process, until it is killed
 *	secret SEED LOWEST free MIB		in kernel pages that others get next
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
#define MIB (1024 * 1024UL)
/* /proc/PID/pagemap: Documentation/admin-guide/mm/pagemap.rst */
#define PAGEMAP_PRESENT 0x8000000000000000ULL
#define PAGEMAP_FRAME 0x007fffffffffffffULL

static unsigned long long secret[2];
static unsigned long long lowest;

/* SplitMix64, as in search.py. */
static unsigned long long next_random(unsigned long long *state)
{
	unsigned long long z = *state += 0x9e3779b97f4a7c15;

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

static unsigned long long physical_address(int pagemap, const unsigned char *address)
{
	unsigned long long entry;
	off_t place = (uintptr_t)address / PAGE * sizeof(entry);

	if (pread(pagemap, &entry, sizeof(entry), place) != sizeof(entry))
		err(1, "pagemap");
	if (!(entry & PAGEMAP_PRESENT) || !(entry & PAGEMAP_FRAME))
		errx(1, "a page of the secret is not to be found");
	return (entry & PAGEMAP_FRAME) * PAGE;
}

static void check_private(const unsigned char *buffer, size_t size)
{
	int pagemap = open("/proc/self/pagemap", O_RDONLY);
	unsigned long long address;
	size_t i;

	if (pagemap < 0)
		err(1, "pagemap");
	for (i = 0; i < size; i += PAGE) {
		address = physical_address(pagemap, buffer + i);
		if (address < lowest)
			errx(1, "a page of the secret is in shared memory: %#llx", address);
	}
	close(pagemap);
}

static unsigned char *map_with_secret(size_t size, int flags, int file)
{
	unsigned char *buffer = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, file, 0);

	if (buffer == MAP_FAILED)
		err(1, "no memory");
	fill(buffer, size);
	check_private(buffer, size);
	return buffer;
}

static unsigned char *buffer_with_secret(size_t size)
{
	return map_with_secret(size, MAP_PRIVATE | MAP_ANONYMOUS, -1);
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

	if (ftruncate(file, size))
		err(1, "%s", name);
	map_with_secret(size, MAP_SHARED, file);
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
	unsigned long long seed;
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
		errx(2, "usage: secret SEED LOWEST WHAT ..., as the source says");
	}
	return 0;
}
