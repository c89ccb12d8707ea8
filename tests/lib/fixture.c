// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "fixture.h"

#define SAMPLE_TYPE	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |	\
			 PERF_SAMPLE_TID | PERF_SAMPLE_TIME |		\
			 PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU |		\
			 PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW)

void fixture_begin(struct fixture *fixture, const char *text)
{
	static const char *const none[] = { NULL };

	fixture_begin_group(fixture, text, none);
}

void fixture_begin_group(struct fixture *fixture, const char *text,
			 const char *const *counters)
{
	struct writer_event *leader = &fixture->events[0];
	struct hwprof_event event;
	char message[512];
	int fd;

	fixture->labels = (struct label_table){ .count = 0 };
	fixture->masks = (struct numbers){ .count = 0 };
	fixture->distances = (struct distances){ .count = 0 };
	strcpy(fixture->path, "/tmp/hwprof-test-XXXXXX");
	fd = mkstemp(fixture->path);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(hwprof_event_parse(&event, text, message,
					    sizeof(message)), 0);
	fixture->id = FIXTURE_ID;
	*leader = (struct writer_event){
		.attr.type = FIXTURE_PMU_TYPE,
		.attr.size = sizeof(struct perf_event_attr),
		.attr.config = event.config[0],
		.attr.config1 = event.config[1],
		.attr.config2 = event.config[2],
		.attr.sample_type = SAMPLE_TYPE,
		.attr.sample_period = 1,
		.attr.sample_id_all = 1,
		.attr.mmap = 1,
		.attr.mmap2 = 1,
		.attr.comm = 1,
		.attr.comm_exec = 1,
		.attr.task = 1,
		.attr.exclude_kernel = 1,
		.name = "hwprof/loops,rows/u",
		.ids = &fixture->id,
		.id_count = 1,
	};
	for (; counters[leader->members]; leader->members++) {
		size_t i = leader->members;

		assert_true(i < FIXTURE_COUNTERS);
		fixture->counter_ids[i] = FIXTURE_ID + 1 + i;
		fixture->events[1 + i] = (struct writer_event){
			.attr.type = PERF_TYPE_HARDWARE,
			.attr.size = sizeof(struct perf_event_attr),
			.attr.sample_type = SAMPLE_TYPE,
			.name = counters[i],
			.ids = &fixture->counter_ids[i],
			.id_count = 1,
		};
	}
	assert_int_equal(writer_open(&fixture->writer, fixture->path,
				     fixture->events, 1 + leader->members), 0);
}

static void add(struct fixture *fixture, const void *bytes, size_t size)
{
	assert_int_equal(writer_add(fixture->writer, bytes, size), 0);
}

/* Adds the fields that sample_id_all appends to records other than samples. */
static void add_trailer(struct fixture *fixture, uint32_t pid, uint64_t time)
{
	uint64_t trailer[4] = {
		(uint64_t)pid << 32 | pid, time, 0, fixture->id,
	};

	add(fixture, trailer, sizeof(trailer));
}

static void add_named(struct fixture *fixture, struct perf_event_header header,
		      const void *fields, size_t size, const char *name,
		      uint32_t pid, uint64_t time)
{
	static const char zeros[8];
	size_t length = name ? strlen(name) + 1 : 0;

	header.size = sizeof(header) + size + (length + 7) / 8 * 8 + 32;
	add(fixture, &header, sizeof(header));
	add(fixture, fields, size);
	if (name)
		add(fixture, name, length);
	add(fixture, zeros, -length % 8);
	add_trailer(fixture, pid, time);
}

void fixture_comm(struct fixture *fixture, uint64_t time, uint32_t pid,
		  const char *name, bool exec)
{
	struct perf_event_header header = {
		.type = PERF_RECORD_COMM,
		.misc = PERF_RECORD_MISC_USER |
			(exec ? PERF_RECORD_MISC_COMM_EXEC : 0),
	};
	uint32_t ids[2] = { pid, pid };

	add_named(fixture, header, ids, sizeof(ids), name, pid, time);
}

static void add_task(struct fixture *fixture, uint32_t type, uint64_t time,
		     uint32_t pid, uint32_t parent)
{
	struct perf_event_header header = { .type = type };
	struct {
		uint32_t pid, parent, tid, parent_tid;
		uint64_t time;
	} fields = { pid, parent, pid, parent, time };

	add_named(fixture, header, &fields, sizeof(fields), NULL, pid, time);
}

