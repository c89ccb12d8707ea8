// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "events.h"

enum {
	PAGES_DEFAULT = 1024,
	CPUS_MAX = 4096,
};

static int fail(struct events *events, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(struct events *events, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(events->message, sizeof(events->message), format, args);
	va_end(args);
	return error;
}

/* --- CPUs ----------------------------------------------------------------- */

static bool has_cpu(const struct events *events, int cpu)
{
	size_t i;

	for (i = 0; i < events->cpu_count; i++)
		if (events->cpus[i] == cpu)
			return true;
	return false;
}

static void add_cpus(struct events *events, int from, int to)
{
	for (; from <= to; from++)
		if (!has_cpu(events, from))
			events->cpus[events->cpu_count++] = from;
}

/* "0-3,8". */
static int parse_cpus(struct events *events, const char *text)
{
	const char *at = text;
	unsigned int from, to;
	int used, error = 0;

	do {
		used = 0;
		if (sscanf(at, "%4u%n-%4u%n", &from, &used, &to, &used) < 2)
			to = from;
		if (!used || !isdigit((unsigned char)*at) || from > to ||
		    to >= CPUS_MAX)
			error = -EINVAL;
		else
			add_cpus(events, from, to);
		at += used;
	} while (!error && *at++ == ',');
	if (error || (at[-1] && at[-1] != '\n'))
		return fail(events, -EINVAL,
			    "CPUs '%s': allowed are numbers below %d and ranges, as in 0-3,8",
			    text, CPUS_MAX);
	return 0;
}

static int find_cpus(struct events *events)
{
	const char *path = "/sys/devices/system/cpu/online";
	char text[4096];
	FILE *file;
	bool found;

	events->cpus = calloc(CPUS_MAX, sizeof(*events->cpus));
	if (!events->cpus)
		return fail(events, -ENOMEM, "out of memory");
	if (events->options.cpus)
		return parse_cpus(events, events->options.cpus);
	file = fopen(path, "re");
	found = file && fgets(text, sizeof(text), file);
	if (file)
		fclose(file);
	return found ? parse_cpus(events, text) :
		       fail(events, -EIO, "cannot read which CPUs are online: %s",
			    path);
}

/* --- events --------------------------------------------------------------- */

bool events_want_data(const struct events_options *options)
{
	size_t i;

	for (i = 0; i < options->kind_count; i++)
		if (options->kinds[i].attr.mmap_data)
			return true;
	return false;
}

/* What all events of a recording have in common; the first tells of tasks. */
static struct perf_event_attr complete(const struct events_options *options,
				       size_t index)
{
	struct perf_event_attr attr = options->kinds[index].attr;
	bool first = !index;

	attr.size = sizeof(attr);
	attr.sample_type = EVENTS_SAMPLE_TYPE;
	attr.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
	attr.disabled = 1;
	attr.inherit = options->inherit;
	attr.enable_on_exec = options->on_exec;
	attr.exclude_hv = 1;
	attr.exclude_guest = 1;
	attr.sample_id_all = 1;
	attr.mmap = first;
	attr.mmap2 = first;
	attr.mmap_data = first && events_want_data(options);
	attr.build_id = first;
	attr.comm = first;
	attr.comm_exec = first;
	attr.task = first;
	attr.watermark = 1;
	attr.wakeup_watermark = 1 << 16;
	return attr;
}

static int open_event(const struct perf_event_attr *attr, pid_t target, int cpu,
		      bool cgroup)
{
	struct perf_event_attr copy = *attr;
	long fd = syscall(SYS_perf_event_open, &copy, target, cpu, -1,
			  PERF_FLAG_FD_CLOEXEC |
			  (cgroup ? PERF_FLAG_PID_CGROUP : 0));

	return fd < 0 ? -errno : (int)fd;
}

/* One event of the kind @index; its id goes to the file. */
static int add_fd(struct events *events, size_t index, pid_t target, int cpu)
{
	struct writer_event *event = &events->kinds[index];
	uint64_t *id = &events->ids[events->fd_count];
	int fd = open_event(&event->attr, target, cpu,
			    events->options.cgroup);

	if (fd < 0) {
		/* A thread of -p may be gone already. */
		if (fd == -ESRCH && events->options.target_count > 1)
			return 0;
		events->refused = index;
		return fail(events, fd, "cannot open event '%s' on CPU %d: %s",
			    event->name, cpu,
			    fd == -ENOENT && events->options.cgroup ?
			    "the cgroup has no controller perf_event" :
			    strerror(-fd));
	}
	events->fds[events->fd_count] = fd;
	if (ioctl(fd, PERF_EVENT_IOC_ID, id)) {
		close(fd);
		return fail(events, -errno, "an event has no id: %s",
			    strerror(errno));
	}
	events->fd_count++;
	event->id_count++;
	return 0;
}

static size_t pages_of(const struct events *events)
{
	return events->options.pages ? events->options.pages : PAGES_DEFAULT;
}

/* The first event of a CPU owns its ring; how much memory we get, we try. */
static int map_ring(struct events *events, struct ring *ring, int fd)
{
	size_t pages = pages_of(events);
	int error = ring_map(ring, fd, pages);

	while (error == -EPERM && !events->options.pages && pages > 1) {
		pages /= 2;
		error = ring_map(ring, fd, pages);
	}
	if (error == -EPERM)
		return fail(events, error,
			    "%zu pages for each CPU's ring are more than kernel.perf_event_mlock_kb allows: lower -m",
			    pages);
	if (error)
		return fail(events, error,
			    "cannot map %zu pages for a CPU's ring: %s", pages,
			    strerror(-error));
	return 0;
}

/* All events of a CPU write into its ring. */
static int attach(struct events *events, size_t cpu, int *owner)
{
	int fd = events->fds[events->fd_count - 1];

	if (*owner < 0) {
		*owner = fd;
		return map_ring(events, &events->rings[cpu], fd);
	}
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, *owner))
		return fail(events, -errno,
			    "two events cannot share a ring: %s",
			    strerror(errno));
	return 0;
}

