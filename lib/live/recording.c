// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <linux/hwprof.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "converging.h"
#include "device_rows.h"
#include "known_files.h"
#include "perfdata/file.h"
#include "process_labels.h"
#include "recording.h"
#include "row_records.h"
#include "unwinding.h"

enum {
	LATE_MS = 20,
	LATE_TRIES = 50,
	FILES_MAX = 1 << 16,		/* that are kept from one recording to
					 * another */
	TABLES_MANY = HWPROF_UNWIND_TABLES_MAX / 4 * 3,
	RENEW_SECONDS = 30,		/* until a first renewal for tables */
	RENEW_MOST = 3600,
};

struct known_code {
	int device;			/* for tables; -1: closed */
	struct unwinding *unwinding;	/* NULL: not wanted, or not available */
	struct known_files files;
	bool used;			/* by a recording */
	uint64_t begin;			/* in seconds since boot */
	unsigned int wait;		/* that lack of room must last */
};

struct recording {
	char message[512];
	const struct events_options *options;
	struct events *events;
	struct pollfd *polled;		/* of the events, and the caller's */

	struct writer *writer;
	uint64_t samples, lost;
	uint64_t fetched;		/* when rows of sessions were, in ms */
	size_t cut;			/* bytes of a record that a wrap cut
					 * off */
	bool cut_map;			/* that record is about a map */

	uint64_t limit;			/* of the file's bytes; 0: none */
	bool dropping;			/* the ring's records */
	bool full;			/* a ring's records were dropped */
	uint64_t dropped;		/* records */
	uint32_t process;		/* whose maps are told, and */
	uint64_t process_bytes;		/* how long these are */

	char warning[256];		/* about stacks; empty: none */
	struct known_code *code;
	bool own_code;			/* it belongs to the recording */
	struct label_table labels;	/* of processes */
	bool want_labels;
	bool missed;			/* records about processes */
	struct converging *converging;	/* NULL: no session converges */
};

/* --- code ----------------------------------------------------------------- */

static uint64_t boot_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec;
}

struct known_code *known_code_new(const struct code_reader *reader)
{
	struct known_code *code = calloc(1, sizeof(*code));

	if (!code)
		return NULL;
	code->device = -1;
	code->files.reader = reader;
	code->begin = boot_seconds();
	code->wait = RENEW_SECONDS;
	return code;
}

/* Forgets files and tables. */
static void clear_code(struct known_code *code)
{
	unwinding_free(code->unwinding);
	code->unwinding = NULL;
	if (code->device >= 0)
		close(code->device);
	code->device = -1;
	known_files_free(&code->files);
	code->files = (struct known_files){ .reader = code->files.reader };
	code->used = false;
	code->begin = boot_seconds();
}

void known_code_free(struct known_code *code)
{
	if (!code)
		return;
	clear_code(code);
	free(code);
}

/* Returns true if tables lack room, or soon will. */
static bool lacks_tables(const struct unwinding *unwinding)
{
	return unwinding_refused(unwinding) ||
	       unwinding_tables(unwinding) > TABLES_MANY;
}

void known_code_renew(struct known_code *code)
{
	const struct unwinding *unwinding = code->unwinding;
	uint64_t age = boot_seconds() - code->begin;

	if (code->files.count > FILES_MAX ||
	    (unwinding && unwinding_files(unwinding) > FILES_MAX)) {
		clear_code(code);
		return;
	}
	if (!unwinding || !lacks_tables(unwinding) || age < code->wait)
		return;
	/* After a long time in order the reason is another one. */
	code->wait = age > 2 * RENEW_MOST ? RENEW_SECONDS : 2 * code->wait;
	if (code->wait > RENEW_MOST)
		code->wait = RENEW_MOST;
	clear_code(code);
}

unsigned int known_code_refused(const struct known_code *code)
{
	return code->unwinding ? unwinding_refused(code->unwinding) : 0;
}

void recording_use_code(struct recording *recording, struct known_code *code)
{
	recording->code = code;
}

void recording_want_labels(struct recording *recording)
{
	recording->want_labels = true;
}

/* --- opening -------------------------------------------------------------- */

static int fail(struct recording *recording, int error,
		const char *format, ...) __attribute__((format(printf, 3, 4)));

static int fail(struct recording *recording, int error,
		const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(recording->message, sizeof(recording->message), format, args);
	va_end(args);
	return error;
}

