/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From rows to the values of loads: values.c sums the rows of a file, places
 * loads in objects and merges processes. value_sum.c draws conclusions from the
 * sums. values_json.c writes the result.
 */
#ifndef HWPROF_VALUES_H
#define HWPROF_VALUES_H

#include "base/row_origin.h"
#include "base/json.h"
#include "profile/profile.h"
#include "value_sum.h"

/* The rows of one load in one address space of one session, summed. */
struct collected_value {
	struct row_origin origin;
	uint64_t ip;
	struct value_sum sum;
};

struct value_entry {
	struct hwprof_load load;
	struct object *object;
	size_t file;			/* as struct location has it */
	uint64_t last;			/* time of the last row */
	struct value_sum sum;
	struct hwprof_load_value values[VALUE_SUM_KEPT];
};

struct hwprof_values {
	struct hwprof_profile profile;
	struct value_entry *entries;	/* most executed first */
	size_t count;
	uint64_t loads;			/* executions of all entries */
};

/* Writes one load as JSON; in values_json.c. */
void values_put(struct json *json, const char *name, const void *values,
	       size_t index);
extern const struct profile_kind values_kind;
/* Writes the whole profile; see hwprof_profile_json(). */
int values_json(const struct hwprof_profile *profile,
		const struct hwprof_json_options *options, FILE *out);

#endif /* HWPROF_VALUES_H */
