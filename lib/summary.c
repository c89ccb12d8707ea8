// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>

#include "summary.h"

enum {
	TABLE_SHARE = 8,	/* the profile is so many times as large */
};

int summary_init(struct summary *summary, const struct engine_ops *engine,
		 const struct engine_params *params, size_t memory,
		 engine_emit emit, void *context)
{
	size_t table_size = memory / (TABLE_SHARE + 1) & ~(size_t)63;
	size_t profile_size = TABLE_SHARE * table_size;

	*summary = (struct summary){
		.engine = engine, .emit = emit, .context = context,
		.table = calloc(1, table_size),
		.profile = calloc(1, profile_size),
		.totals.memory = memory,
		.totals.basis = params->basis,
	};
	if (!summary->table || !summary->profile) {
		summary_destroy(summary);
		return -ENOMEM;
	}
	engine->table_init(summary->table, table_size, params);
	engine->table_init(summary->profile, profile_size, params);
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

static void merge(struct summary *summary)
{
	summary->engine->merge(summary->profile, summary->table, SIZE_MAX);
}

/*
 * Rows are asked for before the profile may have to evict: what they told of is
 * not lost with it.
 */
void summary_retire(struct summary *summary)
{
	merge(summary);
	if (++summary->merged == TABLE_SHARE)
		give_rows(summary);
}

void summary_finish(struct summary *summary)
{
	struct hwprof_row_totals *totals = &summary->totals;

	merge(summary);
	give_rows(summary);
	totals->evicted = summary->engine->evicted(summary->profile);
	totals->pending = summary->engine->pending(summary->profile);
}
