// SPDX-License-Identifier: LGPL-2.1-or-later
#include "subjects.h"

/* The engine that a kind of profile is learnt by. */
static const unsigned char engine_of[HWPROF_KINDS] = {
	[HWPROF_KIND_LOOPS] = ENGINE_loops,
	[HWPROF_KIND_RANGES] = ENGINE_ranges,
	[HWPROF_KIND_CALLS] = ENGINE_calls,
	[HWPROF_KIND_CCT] = ENGINE_cct,
	[HWPROF_KIND_PATHS] = ENGINE_paths,
	[HWPROF_KIND_VALUES] = ENGINE_values,
	[HWPROF_KIND_EDGES] = ENGINE_edges,
};

unsigned int subjects_of(const uint64_t words[CONFIG_WORDS])
{
	unsigned int engines = config_engines(words);
	unsigned int subjects = 0, kind;

	for (kind = 0; kind < HWPROF_KINDS; kind++)
		subjects |= (engines >> engine_of[kind] & 1) << kind;
	return subjects;
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
