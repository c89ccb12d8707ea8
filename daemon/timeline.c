// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "log.h"
#include "timeline.h"
#include "wire.h"

enum {
	SECOND = 1000000000,
	LATE_SECONDS = 15,	/* for which a minute waits for windows */
	RETRY_SECONDS = 60,	/* after the store could not be written */
	POSTPONE_SECONDS = 2,	/* after no process could be started */
	RECENT_SECONDS = 600,	/* that stay in memory, if there is room */
	STUCK_SECONDS = 600,	/* that a minute waits to be stored at most */
	HEADS_AT_ONCE = 4,	/* windows whose heads are read at once */
};

struct recent {
	struct window window;
	struct parts parts;
	int64_t stored;		/* id of its minute in the store; 0: none */
	bool failed;		/* its minute could not be merged */
};

struct timeline {
	struct store *store;
	struct config config;
	struct recent *recent;	/* in the order of their begin */
	size_t count, room;
	int64_t offset;		/* without a store */
	int64_t retry;		/* no writing before that time */
	int64_t in_task;	/* minute that is being merged; -1: none */
	int64_t skip[STORE_LEVELS];	/* windows of the store up to this time
					 * cannot be merged */
	struct timeline_counts counts;
	uint64_t changes;	/* of stored windows that became others */
};

struct timeline *timeline_new(struct store *store, const struct config *config)
{
	struct timeline *timeline = calloc(1, sizeof(*timeline));

	if (!timeline)
		return NULL;
	timeline->store = store;
	timeline->config = *config;
	timeline->in_task = -1;
	timeline->offset = time(NULL) - (int64_t)(wire_now() / SECOND);
	return timeline;
}

void timeline_free(struct timeline *timeline)
{
	size_t i;

	if (!timeline)
		return;
	for (i = 0; i < timeline->count; i++)
		parts_free(&timeline->recent[i].parts);
	free(timeline->recent);
	free(timeline);
}

void timeline_configure(struct timeline *timeline, const struct config *config)
{
	timeline->config = *config;
	if (timeline->store)
		store_resize(timeline->store, config->store_mib);
}

int64_t timeline_now(const struct timeline *timeline)
{
	return timeline->store ? store_now(timeline->store) :
	       timeline->offset + (int64_t)(wire_now() / SECOND);
}

/* --- memory --------------------------------------------------------------- */

static int64_t minute_of(const struct window *window)
{
	return window->begin / 60 * 60;
}

static uint64_t memory_bytes(const struct timeline *timeline)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < timeline->count; i++)
		sum += parts_bytes(&timeline->recent[i].parts);
	return sum;
}

/* Drops the windows of the oldest minute. */
static void drop_minute(struct timeline *timeline)
{
	int64_t minute = minute_of(&timeline->recent[0].window);
	size_t count, i;

	for (count = 0; count < timeline->count &&
	     minute_of(&timeline->recent[count].window) == minute; count++) {
		timeline->counts.dropped += !timeline->recent[count].stored;
		parts_free(&timeline->recent[count].parts);
	}
	timeline->count -= count;
	timeline->changes++;
	for (i = 0; i < timeline->count; i++)
		timeline->recent[i] = timeline->recent[i + count];
}

/* The newest minute stays, so that there is always something to ask for. */
static void bound_memory(struct timeline *timeline)
{
	int64_t now = timeline_now(timeline);

	while (timeline->count) {
		const struct recent *oldest = &timeline->recent[0];
		bool old = (oldest->stored || oldest->failed) &&
			   minute_of(&oldest->window) < now - RECENT_SECONDS;

		if (!old && memory_bytes(timeline) <=
			    timeline->config.memory_mib << 20)
			return;
		if (minute_of(&oldest->window) == timeline->in_task ||
		    minute_of(&oldest->window) ==
		    minute_of(&timeline->recent[timeline->count - 1].window))
			return;
		drop_minute(timeline);
	}
}

