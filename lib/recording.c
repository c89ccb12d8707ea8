// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recording.h"
#include "ring.h"

enum {
	PAGES_DEFAULT = 1024,
	LATE_MS = 20,
	LATE_TRIES = 50,
	CPUS_MAX = 4096,
};

#define SAMPLE_TYPE	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |	\
			 PERF_SAMPLE_TID | PERF_SAMPLE_TIME |		\
			 PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU |		\
			 PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW)

struct recording {
	char message[512];
	int refused;			/* event, or -1 */
	const struct recording_options *options;

	/* Events by kind, then target, then CPU. */
	struct writer_event *events;
	uint64_t *ids;
	int *fds;
	size_t fd_count;

	int *cpus;
	struct ring *rings;		/* one per CPU */
	size_t cpu_count;
	struct pollfd *polled;		/* fds, and the caller's */

	struct writer *writer;
	uint64_t samples, lost;
	size_t cut;			/* bytes of a record that a wrap cut off */
};

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

int recording_refused(const struct recording *recording)
{
	return recording ? recording->refused : -1;
}

/* "0-3,8": the CPUs that are online. */
static int find_cpus(struct recording *recording)
{
	FILE *file = fopen("/sys/devices/system/cpu/online", "re");
	unsigned int from, to;
	int error = 0;

	if (!file)
		return fail(recording, -errno,
			    "cannot read which CPUs are online: %s",
			    strerror(errno));
	recording->cpus = calloc(CPUS_MAX, sizeof(*recording->cpus));
	if (!recording->cpus)
		error = fail(recording, -ENOMEM, "out of memory");
	while (!error && fscanf(file, "%u", &from) == 1) {
		int next = fgetc(file);

		to = from;
		if (next == '-' && fscanf(file, "%u", &to) == 1)
			fgetc(file);
		while (from <= to && recording->cpu_count < CPUS_MAX)
			recording->cpus[recording->cpu_count++] = from++;
	}
	fclose(file);
	return error;
}

/* Maps of data, too, where addresses of data are recorded. */
static bool wants_data(const struct recording_options *options)
{
	size_t i;

	for (i = 0; i < options->event_count; i++)
		if (options->events[i].attr.mmap_data)
			return true;
	return false;
}

/* What all events of a recording have in common; the first tells of tasks. */
static struct perf_event_attr complete(const struct recording_options *options,
				       size_t index)
{
	struct perf_event_attr attr = options->events[index].attr;
	bool first = !index;

	attr.size = sizeof(attr);
	attr.sample_type = SAMPLE_TYPE;
	attr.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
	attr.disabled = 1;
	attr.inherit = options->inherit;
	attr.enable_on_exec = options->on_exec;
	attr.exclude_hv = 1;
	attr.exclude_guest = 1;
	attr.sample_id_all = 1;
	attr.mmap = first;
	attr.mmap2 = first;
	attr.mmap_data = first && wants_data(options);
	attr.build_id = first;
	attr.comm = first;
	attr.comm_exec = first;
	attr.task = first;
	attr.watermark = 1;
	attr.wakeup_watermark = 1 << 16;
	return attr;
}

