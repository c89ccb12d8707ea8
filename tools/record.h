/* SPDX-License-Identifier: GPL-2.0-only */
/* Options of `hwprof record`. */
#ifndef HWPROF_RECORD_H
#define HWPROF_RECORD_H

#include <stdbool.h>
#include <sys/types.h>

#include "hwprof.h"
#include "live/recording.h"
#include "production.h"

enum {
	RECORD_EVENTS_MAX = 16,
};

/* The counters in the group of an event. */
struct record_metrics {
	struct events_kind kinds[HWPROF_METRICS_MAX];
	char names[HWPROF_METRICS_MAX][64];
};

struct record_request {
	const char *file;
	/*
	 * Events as given, parsed, and as they are opened. Behind them is room
	 * for one that watches for patterns.
	 */
	const char *texts[RECORD_EVENTS_MAX + 1];
	struct hwprof_event parsed[RECORD_EVENTS_MAX + 1];
	struct events_kind events[RECORD_EVENTS_MAX + 1];
	char names[RECORD_EVENTS_MAX][256];
	struct record_metrics metrics[RECORD_EVENTS_MAX];
	bool default_memory[RECORD_EVENTS_MAX + 1];	/* chosen for it */
	size_t event_count;
	size_t pages;
	uint64_t period, frequency;	/* for events that take samples; 0: not
					 * given */
	const char *budget;		/* the same; NULL: as in the events */
	const char *filter;		/* as given; NULL: everything */
	struct hwprof_mask mask;
	bool masked;			/* it was given */
	const char *trigger;		/* as given; NULL: as in the events */
	const char *metric_texts[HWPROF_METRICS_MAX];	/* as given */
	size_t metric_count;
	pid_t *targets;		/* of -p, -t and -a; NULL: the command */
	size_t target_count;
	int cgroup;		/* descriptor of its folder; 0: none */
	const char *cpus;	/* "0-3,8"; NULL: all that are online */
	uint64_t duration_ms;	/* 0: until the end */
	bool converge;		/* as @converging says */
	struct hwprof_converge converging;
	bool no_inherit;
	bool quiet, progress;
	struct productions productions;	/* of --when and --then */
	const char *when;	/* a pattern that has no actions yet */
	const char *counts;	/* file for what they count; NULL: stderr */
	bool counts_json;
	char **command;		/* NULL: none */
	int argc;		/* the whole command line, for the file */
	char **argv;
};

/* Parses the command line. Returns -1, or the exit status. */
int record_request_parse(struct record_request *request, int argc, char **argv);

/*
 * Halves the memory of an event, unless the user requested it. Returns false
 * then.
 */
bool record_request_shrink(struct record_request *request, size_t index);

/* Returns true if event @index takes every instruction of its programs. */
bool record_request_steps(const struct record_request *request, size_t index);

#endif /* HWPROF_RECORD_H */
