// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "command.h"
#include "live.h"
#include "remote.h"
#include "report.h"

enum {
	DELAY_MS = 2000,
	FROM_DELAY_MS = 10000,	/* as long as hwprofd's windows are */
	LIMIT = 20,		/* without a terminal */
	HEIGHT = 24,		/* of a terminal of unknown size */
};

const char top_usage[] =
"usage: hwprof top [OPTIONS] [--] COMMAND [ARG...]\n"
"       hwprof top [OPTIONS] -p PID | -a | -C CPUS | --cgroup NAME [[--] COMMAND...]\n"
"       hwprof top [OPTIONS] --from WHERE [-e KIND]\n"
"\n"
"Profiles a command, or running programs, and prints the table of 'hwprof report'\n"
"at intervals. On a terminal, tables replace each other, and 'q' ends hwprof.\n"
"\n"
LIVE_USAGE
"      --from WHERE    show what hwprofd has collected: unix:PATH, or\n"
"                      http://HOST:PORT, with parameters as in\n"
"                      unix:PATH?seconds=600 (default: the last minute)\n"
"  -d, --delay SECONDS between two tables (default: 2; with --from: 10)\n"
"      --converge[=PERCENT]  look less often, down to 1/64, while no more than\n"
"                      PERCENT (default: 1) of what is seen is new\n"
"  -z, --zero          count from 0 again after each\n"
"  -s, --sort KEYS     loops: order, separated by commas, of:\n"
"                      " HWPROF_LOOPS_SORT_KEYS "\n"
"  -n, --limit N       print at most N lines (default: as many as fit on the\n"
"                      terminal; else 20)\n"
"      --hot PERCENT   ranges, paths: hot from this share of all events, or of\n"
"                      the metric, on\n"
"      --per-process   list each process separately\n"
"      --full-path     objects and files of source with their directories\n"
"  -j, --json          as JSON, a document each time\n"
"  -h, --help\n"
"\n"
"exit status: that of the command, if it alone is profiled and -D is not given:\n"
"128 + N if signal N killed it, 127 if it is not found, 126 if it cannot be\n"
"executed. Otherwise 0; 1 profiling failed; 2 wrong usage.\n";

static const struct option options[] = {
	LIVE_OPTIONS,
	{ "from", required_argument, NULL, 'W' },
	{ "delay", required_argument, NULL, 'd' },
	{ "converge", optional_argument, NULL, 'V' },
	{ "zero", no_argument, NULL, 'z' },
	{ "hot", required_argument, NULL, 'H' },
	{ "sort", required_argument, NULL, 's' },
	{ "limit", required_argument, NULL, 'n' },
	{ "per-process", no_argument, NULL, 'P' },
	{ "full-path", no_argument, NULL, 'f' },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

struct top {
	struct live live;		/* first: prepare() gets it */
	struct report report;
	const char *from;		/* where hwprofd is; NULL: a session */
	enum hwprof_kind kind;		/* of the table */
	uint64_t delay_ms;		/* 0: the default */
	bool zero;
	bool converge;			/* as @converging says */
	struct hwprof_converge converging;
	bool terminal;			/* output is a terminal */
	bool keys;			/* input is a terminal */
	struct termios modes;		/* original modes */
};

/* --- the terminal --------------------------------------------------------- */

/*
 * Switches to another screen without a cursor, without wrapping, and reads
 * single keys.
 */
static void take_terminal(struct top *top)
{
	struct termios modes;

	top->terminal = isatty(STDOUT_FILENO) && !top->report.json;
	if (!top->terminal)
		return;
	fputs("\033[?1049h\033[?25l\033[?7l", stdout);
	fflush(stdout);
	if (tcgetattr(STDIN_FILENO, &top->modes))
		return;
	top->keys = true;
	modes = top->modes;
	modes.c_lflag &= ~(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &modes);
}

static void give_terminal_back(struct top *top)
{
	if (top->keys)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &top->modes);
	if (top->terminal)
		fputs("\033[?7h\033[?25h\033[?1049l", stdout);
	fflush(stdout);
	top->terminal = top->keys = false;
}

static size_t height(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row ?
	       HEIGHT : size.ws_row;
}

