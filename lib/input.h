/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file or pipe that is read once from front to back, in pieces that a
 * reader wants to see whole.
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
	size_t begin, end;	/* what is in the buffer and not consumed */
	uint64_t offset;	/* in the file, of buffer[begin] */
};

/* Reads from @fd, which stands at @offset. 0, or -ENOMEM. */
int input_init(struct input *input, int fd, uint64_t offset);
void input_destroy(struct input *input);

/*
 * Makes @size bytes visible at *@bytes, which stays valid until the next
 * call. Returns how many there are: fewer than @size only at the file's end;
 * or a negative errno.
 */
ssize_t input_peek(struct input *input, size_t size, const uint8_t **bytes);

/* Goes on @size bytes. 0; -ENODATA where the file ends before; or an errno. */
int input_skip(struct input *input, uint64_t size);

#endif /* HWPROF_INPUT_H */
