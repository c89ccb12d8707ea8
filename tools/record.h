/* SPDX-License-Identifier: GPL-2.0-only */
/* What `hwprof record` was asked for. */
#ifndef HWPROF_RECORD_H
#define HWPROF_RECORD_H

#include <stdbool.h>
#include <sys/types.h>

#include "hwprof.h"
#include "recording.h"

enum {
	RECORD_EVENTS_MAX = 16,
};

/* Of an event: the counters in its group. */
struct record_metrics {
	struct events_kind kinds[HWPROF_METRICS_MAX];
	char names[HWPROF_METRICS_MAX][64];
};

struct record_request {
	const char *file;
	const char *texts[RECORD_EVENTS_MAX];	/* events as they were given */
	struct hwprof_event parsed[RECORD_EVENTS_MAX];
	struct events_kind events[RECORD_EVENTS_MAX];
	char names[RECORD_EVENTS_MAX][256];
	struct record_metrics metrics[RECORD_EVENTS_MAX];
	bool default_memory[RECORD_EVENTS_MAX];	/* memory_mib is our choice */
	size_t event_count;
	size_t pages;
	uint64_t period, frequency;	/* of events that take samples; 0: not said */
	const char *budget;		/* the same; NULL: as the events have it */
	const char *trigger;		/* as given; NULL: as the events have it */
	const char *metric_texts[HWPROF_METRICS_MAX];	/* as given */
	size_t metric_count;
	pid_t *targets;		/* of -p, -t and -a; NULL: the command */
	size_t target_count;
	int cgroup;		/* descriptor of its folder; 0: none */
	const char *cpus;	/* "0-3,8"; NULL: all that are online */
	uint64_t duration_ms;	/* 0: to the end */
	bool no_inherit;
	bool quiet, progress;
	char **command;		/* NULL: none */
	int argc;		/* all of it, for the file */
	char **argv;
};

/* Understands the command line; anything but -1 is the exit status. */
int record_request_parse(struct record_request *request, int argc, char **argv);

/* Halves the memory of an event, if it was not asked for; false: it was. */
bool record_request_shrink(struct record_request *request, size_t index);

/* Returns true if event @index takes every instruction of its programs. */
bool record_request_steps(const struct record_request *request, size_t index);

#endif /* HWPROF_RECORD_H */
