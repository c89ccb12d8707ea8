/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common parts of the fuzz targets of all engines: tables of CPUs, the profile
 * that they are merged into, cursors of tasks, and an account, which is checked
 * after each step. Each target includes it once, and defines `fuzzed` and the
 * possible rows.
 */
#ifndef HWPROF_FUZZ_ENGINE_H
#define HWPROF_FUZZ_ENGINE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/window.h"

enum { FUZZ_TABLES = 2, FUZZ_TASKS = 4, FUZZ_RECORDS = 8 };

static const struct engine_ops *const fuzzed;

static struct {
	void *tables[FUZZ_TABLES], *profile, *cursors[FUZZ_TASKS];
	struct engine_params params;
	u64 produced, delivered;
	unsigned int refuse;	/* not 0: every third row is */
} run;

/* The last branches, newest first. */
static struct window_branch last[FUZZ_RECORDS];
static u8 last_kinds[FUZZ_RECORDS];

static void fail(const char *what)
{
	fprintf(stderr, "%s\n", what);
	abort();
}

/* Makes empty tables and cursors, before each input. */
static void fuzz_begin(size_t table_size, size_t profile_size,
		       const struct engine_params *params)
{
	unsigned int i;

	memset(&run, 0, sizeof(run));
	memset(last, 0, sizeof(last));
	memset(last_kinds, 0, sizeof(last_kinds));
	run.params = *params;
	for (i = 0; i < FUZZ_TABLES; i++) {
		run.tables[i] = calloc(1, table_size);
		fuzzed->table_init(run.tables[i], table_size, params);
	}
	run.profile = calloc(1, profile_size);
	fuzzed->table_init(run.profile, profile_size, params);
	for (i = 0; i < FUZZ_TASKS && fuzzed->cursor_init; i++) {
		run.cursors[i] = malloc(fuzzed->cursor_size);
		fuzzed->cursor_init(run.cursors[i], i);
	}
}

static void fuzz_end(void)
{
	unsigned int i;

	for (i = 0; i < FUZZ_TASKS; i++)
		free(run.cursors[i]);
	for (i = 0; i < FUZZ_TABLES; i++)
		free(run.tables[i]);
	free(run.profile);
}

static inline u64 fuzz_evicted(void)
{
	u64 sum = fuzzed->evicted(run.profile);
	unsigned int i;

	for (i = 0; i < FUZZ_TABLES; i++)
		sum += fuzzed->evicted(run.tables[i]);
	return sum;
}

static void account(void)
{
	u64 rest = fuzz_evicted() + fuzzed->pending(run.profile);
	unsigned int i;

	for (i = 0; i < FUZZ_TABLES; i++)
		rest += fuzzed->pending(run.tables[i]);
	if (run.produced != run.delivered + rest)
		fail("the account does not add up");
}

static void retire(unsigned int table, size_t limit)
{
	while (fuzzed->merge(run.profile, run.tables[table], limit) == limit)
		account();
	account();
	if (fuzzed->pending(run.tables[table]))
		fail("a merged table is not empty");
}

/*
 * Feeds an event, with a task's cursor. Retires a crowded table when it asks
 * for it, unless it must be @patient.
 */
static void feed_one(unsigned int table, unsigned int task,
		     const struct stream_event *event, bool patient)
{
	run.produced += fuzzed->unit(&run.params, event);
	if (!fuzzed->feed(run.tables[table], run.cursors[task], event) &&
	    !patient)
		retire(table, 64);
}

static inline void remember(const struct stream_event *event)
{
	if (!stream_is_branch(event->kind))
		return;
	memmove(last + 1, last, sizeof(last) - sizeof(last[0]));
	memmove(last_kinds + 1, last_kinds, sizeof(last_kinds) - 1);
	last[0] = (struct window_branch){ .from = event->from,
					  .to = event->to };
	last_kinds[0] = event->kind;
}

/* Feeds the last branches as a window, which was seen @times times. */
static inline void feed_last(unsigned int table, u32 space, u32 times)
{
	struct window_counts counts = { 0 };
	struct window window;
	bool room;

	window_begin(&window, last, last_kinds, FUZZ_RECORDS, space);
	window.times = times;
	room = fuzzed->feed_window(run.tables[table], &window, &counts);
	if (window_next(&window))
		fail("a part of a window is left over");
	run.produced += counts.units;
	account();
	if (!room)
		retire(table, 64);
}

/* Tells whether this row is refused. If not, counts it as delivered. */
static bool refuses(u64 period)
{
	if (run.refuse && !(++run.refuse % 3))
		return true;
	run.delivered += period;
	return false;
}

static void read_rows(engine_emit take)
{
	size_t at = 0;

	engine_settle(fuzzed, run.profile, 0);
	fuzzed->rows(run.profile, 0, &at, ~0UL, take, NULL);
	account();
}

/* Acts after an event, as the high nibble of its byte tells. */
static void act(unsigned int what, unsigned int table, size_t limit, u32 space,
		engine_emit take)
{
	switch (what) {
	case 1:
		retire(table, limit);
		break;
	case 2:
		read_rows(take);
		break;
	case 3:
		run.refuse ^= 1;
		break;
	case 4:
		retire(table, 1000);
		engine_forget(fuzzed, run.profile, space);
		account();
		break;
	}
}

/* Reads all remaining rows at the end. */
static void read_all(engine_emit take)
{
	unsigned int i;

	run.refuse = 0;
	for (i = 0; i < FUZZ_TABLES; i++)
		retire(i, 1000);
	read_rows(take);
	if (fuzzed->pending(run.profile))
		fail("rows are missing");
}

#endif /* HWPROF_FUZZ_ENGINE_H */
