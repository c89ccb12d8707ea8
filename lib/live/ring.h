/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory in which the kernel delivers one CPU's records; struct
 * perf_event_mmap_page describes it.
 */
#ifndef HWPROF_RING_H
#define HWPROF_RING_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

struct ring {
	struct perf_event_mmap_page *control;	/* NULL: not mapped */
	uint8_t *data;
	size_t size;			/* of data: a power of two */
};

/*
 * Maps @pages pages of event @fd. Returns 0, or the negative errno of mmap().
 */
int ring_map(struct ring *ring, int fd, size_t pages);
void ring_unmap(struct ring *ring);

/*
 * Passes everything that the kernel wrote to @fn: whole records, except that
 * one that wraps comes in two calls. Then frees the space in the ring, unless
 * @fn fails.
 */
typedef int (*ring_fn)(void *context, const void *bytes, size_t size);
int ring_drain(struct ring *ring, ring_fn fn, void *context);

#endif /* HWPROF_RING_H */
