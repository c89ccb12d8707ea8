// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "origin.h"

struct hwprof_diff {
	const struct diff_kind *kind;
	const void *profiles[2];	/* before, after */
	struct hwprof_change *changes;
	size_t count;
	struct hwprof_diff *procedures;	/* NULL: there are none of the kind */
};

struct thing {
	char *names[DIFF_NAMES];	/* NULL: it has none of that sort */
	uint64_t rank;
	size_t index;
};

/* The things of a profile that have no counterpart yet are open. */
struct side {
	struct thing *things;
	size_t count;
	struct thing **open;
	size_t open_count;
};

/* --- names -------------------------------------------------------------- */

/* The same number for the same name. */
static uint64_t number_of(const char *name)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	while (*name)
		hash = (hash ^ (unsigned char)*name++) * 0x100000001b3ULL;
	return hash | 1;
}

static int set_name(struct thing *thing, enum diff_name sort,
		    const struct diff_kind *kind, const void *profile,
		    uint64_t *above)
{
	char **name = &thing->names[sort];
	FILE *out;
	size_t size;
	bool named;

	out = open_memstream(name, &size);
	if (!out)
		return -ENOMEM;
	named = kind->name(profile, thing->index, sort, above, out);
	if (fclose(out))
		return -ENOMEM;
	if (kind->depth)
		above[kind->depth(profile, thing->index) + 1] =
			named ? number_of(*name) : 0;
	if (!named) {
		free(*name);
		*name = NULL;
	}
	return 0;
}

/* What is in a tree is named by what it is in, too, which comes before it. */
static int set_names(struct side *side, const struct diff_kind *kind,
		     const void *profile)
{
	uint64_t *above = calloc(side->count + 2, sizeof(*above));
	int error = above ? 0 : -ENOMEM;
	unsigned int sort;
	size_t i;

	for (sort = 0; sort < DIFF_NAMES; sort++)
		for (i = 0; !error && i < side->count; i++)
			error = set_name(&side->things[i], sort, kind, profile,
					 above);
	free(above);
	return error;
}

static int side_init(struct side *side, const struct diff_kind *kind,
		     const void *profile)
{
	size_t i;

	side->count = side->open_count = kind->count(profile);
	side->things = calloc(side->count + 1, sizeof(*side->things));
	side->open = calloc(side->count + 1, sizeof(*side->open));
	if (!side->things || !side->open)
		return -ENOMEM;
	for (i = 0; i < side->count; i++) {
		side->things[i].index = i;
		side->things[i].rank = kind->rank(profile, i);
		side->open[i] = &side->things[i];
	}
	return set_names(side, kind, profile);
}

static void side_free(struct side *side)
{
	size_t i;

	for (i = 0; side->things && i < side->count; i++) {
		unsigned int sort;

		for (sort = 0; sort < DIFF_NAMES; sort++)
			free(side->things[i].names[sort]);
	}
	free(side->things);
	free(side->open);
}

/* --- counterparts ------------------------------------------------------- */

/* Those without a name come last. */
static int compare_names(const struct thing *x, const struct thing *y,
			 enum diff_name sort)
{
	const char *a = x->names[sort], *b = y->names[sort];

	return a && b ? strcmp(a, b) : !a - !b;
}

static int compare_things(const void *a, const void *b, void *context)
{
	const struct thing *x = *(void *const *)a, *y = *(void *const *)b;
	int order = compare_names(x, y, *(enum diff_name *)context);

	return order ? order : compare_u64(x->rank, y->rank);
}

static double share_of(const struct hwprof_diff *diff, unsigned int side,
		       const struct thing *thing)
{
	double share = thing ? diff->kind->share(diff->profiles[side],
						 thing->index) : 0;

	return isnan(share) ? 0 : share;
}

static void add_change(struct hwprof_diff *diff, const struct thing *before,
		       const struct thing *after)
{
	double share = share_of(diff, 0, before);
	double share_after = share_of(diff, 1, after);

	diff->changes[diff->count++] = (struct hwprof_change){
		.before = before ? before->index : HWPROF_NOTHING,
		.after = after ? after->index : HWPROF_NOTHING,
		.share_before = share,
		.share_after = share_after,
		.share = share_after - share,
	};
}

/* Finds counterparts by names of one sort; what has none stays open. */
static void join(struct hwprof_diff *diff, struct side *before,
		 struct side *after, enum diff_name sort)
{
	size_t i = 0, j = 0, left = 0, right = 0;

