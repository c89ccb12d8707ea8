// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/numbers.h"
#include "child.h"
#include "command.h"
#include "live.h"
#include "live/filter.h"
#include "pace.h"
#include "record.h"
#include "record_mask.h"
#include "record_productions.h"
#include "refusal.h"

enum {
	STEP_MS = 250,		/* how long records may wait in a ring */
	LOG_SECONDS = 10,	/* between two lines of --progress in a log */
};

struct run {
	struct record_request *request;
	struct events_options options;
	struct recording *recording;
	struct record_productions *productions;	/* NULL: none */
	struct child child;
	int signals;			/* signalfd */
	sigset_t mask;			/* as it was */
	bool child_gone;
	int child_status;		/* waitpid()'s */
	bool kept_old;			/* what the file was is FILE.old */
	bool stop;			/* the user wants it to end */
	time_t began, told;
	struct pace pace;
	bool steps;			/* every instruction */
	uint64_t events;		/* that were seen when told */
	uint64_t begin_ns;		/* of the monotonic clock */
	uint64_t end_ns;		/* the same; UINT64_MAX: none */
};

static int find_pmu(struct record_request *request)
{
	int64_t type;
	size_t i;

	if (!read_number(HWPROF_SYSFS "/type", &type))
		return failed("the hwprof module is not loaded: modprobe hwprof (PMU 'hwprof' not found in /sys/bus/event_source/devices)");
	for (i = 0; i < request->event_count; i++)
		request->events[i].attr.type = type;
	return -1;
}

/* These come through a descriptor, so that nothing is interrupted by them. */
static int catch_signals(struct run *run)
{
	static const int caught[] = {
		SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT,
	};
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
		sigaddset(&set, caught[i]);
	sigprocmask(SIG_BLOCK, &set, &run->mask);
	run->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return run->signals < 0 ? failed("cannot wait for signals: %s",
					 strerror(errno)) : -1;
}

/* Users may lock little memory: our own choice gives way to that. */
static int open_events(struct run *run)
{
	struct record_request *request = run->request;
	int error, index;

	do {
		recording_close(run->recording);
		error = recording_open(&run->recording, &run->options);
		if (!error)
			return -1;
		index = recording_refused(run->recording);
	} while (error == -ENOMEM && index >= 0 &&
		 record_request_shrink(request, index));
	if (index < 0)
		return failed("%s", recording_error(run->recording));
	explain_refusal(&request->events[index].attr, &request->parsed[index],
			request->texts[index], -error);
	return STATUS_FAILED;
}

/* Says what it will cost, before anything has begun. */
static void tell_cost(struct run *run)
{
	const struct record_request *request = run->request;
	const char *who = request->targets ? "each program that is recorded" :
			  request->command[0];
	size_t i;

	for (i = 0; i < request->event_count; i++) {
		bool steps = record_request_steps(request, i);

		if (!request->quiet && steps && !run->steps)
			pace_warn(&run->pace, &request->parsed[i],
				  request->texts[i], "record", who);
		else if (!request->quiet && !steps)
			pace_say_bursts(&run->pace, &request->parsed[i]);
		run->steps |= steps;
	}
}

static bool old_name(const char *path, char *old, size_t size)
{
	return (size_t)snprintf(old, size, "%s.old", path) < size;
}

/* As perf does: the last recording is not lost by accident. */
static int keep_old(struct run *run, const char *path)
{
	char old[4096];
	struct stat status;

	if (lstat(path, &status) || !S_ISREG(status.st_mode) || !status.st_size)
		return -1;
	if (!old_name(path, old, sizeof(old)))
		return failed("%s: the name is too long", path);
	if (rename(path, old))
		return failed("%s: cannot be renamed to %s: %s", path, old,
			      strerror(errno));
	run->kept_old = true;
	return -1;
}

/* There was nothing to record. */
static void drop_file(const struct run *run)
{
	const char *path = run->request->file;
	char old[4096];

	unlink(path);
	if (run->kept_old && old_name(path, old, sizeof(old)))
		rename(old, path);
}

static int start(struct run *run)
{
	int status = keep_old(run, run->request->file);
	int error;

	if (status >= 0)
		return status;
	error = recording_start(run->recording, run->request->file);
	if (error)
		return failed("%s", recording_error(run->recording));
	run->began = run->told = time(NULL);
	run->begin_ns = live_now();
	run->end_ns = run->request->duration_ms ?
		      run->begin_ns + run->request->duration_ms * 1000000 :
		      UINT64_MAX;
	return -1;
}