const char *recording_error(const struct recording *recording)
{
	return recording ? recording->message : "out of memory";
}

const char *recording_warning(const struct recording *recording)
{
	return *recording->warning ? recording->warning : NULL;
}

int recording_refused(const struct recording *recording)
{
	return recording && recording->events ? recording->events->refused : -1;
}

/*
 * There may be more events (threads * CPUs * kinds) than the soft limit of
 * files.
 */
static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int from_events(struct recording *recording, int error)
{
	if (error)
		fail(recording, error, "%s", recording->events ?
					     recording->events->message :
					     "out of memory");
	return error;
}

int recording_open(struct recording **result,
		   const struct events_options *options)
{
	struct recording *recording = calloc(1, sizeof(*recording));
	int error;

	*result = recording;
	if (!recording)
		return -ENOMEM;
	recording->options = options;
	raise_file_limit();
	error = from_events(recording, events_open(&recording->events,
						   options));
	if (error)
		return error;
	recording->polled = calloc(recording->events->fd_count + 1,
				   sizeof(*recording->polled));
	return recording->polled ? 0 :
				   fail(recording, -ENOMEM, "out of memory");
}

int recording_converge(struct recording *recording,
		       const struct hwprof_converge *options)
{
	const struct events *events = recording->events;
	int device = open(HWPROF_DEVICE, O_RDWR | O_CLOEXEC);

	if (device < 0)
		return fail(recording, -errno,
			    "to converge takes " HWPROF_DEVICE
			    ", which cannot be opened: %s", strerror(errno));
	recording->converging = converging_new(options, events->kinds,
					       events->kind_count,
					       events->options.filter, device);
	return recording->converging ?
	       0 : fail(recording, -ENOMEM, "out of memory");
}

static int from_writer(struct recording *recording, int error)
{
	if (error)
		fail(recording, error, "%s", writer_error(recording->writer));
	return error;
}

/* Returns a descriptor that takes the tables of the events' sessions. */
static int open_device(const struct events_kind *kind)
{
	return kind->rows ? fcntl(device_rows_fd(kind->rows), F_DUPFD_CLOEXEC,
				  0) : open(HWPROF_DEVICE, O_RDWR | O_CLOEXEC);
}

/* Without the device, unwind without tables. */
static void want_unwinding(struct recording *recording)
{
	const struct events_options *options = recording->options;
	struct known_code *code = recording->code;
	const struct events_kind *wanted = NULL;
	size_t i;

	for (i = 0; i < options->kind_count; i++) {
		const struct perf_event_attr *attr = &options->kinds[i].attr;
		const uint64_t words[] = {
			attr->config, attr->config1, attr->config2,
		};

		if (unwinding_wanted(words))
			wanted = &options->kinds[i];
	}
	if (!wanted || code->unwinding)
		return;
	if (code->device < 0)
		code->device = open_device(wanted);
	if (code->device >= 0)
		code->unwinding = unwinding_new(code->device,
						code->files.reader);
	else
		snprintf(recording->warning, sizeof(recording->warning),
			 "stacks are by frame pointers alone: cannot open " HWPROF_DEVICE ": %s",
			 strerror(errno));
}

static void warn_of_tables(struct recording *recording)
{
	const struct unwinding *unwinding = recording->code->unwinding;
	unsigned int refused = unwinding ? unwinding_refused(unwinding) : 0;

	if (refused)
		snprintf(recording->warning, sizeof(recording->warning),
			 "stacks are by frame pointers in the code of %u file%s: the module gives no memory for more tables: lower memory_mib, or raise what users may lock (ulimit -l)",
			 refused, refused == 1 ? "" : "s");
}

static bool is_map(const struct perf_event_header *header)
{
	return unwinding_is_map(header->type, header->misc);
}

/* Notes a map, whose pid follows the header. */
static void note_map(struct recording *recording, const void *body)
{
	unwinding_note(recording->code->unwinding, *(const uint32_t *)body);
}

void recording_limit(struct recording *recording, uint64_t bytes)
{
	recording->limit = bytes;
}

uint64_t recording_dropped(const struct recording *recording)
{
	return recording->dropped;
}

bool recording_is_full(const struct recording *recording)
{
	return recording->full;
}

/*
 * Returns true if a record about a process that ran before has room. Its pid
 * follows the header.
 */
