// SPDX-License-Identifier: LGPL-2.1-or-later
/* Helpers that all parts of a session use. */
#include <stdarg.h>
#include <stdio.h>

#include "live_session.h"

int session_fail(struct hwprof_session *session, int error,
		 const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(session->message, sizeof(session->message), format, args);
	va_end(args);
	return error;
}

int session_pause(struct hwprof_session *session, bool pause)
{
	int error = 0;
	size_t i;

	for (i = 0; session->running && i < session->attached_count; i++) {
		struct events *events = session->attached[i].events;

		if (!session->attached[i].own)
			continue;
		error = pause ? events_disable(events) : events_enable(events);
		if (error)
			return session_fail(session, error, "%s",
					    events->message);
	}
	return 0;
}
