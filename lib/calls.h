/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From rows to calls: calls.c sums the rows of a file, or those that the engine
 * makes of its branch stacks (replay.c), by call pair, places them in objects
 * and sums pairs to methods; calls_json.c writes them out.
 */
#ifndef HWPROF_CALLS_H
#define HWPROF_CALLS_H

#include "origin.h"
#include "json.h"
#include "profile.h"

/* The rows of one call pair in one address space of one session, summed. */
struct collected_call {
	struct origin origin;
	uint64_t site, callee;
	uint64_t count;
	uint64_t error, evicted;	/* of the row that is the latest by these */
	double sum_sq;
};

/* Whose rows a pair was made of, and what may be in no row. */
struct call_origin {
	size_t file;			/* counted */
	uint32_t session, space;
	uint32_t programs;		/* that may have had it; 0: not known */
	uint64_t missed;		/* by its rows, of its calls, at most */
	uint64_t evicted;		/* by the session, of all */
	uint64_t evicted_file;		/* and by all sessions in the file */
};

/* A call pair as the user of the library sees it, and what it was made of. */
struct pair_entry {
	struct hwprof_pair pair;
	struct object *site_object, *callee_object;
	size_t file;			/* as struct place has it */
	double sum_sq;
	uint64_t last;			/* time of the last row */
	struct call_origin origin;	/* of several, that of one */
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
	struct method_entry *methods;	/* the same */
	size_t method_count;
	uint64_t total;			/* calls of all rows */
	uint64_t evicted;		/* and of none, in all files */
};

extern const struct profile_kind calls_kind;

/* Sums up a row as of @time. -ENOMEM. */
int calls_add_row(struct hwprof_profile *profile,
		  const struct hwprof_row_call *row,
		  uint64_t time);

/* replay.c: gathers rows from branch stacks. */
int calls_replay(struct hwprof_profile *profile, void *options);
/* calls_json.c: writes one pair, or method, as JSON. */
void calls_put(struct json *json, const char *name, const void *calls,
	       size_t index);
void calls_put_method(struct json *json, const char *name, const void *calls,
		      size_t index);
/* JSON of all of it: as hwprof_profile_json(). */
int calls_json(const struct hwprof_profile *profile,
	       const struct hwprof_json_options *options, FILE *out);

#endif /* HWPROF_CALLS_H */
