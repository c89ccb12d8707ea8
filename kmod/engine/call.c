// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * hwprof/calls/: how often each call site called each procedure (Mousa, Krintz:
 * HPS, Hybrid Profiling Support, sections 5 and 6.1: hot call pairs). The calls
 * of a method are those of its pairs, which a reader adds up.
 *
 * Pairs are in sets of seven, by a keyed hash. A new pair takes a way that is
 * free, or that of the pair with the fewest calls in its set: space-saving
 * (Metwally, Agrawal, El Abbadi: Efficient Computation of Frequent and Top-k
 * Elements in Data Streams, section 3), in steps that do not depend on how many
 * pairs there are.
 *
 * Beyond that:
 *
 * - A new pair does not take over the count of the one that it replaces, but
 *   starts with its own. What no row has told of that count is evicted.
 * - What a pair may have lost so is known all the same: a set remembers the
 *   most that any that it gave up may have lost (`floor`), and a pair may have
 *   lost as much before it came. So it had its count at least, and at most that
 *   and its `error`. In a table, floor is never above a seventh of the set's
 *   calls: a pair that has more of them stays.
 * - Tables are merged. A pair that is not in one may have been given up there.
 */
#include "call.h"
#include "window.h"
#include "window_feed.h"

enum { WAYS = 7 };

/* A cache line. */
struct call_set {
	u64 key[WAYS];		/* 0: free */
	u64 floor;		/* calls that no row will tell of a pair that is
				 * not here, at most */
};

struct call_pair {
	u64 site;
	u64 callee;
	u64 count;		/* calls that no row has told */
	u64 error;		/* others that none will, at most; never above
				 * its set's floor */
	u64 sum_sq;		/* windows: sum of its calls in each, squared */
	u32 space;
	u32 window;		/* the last one that it was in, */
	u32 tally;		/* its calls there, */
	u32 times;		/* and how often that was seen */
};

struct call_table {
	struct call_set *sets;
	struct call_pair *pairs;	/* WAYS for each set */
	u32 set_count;
	u32 basis;
	u64 seed[2];
	u64 pending, evicted;
	u32 used;		/* ways; when half are, it wants to be merged */
	u32 merged;		/* sets that merge() is through with */
	u32 window;		/* that the calls are of, */
	u32 times;		/* and how often it was seen */
};

static void call_table_init(void *memory, size_t size,
			    const struct engine_params *params)
{
	size_t header = (sizeof(struct call_table) + 63) & ~(size_t)63;
	struct call_table *table = memory;

	memset(table, 0, sizeof(*table));
	table->basis = params->basis;
	table->seed[0] = params->seed;
	table->seed[1] = (params->seed ^ HASH_PRIME) * HASH_PRIME;
	table->times = 1;
	table->set_count = min((size - header) /
			       (sizeof(struct call_set) +
				WAYS * sizeof(struct call_pair)),
			       (size_t)U32_MAX);
	table->sets = memory + header;
	table->pairs = memory + header +
		       table->set_count * sizeof(struct call_set);
}

/* Pairs are of what happens, wherever its task is. */
static void call_cursor_init(void *cursor, u32 tid)
{
}

static unsigned int call_unit(const struct engine_params *params,
			      const struct stream_event *event)
{
	return event->kind == STREAM_CALL;
}

/* --- sets -------------------------------------------------------------------- */

/* Users choose addresses, but not which of them meet in a set. */
static u64 pair_key(const struct call_table *table, u32 space, u64 site,
		    u64 callee)
{
	u64 pair = hash_product(site ^ table->seed[0], callee ^ table->seed[1]);

	return hash_product(pair ^ space, HASH_PRIME ^ table->seed[1]) | 1;
}

/* However many sets there are, the keys of one are a range. */
static u32 set_of(const struct call_table *table, u64 key)
{
	return (key >> 32) * table->set_count >> 32;
}

static struct call_pair *pair_at(const struct call_table *table, u32 set,
				 unsigned int way)
{
	return &table->pairs[(size_t)set * WAYS + way];
}

static bool pair_is(const struct call_pair *pair, u32 space, u64 site,
		    u64 callee)
{
	return pair->site == site && pair->callee == callee &&
	       pair->space == space;
}

static struct call_pair *pair_find(const struct call_table *table, u64 key,
				   u32 space, u64 site, u64 callee)
{
	u32 at = set_of(table, key);
	const struct call_set *set = &table->sets[at];
	unsigned int way;

	for (way = 0; way < WAYS; way++)
		if (set->key[way] == key &&
		    pair_is(pair_at(table, at, way), space, site, callee))
			return pair_at(table, at, way);
	return NULL;
}

