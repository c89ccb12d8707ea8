// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "engine/window.h"
#include "runs.h"
#include "tests/engine/random.h"
#include "tests/oracle/array.h"

enum {
	WINDOW = 32, EVERY = 200,	/* branches */
};

void runs_take(struct runs *runs, const struct hwprof_row_branches *row)
{
	u32 i;

	*array_push(&runs->list) = (struct run){
		row->row.pid, row->tid, row->row.space, row->sequence,
		runs->branches.count, row->count,
	};
	for (i = 0; i < row->count; i++)
		*array_push(&runs->branches) = row->branches[i];
}

static int compare_numbers(u64 a, u64 b)
{
	return (a > b) - (a < b);
}

static int compare_runs(const void *a, const void *b)
{
	const struct run *x = a, *y = b;
	int order = compare_numbers(x->pid, y->pid);

	if (!order)
		order = compare_numbers(x->tid, y->tid);
	return order ? order : compare_numbers(x->sequence, y->sequence);
}

void runs_sort(struct runs *runs)
{
	qsort(runs->list.items, runs->list.count, sizeof(*runs->list.items),
	      compare_runs);
}

/* Returns false if the branches contain others than hardware records. */
static bool feed_window(const struct engine_ops *engine, void *table,
			const struct hwprof_branch *oldest, u32 space)
{
	struct window_counts counts = { 0 };
	struct window_branch branches[WINDOW];
	struct window window;
	u8 kinds[WINDOW];
	unsigned int i;

	for (i = 0; i < WINDOW; i++) {
		const struct hwprof_branch *branch = &oldest[WINDOW - 1 - i];

		if (branch->kind > HWPROF_BRANCH_RET)
			return false;
		branches[i] = (struct window_branch){
			.from = branch->from, .to = branch->to,
		};
		kinds[i] = branch->kind;
	}
	window_begin(&window, branches, kinds, WINDOW, space);
	engine->feed_window(table, &window, &counts);
	return true;
}

/* Rows of one thread follow each other, because nothing was lost. */
u64 runs_feed(const struct runs *runs, const struct engine_ops *engine,
	      void *table)
{
	const struct hwprof_branch *branches = runs->branches.items;
	u64 windows = 0, random = 1;
	size_t run, at = 0;

	for (run = 0; run < runs->list.count; run++) {
		const struct run *of = &runs->list.items[run];

		for (; at + WINDOW <= of->count;
		     at += EVERY / 2 + random_below(&random, EVERY + 1))
			windows += feed_window(engine, table,
					       &branches[of->first + at],
					       of->pid);
		at -= at < of->count ? at : of->count;
	}
	return windows;
}
