// SPDX-License-Identifier: GPL-2.0-only
/* Rows as tracepoints. See row_trace.h. */
#define CREATE_TRACE_POINTS
#include "row_trace.h"
#include "session.h"

/*
 * Tell whoever listens to the tracepoint of a row's type that the row goes to a
 * ring. @header is its signed header; behind the header of @row is the rest.
 * Not in NMI.
 */
void row_trace(const struct hwprof_row *header, const void *row)
{
	switch (header->type) {
	case HWPROF_ROW_TOTALS:
		trace_hwprof_totals(header, row);
		break;
	case HWPROF_ROW_LOOP:
		trace_hwprof_loop(header, row);
		break;
	case HWPROF_ROW_CALL:
		trace_hwprof_call(header, row);
		break;
	case HWPROF_ROW_EDGE:
		trace_hwprof_edge(header, row);
		break;
	case HWPROF_ROW_PATH:
		trace_hwprof_path(header, row);
		break;
	case HWPROF_ROW_CONTEXT:
		trace_hwprof_context(header, row);
		break;
	case HWPROF_ROW_VALUE:
		trace_hwprof_value(header, row);
		break;
	case HWPROF_ROW_RANGE:
		trace_hwprof_range(header, row);
		break;
	}
}
