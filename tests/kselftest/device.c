// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device.h"

struct hwprof_config device_config(uint64_t config)
{
	return (struct hwprof_config){
		.size = sizeof(struct hwprof_config),
		.flags =
			HWPROF_CONFIG_EXCLUDE_KERNEL | HWPROF_CONFIG_EXCLUDE_HV,
		.config = config,
	};
}

struct hwprof_config device_config_samples(void)
{
	struct hwprof_config config =
		device_config(EVENT_RANGES | EVENT_SAMPLE);

	config.period = 1000 * 1000;	/* ns */
	return config;
}

int device_open(struct hwprof_config *config)
{
	int fd = open(HWPROF_DEVICE, O_RDWR | O_CLOEXEC), error;

	if (fd < 0)
		return -errno;
	if (!ioctl(fd, HWPROF_IOC_CONFIG, config))
		return fd;
	error = -errno;
	close(fd);
	return error;
}

struct perf_event_attr device_feeder(const struct hwprof_config *config)
{
	struct perf_event_attr attr = event_attr(0);

	attr.config2 = (uint64_t)config->session << 32;
	attr.sample_period = config->period;
	attr.freq = !!(config->flags & HWPROF_CONFIG_FREQ);
	return attr;
}

long device_read(int fd, void *buffer, size_t size, bool *more)
{
	struct hwprof_snapshot snapshot = {
		.size = sizeof(snapshot),
		.buffer = (uintptr_t)buffer,
		.buffer_size = size,
	};

	if (ioctl(fd, HWPROF_IOC_SNAPSHOT, &snapshot))
		return -errno;
	*more = snapshot.more;
	return snapshot.filled;
}

/* Returns the increase of the unit, which perf has as the period. */
static uint64_t period_of(const struct hwprof_row *row)
{
	switch (row->type) {
	case HWPROF_ROW_LOOP:
		return ((const struct hwprof_row_loop *)row)->back_edges;
	case HWPROF_ROW_RANGE:
		return ((const struct hwprof_row_range *)row)->count;
	case HWPROF_ROW_CALL:
		return ((const struct hwprof_row_call *)row)->calls;
	case HWPROF_ROW_CONTEXT:
		return ((const struct hwprof_row_context *)row)->calls +
		       ((const struct hwprof_row_context *)row)->deeper;
	case HWPROF_ROW_PATH:
		return ((const struct hwprof_row_path *)row)->count;
	case HWPROF_ROW_BOX:
		return ((const struct hwprof_row_box *)row)->count;
	case HWPROF_ROW_VALUE:
		return ((const struct hwprof_row_value *)row)->loads;
	case HWPROF_ROW_EDGE:
		return ((const struct hwprof_row_edge *)row)->end ?
		       ((const struct hwprof_row_edge *)row)->count : 0;
	}
	return 0;
}

/* Takes a record. Returns its size. */
static size_t take_record(const struct hwprof_record *record,
			  struct tally *tally)
{
	struct sample sample = {
		.time = record->time,
		.pid = record->row.pid,
		.period = period_of(&record->row),
		.row = &record->row,
	};

	tally_take(tally, &sample);
	return offsetof(struct hwprof_record, row) + record->row.size;
}

static void take_records(const char *at, long size, struct tally *tally)
{
	const char *end = at + size;

	while (at < end)
		at += take_record((const void *)at, tally);
	if (at != end)
		event_give_up("records end elsewhere than they should");
}

int device_snapshot(int fd, size_t size, struct tally *tally)
{
	char *buffer = aligned_alloc(8, size);
	bool more = true;
	long filled = 0;

	while (more && filled >= 0) {
		filled = device_read(fd, buffer, size, &more);
		if (filled > 0)
			take_records(buffer, filled, tally);
	}
	free(buffer);
	return filled < 0 ? filled : 0;
}

int device_reset(int fd)
{
	return ioctl(fd, HWPROF_IOC_RESET, 0) ? -errno : 0;
}

int device_ring(int fd, size_t size, unsigned int watermark)
{
	struct hwprof_ring ring = {
		.size = sizeof(ring), .data_size = size, .watermark = watermark,
	};

	return ioctl(fd, HWPROF_IOC_RING, &ring) ? -errno : (int)ring.rings;
}

struct hwprof_ring_page *device_map(int fd, size_t size, unsigned int rings)
{
	void *first = mmap(NULL, rings * (getpagesize() + size),
			   PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return first == MAP_FAILED ? NULL : first;
}

struct hwprof_ring_page *device_nth(struct hwprof_ring_page *first,
				    unsigned int ring)
{
	return (void *)((char *)first +
			ring * (getpagesize() + first->data_size));
}

static void copy_out(const struct hwprof_ring_page *page, uint64_t at, void *to,
		     size_t size)
{
	const char *data = (const char *)page + page->data_offset;
	size_t start = at % page->data_size;
	size_t first = page->data_size - start;

	if (first > size)
		first = size;
	memcpy(to, data + start, first);
	memcpy((char *)to + first, data, size - first);
}

/* Returns whether there was anything. */
static bool drain(struct hwprof_ring_page *page, struct tally *tally)
{
	static _Alignas(8) char buffer[HWPROF_SNAPSHOT_MIN];
	struct hwprof_record *record = (void *)buffer;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t begin = page->data_tail, tail = begin;

	while (tail != head) {
		copy_out(page, tail, record, sizeof(*record));
		copy_out(page, tail, record,
			 sizeof(record->time) + record->row.size);
		tail += take_record(record, tally);
	}
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
	return tail != begin;
}

void device_drain(struct hwprof_ring_page *first, unsigned int rings,
		  struct tally *tally)
{
	unsigned int i, passes = 100;
	bool some = true;

	/*
	 * The flush that writes totals may have moved to another CPU behind
	 * the rows: these are then in a ring that was read already.
	 */
	while (some && passes--) {
		some = false;
		for (i = 0; i < rings; i++)
			some |= drain(device_nth(first, i), tally);
	}
}

int device_add_table(int fd, const struct hwprof_unwind_row *rows,
		     unsigned int count)
{
	struct hwprof_unwind_table table = {
		.size = sizeof(table), .rows = (uintptr_t)rows, .count = count,
	};

	return ioctl(fd, HWPROF_IOC_UNWIND_TABLE, &table) ? -errno :
							    (int)table.table;
}

int device_set_maps(int fd, const struct hwprof_unwind_map *maps,
		    unsigned int count, pid_t pid)
{
	const struct hwprof_unwind_maps request = {
		.size = sizeof(request), .maps = (uintptr_t)maps,
		.count = count, .pid = pid,
	};

	return ioctl(fd, HWPROF_IOC_UNWIND_MAPS, &request) ? -errno : 0;
}
