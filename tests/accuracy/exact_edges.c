// SPDX-License-Identifier: GPL-2.0-only
/*
 * exact_edges [-w] FILE: compares the edges in a recording with its branches.
 *
 * For each process, the exact count of each edge must be within the bounds of
 * the recording. Prints wrong edges and their number. Exit status 1: an edge is
 * wrong or missing.
 *
 * -w: does the same with windows of 32 branches, one in 200. Prints five
 * numbers:
 * - windows;
 * - the largest difference of a branch's share
 *   in all taken branches, in points;
 * - 95 % intervals that contain the exact bias;
 * - conditional jumps that have an interval: those that ran 10 times or more;
 * - the average width of intervals, in points.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/edges.h"
#include "reports/estimate.h"
#include "engine/engine.h"
#include "engine/walk.h"
#include "engine/window.h"
#include "runs.h"
#include "tests/oracle/array.h"

enum {
	SEEN = 10,			/* times that a jump ran */
	TABLE_SIZE = 64 << 20,
};

struct edge {
	u32 pid, kind;
	u64 from, to, end;
	u64 exact, told, error, evicted;
	double sum_sq;
};

struct recording {
	struct { struct edge *items; size_t count, room; } edges;
	struct runs runs;
	u64 evicted;
};

/* --- reading ------------------------------------------------------------- */

static void take_edge(struct recording *recording,
		      const struct hwprof_row_edge *row)
{
	*array_push(&recording->edges) = (struct edge){
		.pid = row->row.pid, .kind = row->kind, .from = row->from,
		.to = row->to, .end = row->end, .told = row->count,
		.error = row->error, .evicted = row->evicted,
		.sum_sq = row->sum_sq,
	};
}

static int take(void *context, const struct hwprof_sample *sample)
{
	const struct hwprof_row_totals *totals = (const void *)sample->row;
	struct recording *recording = context;

	if (!sample->row)
		return 0;
	if (sample->row->type == HWPROF_ROW_BRANCHES)
		runs_take(&recording->runs, (const void *)sample->row);
	if (sample->row->type == HWPROF_ROW_EDGE)
		take_edge(recording, (const void *)sample->row);
	/* With branches of the trace evicted, edges would have more. */
	if (sample->row->type == HWPROF_ROW_TOTALS)
		recording->evicted = max(recording->evicted, totals->evicted);
	return 0;
}

static int compare_numbers(u64 a, u64 b)
{
	return (a > b) - (a < b);
}

static int compare_edges(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;
	int order = compare_numbers(x->pid, y->pid);

	if (!order)
		order = compare_numbers(x->from, y->from);
	if (!order)
		order = compare_numbers(x->to, y->to);
	return order ? order : compare_numbers(x->end, y->end);
}

static void sum_up(struct recording *recording)
{
	struct edge *edges = recording->edges.items;
	size_t kept = 0, i;

	qsort(edges, recording->edges.count, sizeof(*edges), compare_edges);
	for (i = 0; i < recording->edges.count; i++) {
		struct edge *last = &edges[kept - !!kept];

		if (!kept || compare_edges(last, &edges[i])) {
			edges[kept++] = edges[i];
			continue;
		}
		last->exact += edges[i].exact;
		last->told += edges[i].told;
		last->sum_sq += edges[i].sum_sq;
		last->error = max(last->error, edges[i].error);
		last->evicted = max(last->evicted, edges[i].evicted);
	}
	recording->edges.count = kept;
}

/* --- what the branches say ----------------------------------------------- */

/*
 * State of a thread: it is in a line that begins at @to, where the branch at
 * @from led.
 */
struct thread {
	u32 pid, tid, space, kind;
	u64 next;			/* the next run's sequence number */
	u64 from, to, position;
};

static void expect(struct recording *recording, const struct thread *thread,
		   u64 end)
{
	*array_push(&recording->edges) = (struct edge){
		.pid = thread->pid, .kind = thread->kind, .from = thread->from,
		.to = thread->to, .end = end, .exact = 1,
	};
}

static void go_on(struct recording *recording, struct thread *thread, u64 to)
{
	if (thread->from)
		expect(recording, thread, 0);
	thread->from = thread->kind = 0;
	thread->to = thread->position = to;
}

