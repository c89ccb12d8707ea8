// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "live.h"
#include "mask.h"
#include "pace.h"
#include "refusal.h"
#include "live/source_choice.h"

/* --- options -------------------------------------------------------------- */

static int set_number(uint64_t *number, char option, const char *text)
{
	if (!parse_count(text, 1, INT32_MAX, number))
		return usage_error("-%c '%s': allowed are numbers from 1 to %d",
				   option, text, INT32_MAX);
	return -1;
}

int live_option(struct live *live, int option, char *value)
{
	switch (option) {
	case 'e':
		live->event = value;
		return -1;
	case 'p':
		live->pids = value;
		return -1;
	case 'a':
		live->all = true;
		return -1;
	case 'C':
		live->cpus = value;
		return -1;
	case 'G':
		live->cgroup = value;
		return -1;
	case 'i':
		live->no_inherit = true;
		return -1;
	case 'c':
		return set_number(&live->options.period, option, value);
	case 'F':
		return set_number(&live->options.frequency, option, value);
	case 'f':
		live->filter = value;
		return -1;
	case 'K':
		live->masked = true;
		return mask_option(&live->event_mask, value);
	case 'D':
		if (!parse_seconds(value, &live->duration_ms))
			return usage_error("--duration '%s': allowed are seconds, 0.001 or more",
					   value);
		return -1;
	}
	return -2;
}

int live_check(const struct live *live)
{
	int targets = !!live->pids + live->all + !!live->cgroup;

	if (targets > 1)
		return usage_error("-p, -a and --cgroup exclude each other");
	if (!targets && !live->cpus && !live->command)
		return usage_error("nothing to profile: give a command, -p, -a, -C or --cgroup");
	if (live->options.period && live->options.frequency)
		return usage_error("-c and -F exclude each other");
	return -1;
}

bool live_owns_command(const struct live *live)
{
	return live->command && !live->pids && !live->all && !live->cgroup &&
	       !live->cpus;
}

/* --- start ---------------------------------------------------------------- */

int live_failed(const struct live *live)
{
	const char *sentence = hwprof_session_error(live->session);

	return failed("%s", sentence ? sentence : "out of memory");
}

uint64_t live_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/*
 * Blocks signals and receives them from a descriptor, so that they interrupt
 * nothing.
 */
static int catch_signals(struct live *live)
{
	static const int caught[] = {
		SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH,
	};
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
		sigaddset(&set, caught[i]);
	sigprocmask(SIG_BLOCK, &set, &live->mask);
	live->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return live->signals < 0 ? failed("cannot wait for signals: %s",
					  strerror(errno)) : -1;
}

static int attach(struct live *live, enum hwprof_target_kind kind, int id)
{
	const struct hwprof_target target = {
		.kind = kind, .id = id, .cpus = live->cpus,
		.alone = live->no_inherit,
		.on_exec = live_owns_command(live),
	};

	return hwprof_session_attach(live->session, &target) ?
	       live_failed(live) : -1;
}

static int attach_process(struct live *live, const char *text)
{
	uint64_t pid;
	int fd;

	if (!parse_count(text, 1, INT32_MAX, &pid))
		return usage_error("-p '%s': allowed are numbers from 1 to %d, separated by commas",
				   text, INT32_MAX);
	if (live->process_count == LIVE_TARGETS_MAX)
		return usage_error("-p: more than %d processes",
				   LIVE_TARGETS_MAX);
	fd = pidfd_open(pid, 0);
	if (fd < 0)
		return failed("process %d: %s", (int)pid, strerror(errno));
	live->processes[live->process_count++] = fd;
	live->alive++;
	return attach(live, HWPROF_TARGET_PROCESS, pid);
}

static int attach_processes(struct live *live)
{
	char *rest = live->pids, *item;
	int status = -1;

	while (status < 0 && (item = strsep(&rest, ",")))
		status = attach_process(live, item);
	return status;
}

