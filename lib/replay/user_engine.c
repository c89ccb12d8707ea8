// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>

#include "user_engine.h"

enum {
	TABLE_SHARE	= 8,	/* size of the profile in tables */
	FEW_TABLES	= 2,	/* the same if only one table is merged */
	SPARE		= 4,	/* times what that table's content needs */
	LEAST_PROFILE	= 256 << 10,
};

int user_engine_init(struct user_engine *engine, const struct engine_ops *ops,
		     const struct engine_params *params, size_t memory,
		     engine_emit emit, void *context)
{
	size_t table_size = memory / (TABLE_SHARE + 1) & ~(size_t)63;

	*engine = (struct user_engine){
		.ops = ops, .emit = emit, .context = context,
		.table = calloc(1, table_size),
		.table_size = table_size,
		.params = *params,
		.totals.memory = memory,
		.totals.basis = params->basis,
	};
	if (!engine->table)
		return -ENOMEM;
	ops->table_init(engine->table, table_size, params);
	return 0;
}

void user_engine_destroy(struct user_engine *engine)
{
	free(engine->table);
	free(engine->profile);
}

static bool give(void *context, const void *row, u64 ip, u64 addr, u64 period)
{
	struct user_engine *engine = context;

	engine->totals.delivered += period;
	return engine->emit(engine->context, row, ip, addr, period);
}

static void give_rows(struct user_engine *engine)
{
	size_t at = 0;

	engine_settle(engine->ops, engine->profile, 0);
	engine->ops->rows(engine->profile, 0, &at, SIZE_MAX, give, engine);
	engine->merged = 0;
}

/* Returns the size that a profile of the only table needs. */
static size_t size_for_one(const struct user_engine *engine)
{
	const struct engine_ops *ops = engine->ops;
	size_t most = FEW_TABLES * engine->table_size, size;

	if (!ops->filled || ops->evicted(engine->table))
		return most;
	size = engine->table_size / ENGINE_FULL * SPARE *
	       (ops->filled(engine->table) + 1);
	size = size > LEAST_PROFILE ? size & ~(size_t)63 : LEAST_PROFILE;
	return size < most ? size : most;
}

/*
 * Merges the table. The profile gets the @size that it needs, because rows()
 * visits all of it.
 */
static int merge(struct user_engine *engine, size_t size)
{
	if (!engine->profile) {
		engine->profile = calloc(1, size);
		if (!engine->profile)
			return -ENOMEM;
		engine->ops->table_init(engine->profile, size,
					&engine->params);
	}
	engine->ops->merge(engine->profile, engine->table, SIZE_MAX);
	return 0;
}

/*
 * Produces rows before the profile may evict: evicted entries have then been
 * reported.
 */
int user_engine_retire(struct user_engine *engine)
{
	int error = merge(engine, TABLE_SHARE * engine->table_size);

	if (!error && ++engine->merged == TABLE_SHARE)
		give_rows(engine);
	return error;
}

int user_engine_finish(struct user_engine *engine)
{
	struct hwprof_row_totals *totals = &engine->totals;
	int error = merge(engine, size_for_one(engine));

	if (error)
		return error;
	give_rows(engine);
	totals->evicted = engine->ops->evicted(engine->profile);
	totals->pending = engine->ops->pending(engine->profile);
	return 0;
}
