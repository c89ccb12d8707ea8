// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "diff_paths.h"
#include "profile.h"
#include "base/row_origin.h"

struct hwprof_diff {
	const struct diff_kind *kind;
	const void *profiles[2];	/* before, after */
	struct hwprof_change *changes;
	size_t count;
	struct hwprof_diff *procedures;	/* NULL: the kind has none */
};

struct thing {
	char *name;			/* of the present sort; NULL: it has
					 * none */
	uint64_t rank;
	size_t index;
	bool joined;			/* it has a counterpart */
	bool single;			/* no other open thing has its name */
};

/* The things of one profile. Those without a counterpart yet are open. */
struct side {
	struct thing *things;
	size_t count;
	struct thing **open;
	size_t open_count;
	struct diff_paths paths;	/* of objects, in the things' names */
	bool moved;			/* shorten moved paths in names */
};

/* --- names -------------------------------------------------------------- */

/* Returns the same number for the same name. */
static uint64_t number_of(const char *name)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	while (*name)
		hash = (hash ^ (unsigned char)*name++) * 0x100000001b3ULL;
	return hash | 1;
}

static int set_name(const struct side *side, struct thing *thing,
		    enum diff_name sort, const struct diff_kind *kind,
		    const void *profile, uint64_t *above)
{
	FILE *out;
	size_t size;
	bool named;

	free(thing->name);
	thing->name = NULL;
	out = open_memstream(&thing->name, &size);
	if (!out)
		return -ENOMEM;
	named = kind->name(profile, thing->index, sort, above, out);
	if (fclose(out))
		return -ENOMEM;
	if (side->moved)
		diff_paths_shorten(&side->paths, thing->name);
	if (kind->depth)
		above[kind->depth(profile, thing->index) + 1] =
			named ? number_of(thing->name) : 0;
	if (!named) {
		free(thing->name);
		thing->name = NULL;
	}
	return 0;
}

/*
 * Names all open things. In a tree it names all things, because a thing's name
 * contains the name of its ancestor, which comes before it.
 */
static int set_names(struct side *side, enum diff_name sort,
		     const struct diff_kind *kind, const void *profile)
{
	uint64_t *above = calloc(side->count + 2, sizeof(*above));
	int error = above ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; !error && i < side->count; i++)
		if (kind->depth || !side->things[i].joined)
			error = set_name(side, &side->things[i], sort, kind,
					 profile, above);
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
	return 0;
}

static void side_free(struct side *side)
{
	size_t i;

	for (i = 0; side->things && i < side->count; i++)
		free(side->things[i].name);
	free(side->things);
	free(side->open);
	diff_paths_free(&side->paths);
}

/* --- counterparts ------------------------------------------------------- */

/* Compares names. Things without a name come last. */
static int compare_names(const struct thing *x, const struct thing *y)
{
	return x->name && y->name ? strcmp(x->name, y->name) :
				    !x->name - !y->name;
}

static int compare_things(const void *a, const void *b)
{
	const struct thing *x = *(void *const *)a, *y = *(void *const *)b;
	int order = compare_names(x, y);

	return order ? order : compare_u64(x->rank, y->rank);
}

static double share_of(const struct hwprof_diff *diff, unsigned int side,
		       const struct thing *thing)
{
	double share = thing ? diff->kind->share(diff->profiles[side],
						 thing->index) : 0;

	return isnan(share) ? 0 : share;
}

/* How far an interval reaches below and above a share. */
struct reach {
	double below, above;
};

static struct reach reach_of(const struct hwprof_diff *diff, unsigned int side,
			     const struct thing *thing)
{
	double share = share_of(diff, side, thing), low = NAN, high = NAN;

	if (thing && diff->kind->interval)
		diff->kind->interval(diff->profiles[side], thing->index, &low,
				     &high);
	return (struct reach){ share - low, high - share };
}

/* How much a profile could see: in windows or samples, or else in events. */
static double size_of(const void *profile)
{
	const struct hwprof_totals *totals = hwprof_profile_totals(profile);

	return totals->windows ? totals->windows : totals->events;
}

