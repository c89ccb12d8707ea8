/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading a part of a file in as many calls as it takes, if the file has it. */
#ifndef HWPROF_READ_WHOLE_H
#define HWPROF_READ_WHOLE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

/*
 * Reads @size bytes at @offset. Returns 0, a negative errno, or -EBADMSG if the
 * file ends before.
 */
static inline int read_whole(int fd, void *to, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = pread(fd, (char *)to + done, size - done,
				    offset + done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			return -EBADMSG;
		done += got;
	}
	return 0;
}

/*
 * Tells whether the file ends before the end of @size bytes at @offset. To be
 * asked before they are allocated: a damaged file may claim any size.
 */
static inline bool ends_before(int fd, size_t size, uint64_t offset)
{
	uint8_t last;

	return size &&
	       read_whole(fd, &last, sizeof(last), offset + size - 1) ==
		       -EBADMSG;
}

#endif /* HWPROF_READ_WHOLE_H */
