// SPDX-License-Identifier: GPL-2.0-only
/*
 * hwprof bpf: runs BPF programs in a session and prints their maps. An object's
 * sections say for which events its programs are.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf.h"
#include "bpf_programs.h"
#include "bpf_streams.h"
#include "command.h"
#include "base/json.h"
#include "live.h"

enum {
	LIMIT		= 40,		/* rows of a map */
	DRAIN_MS	= 20,		/* between two looks at a ring */
	SETS_MAX	= 16,
};

const char bpf_usage[] =
"usage: hwprof bpf [OPTIONS] PROGRAM [--] COMMAND [ARG...]\n"
"       hwprof bpf [OPTIONS] -p PID | -a | -C CPUS | --cgroup NAME PROGRAM\n"
"\n"
"Calls a BPF program for each branch, load or store of a command, or of what\n"
"runs, and prints its maps at the end. PROGRAM is an object file with sections\n"
"as docs/programs.md has them, or the name of one that hwprof has:\n"
"\n"
BPF_PROGRAMS_USAGE
"\n"
LIVE_USAGE
"  -n, --limit N       no more than N rows of each map (default: 40; 0: all)\n"
"  -o, --output FILE   to there, and not to standard output\n"
"      --set NAME=N    change a number of the program, such as size=65536\n"
"      --limit-us N    how long a run may take, in microseconds\n"
"  -j, --json          as JSON: all rows, unless there is -n\n"
"  -h, --help\n"
"\n"
"exit status: that of the command, 128 + N if signal N killed it, 127 if it is\n"
"not found, 126 if it cannot be executed; 1 profiling failed; 2 wrong usage.\n";

