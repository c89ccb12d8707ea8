// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "html_text.h"

/* 3 bytes are 4 characters; '=' stands for what is missing of the last 3. */
void put_base64(const void *bytes, size_t size, FILE *out)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789+/";
	const uint8_t *at = bytes;
	size_t i;

	for (i = 0; i < size; i += 3) {
		uint32_t three = at[i] << 16;

		three |= i + 1 < size ? at[i + 1] << 8 : 0;
		three |= i + 2 < size ? at[i + 2] : 0;
		putc(digits[three >> 18], out);
		putc(digits[three >> 12 & 63], out);
		putc(i + 1 < size ? digits[three >> 6 & 63] : '=', out);
		putc(i + 2 < size ? digits[three & 63] : '=', out);
	}
}

/* Writes bytes in gzip's format. Returns 0 or -ENOMEM. */
static int put_gzip(const void *bytes, size_t size, FILE *out)
{
	enum { GZIP = 16 + MAX_WBITS, LEVEL = 4, STEP = 1 << 30 };
	z_stream stream = { .next_in = (void *)bytes };
	uint8_t buffer[1 << 14];
	int status;

	if (deflateInit2(&stream, LEVEL, Z_DEFLATED, GZIP, MAX_MEM_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	do {
		/* zlib counts in 32 bits. */
		if (!stream.avail_in) {
			stream.avail_in = size < STEP ? size : STEP;
			size -= stream.avail_in;
		}
		stream.next_out = buffer;
		stream.avail_out = sizeof(buffer);
		status = deflate(&stream, size ? Z_NO_FLUSH : Z_FINISH);
		fwrite(buffer, 1, stream.next_out - buffer, out);
	} while (status != Z_STREAM_END);
	deflateEnd(&stream);
	return 0;
}

int put_packed(const void *bytes, size_t size, FILE *out)
{
	char *packed = NULL;
	size_t packed_size;
	FILE *memory = open_memstream(&packed, &packed_size);
	int error;

	if (!memory)
		return -ENOMEM;
	error = put_gzip(bytes, size, memory);
	if (fclose(memory))
		error = -ENOMEM;
	if (!error)
		put_base64(packed, packed_size, out);
	free(packed);
	return error;
}
