/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The memory in which the kernel hands over one CPU's records, as described
 * at struct perf_event_mmap_page.
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

/* Maps @pages pages of event @fd. A negative errno: mmap's. */
int ring_map(struct ring *ring, int fd, size_t pages);
void ring_unmap(struct ring *ring);

/*
 * Gives @fn what the kernel wrote: whole records, but where the ring wraps
 * one of them is cut into two calls. The room is given back afterwards, unless
 * @fn fails.
 */
typedef int (*ring_fn)(void *context, const void *bytes, size_t size);
int ring_drain(struct ring *ring, ring_fn fn, void *context);

#endif /* HWPROF_RING_H */
