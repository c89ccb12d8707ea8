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

#include "device_rows.h"
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

/* Parses a list of CPUs such as "0-3,8". */
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

/* Takes the CPUs that were asked for; @online lists those that there are. */
static int take_cpus(struct events *events, const char *online)
{
	struct events there = {
		.cpus = calloc(CPUS_MAX, sizeof(*there.cpus)),
	};
	int error = !there.cpus ? fail(events, -ENOMEM, "out of memory") :
		    parse_cpus(&there, online) ?:
		    parse_cpus(events, events->options.cpus);
	size_t i;

	for (i = 0; !error && i < events->cpu_count; i++)
		if (!has_cpu(&there, events->cpus[i]))
			error = fail(events, -ENODEV,
				     "CPU %d is not online: %.*s are",
				     events->cpus[i],
				     (int)strcspn(online, "\n"), online);
	free(there.cpus);
	return error;
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
	file = fopen(path, "re");
	found = file && fgets(text, sizeof(text), file);
	if (file)
		fclose(file);
	if (!found)
		return fail(events, -EIO,
			    "cannot read which CPUs are online: %s", path);
	return events->options.cpus ? take_cpus(events, text) :
				      parse_cpus(events, text);
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

/*
 * Completes the attr of an event. Only the first event reports tasks and maps.
 */
static struct perf_event_attr complete(const struct events *events,
				       struct perf_event_attr attr)
{
	const struct events_options *options = &events->options;
	bool first = !events->kind_count;

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
		      int leader, bool cgroup)
{
	struct perf_event_attr copy = *attr;
	long fd;

	/* The leader starts and stops its group. */
	if (leader >= 0)
		copy.disabled = copy.enable_on_exec = 0;
	fd = syscall(SYS_perf_event_open, &copy, target, cpu, leader,
		     PERF_FLAG_FD_CLOEXEC |
		     (cgroup ? PERF_FLAG_PID_CGROUP : 0));
	return fd < 0 ? -errno : (int)fd;
}

static const char *reason(const struct events *events, int error, int leader)
{
	if (error == -ENOENT && events->options.cgroup)
		return "the cgroup has no controller perf_event";
	if (leader >= 0 && (error == -ENOENT || error == -ENXIO ||
			    error == -EOPNOTSUPP))
		return "this machine does not count that";
	if (leader >= 0 && error == -EINVAL)
		return "the CPU has no counter for it beside the others of its group";
	return strerror(-error);
}

/*
 * Opens one more event of the last kind, whose attr to open is @attr, and
 * records its id.
 */
static int add_fd(struct events *events, const struct perf_event_attr *attr,
		  pid_t target, int cpu, int leader)
{
	struct writer_event *event = &events->kinds[events->kind_count - 1];
	uint64_t *id = &events->ids[events->fd_count];
	int fd = open_event(attr, target, cpu, leader, events->options.cgroup);

	if (fd < 0) {
		/* A thread of -p may have exited. */
		if (fd == -ESRCH && events->options.target_count > 1)
			return 0;
		return fail(events, fd, "cannot open event '%s' on CPU %d: %s",
			    event->name, cpu, reason(events, fd, leader));
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

/*
 * Maps the ring of a CPU, which belongs to its first event. Tries smaller sizes
 * if the kernel refuses the default.
 */
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

/* Directs an event to its CPU's ring. */
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

/* State while events are opened; descriptors are -1 if there is none. */
struct opening {
	int *owners;			/* of rings, by CPU */
	int *leaders;			/* of the last kind, by target and
					 * CPU */
	size_t kind;			/* index in the options */
	struct perf_event_attr attr;	/* to open */
};

static void begin_kind(struct events *events, const struct events_kind *kind,
		       struct opening *opening)
{
	struct writer_event *event = &events->kinds[events->kind_count];

	event->attr = complete(events, kind->attr);
	opening->attr = !kind->rows ? event->attr :
			complete(events, device_rows_feeder(kind->rows));
	event->name = kind->name;
	event->ids = events->ids + events->fd_count;
	event->members = kind->metric_count;
	events->kind_count++;
}

/* Limits the event to ranges of code. */
static int set_filter(struct events *events, int fd)
{
	const char *filter = events->options.filter;
	const char *why;
	int error;

	if (!filter || !ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter))
		return 0;
	error = -errno;
	why = error != -EOPNOTSUPP ? strerror(-error) :
	      events->options.targets[0] == -1 || events->options.cgroup ?
	      "files have an address in a process only: give a command, -p or -t" :
	      "the module knows no such filter";
	return fail(events, error, "the kernel refuses the filter '%s': %s",
		    filter, why);
}

/* Opens an event of the last kind, which leads its metrics. */
static int open_leader(struct events *events, pid_t target, size_t cpu,
		       struct opening *opening, int *leader)
{
	size_t before = events->fd_count;
	int error = add_fd(events, &opening->attr, target,
			   events->cpus[cpu], -1);

	*leader = -1;
	if (error)
		events->refused = opening->kind;
	if (error || events->fd_count == before)
		return error;
	*leader = events->fds[before];
	error = set_filter(events, *leader);
	return error ? error : attach(events, cpu, &opening->owners[cpu]);
}

/*
 * Opens the events of a kind. If it does not lead (@leads is false), it is a
 * metric of the last kind that does.
 */
static int open_kind(struct events *events, const struct events_kind *kind,
		     bool leads, struct opening *opening)
{
	const struct events_options *options = &events->options;
	int *leader = opening->leaders, error = 0;
	size_t target, cpu;

	begin_kind(events, kind, opening);
	for (target = 0; target < options->target_count; target++)
		for (cpu = 0; cpu < events->cpu_count && !error;
		     cpu++, leader++) {
			pid_t id = options->targets[target];

			if (leads)
				error = open_leader(events, id, cpu, opening,
						    leader);
			else if (*leader >= 0)
				error = add_fd(events, &opening->attr, id,
					       events->cpus[cpu], *leader);
		}
	return error;
}

static int open_group(struct events *events, struct opening *opening)
{
	const struct events_kind *kind = &events->options.kinds[opening->kind];
	int error = open_kind(events, kind, true, opening);
	size_t i;

	for (i = 0; i < kind->metric_count && !error; i++)
		error = open_kind(events, &kind->metrics[i], false, opening);
	return error;
}

static int allocate(struct events *events, struct opening *opening)
{
	const struct events_options *options = &events->options;
	size_t each = options->target_count * events->cpu_count;
	size_t kinds = options->kind_count, i;

	for (i = 0; i < options->kind_count; i++)
		kinds += options->kinds[i].metric_count;
	events->kinds = calloc(kinds, sizeof(*events->kinds));
	events->ids = calloc(kinds * each, sizeof(*events->ids));
	events->fds = calloc(kinds * each, sizeof(*events->fds));
	events->rings = calloc(events->cpu_count, sizeof(*events->rings));
	opening->owners = malloc(events->cpu_count * sizeof(int));
	opening->leaders = malloc(each * sizeof(int));
	if (!events->kinds || !events->ids || !events->fds || !events->rings ||
	    !opening->owners || !opening->leaders)
		return fail(events, -ENOMEM, "out of memory");
	for (i = 0; i < events->cpu_count; i++)
		opening->owners[i] = -1;
	return 0;
}

int events_open(struct events **result, const struct events_options *options)
{
	struct events *events = calloc(1, sizeof(*events));
	struct opening opening = { .owners = NULL };
	int error;

	*result = events;
	if (!events)
		return -ENOMEM;
	events->options = *options;
	events->refused = -1;
	error = find_cpus(events);
	if (!error)
		error = allocate(events, &opening);
	for (; opening.kind < options->kind_count && !error; opening.kind++)
		error = open_group(events, &opening);
	free(opening.owners);
	free(opening.leaders);
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
