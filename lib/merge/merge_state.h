/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The fields of a merge. merge.c reads recordings into it, merge_write.c writes
 * it as a recording.
 */
#ifndef HWPROF_MERGE_STATE_H
#define HWPROF_MERGE_STATE_H

#include "base/numbers.h"
#include "label_filter.h"
#include "merge.h"
#include "perfdata/file.h"
#include "row_table.h"

/*
 * Each object has an address space of this size in the result, in which an
 * address is an offset in its file. The first belongs to no object.
 */
#define MERGE_OBJECT_SHIFT	34
/* The address of code that is in no object. */
#define MERGE_UNKNOWN		1

/* A process of the result. */
struct merge_program {
	char *name;
	struct label label;		/* its pid is the index + 1 */
	bool wanted;			/* by the filter */
	uint64_t units[HWPROF_KINDS];	/* of its rows */
};

struct merge_object {
	char *name;
	struct build_id id;
};

/* Events with the same kinds. Their rows are of one event in the result. */
struct merge_group {
	uint64_t words[3];		/* of the first such event */
	unsigned int kinds;		/* bits 1 << enum hwprof_kind */
	struct hwprof_row_totals totals; /* the account */
};

struct merge_part_state {
	struct merge_part part;
	size_t object;			/* + 1; 0: none */
	bool kernel;			/* it is about the kernel */
	size_t begin;			/* in merge->by_part */
};

struct merge {
	struct merge_object *objects;
	size_t object_count, object_room;
	struct numbers ids, names;	/* build ids of objects, and names of
					 * those without: the value is the
					 * number of the object + 1 */
	struct merge_program *programs;	/* pid is index + 1 */
	size_t program_count, program_room;
	struct numbers program_names;	/* with their labels; the value is the
					 * pid */
	struct numbers cgroups;		/* of labels */
	struct label_filter filter;
	bool split;			/* objects with one build id by name */
	uint64_t folded;		/* units of MERGE_OTHER */
	struct merge_group *groups;	/* session is index + 1 */
	size_t group_count;
	struct merge_part_state *parts;
	size_t part_count, part_room;
	struct numbers part_numbers;	/* of those: kind, object, kernel */
	struct row_table rows;		/* all addresses are the result's */
	const struct row_entry **by_part; /* the rows, part after part; NULL:
					 * not sorted since the last addition */
	uint64_t lost_records;		/* that did not fit into rings */
	struct hwprof_file *machine;	/* describes where the first recording
					 * was made, and has the masks of all;
					 * NULL: nothing known */
};

/* Returns the object + 1 that an address of the result is in; 0: none. */
static inline size_t merge_object_at(const struct merge *merge,
				     uint64_t address)
{
	uint64_t number = address >> MERGE_OBJECT_SHIFT;

	return number <= merge->object_count ? number : 0;
}

#endif /* HWPROF_MERGE_STATE_H */
