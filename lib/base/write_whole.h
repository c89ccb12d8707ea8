/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writing to a file, however many calls it takes. */
#ifndef HWPROF_WRITE_WHOLE_H
#define HWPROF_WRITE_WHOLE_H

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

/* Writes @size bytes. Returns 0 or a negative errno. */
static inline int write_whole(int fd, const void *from, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t put = write(fd, (const char *)from + done,
				    size - done);

		if (put < 0 && errno != EINTR)
			return -errno;
		if (put > 0)
			done += put;
	}
	return 0;
}

#endif /* HWPROF_WRITE_WHOLE_H */
