// SPDX-License-Identifier: GPL-2.0-only
/* All kinds of reports. Files of one kind do not know of the others. */
#include "report.h"

const struct report_kind *report_kind_of(enum hwprof_kind kind)
{
	static const struct report_kind *const kinds[HWPROF_KINDS] = {
#define KIND(constant, field, stem, rows)				\
		[HWPROF_KIND_##constant] = &report_##stem,
		HWPROF_KIND_TABLE(KIND)
#undef KIND
	};

	return kinds[kind];
}