/* Draws as many lines as fit, and clears the rest of each. */
static void draw(const char *text)
{
	size_t lines = height();

	fputs("\033[H", stdout);
	while (*text && lines--) {
		size_t length = strcspn(text, "\n");

		printf("%.*s\033[K%s", (int)length, text, lines ? "\n" : "");
		text += length + (text[length] == '\n');
	}
	fputs("\033[J", stdout);
	fflush(stdout);
}

static bool wants_end(void)
{
	char key;

	/* The end of input also means quit. */
	return read(STDIN_FILENO, &key, 1) != 1 || key == 'q' || key == 'Q';
}

/* --- tables --------------------------------------------------------------- */

static int print_text(struct top *top, const struct hwprof_profile *profile)
{
	const struct report_kind *kind =
		report_kind_of(hwprof_profile_kind(profile));
	FILE *real = stdout;
	char *text = NULL;
	size_t size;
	int status;

	if (!top->terminal)
		return check_output(kind->print(&top->report, profile));
	/*
	 * The C library allows assigning stdout. Lines that do not fit are cut.
	 */
	stdout = open_memstream(&text, &size);
	if (!stdout) {
		stdout = real;
		return failed("out of memory");
	}
	status = kind->print(&top->report, profile);
	fclose(stdout);
	stdout = real;
	if (!status)
		draw(text);
	free(text);
	return status;
}

static int print(struct top *top, struct hwprof_profile *profile)
{
	struct report *report = &top->report;
	const struct hwprof_json_options json = { .limit = report->limit };

	if (report->sort && hwprof_loops_sort(profile, report->sort))
		return usage_error("%s", hwprof_profile_error(profile));
	if (!report->json)
		return print_text(top, profile);
	if (hwprof_profile_json(profile, &json, stdout) == -ENOMEM)
		return failed("out of memory");
	return check_output(STATUS_OK);
}

/* Makes a profile of what hwprofd has. Returns -1 or the exit status. */
static int fetch(const struct top *top, struct hwprof_profile **profile)
{
	struct hwprof_file *file;
	int error = remote_file_open(&file, top->from), status = -1;

	if (!error)
		error = hwprof_profile_read(profile, top->kind, &file, 1,
					    &top->live.options.profile);
	if (error)
		status = failed("%s", hwprof_file_error(file));
	hwprof_file_close(file);
	return status;
}

static int take_profile(struct top *top, struct hwprof_profile **profile)
{
	if (top->from)
		return fetch(top, profile);
	return hwprof_session_snapshot(top->live.session, profile) ?
	       live_failed(&top->live) : -1;
}

/*
 * Prints the present profile. At the @last time, also warnings if they can be
 * seen.
 */
static int show(struct top *top, bool last)
{
	struct hwprof_session *session = top->live.session;
	struct hwprof_profile *profile = NULL;
	int status = take_profile(top, &profile);

	if (status >= 0)
		return status;
	if (last)
		give_terminal_back(top);
	status = print(top, profile);
	if (!status && !last && !top->terminal && !top->report.json)
		putchar('\n');
	if (!status && last && !top->report.json)
		print_warnings(profile, "");
	hwprof_profile_free(profile);
	if (!status && top->zero && hwprof_session_reset(session))
		status = live_failed(&top->live);
	return status;
}

static int suspend(struct top *top)
{
	give_terminal_back(top);
	raise(SIGSTOP);
	take_terminal(top);
	return top->zero ? STATUS_OK : show(top, false);
}

static int watch(struct top *top)
{
	uint64_t delay = top->delay_ms * 1000000;
	uint64_t next = live_now() + delay;
	int status = STATUS_OK;

	while (!status) {
		int input = top->keys ? STDIN_FILENO : -1;

		switch (live_wait(&top->live, next, input)) {
		case LIVE_END:
			return STATUS_OK;
		case LIVE_INPUT:
			if (wants_end())
				return STATUS_OK;
			break;
		case LIVE_TIME:
			status = show(top, false);
			next = live_now() + delay;
			break;
		case LIVE_RESIZED:
			status = top->zero ? STATUS_OK : show(top, false);
			break;
		case LIVE_SUSPENDED:
			status = suspend(top);
			break;
		}
	}
	return status;
}

static unsigned int options_of(const struct top *top)
{
	return report_kind_of(top->kind)->options;
}

