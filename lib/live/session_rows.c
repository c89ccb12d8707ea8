// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reads the results of a session: records of its events, and rows of its
 * device.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "known_files.h"
#include "live_session.h"

enum {
	SNAPSHOT_SIZE = 1 << 18,
	RING_SIZE = 1 << 18,		/* of each CPU */
};

static int from_file(struct hwprof_session *session, int error)
{
	if (error)
		session_fail(session, error, "%s",
			     error == -ENOMEM ? "out of memory" :
			     hwprof_file_error(session->file));
	return error;
}

/* --- records of events: processes and their maps ------------------------- */

static int note(void *context, const struct record *record)
{
	struct hwprof_session *session = context;
	struct byte_reader body = record->body;
	uint32_t pid;

	if (record->type == PERF_RECORD_SAMPLE)
		return 0;
	if (unwinding_is_map(record->type, record->misc) &&
	    reader_u32(&body, &pid))
		unwinding_note(session->unwinding, pid);
	if (record->time != UINT64_MAX && record->time > session->now)
		session->now = record->time;
	return processes_note(session->gathering->facts.processes,
			      session->file, record);
}

static int take_record(struct hwprof_session *session)
{
	struct perf_event_header *header = (void *)session->record;
	struct byte_reader body = reader_of(session->record, header->size);

	reader_skip(&body, sizeof(*header));
	return record_deliver(session->file, header, body, 0, note, session);
}

/* Returns how many bytes the record lacks, as far as is known. */
static size_t missing(const struct hwprof_session *session)
{
	const struct perf_event_header *header = (void *)session->record;

	if (session->record_size < sizeof(*header))
		return sizeof(*header) - session->record_size;
	return header->size < sizeof(*header) ? 0 :
	       header->size - session->record_size;
}

/* Takes records, or their pieces in order. */
static int take_bytes(void *context, const void *bytes, size_t size)
{
	struct hwprof_session *session = context;
	struct byte_reader left = reader_of(bytes, size);
	int error = 0;

	while (reader_left(&left) && !error) {
		size_t part = missing(session);

		if (part > reader_left(&left))
			part = reader_left(&left);
		reader_copy(&left, session->record + session->record_size,
			    part);
		session->record_size += part;
		if (missing(session))
			continue;
		error = take_record(session);
		session->record_size = 0;
	}
	return error;
}

static struct synthesis synthesis_of(struct hwprof_session *session,
				     const struct attached *attached)
{
	return (struct synthesis){
		.targets = attached->targets, .count = attached->target_count,
		.sample_type = EVENTS_SAMPLE_TYPE,
		.data = session->feeder.attr.mmap_data,
		.put = take_bytes, .context = session,
	};
}

void session_tell_tables(struct hwprof_session *session,
			 const struct attached *attached)
{
	const struct synthesis synthesis = synthesis_of(session, attached);

	unwinding_begin(session->unwinding, &synthesis);
}

int session_tell_maps(struct hwprof_session *session,
		      const struct attached *attached)
{
	struct synthesis synthesis = synthesis_of(session, attached);
	struct known_files files = { .count = 0 };
	int error;

	/* No file keeps the ids of a session's programs. */
	synthesis.files = &files;
	error = from_file(session, synthesize(&synthesis));
	known_files_free(&files);
	unwinding_update(session->unwinding);
	return error;
}

int session_drain_events(struct hwprof_session *session)
{
	int error = 0;
	size_t i;

	for (i = 0; i < session->attached_count && !error; i++)
		error = events_drain(session->attached[i].events, take_bytes,
				     session);
	unwinding_update(session->unwinding);
	return from_file(session, error);
}

/* --- rows of the device --------------------------------------------------- */

/* Takes a row as if it were in a sample of a file. */
static int take_row(struct hwprof_session *session, uint64_t time,
		    struct byte_reader raw, struct hwprof_sample *sample)
{
	int error;

