/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes records that no ring had: rows, and what is known about processes. The
 * sample type of their events is EVENTS_SAMPLE_TYPE.
 */
#ifndef HWPROF_ROW_RECORDS_H
#define HWPROF_ROW_RECORDS_H

#include "code/processes.h"
#include "writer.h"

/* Type of hwprof's PMU: a number that the recorded machine does not have. */
#define ROW_RECORDS_PMU	(UINT32_MAX >> 1)

/* Makes the attr of the event that such records belong to. */
struct perf_event_attr records_attr(const struct hwprof_event *event);

/* The fields of the sample around a row; see struct hwprof_sample. */
struct row_place {
	uint64_t time;
	uint64_t ip;
	uint64_t addr;
	uint64_t period;
};

/*
 * Both return 0 or what writer_add() returned. @event is the id of the event
 * that the record belongs to. Names that are longer than the kernel's are left
 * out.
 */
int records_add_row(struct writer *writer, uint64_t event,
		    const struct hwprof_row *row,
		    const struct row_place *place);
int records_add_change(struct writer *writer, uint64_t event,
		       const struct process_change *change);

#endif /* HWPROF_ROW_RECORDS_H */
