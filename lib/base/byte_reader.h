/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Untrusted bytes. Every read is checked against the end, and copies, because
 * the bytes may be unaligned.
 */
#ifndef HWPROF_BYTE_READER_H
#define HWPROF_BYTE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct byte_reader {
	const uint8_t *at;	/* the next byte */
	const uint8_t *end;
};

static inline struct byte_reader reader_of(const void *bytes, size_t size)
{
	return (struct byte_reader){ bytes, (const uint8_t *)bytes + size };
}

static inline size_t reader_left(const struct byte_reader *reader)
{
	return reader->end - reader->at;
}

static inline bool reader_skip(struct byte_reader *reader, uint64_t size)
{
	if (reader_left(reader) < size)
		return false;
	reader->at += size;
	return true;
}

static inline bool reader_copy(struct byte_reader *reader, void *to,
			       size_t size)
{
	if (reader_left(reader) < size)
		return false;
	memcpy(to, reader->at, size);
	reader->at += size;
	return true;
}

/* Removes @size bytes from @reader, and returns them as @part. */
static inline bool reader_part(struct byte_reader *reader, uint64_t size,
			       struct byte_reader *part)
{
	if (reader_left(reader) < size)
		return false;
	*part = reader_of(reader->at, size);
	reader->at += size;
	return true;
}

static inline bool reader_u32(struct byte_reader *reader, uint32_t *value)
{
	return reader_copy(reader, value, sizeof(*value));
}

static inline bool reader_u64(struct byte_reader *reader, uint64_t *value)
{
	return reader_copy(reader, value, sizeof(*value));
}

/*
 * Reads a number of DWARF's variable length (LEB128). Bits beyond 64 are
 * dropped.
 */
static inline bool reader_leb(struct byte_reader *reader, bool has_sign,
			      uint64_t *value)
{
	unsigned int shift = 0;
	uint8_t byte;

	*value = 0;
	do {
		if (!reader_copy(reader, &byte, 1))
			return false;
		if (shift < 64)
			*value |= (uint64_t)(byte & 0x7f) << shift;
		shift += shift < 64 ? 7 : 0;
	} while (byte & 0x80);
	if (has_sign && byte & 0x40 && shift < 64)
		*value |= -1ULL << shift;
	return true;
}

static inline bool reader_uleb(struct byte_reader *reader, uint64_t *value)
{
	return reader_leb(reader, false, value);
}

static inline bool reader_sleb(struct byte_reader *reader, int64_t *value)
{
	return reader_leb(reader, true, (uint64_t *)value);
}

/* Returns the string at the start; NULL if it has no end in @reader. */
static inline const char *reader_string(const struct byte_reader *reader)
{
	if (!reader_left(reader) || !memchr(reader->at, 0, reader_left(reader)))
		return NULL;
	return (const char *)reader->at;
}

#endif /* HWPROF_BYTE_READER_H */
