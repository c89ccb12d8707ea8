/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file or pipe that is read once, from front to back, in pieces that the
 * reader needs as a whole.
 */
#ifndef HWPROF_INPUT_H
#define HWPROF_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct input {
	int fd;
	uint8_t *buffer;
	size_t capacity;
	size_t begin, end;	/* bytes of the buffer that are not consumed */
	uint64_t offset;	/* of buffer[begin], in the file */
};

/* Reads from @fd, whose position is @offset. Returns 0 or -ENOMEM. */
int input_init(struct input *input, int fd, uint64_t offset);
void input_destroy(struct input *input);

/*
 * Makes @size bytes available at *@bytes, which is valid until the next call.
 * Returns their number, which is less than @size only at the end of the file,
 * or a negative errno.
 */
ssize_t input_peek(struct input *input, size_t size, const uint8_t **bytes);

/*
 * Skips @size bytes. Returns 0, -ENODATA if the file ends before, or another
 * negative errno.
 */
int input_skip(struct input *input, uint64_t size);

#endif /* HWPROF_INPUT_H */