static int open_event(const struct perf_event_attr *attr, pid_t target, int cpu)
{
	struct perf_event_attr copy = *attr;
	long fd = syscall(SYS_perf_event_open, &copy, target, cpu, -1,
			  PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

/* Threads times CPUs times events may be more than the soft limit. */
static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* One event of the kind @index; its id goes to the file. */
static int add_fd(struct recording *recording, size_t index, pid_t target,
		  int cpu)
{
	struct writer_event *event = &recording->events[index];
	uint64_t *id = &recording->ids[recording->fd_count];
	int fd = open_event(&event->attr, target, cpu);

	if (fd < 0) {
		/* A thread of -p may be gone already. */
		if (fd == -ESRCH && recording->options->target_count > 1)
			return 0;
		recording->refused = index;
		return fail(recording, fd, "cannot open event '%s' on CPU %d: %s",
			    event->name, cpu, strerror(-fd));
	}
	recording->fds[recording->fd_count] = fd;
	if (ioctl(fd, PERF_EVENT_IOC_ID, id)) {
		close(fd);
		return fail(recording, -errno, "an event has no id: %s",
			    strerror(errno));
	}
	recording->fd_count++;
	event->id_count++;
	return 0;
}

static size_t pages_of(const struct recording *recording)
{
	return recording->options->pages ? recording->options->pages :
	       PAGES_DEFAULT;
}

/* The first event of a CPU owns its ring; how much memory we get, we try. */
static int map_ring(struct recording *recording, struct ring *ring, int fd)
{
	size_t pages = pages_of(recording);
	int error = ring_map(ring, fd, pages);

	while (error == -EPERM && !recording->options->pages && pages > 1) {
		pages /= 2;
		error = ring_map(ring, fd, pages);
	}
	if (error == -EPERM)
		return fail(recording, error,
			    "%zu pages for each CPU's ring are more than kernel.perf_event_mlock_kb allows: lower -m",
			    pages);
	if (error)
		return fail(recording, error,
			    "cannot map %zu pages for a CPU's ring: %s", pages,
			    strerror(-error));
	return 0;
}

/* All events of a CPU write into its ring. */
static int attach(struct recording *recording, size_t cpu, int *owner)
{
	int fd = recording->fds[recording->fd_count - 1];

	if (*owner < 0) {
		*owner = fd;
		return map_ring(recording, &recording->rings[cpu], fd);
	}
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, *owner))
		return fail(recording, -errno,
			    "two events cannot share a ring: %s",
			    strerror(errno));
	return 0;
}

static int open_kind(struct recording *recording, size_t index, int *owners)
{
	const struct recording_options *options = recording->options;
	size_t target, cpu;

	recording->events[index].attr = complete(options, index);
	recording->events[index].name = options->events[index].name;
	recording->events[index].ids = recording->ids + recording->fd_count;
	for (target = 0; target < options->target_count; target++) {
		for (cpu = 0; cpu < recording->cpu_count; cpu++) {
			size_t before = recording->fd_count;
			int error = add_fd(recording, index,
					   options->targets[target],
					   recording->cpus[cpu]);

			if (!error && recording->fd_count > before)
				error = attach(recording, cpu, &owners[cpu]);
			if (error)
				return error;
		}
	}
	return 0;
}

static int allocate(struct recording *recording)
{
	const struct recording_options *options = recording->options;
	size_t fds = options->event_count * options->target_count *
		     recording->cpu_count;

	recording->events = calloc(options->event_count,
				   sizeof(*recording->events));
	recording->ids = calloc(fds, sizeof(*recording->ids));
	recording->fds = calloc(fds, sizeof(*recording->fds));
	recording->polled = calloc(fds + 1, sizeof(*recording->polled));
	recording->rings = calloc(recording->cpu_count,
				  sizeof(*recording->rings));
	if (!recording->events || !recording->ids || !recording->fds ||
	    !recording->polled || !recording->rings)
		return fail(recording, -ENOMEM, "out of memory");
	return 0;
}

int recording_open(struct recording **result,
		   const struct recording_options *options)
{
	struct recording *recording = calloc(1, sizeof(*recording));
	int *owners, error;
	size_t i;

	*result = recording;
	if (!recording)
		return -ENOMEM;
	recording->options = options;
	recording->refused = -1;
	raise_file_limit();
	error = find_cpus(recording);
	if (!error)
		error = allocate(recording);
	if (error)
		return error;
	owners = malloc(recording->cpu_count * sizeof(*owners));
	if (!owners)
		return fail(recording, -ENOMEM, "out of memory");
	for (i = 0; i < recording->cpu_count; i++)
		owners[i] = -1;
	for (i = 0; i < options->event_count && !error; i++)
		error = open_kind(recording, i, owners);
	free(owners);
	if (!error && !recording->fd_count)
		error = fail(recording, -ESRCH, "no such process or thread");
	return error;
}

static int control(struct recording *recording, unsigned long request,
		   const char *what)
{
	size_t i;

	for (i = 0; i < recording->fd_count; i++)
		if (ioctl(recording->fds[i], request, 0))
			return fail(recording, -errno, "cannot %s an event: %s",
				    what, strerror(errno));
	return 0;
}

static int from_writer(struct recording *recording, int error)
{
	if (error)
		fail(recording, error, "%s", writer_error(recording->writer));
	return error;
}

