// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <unistd.h>

#include "tests/kselftest/event.h"

#include "group.h"
#include "must.h"

/* A sample with the fields of event_attr_sampling() and the group's counts. */
struct row_record {
	struct perf_event_header header;
	uint64_t ip, ids, time, addr, cpu, period;
	uint64_t counts;	/* how many follow */
};

/*
 * Siblings are disabled, so that perf has nothing to start when it switches
 * tasks. It reads their counts all the same.
 */
void open_group(struct group *group, struct perf_event_attr leader,
		unsigned int siblings)
{
	struct perf_event_attr attr = dummy_attr();
	unsigned int i;

	attr.read_format = PERF_FORMAT_GROUP;
	attr.disabled = 1;
	leader.inherit = 0;
	leader.sample_type |= PERF_SAMPLE_READ;
	leader.read_format = PERF_FORMAT_GROUP;
	group->siblings = siblings;
	group->leader = own_event(leader);
	for (i = 0; i < siblings; i++) {
		group->sibling[i] = event_open(&attr, 0, 0, group->leader, 0);
		must(group->sibling[i], "opening a sibling");
	}
}

void close_siblings(struct group *group)
{
	unsigned int i;

	for (i = 0; i < group->siblings; i++)
		close(group->sibling[i]);
}

void must_have_counts(const struct ring *ring, unsigned int siblings)
{
	const char *data = (char *)ring->start + getpagesize();
	const struct row_record *record = (const void *)data;

	while (written(ring) > (uint64_t)((const char *)record - data)) {
		if (record->header.type == PERF_RECORD_SAMPLE &&
		    record->counts == 1 + siblings)
			return;
		record = (const void *)((const char *)record +
					record->header.size);
	}
	errno = ENODATA;
	die("no row with the counts of %u siblings", siblings);
}