	*sample = (struct hwprof_sample){
		.time = time, .cpu = UINT32_MAX, .rows = true,
		.config = {
			session->event.config[0], session->event.config[1],
			session->event.config[2],
		},
	};
	error = row_copy(session->file, 0, raw, &sample->row);
	if (error)
		return from_file(session, error);
	row_describe(sample);
	if (time > session->now)
		session->now = time;
	error = session_converge_row(session, time, sample->row);
	if (!error)
		error = profile_take(session->gathering, sample);
	return from_file(session, error);
}

static int take_rows(struct hwprof_session *session, struct byte_reader rows)
{
	int error = 0;

	while (reader_left(&rows) && !error) {
		struct hwprof_sample sample;
		uint64_t time;

		if (!reader_u64(&rows, &time))
			return session_fail(session, -EBADMSG,
					    "the module's rows are cut off");
		error = take_row(session, time, rows, &sample);
		if (!error)
			reader_skip(&rows, sample.row->size);
	}
	return error;
}

static int fetch_rows(struct hwprof_session *session)
{
	struct hwprof_snapshot snapshot = {
		.size = sizeof(snapshot), .buffer_size = SNAPSHOT_SIZE,
	};
	void *buffer = malloc(SNAPSHOT_SIZE);
	bool more = true;
	int error = 0;

	if (!buffer)
		return session_fail(session, -ENOMEM, "out of memory");
	snapshot.buffer = (uintptr_t)buffer;
	while (more && !error) {
		if (!ioctl(session->device, HWPROF_IOC_SNAPSHOT, &snapshot)) {
			error = take_rows(session, reader_of(buffer,
							   snapshot.filled));
			more = snapshot.more;
		} else if (errno != EINTR) {
			error = session_fail(session, -errno,
					     "cannot fetch rows: %s",
					     strerror(errno));
		}
	}
	free(buffer);
	return error;
}

static int make_profile(struct hwprof_session *session,
			struct hwprof_profile **profile)
{
	struct hwprof_profile *gathering = session->gathering;
	int error = hwprof_session_rows(session, NULL, NULL);

	if (!error)
		error = fetch_rows(session);
	if (!error)
		error = session_converge(session);
	if (error > 0)
		error = fetch_rows(session);
	/* Learn about processes that appeared while rows were fetched. */
	if (!error)
		error = session_drain_events(session);
	if (error)
		return error;
	error = processes_settle(gathering->facts.processes, session->now);
	if (!error)
		error = profile_snapshot(profile, gathering,
					 &session->options.profile);
	return from_file(session, error);
}

/*
 * Pauses events that may include this program. Finding symbols takes long when
 * every branch is profiled, and is of no interest.
 */
int hwprof_session_snapshot(struct hwprof_session *session,
			    struct hwprof_profile **profile)
{
	int error = session_pause(session, true), resumed;

	*profile = NULL;
	if (error)
		return error;
	error = make_profile(session, profile);
	resumed = session_pause(session, false);
	if (!error && resumed) {
		hwprof_profile_free(*profile);
		*profile = NULL;
	}
	return error ? error : resumed;
}

/* --- rows of rings -------------------------------------------------------- */

/* Returns the size of a ring with its control page. */
static size_t ring_bytes(const struct hwprof_session *session)
{
	return sysconf(_SC_PAGESIZE) + session->ring_size;
}

void session_unmap_rings(struct hwprof_session *session)
{
	if (session->rings)
		munmap(session->rings,
		       session->ring_count * ring_bytes(session));
	session->rings = NULL;
}

/* Makes rings as large as the user's limits allow. */
static int make_rings(struct hwprof_session *session)
{
	struct hwprof_ring ring = {
		.size = sizeof(ring), .data_size = RING_SIZE,
	};

	while (ioctl(session->device, HWPROF_IOC_RING, &ring)) {
		if ((errno != ENOMEM && errno != EPERM) ||
		    ring.data_size <= (size_t)sysconf(_SC_PAGESIZE))
			return session_fail(session, -errno,
					    "cannot make rings for rows: %s",
					    strerror(errno));
		ring.data_size /= 2;
	}
	session->ring_size = ring.data_size;
	session->ring_count = ring.rings;
	return 0;
}

