/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From rows to hot ranges: ranges.c sums the rows of a file, places them in
 * objects and picks what is hot; range_hot.c makes the tree of one object, or of
 * one's code and another's data; ranges_json.c writes them out.
 */
#ifndef HWPROF_RANGES_H
#define HWPROF_RANGES_H

#include "origin.h"
#include "json.h"
#include "profile.h"
#include "range_hot.h"

/* The rows of one range in one address space of one session, summed. */
struct collected_range {
	struct origin origin;
	uint32_t bits;
	uint32_t code_bits;	/* of pairs; else 0 */
	uint64_t low;
	uint64_t code;		/* the same */
	uint64_t count;
};

/* What lies in one object and, if that is set apart, of one process. */
struct range_group {
	struct object *object;
	struct object *code;		/* of pairs: the other one; else NULL */
	uint32_t pid;
	size_t file;			/* as struct place has it */
	const char *comm;
	uint64_t last;			/* time of the last row */
	uint32_t basis;			/* the weakest of its rows */
	uint64_t evicted;		/* in its file */
	struct range_set set;
};

struct hwprof_ranges {
	struct hwprof_profile profile;
	struct hwprof_range *ranges;	/* parents before children */
	size_t count;
	double hot;
	int of;				/* enum hwprof_range_of; -1: not known */
	unsigned int others;		/* what else files have: bits 1 << of */
	struct range_group *groups;
	size_t group_count;
	uint64_t total;			/* of all rows */
	uint64_t elsewhere;		/* of rows that fit in no object */
	uint64_t evicted;		/* in no row: of spaces without room */
};

/* Sums up a row as of @time; it is one that an engine gives. -ENOMEM. */
int ranges_add_row(struct hwprof_profile *profile,
		   const struct hwprof_row_range *row,
		   uint64_t time);
/* replay.c: gathers rows from branch stacks. */
int ranges_replay(struct hwprof_profile *profile, void *options);
/* ranges_json.c: writes one of them as JSON. */
void ranges_put(struct json *json, const char *name, const void *ranges,
	       size_t index);
extern const struct profile_kind ranges_kind;
/* JSON of all of it: as hwprof_profile_json(). */
int ranges_json(const struct hwprof_profile *profile,
		const struct hwprof_json_options *options, FILE *out);

#endif /* HWPROF_RANGES_H */