static int start_command(struct run *run)
{
	char **command = run->request->command;
	int error;

	if (!command)
		return -1;
	error = child_go(&run->child);
	if (!error)
		return -1;
	run->child_gone = true;
	drop_file(run);
	return child_failed(command[0], error);
}

/* Prints how fast the command is stepped, in branches a second. */
static void tell_pace(struct run *run, time_t seconds)
{
	struct pace_totals totals;
	char number[GROUPED_SIZE];
	uint64_t events;

	pace_read_totals(&totals);
	/* A program's session may have ended meanwhile. */
	events = totals.events > run->events ? totals.events - run->events : 0;
	run->events = totals.events;
	fprintf(stderr, "stepping %s branches/s, ",
		grouped(events / seconds, number));
}

static void tell_progress(struct run *run)
{
	char numbers[3][GROUPED_SIZE];
	uint64_t samples, lost, bytes;
	time_t now = time(NULL);
	bool terminal = isatty(STDERR_FILENO);

	if (run->request->quiet ||
	    (!terminal && !run->request->progress && !run->steps) ||
	    now - run->told < (terminal ? 1 : LOG_SECONDS))
		return;
	recording_progress(run->recording, &samples, &lost, &bytes);
	fprintf(stderr, "%shwprof: %s s, ", terminal ? "\r" : "",
		grouped(now - run->began, numbers[0]));
	if (run->steps)
		tell_pace(run, now - run->told);
	fprintf(stderr, "%s rows, %.2f MB, %s lost%s",
		grouped(samples, numbers[1]), bytes / 1e6,
		grouped(lost, numbers[2]), terminal ? "\033[K" : "\n");
	fflush(stderr);
	run->told = now;
}

static void reap(struct run *run)
{
	if (run->request->command && !run->child_gone &&
	    waitpid(run->child.pid, &run->child_status, WNOHANG) ==
	    run->child.pid)
		run->child_gone = true;
}