static int map_rings(struct hwprof_session *session)
{
	int error = session->ring_count ? 0 : make_rings(session);
	void *memory;

	if (error)
		return error;
	memory = mmap(NULL, session->ring_count * ring_bytes(session),
		      PROT_READ | PROT_WRITE, MAP_SHARED, session->device, 0);
	if (memory == MAP_FAILED)
		return session_fail(session, -errno,
				    "cannot map the rings of rows: %s",
				    strerror(errno));
	session->rings = memory;
	return 0;
}

int hwprof_session_fd(struct hwprof_session *session)
{
	int error = session->rings ? 0 : map_rings(session);

	return error ? error : session->device;
}

/* Copies bytes from @at, which may wrap to the start of the data. */
static void copy_out(const struct hwprof_session *session,
		     const struct hwprof_ring_page *ring, uint64_t at, void *to,
		     size_t size)
{
	const uint8_t *data = (const uint8_t *)ring + ring->data_offset;
	size_t start = at & (session->ring_size - 1);
	size_t first = session->ring_size - start;

	if (first > size)
		first = size;
	memcpy(to, data + start, first);
	memcpy((uint8_t *)to + first, data, size - first);
}

/* Takes the record at @tail. Returns its size, or a negative errno. */
static long take_ring_row(struct hwprof_session *session,
			  const struct hwprof_ring_page *ring, uint64_t tail,
			  uint64_t left, struct hwprof_sample *sample)
{
	size_t size = offsetof(struct hwprof_record, row);
	struct hwprof_record head;
	int error;

	if (left < sizeof(head))
		return session_fail(session, -EBADMSG,
				    "the ring's rows are cut off");
	copy_out(session, ring, tail, &head, sizeof(head));
	if (head.row.size > left - size)
		return session_fail(session, -EBADMSG,
				    "the ring's rows are cut off");
	copy_out(session, ring, tail + size, session->record, head.row.size);
	error = take_row(session, head.time,
			 reader_of(session->record, head.row.size), sample);
	return error ? error : (long)(size + head.row.size);
}

static int drain_ring(struct hwprof_session *session,
		      struct hwprof_ring_page *ring, hwprof_sample_fn fn,
		      void *context)
{
	/* Pairs with the module's barrier between the rows and the head. */
	uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->data_tail;
	int result = 0;

	while (tail != head && !result) {
		struct hwprof_sample sample;
		long size = take_ring_row(session, ring, tail, head - tail,
					  &sample);

		if (size < 0) {
			result = size;
			break;
		}
		tail += size;
		if (fn)
			result = fn(context, &sample);
	}
	/* The module may overwrite this only after we have read it. */
	__atomic_store_n(&ring->data_tail, tail, __ATOMIC_RELEASE);
	return result;
}

static int drain_rings(struct hwprof_session *session, hwprof_sample_fn fn,
		       void *context)
{
	int error = 0;
	unsigned int i;

	for (i = 0; i < session->ring_count && !error; i++)
		error = drain_ring(session, (void *)((uint8_t *)session->rings +
						     i * ring_bytes(session)),
				   fn, context);
	return error;
}

int hwprof_session_rows(struct hwprof_session *session, hwprof_sample_fn fn,
			void *context)
{
	int error = session_drain_events(session), changed = 0;

	if (!error && !session->rings && fn)
		error = map_rings(session);
	if (error || !session->rings)
		return error;
	error = drain_rings(session, fn, context);
	if (!error && fn)
		changed = session_converge(session);
	return changed > 0 ? drain_rings(session, fn, context) :
			     error ?: changed;
}
