// SPDX-License-Identifier: LGPL-2.1-or-later
#include "profile/json_common.h"
#include "ranges.h"

static void put_code(struct json *json, const struct hwprof_span *code)
{
	json_open(json, "code", '{');
	json_string(json, "object", code->object);
	json_string(json, "build_id", code->build_id);
	json_hex(json, "low", code->low);
	json_hex(json, "high", code->high);
	json_unsigned(json, "bits", code->bits);
	json_string(json, "function", code->function);
	json_unsigned_unless(json, "function_offset", code->function_offset,
			     !code->function);
	json_string(json, "last_function", code->last_function);
	json_unsigned_unless(json, "last_offset", code->last_offset,
			     !code->last_function);
	json_close(json, '}');
}

void ranges_put(struct json *json, const char *name, const void *profile,
		size_t index)
{
	const struct hwprof_ranges *ranges = profile;
	const struct hwprof_range *range = &ranges->ranges[index];

	json_open(json, name, '{');
	if (hwprof_range_of_pairs(ranges->of))
		put_code(json, &range->code);
	json_string(json, "object", range->object);
	json_string(json, "build_id", range->build_id);
	json_hex(json, "low", range->low);
	json_hex(json, "high", range->high);
	json_unsigned(json, "bits", range->bits);
	json_string(json, "function", range->function);
	json_unsigned_unless(json, "function_offset", range->function_offset,
			     !range->function);
	json_string(json, "last_function", range->last_function);
	json_unsigned_unless(json, "last_offset", range->last_offset,
			     !range->last_function);
	json_unsigned(json, "least", range->least);
	json_unsigned(json, "most", range->most);
	json_unsigned(json, "own", range->own);
	json_number(json, "share", range->share);
	json_string(json, "basis", json_basis_name(range->basis));
	if (range->parent)
		json_unsigned(json, "parent", range->parent - ranges->ranges);
	else
		json_null(json, "parent");
	json_unsigned(json, "depth", range->depth);
	if (range->pid) {
		json_unsigned(json, "pid", range->pid);
		json_string(json, "comm", range->comm);
	}
	json_close(json, '}');
}

int ranges_json(const struct hwprof_profile *profile,
		const struct hwprof_json_options *options, FILE *out)
{
	const struct hwprof_ranges *ranges = (const void *)profile;
	struct json json = { .out = out };
	size_t i;

	json_open(&json, NULL, '{');
	json_string(&json, "of", hwprof_range_of_name(ranges->of));
	json_number(&json, "hot", ranges->hot);
	json_open(&json, "ranges", '[');
	for (i = 0; i < ranges->count; i++)
		ranges_put(&json, NULL, ranges, i);
	json_close(&json, ']');
	return json_end(&json, profile);
}
