/* SPDX-License-Identifier: GPL-2.0-only */
/* The parameters of an event: HWPROF_FIELDS, as the module reads them. */
#ifndef HWPROF_FIELD_H
#define HWPROF_FIELD_H

#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/perf_event.h>

#include "engine/joint.h"

/* Newer kernels have a macro of this name, for other fields: it is not used here. */
#undef field_get

enum field {
#define X(name, word, low, high, text)	FIELD_##name,
	HWPROF_FIELDS(X)
#undef X
	FIELD_COUNT,
};

struct field_place {
	const char *name;
	u8 word, low, high;
};

static const struct field_place field_places[] = {
#define X(name, word, low, high, text)	{ #name, word, low, high },
	HWPROF_FIELDS(X)
#undef X
};

static inline u64 field_word(const struct perf_event_attr *attr, int word)
{
	return word == 0 ? attr->config :
	       word == 1 ? attr->config1 : attr->config2;
}

static inline u64 field_get(const struct perf_event_attr *attr,
			    enum field field)
{
	const struct field_place *place = &field_places[field];

	return (field_word(attr, place->word) &
		GENMASK_ULL(place->high, place->low)) >> place->low;
}

/* Bits of neighbours in a word, from @first to @last. */
static inline u64 field_bits(enum field first, enum field last)
{
	return GENMASK_ULL(field_places[last].high, field_places[first].low);
}

/* Bits of the word that belong to some field. */
static inline u64 fields_of_word(int word)
{
	u64 mask = 0;
	int i;

	for (i = 0; i < FIELD_COUNT; i++)
		if (field_places[i].word == word)
			mask |= GENMASK_ULL(field_places[i].high,
					    field_places[i].low);
	return mask;
}

/* Whom it leaves out, as one number. */
static inline u64 attr_exclude(const struct perf_event_attr *attr)
{
	return attr->exclude_user | attr->exclude_kernel << 1 |
	       attr->exclude_hv << 2 | attr->exclude_idle << 3 |
	       attr->exclude_host << 4 | attr->exclude_guest << 5;
}

/* What the attr names, of what can be learnt together: engine_params.parts. */
static inline u32 field_parts(const struct perf_event_attr *attr)
{
	return field_get(attr, FIELD_loops) << JOINT_LOOPS |
	       field_get(attr, FIELD_calls) << JOINT_CALLS |
	       field_get(attr, FIELD_paths) << JOINT_PATHS |
	       field_get(attr, FIELD_cct) << JOINT_CCT |
	       field_get(attr, FIELD_edges) << JOINT_EDGES;
}

/* The engine that the attr names, of those that there are; NULL: none. */
static inline const struct engine_ops *
field_engine(const struct perf_event_attr *attr)
{
	if (hweight32(field_parts(attr)) > 1)
		return &joint_engine;
	if (field_get(attr, FIELD_loops))
		return &loop_engine;
	if (field_get(attr, FIELD_calls))
		return &call_engine;
	if (field_get(attr, FIELD_ranges))
		return &range_engine;
	if (field_get(attr, FIELD_cct))
		return &cct_engine;
	if (field_get(attr, FIELD_paths))
		return &path_engine;
	if (field_get(attr, FIELD_edges))
		return &edge_engine;
	if (field_get(attr, FIELD_values))
		return &value_engine;
	if (field_get(attr, FIELD_branches))
		return &branch_engine;
	return NULL;
}

/* What the attr asks for can only be learnt from loads and stores. */
static inline bool field_wants_accesses(const struct perf_event_attr *attr)
{
	switch (field_get(attr, FIELD_range_of)) {
	case HWPROF_RANGE_IP:
		return field_engine(attr)->accesses;
	case HWPROF_RANGE_CALLEE:
		return false;
	}
	return true;
}

#endif /* HWPROF_FIELD_H */