static void add_totals(struct timeline *timeline, const struct parts *parts)
{
	size_t i;

	for (i = 0; i < parts->count; i++)
		part_totals_add(&timeline->counts.totals,
				&parts->all[i].head.totals);
}

/* Windows are of the past, and last a second at least. */
static struct window window_of(const struct timeline *timeline,
			       uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t now_ns = wire_now();
	int64_t now = timeline_now(timeline);
	struct window window = { .level = STORE_MEMORY, .wall = time(NULL) };

	if (end_ns > now_ns)
		end_ns = now_ns;
	if (begin_ns >= end_ns)
		begin_ns = end_ns - 1;
	window.begin = now - (int64_t)((now_ns - begin_ns) / SECOND);
	window.end = now - (int64_t)((now_ns - end_ns) / SECOND);
	if (window.end <= window.begin)
		window.begin = window.end - 1;
	return window;
}

int timeline_add(struct timeline *timeline, uint64_t begin_ns, uint64_t end_ns,
		 struct parts *parts)
{
	struct recent *all = array_grow(timeline->recent, &timeline->room,
					timeline->count + 1, sizeof(*all));
	struct window window = window_of(timeline, begin_ns, end_ns);
	size_t at;

	if (!all)
		return -ENOMEM;
	timeline->recent = all;
	for (at = timeline->count; at && all[at - 1].window.begin >
				   window.begin; at--)
		all[at] = all[at - 1];
	all[at] = (struct recent){ .window = window, .parts = *parts };
	timeline->count++;
	timeline->counts.received++;
	add_totals(timeline, parts);
	*parts = (struct parts){ .count = 0 };
	bound_memory(timeline);
	return 0;
}

/* --- merging -------------------------------------------------------------- */

/* Finds the oldest minute in memory that is over and not stored. */
static int due_in_memory(struct timeline *timeline, bool all,
			 struct timeline_task *task)
{
	int64_t now = timeline_now(timeline), minute = -1;
	int error = 0;
	size_t i;

	for (i = 0; i < timeline->count && !error; i++) {
		const struct recent *recent = &timeline->recent[i];

		if (recent->stored || recent->failed)
			continue;
		if (minute < 0)
			minute = minute_of(&recent->window);
		if (minute_of(&recent->window) != minute)
			break;
		if (!all && minute + 60 + LATE_SECONDS > now)
			return 0;
		error = parts_copy(&task->parts, &recent->parts, PARTS_ALL, "");
		task->recent++;
		task->window.wall = recent->window.wall;
	}
	if (error || minute < 0)
		return error;
	timeline->in_task = minute;
	task->window.level = STORE_MINUTE;
	task->window.begin = minute;
	task->window.end = minute + 60;
	return 1;
}

/* Windows of the store that are old enough to become a longer one. */
struct search {
	struct timeline *timeline;
	struct timeline_task *task;
	enum store_level level;		/* of the windows */
	int64_t length;			/* of what they become */
	int64_t before;			/* when it ends at the latest */
};