int recording_start(struct recording *recording, const char *path)
{
	const struct recording_options *options = recording->options;
	size_t i;
	int error;

	for (i = 0; i < recording->fd_count; i++)
		recording->polled[i] = (struct pollfd){
			.fd = recording->fds[i], .events = POLLIN,
		};
	error = writer_open(&recording->writer, path, recording->events,
			    options->event_count);
	/* Maps that come up meanwhile are told twice, rather than not at all. */
	if (!error && !options->on_exec)
		error = control(recording, PERF_EVENT_IOC_ENABLE, "start");
	if (error && *recording->message)
		return error;
	if (!error && !options->on_exec)
		error = synthesize(recording->writer, options->targets,
				   options->target_count, SAMPLE_TYPE,
				   wants_data(options));
	return from_writer(recording, error);
}

/* Counts the records of a piece of the ring: they begin at multiples of 8. */
static void count_records(struct recording *recording, const uint8_t *bytes,
			  size_t size)
{
	size_t at = recording->cut;

	while (at + sizeof(struct perf_event_header) <= size) {
		const struct perf_event_header *header =
			(const void *)(bytes + at);
		const uint64_t *lost = (const uint64_t *)(header + 1) + 1;

		if (header->size < sizeof(*header))
			return;
		if (header->type == PERF_RECORD_SAMPLE)
			recording->samples++;
		if (header->type == PERF_RECORD_LOST &&
		    at + sizeof(*header) + 2 * sizeof(*lost) <= size)
			recording->lost += *lost;
		at += header->size;
	}
	/* The rest of a record that the ring's end cut stands at its start. */
	recording->cut = at - size;
}

static int take_bytes(void *context, const void *bytes, size_t size)
{
	struct recording *recording = context;

	count_records(recording, bytes, size);
	return writer_add(recording->writer, bytes, size);
}

static int drain(struct recording *recording)
{
	int error = 0;
	size_t i;

	for (i = 0; i < recording->cpu_count && !error; i++) {
		if (!recording->rings[i].control)
			continue;
		recording->cut = 0;
		error = ring_drain(&recording->rings[i], take_bytes, recording);
	}
	return from_writer(recording, error);
}

/* A target that has gone hangs up its events. */
static bool all_gone(const struct recording *recording)
{
	size_t i;

	for (i = 0; i < recording->fd_count; i++)
		if (recording->polled[i].fd >= 0)
			return false;
	return true;
}

int recording_step(struct recording *recording, struct pollfd *other,
		   int milliseconds)
{
	struct pollfd *polled = recording->polled;
	size_t count = recording->fd_count, i;
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
	return error ? error : all_gone(recording);
}

/* As perf does it: what an event lost in all goes into the file at its end. */
static int add_lost(struct recording *recording, size_t index)
{
	struct {
		uint64_t value, id, lost;
	} count;
	struct {
		struct perf_event_header header;
		uint64_t lost;
		uint32_t pid, tid;
		uint64_t time;
		uint32_t cpu, reserved;
		uint64_t id;
	} record = {
		.header.type = PERF_RECORD_LOST_SAMPLES,
		.header.size = sizeof(record),
		.time = UINT64_MAX >> 1,	/* behind all others */
	};

	if (read(recording->fds[index], &count, sizeof(count)) !=
	    sizeof(count) || !count.lost)
		return 0;
	record.lost = count.lost;
	record.id = count.id;
	return from_writer(recording, writer_add(recording->writer, &record,
						 sizeof(record)));
}

/*
 * What an interrupt found busy when the events were disabled comes a moment
 * later.
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
	size_t i;
	int error;

	/* Disabling lets a running event give its last rows. */
	error = control(recording, PERF_EVENT_IOC_DISABLE, "stop");
	if (!error)
		error = drain(recording);
	if (!error)
		error = drain_late(recording);
	for (i = 0; i < recording->fd_count && !error; i++)
		error = add_lost(recording, i);
	if (error)
		return error;
	return from_writer(recording, writer_finish(recording->writer, facts,
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
	size_t i;

	if (!recording)
		return;
	for (i = 0; recording->rings && i < recording->cpu_count; i++)
		ring_unmap(&recording->rings[i]);
	for (i = 0; i < recording->fd_count; i++)
		close(recording->fds[i]);
	writer_close(recording->writer);
	free(recording->events);
	free(recording->ids);
	free(recording->fds);
	free(recording->polled);
	free(recording->rings);
	free(recording->cpus);
	free(recording);
}
