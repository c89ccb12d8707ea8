// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a recording that is merged by build. The merge must end, and
 * what it writes must be a recording with the same units, which can be merged
 * again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hwprof.h"
#include "merge/merge.h"

static uint64_t units_of(const struct merge *merge)
{
	const struct merge_part *part;
	uint64_t sum = 0;
	size_t i;

	for (i = 0; (part = merge_part(merge, i)); i++)
		sum += part->units;
	return sum;
}

/* Adds the recording in @fd, which is taken over. */
static int add(struct merge *merge, int fd)
{
	struct hwprof_file *file;
	int error;

	if (lseek(fd, 0, SEEK_SET))
		abort();
	error = hwprof_file_open_fd(&file, fd, "input");
	if (!error)
		error = merge_add(merge, file);
	hwprof_file_close(file);
	return error;
}

static void check_again(struct merge *merge)
{
	struct merge *again = merge_new();
	char path[64], message[512];
	int fd = memfd_create("merged", MFD_CLOEXEC);

	if (!again || fd < 0)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (merge_write(merge, MERGE_ALL, path, message, sizeof(message)) ||
	    add(again, fd) || units_of(again) != units_of(merge))
		abort();
	merge_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct merge *merge = merge_new();
	int fd = memfd_create("input", MFD_CLOEXEC);

	if (!merge || fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	if (!add(merge, fd))
		check_again(merge);
	merge_free(merge);
	return 0;
}
