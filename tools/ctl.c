// SPDX-License-Identifier: GPL-2.0-only
/* hwprof ctl: lists sessions, and changes their parameters while they run. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "base/json.h"
#include "hwprof.h"
#include "live.h"
#include "mask.h"
#include "sessions.h"
#include "table.h"

const char ctl_usage[] =
"usage: hwprof ctl [--json] [-p PID]\n"
"       hwprof ctl SESSION PARAMETER=VALUE...\n"
"       hwprof ctl -p PID PARAMETER=VALUE...\n"
"       hwprof ctl --mask TESTS SESSION | -p PID [PARAMETER=VALUE...]\n"
"\n"
"Without a parameter, lists the sessions that you may change, with their\n"
"parameters and mask. Otherwise changes parameters of a session, or of those that\n"
"a process has, while they run. CPUs take them over when they look next. Sessions\n"
"that see everything have no parameters, but may have a mask.\n"
"\n"
"  -p, --pid PID    the sessions of this process, for example 'hwprof record'\n"
"      --json       as JSON\n"
"      --mask TESTS only events that pass from now on: see 'hwprof record';\n"
"                   'all': every event passes\n"
"\n"
"parameters:\n"
"  budget=P%        looks may take P percent of the program's time, from 0.1 to\n"
"                   100, in tenths. The session must have a budget.\n"
"  burst=N          branches of a burst, from 2 to 16383. The session must take\n"
"                   bursts.\n"
"  period=N         look every N events of the trigger; in ns if that is time\n"
"  freq=N           look N times a second, up to 1000000. A session has either a\n"
"                   period or a frequency, and keeps it.\n"
"\n"
"exit status: 0 done; 1 there is no such session, or it cannot be changed so;\n"
"2 wrong usage.\n";

static const struct option options[] = {
	{ "pid", required_argument, NULL, 'p' },
	{ "json", no_argument, NULL, 'j' },
	{ "mask", required_argument, NULL, 'K' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

struct ctl {
	int device;
	uint64_t pid;			/* 0: not given */
	bool as_json;
	struct hwprof_tuning wanted;
	struct hwprof_mask mask;
	bool masked;			/* it was given */
	struct table table;
	struct json json;
	unsigned int found;
};

/* --- parameters ----------------------------------------------------------- */

static int set_budget(struct hwprof_tuning *wanted, const char *value)
{
	uint64_t permille;

	if (!parse_permille(value, &permille))
		return usage_error("budget=%s: allowed are percents of the program's time from 0.1 to 100, in tenths",
				   value);
	wanted->budget_permille = permille;
	wanted->flags |= HWPROF_TUNE_BUDGET;
	return -1;
}

static int set_burst(struct hwprof_tuning *wanted, const char *value)
{
	uint64_t burst;

	if (!parse_count(value, HWPROF_BURST_MIN, HWPROF_BURST_MAX, &burst))
		return usage_error("burst=%s: a burst has from %d to %d branches",
				   value, HWPROF_BURST_MIN, HWPROF_BURST_MAX);
	wanted->burst = burst;
	wanted->flags |= HWPROF_TUNE_BURST;
	return -1;
}

static int set_period(struct hwprof_tuning *wanted, const char *value)
{
	uint64_t period;

	if (wanted->flags & HWPROF_TUNE_PERIOD)
		return usage_error("period and freq exclude each other");
	if (!parse_count(value, 1, INT64_MAX, &period))
		return usage_error("period=%s: allowed are whole numbers from 1 on",
				   value);
	wanted->period = period;
	wanted->flags |= HWPROF_TUNE_PERIOD;
	return -1;
}

static int set_freq(struct hwprof_tuning *wanted, const char *value)
{
	uint64_t freq;

	if (wanted->flags & HWPROF_TUNE_PERIOD)
		return usage_error("period and freq exclude each other");
	if (!parse_count(value, 1, HWPROF_FREQ_MAX, &freq))
		return usage_error("freq=%s: allowed are from 1 to %d times a second",
				   value, HWPROF_FREQ_MAX);
	wanted->period = freq;
	wanted->flags |= HWPROF_TUNE_PERIOD | HWPROF_TUNE_FREQ;
	return -1;
}