static bool has_room(struct recording *recording, const void *body, size_t size)
{
	uint32_t pid = *(const uint32_t *)body;
	uint64_t limit = recording->limit;

	if (pid != recording->process)
		recording->process_bytes = 0;
	recording->process = pid;
	recording->process_bytes += size;
	return !limit || (recording->process_bytes <= limit / 64 &&
			  writer_bytes(recording->writer) + size <= limit / 2);
}

static int put_record(void *context, const void *bytes, size_t size)
{
	const struct perf_event_header *header = bytes;
	struct recording *recording = context;

	if (is_map(header))
		note_map(recording, header + 1);
	if (!has_room(recording, header + 1, size)) {
		recording->dropped++;
		return 0;
	}
	return writer_add(recording->writer, bytes, size);
}

static bool sees_kernel(const struct events_options *options)
{
	size_t i;

	for (i = 0; i < options->kind_count; i++)
		if (!options->kinds[i].attr.exclude_kernel)
			return true;
	return false;
}

static int want_code(struct recording *recording)
{
	if (!recording->code) {
		recording->code = known_code_new(NULL);
		recording->own_code = true;
	}
	if (!recording->code)
		return fail(recording, -ENOMEM, "out of memory");
	want_unwinding(recording);
	return 0;
}

/* Gives the module tables before events begin. */
static void begin_unwinding(struct recording *recording,
			    const struct synthesis *synthesis)
{
	struct known_code *code = recording->code;

	if (code->used)
		unwinding_continue(code->unwinding);
	else
		unwinding_begin(code->unwinding, synthesis);
	code->used = code->unwinding;
}

/* Returns how many kinds the file has. */
static size_t recorded_kinds(const struct recording *recording)
{
	const struct events_options *options = recording->options;
	size_t count = recording->events->kind_count, i;

	for (i = 0; i < options->kind_count; i++)
		count -= options->kinds[i].hidden;
	return count;
}

int recording_start(struct recording *recording, const char *path)
{
	const struct events_options *options = recording->options;
	const pid_t everything = -1;	/* any process that enters a cgroup */
	struct synthesis synthesis = {
		.targets = options->cgroup ? &everything : options->targets,
		.count = options->target_count,
		.sample_type = EVENTS_SAMPLE_TYPE,
		.data = events_want_data(options),
		.put = put_record, .context = recording,
	};
	struct events *events = recording->events;
	size_t i;
	int error;

	for (i = 0; i < events->fd_count; i++)
		recording->polled[i] = (struct pollfd){
			.fd = events->fds[i], .events = POLLIN,
		};
	error = from_writer(recording, writer_open(&recording->writer, path,
						   events->kinds,
						   recorded_kinds(recording)));
	if (!error)
		error = want_code(recording);
	if (error)
		return error;
	synthesis.files = &recording->code->files;
	if (recording->want_labels)
		synthesis.labels = &recording->labels;
	if (sees_kernel(options))
		error = from_writer(recording, synthesize_kernel(&synthesis));
	if (options->on_exec || error)
		return error;
	begin_unwinding(recording, &synthesis);
	/*
	 * Enable events first: maps made meanwhile are then reported twice, not
	 * lost.
	 */
	error = from_events(recording, events_enable(events));
	if (!error)
		error = from_writer(recording, synthesize(&synthesis));
	unwinding_update(recording->code->unwinding);
	return error;
}

/*
 * A process without memory for its label has none. Of a record about processes
 * that a wrap cuts off behind its header, nothing is known.
 */
static void note_label(struct recording *recording,
		       const struct perf_event_header *header, size_t left)
{
	if (!recording->want_labels || header->type == PERF_RECORD_SAMPLE)
		return;
	if (left < sizeof(*header) + 2 * sizeof(uint64_t))
		recording->missed = true;
	else
		process_labels_take(&recording->labels, header, header + 1,
				    left - sizeof(*header));
}