static int note_old(void *context, const struct window *window)
{
	struct search *search = context;
	struct timeline_task *task = search->task;
	int64_t begin = window->begin / search->length * search->length;
	int64_t *all;

	if (window->level != search->level)
		return 0;
	if (begin + search->length > search->before ||
	    (task->merged_count && begin != task->window.begin))
		return 1;
	all = reallocarray(task->merged, task->merged_count + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	task->merged = all;
	all[task->merged_count++] = window->id;
	task->window.level = search->level + 1;
	task->window.begin = begin;
	task->window.end = begin + search->length;
	task->window.wall = window->wall;
	return store_parts(search->timeline->store, window->id, PARTS_ALL, "",
			   &task->parts);
}

static int due_in_store(struct timeline *timeline, enum store_level level,
			int64_t age, struct timeline_task *task)
{
	struct search search = {
		timeline, task, level, store_level_seconds(level + 1),
		timeline_now(timeline) - age,
	};
	int error = store_windows(timeline->store, timeline->skip[level],
				  search.before, note_old, &search);

	return error < 0 ? error : !!task->merged_count;
}

static void free_task(struct timeline_task *task)
{
	parts_free(&task->parts);
	free(task->merged);
	*task = (struct timeline_task){ .merged_count = 0 };
}

int timeline_due(struct timeline *timeline, bool all,
		 struct timeline_task *task)
{
	const struct config *config = &timeline->config;
	int due;

	*task = (struct timeline_task){ .merged_count = 0 };
	if (!timeline->store || timeline_now(timeline) < timeline->retry)
		return 0;
	due = due_in_memory(timeline, all, task);
	if (!due && !all)
		due = due_in_store(timeline, STORE_MINUTE,
				   config->keep_minutes, task);
	if (!due && !all)
		due = due_in_store(timeline, STORE_TEN_MINUTES,
				   config->keep_ten_minutes, task);
	if (due <= 0)
		free_task(task);
	if (due < 0) {
		log_error("windows cannot be looked up for now: %s",
			  strerror(-due));
		timeline->retry = timeline_now(timeline) + RETRY_SECONDS;
	}
	return due;
}

/* Notes what became of the windows of a minute that were merged. */
static void note_minute(struct timeline *timeline, int64_t minute, int64_t id)
{
	size_t i;

	for (i = 0; i < timeline->count; i++) {
		struct recent *recent = &timeline->recent[i];

		if (minute_of(&recent->window) != minute || recent->stored)
			continue;
		recent->stored = id;
		recent->failed = !id;
	}
}

/* Windows that cannot be merged are not tried again. */
static void note_unmergeable(struct timeline *timeline,
			     const struct timeline_task *task)
{
	if (task->merged_count)
		timeline->skip[task->window.level - 1] = task->window.end;
	else
		note_minute(timeline, task->window.begin, 0);
}

static bool is_merged(const struct timeline_task *task, int64_t id)
{
	size_t i;

	for (i = 0; i < task->merged_count; i++)
		if (task->merged[i] == id)
			return true;
	return false;
}

/* Drops the windows in memory whose minutes are gone from the store. */
static void drop_merged(struct timeline *timeline,
			const struct timeline_task *task)
{
	size_t kept = 0, i;

	for (i = 0; i < timeline->count; i++) {
		struct recent *recent = &timeline->recent[i];

		if (is_merged(task, recent->stored))
			parts_free(&recent->parts);
		else
			timeline->recent[kept++] = *recent;
	}
	timeline->count = kept;
}

static void note_stored(struct timeline *timeline,
			const struct timeline_task *task)
{
	timeline->counts.merges++;
	timeline->changes += !!task->merged_count;
	if (task->merged_count)
		drop_merged(timeline, task);
	else
		note_minute(timeline, task->window.begin, task->window.id);
}

void timeline_finish(struct timeline *timeline, struct timeline_task *task,
		     const struct parts *merged)
{
	int error = merged ? store_write(timeline->store, &task->window, merged,
					 task->merged, task->merged_count) : 0;

	timeline->in_task = -1;
	if (!merged) {
		note_unmergeable(timeline, task);
	} else if (!error) {
		note_stored(timeline, task);
	} else {
		log_error("windows are not stored for now: %s",
			  store_error(timeline->store));
		timeline->retry = timeline_now(timeline) + RETRY_SECONDS;
	}
	free_task(task);
	bound_memory(timeline);
}

bool timeline_is_single(const struct timeline_task *task)
{
	return task->recent == 1;
}

void timeline_postpone(struct timeline *timeline, struct timeline_task *task)
{
	timeline->in_task = -1;
	timeline->retry = timeline_now(timeline) + POSTPONE_SECONDS;
	free_task(task);
}

/* --- reading -------------------------------------------------------------- */

/* Returns true if the windows that a window of the store is of are here. */
static bool is_in_memory(const struct timeline *timeline, int64_t id)
{
	size_t i;

	for (i = 0; i < timeline->count; i++)
		if (timeline->recent[i].stored == id)
			return true;
	return false;
}

static bool overlaps(const struct window *window, int64_t from, int64_t to)
{
	return window->end > from && window->begin < to;
}

struct reading {
	struct timeline *timeline;
	int kind;
	const char *build_id;
	struct parts *parts;
	store_head_fn fn;
	void *context;
};

/* A question must not fill the memory. */
static int check_bound(const struct parts *parts)
{
	return parts_bytes(parts) > TIMELINE_PARTS_MAX ? -EFBIG : 0;
}

/* Gives parts from @first on the time of their window. */
static void date_parts(struct parts *parts, size_t first,
		       const struct window *window)
{
	for (; first < parts->count; first++) {
		parts->all[first].from = window->begin;
		parts->all[first].to = window->end;
	}
}

static int read_parts(void *context, const struct window *window)
{
	struct reading *reading = context;
	size_t first = reading->parts->count;
	int error;

	if (is_in_memory(reading->timeline, window->id))
		return 0;
	error = store_parts(reading->timeline->store, window->id,
			    reading->kind, reading->build_id, reading->parts);
	date_parts(reading->parts, first, window);
	return error ? error : check_bound(reading->parts);
}

static int read_heads(void *context, const struct window *window)
{
	struct reading *reading = context;

	return is_in_memory(reading->timeline, window->id) ? 0 :
	       store_heads(reading->timeline->store, window, reading->fn,
			   reading->context);
}

int timeline_parts(struct timeline *timeline, int64_t from, int64_t to,
		   int kind, const char *build_id, struct parts *parts)
{
	struct reading reading = {
		.timeline = timeline,
		.kind = kind, .build_id = build_id, .parts = parts,
	};
	int error = 0;
	size_t i;

	if (timeline->store)
		error = store_windows(timeline->store, from, to, read_parts,
				      &reading);
	for (i = 0; i < timeline->count && !error; i++) {
		const struct recent *recent = &timeline->recent[i];
		size_t first = parts->count;

		if (!overlaps(&recent->window, from, to))
			continue;
		error = parts_copy(parts, &recent->parts, kind, build_id);
		date_parts(parts, first, &recent->window);
	}
	return error ? error : check_bound(parts);
}

static int recent_heads(struct timeline *timeline, int64_t from, int64_t to,
			store_head_fn fn, void *context)
{
	int error = 0;
	size_t i, j;

	for (i = 0; i < timeline->count && !error; i++) {
		const struct recent *recent = &timeline->recent[i];

		if (!overlaps(&recent->window, from, to))
			continue;
		for (j = 0; j < recent->parts.count && !error; j++)
			error = fn(context, &recent->window,
				   &recent->parts.all[j].head);
	}
	return error;
}

int timeline_heads(struct timeline *timeline, struct store_place *place,
		   int64_t from, int64_t to, store_head_fn fn, void *context)
{
	struct reading reading = {
		.timeline = timeline,
		.fn = fn, .context = context,
	};
	uint64_t before = place->count;
	int error = 0;

	if (timeline->store)
		error = store_windows_from(timeline->store, place, from, to,
					   HEADS_AT_ONCE, read_heads, &reading);
	if (error || place->count != before)
		return error ? error : 1;
	return recent_heads(timeline, from, to, fn, context);
}

uint64_t timeline_changes(const struct timeline *timeline)
{
	return timeline->changes;
}

bool timeline_is_stuck(const struct timeline *timeline)
{
	int64_t since = timeline_now(timeline) - STUCK_SECONDS;
	size_t i;

	/* A store that cannot be written now is tried again and again. */
	if (!timeline->store || timeline->retry > since)
		return false;
	for (i = 0; i < timeline->count; i++) {
		const struct recent *recent = &timeline->recent[i];

		if (!recent->stored && !recent->failed)
			return minute_of(&recent->window) + 60 < since;
	}
	return false;
}

void timeline_count(const struct timeline *timeline,
		    struct timeline_counts *counts)
{
	*counts = timeline->counts;
	counts->memory_windows = timeline->count;
	counts->memory_bytes = memory_bytes(timeline);
}
