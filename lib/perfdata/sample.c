// SPDX-License-Identifier: LGPL-2.1-or-later
/* Parses records of the kernel by the sample_type of their event. */
#include <errno.h>
#include <inttypes.h>

#include "file.h"

/*
 * Returns the number of words before the id in samples; -1 if there is no id.
 */
static int id_position(uint64_t type)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		return 0;
	if (!(type & PERF_SAMPLE_ID))
		return -1;
	return !!(type & PERF_SAMPLE_IP) + !!(type & PERF_SAMPLE_TID) +
	       !!(type & PERF_SAMPLE_TIME) + !!(type & PERF_SAMPLE_ADDR);
}

/*
 * Returns the number of words from the id to the end in other records; -1 if
 * there is no id.
 */
static int id_position_behind(uint64_t type)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		return 1;
	if (!(type & PERF_SAMPLE_ID))
		return -1;
	return 1 + !!(type & PERF_SAMPLE_CPU) +
	       !!(type & PERF_SAMPLE_STREAM_ID);
}

static bool word_at(const struct byte_reader *reader, size_t index,
		    uint64_t *word)
{
	struct byte_reader at = *reader;

	return reader_skip(&at, index * sizeof(*word)) && reader_u64(&at, word);
}

/*
 * Finds the event of a record. A sample's layout depends on its event, and the
 * place of the event's id depends on the layout. To break this circle, the
 * kernel requires all events of a file to have the id in the same place.
 */
static const struct file_event *find_event(struct hwprof_file *file,
					   const struct record *record)
{
	const struct file_event *event;
	size_t words = reader_left(&record->body) / sizeof(uint64_t);
	uint64_t id;
	int place;

	if (file->event_count <= 1)
		return file->events;
	if (record->type == PERF_RECORD_SAMPLE) {
		place = id_position(file->events->attr.sample_type);
	} else {
		place = id_position_behind(file->events->attr.sample_type);
		place = place < 0 || (size_t)place > words ? -1 :
			(int)(words - place);
	}
	if (place < 0 || !word_at(&record->body, place, &id))
		return file->events;
	event = file_event_of(file, id);
	/* Records that perf made about the time before have the id 0. */
	return event || id ? event : file->events;
}

static bool take_tid(struct byte_reader *reader, struct record *record)
{
	return reader_u32(reader, &record->pid) &&
	       reader_u32(reader, &record->tid);
}

static bool take_cpu(struct byte_reader *reader, struct record *record)
{
	return reader_u32(reader, &record->cpu) && reader_skip(reader, 4);
}

static bool identify_sample(struct record *record, uint64_t type)
{
	struct byte_reader at = record->body;

	return (!(type & PERF_SAMPLE_IDENTIFIER) || reader_skip(&at, 8)) &&
	       (!(type & PERF_SAMPLE_IP) || reader_skip(&at, 8)) &&
	       (!(type & PERF_SAMPLE_TID) || take_tid(&at, record)) &&
	       (!(type & PERF_SAMPLE_TIME) || reader_u64(&at, &record->time)) &&
	       (!(type & PERF_SAMPLE_ADDR) || reader_skip(&at, 8)) &&
	       (!(type & PERF_SAMPLE_ID) || reader_skip(&at, 8)) &&
	       (!(type & PERF_SAMPLE_STREAM_ID) || reader_skip(&at, 8)) &&
	       (!(type & PERF_SAMPLE_CPU) || take_cpu(&at, record));
}

/* Takes the fields of sample_id_all off the end of the record. */
static bool identify_other(struct record *record, uint64_t type)
{
	size_t size = 8 * (!!(type & PERF_SAMPLE_TID) +
			   !!(type & PERF_SAMPLE_TIME) +
			   !!(type & PERF_SAMPLE_ID) +
			   !!(type & PERF_SAMPLE_STREAM_ID) +
			   !!(type & PERF_SAMPLE_CPU) +
			   !!(type & PERF_SAMPLE_IDENTIFIER));
	struct byte_reader at;

	if (reader_left(&record->body) < size)
		return false;
	record->body.end -= size;
	at = reader_of(record->body.end, size);
	return (!(type & PERF_SAMPLE_TID) || take_tid(&at, record)) &&
	       (!(type & PERF_SAMPLE_TIME) || reader_u64(&at, &record->time)) &&
	       (!(type & PERF_SAMPLE_ID) || reader_skip(&at, 8)) &&
	       (!(type & PERF_SAMPLE_STREAM_ID) || reader_skip(&at, 8)) &&
	       (!(type & PERF_SAMPLE_CPU) || take_cpu(&at, record));
}

