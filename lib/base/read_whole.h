/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading a part of a file, however many calls it takes. */
#ifndef HWPROF_READ_WHOLE_H
#define HWPROF_READ_WHOLE_H

#include <errno.h>
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

#endif /* HWPROF_READ_WHOLE_H */