void fixture_fork(struct fixture *fixture, uint64_t time, uint32_t pid,
		  uint32_t parent)
{
	add_task(fixture, PERF_RECORD_FORK, time, pid, parent);
}

void fixture_exit(struct fixture *fixture, uint64_t time, uint32_t pid)
{
	add_task(fixture, PERF_RECORD_EXIT, time, pid, 1);
}

void fixture_map(struct fixture *fixture, uint64_t time, uint32_t pid,
		 uint64_t start, uint64_t size, uint64_t offset,
		 const char *name, const struct build_id *id)
{
	struct perf_event_header header = {
		.type = PERF_RECORD_MMAP2,
		.misc = PERF_RECORD_MISC_USER |
			(id ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0),
	};
	struct {
		uint32_t pid, tid;
		uint64_t start, size, offset;
		uint8_t id[24];
		uint32_t protection, flags;
	} fields = {
		.pid = pid, .tid = pid, .start = start, .size = size,
		.offset = offset, .protection = PROT_READ | PROT_EXEC,
		.flags = MAP_PRIVATE,
	};

	if (id) {
		fields.id[0] = id->size;
		memcpy(fields.id + 4, id->bytes, id->size);
	}
	add_named(fixture, header, &fields, sizeof(fields), name, pid, time);
}

void fixture_lost(struct fixture *fixture, uint64_t time, uint64_t lost)
{
	struct perf_event_header header = { .type = PERF_RECORD_LOST };
	uint64_t fields[2] = { fixture->id, lost };

	add_named(fixture, header, fields, sizeof(fields), NULL, 0, time);
}

void fixture_row(struct fixture *fixture, uint64_t time, uint64_t ip,
		 uint64_t addr, uint64_t period, const struct hwprof_row *row)
{
	uint32_t raw_size = row->size + 4, zero = 0;
	struct perf_event_header header = {
		.type = PERF_RECORD_SAMPLE,
		.misc = PERF_RECORD_MISC_USER,
		.size = sizeof(header) + 7 * 8 + 4 + raw_size,
	};
	uint64_t fields[7] = {
		fixture->id, ip, (uint64_t)row->pid << 32 | row->pid, time,
		addr, 0, period,
	};

	add(fixture, &header, sizeof(header));
	add(fixture, fields, sizeof(fields));
	add(fixture, &raw_size, sizeof(raw_size));
	add(fixture, row, row->size);
	add(fixture, &zero, sizeof(zero));
}

void fixture_bare(struct fixture *fixture, uint64_t time, uint32_t pid,
		  uint64_t ip, uint64_t addr, uint64_t period)
{
	struct {
		struct perf_event_header header;
		uint64_t id, ip;
		uint32_t pid, tid;
		uint64_t time, addr, cpu, period;
		uint32_t raw_size, zero;
	} sample = {
		.header.type = PERF_RECORD_SAMPLE,
		.header.misc = PERF_RECORD_MISC_USER,
		.header.size = sizeof(sample),
		.id = fixture->id, .ip = ip, .pid = pid, .tid = pid,
		.time = time, .addr = addr, .period = period,
	};

	add(fixture, &sample, sizeof(sample));
}

struct hwprof_row_loop fixture_loop(uint32_t space, uint32_t pid, uint64_t head,
				    uint64_t tail, uint64_t back_edges,
				    int64_t entries)
{
	return (struct hwprof_row_loop){
		.row.type = HWPROF_ROW_LOOP,
		.row.size = sizeof(struct hwprof_row_loop),
		.row.space = space,
		.row.session = 1,
		.row.pid = pid,
		.head = head,
		.tail = tail,
		.back_edges = back_edges,
		.entries = entries,
		.tails = 1,
		.basis = HWPROF_BASIS_EXACT,
	};
}

void fixture_add_loop(struct fixture *fixture, uint64_t time,
		      const struct hwprof_row_loop *row)
{
	fixture_row(fixture, time, row->head, row->tail, row->back_edges,
		    &row->row);
}

void fixture_add_totals(struct fixture *fixture, uint64_t time,
			uint32_t session, uint64_t produced)
{
	struct hwprof_row_totals row = {
		.row.type = HWPROF_ROW_TOTALS,
		.row.size = sizeof(row),
		.row.session = session,
		.produced = produced,
		.delivered = produced,
		.events = 3 * produced,
		.basis = HWPROF_BASIS_EXACT,
	};

	fixture_row(fixture, time, 0, 0, 0, &row.row);
}

