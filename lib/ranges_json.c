// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>

#include "json_common.h"
#include "ranges.h"

static void put_range(struct json *json, const struct hwprof_ranges *ranges,
		      const struct hwprof_range *range)
{
	json_open(json, NULL, '{');
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

int hwprof_ranges_json(const struct hwprof_ranges *ranges, FILE *out)
{
	struct json json = { .out = out };
	const char *warning;
	size_t i;

	json_open(&json, NULL, '{');
	json_string(&json, "of", hwprof_range_of_name(ranges->of));
	json_number(&json, "hot", ranges->hot);
	json_open(&json, "ranges", '[');
	for (i = 0; i < ranges->count; i++)
		put_range(&json, ranges, &ranges->ranges[i]);
	json_close(&json, ']');
	json_totals(&json, &ranges->totals);
	json_open(&json, "warnings", '[');
	for (i = 0; (warning = hwprof_ranges_warning(ranges, i)); i++)
		json_string(&json, NULL, warning);
	json_close(&json, ']');
	json_close(&json, '}');
	return fflush(out) || ferror(out) ? -EIO : 0;
}
