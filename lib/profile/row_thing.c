// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/hash.h"
#include "perfdata/file.h"
#include "row_thing.h"

static uint64_t mix_jumps(uint64_t hash, const struct hwprof_row_path *path)
{
	uint32_t i;

	for (i = 0; i < path->spelled; i++)
		hash = hash_mix(hash_mix(hash, path->jumps[i].from),
				path->jumps[i].to);
	return hash;
}

uint64_t row_thing(const struct hwprof_row *row)
{
	const struct hwprof_row_context *context = (const void *)row;
	const struct hwprof_row_range *range = (const void *)row;
	const struct hwprof_row_path *path = (const void *)row;
	const struct hwprof_row_edge *edge = (const void *)row;
	const struct hwprof_row_box *box = (const void *)row;
	struct hwprof_sample sample = { .row = row };
	uint64_t hash;

	row_describe(&sample);
	hash = hash_mix(hash_mix(0, row->type), sample.ip);
	switch (row->type) {
	case HWPROF_ROW_LOOP:		/* its tail moves while it grows */
		return hash;
	case HWPROF_ROW_CONTEXT:
		return hash_mix(hash, context->id);
	case HWPROF_ROW_EDGE:
		return hash_mix(hash_mix(hash, edge->to), edge->end);
	case HWPROF_ROW_PATH:
		hash = hash_mix(hash_mix(hash, path->end), path->target);
		return mix_jumps(hash, path);
	case HWPROF_ROW_RANGE:
		return hash_mix(hash, range->bits);
	case HWPROF_ROW_BOX:
		return hash_mix(hash_mix(hash, box->low),
				(uint64_t)box->code_bits << 32 | box->bits);
	}
	return hash_mix(hash, sample.addr);
}
