// SPDX-License-Identifier: LGPL-2.1-or-later
#include "subjects.h"

#define KIND(kind)	(1U << HWPROF_KIND_##kind)

enum {
#define FIELD_BIT(name, word, low, high, what)	FIELD_BIT_##name = (low),
	HWPROF_FIELDS(FIELD_BIT)
#undef FIELD_BIT
};

unsigned int subjects_of(uint64_t config)
{
	static const unsigned char bits[HWPROF_KINDS] = {
		[HWPROF_KIND_LOOPS] = FIELD_BIT_loops,
		[HWPROF_KIND_RANGES] = FIELD_BIT_ranges,
		[HWPROF_KIND_CALLS] = FIELD_BIT_calls,
		[HWPROF_KIND_CCT] = FIELD_BIT_cct,
		[HWPROF_KIND_PATHS] = FIELD_BIT_paths,
		[HWPROF_KIND_VALUES] = FIELD_BIT_values,
		[HWPROF_KIND_EDGES] = FIELD_BIT_edges,
	};
	unsigned int subjects = 0, kind;

	for (kind = 0; kind < HWPROF_KINDS; kind++)
		subjects |= (config >> bits[kind] & 1) << kind;
	return subjects;
}

unsigned int subjects_together(void)
{
	return KIND(LOOPS) | KIND(CALLS) | KIND(PATHS) | KIND(CCT) |
	       KIND(EDGES);
}

bool subject_has_row(enum hwprof_kind kind, const struct hwprof_row *row)
{
	switch (row->type) {
	case HWPROF_ROW_LOOP:
	case HWPROF_ROW_TIME:
		return kind == HWPROF_KIND_LOOPS;
	case HWPROF_ROW_RANGE:
	case HWPROF_ROW_BOX:
		return kind == HWPROF_KIND_RANGES;
	case HWPROF_ROW_CALL:
		return kind == HWPROF_KIND_CALLS;
	case HWPROF_ROW_CONTEXT:
		return kind == HWPROF_KIND_CCT;
	case HWPROF_ROW_PATH:
		return kind == HWPROF_KIND_PATHS;
	case HWPROF_ROW_VALUE:
		return kind == HWPROF_KIND_VALUES;
	case HWPROF_ROW_EDGE:
		return kind == HWPROF_KIND_EDGES;
	}
	return false;
}

const char *subjects_names(unsigned int subjects, char *text)
{
	size_t used = 0;
	int kind;

	*text = 0;
	for (kind = 0; kind < HWPROF_KINDS; kind++) {
		if (!(subjects >> kind & 1))
			continue;
		used += snprintf(text + used, SUBJECTS_TEXT - used, "%s%s",
				 !used ? "" : subjects >> kind > 1 ? ", " :
				 " and ", hwprof_kind_name(kind));
	}
	return text;
}

const char *subjects_units(unsigned int subjects, const char *units,
			   char *text)
{
	char names[SUBJECTS_TEXT];

	if (!subjects_several(subjects))
		return units;
	snprintf(text, SUBJECTS_TEXT, "units of %.100s",
		 subjects_names(subjects, names));
	return text;
}
