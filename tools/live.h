/* SPDX-License-Identifier: GPL-2.0-only */
/* What `hwprof top` and `hwprof stat` profile, while they do: a session. */
#ifndef HWPROF_LIVE_H
#define HWPROF_LIVE_H

#include <getopt.h>
#include <signal.h>

#include "child.h"
#include "hwprof.h"

enum {
	LIVE_TARGETS_MAX = 64,	/* of -p */
};

struct live {
	/* what was asked for */
	const char *verb;	/* "top" or "stat" */
	const char *event;
	struct hwprof_session_options options;
	char *pids;		/* "12,34"; NULL: not said */
	bool all, no_inherit;
	bool quiet;		/* says nothing of what it will cost */
	const char *cpus, *cgroup;	/* NULL: not said */
	uint64_t duration_ms;	/* 0: to the end */
	char **command;		/* NULL: none */

	/* what came of it */
	struct hwprof_session *session;
	char name[256];		/* of the event, as it was completed */
	struct child child;
	sigset_t mask;		/* as it was */
	int signals;		/* signalfd */
	int processes[LIVE_TARGETS_MAX];	/* pidfds of -p; -1: gone */
	size_t process_count, alive;
	bool child_gone, stopped;
	int child_status;	/* waitpid()'s */
	uint64_t began_ns, ended_ns;	/* of the monotonic clock; 0: not yet */
};

#define LIVE_OPTIONS							\
	{ "event", required_argument, NULL, 'e' },			\
	{ "pid", required_argument, NULL, 'p' },			\
	{ "all-cpus", no_argument, NULL, 'a' },				\
	{ "cpu", required_argument, NULL, 'C' },			\
	{ "cgroup", required_argument, NULL, 'G' },			\
	{ "no-inherit", no_argument, NULL, 'i' },			\
	{ "count", required_argument, NULL, 'c' },			\
	{ "freq", required_argument, NULL, 'F' },			\
	{ "duration", required_argument, NULL, 'D' }

#define LIVE_LETTERS	"e:p:aC:G:ic:F:D:"

#define LIVE_USAGE							\
"  -e, --event EVENT   what to profile, as 'hwprof record' has it (default: loops)\n" \
"  -p, --pid PID       processes that run, separated by commas\n"	\
"  -a, --all-cpus      everything that runs\n"				\
"  -C, --cpu CPUS      on these CPUs, as in 0-3,8; alone: everything there\n" \
"  -G, --cgroup NAME   all in a cgroup: its path, or that in /sys/fs/cgroup\n" \
"  -i, --no-inherit    without the children of what is profiled\n"	\
"  -c, --count N       records or a burst every N of what is counted\n"	\
"  -F, --freq N        so many times a second\n"			\
"  -D, --duration SECONDS  no longer than that\n"

/* Takes one of these; -1: go on; -2: it is none; else the status. */
int live_option(struct live *live, int option, char *value);
/* Is it clear what is to be profiled? -1, or the status. */
int live_check(const struct live *live);

/* Opens the session and starts all. -1, or the status. */
int live_start(struct live *live);

enum live_wake {
	LIVE_TIME,		/* it has come */
	LIVE_INPUT,		/* there is something to read */
	LIVE_RESIZED,		/* the terminal has */
	LIVE_SUSPENDED,		/* raise(SIGSTOP), when all is as it was before */
	LIVE_END,		/* of the targets, the time or the patience */
};

/* Waits until @until_ns, or for @input, a descriptor or -1. */
enum live_wake live_wait(struct live *live, uint64_t until_ns, int input);
uint64_t live_now(void);	/* ns of the monotonic clock */

/* Profiles no longer; what was counted can still be asked for. The status. */
int live_stop(struct live *live);
/* Ends the command, if need be, and frees all. The status to exit with. */
int live_close(struct live *live, int status);

/* "session: sentence"; the status. */
int live_failed(const struct live *live);

/* target.c: also for `hwprof record`. A descriptor of the cgroup's folder; -1. */
int open_cgroup(const char *name);
/* "1.5", in seconds; false: it is none, or not above 0. */
bool parse_seconds(const char *text, uint64_t *milliseconds);

#endif /* HWPROF_LIVE_H */
