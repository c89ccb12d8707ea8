// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which loop of one recording is which of another, and what has changed. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "loops.h"

struct hwprof_loops_diff {
	struct hwprof_loops_change *changes;
	size_t count;
};

/* The loops of a recording that have no counterpart yet. */
struct side {
	const struct hwprof_loop **loops;
	size_t count;
};

/* Below, at or above 0, as for qsort(): at 0, they may be the same loop. */
typedef int (*compare)(const struct hwprof_loop *a, const struct hwprof_loop *b);

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

/* The same build of the object: addresses are what they were. */
static int by_head(const struct hwprof_loop *a, const struct hwprof_loop *b)
{
	int order = compare_text(a->object, b->object);

	if (!order)
		order = compare_text(a->build_id, b->build_id);
	if (!order)
		order = compare_u64(a->pid, b->pid);
	return order ? order : compare_u64(a->head, b->head);
}

static int by_function(const struct hwprof_loop *a, const struct hwprof_loop *b)
{
	int order = compare_text(a->object, b->object);

	if (!order)
		order = compare_text(a->function, b->function);
	/* What is in no function that is known can only be told by its address. */
	if (!order && !a->function)
		order = a == b ? 0 : a < b ? -1 : 1;
	return order;
}

/* Another build, of the same source. */
static int by_line(const struct hwprof_loop *a, const struct hwprof_loop *b)
{
	int order = by_function(a, b);

	if (!order)
		order = compare_text(a->file, b->file);
	if (!order && !a->file)
		order = a == b ? 0 : a < b ? -1 : 1;
	return order ? order : compare_u64(a->line, b->line);
}

/* Another build, without its source. */
static int by_offset(const struct hwprof_loop *a, const struct hwprof_loop *b)
{
	int order = by_function(a, b);

	return order ? order :
		       compare_u64(a->function_offset, b->function_offset);
}

/* Of those that may be the same, the first is the first. */
static int compare_loops(const void *a, const void *b, void *context)
{
	const struct hwprof_loop *x = *(void *const *)a, *y = *(void *const *)b;
	int order = (*(compare *)context)(x, y);

	return order ? order : compare_u64(x->head, y->head);
}

static void add_change(struct hwprof_loops_diff *diff,
		       const struct hwprof_loop *before,
		       const struct hwprof_loop *after)
{
	diff->changes[diff->count++] = (struct hwprof_loops_change){
		.before = before, .after = after,
		.share = (after ? after->share : 0) -
			 (before ? before->share : 0),
	};
}

/* Finds counterparts; what has none stays in its side. */
static void join(struct hwprof_loops_diff *diff, struct side *before,
		 struct side *after, compare compare)
{
	size_t i = 0, j = 0, left = 0, right = 0;

	qsort_r(before->loops, before->count, sizeof(*before->loops),
		compare_loops, &compare);
	qsort_r(after->loops, after->count, sizeof(*after->loops),
		compare_loops, &compare);
	while (i < before->count && j < after->count) {
		int order = compare(before->loops[i], after->loops[j]);

		if (!order)
			add_change(diff, before->loops[i++], after->loops[j++]);
		else if (order < 0)
			before->loops[left++] = before->loops[i++];
		else
			after->loops[right++] = after->loops[j++];
	}
	while (i < before->count)
		before->loops[left++] = before->loops[i++];
	while (j < after->count)
		after->loops[right++] = after->loops[j++];
	before->count = left;
	after->count = right;
}

static int side_init(struct side *side, const struct hwprof_loops *loops)
{
	size_t i;

	side->count = hwprof_loops_count(loops);
	side->loops = calloc(side->count + 1, sizeof(*side->loops));
	if (!side->loops)
		return -ENOMEM;
	for (i = 0; i < side->count; i++)
		side->loops[i] = hwprof_loops_get(loops, i);
	return 0;
}

