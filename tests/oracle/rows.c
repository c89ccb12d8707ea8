// SPDX-License-Identifier: GPL-2.0-only
#include "rows.h"

#include <errno.h>
#include <string.h>

#include "array.h"
#include "hwprof.h"

struct reading {
	struct branch_rows *branches;
	struct loop_rows *loops;
};

/* --- branches ------------------------------------------------------------- */

static void keep_branches(struct branch_rows *rows,
			  const struct hwprof_row_branches *row)
{
	struct hwprof_row_branches *copy = array_more(NULL, 1, row->row.size);

	memcpy(copy, row, row->row.size);
	*array_push(rows) = copy;
}

static int by_thread(const struct hwprof_row_branches *a,
		     const struct hwprof_row_branches *b)
{
	if (a->row.session != b->row.session)
		return a->row.session < b->row.session ? -1 : 1;
	if (a->row.pid != b->row.pid)
		return a->row.pid < b->row.pid ? -1 : 1;
	return a->tid == b->tid ? 0 : a->tid < b->tid ? -1 : 1;
}

static int by_sequence(const void *x, const void *y)
{
	const struct hwprof_row_branches *const *a = x, *const *b = y;
	int order = by_thread(*a, *b);

	if (order || (*a)->sequence == (*b)->sequence)
		return order;
	return (*a)->sequence < (*b)->sequence ? -1 : 1;
}

static void give(const struct hwprof_row_branches *row, u32 thread,
		 rows_take take, void *context)
{
	u32 i;

	for (i = 0; i < row->count; i++) {
		const struct hwprof_branch *branch = &row->branches[i];
		bool stack = branch->flags & HWPROF_BRANCH_STACK;
		const struct stream_event event = {
			.from = branch->from,
			.to = branch->to,
			.kind = branch->kind,
			.flags = (branch->flags & STREAM_MISPREDICTED) |
				 (stack ? STREAM_STACK : 0),
			.space = row->row.space,
			.cycles = stack ? 0 : branch->cycles,
			.value =
				stack ? HWPROF_BRANCH_STACK_POINTER(branch) : 0,
		};

		take(context, thread, &event);
	}
}

u64 rows_branches(struct branch_rows *rows, rows_take take, void *context)
{
	struct hwprof_row_branches *row, *before = NULL;
	u64 missing = 0, next = 0;
	u32 thread = 0;
	size_t i;

	if (rows->count)
		qsort(rows->items, rows->count, sizeof(*rows->items),
		      by_sequence);
	for (i = 0; i < rows->count; i++, before = row) {
		row = rows->items[i];
		if (before && by_thread(before, row)) {
			thread++;
			next = 0;
		}
		if (row->sequence != next) {
			const struct stream_event gap = {
				.kind = STREAM_GAP, .space = row->row.space,
			};

			/*
			 * The sequence may start again: a thread may be taken
			 * for a new one as it exits.
			 */
			if (row->sequence > next)
				missing += row->sequence - next;
			take(context, thread, &gap);
		}
		give(row, thread, take, context);
		next = row->sequence + row->count;
	}
	return missing;
}

/* --- loops ---------------------------------------------------------------- */

static int compare_loops(const struct hwprof_row_loop *a,
			 const struct hwprof_row_loop *b)
{
	if (a->row.session != b->row.session)
		return a->row.session < b->row.session ? -1 : 1;
	if (a->row.space != b->row.space)
		return a->row.space < b->row.space ? -1 : 1;
	return a->head == b->head ? 0 : a->head < b->head ? -1 : 1;
}

