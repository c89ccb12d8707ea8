// SPDX-License-Identifier: GPL-2.0-only
/* hwprof pgo: records a program's branches, and writes compilers' profiles. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "export_files.h"
#include "live.h"
#include "pace.h"
#include "report.h"
#include "live/source_choice.h"

#define DEFAULT_FOLDER	"hwprof.pgo"
#define DEFAULT_FORMATS	"bolt,autofdo-text,llvm-profgen"

enum {
	ENOUGH = 120000,		/* taken branches */
	FEW = 20000,			/* warn below that */
	BURST = 32,			/* branches */
	/* Permille of the time of running programs, and of a command. */
	OTHERS_BUDGET = CAREFUL_BUDGET,
	COMMAND_BUDGET = 100,
	PROGRESS_NS = 1000000000,
	FORMATS_MAX = 16,
};

const char pgo_usage[] =
"usage: hwprof pgo [OPTIONS] [--] COMMAND [ARG...]\n"
"       hwprof pgo [OPTIONS] -p PID | -a | -C CPUS | --cgroup NAME\n"
"                  [[--] COMMAND...]\n"
"\n"
"Records taken branches until there are enough, and writes a profile of each\n"
"program and library that ran, in formats that compilers and BOLT read. The\n"
"branches are those of the CPU's branch records or, without these, of short bursts\n"
"of stepping.\n"
"\n"
"  -p, --pid PID       processes that run, separated by commas\n"
"  -a, --all-cpus      everything that runs\n"
"  -C, --cpu CPUS      on these CPUs, as in 0-3,8; alone: everything there\n"
"  -G, --cgroup NAME   all in a cgroup: its path, or that in /sys/fs/cgroup\n"
"  -i, --no-inherit    without the children of what is recorded\n"
"  -D, --duration SECONDS  no longer than that\n"
"  -n, --enough N      end recording after N taken branches (default: 120000);\n"
"                      0: with the program. A command runs on, and is waited for\n"
"      --budget P%     record as often as costs P percent of the program's time\n"
"                      (default: 1, a command's: 10)\n"
"      --exact         step a command all the time: every branch, far slower\n"
"  -f, --format LIST   formats of hwprof export, separated by commas:\n"
"                      bolt, fdata, autofdo-text, llvm-profgen, llvm-perfscript\n"
"                      (default: " DEFAULT_FORMATS ")\n"
"      --format-version VERSION  autofdo-text: of AutoFDO, 0.19 (and older) or\n"
"                      0.20 (and newer) (default: 0.19)\n"
"      --binary FILE   only this program or library\n"
"  -o, --output DIR    folder for the profiles (default: " DEFAULT_FOLDER ")\n"
"  -h, --help\n"
"\n"
"exit status: that of the command, 128 + N if signal N killed it, 127 if it is\n"
"not found, 126 if it cannot be executed; 1 recording or writing failed; 2 wrong\n"
"usage.\n";

struct pgo {
	struct live live;
	const struct hwprof_format *formats[FORMATS_MAX];
	size_t format_count;
	const char *version;		/* of a format; NULL: the default */
	const char *binary;		/* NULL: all objects */
	const char *output;
	uint64_t enough;		/* branches; 0: all until the end */
	bool enough_given;
	uint64_t permille;		/* 0: the default */
	bool exact;
	char event[64];
	uint64_t seen;			/* taken branches */
	uint64_t said_ns;		/* when progress was shown */
	bool told;			/* what the profile is worth */
};

