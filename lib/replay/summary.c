// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>

#include "summary.h"

enum {
	TABLE_SHARE	= 8,	/* size of the profile in tables */
	FEW_TABLES	= 2,	/* the same if only one table is merged */
	SPARE		= 4,	/* times what that table's content needs */
	LEAST_PROFILE	= 256 << 10,
};

int summary_init(struct summary *summary, const struct engine_ops *engine,
		 const struct engine_params *params, size_t memory,
		 engine_emit emit, void *context)
{
	size_t table_size = memory / (TABLE_SHARE + 1) & ~(size_t)63;

	*summary = (struct summary){
		.engine = engine, .emit = emit, .context = context,
		.table = calloc(1, table_size),
		.profile = calloc(TABLE_SHARE, table_size),
		.table_size = table_size,
		.params = *params,
		.totals.memory = memory,
		.totals.basis = params->basis,
	};
	if (!summary->table || !summary->profile) {
		summary_destroy(summary);
		return -ENOMEM;
	}
	engine->table_init(summary->table, table_size, params);
	return 0;
}

void summary_destroy(struct summary *summary)
{
	free(summary->table);
	free(summary->profile);
}

static bool give(void *context, const void *row, u64 ip, u64 addr, u64 period)
{
	struct summary *summary = context;

	summary->totals.delivered += period;
	return summary->emit(summary->context, row, ip, addr, period);
}

static void give_rows(struct summary *summary)
{
	size_t at = 0;

	engine_settle(summary->engine, summary->profile, 0);
	summary->engine->rows(summary->profile, 0, &at, give, summary);
	summary->merged = 0;
}

/* Returns the size that a profile of the only table needs. */
static size_t size_for_one(const struct summary *summary)
{
	const struct engine_ops *engine = summary->engine;
	size_t most = FEW_TABLES * summary->table_size, size;

	if (!engine->filled || engine->evicted(summary->table))
		return most;
	size = summary->table_size / ENGINE_FULL * SPARE *
	       (engine->filled(summary->table) + 1);
	size = size > LEAST_PROFILE ? size & ~(size_t)63 : LEAST_PROFILE;
	return size < most ? size : most;
}

/*
 * Merges the table. The profile is initialised at the @size that it needs,
 * because rows() visits all of it.
 */
static void merge(struct summary *summary, size_t size)
{
	if (!summary->begun)
		summary->engine->table_init(summary->profile, size,
					    &summary->params);
	summary->begun = true;
	summary->engine->merge(summary->profile, summary->table, SIZE_MAX);
}

/*
 * Produces rows before the profile may evict: evicted entries have then been
 * reported.
 */
void summary_retire(struct summary *summary)
{
	merge(summary, TABLE_SHARE * summary->table_size);
	if (++summary->merged == TABLE_SHARE)
		give_rows(summary);
}

void summary_finish(struct summary *summary)
{
	struct hwprof_row_totals *totals = &summary->totals;

	merge(summary, size_for_one(summary));
	give_rows(summary);
	totals->evicted = summary->engine->evicted(summary->profile);
	totals->pending = summary->engine->pending(summary->profile);
}
