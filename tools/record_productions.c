// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "command.h"
#include "production_run.h"
#include "production_symbols.h"
#include "record_productions.h"
#include "refusal.h"

#define KIND(kind)	(1U << HWPROF_PROGRAM_##kind)

struct record_productions {
	struct record_request *request;
	struct production_run *run;
	struct device_rows *rows[RECORD_EVENTS_MAX + 1];
	struct production_mode mode;
	int poll;			/* epoll; -1: none */
};

/* --- what goes together --------------------------------------------------- */

/* Says that a production is not possible: at its pattern, or at its actions. */
static int refuse(const struct production *production, bool then,
		  const char *message)
{
	struct production_error error = {
		.option = then ? "--then" : "--when",
		.text = then ? production->then : production->when,
	};

	snprintf(error.message, sizeof(error.message), "%s", message);
	production_tell(&error);
	return STATUS_USAGE;
}

static const struct production *with_kind(const struct productions *productions,
					  unsigned int kinds)
{
	size_t i;

	for (i = 0; i < productions->count; i++)
		if (kinds >> productions->all[i].event & 1)
			return &productions->all[i];
	return NULL;
}

static const struct production *
with_action(const struct productions *productions,
	    enum production_action_kind first, enum production_action_kind last)
{
	size_t i, j;

	for (i = 0; i < productions->count; i++)
		for (j = 0; j < productions->all[i].action_count; j++)
			if (productions->all[i].actions[j].kind >= first &&
			    productions->all[i].actions[j].kind <= last)
				return &productions->all[i];
	return NULL;
}

/* Programs that see every branch have neither windows nor samples. */
static int check_whole(const struct productions *productions)
{
	const struct production *production =
		with_kind(productions, KIND(WINDOW_BEGIN) | KIND(WINDOW_END) |
				       KIND(SAMPLE));

	if (production)
		return refuse(production, false,
			      "the recorded event sees everything: for windows, record bursts (burst=200) or branch records (lbr); for samples, -e cct,sample");
	production = with_action(productions, ACTION_SOONER, ACTION_LATER);
	return production ?
	       refuse(production, true,
		      "the recorded event sees everything: 'sooner' and 'later' are for bursts (burst=200), branch records (lbr) and samples") :
	       -1;
}

static int check_parts(const struct record_request *request)
{
	const struct productions *productions = &request->productions;
	const struct production *production =
		with_action(productions, ACTION_BURST, ACTION_BURST);

	if (request->event_count > 1)
		return usage_error("--when needs one event (-e), or events that see everything");
	if (production && !hwprof_event_field(&request->parsed[0], "burst"))
		return refuse(production, true,
			      "the recorded event has no bursts: give it 'burst=200', or 'step' to see everything");
	return -1;
}

static int check(const struct record_request *request, bool *own_bursts)
{
	size_t i, whole = 0;

	for (i = 0; i < request->event_count; i++) {
		whole += record_request_steps(request, i);
		if (!hwprof_event_field(&request->parsed[i], "rows"))
			return usage_error("--when records rows: leave rows=0 out of event '%s'",
					   request->texts[i]);
	}
	if (request->metric_count)
		return usage_error("--when and --metric exclude each other");
	*own_bursts = whole < request->event_count;
	return *own_bursts ? check_parts(request) :
			     check_whole(&request->productions);
}

/* --- sessions ------------------------------------------------------------- */

/* Makes the session of event @index. */
static int open_rows(struct record_productions *productions, size_t index)
{
	struct record_request *request = productions->request;
	struct events_kind *kind = &request->events[index];
	struct perf_event_attr attr;
	int error;

	do {
		attr = kind->attr;
		/* An event that sees everything has no period. */
		if (!productions->mode.own_bursts)
			attr.sample_period = 0;
		error = device_rows_open(&productions->rows[index], &attr);
	} while (error == -ENOMEM && record_request_shrink(request, index));
	kind->rows = productions->rows[index];
	if (!error)
		return -1;
	if (error == -ENODEV || error == -ENXIO || access(HWPROF_DEVICE,
							  R_OK | W_OK))
		return failed("cannot open " HWPROF_DEVICE ": %s",
			      strerror(-error));
	explain_refusal(&attr, &request->parsed[index], request->texts[index],
			-error);
	return STATUS_FAILED;
}

