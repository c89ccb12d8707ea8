// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reads the data of a recording from front to back, and unpacks records that
 * perf compressed (record -z).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#include "file.h"
#include "rereads.h"

enum {
	RECORD_MAX = UINT16_MAX,	/* perf_event_header.size is a u16 */
	UNPACKED_SIZE = 1 << 20,
	TYPES = 1 << 16,		/* limit of types, far above those in
					 * use */
};

struct walk {
	struct hwprof_file *file;
	record_fn fn;
	void *context;

	bool ended;			/* nothing more can be read */
	bool early;			/* although there should be more */
	struct rereads rereads;

	ZSTD_DStream *zstd;		/* one stream for the whole file */
	uint8_t *unpacked;		/* the last record may be incomplete */
	size_t unpacked_size;
};

static int tell(struct hwprof_file *file, const struct record *record,
		record_fn fn, void *context)
{
	struct byte_reader body = record->body;
	uint64_t lost;

	if (record->type == PERF_RECORD_LOST && reader_skip(&body, 8) &&
	    reader_u64(&body, &lost))
		file->lost += lost;
	if (record->type == PERF_RECORD_LOST_SAMPLES &&
	    reader_u64(&body, &lost))
		file->lost_samples += lost;
	return fn(context, record);
}

static int identify(struct hwprof_file *file, struct record *record,
		    const struct perf_event_header *header,
		    struct byte_reader body, uint64_t offset)
{
	*record = (struct record) {
		.type = header->type,
		.misc = header->misc,
		.offset = offset,
		.body = body,
	};
	return sample_identify(file, record);
}

int record_deliver(struct hwprof_file *file,
		   const struct perf_event_header *header,
		   struct byte_reader body, uint64_t offset, record_fn fn,
		   void *context)
{
	struct record record;
	int error = identify(file, &record, header, body, offset);

	return error ? error : tell(file, &record, fn, context);
}

/* Ends reading at damage at @offset, behind which no record can be found. */
static int end_early(struct walk *walk, uint64_t offset, const char *why)
{
	walk->ended = walk->early = true;
	return file_warn(walk->file, offset,
			 "%s: what is before is all that could be read", why);
}

static int deliver(struct walk *walk, const struct perf_event_header *header,
		   struct byte_reader body, uint64_t offset)
{
	struct record record;
	int again, error = identify(walk->file, &record, header, body, offset);

	if (error)
		return error;
	again = rereads_check(&walk->rereads, &record);
	if (again < 0)
		return file_fail(walk->file, again, "out of memory");
	return again ? 0 : tell(walk->file, &record, walk->fn, walk->context);
}

/* Delivers complete records, and moves the rest to the front. */
static int deliver_unpacked(struct walk *walk, uint64_t offset)
{
	struct byte_reader left =
		reader_of(walk->unpacked, walk->unpacked_size);

	for (;;) {
		struct perf_event_header header;
		struct byte_reader record = left, body;
		int error;

		if (!reader_copy(&record, &header, sizeof(header)))
			break;
		if (header.size < sizeof(header))
			return end_early(walk, offset,
					 "a compressed record is too short");
		if (!reader_part(&record, header.size - sizeof(header), &body))
			break;
		error = deliver(walk, &header, body, offset);
		if (error)
			return error;
		left.at += header.size;
	}
	walk->unpacked_size = reader_left(&left);
	memmove(walk->unpacked, left.at, walk->unpacked_size);
	return 0;
}

static int start_unpacking(struct walk *walk)
{
	if (walk->zstd)
		return 0;
	walk->zstd = ZSTD_createDStream();
	walk->unpacked = malloc(UNPACKED_SIZE);
	if (!walk->zstd || !walk->unpacked)
		return file_fail(walk->file, -ENOMEM, "out of memory");
	return 0;
}

static int unpack(struct walk *walk, struct byte_reader packed, uint64_t offset)
{
	ZSTD_inBuffer in = { packed.at, reader_left(&packed), 0 };
	ZSTD_outBuffer out = { .size = UNPACKED_SIZE };
	int error = start_unpacking(walk);

	if (error)
		return error;
	out.dst = walk->unpacked;
	do {
		size_t result;

		/* At most the start of a record is left, so there is room. */
		out.pos = walk->unpacked_size;
		result = ZSTD_decompressStream(walk->zstd, &out, &in);
		if (ZSTD_isError(result))
			return end_early(
				walk, offset,
				"compressed records cannot be unpacked");
		walk->unpacked_size = out.pos;
		error = deliver_unpacked(walk, offset);
		if (error || walk->ended)
			return error;
		/* If the output is full, more may follow. */
	} while (in.pos < in.size || out.pos == out.size);
	return 0;
}

