// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "live.h"
#include "mask.h"
#include "production_symbols.h"
#include "record_events.h"

#define DEFAULT_EVENT	"loops"

enum { PAGES_MAX = 1 << 20 };

const char record_usage[] =
"usage: hwprof record [OPTIONS] [--] COMMAND [ARG...]\n"
"       hwprof record [OPTIONS] -p PID | -t TID | -a | -C CPUS | --cgroup NAME\n"
"                     [[--] COMMAND [ARG...]]\n"
"\n"
"Profiles a command, or running processes, and writes a perf.data file, which\n"
"'hwprof report' and 'perf' read.\n"
"\n"
"  -o, --output FILE   write to FILE (default: " DEFAULT_FILE "); an existing file\n"
"                      becomes FILE.old\n"
"  -e, --event EVENT   record this event; may be given several times (default:\n"
"                      loops)\n"
"  -p, --pid PID       running processes, separated by commas\n"
"  -t, --tid TID       threads, the same\n"
"  -a, --all-cpus      everything that runs\n"
"  -C, --cpu CPUS      on these CPUs, as in 0-3,8; alone: everything there\n"
"  -G, --cgroup NAME   all in a cgroup: its path, or that in /sys/fs/cgroup\n"
"  -D, --duration SECONDS  end after this time\n"
"  -i, --no-inherit    leave out children and threads that start later\n"
"  -c, --count N       take a sample, branch records or a burst every N events of\n"
"                      the trigger (bursts: nanoseconds of CPU time)\n"
"  -F, --freq N        the same, N times a second (default, without a budget:\n"
"                      4000; records: 1000)\n"
"      --budget P%     let recording take P percent of the program's time, from\n"
"                      0.1 to 100 (default: 1, unless -c or -F is given, or a\n"
"                      trigger of samples or records); -c and -F are then upper\n"
"                      limits\n"
"      --converge[=PERCENT]  look less often, down to 1/64, while no more than\n"
"                      PERCENT (default: 1) of what is seen is new\n"
"      --filter FUNCTION@FILE,...  only the code of these functions, or\n"
"                      OFFSET/SIZE@FILE, in bytes of the file; up to 8 ranges\n"
"      --mask TESTS    only events that pass, as in 'kind=load,width=8,value=0';\n"
"                      tests are kind=, class=, width=, value=, address=, ip=\n"
"                      and part= (docs/filters.md)\n"
"      --when PATTERN  at events such as 'call(to=f)' or 'loop_exit(trips>1000)',\n"
"      --then ACTION,... do this: count(NAME,...), hist(NAME,...), burst=N|on|off,\n"
"                      snapshot, stop, sooner, later, or COUNTER=N, COUNTER+=N;\n"
"                      several pairs may be given (docs/productions.md)\n"
"      --counts FILE   what --then has counted, to there (default: standard error)\n"
"      --counts-json   the same as JSON\n"
"      --trigger EVENT event that starts samples, records and bursts: a name of\n"
"                      the CPU's or libpfm4's, a raw code (r20c4), terms\n"
"                      (cpu/event=0xc4,umask=0x20/), or 'clock'\n"
"      --metric EVENT  count these events, too, for each context of samples: up\n"
"                      to 4, separated by commas or given one by one; the same\n"
"                      names as for triggers, and perf's own (page-faults)\n"
"  -m, --mmap-pages N  pages of each CPU's ring, a power of two (default: as\n"
"                      many as allowed, up to 4 MiB)\n"
"      --progress      print a line every 10 s, even if stderr is no terminal\n"
"  -q, --quiet         print nothing but errors and warnings\n"
"  -h, --help\n"
"\n"
"EVENT is FIELD[=VALUE],...[/u][/k] as in 'loops,memory_mib=4/u'. If it names no\n"
"source, a COMMAND is stepped ('step': every branch is seen, and the command runs\n"
"far slower). Programs that run already are stepped only if the event has 'step'.\n"
"They are profiled from branch records ('lbr'), or from bursts of stepping if\n"
"there are none ('burst=200'), or from samples ('sample': ranges of code, cct),\n"
"for 1 % of their time. hwprof adds 'rows' unless EVENT has rows=0, and\n"
"memory_mib=16 (or less, if that is not allowed). It opens an event of the form\n"
"hwprof/FIELD[=VALUE],.../u unchanged.\n"
"Ranges are of code; 'ranges,of=STREAM' takes load-value, load-address,\n"
"store-address, callee, zero-address (loads of zeros), narrow-ip (instructions\n"
"with operands of 16 bits or less), ip-load-address or ip-store-address (pairs of\n"
"instructions and the addresses that they access). One event may have several of\n"
"loops, calls, paths, edges and cct ('loops,calls,paths'), and sees each branch\n"
"once.\n"
"\n"
"exit status: that of the command, 128 + N if signal N killed it, 127 if it is\n"
"not found, 126 if it cannot be executed; 1 recording failed; 2 wrong usage.\n";

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "event", required_argument, NULL, 'e' },
	{ "pid", required_argument, NULL, 'p' },
	{ "tid", required_argument, NULL, 't' },
	{ "all-cpus", no_argument, NULL, 'a' },
	{ "cpu", required_argument, NULL, 'C' },
	{ "cgroup", required_argument, NULL, 'G' },
	{ "duration", required_argument, NULL, 'D' },
	{ "no-inherit", no_argument, NULL, 'i' },
	{ "count", required_argument, NULL, 'c' },
	{ "freq", required_argument, NULL, 'F' },
	{ "budget", required_argument, NULL, 'B' },
	{ "converge", optional_argument, NULL, 'V' },
	{ "filter", required_argument, NULL, 'f' },
	{ "mask", required_argument, NULL, 'K' },
	{ "when", required_argument, NULL, 'W' },
	{ "then", required_argument, NULL, 'H' },
	{ "counts", required_argument, NULL, 'O' },
	{ "counts-json", no_argument, NULL, 'J' },
	{ "trigger", required_argument, NULL, 'T' },
	{ "metric", required_argument, NULL, 'M' },
	{ "mmap-pages", required_argument, NULL, 'm' },
	{ "progress", no_argument, NULL, 'P' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static int add_target(struct record_request *request, pid_t target)
{
	pid_t *all = reallocarray(request->targets, request->target_count + 1,
				  sizeof(*all));

	if (!all)
		return failed("out of memory");
	request->targets = all;
	all[request->target_count++] = target;
	return -1;
}

/* All threads that the process has now; those to come are inherited. */
static int add_process(struct record_request *request, pid_t pid)
{
	int error, status = -1;
	pid_t *threads;
	size_t count, i;

	error = process_threads(pid, &threads, &count);
	if (error)
		return error == -ESRCH ? failed("there is no process %d", pid) :
					 failed("out of memory");
	for (i = 0; i < count && status < 0; i++)
		status = add_target(request, threads[i]);
	free(threads);
	return status;
}

/* "12,34" of -p and -t. */
static int add_targets(struct record_request *request, char option, char *list)
{
	char *rest = list, *item;
	int status = -1;

	while (status < 0 && (item = strsep(&rest, ","))) {
		uint64_t id;

		if (!parse_count(item, 1, INT32_MAX, &id))
			return usage_error("-%c '%s': allowed are numbers from 1 to %d, separated by commas",
					   option, item, INT32_MAX);
		status = option == 'p' ? add_process(request, id) :
			 add_target(request, id);
	}
	return status;
}

static int set_number(uint64_t *number, char option, const char *text)
{
	if (!parse_count(text, 1, INT32_MAX, number))
		return usage_error("-%c '%s': allowed are numbers from 1 to %d",
				   option, text, INT32_MAX);
	return -1;
}

static int set_pages(struct record_request *request, const char *text)
{
	uint64_t pages;

	if (!parse_count(text, 1, PAGES_MAX, &pages) || pages & (pages - 1))
		return usage_error("-m '%s': allowed are powers of two from 1 to %d",
				   text, PAGES_MAX);
	request->pages = pages;
	return -1;
}

static int set_cgroup(struct record_request *request, const char *name)
{
	if (request->cgroup)
		return usage_error("--cgroup '%s': one is recorded", name);
	request->cgroup = open_cgroup(name);
	if (request->cgroup >= 0)
		return add_target(request, request->cgroup);
	return failed("cgroup '%s': %s", name, strerror(errno));
}

/* The end of an event, if it is counted in one mode or the other. */
static bool names_mode(const char *text)
{
	const char *colon = strrchr(text, ':');

	return colon && (!strcmp(colon, ":u") || !strcmp(colon, ":k") ||
			 !strcmp(colon, ":uk") || !strcmp(colon, ":ku"));
}

static int add_metric(struct record_request *request, const char *text)
{
	if (request->metric_count == HWPROF_METRICS_MAX)
		return usage_error("--metric '%s': %d are allowed", text,
				   HWPROF_METRICS_MAX);
	if (names_mode(text))
		return usage_error("--metric '%s': it is counted where the samples are taken: give the event /u, /k or /uk",
				   text);
	if (strlen(text) + sizeof(":u") > sizeof(request->metrics->names[0]))
		return usage_error("--metric '%s': the name is too long", text);
	request->metric_texts[request->metric_count++] = text;
	return -1;
}

/*
 * Adds the metrics of a list such as "instructions,branch-misses". A comma
 * between slashes belongs to the event.
 */
static int add_metrics(struct record_request *request, char *list)
{
	bool inside = false;
	int status = -1;
	char *at, *text = list;

	for (at = list; status < 0; at++) {
		inside ^= *at == '/';
		if (*at && (*at != ',' || inside))
			continue;
		if (!*at)
			return add_metric(request, text);
		*at = 0;
		status = add_metric(request, text);
		text = at + 1;
	}
	return status;
}

static int add_when(struct record_request *request, const char *text)
{
	if (request->when)
		return usage_error("--when '%s': give it --then before the next --when",
				   request->when);
	request->when = text;
	return -1;
}

static int add_then(struct record_request *request, const char *text)
{
	if (!request->when)
		return usage_error("--then '%s': it belongs behind a --when",
				   text);
	if (!productions_add(&request->productions, request->when, text))
		return usage_error("--when '%s': more than %d productions",
				   request->when, PRODUCTIONS_MAX);
	request->when = NULL;
	return -1;
}

/* Options of productions. Returns -2 if @option is none. */
static int set_production_option(struct record_request *request, int option,
				 char *value)
{
	switch (option) {
	case 'W':
		return add_when(request, value);
	case 'H':
		return add_then(request, value);
	case 'O':
		request->counts = value;
		return -1;
	case 'J':
		request->counts_json = true;
		return -1;
	}
	return -2;
}

static int check_productions(struct record_request *request)
{
	struct production_error error;

	if (request->when)
		return usage_error("--when '%s': it needs --then, with what is to be done",
				   request->when);
	if (!request->productions.count)
		return request->counts || request->counts_json ?
		       usage_error("--counts needs --when and --then") : -1;
	if (productions_parse(&request->productions, &error))
		return -1;
	production_tell(&error);
	return STATUS_USAGE;
}

static int set_option(struct record_request *request, int option, char *value,
		      char *kinds)
{
	int status = set_production_option(request, option, value);

	if (status != -2)
		return status;
	switch (option) {
	case 'o':
		request->file = value;
		return *value ? -1 : usage_error("-o needs the name of a file");
	case 'e':
		return record_add_event(request, value);
	case 'p':
	case 't':
		*kinds |= option == 'p' ? 1 : 2;
		return add_targets(request, option, value);
	case 'a':
		*kinds |= 4;
		return -1;
	case 'C':
		request->cpus = value;
		return -1;
	case 'G':
		*kinds |= 8;
		return set_cgroup(request, value);
	case 'D':
		if (!parse_seconds(value, &request->duration_ms))
			return usage_error("--duration '%s': allowed are seconds, 0.001 or more",
					   value);
		return -1;
	case 'i':
		request->no_inherit = true;
		return -1;
	case 'c':
		return set_number(&request->period, option, value);
	case 'F':
		return set_number(&request->frequency, option, value);
	case 'B':
		request->budget = value;
		return -1;
	case 'V':
		request->converge = true;
		return parse_converge(&request->converging, value);
	case 'f':
		request->filter = value;
		return -1;
	case 'K':
		request->masked = true;
		return mask_option(&request->mask, value);
	case 'T':
		request->trigger = value;
		return -1;
	case 'M':
		return add_metrics(request, value);
	case 'm':
		return set_pages(request, value);
	case 'P':
		request->progress = true;
		return -1;
	case 'q':
		request->quiet = true;
		return -1;
	}
	return option_error(option, record_usage, request->argv);
}

/* Checks that everything that was asked for goes together. */
static int check(struct record_request *request, int kinds)
{
	int status;

	status = check_productions(request);
	if (status >= 0)
		return status;
	if (kinds & (kinds - 1))
		return usage_error("-p, -t, -a and --cgroup exclude each other");
	/* CPUs alone: all that runs on them. */
	if (kinds == 4 || (!kinds && request->cpus)) {
		status = add_target(request, -1);
		if (status >= 0)
			return status;
	}
	if (!request->targets && !request->command)
		return usage_error("nothing to record: give a command, -p, -t, -a, -C or --cgroup");
	if (!request->event_count) {
		status = record_add_event(request, DEFAULT_EVENT);
		if (status >= 0)
			return status;
	}
	status = record_complete_events(request);
	if (status < 0)
		status = record_check_records(request);
	if (status >= 0)
		return status;
	if (request->trigger) {
		status = record_set_trigger(request);
		if (status >= 0)
			return status;
	}
	status = record_set_metrics(request);
	if (status >= 0)
		return status;
	if (request->budget) {
		status = record_set_budget(request);
		if (status >= 0)
			return status;
	} else if (!request->period && !request->frequency) {
		record_set_default_budget(request);
	}
	status = record_set_periods(request);
	return status < 0 && request->converge ?
	       record_check_converge(request) : status;
}

int record_request_parse(struct record_request *request, int argc, char **argv)
{
	int option, status = -1;
	char kinds = 0;

	request->file = DEFAULT_FILE;
	request->argc = argc;
	request->argv = argv;
	/* '+': the command's own options are its own. */
	while (status < 0 && (option = getopt_long(argc, argv,
						   "+o:e:p:t:aC:G:D:ic:F:m:qh", options,
						   NULL)) >= 0)
		status = set_option(request, option, optarg, &kinds);
	if (status >= 0)
		return status;
	if (optind < argc)
		request->command = argv + optind;
	return check(request, kinds);
}
