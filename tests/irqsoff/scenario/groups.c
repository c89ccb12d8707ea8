// SPDX-License-Identifier: GPL-2.0-only
#include <sys/ioctl.h>
#include <unistd.h>

#include "tests/kselftest/event.h"
#include "tests/irqsoff/crowd.h"
#include "tests/irqsoff/group.h"
#include "tests/irqsoff/must.h"
#include "tests/irqsoff/phase.h"
#include "tests/irqsoff/sites.h"

#include "scenario.h"

enum {
	WITH_ROWS	= 64,	/* siblings of the largest group with rows */
	WITHOUT_ROWS	= SIBLINGS_MOST,
};

static struct group group[STEPPED];
static struct ring ring[STEPPED];

/* A full profile whose rows have the counts of a group. */
static void group_of(unsigned int siblings)
{
	open_group(&group[0], rows_attr(EVENT_CALLS, 1), siblings);
	ring[0] = map_ring(group[0].leader, PAGES_MOST);
	phase("a group of %u: filling", siblings);
	run_sites(sites_for(1));
	phase("a group of %u: PERF_EVENT_IOC_DISABLE", siblings);
	must(ioctl(group[0].leader, PERF_EVENT_IOC_DISABLE, 0),
	     "PERF_EVENT_IOC_DISABLE");
	usleep(200000);
	end_phase();
	if (siblings <= WITH_ROWS) {
		tell_written(&ring[0]);
		must_have_counts(&ring[0], siblings);
	}
	unmap_ring(&ring[0]);
	close(group[0].leader);
	close_siblings(&group[0]);
}

static int open_branches(unsigned int i)
{
	struct perf_event_attr attr = rows_attr(EVENT_BRANCHES, 1);

	attr.config1 = EVENT_INTERVAL(1000 + i);
	open_group(&group[i], attr, WITH_ROWS);
	ring[i] = map_ring(group[i].leader, PAGES_MOST / 8);
	return group[i].leader;
}

static int open_faults(unsigned int i)
{
	struct perf_event_attr attr = dummy_attr();

	attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	open_group(&group[i], attr, WITH_ROWS);
	return group[i].leader;
}

static struct crowd_took measure(const struct crowd *crowd,
				 struct crowd_took allowed)
{
	struct crowd_took took = crowd_measure(crowd, allowed);
	unsigned int i;

	for (i = 0; i < crowd->count; i++)
		close_siblings(&group[i]);
	return took;
}

/*
 * As many groups as a step feeds. Their rows are written where the program is
 * stepped and where it is switched.
 */
static void groups_of_branches(void)
{
	const struct crowd faults = {
		"groups of page faults", STEPPED, open_faults,
	};
	const struct crowd branches = {
		"groups of branches", STEPPED, open_branches,
	};
	unsigned int i;

	measure(&branches, measure(&faults, crowd_unbounded()));
	for (i = 0; i < STEPPED; i++) {
		tell_written(&ring[i]);
		must_have_counts(&ring[i], WITH_ROWS);
		unmap_ring(&ring[i]);
	}
}

void groups(void)
{
	group_of(WITH_ROWS);
	group_of(WITHOUT_ROWS);
	groups_of_branches();
}