static int unpack_sized(struct walk *walk, struct byte_reader body,
			uint64_t offset)
{
	struct byte_reader packed;
	uint64_t size;

	if (!reader_u64(&body, &size) || !reader_part(&body, size, &packed))
		return end_early(walk, offset,
				 "compressed records are cut off");
	return unpack(walk, packed, offset);
}

/*
 * Adds an event in pipe mode: an attr of the size that it states, and ids up to
 * the end of the record.
 */
static int add_attr(struct hwprof_file *file, struct byte_reader body,
		    uint64_t offset)
{
	struct perf_event_attr attr;
	struct byte_reader bytes = body;
	uint32_t size;

	if (reader_left(&body) < PERF_ATTR_SIZE_VER0)
		return file_damaged(file, offset, "an event is cut off");
	memcpy(&size, body.at + offsetof(struct perf_event_attr, size),
	       sizeof(size));
	if (!size)
		size = PERF_ATTR_SIZE_VER0;
	if (!reader_part(&body, size, &bytes) || !file_read_attr(bytes, &attr))
		return file_damaged(file, offset, "an event is cut off");
	return file_add_event(file, &attr, body);
}

static int add_feature(struct hwprof_file *file, struct byte_reader body,
		       uint64_t offset)
{
	uint64_t feature;

	if (!reader_u64(&body, &feature))
		return file_damaged(file, offset, "a section is cut off");
	return feature_parse(file, feature < PERFDATA_FEATURES ? feature : 0,
			     offset, body);
}

/* Delivers a record unless it describes the recording. */
static int take(struct walk *walk, const struct perf_event_header *header,
		const uint8_t *bytes, uint64_t offset)
{
	struct hwprof_file *file = walk->file;
	struct byte_reader whole = reader_of(bytes, header->size);
	struct byte_reader body = whole;

	reader_skip(&body, sizeof(*header));
	switch (header->type) {
	case PERFDATA_ZSTD:
		return unpack(walk, body, offset);
	case PERFDATA_ZSTD_SIZED:
		return unpack_sized(walk, body, offset);
	case PERFDATA_HEADER_ATTR:
		return file->pipe ? add_attr(file, body, offset) : 0;
	case PERFDATA_HEADER_FEATURE:
		return file->pipe ? add_feature(file, body, offset) : 0;
	case PERFDATA_AUXTRACE_INFO:
		file->traced = true;
		break;
	case PERFDATA_HEADER_BUILD_ID:
		return feature_parse(file, PERFDATA_BUILD_ID, offset, whole);
	}
	return deliver(walk, header, body, offset);
}

/* Returns the number of bytes behind a record that are not part of it. */
static uint64_t bytes_behind(const struct perf_event_header *header,
			     struct byte_reader body)
{
	uint64_t size = 0;
	uint32_t small;

	if (header->type == PERFDATA_AUXTRACE)
		reader_u64(&body, &size);
	else if (header->type == PERFDATA_TRACING_DATA &&
		 reader_u32(&body, &small))
		size = ((uint64_t)small + 7) & ~7ULL;
	return size;
}

/*
 * Types of records are small numbers. If perf's messages go to the same pipe as
 * the data, text appears instead of a record.
 */
static bool is_type(uint32_t type)
{
	return type < TYPES;
}

/*
 * Makes the next record available. Returns 1 if there is one, 0 at the end, or
 * a negative errno.
 */
static int next_record(struct walk *walk, struct input *input, uint64_t limit,
		       struct perf_event_header *header, const uint8_t **bytes)
{
	ssize_t got = input_peek(input, sizeof(*header), bytes);

	walk->ended = !got;
	if (got == sizeof(*header)) {
		memcpy(header, *bytes, sizeof(*header));
		if (header->size < sizeof(*header) || !is_type(header->type))
			return end_early(walk, input->offset,
					 "here is no record");
		if (header->size > limit - input->offset)
			return end_early(walk, input->offset,
					 "a record goes beyond the data");
		got = input_peek(input, header->size, bytes);
		if (got == header->size)
			return 1;
	}
	if (got < 0)
		return file_fail(walk->file, got, "cannot read: %s",
				 strerror(-got));
	return got ? end_early(walk, input->offset,
			       "the file ends in a record") : 0;
}

