/* SPDX-License-Identifier: GPL-2.0-only */
/* Events whose profiles become rows, and their rings. */
#ifndef IRQSOFF_ROWS_H
#define IRQSOFF_ROWS_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

enum {
	MIB		= 1 << 20,
	PAGES_MOST	= 4096,		/* of a ring */
};

struct ring {
	void *start;
	size_t bytes;
};

/*
 * Return the attr of an event that is enabled, with a profile of @mib MiB. It
 * gives rows only when a phase asks for them.
 */
struct perf_event_attr rows_attr(uint64_t engine, unsigned int mib);

/* Open an event of this task, or exit. Return its descriptor. */
int own_event(struct perf_event_attr attr);

/* Open such an event, with its ring, and fill its profile. */
int full_event(struct perf_event_attr attr, unsigned int mib,
	       struct ring *ring);

struct ring map_ring(int fd, unsigned int pages);
void unmap_ring(struct ring *ring);

/* Return how many bytes were written to the ring. */
uint64_t written(const struct ring *ring);

/* Exit unless the ring has that many samples, and has never been full. */
void must_have_samples(const struct ring *ring, unsigned int count);

/* Print how many, and exit if they are next to none. */
void tell_written(const struct ring *ring);

#endif /* IRQSOFF_ROWS_H */
