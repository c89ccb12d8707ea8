/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Untrusted bytes. Every read is checked against the end, and copies, because
 * the bytes may be unaligned.
 */
#ifndef HWPROF_SPAN_H
#define HWPROF_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct span {
	const uint8_t *at;	/* the next byte */
	const uint8_t *end;
};

static inline struct span span_of(const void *bytes, size_t size)
{
	return (struct span){ bytes, (const uint8_t *)bytes + size };
}

static inline size_t span_left(const struct span *span)
{
	return span->end - span->at;
}

static inline bool span_skip(struct span *span, uint64_t size)
{
	if (span_left(span) < size)
		return false;
	span->at += size;
	return true;
}

static inline bool span_copy(struct span *span, void *to, size_t size)
{
	if (span_left(span) < size)
		return false;
	memcpy(to, span->at, size);
	span->at += size;
	return true;
}

/* Removes @size bytes from @span, and returns them as @part. */
static inline bool span_part(struct span *span, uint64_t size,
			     struct span *part)
{
	if (span_left(span) < size)
		return false;
	*part = span_of(span->at, size);
	span->at += size;
	return true;
}

static inline bool span_u32(struct span *span, uint32_t *value)
{
	return span_copy(span, value, sizeof(*value));
}

static inline bool span_u64(struct span *span, uint64_t *value)
{
	return span_copy(span, value, sizeof(*value));
}

/* Returns the string at the start; NULL if it does not end inside the span. */
static inline const char *span_string(const struct span *span)
{
	if (!span_left(span) || !memchr(span->at, 0, span_left(span)))
		return NULL;
	return (const char *)span->at;
}

#endif /* HWPROF_SPAN_H */
