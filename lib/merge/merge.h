/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Merges recordings, of any machine and time, by the builds that ran. Rows
 * about one thing in one build become one row, whatever process it was in and
 * wherever that had the build mapped. The result is a recording again, which
 * can be read by hwprof_profile_read(), and merged with others.
 *
 * A merge is divided into parts: a part has the rows of one kind that are about
 * one object. Besides, it has an account: what the sessions have lost, and what
 * they have cost. The account and the rows of all parts together have totals
 * that add up.
 *
 * In the result, a process stands for all that had one name, one user and one
 * cgroup, as far as labels say so. Each object is mapped once. The address 1
 * stands for all code that is in no object, which is of no use later. Contexts
 * keep no metrics.
 */
#ifndef HWPROF_MERGE_H
#define HWPROF_MERGE_H

#include "hwprof.h"
#include "label_filter.h"

struct merge;

/**
 * struct merge_part - A part of a merge
 * @kind: kind of its rows.
 * @build_id: build id of the object in hexadecimal digits; "" if unknown.
 * @object: name of the object; "[unknown]" or "[kernel]" without one.
 * @units: what the rows carry, in the unit of the kind.
 * @rows: number of rows.
 */
struct merge_part {
	enum hwprof_kind kind;
	char build_id[41];
	const char *object;
	uint64_t units;
	size_t rows;
};

/* Limits, which hostile recordings may reach: what is beyond has no object. */
enum {
	MERGE_OBJECTS_MAX = 8000,
	MERGE_PROGRAMS_MAX = 4096,	/* names with labels */
};

/* The name of the process that stands for those which are too many. */
#define MERGE_OTHER	"[other]"

/* Returns NULL if out of memory. */
struct merge *merge_new(void);
void merge_free(struct merge *merge);

/*
 * Adds a recording of hwprof. Returns 0, -ENOMEM, -EOPNOTSUPP if distances
 * changed in it, or what hwprof_file_kinds() or hwprof_file_samples() would
 * return; hwprof_file_error() of @file then says why. After a failure the merge
 * has the same rows as before, except after -ENOMEM.
 */
int merge_add(struct merge *merge, struct hwprof_file *file);

/*
 * Leaves out the processes of recordings to come that @filter does not choose,
 * and the accounts, which are those of all.
 */
void merge_choose(struct merge *merge, const struct label_filter *filter);

/*
 * Has a part for each name of a build, in recordings to come: a file may claim
 * a build id that is another's, and who reads parts wants to know of both.
 */
void merge_split(struct merge *merge);

/* Returns how many units have no labels because there were too many. */
uint64_t merge_folded(const struct merge *merge);

/**
 * struct merge_process - What stands for one process in the result
 * @program: name.
 * @uid: user; UINT32_MAX: unknown.
 * @cgroup: path; "" if unknown.
 * @units: what its rows carry, by kind.
 */
struct merge_process {
	const char *program;
	uint32_t uid;
	const char *cgroup;
	const uint64_t *units;
};

/* Finds process @index, from 0. Returns false after the last one. */
bool merge_process(const struct merge *merge, size_t index,
		   struct merge_process *process);

/* Returns part @index, from 0; NULL after the last one. */
const struct merge_part *merge_part(const struct merge *merge, size_t index);

/*
 * Returns the account of all recordings, or with @rows also of the rows of all
 * parts. The field row is 0.
 */
struct hwprof_row_totals merge_totals(const struct merge *merge, bool rows);

/* Returns how many records did not fit into the rings of the recordings. */
uint64_t merge_lost_records(const struct merge *merge);

/* Writing these instead of a part; see merge_write(). */
enum {
	MERGE_ACCOUNT = -1,	/* instead of a part: the account alone */
	MERGE_ALL = -2,		/* instead of a part: everything */
};

/*
 * Writes part @part, or MERGE_ACCOUNT or MERGE_ALL, to the file @path. Returns
 * 0 or a negative errno, with a sentence in @message of @size bytes.
 */
int merge_write(struct merge *merge, long part, const char *path,
		char *message, size_t size);

#endif /* HWPROF_MERGE_H */