static const struct parameter {
	const char *name;
	int (*set)(struct hwprof_tuning *wanted, const char *value);
} parameters[] = {
	{ "budget", set_budget },
	{ "burst", set_burst },
	{ "period", set_period },
	{ "freq", set_freq },
};

/* Takes "NAME=VALUE". Returns -1 or the exit status. */
static int set_parameter(struct hwprof_tuning *wanted, const char *text)
{
	size_t length = strcspn(text, "="), i;

	for (i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++)
		if (text[length] && strlen(parameters[i].name) == length &&
		    !strncmp(text, parameters[i].name, length))
			return parameters[i].set(wanted, text + length + 1);
	return usage_error("'%s' is no parameter: there are budget=P%%, burst=N, period=N and freq=N",
			   text);
}

/* --- the module ----------------------------------------------------------- */

/* Asks, or changes. Returns 0 or an errno. */
static int tune(const struct ctl *ctl, struct hwprof_tuning *tuning)
{
	tuning->size = sizeof(*tuning);
	return sessions_change(ctl->device, HWPROF_IOC_TUNE, tuning);
}

static int refused(unsigned int session, int error)
{
	switch (error) {
	case ENOENT:
		return failed("there is no session %u: 'hwprof ctl' lists those that you may change",
			      session);
	case EPERM:
		return failed("session %u is not yours to change: that takes the user and the capabilities of the process that made it, or CAP_PERFMON and, if it steps, CAP_SYS_PTRACE and the right to attach to the init process",
			      session);
	case EOPNOTSUPP:
		return failed("session %u sees everything: there is nothing to change",
			      session);
	case EAGAIN:
		return failed("session %u is unchanged: its rows from before cannot be written, because their reader is behind; try again",
			      session);
	case ENOTTY:
		return failed("the module that is loaded cannot change sessions: it is older than this program");
	}
	return failed("session %u is unchanged: %s", session, strerror(error));
}

/* --- a session ------------------------------------------------------------ */

/* A session as sysfs and procfs describe it; empty: they do not. */
struct about {
	uint64_t owner;
	char command[64], profile[64], source[32];
};

static struct about about_session(unsigned int session)
{
	struct about about = { .owner = sessions_owner(session) };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/comm", about.owner);
	if (!about.owner ||
	    !read_line(path, about.command, sizeof(about.command)))
		about.command[0] = 0;
	if (!sessions_read(session, "engine", about.profile,
			    sizeof(about.profile)))
		about.profile[0] = 0;
	if (!sessions_read(session, "source", about.source,
			    sizeof(about.source)))
		about.source[0] = 0;
	return about;
}

static const char *or_dash(const char *text)
{
	return *text ? clean(text) : "-";
}

/* Adds a cell: the value, or a dash if it is 0. */
static void add_number(struct table *table, const char *format, double value)
{
	if (value)
		table_add(table, format, value);
	else
		table_add(table, "-");
}

/* A mask that others may not see. */
static const char hidden[] = "hidden";

/*
 * Writes the session's mask to @text, "" if everything passes, and how often
 * something has changed to @changes.
 */
static void mask_of(const struct ctl *ctl, unsigned int session,
		    char text[HWPROF_MASK_TEXT], uint32_t *changes)
{
	struct hwprof_mask mask = {
		.size = sizeof(mask), .session = session,
	};
	int error = sessions_change(ctl->device, HWPROF_IOC_MASK, &mask);

	*text = 0;
	if (error) {
		if (error == EPERM)
			strcpy(text, hidden);
		return;
	}
	*changes = mask.changes;
	hwprof_mask_print(&mask, text, HWPROF_MASK_TEXT);
	if (!strcmp(text, "all"))
		*text = 0;
}