/* Scans the records in a piece of the ring; they begin at multiples of 8. */
static void see_records(struct recording *recording, const uint8_t *bytes,
			size_t size)
{
	size_t at = recording->cut;

	if (recording->cut_map)
		note_map(recording, bytes);
	recording->cut_map = false;
	while (at + sizeof(struct perf_event_header) <= size) {
		const struct perf_event_header *header =
			(const void *)(bytes + at);
		const uint64_t *lost = (const uint64_t *)(header + 1) + 1;

		if (header->size < sizeof(*header))
			return;
		recording->dropped += recording->dropping;
		if (header->type == PERF_RECORD_SAMPLE)
			recording->samples++;
		if (header->type == PERF_RECORD_LOST &&
		    at + sizeof(*header) + 2 * sizeof(*lost) <= size)
			recording->lost += *lost;
		note_label(recording, header, size - at);
		if (is_map(header) && at + sizeof(*header) < size)
			note_map(recording, header + 1);
		else if (is_map(header))
			recording->cut_map = true;
		at += header->size;
	}
	/* The rest of a record that the end of the ring cut is at its start. */
	recording->cut = at - size;
}

static int take_records(struct recording *recording, const void *bytes,
			size_t size)
{
	if (!size)
		return 0;
	see_records(recording, bytes, size);
	if (recording->converging)
		converging_take(recording->converging, bytes, size);
	return recording->dropping ? 0 : writer_add(recording->writer, bytes,
						    size);
}

/*
 * Returns the bytes of the leading records that the limit leaves room for. Only
 * the last one may be cut.
 */
static size_t fitting(const struct recording *recording, const uint8_t *bytes,
		      size_t size)
{
	uint64_t written = writer_bytes(recording->writer);
	size_t at = 0;

	if (!recording->limit)
		return size;
	while (at + sizeof(struct perf_event_header) <= size) {
		const struct perf_event_header *header =
			(const void *)(bytes + at);

		if (header->size < sizeof(*header) ||
		    written + at + header->size > recording->limit)
			return at;
		at += header->size;
	}
	return at < size ? at : size;
}

static int take_bytes(void *context, const void *bytes, size_t size)
{
	struct recording *recording = context;
	/* A record that is cut is written whole, or not at all. */
	size_t rest = recording->cut < size ? recording->cut : size, kept;
	int error = take_records(recording, bytes, rest);

	if (error || rest == size)
		return error;
	bytes = (const uint8_t *)bytes + rest;
	size -= rest;
	kept = fitting(recording, bytes, size);
	recording->dropping = false;
	error = take_records(recording, bytes, kept);
	if (error || kept == size)
		return error;
	recording->dropping = true;
	recording->full = true;
	return take_records(recording, (const uint8_t *)bytes + kept,
			    size - kept);
}

static int drain(struct recording *recording)
{
	int error;

	recording->cut = 0;
	recording->cut_map = false;
	if (recording->converging)
		converging_begin(recording->converging);
	error = from_writer(recording, events_drain(recording->events,
						    take_bytes, recording));
	unwinding_update(recording->code->unwinding);
	return error;
}

/* --- rows of sessions ----------------------------------------------------- */

/* A session whose rows are written. */
struct fetching {
	struct recording *recording;
	uint64_t event;			/* id of the event */
};

static int write_row(void *context, const struct hwprof_row *row, uint64_t time)
{
	const struct fetching *fetching = context;
	struct recording *recording = fetching->recording;
	struct hwprof_sample sample = { .row = row };
	struct row_place place;

	row_describe(&sample);
	place = (struct row_place){
		time, sample.ip, sample.addr, sample.period,
	};
	recording->samples++;
	return records_add_row(recording->writer, fetching->event, row, &place);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ULL + now.tv_nsec / 1000000;
}

/* Kinds with sessions have no metrics, so that each has one event. */
int recording_snapshot(struct recording *recording)
{
	const struct events_options *options = recording->options;
	int error = 0;
	size_t i;

	recording->fetched = now_ms();
	for (i = 0; i < options->kind_count && !error; i++) {
		const struct events_kind *kind = &options->kinds[i];
		const struct writer_event *event = &recording->events->kinds[i];
		struct fetching fetching = { .recording = recording };

		if (!kind->rows || kind->hidden || !event->id_count)
			continue;
		fetching.event = event->ids[0];
		error = device_rows_fetch(kind->rows, write_row, &fetching);
	}
	if (error && !*writer_error(recording->writer))
		return fail(recording, error,
			    "cannot read the rows of a session: %s",
			    strerror(-error));
	return from_writer(recording, error);
}

/* Returns how long rows of sessions may wait, in ms. */
static uint64_t interval_of(const struct events_options *options)
{
	const struct perf_event_attr *attr = &options->kinds[0].attr;
	const struct hwprof_event event = {
		.config = { attr->config, attr->config1, attr->config2 },
	};
	uint64_t interval = hwprof_event_field(&event, "interval_ms");

	return interval ? interval : HWPROF_DEFAULT_INTERVAL_MS;
}