static const struct option options[] = {
	LIVE_OPTIONS,
	{ "limit", required_argument, NULL, 'n' },
	{ "output", required_argument, NULL, 'o' },
	{ "limit-us", required_argument, NULL, 'u' },
	{ "set", required_argument, NULL, 's' },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

/* Sections of the kinds of events, behind "hwprof/". */
static const char *const kind_names[HWPROF_PROGRAM_KINDS] = {
	[HWPROF_PROGRAM_BRANCH]		= "branch",
	[HWPROF_PROGRAM_LOAD]		= "load",
	[HWPROF_PROGRAM_STORE]		= "store",
	[HWPROF_PROGRAM_CALL]		= "call",
	[HWPROF_PROGRAM_RETURN]		= "return",
	[HWPROF_PROGRAM_LOOP_EXIT]	= "loop_exit",
	[HWPROF_PROGRAM_PATH_END]	= "path_end",
	[HWPROF_PROGRAM_WINDOW_BEGIN]	= "window_begin",
	[HWPROF_PROGRAM_WINDOW_END]	= "window_end",
	[HWPROF_PROGRAM_SAMPLE]		= "sample",
};

#define PREFIX		"hwprof/"
#define KIND(kind)	(1U << HWPROF_PROGRAM_##kind)

struct bpf_request {
	struct live live;		/* first: prepare() gets it */
	const char *name;
	const char *output;		/* file; NULL: standard output */
	FILE *out;
	uint64_t limit;
	bool limited;
	struct hwprof_program_options options;
	bool json;
	struct bpf_object *object;
	unsigned int kinds;		/* of all programs */
	struct bpf_streams *streams;	/* NULL: the object finds none */
	const char *sets[SETS_MAX];	/* of --set */
	size_t set_count;
};

/* --- the object ----------------------------------------------------------- */

static int kind_of(const char *name, size_t length)
{
	int i;

	for (i = 0; i < HWPROF_PROGRAM_KINDS; i++)
		if (strlen(kind_names[i]) == length &&
		    !strncmp(kind_names[i], name, length))
			return i;
	return -1;
}

/* Returns the kinds that a section names, such as "hwprof/load,store"; or 0. */
static unsigned int kinds_of(const char *section)
{
	unsigned int kinds = 0;

	if (strncmp(section, PREFIX, strlen(PREFIX)))
		return 0;
	for (section += strlen(PREFIX); ; section++) {
		size_t length = strcspn(section, ",");
		int kind = kind_of(section, length);

		if (kind < 0)
			return 0;
		kinds |= 1U << kind;
		section += length;
		if (!*section)
			return kinds;
	}
}

/* True while the reasons of libbpf and the verifier are to be printed. */
static bool tells;

static int tell(enum libbpf_print_level level, const char *format, va_list args)
{
	return tells && level == LIBBPF_WARN ? vfprintf(stderr, format, args) :
					       0;
}

static int open_object(struct bpf_request *request)
{
	const struct bpf_shipped *shipped = bpf_shipped(request->name);
	const struct bpf_object_open_opts opts = {
		.sz = sizeof(opts), .object_name = request->name,
	};
	char why[128];
	const void *bytes;
	size_t size;

	libbpf_set_print(tell);
	if (shipped) {
		bytes = shipped->bytes(&size);
		request->object = bpf_object__open_mem(bytes, size, &opts);
	} else {
		request->object = bpf_object__open_file(request->name, NULL);
	}
	if (request->object)
		return -1;
	if (errno == ENOENT)
		return failed("there is no file or program '%s'; hwprof has: %s",
			      clean(request->name), BPF_PROGRAM_NAMES);
	libbpf_strerror(errno, why, sizeof(why));
	return failed("%s is no BPF object that libbpf can open: %s",
		      clean(request->name), why);
}

static int check_section(const struct bpf_request *request,
			 const char *section, unsigned int kinds)
{
	if (!kinds)
		return failed("%s: section '%s' names no event; sections are " PREFIX
			      " and branch, load, store, call, return, loop_exit, path_end, window_begin, window_end or sample, or several with commas",
			      clean(request->name), clean(section));
	if (kinds & request->kinds)
		return failed("%s: section '%s' names an event that has a program already",
			      clean(request->name), clean(section));
	return -1;
}

static int set_numbers(struct bpf_request *request)
{
	size_t i;

	for (i = 0; i < request->set_count; i++) {
		const char *why = bpf_set(request->object, request->sets[i]);

		if (why)
			return usage_error("--set '%s': %s", request->sets[i],
					   why);
	}
	return -1;
}

static int load_object(struct bpf_request *request)
{
	struct bpf_program *program;
	int status = set_numbers(request);

	if (status >= 0)
		return status;
	bpf_object__for_each_program(program, request->object) {
		const char *section = bpf_program__section_name(program);
		unsigned int kinds = kinds_of(section);

		status = check_section(request, section, kinds);
		if (status >= 0)
			return status;
		request->kinds |= kinds;
		bpf_program__set_type(program, BPF_PROG_TYPE_RAW_TRACEPOINT);
	}
	if (!request->kinds)
		return failed("%s has no program", clean(request->name));
	tells = true;
	if (!bpf_object__load(request->object))
		return -1;
	return failed("the kernel does not take %s: %s%s",
		      clean(request->name), strerror(errno), errno == EPERM ?
		      ": programs take CAP_BPF and CAP_PERFMON" : "");
}

/* --- the session ---------------------------------------------------------- */

/*
 * Returns the cheapest event that has such events. Branch records have neither
 * loads nor stores.
 */
static const char *event_of(const struct bpf_request *request)
{
	unsigned int kinds = request->kinds;

	if (kinds & KIND(SAMPLE))
		return "hwprof/cct,sample/u";
	if (kinds & KIND(LOOP_EXIT))
		return "loops";
	if (kinds & KIND(PATH_END))
		return "paths";
	if (kinds & (KIND(WINDOW_BEGIN) | KIND(WINDOW_END)) ||
	    (kinds & (KIND(LOAD) | KIND(STORE)) &&
	     !live_owns_command(&request->live)))
		return "edges,burst=200";
	return "edges";
}

/* Gives the session its programs, before it has targets. */
static int give_programs(struct live *live)
{
	struct bpf_request *request = (struct bpf_request *)live;
	struct bpf_program *program;

	bpf_object__for_each_program(program, request->object) {
		unsigned int kinds =
			kinds_of(bpf_program__section_name(program));

		if (hwprof_session_program(live->session,
					   bpf_program__fd(program), kinds,
					   &request->options))
			return live_failed(live);
	}
	return -1;
}

/* Fills the account of a kind's program. Returns false if there is none. */
static bool has_account(const struct bpf_request *request,
			enum hwprof_program_kind kind,
			struct hwprof_program_account *account)
{
	return request->kinds >> kind & 1 &&
	       !hwprof_session_program_account(request->live.session, kind,
					       account);
}

/* Says what became of programs that did not see everything. */
static void tell_accounts(const struct bpf_request *request)
{
	int i;

	for (i = 0; i < HWPROF_PROGRAM_KINDS; i++) {
		struct hwprof_program_account account;

		if (!has_account(request, i, &account))
			continue;
		if (account.state == HWPROF_PROGRAM_TAKEN)
			warning("the program of %s took too long %llu times and was taken away after %llu runs: see --limit-us",
				kind_names[i], account.overruns, account.runs);
		if (account.missed)
			warning("the program of %s was not called for %llu events, and was for %llu",
				kind_names[i], account.missed, account.runs);
	}
}

/* --- output --------------------------------------------------------------- */

static int read_map(struct bpf_content *content, const struct bpf_map *map,
		    const struct bpf_request *request)
{
	int error = bpf_read(content, map, bpf_object__btf(request->object));

	return error ? failed("map %s: %s", bpf_map__name(map),
			      strerror(-error)) : -1;
}

static int print_map(const struct bpf_request *request,
		     const struct bpf_map *map, bool first)
{
	struct bpf_content content;
	int status = read_map(&content, map, request);

	if (status < 0)
		fprintf(request->out, "%s%s:%s\n", first ? "" : "\n",
			bpf_map__name(map), content.rows ? "" : " empty");
	if (status < 0 && content.rows)
		bpf_print(&content, request->limit, request->out);
	bpf_free(&content);
	return status;
}

static int print_text(const struct bpf_request *request)
{
	const struct bpf_map *map;
	bool first = true;
	int status = -1;

	if (request->streams)
		bpf_streams_print(request->streams, request->limit,
				  request->out);
	bpf_object__for_each_map(map, request->object) {
		if (!bpf_is_printed(map) || status >= 0)
			continue;
		status = print_map(request, map, first);
		first = false;
	}
	return status;
}

static void put_accounts(const struct bpf_request *request, struct json *json)
{
	int i;

	json_open(json, "programs", '{');
	for (i = 0; i < HWPROF_PROGRAM_KINDS; i++) {
		struct hwprof_program_account account;

		if (!has_account(request, i, &account))
			continue;
		json_open(json, kind_names[i], '{');
		json_bool(json, "taken_away",
			  account.state == HWPROF_PROGRAM_TAKEN);
		json_unsigned(json, "runs", account.runs);
		json_unsigned(json, "missed", account.missed);
		json_unsigned(json, "dropped", account.dropped);
		json_unsigned(json, "overruns", account.overruns);
		json_unsigned(json, "time_ns", account.time_ns);
		json_close(json, '}');
	}
	json_close(json, '}');
}

static int print_json(const struct bpf_request *request)
{
	struct json json = { .out = request->out };
	const struct bpf_map *map;
	int status = -1;

	json_open(&json, NULL, '{');
	json_string(&json, "program", request->name);
	json_string(&json, "event", request->live.name);
	put_accounts(request, &json);
	if (request->streams)
		bpf_streams_put(request->streams, request->limited ?
				request->limit : 0, &json);
	json_open(&json, "maps", '{');
	bpf_object__for_each_map(map, request->object) {
		struct bpf_content content;

		if (!bpf_is_printed(map) || status >= 0)
			continue;
		status = read_map(&content, map, request);
		json_open(&json, bpf_map__name(map), '[');
		bpf_print_json(&content, request->limited ? request->limit : 0,
			       &json);
		json_close(&json, ']');
		bpf_free(&content);
	}
	json_close(&json, '}');
	json_close(&json, '}');
	fputc('\n', request->out);
	return status;
}

static int print(struct bpf_request *request)
{
	int status, closed;

	request->out = output_open(request->output, stdout);
	if (!request->out)
		return STATUS_FAILED;
	status = request->json ? print_json(request) : print_text(request);
	closed = output_close(request->out);
	return status < 0 ? closed : status;
}

/* --- streams -------------------------------------------------------------- */

/* Waits until the end, and empties the ring of references meanwhile. */
static void wait_for_end(struct bpf_request *request)
{
	enum live_wake wake = LIVE_TIME;

	if (!request->streams) {
		live_wait_for_end(&request->live);
		return;
	}
	while (wake != LIVE_END) {
		wake = live_wait(&request->live,
				 live_now() + DRAIN_MS * 1000000ULL, -1);
		bpf_streams_drain(request->streams);
		if (wake == LIVE_SUSPENDED)
			raise(SIGSTOP);
	}
}

static int find_streams(struct bpf_request *request)
{
	if (!request->streams)
		return -1;
	bpf_streams_drain(request->streams);
	return bpf_streams_find(request->streams);
}

/* --- the command ---------------------------------------------------------- */

static int run(struct bpf_request *request)
{
	struct live *live = &request->live;
	int status = open_object(request);

	if (status < 0)
		status = load_object(request);
	if (status < 0)
		status = bpf_streams_open(&request->streams, request->object);
	if (status >= 0)
		return status;
	live->event = live->event ?: event_of(request);
	status = live_start(live);
	if (status >= 0)
		return status;
	wait_for_end(request);
	status = live_stop(live);
	if (status)
		return status;
	status = find_streams(request);
	if (status >= 0)
		return status;
	tell_accounts(request);
	return print(request);
}

static int parse_option(struct bpf_request *request, int option, char **argv)
{
	uint64_t limit;

	switch (option) {
	case 'n':
		if (!parse_count(optarg, 0, INT32_MAX, &request->limit))
			return usage_error("-n '%s': allowed are numbers from 0 to %d",
					   optarg, INT32_MAX);
		request->limited = true;
		return -1;
	case 'o':
		request->output = optarg;
		return -1;
	case 'u':
		if (!parse_count(optarg, 1, HWPROF_PROGRAM_LIMIT_US_MAX,
				 &limit))
			return usage_error("--limit-us '%s': allowed are numbers from 1 to %d",
					   optarg, HWPROF_PROGRAM_LIMIT_US_MAX);
		request->options.limit_us = limit;
		return -1;
	case 's':
		if (request->set_count == SETS_MAX)
			return usage_error("more than %d of --set", SETS_MAX);
		request->sets[request->set_count++] = optarg;
		return -1;
	case 'j':
		request->json = true;
		return -1;
	}
	return option_error(option, bpf_usage, argv);
}

static int parse(struct bpf_request *request, int argc, char **argv)
{
	int option, status;

	while ((option = getopt_long(argc, argv, "+" LIVE_LETTERS "n:o:jh",
				     options, NULL)) != -1) {
		status = live_option(&request->live, option, optarg);
		if (status == -2)
			status = parse_option(request, option, argv);
		if (status >= 0)
			return status;
	}
	if (optind == argc)
		return usage_error("no program: give an object file, or one of: "
				   BPF_PROGRAM_NAMES);
	request->name = argv[optind++];
	if (optind < argc && !strcmp(argv[optind], "--"))
		optind++;
	else if (optind < argc && *argv[optind] == '-')
		return usage_error("'%s' behind the program's name: options come before '%s'",
				   argv[optind], request->name);
	if (optind < argc)
		request->live.command = argv + optind;
	return live_check(&request->live);
}

int command_bpf(int argc, char **argv)
{
	struct bpf_request request = {
		.live = { .verb = "bpf", .prepare = give_programs },
		.limit = LIMIT,
	};
	int status = parse(&request, argc, argv);

	if (status < 0) {
		status = run(&request);
		status = live_close(&request.live, status);
	}
	bpf_streams_close(request.streams);
	bpf_object__close(request.object);
	return status;
}