static const struct option options[] = {
	{ "pid", required_argument, NULL, 'p' },
	{ "all-cpus", no_argument, NULL, 'a' },
	{ "cpu", required_argument, NULL, 'C' },
	{ "cgroup", required_argument, NULL, 'G' },
	{ "no-inherit", no_argument, NULL, 'i' },
	{ "duration", required_argument, NULL, 'D' },
	{ "enough", required_argument, NULL, 'n' },
	{ "budget", required_argument, NULL, 'B' },
	{ "exact", no_argument, NULL, 'E' },
	{ "format", required_argument, NULL, 'f' },
	{ "format-version", required_argument, NULL, 'v' },
	{ "binary", required_argument, NULL, 'b' },
	{ "output", required_argument, NULL, 'o' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

/* --- options -------------------------------------------------------------- */

static int wrong_format(const char *name)
{
	char *all = export_list_formats(true);
	int status = usage_error("--format '%s': allowed are, separated by commas: %s",
				 name, all ? all : "see --help");

	free(all);
	return status;
}

static int set_formats(struct pgo *pgo, const char *list)
{
	char *copy = strdup(list), *rest = copy, *name;
	int status = copy ? -1 : failed("out of memory");

	pgo->format_count = 0;
	while (status < 0 && (name = strsep(&rest, ","))) {
		const struct hwprof_format *format = hwprof_format_of(name);

		if (!format || !format->per_object ||
		    pgo->format_count == FORMATS_MAX)
			status = wrong_format(name);
		else
			pgo->formats[pgo->format_count++] = format;
	}
	free(copy);
	return status;
}

static int set_option(struct pgo *pgo, int option, char *value, char **argv)
{
	switch (option) {
	case 'n':
		pgo->enough_given = true;
		if (parse_count(value, 0, INT64_MAX, &pgo->enough))
			return -1;
		return usage_error("--enough '%s': allowed are numbers of branches, and 0",
				   value);
	case 'B':
		if (parse_permille(value, &pgo->permille))
			return -1;
		return usage_error("--budget '%s': allowed are percents of the program's time from 0.1 to 100, in tenths",
				   value);
	case 'E':
		pgo->exact = true;
		return -1;
	case 'f':
		return set_formats(pgo, value);
	case 'v':
		pgo->version = value;
		return -1;
	case 'b':
		pgo->binary = value;
		return -1;
	case 'o':
		pgo->output = value;
		return -1;
	case 'h':
	case '?':
		return option_error(option, pgo_usage, argv);
	}
	return live_option(&pgo->live, option, value);
}

static int check_exact(const struct pgo *pgo)
{
	if (!live_owns_command(&pgo->live))
		return usage_error("--exact would step programs that run already: it is for a command");
	if (pgo->permille)
		return usage_error("--exact has no budget: every branch costs what it costs");
	if (pgo->enough_given)
		return usage_error("--exact records to the end: --enough is for what is recorded now and then");
	return -1;
}

static int check(const struct pgo *pgo)
{
	size_t i;

	for (i = 0; pgo->version && i < pgo->format_count; i++)
		if (pgo->formats[i]->versions)
			break;
	if (pgo->version && i == pgo->format_count)
		return usage_error("--format-version: none of the formats has versions");
	if (pgo->binary && access(pgo->binary, R_OK))
		return usage_error("--binary '%s': %s", pgo->binary,
				   strerror(errno));
	if (pgo->exact && check_exact(pgo) >= 0)
		return STATUS_USAGE;
	return live_check(&pgo->live);
}

/* --- recording ------------------------------------------------------------ */

/* Branch records where there are any, and else bursts. */
static void choose_event(struct pgo *pgo)
{
	unsigned int permille = pgo->permille ? pgo->permille :
				live_owns_command(&pgo->live) ? COMMAND_BUDGET :
						     OTHERS_BUDGET;

	if (pgo->exact)
		snprintf(pgo->event, sizeof(pgo->event), "edges,step");
	else if (source_works("lbr"))
		snprintf(pgo->event, sizeof(pgo->event),
			 "edges,lbr,budget_permille=%u", permille);
	else
		snprintf(pgo->event, sizeof(pgo->event),
			 "edges,step,burst=%u,budget_permille=%u", BURST,
			 permille);
	pgo->live.event = pgo->event;
}

static void say_steps(struct pace *pace)
{
	char text[GROUPED_SIZE];

	pace_measure(pace);
	if (pace->step_ns)
		fprintf(stderr, "hwprof: each instruction is stepped: a small loop runs %s times slower\n",
			grouped(pace->slowdown + 0.5, text));
}

/* Says what it costs on this machine, and how long enough bursts take. */
static void say_cost(const struct pgo *pgo)
{
	const struct hwprof_event *event =
		hwprof_session_event(pgo->live.session);
	struct pace pace = { .step_ns = 0 };
	char text[GROUPED_SIZE], seconds[GROUPED_SIZE];
	double rate;

	if (pgo->exact)
		say_steps(&pace);
	rate = BURST * pace_burst_rate(&pace, event);
	if (!rate)
		return;
	fprintf(stderr, "hwprof: bursts of %u branches, for %.1f %% of the time: some %s branches a second of CPU time",
		BURST, hwprof_event_field(event, "budget_permille") / 10.0,
		grouped(rate, text));
	if (pgo->enough)
		fprintf(stderr, "; %s take about %s s of it",
			grouped(pgo->enough, text),
			rounded(pgo->enough / rate, seconds));
	fputc('\n', stderr);
}

/* Each branch ends a line once. */
static int count_row(void *context, const struct hwprof_sample *sample)
{
	const struct hwprof_row_edge *edge = (const void *)sample->row;
	struct pgo *pgo = context;

	if (edge->row.type == HWPROF_ROW_EDGE && edge->end)
		pgo->seen += edge->count;
	return 0;
}

static void show_progress(struct pgo *pgo, bool last)
{
	char text[GROUPED_SIZE];
	uint64_t now = live_now();

	if (!isatty(STDERR_FILENO) ||
	    (!last && now - pgo->said_ns < PROGRESS_NS))
		return;
	pgo->said_ns = now;
	fprintf(stderr, "\r%s taken branches\033[K%s", grouped(pgo->seen, text),
		last ? "\r\033[K" : "");
}

static bool has_enough(const struct pgo *pgo)
{
	return pgo->enough && pgo->seen >= pgo->enough;
}

/* Returns -1 when there are enough branches or it ends, or the exit status. */
static int watch(struct pgo *pgo)
{
	struct live *live = &pgo->live;
	int rows = hwprof_session_fd(live->session);

	if (rows < 0)
		return live_failed(live);
	while (!has_enough(pgo)) {
		enum live_wake wake = live_wait(live, UINT64_MAX, rows);

		if (wake == LIVE_END)
			break;
		if (wake == LIVE_SUSPENDED)
			raise(SIGSTOP);
		if (hwprof_session_rows(live->session, count_row, pgo))
			return live_failed(live);
		show_progress(pgo, false);
	}
	show_progress(pgo, true);
	return -1;
}

/* A command that has given enough branches runs to its end. */
static void wait_for_command(struct live *live)
{
	if (live->command && !live->child_gone)
		live_wait_for_end(live);
}

/* --- how good it is ------------------------------------------------------- */

/*
 * Part of a complete profile's effect that is to be expected by the number of
 * taken branches, as measured on the input that was recorded: see docs/pgo.md.
 */
static const struct effect {
	uint64_t branches;
	const char *bolt, *autofdo;
} effects[] = {
	{ 1000000, "98 to 100 %", "95 to 100 %" },
	{ 120000, "95 to 100 %", "90 to 100 %" },
	{ 20000, "90 to 100 %", "75 to 100 %" },
	{ 2000, "65 to 100 %", "40 to 90 %" },
	{ 0, "less than 65 %", "less than 40 %" },
};

static const struct effect *effect_of(uint64_t branches)
{
	const struct effect *effect = effects;

	while (branches < effect->branches)
		effect++;
	return effect;
}

/* Advice on how to see more branches. */
static const char *how_to_see_more(const struct pgo *pgo)
{
	if (live_owns_command(&pgo->live))
		return "run it longer, raise --budget, or record every branch with --exact";
	return "record longer, or raise --budget";
}

static void say_effect(const struct pgo *pgo,
		       const struct hwprof_export_part *part)
{
	const struct effect *effect = effect_of(part->count);
	char text[GROUPED_SIZE];

	grouped(part->count, text);
	if (pgo->exact)
		printf("%s: %s taken branches, each of them counted: a complete profile of this run\n",
		       clean(part->object), text);
	else if (part->count < FEW)
		warning("%s: %s taken branches are few: expect %s of a complete profile's effect with BOLT, and with AutoFDO %s; %s",
			part->object, text, effect->bolt, effect->autofdo,
			how_to_see_more(pgo));
	else
		printf("%s: %s taken branches: expect %s of a complete profile's effect with BOLT, %s with AutoFDO\n",
		       clean(part->object), text, effect->bolt,
		       effect->autofdo);
}

/* --- profiles ------------------------------------------------------------- */

/* Makes it before anything is recorded, which would be lost without it. */
static int make_folder(const char *path)
{
	if (!mkdir(path, 0777) || (errno == EEXIST && is_folder(path)))
		return STATUS_OK;
	return failed("%s: cannot make this folder: %s", path,
		      strerror(errno));
}

static int write_parts(const struct pgo *pgo, struct hwprof_export *export)
{
	int status = STATUS_OK;
	size_t i;

	for (i = 0; !status && hwprof_export_part(export, i); i++)
		status = export_write_in_folder(export, i, pgo->output);
	return status;
}

static int write_format(struct pgo *pgo, const struct hwprof_profile *profile,
			const struct hwprof_format *format)
{
	const struct hwprof_export_options choice = {
		.version = format->versions ? pgo->version : NULL,
		.binary = pgo->binary,
	};
	struct hwprof_export *export;
	char before[32];
	int status;

	snprintf(before, sizeof(before), "%s: ", format->name);
	status = export_open(&export, profile, format, &choice, before);
	if (!status)
		status = write_parts(pgo, export);
	if (!status && !pgo->told)
		say_effect(pgo, hwprof_export_part(export, 0));
	pgo->told |= !status;
	hwprof_export_close(export);
	return status;
}

static int write_all(struct pgo *pgo, const struct hwprof_profile *profile)
{
	const struct hwprof_totals *totals = hwprof_profile_totals(profile);
	int status = STATUS_OK, one;
	size_t i;

	print_warnings(profile, "");
	if (!totals->delivered)
		return failed("no taken branch was seen: %s",
			      how_to_see_more(pgo));
	for (i = 0; i < pgo->format_count; i++) {
		one = write_format(pgo, profile, pgo->formats[i]);
		status = status ? status : one;
	}
	return status;
}

static int run(struct pgo *pgo)
{
	struct live *live = &pgo->live;
	struct hwprof_profile *profile;
	int status = make_folder(pgo->output);

	if (status)
		return status;
	status = live_start(live);
	if (status >= 0)
		return status;
	say_cost(pgo);
	status = watch(pgo);
	if (status < 0)
		status = live_stop(live);
	if (status)
		return status;
	if (hwprof_session_snapshot(live->session, &profile))
		return live_failed(live);
	status = write_all(pgo, profile);
	fflush(stdout);
	hwprof_profile_free(profile);
	wait_for_command(live);
	return status;
}

int command_pgo(int argc, char **argv)
{
	struct pgo pgo = {
		.live.verb = "pgo", .live.quiet = true,
		.output = DEFAULT_FOLDER, .enough = ENOUGH,
	};
	int option, status = set_formats(&pgo, DEFAULT_FORMATS);

	/* '+': leave options behind the command to the command. */
	while (status < 0 && (option = getopt_long(argc, argv,
						   "+p:aC:G:iD:n:f:o:h",
						   options, NULL)) >= 0)
		status = set_option(&pgo, option, optarg, argv);
	if (status >= 0)
		return status;
	if (optind < argc)
		pgo.live.command = argv + optind;
	status = check(&pgo);
	if (status >= 0)
		return status;
	if (pgo.exact)
		pgo.enough = 0;
	choose_event(&pgo);
	return live_close(&pgo.live, run(&pgo));
}
