// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>

#include "tests/kselftest/event.h"
#include "tests/kselftest/text.h"
#include "tests/irqsoff/crowd.h"
#include "tests/irqsoff/must.h"
#include "tests/irqsoff/rows.h"

#include "scenario.h"

enum {
	EVENTS		= 80,
	SAMPLED		= 64,	/* of a session, which have samples */
};

static struct ring rings[EVENTS];

static int open_sampling(struct perf_event_attr attr, unsigned int i)
{
	int fd;

	attr.disabled = 0;
	attr.inherit = 0;
	fd = own_event(attr);
	rings[i] = map_ring(fd, PAGES_MOST / 8);
	return fd;
}

static int open_calls(unsigned int i)
{
	return open_sampling(event_attr_sampling(EVENT_CALLS | EVENT_STEP, 1),
			     i);
}

static int open_switches(unsigned int i)
{
	struct perf_event_attr attr = event_attr_sampling(0, 1);

	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	attr.exclude_kernel = 0;
	return open_sampling(attr, i);
}

/* Exit unless so many events have samples. */
static void must_be_written(unsigned int events)
{
	unsigned int i, found = 0;

	for (i = 0; i < EVENTS; i++) {
		found += written(&rings[i]) > MIB / 64;
		unmap_ring(&rings[i]);
	}
	errno = ENODATA;
	if (found < events)
		die("only %u events have samples", found);
}

/*
 * Many events of one session, which all want a sample of the same calls. Each
 * sample wakes a reader.
 */
void samples(void)
{
	const struct crowd calls = { "events of calls", EVENTS, open_calls };
	const struct crowd perf = {
		"events of context switches", EVENTS, open_switches,
	};

	struct crowd_took allowed;

	must(sample_rate_write(1000000), "the rate of samples");
	allowed = crowd_measure(&perf, crowd_unbounded());
	must_be_written(EVENTS);
	allowed.running = 0;	/* perf has written a sample of each */
	crowd_measure(&calls, allowed);
	must_be_written(SAMPLED);
}
