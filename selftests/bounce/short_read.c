// SPDX-License-Identifier: GPL-2.0
/*
 * Reads a file with O_DIRECT into a buffer that is larger than the file, and
 * says what has become of the bytes that the read says it has not written.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ALIGNMENT 4096
#define OLD_BYTE 0xa5

int main(int argc, char **argv)
{
	size_t size, kept = 0, i;
	unsigned char *buffer;
	ssize_t got;
	int file;

	if (argc != 3)
		errx(2, "usage: short_read FILE SIZE_OF_BUFFER");
	size = strtoul(argv[2], NULL, 0);
	if (posix_memalign((void **)&buffer, ALIGNMENT, size))
		errx(1, "no memory");
	memset(buffer, OLD_BYTE, size);

	file = open(argv[1], O_RDONLY | O_DIRECT);
	if (file < 0)
		err(1, "%s", argv[1]);
	got = read(file, buffer, size);
	if (got < 0)
		err(1, "read");

	for (i = got; i < size; i++)
		kept += buffer[i] == OLD_BYTE;
	fprintf(stderr, "read %zd, kept %zu of %zu\n", got, kept, size - got);
	return fwrite(buffer, 1, got, stdout) != (size_t)got || fflush(stdout);
}
