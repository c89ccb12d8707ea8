// SPDX-License-Identifier: GPL-2.0-only
#include <linux/hwprof.h>
#include <stdint.h>
#include <string.h>

#include "rows.h"

enum { PAGE = 4096 };

/* PERF_RECORD_SAMPLE with ROWS_SAMPLE_TYPE. */
struct row_sample {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t raw_size;
	struct hwprof_row row;
} __attribute__((packed));

/* Records go on at the beginning of the data where their end is reached. */
static void copy(void *to, const char *data, size_t size, uint64_t at,
		 size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		((char *)to)[i] = data[(at + i) % size];
}

static void check_row(struct hwprof_row row, pid_t pid,
		      struct findings *findings)
{
	if (row.type == HWPROF_ROW_TOTALS)
		return;
	__atomic_add_fetch(&findings->rows, 1, __ATOMIC_RELAXED);
	if (row.pid != (uint32_t)pid)
		__atomic_add_fetch(&findings->foreign, 1, __ATOMIC_RELAXED);
}

void rows_check(const struct perf_event_mmap_page *ring, size_t data, pid_t pid,
		struct findings *findings)
{
	uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = ring->data_tail;
	const char *bytes = (const char *)ring + PAGE;

	if (head - at > data)
		return;
	while (head - at >= sizeof(struct perf_event_header)) {
		struct row_sample sample;

		copy(&sample.header, bytes, data, at, sizeof(sample.header));
		if (sample.header.size < sizeof(sample.header))
			return;
		if (sample.header.type == PERF_RECORD_SAMPLE &&
		    sample.header.size >= sizeof(sample)) {
			copy(&sample, bytes, data, at, sizeof(sample));
			check_row(sample.row, pid, findings);
		}
		at += sample.header.size;
	}
}