/* The profile that has such events as cheaply as possible. */
static const char *watcher_of(unsigned int kinds)
{
	if (kinds & KIND(LOOP_EXIT) && kinds & KIND(PATH_END))
		return "loops,paths,step,memory_mib=4";
	if (kinds & KIND(LOOP_EXIT))
		return "loops,step,memory_mib=4";
	if (kinds & KIND(PATH_END))
		return "paths,step,memory_mib=4";
	return "edges,step";
}

/* Adds the event of the session that watches. */
static int add_watcher(struct record_productions *productions, size_t *count)
{
	struct record_request *request = productions->request;
	size_t index = request->event_count;
	const char *text = watcher_of(request->productions.kinds);
	struct hwprof_event *event = &request->parsed[index];
	char message[256];

	if (hwprof_event_parse(event, text, message, sizeof(message)))
		return failed("%s", message);
	request->texts[index] = text;
	request->events[index] = (struct events_kind){
		.attr = {
			.type = request->events[0].attr.type,
			.config = event->config[0],
			.config1 = event->config[1],
			.config2 = event->config[2],
			.exclude_kernel = 1,
		},
		.name = text,
		.hidden = true,
	};
	++*count;
	return open_rows(productions, index);
}

static int open_sessions(struct record_productions *productions, size_t *count)
{
	struct record_request *request = productions->request;
	int status = -1;
	size_t i;

	for (i = 0; i < request->event_count && status < 0; i++)
		status = open_rows(productions, i);
	return status >= 0 || productions->mode.own_bursts ?
	       status : add_watcher(productions, count);
}

static int give_programs(struct record_productions *productions)
{
	struct record_request *request = productions->request;
	size_t events = request->event_count, i;
	int status;

	if (productions->mode.own_bursts)
		return production_run_watch(productions->run,
					    productions->rows[0]);
	status = production_run_watch(productions->run,
				      productions->rows[events]);
	for (i = 0; i < events && status < 0; i++)
		status = production_run_gate(productions->run,
					     productions->rows[i],
					     request->events[i].attr.mmap_data);
	return status;
}

int record_productions_open(struct record_productions **result,
			    struct record_request *request, size_t *count)
{
	struct record_productions *productions;
	int status;

	*result = NULL;
	if (!request->productions.count)
		return -1;
	productions = calloc(1, sizeof(*productions));
	if (!productions)
		return failed("out of memory");
	*result = productions;
	productions->request = request;
	productions->poll = -1;
	status = check(request, &productions->mode.own_bursts);
	if (status < 0)
		status = production_run_open(&productions->run,
					     &request->productions,
					     productions->mode,
					     request->command &&
					     !request->targets ?
					     request->command[0] : NULL);
	if (status < 0)
		status = open_sessions(productions, count);
	return status < 0 ? give_programs(productions) : status;
}

void record_productions_close(struct record_productions *productions)
{
	size_t i;

	if (!productions)
		return;
	if (productions->poll >= 0)
		close(productions->poll);
	production_run_close(productions->run);
	for (i = 0; i <= RECORD_EVENTS_MAX; i++)
		device_rows_close(productions->rows[i]);
	free(productions);
}

/* --- while it runs -------------------------------------------------------- */

void record_productions_find(struct record_productions *productions, pid_t pid)
{
	if (productions)
		production_run_find(productions->run, pid);
}

static bool add_to_poll(int poll, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return !epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
}

int record_productions_poll(struct record_productions *productions, int signals)
{
	if (!productions)
		return -1;
	productions->poll = epoll_create1(EPOLL_CLOEXEC);
	if (productions->poll >= 0 &&
	    add_to_poll(productions->poll, signals) &&
	    add_to_poll(productions->poll,
			production_run_fd(productions->run)))
		return productions->poll;
	return -1;
}

int record_productions_obey(struct record_productions *productions,
			    struct recording *recording, bool *stop)
{
	bool snapshot, stopped;

	if (!productions)
		return -1;
	production_run_ask(productions->run, &snapshot, &stopped);
	*stop |= stopped;
	if (snapshot && recording_snapshot(recording))
		return failed("%s", recording_error(recording));
	return -1;
}

int record_productions_finish(struct record_productions *productions)
{
	const struct record_request *request;
	int status, closed;
	FILE *out;

	if (!productions)
		return -1;
	request = productions->request;
	production_run_warn(productions->run);
	out = output_open(request->counts, stderr);
	if (!out)
		return STATUS_FAILED;
	status = production_run_print(productions->run, request->counts_json,
				      out);
	closed = output_close(out);
	return status < 0 && closed ? closed : status;
}
