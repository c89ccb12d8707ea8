// SPDX-License-Identifier: GPL-2.0-only
/*
 * exact_calls [-w] FILE: compares the call pairs in a recording with its
 * branches.
 *
 * For each process, the exact calls of each pair must be within the bounds of
 * the recording. Prints wrong pairs and their number. Exit status 1: a pair is
 * wrong or missing.
 *
 * -w: does the same with windows of 32 branches, one in 200. Of the pairs that
 * were seen to be called 10 times or more, it counts those whose 95 % interval
 * contains the exact share. Prints: windows, calls in them, intervals that
 * contain the share, pairs, and the average ratio of the interval's high end to
 * its low end.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/estimate.h"
#include "engine/engine.h"
#include "runs.h"
#include "tests/oracle/array.h"

enum {
	SEEN = 10,			/* calls */
	TABLE_SIZE = 64 << 20,
};

struct pair {
	u32 pid;
	u64 site, callee;
	u64 exact, least, error, evicted;
};

struct recording {
	struct { struct pair *items; size_t count, room; } pairs;
	struct runs runs;
	u64 evicted;
};

static bool is_call(const struct hwprof_branch *branch)
{
	return branch->kind == HWPROF_BRANCH_CALL;
}

static void take_branches(struct recording *recording,
			  const struct hwprof_row_branches *row)
{
	u32 i;

	runs_take(&recording->runs, row);
	for (i = 0; i < row->count; i++) {
		const struct hwprof_branch *branch = &row->branches[i];

		if (is_call(branch))
			*array_push(&recording->pairs) = (struct pair){
				.pid = row->row.pid, .site = branch->from,
				.callee = branch->to, .exact = 1,
			};
	}
}

static int take(void *context, const struct hwprof_sample *sample)
{
	const struct hwprof_row_call *row = (const void *)sample->row;
	struct recording *recording = context;

	if (!sample->row)
		return 0;
	if (sample->row->type == HWPROF_ROW_BRANCHES)
		take_branches(recording, (const void *)sample->row);
	if (sample->row->type == HWPROF_ROW_CALL)
		*array_push(&recording->pairs) = (struct pair){
			.pid = row->row.pid, .site = row->site,
			.callee = row->callee, .least = row->calls,
			.error = row->error, .evicted = row->evicted,
		};
	/* With branches evicted, pairs would have more calls than the trace. */
	if (sample->row->type == HWPROF_ROW_TOTALS) {
		const struct hwprof_row_totals *totals =
			(const void *)sample->row;

		if (totals->evicted > recording->evicted)
			recording->evicted = totals->evicted;
	}
	return 0;
}

static int compare_numbers(u64 a, u64 b)
{
	return (a > b) - (a < b);
}

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	int order = compare_numbers(x->pid, y->pid);

	if (!order)
		order = compare_numbers(x->site, y->site);
	return order ? order : compare_numbers(x->callee, y->callee);
}

/* --- are they right? ------------------------------------------------------ */

static void sum_up(struct recording *recording)
{
	struct pair *pairs = recording->pairs.items;
	size_t kept = 0, i;

	qsort(pairs, recording->pairs.count, sizeof(*pairs), compare_pairs);
	for (i = 0; i < recording->pairs.count; i++) {
		struct pair *last = &pairs[kept - !!kept];

		if (!kept || compare_pairs(last, &pairs[i])) {
			pairs[kept++] = pairs[i];
			continue;
		}
		last->exact += pairs[i].exact;
		last->least += pairs[i].least;
		last->error = max(last->error, pairs[i].error);
		last->evicted = max(last->evicted, pairs[i].evicted);
	}
	recording->pairs.count = kept;
}

static int check(struct recording *recording)
{
	size_t wrong = 0, sure = 0, i;
	u64 calls = 0;

	sum_up(recording);
	for (i = 0; i < recording->pairs.count; i++) {
		const struct pair *pair = &recording->pairs.items[i];
		u64 most = pair->least + pair->error + recording->evicted -
			   pair->evicted;

		calls += pair->exact;
		sure += pair->least == pair->exact;
		if (pair->least <= pair->exact && pair->exact <= most)
			continue;
		wrong++;
		printf("# %u: 0x%llx calls 0x%llx %llu to %llu times, and it is %llu\n",
		       pair->pid, (unsigned long long)pair->site,
		       (unsigned long long)pair->callee,
		       (unsigned long long)pair->least,
		       (unsigned long long)most,
		       (unsigned long long)pair->exact);
	}
	printf("%llu calls, %zu of %zu pairs as often as they were, %llu calls evicted\n",
	       (unsigned long long)calls, sure, recording->pairs.count,
	       (unsigned long long)recording->evicted);
	return wrong || !calls;
}

/* --- what do windows say? ------------------------------------------------- */

struct seen {
	const struct recording *recording;
	u64 exact, total;		/* calls, of all pairs */
	u64 pairs, inside;
	double width;			/* sum of high / low */
};

static bool take_row(void *context, const void *data, u64 ip, u64 addr,
		     u64 period)
{
	const struct hwprof_row_call *row = data;
	struct pair key = { .pid = row->row.space, .site = ip, .callee = addr };
	struct seen *seen = context;
	const struct pair *pair = bsearch(&key, seen->recording->pairs.items,
					  seen->recording->pairs.count,
					  sizeof(key), compare_pairs);
	struct hwprof_called called = {
		.least = period, .share = (double)period / seen->total,
		.basis = HWPROF_BASIS_BRANCHES,
	};
	double share = (double)pair->exact / seen->exact;

	estimate_share(&called, row->sum_sq,
		       &(struct share_facts){ .weighed = false });
	if (period < SEEN || isnan(called.share_low))
		return true;
	seen->pairs++;
	seen->inside += called.share_low <= share && share <= called.share_high;
	seen->width += called.share_high / called.share_low;
	return true;
}

static int print_windows(struct recording *recording)
{
	const struct engine_params params = {
		.basis = HWPROF_BASIS_BRANCHES, .seed = 1,
	};
	struct seen seen = { .recording = recording };
	void *table = calloc(1, TABLE_SIZE);
	u64 windows;
	size_t i;

	if (!table)
		return 1;
	runs_sort(&recording->runs);
	sum_up(recording);
	for (i = 0; i < recording->pairs.count; i++)
		seen.exact += recording->pairs.items[i].exact;
	call_engine.table_init(table, TABLE_SIZE, &params);
	windows = runs_feed(&recording->runs, &call_engine, table);
	seen.total = call_engine.pending(table);
	call_engine.rows(table, 0, &(size_t){ 0 }, ~0UL, take_row, &seen);
	printf("%llu %llu %llu %llu %.2f\n", (unsigned long long)windows,
	       (unsigned long long)seen.total, (unsigned long long)seen.inside,
	       (unsigned long long)seen.pairs, seen.width / seen.pairs);
	free(table);
	return 0;
}

int main(int argc, char **argv)
{
	bool option = argc == 3;
	struct recording recording = { 0 };
	struct hwprof_file *file;

	if (argc != 2 + option)
		return 2;
	if (hwprof_file_open(&file, argv[1 + option]) ||
	    hwprof_file_samples(file, take, &recording)) {
		fprintf(stderr, "%s\n", hwprof_file_error(file));
		return 1;
	}
	hwprof_file_close(file);
	if (option && !strcmp(argv[1], "-w"))
		return print_windows(&recording);
	return option ? 2 : check(&recording);
}