static void list_row(struct table *table, const struct hwprof_tuning *tuning,
		     const struct about *about, const char *mask)
{
	table_add(table, "%u", tuning->session);
	add_number(table, "%.0f", about->owner);
	table_add(table, "%s", or_dash(about->command));
	table_add(table, "%s", or_dash(about->profile));
	table_add(table, "%s", or_dash(about->source));
	if (tuning->period)
		table_add(table, "%" PRIu64 "%s", (uint64_t)tuning->period,
			  tuning->flags & HWPROF_TUNE_FREQ ? " Hz" : "");
	else
		table_add(table, "-");
	add_number(table, "%.0f", tuning->burst);
	add_number(table, "%.3g %%", tuning->budget_permille / 10.);
	table_add(table, "%u", tuning->changes);
	table_add(table, "%s", or_dash(mask));
}

static void json_optional(struct json *json, const char *name, uint64_t value)
{
	if (value)
		json_unsigned(json, name, value);
	else
		json_null(json, name);
}

static void list_json(struct json *json, const struct hwprof_tuning *tuning,
		      const struct about *about, const char *mask)
{
	bool freq = tuning->flags & HWPROF_TUNE_FREQ;

	json_open(json, NULL, '{');
	json_unsigned(json, "session", tuning->session);
	json_optional(json, "owner", about->owner);
	json_string(json, "command", *about->command ? about->command : NULL);
	json_string(json, "profile", *about->profile ? about->profile : NULL);
	json_string(json, "source", *about->source ? about->source : NULL);
	json_optional(json, "period", freq ? 0 : tuning->period);
	json_optional(json, "frequency", freq ? tuning->period : 0);
	json_optional(json, "burst", tuning->burst);
	json_optional(json, "budget_permille", tuning->budget_permille);
	json_unsigned(json, "changes", tuning->changes);
	json_string(json, "mask", *mask ? mask : NULL);
	json_close(json, '}');
}

/* Lists it, if it may be changed and has something that can. */
static int list_session(void *context, unsigned int session)
{
	struct ctl *ctl = context;
	struct hwprof_tuning tuning = { .session = session };
	int error = tune(ctl, &tuning);
	char mask[HWPROF_MASK_TEXT];
	struct about about;

	if (error == ENOTTY)
		return refused(session, error);
	if (error && error != EOPNOTSUPP)
		return -1;
	mask_of(ctl, session, mask, &tuning.changes);
	if (error && !*mask)
		return -1;
	about = about_session(session);
	ctl->found++;
	if (ctl->as_json)
		list_json(&ctl->json, &tuning, &about, mask);
	else
		list_row(&ctl->table, &tuning, &about, mask);
	return -1;
}

/* Says why it cannot be changed so. Returns -1 if nothing speaks against it. */
static int check_change(const struct hwprof_tuning *wanted,
			const struct hwprof_tuning *has, unsigned int session)
{
	unsigned int flags = wanted->flags;

	if (flags & HWPROF_TUNE_BURST && !has->burst)
		return failed("session %u takes no bursts: burst cannot change",
			      session);
	if (flags & HWPROF_TUNE_BUDGET && !has->budget_permille)
		return failed("session %u has no budget, and gets none while it runs: change period or freq",
			      session);
	if (!(flags & HWPROF_TUNE_PERIOD) ||
	    !((flags ^ has->flags) & HWPROF_TUNE_FREQ))
		return -1;
	return has->flags & HWPROF_TUNE_FREQ ?
		       failed("session %u has a frequency: change freq, not period",
			      session) :
		       failed("session %u has a period: change period, not freq",
			      session);
}

static int change_parameters(const struct ctl *ctl, unsigned int session)
{
	struct hwprof_tuning has = { .session = session };
	struct hwprof_tuning tuning = ctl->wanted;
	int error = tune(ctl, &has), status;

	if (error)
		return refused(session, error);
	status = check_change(&ctl->wanted, &has, session);
	if (status >= 0)
		return status;
	tuning.session = session;
	error = tune(ctl, &tuning);
	return error ? refused(session, error) : -1;
}

static int change_session(void *context, unsigned int session)
{
	struct ctl *ctl = context;
	int status = -1;

	if (ctl->masked)
		status = mask_session(ctl->device, session, &ctl->mask, NULL);
	if (status < 0 && ctl->wanted.flags)
		status = change_parameters(ctl, session);
	ctl->found += status < 0;
	return status;
}

/* --- all of them ---------------------------------------------------------- */