/* What its going would cost. What rows have told is not lost. */
static u64 heat(const struct call_pair *pair)
{
	return pair->count ? pair->count + pair->error : 0;
}

/* Its calls are given up, but for those that were told. */
static void give_up(struct call_table *table, struct call_pair *pair)
{
	table->evicted += pair->count;
	table->pending -= pair->count;
}

/* A way that is free, or that is made so. */
static unsigned int make_room(struct call_table *table, u32 at)
{
	struct call_set *set = &table->sets[at];
	struct call_pair *pair;
	unsigned int way, coldest = 0;

	for (way = 0; way < WAYS; way++) {
		if (!set->key[way]) {
			table->used++;
			return way;
		}
		if (heat(pair_at(table, at, way)) <
		    heat(pair_at(table, at, coldest)))
			coldest = way;
	}
	pair = pair_at(table, at, coldest);
	set->floor = max(set->floor, pair->count + pair->error);
	give_up(table, pair);
	return coldest;
}

static noinline struct call_pair *pair_add(struct call_table *table, u64 key,
					   u32 space, u64 site, u64 callee)
{
	u32 at = set_of(table, key);
	struct call_set *set = &table->sets[at];
	u64 error = set->floor;		/* it is not the one that goes now */
	unsigned int way = make_room(table, at);
	struct call_pair *pair = pair_at(table, at, way);

	set->key[way] = key;
	*pair = (struct call_pair){
		.site = site, .callee = callee, .space = space, .error = error,
		.window = table->window - 1,
	};
	return pair;
}

static struct call_pair *pair_get(struct call_table *table, u32 space,
				  u64 site, u64 callee)
{
	u64 key = pair_key(table, space, site, callee);
	struct call_pair *pair = pair_find(table, key, space, site, callee);

	return likely(pair) ? pair :
	       pair_add(table, key, space, site, callee);
}

static bool has_room(const struct call_table *table)
{
	return table->used <= table->set_count * (WAYS / 2);
}

/* --- calls ------------------------------------------------------------------- */

/* The window that the pair was in last is over. */
static void close_window(struct call_pair *pair)
{
	pair->sum_sq += (u64)pair->times * pair->tally * pair->tally;
	pair->tally = 0;
}

static void count_in_window(const struct call_table *table,
			    struct call_pair *pair)
{
	if (pair->window != table->window) {
		close_window(pair);
		pair->window = table->window;
		pair->times = table->times;
	}
	pair->tally++;
}

void call_count(struct call_table *table, u32 space, u64 site, u64 callee)
{
	struct call_pair *pair = pair_get(table, space, site, callee);

	pair->count += table->times;
	table->pending += table->times;
	if (table->basis != HWPROF_BASIS_EXACT)
		count_in_window(table, pair);
}

/* Windows of bursts begin with a gap. */
bool call_feed(void *memory, void *cursor,
		      const struct stream_event *event)
{
	struct call_table *table = memory;

	if (event->kind == STREAM_GAP)
		table->window++;
	if (event->kind != STREAM_CALL)
		return true;
	call_count(table, event->space, event->from, event->to);
	return has_room(table);
}

void call_window_begin(struct call_table *table, u32 times)
{
	table->window++;
	table->times = times;
}

bool call_window_end(struct call_table *table)
{
	table->times = 1;
	return has_room(table);
}

static bool call_knows_window(void *memory, struct window *window)
{
	struct call_table *table = memory;
	const struct stream_event *event;

	while ((event = window_next(window)))
		if (event->kind == STREAM_CALL &&
		    !pair_find(table, pair_key(table, event->space,
					       event->from, event->to),
			       event->space, event->from, event->to))
			return false;
	return true;
}

/* --- from a table into a profile --------------------------------------------- */

/*
 * The set's keys are @table's @at'th. Any pair that has such a key and is not
 * there may have had so many calls there; those that are will take it back.
 */
static void raise_errors(struct call_table *profile,
			 const struct call_table *table, u32 at, u64 floor)
{
	u64 sets = table->set_count;
	u32 first = (u64)at * profile->set_count / sets;
	u32 last = ((u64)(at + 1) * profile->set_count - 1) / sets;
	unsigned int way;

	for (; first <= last; first++) {
		struct call_set *set = &profile->sets[first];

		set->floor += floor;
		for (way = 0; way < WAYS; way++)
			if (set->key[way])
				pair_at(profile, first, way)->error += floor;
	}
}

