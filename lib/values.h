/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From rows to the values of loads: values.c sums the rows of a file, places
 * loads in objects and merges processes; value_sum.c has what is concluded from
 * the sums; values_json.c writes them out.
 */
#ifndef HWPROF_VALUES_H
#define HWPROF_VALUES_H

#include "loops.h"
#include "value_sum.h"

/* The rows of one load in one address space of one session, summed. */
struct collected_value {
	uint32_t session, space, pid;
	bool samples;
	uint64_t ip;
	uint64_t first, last;		/* times of its rows */
	struct value_sum sum;
};

struct value_entry {
	struct hwprof_load load;
	struct object *object;
	uint64_t first, last;
	struct value_sum sum;
	struct hwprof_load_value values[VALUE_SUM_KEPT];
};

struct hwprof_values {
	struct value_entry *entries;	/* the most executed first */
	size_t count;
	unsigned int flags;
	void *rows;			/* tree of struct collected_value */
	size_t row_count;
	uint64_t loads;			/* of all entries */
	struct collected collected;	/* sessions and maps, and no loops */
	struct hwprof_totals totals;
	struct objects *objects;
	struct warnings warnings;
};

#endif /* HWPROF_VALUES_H */
