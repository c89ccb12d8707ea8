/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From rows to calls: calls.c sums the rows of a file by call pair, places the
 * pairs in objects, and sums pairs to methods. The rows come from the file, or
 * from the engine that replays its branch stacks (replay.c). calls_json.c
 * writes the result.
 */
#ifndef HWPROF_CALLS_H
#define HWPROF_CALLS_H

#include "base/row_origin.h"
#include "base/json.h"
#include "profile/profile.h"

/* The rows of one call pair in one address space of one session, summed. */
struct collected_call {
	struct row_origin origin;
	uint64_t site, callee;
	uint64_t count;
	uint64_t error, evicted;	/* of the row where their sum is
					 * highest */
	double sum_sq;
};

/* Origin of a pair's rows, and bounds of the calls that are in no row. */
struct call_origin {
	size_t file;			/* number of the file, from 1 */
	uint32_t session, space, pid;
	uint32_t programs;		/* that may have made the calls; 0:
					 * unknown */
	uint64_t missed;		/* upper bound of calls that the pair's
					 * rows lack */
	uint64_t evicted;		/* calls that the session evicted */
	uint64_t evicted_file;		/* calls that all sessions of the file
					 * evicted */
};

/* A call pair of the public interface, and what it is made of. */
struct pair_entry {
	struct hwprof_pair pair;
	struct object *site_object, *callee_object;
	size_t file;			/* as struct location has it */
	double sum_sq;
	uint64_t last;			/* time of the last row */
	struct call_origin origin;	/* if there are several, of one of
					 * them */
};

struct method_entry {
	struct hwprof_method method;
	struct object *object;
	uint64_t last;
};

struct hwprof_calls {
	struct hwprof_profile profile;
	struct pair_entry *pairs;	/* by share */
	size_t pair_count;
	struct method_entry *methods;	/* by share */
	size_t method_count;
	uint64_t total;			/* calls of all rows */
	uint64_t evicted;		/* calls that are in no row, of all
					 * files */
};

extern const struct profile_kind calls_kind;

/* Adds a row of time @time. Returns 0 or -ENOMEM. */
int calls_add_row(struct hwprof_profile *profile,
		  const struct hwprof_row_call *row,
		  uint64_t time);

/* Write one pair, or method, as JSON; in calls_json.c. */
void calls_put(struct json *json, const char *name, const void *calls,
	       size_t index);
void calls_put_method(struct json *json, const char *name, const void *calls,
		      size_t index);
/* Writes the whole profile; see hwprof_profile_json(). */
int calls_json(const struct hwprof_profile *profile,
	       const struct hwprof_json_options *options, FILE *out);

#endif /* HWPROF_CALLS_H */
