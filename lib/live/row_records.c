// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string.h>
#include <sys/mman.h>

#include "events.h"
#include "row_records.h"

enum {
	NAME_SIZE_MAX	= 4096,		/* the longest that the kernel has */
};

struct perf_event_attr records_attr(const struct hwprof_event *event)
{
	return (struct perf_event_attr){
		.type = ROW_RECORDS_PMU,
		.size = sizeof(struct perf_event_attr),
		.config = event->config[0],
		.config1 = event->config[1],
		.config2 = event->config[2],
		.sample_period = 1,
		.sample_type = EVENTS_SAMPLE_TYPE,
		.sample_id_all = 1,
		.mmap = 1, .mmap2 = 1, .comm = 1, .comm_exec = 1, .task = 1,
	};
}

int records_add_row(struct writer *writer, uint64_t event,
		    const struct hwprof_row *row,
		    const struct row_place *place)
{
	static const uint32_t filler = 0;
	uint32_t pid = row->pid & ~PROCESS_GUEST;
	struct {
		struct perf_event_header header;
		uint64_t id, ip;
		uint32_t pid, tid;
		uint64_t time, addr;
		uint32_t cpu, reserved;
		uint64_t period;
	} fields = {
		.header.type = PERF_RECORD_SAMPLE,
		.header.misc = place->ip >> 63 ? PERF_RECORD_MISC_KERNEL :
						 PERF_RECORD_MISC_USER,
		.header.size = sizeof(fields) + sizeof(uint32_t) + row->size +
			       sizeof(filler),
		.id = event, .ip = place->ip, .pid = pid, .tid = pid,
		.time = place->time, .addr = place->addr,
		.period = place->period,
	};
	uint32_t size = row->size + sizeof(filler);
	int error = writer_add(writer, &fields, sizeof(fields));

	if (!error)
		error = writer_add(writer, &size, sizeof(size));
	if (!error)
		error = writer_add(writer, row, row->size);
	return error ? error : writer_add(writer, &filler, sizeof(filler));
}

/* Adds a record: fixed fields, a name unless NULL, and the trailer. */
static int add_record(struct writer *writer, uint64_t event,
		      const struct process_change *change,
		      struct perf_event_header header, const void *fields,
		      size_t size)
{
	const struct {
		uint32_t pid, tid;
		uint64_t time;
		uint32_t cpu, reserved;
		uint64_t id;
	} trailer = {
		.pid = change->pid, .tid = change->pid, .time = change->time,
		.id = event,
	};
	size_t name = change->name ? strlen(change->name) + 1 : 0;
	char padded[NAME_SIZE_MAX + 8] = "";
	int error;

	if (name > NAME_SIZE_MAX)
		return 0;
	if (name)
		memcpy(padded, change->name, name);
	name += -name % 8;
	header.size = sizeof(header) + size + name + sizeof(trailer);
	error = writer_add(writer, &header, sizeof(header));
	if (!error)
		error = writer_add(writer, fields, size);
	if (!error)
		error = writer_add(writer, padded, name);
	return error ? error : writer_add(writer, &trailer, sizeof(trailer));
}

static int add_map(struct writer *writer, uint64_t event,
		   const struct process_change *change)
{
	const struct mapping *mapping = &change->mapping;
	struct perf_event_header header = {
		.type = PERF_RECORD_MMAP2,
		.misc = change->pid == UINT32_MAX ? PERF_RECORD_MISC_KERNEL :
						    PERF_RECORD_MISC_USER,
	};
	struct perfdata_mmap2_build_id fields = {
		.pid = change->pid, .tid = change->pid,
		.start = mapping->start, .size = mapping->size,
		.offset = mapping->offset,
		.id_size = mapping->build_id.size,
		.protection = PROT_READ | (mapping->code ? PROT_EXEC : 0),
		.flags = MAP_PRIVATE,
	};

	memcpy(fields.id, mapping->build_id.bytes, sizeof(fields.id));
	if (!mapping->code)
		header.misc |= PERF_RECORD_MISC_MMAP_DATA;
	if (mapping->build_id.size)
		header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	return add_record(writer, event, change, header, &fields,
			  sizeof(fields));
}

static int add_name(struct writer *writer, uint64_t event,
		    const struct process_change *change)
{
	const uint32_t fields[2] = { change->pid, change->pid };
	struct perf_event_header header = { .type = PERF_RECORD_COMM };

	if (change->kind == CHANGE_EXEC)
		header.misc = PERF_RECORD_MISC_COMM_EXEC;
	return add_record(writer, event, change, header, fields,
			  sizeof(fields));
}

static int add_task(struct writer *writer, uint64_t event,
		    const struct process_change *change)
{
	bool fork = change->kind == CHANGE_FORK;
	uint32_t parent = fork ? change->parent : change->pid;
	const struct perf_event_header header = {
		.type = fork ? PERF_RECORD_FORK : PERF_RECORD_EXIT,
	};
	const struct {
		uint32_t pid, parent, tid, parent_tid;
		uint64_t time;
	} fields = {
		change->pid, parent, change->pid, parent, change->time,
	};

	return add_record(writer, event, change, header, &fields,
			  sizeof(fields));
}

int records_add_change(struct writer *writer, uint64_t event,
		       const struct process_change *change)
{
	switch (change->kind) {
	case CHANGE_MAP:
		return add_map(writer, event, change);
	case CHANGE_COMM:
	case CHANGE_EXEC:
		return add_name(writer, event, change);
	case CHANGE_FORK:
	case CHANGE_EXIT:
		return add_task(writer, event, change);
	}
	return 0;
}
