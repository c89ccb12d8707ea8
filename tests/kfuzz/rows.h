/* SPDX-License-Identifier: GPL-2.0-only */
/* Checks that the rows in a ring belong to the process that reads it. */
#ifndef KFUZZ_ROWS_H
#define KFUZZ_ROWS_H

#include <linux/perf_event.h>
#include <sys/types.h>

#include "findings.h"

/* The fields that set_event() asks for: they decide where the row is. */
#define ROWS_SAMPLE_TYPE	(PERF_SAMPLE_IP | PERF_SAMPLE_TID |	       \
				 PERF_SAMPLE_TIME | PERF_SAMPLE_RAW)

/*
 * Look at the records that the program has not taken yet, of an event of the
 * task @pid alone: @data bytes behind the first page of the ring. Add to
 * @findings.
 */
void rows_check(const struct perf_event_mmap_page *ring, size_t data, pid_t pid,
		struct findings *findings);

#endif /* KFUZZ_ROWS_H */