static int attach_cgroup(struct live *live)
{
	int fd = open_cgroup(live->cgroup), status;

	if (fd < 0)
		return failed("cgroup '%s': %s", live->cgroup, strerror(errno));
	status = attach(live, HWPROF_TARGET_CGROUP, fd);
	close(fd);
	return status;
}

static int attach_all(struct live *live)
{
	if (live->pids)
		return attach_processes(live);
	if (live->cgroup)
		return attach_cgroup(live);
	if (live_owns_command(live))
		return attach(live, HWPROF_TARGET_PROCESS, live->child.pid);
	return attach(live, HWPROF_TARGET_SYSTEM, 0);
}

static int start_command(struct live *live)
{
	int error;

	if (!live->command)
		return -1;
	error = child_go(&live->child);
	if (!error)
		return -1;
	live->child_gone = true;
	return child_failed(live->command[0], error);
}

/*
 * Writes the event to open. A command that we start ourselves is stepped by
 * default.
 */
static void complete_event(const struct live *live, const char *text,
			   char *event, size_t size)
{
	struct hwprof_event parsed;
	char message[256];
	bool bare = !hwprof_event_parse(&parsed, text, message,
					sizeof(message)) &&
		    !parsed.whole && !source_is_named(&parsed);

	snprintf(event, size, "%s%s", bare && live_owns_command(live) &&
		 parsed.user && source_works("step") ? "step," : "", text);
}

/* A program that somebody else has started does not get slower unasked. */
static int check_stepping(const struct live *live, const char *text)
{
	struct hwprof_event event;
	char message[256];

	/* The session says what is wrong with the words. */
	if (live_owns_command(live) ||
	    hwprof_event_parse(&event, text, message, sizeof(message)) ||
	    !steps_unasked(&event))
		return -1;
	return refuse_stepping(text, "'burst=200' or 'lbr'");
}

static void tell_cost(const struct live *live, const char *text)
{
	const struct hwprof_event *event = hwprof_session_event(live->session);
	struct pace pace = { .step_ns = 0 };

	if (source_steps_all(event))
		pace_warn(&pace, event, text, live->verb,
			  live_owns_command(live) ? live->command[0] :
			  "each program that is profiled");
	else
		pace_say_bursts(&pace, event);
}

/* Programs may want loads and stores, which a mask can then be of. */
static int prepare(struct live *live)
{
	int status = live->prepare ? live->prepare(live) : -1;

	if (status < 0 && live->masked &&
	    hwprof_session_mask(live->session, &live->event_mask))
		return live_failed(live);
	return status;
}

static int open_session(struct live *live)
{
	const char *text = live->event ? live->event : "loops";
	int status = check_stepping(live, text);
	char event[1024];

	if (status >= 0)
		return status;
	complete_event(live, text, event, sizeof(event));
	if (hwprof_session_open(&live->session, event, &live->options))
		return live_failed(live);
	if (live->filter && hwprof_session_filter(live->session, live->filter))
		return live_failed(live);
	if (!live->quiet)
		tell_cost(live, text);
	hwprof_event_print(hwprof_session_event(live->session), live->name,
			   sizeof(live->name));
	return prepare(live);
}

/* Starts the session. The command waits until all is ready. */
static int begin(struct live *live)
{
	int status = attach_all(live);

	if (status < 0 && hwprof_session_start(live->session))
		status = live_failed(live);
	if (status >= 0) {
		if (live->command)
			child_abandon(&live->child);
		live->child_gone = true;
		return status;
	}
	live->began_ns = live_now();
	return start_command(live);
}

int live_start(struct live *live)
{
	int status = live->command ? child_find(live->command[0]) : -1, error;

	if (status < 0)
		status = catch_signals(live);
	if (status < 0)
		status = open_session(live);
	if (status >= 0)
		return status;
	if (live->command) {
		error = child_fork(&live->child, live->command, &live->mask);
		if (error)
			return failed("cannot fork: %s", strerror(-error));
	}
	return begin(live);
}

int live_begin_waiting(struct live *live)
{
	live->began_ns = live_now();
	return catch_signals(live);
}

/* --- while it runs -------------------------------------------------------- */

