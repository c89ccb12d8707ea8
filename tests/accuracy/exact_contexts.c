// SPDX-License-Identifier: GPL-2.0-only
/*
 * exact_contexts FILE: compares the calling contexts in a recording of one
 * program with those that the oracle makes of the branches in it.
 *
 * Prints contexts that differ, and their number. Exit status 1: some are wrong,
 * or branches are missing.
 */
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>

#include "hwprof.h"
#include "tests/oracle/array.h"
#include "tests/oracle/contexts.h"
#include "tests/oracle/rows.h"

/* Sum of the rows of one id. */
struct told {
	struct hwprof_row_context row;
	struct context *context;	/* the oracle's, once it was found */
};

struct comparison {
	struct contexts contexts;
	struct { struct context_thread *items; size_t count, room; } threads;
	void *told;			/* tree of struct told, by id */
	size_t told_count;
	u32 space;			/* the one that ran; 0: none so far */
	u64 calls;
	size_t wrong;
};

static void wrong(struct comparison *comparison, const struct told *told,
		  const char *what, u64 engine, u64 oracle)
{
	if (comparison->wrong++ < 20)
		printf("# kind %u, 0x%llx called from 0x%llx: %s %" PRIu64
		       ", and it is %" PRIu64 "\n", told->row.kind,
		       told->row.callee, told->row.site, what, engine, oracle);
}

/* --- what there was ----------------------------------------------------- */

static void take_branch(void *context, u32 thread,
			const struct stream_event *event)
{
	struct comparison *comparison = context;
	struct stream_event here = *event;

	while (comparison->threads.count <= thread)
		*array_push(&comparison->threads) = (struct context_thread) {
			.contexts = &comparison->contexts,
		};
	/* Each session numbers address spaces by itself. */
	here.space = 1;
	contexts_feed(&comparison->threads.items[thread], &here);
}

static bool read_branches(struct comparison *comparison, const char *name)
{
	struct branch_rows branches = { 0 };
	struct loop_rows loops = { 0 };
	u64 missing = 0;
	size_t i;
	bool done = rows_read(name, &branches, &loops);

	if (done)
		missing = rows_branches(&branches, take_branch, comparison);
	if (missing)
		printf("# %" PRIu64 " branches are missing\n", missing);
	for (i = 0; i < comparison->threads.count; i++)
		contexts_finish(&comparison->threads.items[i]);
	rows_free(&branches, &loops);
	return done && !missing;
}

/* --- what was told ------------------------------------------------------ */

static int compare_ids(const void *a, const void *b)
{
	const struct told *x = a, *y = b;

	return (x->row.id > y->row.id) - (x->row.id < y->row.id);
}

static struct told *find(struct comparison *comparison, u64 id)
{
	const struct told key = { .row.id = id };
	struct told **found = tfind(&key, &comparison->told, compare_ids);

	return found ? *found : NULL;
}

static int take_row(void *context, const struct hwprof_sample *sample)
{
	const struct hwprof_row_context *row = (const void *)sample->row;
	struct comparison *comparison = context;
	struct told *told;

	if (!row || row->row.type != HWPROF_ROW_CONTEXT)
		return 0;
	if (comparison->space && comparison->space != row->row.space) {
		printf("# more than one program ran\n");
		comparison->wrong++;
	}
	comparison->space = row->row.space;
	told = find(comparison, row->id);
	if (told) {
		told->row.calls += row->calls;
		told->row.branches += row->branches;
	} else {
		told = calloc(1, sizeof(*told));
		told->row = *row;
		tsearch(told, &comparison->told, compare_ids);
		comparison->told_count++;
	}
	comparison->calls += row->calls;
	return 0;
}

/* --- comparing ---------------------------------------------------------- */

static struct context *place(struct comparison *comparison, struct told *told)
{
	struct context *first = comparison->contexts.roots;

	if (told->context)
		return told->context;
	if (told->row.parent) {
		struct told *parent = find(comparison, told->row.parent);
		struct context *caller = parent ? place(comparison, parent) :
						  NULL;

		if (!caller)
			return NULL;
		first = caller->children;
	}
	told->context = contexts_find(first, told->row.kind, 1, told->row.site,
				      told->row.callee);
	return told->context;
}

static void compare(const void *node, VISIT visit, void *context)
{
	struct comparison *comparison = context;
	struct told *told = *(void *const *)node;
	struct context *exact;

	if (visit != postorder && visit != leaf)
		return;
	exact = place(comparison, told);
	if (!exact) {
		wrong(comparison, told, "calls", told->row.calls, 0);
		return;
	}
	if (told->row.calls != exact->calls || told->row.deeper)
		wrong(comparison, told, "calls", told->row.calls, exact->calls);
	else if (told->row.branches != exact->branches)
		wrong(comparison, told, "branches", told->row.branches,
		      exact->branches);
}

static size_t count_contexts(const struct context *first)
{
	size_t count = 0;

	for (; first; first = first->next)
		count += (first->calls || first->branches) +
			 count_contexts(first->children);
	return count;
}

int main(int argc, char **argv)
{
	struct comparison comparison = { .wrong = 0 };
	struct hwprof_file *file;
	size_t deepest = 0, exact, i;

	if (argc != 2)
		return 2;
	if (hwprof_file_open(&file, argv[1]) ||
	    hwprof_file_samples(file, take_row, &comparison)) {
		fprintf(stderr, "%s\n", hwprof_file_error(file));
		return 1;
	}
	hwprof_file_close(file);
	if (!read_branches(&comparison, argv[1]))
		return 1;
	twalk_r(comparison.told, compare, &comparison);
	exact = count_contexts(comparison.contexts.roots);
	for (i = 0; i < comparison.threads.count; i++)
		if (comparison.threads.items[i].deepest > deepest)
			deepest = comparison.threads.items[i].deepest;
	printf("%zu contexts of %" PRIu64
	       " calls, %zu frames deep: %zu of %zu are exact\n",
	       comparison.told_count, comparison.calls, deepest,
	       comparison.told_count - comparison.wrong, exact);
	return comparison.wrong || comparison.told_count != exact;
}