/* Limits lists to the height of the screen. Trees are cut there instead. */
static void set_limit(struct top *top)
{
	if (!top->report.limit && !(options_of(top) & REPORT_TREE) &&
	    !top->report.json)
		top->report.limit = top->terminal ? height() : LIMIT;
}

/* Called before the session has targets. */
static int prepare(struct live *live)
{
	struct top *top = (struct top *)live;

	return top->converge &&
	       hwprof_session_converge(live->session, &top->converging) ?
	       live_failed(live) : -1;
}

/* Begins to profile, or to ask. Returns -1 or the exit status. */
static int start(struct top *top)
{
	int status = top->from ? live_begin_waiting(&top->live) :
				 live_start(&top->live);

	if (status >= 0)
		return status;
	if (!top->from)
		top->kind = hwprof_session_kind(top->live.session);
	top->report.file = top->from ? top->from : top->live.name;
	top->report.file_count = 1;
	if (top->report.sort && !(options_of(top) & REPORT_SORTS))
		return usage_error("--sort and its keys are of loops");
	return -1;
}

static int run(struct top *top)
{
	int status = start(top);

	if (status >= 0)
		return status;
	take_terminal(top);
	set_limit(top);
	/* There is a table at once: it is of the past. */
	status = top->from ? show(top, false) : STATUS_OK;
	if (!status)
		status = watch(top);
	if (!status && !top->from)
		status = live_stop(&top->live);
	if (!status)
		status = show(top, true);
	give_terminal_back(top);
	return status;
}

/* --- options -------------------------------------------------------------- */

static int set_option(struct top *top, int option, char *value, char **argv)
{
	int status = live_option(&top->live, option, value);
	char *end;

	if (status != -2)
		return status;
	switch (option) {
	case 'd':
		if (!parse_seconds(value, &top->delay_ms))
			return usage_error("--delay '%s': allowed are seconds, 0.001 or more",
					   value);
		return -1;
	case 'W':
		top->from = value;
		return -1;
	case 'V':
		top->converge = true;
		return parse_converge(&top->converging, value);
	case 'z':
		top->zero = true;
		return -1;
	case 'H':
		top->live.options.profile.hot = strtod(value, &end) / 100;
		if (end == value || *end ||
		    !(top->live.options.profile.hot > 0 &&
		      top->live.options.profile.hot <= 1))
			return usage_error("--hot '%s': allowed are percentages above 0, up to 100",
					   value);
		return -1;
	case 'P':
		top->report.flags |= HWPROF_PER_PROCESS;
		return -1;
	}
	return report_option(&top->report, option, value, top_usage, argv);
}

/* Checks what is asked of hwprofd. Returns -1 or the exit status. */
static int check_from(struct top *top)
{
	const struct live *live = &top->live;
	int kind = hwprof_kind_of(live->event ? live->event : "loops");

	if (!remote_is_named(top->from))
		return usage_error("--from '%s': allowed are unix:PATH and http://HOST:PORT, with parameters as in unix:PATH?seconds=600",
				   top->from);
	if (live->command || live->pids || live->all || live->cpus ||
	    live->cgroup || live->filter || live->masked || live->no_inherit ||
	    live->options.period || live->options.frequency || top->zero ||
	    top->converge)
		return usage_error("--from shows what was collected already: of the options of profiling it takes -e KIND, -d and -D");
	if (kind < 0)
		return usage_error("--event '%s': with --from allowed are loops, calls, paths, edges and cct",
				   live->event);
	top->kind = kind;
	return -1;
}

int command_top(int argc, char **argv)
{
	struct top top = {
		.live = { .verb = "top", .prepare = prepare },
		.report.min_share = -1,
	};
	int option, status = -1;

	/* '+': leave options behind the command to the command. */
	while (status < 0 && (option = getopt_long(argc, argv,
						   "+" LIVE_LETTERS "d:zj"
						   REPORT_LETTERS, options,
						   NULL)) >= 0)
		status = set_option(&top, option, optarg, argv);
	if (status >= 0)
		return status;
	if (optind < argc)
		top.live.command = argv + optind;
	top.live.options.profile.flags = top.report.flags;
	if (!top.delay_ms)
		top.delay_ms = top.from ? FROM_DELAY_MS : DELAY_MS;
	status = top.from ? check_from(&top) : live_check(&top.live);
	if (status >= 0)
		return status;
	return live_close(&top.live, run(&top));
}