static void follow(struct recording *recording, struct thread *thread,
		   const struct hwprof_branch *branch)
{
	bool follows = branch->from >= thread->position;

	if (branch->kind == HWPROF_BRANCH_SYSCALL && follows &&
	    branch->to - branch->from - 1 < WALK_CALL_MAX) {
		thread->position = branch->to;
		return;
	}
	if (branch->kind > HWPROF_BRANCH_RET) {
		go_on(recording, thread, branch->to);
		return;
	}
	if (!follows)
		go_on(recording, thread, 0);
	expect(recording, thread, branch->from);
	thread->from = branch->from;
	thread->to = thread->position = branch->to;
	thread->kind = branch->kind;
}

static void follow_all(struct recording *recording)
{
	struct thread thread = { .tid = 0 };
	size_t i, k;

	for (i = 0; i < recording->runs.list.count; i++) {
		const struct run *run = &recording->runs.list.items[i];

		if (run->pid != thread.pid || run->tid != thread.tid ||
		    run->space != thread.space || run->sequence != thread.next)
			thread = (struct thread){
				.pid = run->pid, .tid = run->tid,
				.space = run->space,
			};
		thread.next = run->sequence + run->count;
		for (k = 0; k < run->count; k++)
			follow(recording, &thread,
			       &recording->runs.branches.items[run->first + k]);
	}
}

/* --- are they right? ----------------------------------------------------- */

static void print_wrong(const struct edge *edge, u64 most)
{
	printf("# %u: 0x%llx to 0x%llx, end 0x%llx: %llu to %llu times, "
	       "and it is %llu\n",
	       edge->pid, (unsigned long long)edge->from,
	       (unsigned long long)edge->to, (unsigned long long)edge->end,
	       (unsigned long long)edge->told, (unsigned long long)most,
	       (unsigned long long)edge->exact);
}

static int check(struct recording *recording)
{
	size_t wrong = 0, sure = 0, i;
	u64 branches = 0;

	follow_all(recording);
	sum_up(recording);
	for (i = 0; i < recording->edges.count; i++) {
		const struct edge *edge = &recording->edges.items[i];
		u64 most = edge->told + edge->error + recording->evicted -
			   edge->evicted;

		branches += edge->end ? edge->exact : 0;
		sure += edge->told == edge->exact;
		if (edge->told <= edge->exact && edge->exact <= most)
			continue;
		wrong++;
		print_wrong(edge, most);
	}
	printf("%llu branches, %zu of %zu edges as often as they were, "
	       "%llu branches evicted\n",
	       (unsigned long long)branches, sure, recording->edges.count,
	       (unsigned long long)recording->evicted);
	return wrong || !branches;
}

/* --- what do windows say? ------------------------------------------------ */

static bool take_row(void *context, const void *data, u64 ip, u64 addr,
		     u64 period)
{
	struct hwprof_row_edge row = *(const struct hwprof_row_edge *)data;

	row.row.pid = row.row.space;
	take_edge(context, &row);
	return true;
}

/* Edges by branch, exact or from windows. */
struct view {
	struct edge_entry *entries;
	struct edge_lines lines;
	u64 all;			/* taken branches */
};

/* Treats all code as that of one object. */
static struct code_spot spot_of(u32 pid, u64 address)
{
	static const char everywhere;

	return (struct code_spot){
		.object = (void *)&everywhere, .pid = pid, .address = address,
	};
}

static bool make_view(struct view *view, const struct recording *recording,
		      bool exact)
{
	size_t i;

	*view = (struct view){
		.entries = calloc(recording->edges.count + 1,
				  sizeof(*view->entries)),
	};
	for (i = 0; view->entries && i < recording->edges.count; i++) {
		const struct edge *edge = &recording->edges.items[i];
		struct edge_entry *entry = &view->entries[i];

		entry->to = spot_of(edge->pid, edge->to);
		entry->stop = spot_of(edge->pid, edge->end);
		if (!edge->end)
			entry->stop.object = NULL;
		if (edge->to && edge->end >= edge->to)
			entry->end = edge->end;
		entry->count = exact ? edge->exact : edge->told;
		entry->sum_sq = exact ? 0 : edge->sum_sq;
		view->all += edge->from ? entry->count : 0;
	}
	return view->entries && !edge_lines_make(&view->lines, view->entries,
						 recording->edges.count);
}

