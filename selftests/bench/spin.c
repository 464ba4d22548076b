// SPDX-License-Identifier: GPL-2.0
/*
 * Takes all the time that nobody else wants, and counts it, in rounds of the same
 * few instructions: what is left of the clock's instructions others have executed.
 *
 *	spin run FILE	spins for ever, and keeps the count in FILE
 *	spin read FILE	prints the time stamp counter, and the count
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <x86intrin.h>

int main(int argc, char **argv)
{
	unsigned long long *count;
	int fd;

	if (argc != 3)
		return 2;
	fd = open(argv[2], O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*count)))
		return 1;
	count = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (count == MAP_FAILED)
		return 1;
	if (!strcmp(argv[1], "read")) {
		printf("%llu %llu\n", __rdtsc(), *count);
		return 0;
	}
	if (nice(19) != 19)
		return 1;
	for (;;) {
		++*count;
		/* the count is to be seen in the file */
		asm volatile("" : : : "memory");
	}
}
