/* SPDX-License-Identifier: GPL-2.0-only */
/* Groups of events, all of whose counts are read for a row of the leader. */
#ifndef IRQSOFF_GROUP_H
#define IRQSOFF_GROUP_H

#include <linux/perf_event.h>

#include "rows.h"

enum { SIBLINGS_MOST = 800 };

struct group {
	unsigned int siblings;
	int leader, sibling[SIBLINGS_MOST];
};

/* Open a group of this task: its leader, and so many siblings. */
void open_group(struct group *group, struct perf_event_attr leader,
		unsigned int siblings);

/* Close the siblings, behind the leader. */
void close_siblings(struct group *group);

/*
 * Exit unless the first row in the ring has the counts of that many siblings.
 * The ring must not have wrapped.
 */
void must_have_counts(const struct ring *ring, unsigned int siblings);

#endif /* IRQSOFF_GROUP_H */