static int open_kind(struct events *events, size_t index, int *owners)
{
	const struct events_options *options = &events->options;
	size_t target, cpu;

	events->kinds[index].attr = complete(options, index);
	events->kinds[index].name = options->kinds[index].name;
	events->kinds[index].ids = events->ids + events->fd_count;
	for (target = 0; target < options->target_count; target++) {
		for (cpu = 0; cpu < events->cpu_count; cpu++) {
			size_t before = events->fd_count;
			int error = add_fd(events, index,
					   options->targets[target],
					   events->cpus[cpu]);

			if (!error && events->fd_count > before)
				error = attach(events, cpu, &owners[cpu]);
			if (error)
				return error;
		}
	}
	return 0;
}

static int allocate(struct events *events)
{
	const struct events_options *options = &events->options;
	size_t fds = options->kind_count * options->target_count *
		     events->cpu_count;

	events->kinds = calloc(options->kind_count, sizeof(*events->kinds));
	events->ids = calloc(fds, sizeof(*events->ids));
	events->fds = calloc(fds, sizeof(*events->fds));
	events->rings = calloc(events->cpu_count, sizeof(*events->rings));
	if (!events->kinds || !events->ids || !events->fds || !events->rings)
		return fail(events, -ENOMEM, "out of memory");
	return 0;
}

int events_open(struct events **result, const struct events_options *options)
{
	struct events *events = calloc(1, sizeof(*events));
	int *owners, error;
	size_t i;

	*result = events;
	if (!events)
		return -ENOMEM;
	events->options = *options;
	events->refused = -1;
	error = find_cpus(events);
	if (!error)
		error = allocate(events);
	if (error)
		return error;
	owners = malloc(events->cpu_count * sizeof(*owners));
	if (!owners)
		return fail(events, -ENOMEM, "out of memory");
	for (i = 0; i < events->cpu_count; i++)
		owners[i] = -1;
	for (i = 0; i < options->kind_count && !error; i++)
		error = open_kind(events, i, owners);
	free(owners);
	events->options.targets = NULL;
	if (!error && !events->fd_count)
		error = fail(events, -ESRCH, "no such process or thread");
	return error;
}

void events_close(struct events *events)
{
	size_t i;

	if (!events)
		return;
	for (i = 0; events->rings && i < events->cpu_count; i++)
		ring_unmap(&events->rings[i]);
	for (i = 0; i < events->fd_count; i++)
		close(events->fds[i]);
	free(events->kinds);
	free(events->ids);
	free(events->fds);
	free(events->rings);
	free(events->cpus);
	free(events);
}

/* --- while they are open -------------------------------------------------- */

static int control(struct events *events, unsigned long request,
		   const char *what)
{
	size_t i;

	for (i = 0; i < events->fd_count; i++)
		if (ioctl(events->fds[i], request, 0))
			return fail(events, -errno, "cannot %s an event: %s",
				    what, strerror(errno));
	return 0;
}

int events_enable(struct events *events)
{
	return control(events, PERF_EVENT_IOC_ENABLE, "start");
}

int events_disable(struct events *events)
{
	return control(events, PERF_EVENT_IOC_DISABLE, "stop");
}

int events_drain(struct events *events, ring_fn fn, void *context)
{
	int error = 0;
	size_t i;

	for (i = 0; i < events->cpu_count && !error; i++)
		if (events->rings[i].control)
			error = ring_drain(&events->rings[i], fn, context);
	return error;
}