static void take(struct call_table *profile, struct call_table *table,
		 struct call_pair *from, u64 floor)
{
	struct call_pair *to = pair_get(profile, from->space, from->site,
					from->callee);

	close_window(from);
	to->count += from->count;
	to->sum_sq += from->sum_sq;
	to->error -= floor - from->error;
	profile->pending += from->count;
	table->pending -= from->count;
}

/* Items are sets. */
static size_t call_merge(void *memory, void *table_memory, size_t limit)
{
	struct call_table *profile = memory, *table = table_memory;
	unsigned int way;
	size_t taken;

	for (taken = 0; taken < limit; taken++) {
		u32 at = table->merged;
		struct call_set *set = &table->sets[at];

		if (at == table->set_count || !table->used)
			break;
		table->merged++;
		if (set->floor)
			raise_errors(profile, table, at, set->floor);
		for (way = 0; way < WAYS; way++) {
			if (!set->key[way])
				continue;
			table->used--;
			take(profile, table, pair_at(table, at, way),
			     set->floor);
		}
		memset(set, 0, sizeof(*set));
	}
	if (taken == limit)
		return taken;
	profile->evicted += table->evicted;
	table->evicted = 0;
	table->merged = 0;
	return taken;
}

/* --- rows -------------------------------------------------------------------- */

static bool emit_pair(struct call_table *table, struct call_pair *pair,
		      engine_emit emit, void *context)
{
	const struct hwprof_row_call row = {
		.row.type = HWPROF_ROW_CALL,
		.row.size = sizeof(row),
		.row.space = pair->space,
		.site = pair->site,
		.callee = pair->callee,
		.calls = pair->count,
		.error = pair->error,
		.evicted = table->evicted,
		.sum_sq = pair->sum_sq,
		.basis = table->basis,
	};

	if (!emit(context, &row, row.site, row.callee, row.calls))
		return false;
	table->pending -= pair->count;
	pair->count = 0;
	pair->sum_sq = 0;
	return true;
}

static bool call_rows(void *memory, u32 space, size_t *at, engine_emit emit,
		      void *context)
{
	struct call_table *table = memory;
	size_t ways = (size_t)table->set_count * WAYS;

	for (; *at < ways; ++*at) {
		struct call_pair *pair = &table->pairs[*at];

		if (!table->sets[*at / WAYS].key[*at % WAYS] || !pair->count ||
		    (space && pair->space != space))
			continue;
		if (!emit_pair(table, pair, emit, context))
			return false;
	}
	return true;
}

static void call_sample(const struct engine_params *params,
			const struct stream_event *event, u64 period,
			struct engine_sample *sample)
{
	struct hwprof_row_call *row = &sample->call;

	memset(row, 0, sizeof(*row));
	row->row.type = HWPROF_ROW_CALL;
	row->row.size = sizeof(*row);
	sample->ip = row->site = event->from;
	sample->addr = row->callee = event->to;
	row->calls = period;
	row->basis = HWPROF_BASIS_EXACT;
}

static void call_forget(void *memory, u32 space)
{
	struct call_table *table = memory;
	unsigned int way;
	u32 at;

	for (at = 0; table->used && at < table->set_count; at++) {
		struct call_set *set = &table->sets[at];

		for (way = 0; way < WAYS; way++) {
			struct call_pair *pair = pair_at(table, at, way);

			if (!set->key[way] || pair->space != space)
				continue;
			give_up(table, pair);
			set->key[way] = 0;
			table->used--;
		}
	}
}

static u64 call_evicted(const void *memory)
{
	return ((const struct call_table *)memory)->evicted;
}

static u64 call_pending(const void *memory)
{
	return ((const struct call_table *)memory)->pending;
}

const struct engine_ops call_engine = {
	.name		= "calls",
	.cursor_size	= 0,
	.table_min	= 32 * 1024,
	.table_init	= call_table_init,
	.cursor_init	= call_cursor_init,
	.unit		= call_unit,
	.feed		= call_feed,
	.feed_window	= call_feed_window,
	.knows_window	= call_knows_window,
	.merge		= call_merge,
	.rows		= call_rows,
	.sample		= call_sample,
	.forget		= call_forget,
	.evicted	= call_evicted,
	.pending	= call_pending,
};
