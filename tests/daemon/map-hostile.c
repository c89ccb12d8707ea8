// SPDX-License-Identifier: GPL-2.0-only
/*
 * Maps hostile files as code, as a program of anybody can, and waits.
 *
 * usage: map-hostile FOLDER
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hostile.h"

static int map(const char *folder, enum hostile_file file)
{
	char path[4096];
	void *code;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, hostile_name(file));
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0755);
	if (fd < 0 || hostile_write(file, fd))
		return -1;
	code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	return code == MAP_FAILED ? -1 : 0;
}

int main(int argc, char **argv)
{
	int i;

	for (i = 0; argc == 2 && i < HOSTILE_COUNT; i++)
		if (map(argv[1], i)) {
			perror(hostile_name(i));
			return 1;
		}
	if (argc != 2)
		return 2;
	puts("mapped");
	fflush(stdout);
	pause();
	return 0;
}
