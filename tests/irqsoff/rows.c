// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/kselftest/event.h"

#include "must.h"
#include "rows.h"
#include "sites.h"

struct perf_event_attr rows_attr(uint64_t engine, unsigned int mib)
{
	struct perf_event_attr attr =
		event_attr_sampling(engine | EVENT_STEP | EVENT_ROWS |
				    EVENT_MEMORY(mib), 1);

	/* None but those that a phase asks for. */
	attr.config1 = EVENT_INTERVAL(65535);
	attr.disabled = 0;
	return attr;
}

int own_event(struct perf_event_attr attr)
{
	int fd = event_open(&attr, 0, 0, -1, 0);

	must(fd, "opening an event");
	return fd;
}

struct ring map_ring(int fd, unsigned int pages)
{
	struct ring ring = { .bytes = (size_t)(1 + pages) * getpagesize() };

	ring.start = mmap(NULL, ring.bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			  fd, 0);
	if (ring.start == MAP_FAILED)
		die("mapping a ring of %u pages", pages);
	return ring;
}

void unmap_ring(struct ring *ring)
{
	munmap(ring->start, ring->bytes);
}

uint64_t written(const struct ring *ring)
{
	return ((struct perf_event_mmap_page *)ring->start)->data_head;
}

int full_event(struct perf_event_attr attr, unsigned int mib,
	       struct ring *ring)
{
	int fd = own_event(attr);

	run_sites(sites_for(mib));
	*ring = map_ring(fd, PAGES_MOST);
	return fd;
}

/*
 * The phase means nothing without rows. A profile of loops has from 58 KiB,
 * as the engine's random seed decides which loops stay.
 */
void tell_written(const struct ring *ring)
{
	if (written(ring) < MIB / 64) {
		errno = ENODATA;
		die("no more than %llu bytes of rows",
		    (unsigned long long)written(ring));
	}
	printf("#	%llu KiB of rows\n",
	       (unsigned long long)written(ring) >> 10);
}

void must_have_samples(const struct ring *ring, unsigned int count)
{
	const char *data = (char *)ring->start + getpagesize();
	const struct perf_event_header *header;
	unsigned int found = 0;
	uint64_t at;

	for (at = 0; at < written(ring); at += header->size) {
		header = (const void *)(data + at);
		found += header->type == PERF_RECORD_SAMPLE;
	}
	errno = ENODATA;
	if (found != count)
		die("%u samples, not %u", found, count);
}
