// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>

#include "json_common.h"

const char *json_basis_name(enum hwprof_basis basis)
{
	switch (basis) {
	case HWPROF_BASIS_EXACT:
		return "exact";
	case HWPROF_BASIS_BRANCHES:
		return "branches";
	case HWPROF_BASIS_TIME:
		return "time";
	}
	return "samples";
}

void json_unsigned_unless(struct json *json, const char *name, uint64_t value,
			  bool unknown)
{
	if (unknown)
		json_null(json, name);
	else
		json_unsigned(json, name, value);
}

static void json_overhead(struct json *json, const struct hwprof_totals *totals)
{
	double share = hwprof_overhead(totals);

	if (share < 0) {
		json_null(json, "overhead");
		return;
	}
	json_open(json, "overhead", '{');
	json_number(json, "share", share);
	json_unsigned(json, "cost_ns", totals->cost_ns);
	json_unsigned(json, "task_ns", totals->task_ns);
	if (totals->budget_permille)
		json_unsigned(json, "budget_permille", totals->budget_permille);
	else
		json_null(json, "budget_permille");
	json_close(json, '}');
}

void json_code(struct json *json, const char *name,
	       const struct hwprof_code *code)
{
	json_open(json, name, '{');
	json_string(json, "object", code->object);
	json_string(json, "build_id", code->build_id);
	json_string(json, "function", code->function);
	json_unsigned_unless(json, "function_offset", code->function_offset,
			     !code->function);
	json_hex(json, "address", code->address);
	json_string(json, "file", code->file);
	json_unsigned_unless(json, "line", code->line, !code->line);
	json_close(json, '}');
}

static void put_distances(struct json *json,
			  const struct hwprof_distances *distances)
{
	if (!distances) {
		json_null(json, "distances");
		return;
	}
	json_open(json, "distances", '{');
	json_unsigned(json, "sessions", distances->sessions);
	json_unsigned(json, "lengthened", distances->lengthened);
	json_unsigned(json, "shortened", distances->shortened);
	json_string(json, "unit", distances->unit);
	json_number(json, "asked", distances->asked);
	json_number(json, "longest", distances->longest);
	json_number(json, "factor", distances->factor);
	json_bool(json, "weighed", distances->weighed);
	json_close(json, '}');
}

static void put_totals(struct json *json, const struct hwprof_profile *profile)
{
	const struct hwprof_totals *totals = &profile->totals;
	unsigned int source, kind;

	json_open(json, "totals", '{');
	json_unsigned(json, "events", totals->events);
	json_unsigned(json, "lost", totals->lost);
	json_unsigned(json, "evicted", totals->evicted);
	json_unsigned(json, "lost_events", totals->lost_events);
	json_unsigned(json, "gaps", totals->gaps);
	json_unsigned(json, "sessions", totals->sessions);
	json_unsigned(json, "produced", totals->produced);
	json_unsigned(json, "delivered", totals->delivered);
	json_unsigned(json, "pending", totals->pending);
	json_unsigned(json, "windows", totals->windows);
	json_unsigned(json, "unmeasured", totals->unmeasured);
	json_unsigned(json, "lost_records", totals->lost_records);
	json_unsigned(json, "rows", totals->rows);
	json_unsigned(json, "samples", totals->samples);
	json_open(json, "sources", '[');
	for (source = 0; source < 32; source++)
		if (totals->sources >> source & 1)
			json_string(json, NULL, hwprof_source_name(source));
	json_close(json, ']');
	json_open(json, "kinds", '[');
	for (kind = 0; kind < HWPROF_KINDS; kind++)
		if (totals->kinds >> kind & 1)
			json_string(json, NULL, hwprof_kind_name(kind));
	json_close(json, ']');
	json_overhead(json, totals);
	put_distances(json, hwprof_profile_distances(profile));
	json_close(json, '}');
}

void json_warnings(struct json *json, const char *name,
		   const struct hwprof_profile *profile)
{
	const char *warning;
	size_t i;

	json_open(json, name, '[');
	for (i = 0; (warning = warnings_get(&profile->warnings, i)); i++)
		json_string(json, NULL, warning);
	json_close(json, ']');
}

static void put_masks(struct json *json, const struct hwprof_profile *profile)
{
	const char *mask;
	size_t i;

	json_open(json, "masks", '[');
	for (i = 0; (mask = hwprof_profile_mask(profile, i)); i++)
		json_string(json, NULL, mask);
	json_close(json, ']');
}

int json_end(struct json *json, const struct hwprof_profile *profile)
{
	put_totals(json, profile);
	put_masks(json, profile);
	json_warnings(json, "warnings", profile);
	json_close(json, '}');
	return fflush(json->out) || ferror(json->out) ? -EIO : 0;
}