static int skip_record(struct walk *walk, struct input *input, uint64_t limit,
		       uint64_t size)
{
	int error;

	if (size > limit - input->offset)
		return end_early(
			walk, input->offset,
			"the bytes behind a record go beyond the data");
	error = input_skip(input, size);
	if (error == -ENODATA)
		return end_early(walk, input->offset,
				 "the file ends behind a record");
	return error ? file_fail(walk->file, error, "cannot read: %s",
				 strerror(-error)) : 0;
}

/*
 * Reads a record. Returns 0 to continue, unless the walk has ended; any other
 * value is the result of the walk.
 */
static int read_record(struct walk *walk, struct input *input, uint64_t limit)
{
	struct perf_event_header header;
	const uint8_t *bytes;
	struct byte_reader body;
	uint64_t size;
	int result;

	result = next_record(walk, input, limit, &header, &bytes);
	if (result <= 0)
		return result;
	body = reader_of(bytes, header.size);
	reader_skip(&body, sizeof(header));
	size = header.size + bytes_behind(&header, body);
	result = take(walk, &header, bytes, input->offset);
	if (result || walk->ended)
		return result;
	return skip_record(walk, input, limit, size);
}

static int read_all(struct walk *walk, struct input *input, uint64_t limit)
{
	while (!walk->ended && input->offset < limit) {
		int result = read_record(walk, input, limit);

		if (result)
			return result;
	}
	if (limit != UINT64_MAX && input->offset < limit && !walk->early)
		return end_early(
			walk, input->offset,
			"the file ends here, though its data is said to go on");
	if (walk->unpacked_size && !walk->early)
		return end_early(walk, input->offset,
				 "the data ends in a compressed record");
	return 0;
}

/*
 * Returns the end of the data as the header states it. A killed recorder left
 * no size.
 */
static uint64_t data_end(const struct hwprof_file *file)
{
	const struct perfdata_section *data = &file->header.data;

	if (file->pipe || !data->size || data->size > UINT64_MAX - data->offset)
		return UINT64_MAX;
	return data->offset + data->size;
}

static int warn_of_rereads(struct hwprof_file *file,
			   const struct rereads *rereads)
{
	if (!rereads->count)
		return 0;
	return file_warn(file, rereads->offset,
			 "perf copied %" PRIu64
			 " records twice: they are counted once",
			 rereads->count);
}

/* Reads the records in @fd, whose position is @offset, up to @limit. */
static int read_stream(struct hwprof_file *file, int fd, uint64_t offset,
		       uint64_t limit, record_fn fn, void *context)
{
	struct walk walk = { .file = file, .fn = fn, .context = context };
	struct input input;
	int error = input_init(&input, fd, offset);

	if (error)
		return file_fail(file, error, "out of memory");
	error = read_all(&walk, &input, limit);
	if (!error)
		error = warn_of_rereads(file, &walk.rereads);
	input_destroy(&input);
	rereads_destroy(&walk.rereads);
	ZSTD_freeDStream(walk.zstd);
	free(walk.unpacked);
	return error;
}

/* Reads the parts of a recording. They have no header, only records. */
static int read_parts(struct hwprof_file *file, record_fn fn, void *context)
{
	int error = 0;
	size_t i;

	for (i = 0; i < file->part_count && !error; i++) {
		if (lseek(file->parts[i], 0, SEEK_SET) < 0)
			return file_fail(file, -errno,
					 "cannot read data.%zu: %s", i,
					 strerror(errno));
		error = read_stream(file, file->parts[i], 0, UINT64_MAX, fn,
				    context);
	}
	return error;
}

void records_rewind(struct hwprof_file *file)
{
	file->consumed = false;
	file->lost = file->lost_samples = 0;
	warnings_cut(&file->warnings, file->header_warnings);
}

int records_read(struct hwprof_file *file, record_fn fn, void *context)
{
	uint64_t offset = PERFDATA_PIPE_HEADER;
	int error;

	if (file->consumed)
		return file_fail(file, -EALREADY,
				 "was read to its end: open it again");
	file->consumed = true;
	file->header_warnings = file->warnings.count;
	if (!file->pipe) {
		offset = file->header.data.offset;
		if (offset > INT64_MAX ||
		    lseek(file->fd, offset, SEEK_SET) < 0)
			return file_damaged(
				file, 40,
				"the data is said to be beyond any file");
	}
	error = read_stream(file, file->fd, offset, data_end(file), fn,
			    context);
	return error ? error : read_parts(file, fn, context);
}