/* Sums the entries [@first, @end) of one branch. */
static struct weight taken_of(const struct view *view, size_t first, size_t end)
{
	struct weight taken = { 0, 0 };

	for (; first < end; first++) {
		taken.count += view->entries[first].count;
		taken.root += sqrt(view->entries[first].sum_sq);
	}
	return taken;
}

struct result {
	double worst, width;
	u64 jumps, inside;
};

static void compare_bias(struct result *result, const struct weight stopped[2],
			 const struct weight passed[2])
{
	struct hwprof_branch_site site = {
		.passed = passed[1].count, .basis = HWPROF_BASIS_BRANCHES,
		.bias_low = NAN,
	};
	double bias = stopped[0].count /
		      (double)(stopped[0].count + passed[0].count);

	if (stopped[1].count + passed[1].count < SEEN)
		return;
	estimate_bias(&site, stopped[1].count, stopped[1].root,
		      passed[1].root);
	if (isnan(site.bias_low))
		return;
	result->jumps++;
	result->inside += site.bias_low <= bias && bias <= site.bias_high;
	result->width += 100 * (site.bias_high - site.bias_low);
}

static void compare_branch(struct result *result, const struct view views[2],
			   const struct edge *edge, size_t first, size_t end)
{
	const struct code_spot spot = spot_of(edge->pid, edge->from);
	struct weight taken[2], stopped[2], passed[2];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		taken[i] = taken_of(&views[i], first, end);
		stopped[i] = edge_lines_to(&views[i].lines, &spot);
		passed[i] = edge_lines_over(&views[i].lines, &spot);
	}
	result->worst = fmax(result->worst, 100 *
			     fabs((double)taken[0].count / views[0].all -
				  (double)taken[1].count / views[1].all));
	if (edge->kind == HWPROF_BRANCH_COND)
		compare_bias(result, stopped, passed);
}

static struct result compare_views(const struct recording *recording,
				   const struct view views[2])
{
	const struct edge *edges = recording->edges.items;
	struct result result = { 0 };
	size_t i, end;

	for (i = 0; i < recording->edges.count; i = end) {
		for (end = i + 1; end < recording->edges.count &&
		     edges[end].pid == edges[i].pid &&
		     edges[end].from == edges[i].from;)
			end++;
		if (edges[i].from)
			compare_branch(&result, views, &edges[i], i, end);
	}
	return result;
}

static int print_windows(struct recording *recording)
{
	const struct engine_params params = {
		.basis = HWPROF_BASIS_BRANCHES, .seed = 1,
	};
	void *table = calloc(1, TABLE_SIZE);
	struct result result;
	struct view views[2];
	u64 windows;

	if (!table)
		return 1;
	recording->edges.count = 0;
	follow_all(recording);
	edge_engine.table_init(table, TABLE_SIZE, &params);
	windows = runs_feed(&recording->runs, &edge_engine, table);
	edge_engine.rows(table, 0, &(size_t){ 0 }, ~0UL, take_row, recording);
	sum_up(recording);
	if (!make_view(&views[0], recording, true) ||
	    !make_view(&views[1], recording, false))
		return 1;
	result = compare_views(recording, views);
	printf("%llu %.2f %llu %llu %.2f\n", (unsigned long long)windows,
	       result.worst, (unsigned long long)result.inside,
	       (unsigned long long)result.jumps, result.width / result.jumps);
	free(table);
	return 0;
}

int main(int argc, char **argv)
{
	bool option = argc == 3;
	struct recording recording = { 0 };
	struct hwprof_file *file;

	if (argc != 2 + option || (option && strcmp(argv[1], "-w")))
		return 2;
	if (hwprof_file_open(&file, argv[1 + option]) ||
	    hwprof_file_samples(file, take, &recording)) {
		fprintf(stderr, "%s\n", hwprof_file_error(file));
		return 1;
	}
	hwprof_file_close(file);
	runs_sort(&recording.runs);
	return option ? print_windows(&recording) : check(&recording);
}
