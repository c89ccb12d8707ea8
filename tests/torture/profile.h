/* SPDX-License-Identifier: GPL-2.0-only */
/* hwprof events on a task and its children, opened by perf_event_open(). */
#ifndef TORTURE_PROFILE_H
#define TORTURE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../../uapi/linux/hwprof.h"

enum { PROFILE_CPUS = 16 };

/* How to open an event. */
struct profile_mode {
	const char *name;
	uint64_t config;
	uint64_t burst;		/* branches; 0: all are stepped */
	uint64_t period;	/* 0: only counted */
	bool flickers;		/* is switched off and on all the time */
};

extern const struct profile_mode count_branches, count_back_edges;
extern const struct profile_mode often_in_bursts;

/*
 * Modes take turns: each call of profile_next() returns the next one. A test
 * uses profile_each of them.
 */
extern unsigned int profile_each;
const struct profile_mode *profile_next(void);
void profile_begin_with(unsigned int turn);

struct profile;

/*
 * Opens events on the thread @task and on its future children. If @on_exec,
 * they stay off until its exec. Exits with a message if perf refuses.
 */
struct profile *profile_open(const struct profile_mode *mode, pid_t task,
			     bool on_exec);
void profile_switch(struct profile *profile, bool on);
uint64_t profile_count(const struct profile *profile);
void profile_close(struct profile *profile);

#endif /* TORTURE_PROFILE_H */