int sample_identify(struct hwprof_file *file, struct record *record)
{
	const struct perf_event_attr *attr;
	bool sane;

	record->time = UINT64_MAX;
	record->pid = record->tid = record->cpu = UINT32_MAX;
	if (!file->event_count)
		return file_damaged(
			file, record->offset,
			"a record comes before any event is described");
	/* Records of the perf tool lack these fields. */
	if (record->type >= PERFDATA_HEADER_ATTR)
		return 0;
	record->event = find_event(file, record);
	if (!record->event)
		return 0;
	attr = &record->event->attr;
	if (record->type == PERF_RECORD_SAMPLE)
		sane = identify_sample(record, attr->sample_type);
	else
		sane = !attr->sample_id_all ||
		       identify_other(record, attr->sample_type);
	if (!sane)
		return file_damaged(file, record->offset,
				    "a record of type %u has %zu bytes, less than its event says",
				    record->type, reader_left(&record->body));
	return 0;
}

static bool skip_read(struct byte_reader *reader, uint64_t format)
{
	uint64_t head = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			!!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	uint64_t each = 1 + !!(format & PERF_FORMAT_ID) +
			!!(format & PERF_FORMAT_LOST);
	uint64_t count = 1;

	if (format & PERF_FORMAT_GROUP) {
		if (!reader_u64(reader, &count) || count > UINT16_MAX)
			return false;
	}
	return reader_skip(reader, 8 * (head + each * count));
}

static bool take_callchain(struct byte_reader *reader,
			   struct byte_reader *callchain)
{
	uint64_t count;

	return reader_u64(reader, &count) && count <= UINT16_MAX &&
	       reader_part(reader, 8 * count, callchain);
}

static bool take_raw(struct byte_reader *reader, struct byte_reader *raw)
{
	uint32_t size;

	return reader_u32(reader, &size) && reader_part(reader, size, raw);
}

/* Since Linux 6.8, a word of counters per branch may follow the branches. */
#define BRANCH_COUNTERS		(1ULL << 19)

static bool take_branches(struct byte_reader *reader, uint64_t type,
			  struct byte_reader *branches)
{
	uint64_t count;

	return reader_u64(reader, &count) && count <= UINT16_MAX &&
	       (!(type & PERF_SAMPLE_BRANCH_HW_INDEX) ||
		reader_skip(reader, 8)) &&
	       reader_part(reader, count * sizeof(struct perf_branch_entry),
			   branches) &&
	       (!(type & BRANCH_COUNTERS) || reader_skip(reader, 8 * count));
}

static bool take_registers(struct byte_reader *reader, uint64_t mask,
			   struct sample *sample)
{
	if (!reader_u64(reader, &sample->abi))
		return false;
	return !sample->abi ||
	       reader_part(reader, 8 * __builtin_popcountll(mask),
			   &sample->registers);
}

/*
 * Takes a stack. The record has the requested size, followed by the used size.
 */
static bool take_stack(struct byte_reader *reader, struct byte_reader *stack)
{
	uint64_t size, used;

	if (!reader_u64(reader, &size))
		return false;
	if (!size)
		return true;
	if (!reader_part(reader, size, stack) || !reader_u64(reader, &used))
		return false;
	if (used < size)
		stack->end = stack->at + used;
	return true;
}

/* Fields behind the stack, such as weights, are ignored. */
int sample_parse(struct hwprof_file *file, const struct record *record,
		 struct sample *sample)
{
	const struct perf_event_attr *attr = &record->event->attr;
	uint64_t type = attr->sample_type;
	struct byte_reader at = record->body;

	*sample = (struct sample){ .period = attr->sample_period };
	if ((type & PERF_SAMPLE_IDENTIFIER && !reader_skip(&at, 8)) ||
	    (type & PERF_SAMPLE_IP && !reader_u64(&at, &sample->ip)) ||
	    (type & PERF_SAMPLE_TID && !reader_skip(&at, 8)) ||
	    (type & PERF_SAMPLE_TIME && !reader_skip(&at, 8)) ||
	    (type & PERF_SAMPLE_ADDR && !reader_u64(&at, &sample->addr)) ||
	    (type & PERF_SAMPLE_ID && !reader_skip(&at, 8)) ||
	    (type & PERF_SAMPLE_STREAM_ID && !reader_skip(&at, 8)) ||
	    (type & PERF_SAMPLE_CPU && !reader_skip(&at, 8)) ||
	    (type & PERF_SAMPLE_PERIOD && !reader_u64(&at, &sample->period)) ||
	    (type & PERF_SAMPLE_READ && !skip_read(&at, attr->read_format)) ||
	    (type & PERF_SAMPLE_CALLCHAIN &&
	     !take_callchain(&at, &sample->callchain)) ||
	    (type & PERF_SAMPLE_RAW && !take_raw(&at, &sample->raw)) ||
	    (type & PERF_SAMPLE_BRANCH_STACK &&
	     !take_branches(&at, attr->branch_sample_type,
			    &sample->branches)) ||
	    (type & PERF_SAMPLE_REGS_USER &&
	     !take_registers(&at, attr->sample_regs_user, sample)) ||
	    (type & PERF_SAMPLE_STACK_USER && !take_stack(&at, &sample->stack)))
		return file_damaged(file, record->offset,
				    "a sample has %zu bytes, less than it says",
				    reader_left(&record->body));
	return 0;
}