/*
 * Returns the same as far as something is concerned that may have run while
 * distances were longest.
 */
static double least_size_of(const void *of)
{
	const struct hwprof_profile *profile = of;

	if (profile->distances.weighed && profile->totals.windows)
		return profile->windows / profile->heaviest;
	return profile->distances.sessions ?
	       size_of(of) / profile->distances.factor : size_of(of);
}

/*
 * Returns the reach of a thing that profile @side lacks, and the other profile
 * has with @share and @reach. The width of that interval tells how many
 * independent windows found the thing; @expected would find it here. If 3 are
 * expected, none finds it with a chance of 5 %.
 */
static struct reach reach_of_none(const struct hwprof_diff *diff,
				  unsigned int side, double share,
				  struct reach reach)
{
	double width = log1p(reach.above / share) / 1.96;
	double expected = least_size_of(diff->profiles[side]) /
			  size_of(diff->profiles[!side]) / (width * width);

	return (struct reach){ 0, fmin(3 * share / expected, 1) };
}

/* The recordings are independent, so their variances add up. */
static void set_interval(struct hwprof_change *change, struct reach before,
			 struct reach after)
{
	change->share_low = change->share - hypot(after.below, before.above);
	change->share_high = change->share + hypot(after.above, before.below);
}

static void add_change(struct hwprof_diff *diff, const struct thing *before,
		       const struct thing *after, enum hwprof_match match)
{
	struct hwprof_change *change = &diff->changes[diff->count++];
	struct reach reach[2];

	*change = (struct hwprof_change){
		.before = before ? before->index : HWPROF_NOTHING,
		.after = after ? after->index : HWPROF_NOTHING,
		.share_before = share_of(diff, 0, before),
		.share_after = share_of(diff, 1, after),
		.match = match,
	};
	change->share = change->share_after - change->share_before;
	reach[0] = reach_of(diff, 0, before);
	reach[1] = reach_of(diff, 1, after);
	if (!before)
		reach[0] = reach_of_none(diff, 0, change->share_after,
					 reach[1]);
	if (!after)
		reach[1] = reach_of_none(diff, 1, change->share_before,
					 reach[0]);
	set_interval(change, reach[0], reach[1]);
}

/*
 * Returns true if no other open thing has the name of thing @at. The open
 * things are sorted by name.
 */
static bool is_single(const struct side *side, size_t at)
{
	const struct thing *thing = side->open[at];

	return (!at || compare_names(side->open[at - 1], thing)) &&
	       (at + 1 == side->open_count ||
		compare_names(thing, side->open[at + 1]));
}

/*
 * Returns true for sorts of names that are vague, and join only unique things.
 */
static bool is_weak(enum diff_name sort)
{
	return sort == DIFF_CALLS || sort == DIFF_NESTING;
}

static const enum hwprof_match matches[DIFF_NAMES] = {
	[DIFF_ADDRESS] = HWPROF_MATCH_ADDRESS,
	[DIFF_CODE] = HWPROF_MATCH_CODE,
	[DIFF_CALLS] = HWPROF_MATCH_CALLS,
	[DIFF_SOURCE] = HWPROF_MATCH_LINE,
	[DIFF_OFFSET] = HWPROF_MATCH_OFFSET,
	[DIFF_NESTING] = HWPROF_MATCH_NESTING,
};

/* Sorts open things by name, and marks unique names. */
static void sort_open(struct side *side)
{
	size_t i;

	qsort(side->open, side->open_count, sizeof(*side->open),
	      compare_things);
	for (i = 0; i < side->open_count; i++)
		side->open[i]->single = is_single(side, i);
}

static bool is_pair(const struct thing *a, const struct thing *b,
		    enum diff_name sort)
{
	return a->name && (!is_weak(sort) || (a->single && b->single));
}

/* Removes joined things from the list of open ones. */
static void close_joined(struct side *side)
{
	size_t i, left = 0;

	for (i = 0; i < side->open_count; i++)
		if (!side->open[i]->joined)
			side->open[left++] = side->open[i];
	side->open_count = left;
}

