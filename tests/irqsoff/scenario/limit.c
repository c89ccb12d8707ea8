// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>

#include "tests/kselftest/event.h"
#include "tests/kselftest/text.h"
#include "tests/irqsoff/crowd.h"
#include "tests/irqsoff/must.h"
#include "tests/irqsoff/rows.h"

#include "scenario.h"

static struct perf_event_attr session_attr(unsigned int i)
{
	struct perf_event_attr attr = rows_attr(EVENT_LOOPS | EVENT_CALLS, 1);

	attr.config1 = EVENT_INTERVAL(1000 + i);
	return attr;
}

static int open_of_same(unsigned int i)
{
	return own_event(session_attr(0));
}

static int open_of_another(unsigned int i)
{
	int fd = own_event(session_attr(i));

	must(event_sessions() == i + 1 ? 0 : -EINVAL, "another session");
	return fd;
}

/*
 * As many sessions as a user may have, all of one task; and as many events of
 * one session.
 */
void limit(void)
{
	struct crowd faults = { "events of page faults", 0, crowd_open_faults };
	struct crowd events = { "events of one session", 0, open_of_same };
	struct crowd many = { "sessions", 0, open_of_another };
	struct crowd_took perf;
	char text[16];

	must(limit_read("sessions_per_user", text, sizeof(text)), "the limit");
	faults.count = events.count = many.count = atoi(text);
	perf = crowd_measure(&faults, crowd_unbounded());
	crowd_measure(&events, perf);
	must(event_sessions_are(0) ? 0 : -EBUSY, "a session that ends");
	crowd_measure(&many, perf);
}