/* Passes signals on to the command; without one they end the recording. */
static void take_signals(struct run *run)
{
	struct signalfd_siginfo info;

	while (read(run->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			reap(run);
		else if (!run->request->command || run->request->targets)
			run->stop = true;
		else if (info.ssi_code != SI_KERNEL && !run->child_gone)
			/* The command gets the terminal's signals, too. */
			kill(run->child.pid, info.ssi_signo);
	}
}

/*
 * Returns the longest time that a step may take. Maps that a program makes at
 * its start are wanted soon, so a step is no longer than the run so far.
 */
static int step_ms(const struct run *run)
{
	uint64_t now = live_now(), most = now - run->begin_ns;

	if (run->end_ns <= now)
		return 0;
	if (most > run->end_ns - now)
		most = run->end_ns - now;
	return most < STEP_MS * 1000000ULL ? most / 1000000 + 1 : STEP_MS;
}

/* The process whose functions productions name. */
static pid_t first_process(const struct run *run)
{
	return run->request->targets ? run->request->targets[0] :
				       run->child.pid;
}

static int obey(struct run *run)
{
	if (!run->request->cgroup && first_process(run) > 0)
		record_productions_find(run->productions, first_process(run));
	return record_productions_obey(run->productions, run->recording,
				       &run->stop);
}

static int loop(struct run *run)
{
	int poll = record_productions_poll(run->productions, run->signals);
	struct pollfd signals = {
		.fd = poll < 0 ? run->signals : poll, .events = POLLIN,
	};
	bool targets = run->request->targets;
	int got = 0, status;

	while (!run->stop && !run->child_gone && live_now() < run->end_ns) {
		got = recording_step(run->recording, &signals, step_ms(run));
		if (got < 0)
			return failed("%s", recording_error(run->recording));
		take_signals(run);
		if (run->productions) {
			status = obey(run);
			if (status >= 0)
				return status;
		}
		/* Without a command, the end of the targets is the end. */
		if (got > 0 && targets && !run->request->command)
			break;
		tell_progress(run);
	}
	return -1;
}

static void tell_end(const struct run *run,
		     const struct writer_summary *summary)
{
	bool terminal = isatty(STDERR_FILENO);
	char numbers[2][GROUPED_SIZE];

	if (summary->lost)
		warning("%s%s records were lost: give the rings more pages (-m)",
			terminal ? "\r\033[K" : "",
			grouped(summary->lost, numbers[0]));
	if (run->request->quiet)
		return;
	fprintf(stderr, "%shwprof: %s row%s of %s session%s, %.2f MB written to %s\n",
		terminal ? "\r\033[K" : "",
		grouped(summary->samples, numbers[0]),
		summary->samples == 1 ? "" : "s",
		grouped(summary->sessions, numbers[1]),
		summary->sessions == 1 ? "" : "s", summary->bytes / 1e6,
		run->request->file);
}

static int finish(struct run *run)
{
	struct record_request *request = run->request;
	struct numbers masks = { .count = 0 };
	struct writer_facts facts = {
		.argc = request->argc,
		.argv = request->argv,
		.pmu_type = request->events[0].attr.type,
		.masks = &masks,
	};
	struct writer_summary summary;
	int error = record_mask_text(request, &masks);

	if (error)
		return failed("out of memory");
	error = recording_finish(run->recording, &facts, &summary);
	numbers_free(&masks);
	if (error)
		return failed("%s", recording_error(run->recording));
	if (recording_warning(run->recording))
		warning("%s", recording_warning(run->recording));
	tell_end(run, &summary);
	return -1;
}

static int resolve_filter(struct run *run, char *words)
{
	char message[1024];

	if (!run->request->filter)
		return -1;
	run->options.filter = words;
	return filter_resolve(run->request->filter, words, FILTER_WORDS_MAX,
			      message, sizeof(message)) ?
	       failed("%s", message) : -1;
}

/* From here on there is a child that waits, or none was asked for. */
static int record(struct run *run)
{
	bool own = !run->request->targets;
	unsigned int before;
	int status, end;

	run->options.targets = own ? &run->child.pid : run->request->targets;
	run->options.target_count = own ? 1 : run->request->target_count;
	run->options.on_exec = own;
	tell_cost(run);
	before = run->request->masked ? record_newest_session() : 0;
	status = record_productions_open(&run->productions, run->request,
					 &run->options.kind_count);
	if (status < 0)
		status = open_events(run);
	if (status < 0)
		status = record_mask(run->request, before);
	if (status < 0 && run->request->converge &&
	    recording_converge(run->recording, &run->request->converging))
		status = failed("%s", recording_error(run->recording));
	if (status < 0 && run->productions && !own && !run->request->cgroup)
		record_productions_find(run->productions, first_process(run));
	if (status < 0)
		status = start(run);
	if (status >= 0) {
		if (run->request->command)
			child_abandon(&run->child);
		return status;
	}
	status = start_command(run);
	if (status >= 0)
		return status;
	if (own)
		record_productions_find(run->productions, run->child.pid);
	status = loop(run);
	end = status < 0 ? finish(run) : status;
	if (end < 0)
		end = record_productions_finish(run->productions);
	if (!run->request->command)
		return end < 0 ? STATUS_OK : end;
	/* Stopped before the command's end. */
	if (!run->child_gone) {
		kill(run->child.pid, SIGTERM);
		waitpid(run->child.pid, &run->child_status, 0);
	}
	return end < 0 ? child_status(run->child_status) : end;
}

int command_record(int argc, char **argv)
{
	struct record_request request = { .file = NULL };
	struct run run = {
		.request = &request,
		.options.kinds = request.events,
	};
	char words[FILTER_WORDS_MAX];
	int status = record_request_parse(&request, argc, argv);

	if (status < 0)
		status = resolve_filter(&run, words);
	if (status < 0)
		status = find_pmu(&request);
	if (status < 0 && request.command)
		status = child_find(request.command[0]);
	if (status < 0)
		status = catch_signals(&run);
	if (status < 0 && request.command) {
		int error = child_fork(&run.child, request.command, &run.mask);

		if (error)
			status = failed("cannot fork: %s", strerror(-error));
	}
	run.options.kind_count = request.event_count;
	run.options.inherit = !request.no_inherit;
	run.options.pages = request.pages;
	run.options.cpus = request.cpus;
	run.options.cgroup = request.cgroup;
	if (status < 0)
		status = record(&run);
	recording_close(run.recording);
	record_productions_close(run.productions);
	productions_free(&request.productions);
	free(request.targets);
	return status;
}