void fixture_add_branches(struct fixture *fixture, uint64_t time, uint32_t pid,
			  uint64_t sequence, uint32_t count, uint64_t first)
{
	size_t size = sizeof(struct hwprof_row_branches) +
		      count * sizeof(struct hwprof_branch);
	struct hwprof_row_branches *row = calloc(1, size);
	uint32_t i;

	assert_non_null(row);
	row->row.type = HWPROF_ROW_BRANCHES;
	row->row.size = size;
	row->row.space = row->row.session = 1;
	row->row.pid = row->tid = pid;
	row->sequence = sequence;
	row->count = count;
	for (i = 0; i < count; i++) {
		row->branches[i].from = first + 16 * i;
		row->branches[i].to = first + 16 * (i + 1);
		row->branches[i].kind = HWPROF_BRANCH_JUMP;
	}
	fixture_row(fixture, time, first, first + 16, count, &row->row);
	free(row);
}

void fixture_mask(struct fixture *fixture, const char *text)
{
	bool is_new;

	assert_non_null(numbers_text(&fixture->masks, text, &is_new));
}

void fixture_end(struct fixture *fixture)
{
	char *argv[] = { "hwprof", "record", "made up", NULL };
	struct writer_facts facts = {
		.argc = 3, .argv = argv, .pmu_type = FIXTURE_PMU_TYPE,
		.labels = &fixture->labels, .masks = &fixture->masks,
		.distances = &fixture->distances,
	};
	struct writer_summary summary;
	int error = writer_finish(fixture->writer, &facts, &summary);

	if (error)
		print_message("# %s\n", writer_error(fixture->writer));
	assert_int_equal(error, 0);
	writer_close(fixture->writer);
	fixture->writer = NULL;
	labels_free(&fixture->labels);
	numbers_free(&fixture->masks);
	distances_free(&fixture->distances);
}

struct hwprof_profile *fixture_loops(const struct fixture *fixture,
				   unsigned int flags)
{
	struct hwprof_file *file;
	struct hwprof_profile *loops;
	int error = hwprof_file_open(&file, fixture->path);

	if (!error)
		error = hwprof_profile_read(
			&loops, HWPROF_KIND_LOOPS, &file, 1,
			&(struct hwprof_options){.flags = flags});
	if (error)
		print_message("# %s\n", hwprof_file_error(file));
	assert_int_equal(error, 0);
	hwprof_file_close(file);
	return loops;
}

struct hwprof_profile *fixture_read(struct fixture *fixtures, size_t count,
				    enum hwprof_kind kind,
				    const struct hwprof_options *options)
{
	struct hwprof_file *files[FIXTURE_FILES];
	struct hwprof_profile *profile;
	size_t i;

	assert_in_range(count, 1, FIXTURE_FILES);
	for (i = 0; i < count; i++) {
		fixture_end(&fixtures[i]);
		assert_int_equal(hwprof_file_open(&files[i], fixtures[i].path),
				 0);
	}
	assert_int_equal(hwprof_profile_read(&profile, kind, files, count,
					     options), 0);
	for (i = 0; i < count; i++) {
		hwprof_file_close(files[i]);
		fixture_remove(&fixtures[i]);
	}
	return profile;
}

int fixture_try(struct fixture *fixture, enum hwprof_kind kind,
		const struct hwprof_options *options,
		struct hwprof_profile **profile)
{
	struct hwprof_file *file;
	int error;

	fixture_end(fixture);
	error = hwprof_file_open(&file, fixture->path);
	if (!error)
		error = hwprof_profile_read(profile, kind, &file, 1, options);
	if (error)
		assert_non_null(strstr(hwprof_file_error(file), fixture->path));
	hwprof_file_close(file);
	fixture_remove(fixture);
	return error;
}

void fixture_remove(struct fixture *fixture)
{
	unlink(fixture->path);
}

int fixture_shell(char *output, size_t size, const char *format, ...)
{
	char command[4096];
	size_t got;
	va_list args;
	FILE *pipe;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	got = fread(output, 1, size - 1, pipe);
	output[got] = 0;
	return pclose(pipe);
}