static int list_as_json(struct ctl *ctl)
{
	int status;

	ctl->json.out = stdout;
	json_open(&ctl->json, NULL, '{');
	json_open(&ctl->json, "sessions", '[');
	status = sessions_each(ctl->pid, list_session, ctl);
	json_close(&ctl->json, ']');
	json_close(&ctl->json, '}');
	putchar('\n');
	return status;
}

static int list_as_table(struct ctl *ctl)
{
	static const struct table_column columns[] = {
		{ .title = "session", .right = true },
		{ .title = "owner", .right = true },
		{ .title = "command" },
		{ .title = "profile" },
		{ .title = "source" },
		{ .title = "period", .right = true },
		{ .title = "burst", .right = true },
		{ .title = "budget", .right = true },
		{ .title = "changes", .right = true },
		{ .title = "mask" },
	};
	int status;

	ctl->table.columns = columns;
	ctl->table.column_count = sizeof(columns) / sizeof(columns[0]);
	status = sessions_each(ctl->pid, list_session, ctl);
	if (status < 0 && ctl->table.failed)
		status = failed("out of memory");
	else if (status < 0 && ctl->found)
		table_print(&ctl->table, 0, stdout);
	else if (status < 0)
		puts("no session that you may change");
	table_free(&ctl->table);
	return status;
}

static int change_of_process(struct ctl *ctl)
{
	int status = sessions_each(ctl->pid, change_session, ctl);

	if (status < 0 && !ctl->found)
		return failed("process %" PRIu64 " has no session, or none of yours: 'hwprof ctl' lists those that you may change",
			      ctl->pid);
	return status;
}

/* --- command line --------------------------------------------------------- */

/* Returns -1 or the exit status. */
static int set_option(struct ctl *ctl, int option, char **argv)
{
	switch (option) {
	case 'j':
		ctl->as_json = true;
		return -1;
	case 'K':
		ctl->masked = true;
		return mask_option(&ctl->mask, optarg);
	case 'p':
		return parse_count(optarg, 1, INT32_MAX, &ctl->pid) ? -1 :
		       usage_error("-p '%s': it is the number of a process",
				   optarg);
	}
	return option_error(option, ctl_usage, argv);
}

static int parse_options(struct ctl *ctl, int argc, char **argv)
{
	int option, status = -1;

	while (status < 0 &&
	       (option = getopt_long(argc, argv, "p:h", options, NULL)) != -1)
		status = set_option(ctl, option, argv);
	return status;
}

/* Takes what follows the options. Returns -1 or the exit status. */
static int parse_arguments(struct ctl *ctl, char **argv, uint64_t *session)
{
	int status = -1;

	if (*argv && !ctl->pid) {
		if (!parse_count(*argv, 1, UINT32_MAX, session))
			return usage_error("'%s' is no session: name one by its number, or a process with -p",
					   *argv);
		argv++;
		if (!*argv && !ctl->masked)
			return usage_error("what of session %" PRIu64 " shall change? There are budget=P%%, burst=N, period=N and freq=N",
					   *session);
	}
	for (; *argv && status < 0; argv++)
		status = set_parameter(&ctl->wanted, *argv);
	if (status < 0 && ctl->masked && !*session && !ctl->pid)
		return usage_error("--mask: name a session by its number, or a process with -p");
	if (status < 0 && ctl->as_json && (ctl->wanted.flags || ctl->masked))
		return usage_error("--json is for the list of sessions");
	return status;
}

static int run(struct ctl *ctl, uint64_t session)
{
	if (session)
		return change_session(ctl, session);
	if (ctl->wanted.flags || ctl->masked)
		return change_of_process(ctl);
	return ctl->as_json ? list_as_json(ctl) : list_as_table(ctl);
}

int command_ctl(int argc, char **argv)
{
	struct ctl ctl = { .device = -1 };
	uint64_t session = 0;
	int status = parse_options(&ctl, argc, argv);

	if (status < 0)
		status = parse_arguments(&ctl, argv + optind, &session);
	if (status < 0)
		status = sessions_open_device(&ctl.device);
	if (status >= 0)
		return status;
	status = run(&ctl, session);
	close(ctl.device);
	return status < 0 ? STATUS_OK : status;
}
