/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hot data streams (Chilimbi): sequences of references that come again and
 * again. A reference is an instruction and the address that it accesses.
 *
 * References are kept in bursts: no stream goes beyond the end of its burst.
 */
#ifndef HWPROF_STREAMS_H
#define HWPROF_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct streams;

struct streams_limits {
	size_t references;	/* how many are kept; more are left out */
	size_t shortest;	/* references of a stream, 2 or more */
	size_t longest;
	double share;		/* least share of all references that a stream's
				 * heat has */
};

struct reference {
	uint64_t ip;
	uint64_t address;
};

/* A stream. All times that it comes are without overlaps. */
struct stream {
	size_t first;		/* where it comes first, in references */
	size_t length;
	uint64_t times;
	uint64_t heat;		/* length times @times */
};

struct streams *streams_new(const struct streams_limits *limits);
void streams_free(struct streams *streams);

/* Adds a reference. Returns false without memory. */
bool streams_add(struct streams *streams, struct reference reference);
/* The next reference does not follow the last one. */
bool streams_break(struct streams *streams);

/* Finds the hot streams: the hottest come first. Returns false w/o memory. */
bool streams_find(struct streams *streams);

size_t streams_count(const struct streams *streams);
const struct stream *streams_get(const struct streams *streams, size_t index);
/* Returns reference @index of those that were kept. */
struct reference streams_reference(const struct streams *streams, size_t index);

/* Returns how many references were kept, and how many were left out. */
size_t streams_kept(const struct streams *streams);
uint64_t streams_left_out(const struct streams *streams);
/* Returns how many different references there are. */
size_t streams_different(const struct streams *streams);

#endif /* HWPROF_STREAMS_H */
