// SPDX-License-Identifier: LGPL-2.1-or-later
#include <math.h>

#include "base/json.h"
#include "profile/json_common.h"
#include "loops.h"

static void put_place(struct json *json, const struct hwprof_loop *loop)
{
	json_string(json, "object", loop->object);
	json_string(json, "build_id", loop->build_id);
	json_string(json, "function", loop->function);
	json_unsigned_unless(json, "function_offset", loop->function_offset,
		   !loop->function);
	json_hex(json, "head", loop->head);
	json_hex(json, "tail", loop->tail);
	json_string(json, "file", loop->file);
	json_unsigned_unless(json, "line", loop->line, !loop->line);
}

static void put_counts(struct json *json, const struct hwprof_loop *loop)
{
	bool samples = !loop->basis;

	json_unsigned_unless(json, "entries", loop->entries, !loop->counted);
	json_unsigned_unless(json, "iterations", loop->iterations,
			     !loop->counted);
	json_unsigned_unless(json, "entries_seen", loop->entries_seen, samples);
	json_unsigned(json, "back_edges_seen", loop->back_edges_seen);
	json_number(json, "trip", loop->trip);
	json_number(json, "trip_low", loop->trip_low);
	json_number(json, "trip_high", loop->trip_high);
	json_number(json, "trip_recent", loop->trip_recent);
	json_unsigned_unless(json, "trip_min", loop->trip_min, !loop->trip_min);
	json_unsigned_unless(json, "trip_max", loop->trip_max, !loop->trip_max);
}

static void put_histogram(struct json *json, const struct hwprof_loop *loop)
{
	unsigned int i;

	if (!loop->basis) {
		json_null(json, "histogram");
		return;
	}
	json_open(json, "histogram", '[');
	for (i = 0; i < HWPROF_TRIP_BUCKETS; i++)
		json_unsigned(json, NULL, loop->histogram[i]);
	json_close(json, ']');
}

void loops_put(struct json *json, const char *name, const void *loops,
	       size_t index)
{
	const struct hwprof_loop *loop = hwprof_loops_get(loops, index);

	json_open(json, name, '{');
	put_place(json, loop);
	put_counts(json, loop);
	put_histogram(json, loop);
	json_number(json, "share", loop->share);
	json_number(json, "share_low", loop->share_low);
	json_number(json, "share_high", loop->share_high);
	json_string(json, "share_of", loop->share_of);
	json_string(json, "basis", json_basis_name(loop->basis));
	json_unsigned_unless(json, "instructions", loop->instructions,
			     !loop->instructions);
	if (loop->parent)
		json_hex(json, "parent", loop->parent->head);
	else
		json_null(json, "parent");
	json_unsigned(json, "depth", loop->depth);
	json_unsigned_unless(json, "tolerance", loop->tolerance, !loop->basis);
	if (loop->pid) {
		json_unsigned(json, "pid", loop->pid);
		json_string(json, "comm", loop->comm);
	}
	json_close(json, '}');
}

int loops_json(const struct hwprof_profile *profile,
	       const struct hwprof_json_options *options, FILE *out)
{
	const struct hwprof_loops *loops = (const void *)profile;
	struct json json = { .out = out };
	size_t i;

	json_open(&json, NULL, '{');
	json_open(&json, "loops", '[');
	for (i = 0; i < loops->count &&
		    (!options->limit || i < options->limit); i++)
		loops_put(&json, NULL, loops, i);
	json_close(&json, ']');
	return json_end(&json, profile);
}