static int compare_changes(const void *a, const void *b)
{
	const struct hwprof_loops_change *x = a, *y = b;
	double less = fabs(y->share) - fabs(x->share);

	if (less)
		return less < 0 ? -1 : 1;
	return by_head(x->after ? x->after : x->before,
		       y->after ? y->after : y->before);
}

static void find_changes(struct hwprof_loops_diff *diff, struct side *before,
			 struct side *after)
{
	size_t i;

	join(diff, before, after, by_head);
	join(diff, before, after, by_line);
	join(diff, before, after, by_offset);
	for (i = 0; i < before->count; i++)
		add_change(diff, before->loops[i], NULL);
	for (i = 0; i < after->count; i++)
		add_change(diff, NULL, after->loops[i]);
	qsort(diff->changes, diff->count, sizeof(*diff->changes),
	      compare_changes);
}

int hwprof_loops_diff(struct hwprof_loops_diff **result,
		      const struct hwprof_loops *before,
		      const struct hwprof_loops *after)
{
	struct hwprof_loops_diff *diff = calloc(1, sizeof(*diff));
	struct side sides[2] = { { .count = 0 }, { .count = 0 } };
	int error = -ENOMEM;

	if (diff && !side_init(&sides[0], before) &&
	    !side_init(&sides[1], after)) {
		diff->changes = calloc(sides[0].count + sides[1].count + 1,
				       sizeof(*diff->changes));
		if (diff->changes) {
			find_changes(diff, &sides[0], &sides[1]);
			error = 0;
		}
	}
	free(sides[0].loops);
	free(sides[1].loops);
	if (error) {
		hwprof_loops_diff_free(diff);
		diff = NULL;
	}
	*result = diff;
	return error;
}

void hwprof_loops_diff_free(struct hwprof_loops_diff *diff)
{
	if (!diff)
		return;
	free(diff->changes);
	free(diff);
}

size_t hwprof_loops_diff_count(const struct hwprof_loops_diff *diff)
{
	return diff->count;
}

const struct hwprof_loops_change *
hwprof_loops_diff_get(const struct hwprof_loops_diff *diff, size_t index)
{
	return &diff->changes[index];
}

static void put_side(struct json *json, const char *name,
		     const struct hwprof_loop *loop)
{
	if (!loop) {
		json_null(json, name);
		return;
	}
	json_open(json, name, '{');
	json_string(json, "build_id", loop->build_id);
	json_hex(json, "head", loop->head);
	json_hex(json, "tail", loop->tail);
	json_number(json, "share", loop->share);
	json_string(json, "share_of", loop->share_of);
	json_unsigned(json, "back_edges_seen", loop->back_edges_seen);
	json_unsigned(json, "entries_seen", loop->entries_seen);
	json_number(json, "trip", loop->trip);
	json_number(json, "trip_low", loop->trip_low);
	json_number(json, "trip_high", loop->trip_high);
	json_close(json, '}');
}

static void put_change(struct json *json,
		       const struct hwprof_loops_change *change)
{
	const struct hwprof_loop *loop = change->after ? change->after :
							 change->before;

	json_open(json, NULL, '{');
	json_string(json, "object", loop->object);
	json_string(json, "function", loop->function);
	json_string(json, "file", loop->file);
	if (loop->line)
		json_unsigned(json, "line", loop->line);
	else
		json_null(json, "line");
	json_number(json, "share_change", change->share);
	put_side(json, "before", change->before);
	put_side(json, "after", change->after);
	json_close(json, '}');
}

int hwprof_loops_diff_json(const struct hwprof_loops_diff *diff, size_t limit,
			   FILE *out)
{
	struct json json = { .out = out };
	size_t i;

	json_open(&json, NULL, '{');
	json_open(&json, "changes", '[');
	for (i = 0; i < diff->count && (!limit || i < limit); i++)
		put_change(&json, &diff->changes[i]);
	json_close(&json, ']');
	json_close(&json, '}');
	return fflush(out) || ferror(out) ? -EIO : 0;
}
