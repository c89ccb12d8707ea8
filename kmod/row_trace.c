// SPDX-License-Identifier: GPL-2.0-only
/* Rows as tracepoints. See row_trace.h. */
#include <linux/perf_event.h>
#include <linux/trace_events.h>

#include "right.h"
#include "session.h"

/*
 * Rows tell about programs of all users, and what is in their memory. Counts
 * with a filter of fields tell that, too. Perf holds a lock that a fork takes
 * under those of an exec, so that right_attach_all() cannot be called. Perf has
 * asked for the children of an event when it asked for the event. Kernels
 * without tracing do not ask.
 */
static int __maybe_unused row_trace_may_open(struct trace_event_call *call,
					     struct perf_event *event)
{
	return event->parent || right_read_all() ? 0 : -EACCES;
}

/*
 * Users can open the tracepoints before the module's own code runs, so that the
 * right is part of what TRACE_EVENT() defines: it sets print_fmt.
 */
#define print_fmt	perf_perm = row_trace_may_open, .print_fmt
#define CREATE_TRACE_POINTS
#include "row_trace.h"
#undef print_fmt

/*
 * Tell whoever listens to the tracepoint of a row's type that the row is made
 * for a ring. @header is its signed header; behind the header of @row is the
 * rest. Not in NMI.
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