/*
 * Passes signals on to a profiled command; without one, they stop profiling.
 * Returns LIVE_TIME unless the caller must handle a signal.
 */
static enum live_wake take_signals(struct live *live)
{
	enum live_wake wake = LIVE_TIME;
	struct signalfd_siginfo info;

	while (read(live->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGTSTP)
			wake = LIVE_SUSPENDED;
		else if (info.ssi_signo == SIGWINCH)
			wake = wake == LIVE_TIME ? LIVE_RESIZED : wake;
		else if (info.ssi_signo == SIGCHLD && live->command &&
			 !live->child_gone)
			live->child_gone = waitpid(live->child.pid,
						   &live->child_status,
						   WNOHANG) == live->child.pid;
		else if (info.ssi_signo == SIGCHLD)
			continue;
		else if (!live_owns_command(live))
			live->stopped = true;
		else if (info.ssi_code != SI_KERNEL && !live->child_gone)
			/* Signals from the terminal reach the command, too. */
			kill(live->child.pid, info.ssi_signo);
	}
	return wake;
}

static bool is_over(const struct live *live)
{
	if (live->stopped || (live->command && live->child_gone))
		return true;
	return live->process_count && !live->alive && !live->command;
}

static uint64_t end_of(const struct live *live)
{
	return live->duration_ms ?
	       live->began_ns + live->duration_ms * 1000000 : UINT64_MAX;
}

static int milliseconds_to(uint64_t time_ns)
{
	uint64_t now = live_now(), left;

	if (time_ns <= now)
		return 0;
	left = (time_ns - now + 999999) / 1000000;
	return left > 60000 ? 60000 : left;
}

/* Polls once for all events. Returns true if there is input. */
static bool look(struct live *live, int milliseconds, int input)
{
	struct pollfd polled[2 + LIVE_TARGETS_MAX] = {
		{ .fd = live->signals, .events = POLLIN },
		{ .fd = input, .events = POLLIN },
	};
	size_t i;

	for (i = 0; i < live->process_count; i++)
		polled[2 + i] = (struct pollfd){
			.fd = live->processes[i], .events = POLLIN,
		};
	if (poll(polled, 2 + live->process_count, milliseconds) <= 0)
		return false;
	for (i = 0; i < live->process_count; i++) {
		if (!polled[2 + i].revents)
			continue;
		close(live->processes[i]);
		live->processes[i] = -1;
		live->alive--;
	}
	return polled[1].revents;
}

enum live_wake live_wait(struct live *live, uint64_t until_ns, int input)
{
	uint64_t end = end_of(live);

	for (;;) {
		uint64_t next = until_ns < end ? until_ns : end;
		bool entered = look(live, milliseconds_to(next), input);
		enum live_wake wake = take_signals(live);

		if (is_over(live) || live_now() >= end)
			return LIVE_END;
		if (wake != LIVE_TIME)
			return wake;
		if (entered)
			return LIVE_INPUT;
		if (live_now() >= until_ns)
			return LIVE_TIME;
	}
}

void live_wait_for_end(struct live *live)
{
	enum live_wake wake;

	while ((wake = live_wait(live, UINT64_MAX, -1)) != LIVE_END)
		if (wake == LIVE_SUSPENDED)
			raise(SIGSTOP);
}

/* --- the end -------------------------------------------------------------- */

int live_stop(struct live *live)
{
	live->ended_ns = live_now();
	return hwprof_session_stop(live->session) ? live_failed(live) :
						    STATUS_OK;
}

int live_close(struct live *live, int status)
{
	size_t i;

	/* Profiling was stopped before the command exited. */
	if (live->command && live->child.pid > 0 && !live->child_gone) {
		kill(live->child.pid, SIGTERM);
		waitpid(live->child.pid, &live->child_status, 0);
		live->child_gone = true;
	}
	for (i = 0; i < live->process_count; i++)
		if (live->processes[i] >= 0)
			close(live->processes[i]);
	hwprof_session_close(live->session);
	if (status == STATUS_OK && live_owns_command(live) &&
	    !live->duration_ms)
		return child_status(live->child_status);
	return status;
}