/* Finds counterparts by one sort of names. */
static void join(struct hwprof_diff *diff, struct side *before,
		 struct side *after, enum diff_name sort)
{
	size_t i = 0, j = 0;

	sort_open(before);
	sort_open(after);
	while (i < before->open_count && j < after->open_count) {
		struct thing *a = before->open[i], *b = after->open[j];
		int order = compare_names(a, b);

		if (!order && is_pair(a, b, sort)) {
			add_change(diff, a, b, matches[sort]);
			a->joined = b->joined = true;
			j++;
		}
		if (order <= 0)
			i++;
		else
			j++;
	}
	close_joined(before);
	close_joined(after);
}

/* Compares changes: the largest first. */
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

static int name_sides(struct hwprof_diff *diff, struct side *before,
		      struct side *after, enum diff_name sort)
{
	return set_names(before, sort, diff->kind, diff->profiles[0]) ||
	       set_names(after, sort, diff->kind, diff->profiles[1]) ?
	       -ENOMEM : 0;
}

/* Collects the paths in the names of all things. They are of DIFF_ADDRESS. */
static int find_paths(struct side *side)
{
	int error = 0;
	size_t i;

	for (i = 0; !error && i < side->count; i++)
		if (side->things[i].name)
			error = diff_paths_add(&side->paths,
					       side->things[i].name);
	return error;
}

/*
 * Finds counterparts by address. Objects that only one side has are known by
 * their file names from then on.
 */
static int join_addresses(struct hwprof_diff *diff, struct side *before,
			  struct side *after)
{
	int moved;

	if (name_sides(diff, before, after, DIFF_ADDRESS) ||
	    find_paths(before) || find_paths(after))
		return -ENOMEM;
	join(diff, before, after, DIFF_ADDRESS);
	moved = diff_paths_compare(&before->paths, &after->paths);
	if (moved <= 0)
		return moved;
	before->moved = after->moved = true;
	if (name_sides(diff, before, after, DIFF_ADDRESS))
		return -ENOMEM;
	join(diff, before, after, DIFF_ADDRESS);
	return 0;
}

/* Tries all sorts of names, as long as both sides have open things. */
static int join_all(struct hwprof_diff *diff, struct side *before,
		    struct side *after)
{
	unsigned int sort;

	if (join_addresses(diff, before, after))
		return -ENOMEM;
	for (sort = DIFF_ADDRESS + 1; sort < DIFF_NAMES; sort++) {
		if (!before->open_count || !after->open_count)
			break;
		if (name_sides(diff, before, after, sort))
			return -ENOMEM;
		join(diff, before, after, sort);
	}
	return 0;
}

static int find_changes(struct hwprof_diff *diff, struct side *before,
			struct side *after)
{
	size_t i;

	if (join_all(diff, before, after))
		return -ENOMEM;
	for (i = 0; i < before->open_count; i++)
		add_change(diff, before->open[i], NULL, HWPROF_MATCH_NONE);
	for (i = 0; i < after->open_count; i++)
		add_change(diff, NULL, after->open[i], HWPROF_MATCH_NONE);
	qsort(diff->changes, diff->count, sizeof(*diff->changes),
	      compare_changes);
	return 0;
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
	return find_changes(diff, &sides[0], &sides[1]);
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

const char *hwprof_match_name(enum hwprof_match match)
{
	static const char *const names[] = {
		[HWPROF_MATCH_ADDRESS] = "address",
		[HWPROF_MATCH_CODE] = "code",
		[HWPROF_MATCH_CALLS] = "calls",
		[HWPROF_MATCH_LINE] = "line",
		[HWPROF_MATCH_OFFSET] = "offset",
		[HWPROF_MATCH_NESTING] = "nesting",
	};

	return match <= HWPROF_MATCH_NESTING ? names[match] : NULL;
}

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
		json_number(json, "share_change_low", change->share_low);
		json_number(json, "share_change_high", change->share_high);
		json_string(json, "match", hwprof_match_name(change->match));
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
