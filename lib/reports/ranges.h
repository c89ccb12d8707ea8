/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From rows to hot ranges:
 * - ranges.c sums the rows of a file, places them in objects and selects hot
 *   ones.
 * - range_hot.c builds the tree of one object or, for pairs, of one object's
 *   code and another's data.
 * - ranges_json.c writes the result.
 */
#ifndef HWPROF_RANGES_H
#define HWPROF_RANGES_H

#include "base/row_origin.h"
#include "base/json.h"
#include "profile/profile.h"
#include "range_hot.h"

/* The rows of one range in one address space of one session, summed. */
struct collected_range {
	struct row_origin origin;
	uint32_t bits;
	uint32_t code_bits;	/* of pairs; else 0 */
	uint64_t low;
	uint64_t code;		/* of pairs; else 0 */
	uint64_t count;
};

/* The ranges of one object and, if kept apart, of one process. */
struct range_group {
	struct object *object;
	struct object *code;		/* of pairs: the object with the code;
					 * else NULL */
	uint32_t pid;
	size_t file;			/* as struct location has it */
	const char *comm;
	uint64_t last;			/* time of the last row */
	uint32_t basis;			/* the weakest of its rows */
	uint64_t evicted;		/* by its file */
	struct range_set set;
};

struct hwprof_ranges {
	struct hwprof_profile profile;
	struct hwprof_range *ranges;	/* parents before children */
	size_t count;
	double hot;
	int of;				/* enum hwprof_range_of; -1: unknown */
	unsigned int others;		/* other streams of the files: bits 1 <<
					 * of */
	struct range_group *groups;
	size_t group_count;
	uint64_t total;			/* events of all rows */
	uint64_t elsewhere;		/* events of rows that fit in no
					 * object */
	uint64_t evicted;		/* events in no row: no room for their
					 * space */
};

/* Adds a row of time @time that an engine may produce. Returns 0 or -ENOMEM. */
int ranges_add_row(struct hwprof_profile *profile,
		   const struct hwprof_row_range *row,
		   uint64_t time);
/*
 * Calls @fn for each range that has events of its own, hot or not. It has these
 * in @own, and its ends, objects and process; no names and no other counts.
 */
typedef void (*ranges_fn)(void *context, const struct hwprof_range *range);
void ranges_each(const struct hwprof_profile *profile, ranges_fn fn,
		 void *context);
/* Writes one range as JSON; in ranges_json.c. */
void ranges_put(struct json *json, const char *name, const void *ranges,
	       size_t index);
extern const struct profile_kind ranges_kind;
/* Writes the whole profile; see hwprof_profile_json(). */
int ranges_json(const struct hwprof_profile *profile,
		const struct hwprof_json_options *options, FILE *out);

#endif /* HWPROF_RANGES_H */