/* Returns the index of the loop, or where to insert it: items are sorted. */
static size_t loop_place(const struct loop_rows *rows,
			 const struct hwprof_row_loop *row)
{
	size_t low = 0, high = rows->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_loops(&rows->items[middle], row) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void make_place(struct loop_rows *rows, size_t at)
{
	size_t after = rows->count - at;

	if (rows->count == rows->room)
		rows->trips = array_more(rows->trips, 2 * rows->room + 16,
					 sizeof(*rows->trips));
	array_push(rows);
	memmove(&rows->items[at + 1], &rows->items[at],
		after * sizeof(*rows->items));
	memmove(&rows->trips[at + 1], &rows->trips[at],
		after * sizeof(*rows->trips));
	memset(&rows->items[at], 0, sizeof(rows->items[at]));
	memset(&rows->trips[at], 0, sizeof(rows->trips[at]));
}

/*
 * Adds a row to its loop. The last rows of a process have the same time and
 * come in any order.
 */
static void add_loop(struct loop_rows *rows, const struct hwprof_row_loop *row)
{
	size_t at = loop_place(rows, row);
	struct hwprof_row_loop *sum;
	unsigned int i;

	if (at == rows->count || compare_loops(&rows->items[at], row))
		make_place(rows, at);
	sum = &rows->items[at];
	sum->row = row->row;
	sum->head = row->head;
	sum->tail = max(sum->tail, row->tail);
	sum->back_edges += row->back_edges;
	sum->entries += row->entries;
	sum->executions += row->executions;
	sum->unclosed += row->unclosed;
	sum->tolerance += row->tolerance;
	if (!sum->trip_min || (row->trip_min && row->trip_min < sum->trip_min))
		sum->trip_min = row->trip_min;
	sum->trip_max = max(sum->trip_max, row->trip_max);
	for (i = 0; i < HWPROF_TRIP_BUCKETS; i++)
		rows->trips[at][i] += row->trips[i];
}

/* --- totals --------------------------------------------------------------- */

static void add_totals(struct totals_rows *rows,
		       const struct hwprof_row_totals *row)
{
	size_t i;

	for (i = 0; i < rows->count; i++)
		if (rows->items[i].row.session == row->row.session)
			break;
	if (i == rows->count)
		array_push(rows);
	rows->items[i] = *row;
}

struct hwprof_row_totals totals_sum(const struct totals_rows *rows)
{
	struct hwprof_row_totals sum = { .row.type = HWPROF_ROW_TOTALS };
	size_t i;

	for (i = 0; i < rows->count; i++) {
		sum.lost += rows->items[i].lost;
		sum.evicted += rows->items[i].evicted;
		sum.gaps += rows->items[i].gaps;
	}
	return sum;
}

/* --- files ---------------------------------------------------------------- */

static int take_sample(void *context, const struct hwprof_sample *sample)
{
	struct reading *reading = context;

	if (!sample->rows || !sample->row)
		return 0;
	if (sample->row->type == HWPROF_ROW_BRANCHES)
		keep_branches(reading->branches, (const void *)sample->row);
	else if (sample->row->type == HWPROF_ROW_LOOP)
		add_loop(reading->loops, (const void *)sample->row);
	else if (sample->row->type == HWPROF_ROW_TOTALS)
		add_totals(&reading->loops->totals, (const void *)sample->row);
	return 0;
}

static bool read_recording(const char *name, struct reading *reading)
{
	struct hwprof_file *file;
	int error = hwprof_file_open(&file, name);

	if (!error)
		error = hwprof_file_samples(file, take_sample, reading);
	if (error)
		fprintf(stderr, "%s: %s\n", name,
			file ? hwprof_file_error(file) : strerror(-error));
	hwprof_file_close(file);
	return !error;
}

static bool read_bare(const char *name, FILE *file, struct branch_rows *rows)
{
	union {
		struct hwprof_row_branches row;
		char bytes[sizeof(struct hwprof_row_branches) +
			   HWPROF_ROW_BRANCHES_MAX *
				   sizeof(struct hwprof_branch)];
	} buffer;
	struct hwprof_row_branches *row = &buffer.row;
	size_t size;

	while (fread(row, sizeof(*row), 1, file)) {
		size = row->count * sizeof(*row->branches);
		if (row->row.type != HWPROF_ROW_BRANCHES ||
		    row->count > HWPROF_ROW_BRANCHES_MAX ||
		    row->row.size != sizeof(*row) + size ||
		    fread(row->branches, 1, size, file) != size) {
			fprintf(stderr, "%s: not a file of branch rows\n",
				name);
			return false;
		}
		keep_branches(rows, row);
	}
	return true;
}

bool rows_read(const char *name, struct branch_rows *branches,
	       struct loop_rows *loops)
{
	struct reading reading = { branches, loops };
	FILE *file = fopen(name, "r");
	char magic[8] = "";
	bool good;

	if (!file) {
		fprintf(stderr, "%s: %s\n", name, strerror(errno));
		return false;
	}
	good = fread(magic, sizeof(magic), 1, file) == 1;
	rewind(file);
	if (good && !memcmp(magic, "PERFILE2", sizeof(magic)))
		good = read_recording(name, &reading);
	else
		good = read_bare(name, file, branches);
	fclose(file);
	return good;
}

void rows_free(struct branch_rows *branches, struct loop_rows *loops)
{
	size_t i;

	for (i = 0; i < branches->count; i++)
		free(branches->items[i]);
	free(branches->items);
	free(loops->items);
	free(loops->trips);
	free(loops->totals.items);
}
