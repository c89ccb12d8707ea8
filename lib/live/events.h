/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Open events: one of each kind on each CPU for each target, and one ring per
 * CPU, which they share.
 */
#ifndef HWPROF_EVENTS_H
#define HWPROF_EVENTS_H

#include "ring.h"
#include "writer.h"

#include <stdbool.h>
#include <sys/types.h>

struct device_rows;
struct known_files;

struct events_kind {
	struct perf_event_attr attr;	/* what to count; the rest is added */
	const char *name;
	const struct events_kind *metrics;	/* counters in its group, which
				 * have no metrics themselves */
	size_t metric_count;
	/* The session that it feeds, and whose rows are recorded; NULL: none */
	struct device_rows *rows;
	bool hidden;			/* the rows are not recorded; only the
					 * last kinds may be hidden */
};

struct events_options {
	const struct events_kind *kinds;
	size_t kind_count;
	const pid_t *targets;		/* threads; a single -1: all threads */
	size_t target_count;
	bool cgroup;			/* the only target is a descriptor of a
					 * cgroup's folder */
	const char *cpus;		/* "0-3,8"; NULL: all that are online */
	bool on_exec;			/* begin when the target execs */
	bool inherit;			/* include children of targets */
	const char *filter;		/* in the kernel's words; NULL: none */
	size_t pages;			/* size of each ring, a power of two; 0:
					 * as many as allowed, up to 4 MiB */
};

/* Callers read these fields, and must not write them. */
struct events {
	char message[512];
	int refused;			/* kind in the options, or -1 */
	struct events_options options;

	/*
	 * Events are sorted by kind, metrics behind their leader; then target,
	 * then CPU.
	 */
	struct writer_event *kinds;
	size_t kind_count;
	uint64_t *ids;
	int *fds;
	size_t fd_count;

	int *cpus;
	struct ring *rings;		/* one per CPU */
	size_t cpu_count;
};

/* Sample type of records in rings. */
#define EVENTS_SAMPLE_TYPE						\
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |	\
	 PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU |	\
	 PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW)

/*
 * Opens the events, disabled. What @options points to must live as long as the
 * events, except targets. *@events is NULL only after -ENOMEM; otherwise its
 * message describes a failure. If the module or the kernel refuses a kind,
 * `refused` is that kind. All functions return 0 or a negative errno.
 */
int events_open(struct events **events, const struct events_options *options);
void events_close(struct events *events);

int events_enable(struct events *events);
int events_disable(struct events *events);

/*
 * Passes the content of all rings to @fn; see ring_drain(). A result of @fn
 * other than 0 ends it.
 */
int events_drain(struct events *events, ring_fn fn, void *context);

/*
 * Returns true if maps of data are needed because addresses of data are
 * recorded.
 */
bool events_want_data(const struct events_options *options);

/*
 * Reports processes that existed before the events, as perf would: their names
 * and maps are COMM and MMAP2 records with time 0, each in one call of @put.
 * @targets are threads, or a single -1 for all processes. @sample_type is that
 * of the events. @data requests maps without code. @files requests the build
 * ids of mapped code, in a round of its own; NULL: no build ids. @labels
 * receives the labels of processes, unless it is NULL. Processes that exit
 * meanwhile are left out. In synthesis.c.
 */
struct synthesis {
	const pid_t *targets;
	size_t count;
	uint64_t sample_type;
	bool data;
	struct known_files *files;
	struct label_table *labels;
	ring_fn put;
	void *context;
};
int synthesize(const struct synthesis *synthesis);

/*
 * Reports the running kernel, as perf would: a map from its symbol _text on,
 * with its build id. Leaves it out if this is hidden (kernel.kptr_restrict).
 */
int synthesize_kernel(const struct synthesis *synthesis);

/*
 * Lists the threads of process @pid; the caller frees the array. Returns 0,
 * -ESRCH if there is no such process, or -ENOMEM. In threads.c.
 */
int process_threads(pid_t pid, pid_t **threads, size_t *count);

#endif /* HWPROF_EVENTS_H */
