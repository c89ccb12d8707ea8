// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <string.h>

#include "kinds.h"
#include "event_kinds.h"

/* The engine that a kind of profile is learnt by. */
static const unsigned char engine_of[HWPROF_KINDS] = {
#define KIND(constant, field, stem, rows)				\
	[HWPROF_KIND_##constant] = ENGINE_##field,
	HWPROF_KIND_TABLE(KIND)
#undef KIND
};

/* Reports have the names of the events' fields. */
static const char *const names[HWPROF_KINDS] = {
#define KIND(constant, field, stem, rows)				\
	[HWPROF_KIND_##constant] = #field,
	HWPROF_KIND_TABLE(KIND)
#undef KIND
};

const char *hwprof_kind_name(enum hwprof_kind kind)
{
	return kind < HWPROF_KINDS ? names[kind] : NULL;
}

int hwprof_kind_of(const char *name)
{
	int kind;

	for (kind = 0; kind < HWPROF_KINDS; kind++)
		if (!strcmp(names[kind], name))
			return kind;
	return -EINVAL;
}

unsigned int event_kinds_of(const uint64_t words[CONFIG_WORDS])
{
	unsigned int engines = config_engines(words);
	unsigned int kinds = 0, kind;

	for (kind = 0; kind < HWPROF_KINDS; kind++)
		kinds |= (engines >> engine_of[kind] & 1) << kind;
	return kinds;
}

bool event_kind_has_row(enum hwprof_kind kind, const struct hwprof_row *row)
{
	static const unsigned int rows_of[HWPROF_KINDS] = {
#define KIND(constant, field, stem, rows)	[HWPROF_KIND_##constant] = rows,
		HWPROF_KIND_TABLE(KIND)
#undef KIND
	};

	return row->type < 32 && rows_of[kind] >> row->type & 1;
}

const char *event_kinds_names(unsigned int kinds, char *text)
{
	size_t used = 0;
	int kind;

	*text = 0;
	for (kind = 0; kind < HWPROF_KINDS; kind++) {
		if (!(kinds >> kind & 1))
			continue;
		used += snprintf(text + used, EVENT_KINDS_TEXT - used, "%s%s",
				 !used ? "" : kinds >> kind > 1 ? ", " :
				 " and ", hwprof_kind_name(kind));
	}
	return text;
}

const char *event_kinds_units(unsigned int kinds, const char *units,
			   char *text)
{
	char names[EVENT_KINDS_TEXT];

	if (!event_kinds_several(kinds))
		return units;
	snprintf(text, EVENT_KINDS_TEXT, "units of %.100s",
		 event_kinds_names(kinds, names));
	return text;
}
