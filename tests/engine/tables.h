/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An engine's memory as the module manages it: tables that are merged into a
 * profile, and cursors of tasks; with an account of input and output.
 */
#ifndef TESTS_ENGINE_TABLES_H
#define TESTS_ENGINE_TABLES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engine/engine.h"

enum { TABLES_MAX = 3 };

struct tables {
	const struct engine_ops *engine;
	void *items[TABLES_MAX], *profile;
	unsigned int count;
	u64 produced;		/* units: counted by the test when it feeds
				 * them */
	u64 delivered;		/* and summed from rows */
};

static inline void *table_new(const struct engine_ops *engine, size_t size,
			      const struct engine_params *params)
{
	/* exact size, so that ASan notices one byte too many */
	void *table = calloc(1, size);

	assert_non_null(table);
	engine->table_init(table, size, params);
	return table;
}

static inline void *cursor_new(const struct engine_ops *engine, u32 tid)
{
	void *cursor = malloc(engine->cursor_size);

	assert_non_null(cursor);
	/* as if left by an exited task */
	memset(cursor, 0xa5, engine->cursor_size);
	engine->cursor_init(cursor, tid);
	return cursor;
}

static inline struct tables tables_make(const struct engine_ops *engine,
					const struct engine_params *params,
					unsigned int count, size_t table_size,
					size_t profile_size)
{
	struct tables tables = {
		.engine = engine, .count = count,
		.profile = table_new(engine, profile_size, params),
	};
	unsigned int i;

	assert_in_range(count, 1, TABLES_MAX);
	for (i = 0; i < count; i++)
		tables.items[i] = table_new(engine, table_size, params);
	return tables;
}

static inline void tables_free(struct tables *tables)
{
	unsigned int i;

	for (i = 0; i < tables->count; i++)
		free(tables->items[i]);
	free(tables->profile);
}

static inline u64 tables_evicted(const struct tables *tables)
{
	u64 sum = tables->engine->evicted(tables->profile);
	unsigned int i;

	for (i = 0; i < tables->count; i++)
		sum += tables->engine->evicted(tables->items[i]);
	return sum;
}

/* Asserts produced = delivered + evicted + pending. */
static inline void tables_account(const struct tables *tables)
{
	u64 pending = tables->engine->pending(tables->profile);
	unsigned int i;

	for (i = 0; i < tables->count; i++)
		pending += tables->engine->pending(tables->items[i]);
	assert_int_equal(tables->produced, tables->delivered + pending +
			 tables_evicted(tables));
}

/* Merges a whole table in steps of @limit, which leaves it as new. */
static inline void tables_retire(const struct tables *tables,
				 unsigned int number, size_t limit)
{
	const struct engine_ops *engine = tables->engine;
	void *table = tables->items[number];

	while (engine->merge(tables->profile, table, limit) == limit)
		tables_account(tables);
	tables_account(tables);
	assert_int_equal(engine->pending(table), 0);
	assert_int_equal(engine->evicted(table), 0);
}

/* The most things that rows() and forget() look at in one go. */
enum { TABLES_LOOKS = 37 };

struct tables_taker {
	engine_emit take;
	void *context;
	size_t rows;		/* since rows() was called */
};

static inline bool tables_take(void *context, const void *row, u64 ip, u64 addr,
			       u64 period)
{
	struct tables_taker *taker = context;

	taker->rows++;
	return taker->take(taker->context, row, ip, addr, period);
}

/* Reads all rows, however often some are refused, and a few in one go. */
static inline void tables_read(const struct tables *tables, engine_emit take,
			       void *context)
{
	const struct engine_ops *engine = tables->engine;
	struct tables_taker taker = { .take = take, .context = context };
	size_t parts = engine == &multi_engine ? ENGINE_COUNT : 1, at = 0;
	bool done;

	do {
		taker.rows = 0;
		done = engine->rows(tables->profile, 0, &at, TABLES_LOOKS,
				    tables_take, &taker);
		assert_true(taker.rows <= parts * TABLES_LOOKS);
		tables_account(tables);
	} while (!done);
	assert_int_equal(engine->pending(tables->profile), 0);
}

/* Forgets a space, a few things in one go. */
static inline void tables_forget(const struct engine_ops *engine, void *table,
				 u32 space)
{
	u64 units = engine->pending(table) + engine->evicted(table);
	size_t at = 0;

	while (!engine->forget(table, space, &at, TABLES_LOOKS))
		assert_int_equal(engine->pending(table) +
				 engine->evicted(table), units);
	assert_int_equal(engine->pending(table) + engine->evicted(table),
			 units);
}

/* Merges and reads everything. The rest was evicted. */
static inline void tables_finish(const struct tables *tables, engine_emit take,
				 void *context)
{
	unsigned int i;

	for (i = 0; i < tables->count; i++)
		tables_retire(tables, i, 100);
	tables_read(tables, take, context);
	assert_int_equal(tables->produced,
			 tables->delivered + tables_evicted(tables));
}

#endif /* TESTS_ENGINE_TABLES_H */
