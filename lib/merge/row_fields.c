// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string.h>

#include "row_fields.h"

#define FIELD(type, member, rule)					\
	{ offsetof(struct hwprof_row_##type, member),			\
	  sizeof(((struct hwprof_row_##type *)NULL)->member), 1, FIELD_##rule }

static const struct row_field loop_fields[] = {
	FIELD(loop, head, PLACE),
	FIELD(loop, tail, EXTENT),
	FIELD(loop, back_edges, SUM),
	FIELD(loop, entries, SUM),
	FIELD(loop, executions, SUM),
	FIELD(loop, unclosed, SUM),
	FIELD(loop, trip_min, LEAST),
	FIELD(loop, trip_max, MOST),
	FIELD(loop, trip_recent, LATEST),
	FIELD(loop, tails, MOST),
	FIELD(loop, tolerance, BOUND),
	FIELD(loop, basis, MOST),
	FIELD(loop, sum_back_sq, SUM),
	FIELD(loop, sum_entry_sq, SUM),
	FIELD(loop, sum_cross, SUM),
	{ offsetof(struct hwprof_row_loop, trips), sizeof(uint32_t),
	  HWPROF_TRIP_BUCKETS, FIELD_SUM },
};

static const struct row_field time_fields[] = {
	FIELD(time, ip, PLACE),
	FIELD(time, windows, SUM),
};

static const struct row_field call_fields[] = {
	FIELD(call, site, PLACE),
	FIELD(call, callee, PLACE),
	FIELD(call, calls, SUM),
	FIELD(call, error, BOUND),
	FIELD(call, evicted, MOST),
	FIELD(call, sum_sq, SUM),
	FIELD(call, basis, MOST),
};

static const struct row_field edge_fields[] = {
	FIELD(edge, from, PLACE),
	FIELD(edge, to, PLACE),
	FIELD(edge, end, PLACE),
	FIELD(edge, kind, NAME),
	FIELD(edge, flags, NAME),
	FIELD(edge, count, SUM),
	FIELD(edge, mispredicted, SUM),
	FIELD(edge, cycles, SUM),
	FIELD(edge, error, BOUND),
	FIELD(edge, evicted, MOST),
	FIELD(edge, sum_sq, SUM),
	FIELD(edge, basis, MOST),
};

/* The jumps behind the row name it, too. */
static const struct row_field path_fields[] = {
	FIELD(path, start, PLACE),
	FIELD(path, end, PLACE),
	FIELD(path, target, PLACE),
	FIELD(path, length, NAME),
	FIELD(path, spelled, NAME),
	FIELD(path, flags, NAME),
	FIELD(path, count, SUM),
	FIELD(path, cycles, SUM),
	FIELD(path, basis, MOST),
};

/*
 * The id alone names a context. The other fields say the same in all rows of
 * one id.
 */
static const struct row_field context_fields[] = {
	FIELD(context, id, NAME),
	FIELD(context, parent, LATEST),
	FIELD(context, callee, LATEST),
	FIELD(context, site, LATEST),
	FIELD(context, target, LATEST),
	FIELD(context, kind, LATEST),
	FIELD(context, calls, SUM),
	FIELD(context, deeper, SUM),
	FIELD(context, branches, SUM),
	FIELD(context, basis, MOST),
};

#define FIELDS(row_type, of_kind, name, bytes)				\
	{ .type = HWPROF_ROW_##row_type, .kind = HWPROF_KIND_##of_kind,	\
	  .size = (bytes), .fields = name##_fields,			\
	  .count = sizeof(name##_fields) / sizeof(name##_fields[0]) }

static const struct row_fields all[] = {
	FIELDS(LOOP, LOOPS, loop, sizeof(struct hwprof_row_loop)),
	FIELDS(TIME, LOOPS, time, sizeof(struct hwprof_row_time)),
	FIELDS(CALL, CALLS, call, sizeof(struct hwprof_row_call)),
	FIELDS(EDGE, EDGES, edge, sizeof(struct hwprof_row_edge)),
	FIELDS(PATH, PATHS, path, sizeof(struct hwprof_row_path)),
	/* Metrics are left out. */
	FIELDS(CONTEXT, CCT, context, HWPROF_ROW_CONTEXT_SIZE_VER0),
};

const struct row_fields *row_fields_of(unsigned int type)
{
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].type == type)
			return &all[i];
	return NULL;
}

bool row_field_names(const struct row_field *field)
{
	return field->rule == FIELD_PLACE || field->rule == FIELD_NAME;
}

uint64_t row_get(const struct hwprof_row *row, const struct row_field *field,
		 size_t index)
{
	const char *at = (const char *)row + field->offset +
			 index * field->size;
	uint64_t value;
	uint32_t word;

	if (field->size == sizeof(value)) {
		memcpy(&value, at, sizeof(value));
		return value;
	}
	memcpy(&word, at, sizeof(word));
	return word;
}

void row_set(struct hwprof_row *row, const struct row_field *field,
	     size_t index, uint64_t value)
{
	char *at = (char *)row + field->offset + index * field->size;
	uint32_t word = value < UINT32_MAX ? value : UINT32_MAX;

	if (field->size == sizeof(value))
		memcpy(at, &value, sizeof(value));
	else
		memcpy(at, &word, sizeof(word));
}

static uint64_t combine(enum field_rule rule, uint64_t a, uint64_t b,
			bool sessions, bool later)
{
	switch (rule) {
	case FIELD_SUM:
		return a + b;
	case FIELD_LEAST:
		return a && (!b || a < b) ? a : b;
	case FIELD_EXTENT:
	case FIELD_MOST:
		return a > b ? a : b;
	case FIELD_LATEST:
		return b && (later || !a) ? b : a;
	case FIELD_BOUND:
		if (sessions)
			return a + b;
		return a > b ? a : b;
	case FIELD_PLACE:
	case FIELD_NAME:
		break;
	}
	return a;
}

void row_add(const struct row_fields *fields, struct hwprof_row *to,
	     const struct hwprof_row *from, bool sessions, bool later)
{
	size_t i, j;

	for (i = 0; i < fields->count; i++) {
		const struct row_field *field = &fields->fields[i];

		for (j = 0; j < field->count; j++)
			row_set(to, field, j,
				combine(field->rule, row_get(to, field, j),
					row_get(from, field, j), sessions,
					later));
	}
}
