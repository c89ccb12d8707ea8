/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events while they are open: one of each kind on each CPU for each target, and
 * one ring per CPU, which they share.
 */
#ifndef HWPROF_EVENTS_H
#define HWPROF_EVENTS_H

#include "ring.h"
#include "writer.h"

#include <stdbool.h>
#include <sys/types.h>

struct events_kind {
	struct perf_event_attr attr;	/* what is counted; the rest is added */
	const char *name;
	const struct events_kind *metrics;	/* counters that are in a group
						 * with it; they have none */
	size_t metric_count;
};

struct events_options {
	const struct events_kind *kinds;
	size_t kind_count;
	const pid_t *targets;		/* threads; one of -1: all of them */
	size_t target_count;
	bool cgroup;			/* the one target is the descriptor of a
					 * cgroup's folder */
	const char *cpus;		/* "0-3,8"; NULL: all that are online */
	bool on_exec;			/* begins when the target execs */
	bool inherit;			/* children of targets too */
	size_t pages;			/* of each ring, a power of two; 0: as
					 * many as we may, up to 4 MiB */
};

/* All but the messages is for others to read, not to write. */
struct events {
	char message[512];
	int refused;			/* kind of the options, or -1 */
	struct events_options options;

	/* Events by kind, metrics behind their leader; then target, then CPU. */
	struct writer_event *kinds;
	size_t kind_count;
	uint64_t *ids;
	int *fds;
	size_t fd_count;

	int *cpus;
	struct ring *rings;		/* one per CPU */
	size_t cpu_count;
};

/* Of records in rings. */
#define EVENTS_SAMPLE_TYPE						\
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |	\
	 PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU |	\
	 PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW)

/*
 * Opens the events, disabled. What the options point to must live as long,
 * except targets. *@events is NULL only for -ENOMEM; otherwise its message has
 * the sentence, and for what the module or the kernel refuses, `refused` is the
 * kind. All return a negative errno.
 */
int events_open(struct events **events, const struct events_options *options);
void events_close(struct events *events);

int events_enable(struct events *events);
int events_disable(struct events *events);

/*
 * Gives @fn what is in the rings, each from its start, as ring_drain(). What it
 * returns ends it.
 */
int events_drain(struct events *events, ring_fn fn, void *context);

/* Maps of data, too, where addresses of data are recorded? */
bool events_want_data(const struct events_options *options);

/*
 * synthesis.c: what perf tells of processes that were there before: their
 * names and maps, as COMM and MMAP2 records with time 0, one at a time. @targets:
 * threads, or one of -1 for all processes. @sample_type is that of the events.
 * @data: maps without code, too. What goes away meanwhile is left out.
 */
struct synthesis {
	const pid_t *targets;
	size_t count;
	uint64_t sample_type;
	bool data;
	ring_fn put;
	void *context;
};
int synthesize(const struct synthesis *synthesis);

/*
 * threads.c: the threads that process @pid has now, an array to be freed. -ESRCH:
 * there is no such process; -ENOMEM.
 */
int process_threads(pid_t pid, pid_t **threads, size_t *count);

#endif /* HWPROF_EVENTS_H */
