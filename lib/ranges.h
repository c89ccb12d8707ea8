/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From rows to hot ranges: ranges.c sums the rows of a file, places them in
 * objects and picks what is hot; range_hot.c makes the tree of one object;
 * ranges_json.c writes them out.
 */
#ifndef HWPROF_RANGES_H
#define HWPROF_RANGES_H

#include "loops.h"
#include "range_hot.h"

/* The rows of one range in one address space of one session, summed. */
struct collected_range {
	uint32_t session, space, pid;
	uint32_t bits;
	uint32_t basis;			/* 0: samples */
	uint64_t low;
	uint64_t count;
	uint64_t first, last;		/* times of its rows */
};

/* What lies in one object and, if that is set apart, of one process. */
struct range_group {
	struct object *object;
	uint32_t pid;
	uint64_t last;			/* time of the last row */
	uint32_t basis;			/* the weakest of its rows */
	struct range_set set;
};

struct hwprof_ranges {
	struct hwprof_range *ranges;	/* parents before children */
	size_t count;
	double hot;
	unsigned int flags;
	int of;				/* enum hwprof_range_of; -1: not known */
	unsigned int others;		/* what else the file has: bits 1 << of */
	void *rows;			/* tree of struct collected_range */
	struct range_group *groups;
	size_t group_count;
	uint64_t total;			/* of all rows */
	uint64_t elsewhere;		/* of rows that fit in no object */
	struct collected collected;	/* sessions and maps, and no loops */
	struct hwprof_totals totals;
	struct objects *objects;
	struct warnings warnings;
};

#endif /* HWPROF_RANGES_H */