static int fetch_sometimes(struct recording *recording)
{
	const struct events_options *options = recording->options;

	if (!options->kinds[0].rows ||
	    now_ms() - recording->fetched < interval_of(options))
		return 0;
	return recording_snapshot(recording);
}

/* --- while it runs -------------------------------------------------------- */

/* Returns true if all targets have exited, which hangs up their events. */
static bool all_gone(const struct recording *recording)
{
	size_t i;

	for (i = 0; i < recording->events->fd_count; i++)
		if (recording->polled[i].fd >= 0)
			return false;
	return true;
}

int recording_step(struct recording *recording, struct pollfd *other,
		   int milliseconds)
{
	struct pollfd *polled = recording->polled;
	size_t count = recording->events->fd_count, i;
	int error;

	polled[count] = *other;
	if (poll(polled, count + 1, milliseconds) < 0 && errno != EINTR)
		return fail(recording, -errno, "cannot wait for records: %s",
			    strerror(errno));
	other->revents = polled[count].revents;
	for (i = 0; i < count; i++)
		if (polled[i].revents & (POLLHUP | POLLERR | POLLNVAL))
			polled[i].fd = -1;
	error = drain(recording);
	if (!error && recording->converging &&
	    converging_step(recording->converging))
		error = fail(recording, -ENOMEM, "out of memory");
	if (!error)
		error = fetch_sometimes(recording);
	return error ? error : all_gone(recording);
}

/* Writes the number of samples that an event lost, as perf does at the end. */
static int add_lost(struct recording *recording, size_t index)
{
	struct {
		uint64_t value, id, lost;
	} count;

	if (read(recording->events->fds[index], &count, sizeof(count)) !=
	    sizeof(count) || !count.lost)
		return 0;
	/* The time is after all others. */
	return from_writer(recording,
			   writer_add_lost(recording->writer, count.id,
					   count.lost, UINT64_MAX >> 1));
}

/*
 * Waits for rows that come a moment later, because an interrupt found the
 * session busy when the events were disabled.
 */
static int drain_late(struct recording *recording)
{
	uint64_t samples;
	int tries, error;

	for (tries = 0; tries < LATE_TRIES; tries++) {
		samples = recording->samples;
		usleep(LATE_MS * 1000);
		error = drain(recording);
		if (error || recording->samples == samples)
			return error;
	}
	return 0;
}

int recording_finish(struct recording *recording,
		     const struct writer_facts *facts,
		     struct writer_summary *summary)
{
	struct writer_facts own = *facts;
	size_t i;
	int error;

	own.files = &recording->code->files;
	own.labels = recording->want_labels ? &recording->labels : NULL;
	if (recording->converging)
		own.distances = converging_distances(recording->converging);
	/* Disabling makes a running event deliver its last rows. */
	error = from_events(recording, events_disable(recording->events));
	if (!error)
		error = drain(recording);
	if (!error)
		error = drain_late(recording);
	if (!error && recording->options->kinds[0].rows)
		error = recording_snapshot(recording);
	warn_of_tables(recording);
	if (recording->converging && !*recording->warning &&
	    converging_warning(recording->converging))
		snprintf(recording->warning, sizeof(recording->warning), "%s",
			 converging_warning(recording->converging));
	for (i = 0; i < recording->events->fd_count && !error; i++)
		error = add_lost(recording, i);
	/* An exec may be among the records that were lost. */
	if (!error && (recording->lost || recording->missed))
		error = labels_doubt(&recording->labels);
	if (error)
		return error;
	return from_writer(recording, writer_finish(recording->writer, &own,
						    summary));
}

void recording_progress(const struct recording *recording, uint64_t *samples,
			uint64_t *lost, uint64_t *bytes)
{
	*samples = recording->samples;
	*lost = recording->lost;
	*bytes = writer_bytes(recording->writer);
}

void recording_close(struct recording *recording)
{
	if (!recording)
		return;
	events_close(recording->events);
	converging_close(recording->converging);
	if (recording->own_code)
		known_code_free(recording->code);
	writer_close(recording->writer);
	labels_free(&recording->labels);
	free(recording->polled);
	free(recording);
}
