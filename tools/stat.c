// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "base/json.h"
#include "live.h"

const char stat_usage[] =
"usage: hwprof stat [OPTIONS] [--] COMMAND [ARG...]\n"
"       hwprof stat [OPTIONS] -p PID | -a | -C CPUS | --cgroup NAME [[--] COMMAND...]\n"
"\n"
"Profiles a command, or running programs, and prints how many units it counted,\n"
"and what became of them: on standard error, since the command has standard\n"
"output.\n"
"\n"
LIVE_USAGE
"  -o, --output FILE   write to FILE instead of standard error\n"
"  -j, --json          as JSON: see hwprof-stat(1)\n"
"  -h, --help\n"
"\n"
"exit status: that of the command, if it alone is profiled and -D is not given:\n"
"128 + N if signal N killed it, 127 if it is not found, 126 if it cannot be\n"
"executed. Otherwise 0; 1 profiling failed; 2 wrong usage.\n";

static const struct option options[] = {
	LIVE_OPTIONS,
	{ "output", required_argument, NULL, 'o' },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

struct stat_request {
	struct live live;
	const char *output;
	bool json;
};

static double elapsed(const struct live *live)
{
	return (live->ended_ns - live->began_ns) / 1e9;
}

static void put_json(const struct live *live,
		     const struct hwprof_totals *totals, FILE *out)
{
	enum hwprof_kind kind = hwprof_session_kind(live->session);
	double overhead = hwprof_overhead(totals);
	struct json json = { .out = out };

	json_open(&json, NULL, '{');
	json_string(&json, "event", live->name);
	json_string(&json, "kind", hwprof_kind_name(kind));
	json_string(&json, "units", hwprof_kind_units(kind));
	json_unsigned(&json, "produced", totals->produced);
	json_unsigned(&json, "delivered", totals->delivered);
	json_unsigned(&json, "lost", totals->lost);
	json_unsigned(&json, "evicted", totals->evicted);
	json_unsigned(&json, "pending", totals->pending);
	json_unsigned(&json, "events", totals->events);
	json_unsigned(&json, "lost_events", totals->lost_events);
	json_unsigned(&json, "gaps", totals->gaps);
	json_unsigned(&json, "windows", totals->windows);
	json_unsigned(&json, "rows", totals->rows);
	json_unsigned(&json, "lost_records", totals->lost_records);
	json_unsigned(&json, "cost_ns", totals->cost_ns);
	json_unsigned(&json, "task_ns", totals->task_ns);
	if (overhead < 0)
		json_null(&json, "overhead");
	else
		json_number(&json, "overhead", overhead);
	json_number(&json, "elapsed_s", elapsed(live));
	json_close(&json, '}');
}

static void put(FILE *out, uint64_t value, const char *what)
{
	char text[GROUPED_SIZE];

	fprintf(out, "%20s  %s\n", grouped(value, text), what);
}

static void put_text(const struct live *live,
		     const struct hwprof_totals *totals, FILE *out)
{
	enum hwprof_kind kind = hwprof_session_kind(live->session);
	double overhead = hwprof_overhead(totals);

	fprintf(out, "\n %s%s%s:\n\n", live->name, live->command ? " of " : "",
		live->command ? live->command[0] : "");
	put(out, totals->produced, hwprof_kind_units(kind));
	put(out, totals->delivered, "  delivered");
	put(out, totals->lost, "  lost");
	put(out, totals->evicted, "  evicted");
	put(out, totals->pending, "  pending");
	put(out, totals->events, "events that the source saw");
	if (totals->lost_events)
		put(out, totals->lost_events, "events lost");
	put(out, totals->gaps, "gaps");
	if (totals->windows)
		put(out, totals->windows, "windows");
	put(out, totals->rows, "rows");
	if (totals->lost_records)
		put(out, totals->lost_records, "records lost");
	if (overhead >= 0)
		fprintf(out, "%18.2f %%  overhead of %.3g s\n", 100 * overhead,
			(totals->task_ns - totals->cost_ns) / 1e9);
	fprintf(out, "\n%20.3f  seconds elapsed\n\n", elapsed(live));
}

static int print(const struct stat_request *request,
		 const struct hwprof_profile *profile)
{
	const struct hwprof_totals *totals = hwprof_profile_totals(profile);
	FILE *out = output_open(request->output, stderr);

	if (!out)
		return STATUS_FAILED;
	if (request->json)
		put_json(&request->live, totals, out);
	else
		put_text(&request->live, totals, out);
	return output_close(out);
}

static int measure(struct stat_request *request)
{
	struct live *live = &request->live;
	struct hwprof_profile *profile;
	int status = live_start(live);

	if (status >= 0)
		return status;
	live_wait_for_end(live);
	status = live_stop(live);
	if (status)
		return status;
	if (hwprof_session_snapshot(live->session, &profile))
		return live_failed(live);
	status = print(request, profile);
	hwprof_profile_free(profile);
	return status;
}

static int set_option(struct stat_request *request, int option, char *value,
		      char **argv)
{
	int status = live_option(&request->live, option, value);

	if (status != -2)
		return status;
	switch (option) {
	case 'o':
		request->output = value;
		return -1;
	case 'j':
		request->json = true;
		request->live.quiet = true;
		return -1;
	}
	return option_error(option, stat_usage, argv);
}

int command_stat(int argc, char **argv)
{
	struct stat_request request = {
		.live.verb = "stat",
		/* Symbols are not needed. */
		.live.options.profile.flags = HWPROF_NO_OBJECTS,
	};
	int option, status = -1;

	/* '+': leave options behind the command to the command. */
	while (status < 0 && (option = getopt_long(argc, argv,
						   "+" LIVE_LETTERS "o:jh",
						   options, NULL)) >= 0)
		status = set_option(&request, option, optarg, argv);
	if (status >= 0)
		return status;
	if (optind < argc)
		request.live.command = argv + optind;
	status = live_check(&request.live);
	if (status >= 0)
		return status;
	return live_close(&request.live, measure(&request));
}
