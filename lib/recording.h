/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A recording while it runs: an event of each kind on each CPU for each
 * target, one ring per CPU, and the file that takes what the rings give.
 */
#ifndef HWPROF_RECORDING_H
#define HWPROF_RECORDING_H

#include "writer.h"

#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>

struct recording_event {
	struct perf_event_attr attr;	/* what is counted; the rest is added */
	const char *name;
};

struct recording_options {
	const struct recording_event *events;
	size_t event_count;
	const pid_t *targets;		/* threads; one of -1: all of them */
	size_t target_count;
	bool on_exec;			/* begins when the target execs */
	bool inherit;			/* children of targets too */
	size_t pages;			/* of each ring, a power of two; 0: as
					 * many as we may, up to 4 MiB */
};

struct recording;

/*
 * Opens the events, disabled. *@recording is NULL only for -ENOMEM; otherwise
 * recording_error() has the sentence, and for what the module or the kernel
 * refuses, recording_refused() the event. All return a negative errno.
 */
int recording_open(struct recording **recording,
		   const struct recording_options *options);
/* The index of the event whose opening failed; -1: it was something else. */
int recording_refused(const struct recording *recording);

/* Begins the file @path; the events run from now on, or from the exec. */
int recording_start(struct recording *recording, const char *path);

/*
 * Waits up to @milliseconds for records or for the caller's @other, and writes
 * what there is. 1: all targets are gone; 0: go on.
 */
int recording_step(struct recording *recording, struct pollfd *other,
		   int milliseconds);

/* Stops the events, takes the rest and completes the file. */
int recording_finish(struct recording *recording,
		     const struct writer_facts *facts,
		     struct writer_summary *summary);

/* So far: hwprof's rows or samples, records lost, bytes of the file. */
void recording_progress(const struct recording *recording,
			uint64_t *samples, uint64_t *lost, uint64_t *bytes);

const char *recording_error(const struct recording *recording);
void recording_close(struct recording *recording);

/*
 * synthesis.c: what perf tells of processes that were there before: their
 * names and maps, as COMM and MMAP2 records with time 0. @targets: threads, or
 * one of -1 for all processes. @sample_type is that of the events. @data: maps
 * without code, too. What goes away meanwhile is left out.
 */
int synthesize(struct writer *writer, const pid_t *targets, size_t count,
	       uint64_t sample_type, bool data);

#endif /* HWPROF_RECORDING_H */
