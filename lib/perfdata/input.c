// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input.h"

enum {
	INPUT_BUFFER = 1 << 17,	/* two of perf's largest records: few pages */
};

int input_init(struct input *input, int fd, uint64_t offset)
{
	*input = (struct input){ .fd = fd, .offset = offset };
	input->buffer = malloc(INPUT_BUFFER);
	if (!input->buffer)
		return -ENOMEM;
	input->capacity = INPUT_BUFFER;
	return 0;
}

void input_destroy(struct input *input)
{
	free(input->buffer);
	input->buffer = NULL;
}

/*
 * Reads once more, behind the bytes in the buffer. Returns the number of bytes,
 * 0 at the end, or a negative errno.
 */
static ssize_t input_fill(struct input *input)
{
	ssize_t got;

	do {
		got = read(input->fd, input->buffer + input->end,
			   input->capacity - input->end);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	input->end += got;
	return got;
}

ssize_t input_peek(struct input *input, size_t size, const uint8_t **bytes)
{
	size_t there = input->end - input->begin;
	ssize_t got;

	if (size > input->capacity)
		return -EMSGSIZE;
	if (there < size) {
		memmove(input->buffer, input->buffer + input->begin, there);
		input->begin = 0;
		input->end = there;
	}
	while (input->end - input->begin < size) {
		got = input_fill(input);
		if (got < 0)
			return got;
		if (!got)
			break;
	}
	*bytes = input->buffer + input->begin;
	there = input->end - input->begin;
	return there < size ? there : size;
}

int input_skip(struct input *input, uint64_t size)
{
	while (size > input->end - input->begin) {
		size_t there = input->end - input->begin;
		ssize_t got;

		size -= there;
		input->offset += there;
		input->begin = input->end = 0;
		got = input_fill(input);
		if (got < 0)
			return got;
		if (!got)
			return -ENODATA;
	}
	input->begin += size;
	input->offset += size;
	return 0;
}