	qsort_r(before->open, before->open_count, sizeof(*before->open),
		compare_things, &sort);
	qsort_r(after->open, after->open_count, sizeof(*after->open),
		compare_things, &sort);
	while (i < before->open_count && j < after->open_count) {
		struct thing *a = before->open[i], *b = after->open[j];
		int order = compare_names(a, b, sort);

		if (!order && a->names[sort])
			add_change(diff, before->open[i++], after->open[j++]);
		else if (order <= 0)
			before->open[left++] = before->open[i++];
		else
			after->open[right++] = after->open[j++];
	}
	while (i < before->open_count)
		before->open[left++] = before->open[i++];
	while (j < after->open_count)
		after->open[right++] = after->open[j++];
	before->open_count = left;
	after->open_count = right;
}

/* The largest first. */
static int compare_changes(const void *a, const void *b)
{
	const struct hwprof_change *x = a, *y = b;
	double less = fabs(y->share) - fabs(x->share);

	if (less)
		return less < 0 ? -1 : 1;
	if (x->after != y->after)
		return compare_u64(x->after, y->after);
	return compare_u64(x->before, y->before);
}

static void find_changes(struct hwprof_diff *diff, struct side *before,
			 struct side *after)
{
	unsigned int sort;
	size_t i;

	for (sort = 0; sort < DIFF_NAMES; sort++)
		join(diff, before, after, sort);
	for (i = 0; i < before->open_count; i++)
		add_change(diff, before->open[i], NULL);
	for (i = 0; i < after->open_count; i++)
		add_change(diff, NULL, after->open[i]);
	qsort(diff->changes, diff->count, sizeof(*diff->changes),
	      compare_changes);
}

static int make(struct hwprof_diff *diff, struct side sides[2])
{
	unsigned int i;

	for (i = 0; i < 2; i++)
		if (side_init(&sides[i], diff->kind, diff->profiles[i]))
			return -ENOMEM;
	diff->changes = calloc(sides[0].count + sides[1].count + 1,
			       sizeof(*diff->changes));
	if (!diff->changes)
		return -ENOMEM;
	find_changes(diff, &sides[0], &sides[1]);
	return 0;
}

static int make_list(struct hwprof_diff **result, const struct diff_kind *kind,
		     const void *before, const void *after)
{
	struct side sides[2] = { { .count = 0 }, { .count = 0 } };
	struct hwprof_diff *diff = calloc(1, sizeof(*diff));
	int error = -ENOMEM;

	if (diff) {
		diff->kind = kind;
		diff->profiles[0] = before;
		diff->profiles[1] = after;
		error = make(diff, sides);
	}
	side_free(&sides[0]);
	side_free(&sides[1]);
	if (error) {
		hwprof_diff_free(diff);
		diff = NULL;
	}
	*result = diff;
	return error;
}

int diff_make(struct hwprof_diff **result, const struct diff_kind *kind,
	      const void *before, const void *after)
{
	int error = make_list(result, kind, before, after);

	if (!error && kind->procedures)
		error = make_list(&(*result)->procedures, kind->procedures,
				  before, after);
	if (error) {
		hwprof_diff_free(*result);
		*result = NULL;
	}
	return error;
}

/* --- what the user sees ------------------------------------------------- */

void hwprof_diff_free(struct hwprof_diff *diff)
{
	if (!diff)
		return;
	hwprof_diff_free(diff->procedures);
	free(diff->changes);
	free(diff);
}

size_t hwprof_diff_count(const struct hwprof_diff *diff)
{
	return diff->count;
}

const struct hwprof_change *hwprof_diff_get(const struct hwprof_diff *diff,
					    size_t index)
{
	return &diff->changes[index];
}

const struct hwprof_diff *
hwprof_diff_procedures(const struct hwprof_diff *diff)
{
	return diff->procedures;
}

static void put_side(struct json *json, const char *name,
		     const struct hwprof_diff *diff, unsigned int side,
		     size_t index)
{
	if (index == HWPROF_NOTHING)
		json_null(json, name);
	else
		diff->kind->put(json, name, diff->profiles[side], index);
}

static void put_changes(struct json *json, const char *name,
			const struct hwprof_diff *diff, size_t limit)
{
	size_t i;

	json_open(json, name, '[');
	for (i = 0; i < diff->count && (!limit || i < limit); i++) {
		const struct hwprof_change *change = &diff->changes[i];

		json_open(json, NULL, '{');
		json_number(json, "share_change", change->share);
		put_side(json, "before", diff, 0, change->before);
		put_side(json, "after", diff, 1, change->after);
		json_close(json, '}');
	}
	json_close(json, ']');
}

int hwprof_diff_json(const struct hwprof_diff *diff, size_t limit, FILE *out)
{
	struct json json = { .out = out };

	json_open(&json, NULL, '{');
	put_changes(&json, "changes", diff, limit);
	if (diff->procedures)
		put_changes(&json, diff->kind->procedures_name,
			    diff->procedures, limit);
	json_close(&json, '}');
	return fflush(out) || ferror(out) ? -EIO : 0;
}
