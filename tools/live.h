/* SPDX-License-Identifier: GPL-2.0-only */
/* A session of `hwprof top`, `stat` and `bpf`, and its targets. */
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
	/* Options. */
	const char *verb;	/* "top", "stat" or "bpf" */
	const char *event;
	struct hwprof_session_options options;
	const char *filter;	/* NULL: everything */
	struct hwprof_mask event_mask;
	bool masked;		/* it was given */
	char *pids;		/* "12,34"; NULL: not given */
	bool all, no_inherit;
	bool quiet;		/* do not announce the cost */
	const char *cpus, *cgroup;	/* NULL: not given */
	uint64_t duration_ms;	/* 0: until the end */
	char **command;		/* NULL: none */
	/*
	 * Is called when the session exists, and before it has targets. Returns
	 * -1 or the exit status. May be NULL.
	 */
	int (*prepare)(struct live *live);

	/* State. */
	struct hwprof_session *session;
	char name[256];		/* of the completed event */
	struct child child;
	sigset_t mask;		/* original signal mask */
	int signals;		/* signalfd */
	int processes[LIVE_TARGETS_MAX];	/* pidfds of -p; -1: exited */
	size_t process_count, alive;
	bool child_gone, stopped;
	int child_status;	/* as returned by waitpid() */
	uint64_t began_ns, ended_ns;	/* on the monotonic clock; 0: not yet */
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
	{ "filter", required_argument, NULL, 'f' },			\
	{ "mask", required_argument, NULL, 'K' },			\
	{ "duration", required_argument, NULL, 'D' }

#define LIVE_LETTERS	"e:p:aC:G:ic:F:D:"

#define LIVE_USAGE							\
"  -e, --event EVENT   profile this event: see 'hwprof record' (default: " \
"loops)\n" \
"  -p, --pid PID       running processes, separated by commas\n"	\
"  -a, --all-cpus      everything that runs\n"				\
"  -C, --cpu CPUS      on these CPUs, as in 0-3,8; alone: everything there\n" \
"  -G, --cgroup NAME   all in a cgroup: its path, or that in /sys/fs/cgroup\n" \
"  -i, --no-inherit    leave out children and threads that start later\n" \
"  -c, --count N       records or a burst every N events of the trigger\n" \
"  -F, --freq N        the same, N times a second\n"			\
"      --filter FUNCTION@FILE,...  only the code of these functions\n"	\
"      --mask TESTS    only events that pass, as in 'kind=load,width=8,value=0'\n" \
"  -D, --duration SECONDS  end after this time\n"

/*
 * Handles an option. Returns -1 to continue, -2 if it is another's, or the exit
 * status.
 */
int live_option(struct live *live, int option, char *value);
/* Checks that the target is clear. Returns -1 or the exit status. */
int live_check(const struct live *live);

/* Opens the session and starts it. Returns -1 or the exit status. */
int live_start(struct live *live);

/* Prepares live_wait() without a session. Returns -1 or the exit status. */
int live_begin_waiting(struct live *live);

enum live_wake {
	LIVE_TIME,		/* the time has come */
	LIVE_INPUT,		/* there is input */
	LIVE_RESIZED,		/* the terminal was resized */
	LIVE_SUSPENDED,		/* the caller shall restore the terminal and
				 * raise(SIGSTOP) */
	LIVE_END,		/* targets exited, time is over, or the user
				 * interrupted */
};

/* Waits until @until_ns, or for @input, which is a descriptor or -1. */
enum live_wake live_wait(struct live *live, uint64_t until_ns, int input);
uint64_t live_now(void);	/* returns ns on the monotonic clock */

/* Stops profiling; counts remain available. Returns the exit status. */
int live_stop(struct live *live);
/*
 * Terminates the command if it runs, and frees everything. Returns the exit
 * status.
 */
int live_close(struct live *live, int status);

/* Waits until the end. Suspends when the user wants that. */
void live_wait_for_end(struct live *live);

/* Returns true if only a command is profiled. */
bool live_owns_command(const struct live *live);

/* Prints the session's error. Returns the exit status. */
int live_failed(const struct live *live);

/*
 * Returns a descriptor of the cgroup's folder, or -1. `hwprof record` uses it,
 * too; in target.c.
 */
int open_cgroup(const char *name);
/* Parses seconds above 0, such as "1.5". Returns false for anything else. */
bool parse_seconds(const char *text, uint64_t *milliseconds);
/*
 * Parses the percents of --converge; NULL: the default. Returns -1 or the exit
 * status. In target.c.
 */
int parse_converge(struct hwprof_converge *options, const char *text);
/*
 * Parses percents from 0.1 to 100 in tenths, such as "1%" or "0.5". Returns
 * false for anything else.
 */
bool parse_permille(const char *text, uint64_t *permille);

#endif /* HWPROF_LIVE_H */
