// SPDX-License-Identifier: GPL-2.0-only
/*
 * hwprofd: keeps what the collector learns, and gives it out. One thread, which
 * waits for the collector, for HTTP, for workers and for signals.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <grp.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "http.h"
#include "jobs.h"
#include "listing.h"
#include "log.h"
#include "metrics.h"
#include "notify.h"
#include "page.h"
#include "push.h"
#include "symbols.h"
#include "timeline.h"
#include "wire.h"

enum {
	STATUS_OK = 0, STATUS_FAILED = 1, STATUS_USAGE = 2,

	ASKING_MAX = 4,			/* questions at a time */
	LISTED_MAX = 8,			/* lists at a time */
	LIST_MS = 10,			/* for lists, before anything else */
	WAITING_MAX = 4,		/* recordings that wait to be merged */
	MERGE_SECONDS = 180,		/* far more than a window takes, as a
					 * machine may be slow and busy */
	LOOK_SECONDS = 5,		/* between two looks for merges */
	TICK_MS = 5000,
	WORK_TICK_MS = 50,		/* while workers run */
	SILENT_WINDOWS = 6,		/* then the collector is not ready */
};

static const char usage[] =
"usage: hwprofd [OPTIONS]\n"
"\n"
"Keeps what hwprofd-collect learns of all programs that run, in windows of time,\n"
"and gives it out by HTTP on a local socket.\n"
"\n"
"  -c, --config FILE  the configuration (default: " CONFIG_FILE ")\n"
"      --check        say whether the configuration is right, and end\n"
"      --foreground   run without systemd: make the folders of the store and of\n"
"                     the sockets, if they are not there\n"
"  -h, --help\n"
"\n"
"exit status: 0, or 1 if something failed, or 2 for wrong usage or a wrong\n"
"configuration.\n";

/* A question that a worker answers. */
struct asking {
	struct worker worker;
	struct job job;
	struct http_request *request;	/* NULL: free */
};

/* A list that is being made. */
struct listed {
	struct window_list *listing;
	struct http_request *request;	/* NULL: free */
};

/* A recording that waits to be merged. */
struct waiting {
	struct wire_head head;
	int fd;
};

struct app {
	struct config config;
	const char *config_path;	/* NULL: CONFIG_FILE */
	bool foreground;
	struct store *store;
	struct timeline *timeline;
	struct http *http;
	struct push *push;
	struct symbols *symbols;
	int signals;
	bool stop;

	int listener, collector;	/* -1: none */
	struct waiting waiting[WAITING_MAX];
	size_t waiting_count;
	struct worker reader;		/* of waiting[0] */
	struct worker merger;
	struct timeline_task task;
	struct asking asking[ASKING_MAX];
	struct listed listed[LISTED_MAX];

	bool short_of_processes, short_of_files;
	bool lacks_tables, drops_records;	/* it was said */
	uint64_t heard_ns;		/* when a window came last */
	uint64_t connected_ns;		/* when the collector connected */
	uint64_t planned_ns;		/* when its window or rest ends */
	bool stuck;			/* it was said */
	uint64_t looked_ns;		/* when merges were looked for last */
	uint64_t watchdog_ms, watched_ns;
	struct metrics metrics;
	char trouble[WIRE_TEXT];	/* the collector's, or empty */
};

static int fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

static int fail(const char *format, ...)
{
	va_list args;
	char text[1024];

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	log_error("%s", text);
	return STATUS_FAILED;
}

/* --- questions ------------------------------------------------------------ */

static int64_t now_of(void *context)
{
	struct app *app = context;

	return timeline_now(app->timeline);
}

static uint64_t resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long all, resident = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%lu %lu", &all, &resident) != 2)
		resident = 0;
	fclose(file);
	return (uint64_t)resident * sysconf(_SC_PAGESIZE);
}

static uint64_t own_cpu_ns(void)
{
	return wire_cpu_ns(RUSAGE_SELF) + wire_cpu_ns(RUSAGE_CHILDREN);
}

static char *metrics_of(void *context)
{
	struct app *app = context;
	struct metrics *metrics = &app->metrics;

	timeline_count(app->timeline, &metrics->timeline);
	if (app->store)
		store_count(app->store, &metrics->store);
	http_count(app->http, &metrics->http);
	push_count(app->push, metrics->push);
	symbols_count(app->symbols, &metrics->symbols);
	metrics->collector = app->collector >= 0;
	metrics->own_cpu_ns = own_cpu_ns();
	metrics->resident_bytes = resident_bytes();
	return metrics_text(metrics);
}

/* Returns true if the collector says nothing for longer than one in order. */
static bool is_silent(const struct app *app)
{
	uint64_t since = app->heard_ns;

	if (app->connected_ns > since)
		since = app->connected_ns;
	if (app->planned_ns > since)
		since = app->planned_ns;
	return wire_now() > since + (app->config.window + 1) * SILENT_WINDOWS *
				    1000000000ULL;
}

/* Windows come, and are kept. */
static bool is_alive(const struct app *app)
{
	return app->collector >= 0 && app->heard_ns && !is_silent(app);
}

static bool ready_of(void *context, char message[QUERY_MESSAGE])
{
	struct app *app = context;

	if (app->collector < 0)
		snprintf(message, QUERY_MESSAGE,
			 "the collector is not connected");
	else if (!app->store)
		snprintf(message, QUERY_MESSAGE,
			 "the store is not open: everything is in memory");
	else if (*app->trouble)
		snprintf(message, QUERY_MESSAGE, "the collector says: %s",
			 app->trouble);
	else if (!is_alive(app))
		snprintf(message, QUERY_MESSAGE,
			 "no window has come from the collector lately");
	else
		return true;
	return false;
}

/* Half of the places for questions are for those who may see everything. */
static int first_of(int most, const struct query *query)
{
	return query->filter.only_seen ? most / 2 : 0;
}

static void end_list(struct listed *listed)
{
	window_list_free(listed->listing);
	*listed = (struct listed){ .request = NULL };
}

/* Goes on with lists for a moment. Returns true if one is not at its end. */
static bool run_lists(struct app *app)
{
	uint64_t until = wire_now() + LIST_MS * 1000000ULL;
	bool left = false;
	int i;

	for (i = 0; i < LISTED_MAX; i++) {
		struct listed *listed = &app->listed[i];
		int more;

		if (!listed->request)
			continue;
		do {
			more = window_list_step(listed->listing);
		} while (more > 0 && wire_now() < until);
		left |= more > 0;
		if (more > 0)
			continue;
		if (!more)
			http_answer(listed->request, 200, "application/json",
				    window_list_text(listed->listing));
		else
			http_refuse(listed->request, 500,
				    "the windows cannot be listed");
		end_list(listed);
	}
	return left;
}

static void answer_list(struct app *app, struct http_request *request,
			const struct query *query)
{
	struct listed *listed = NULL;
	int i;

	for (i = first_of(LISTED_MAX, query); i < LISTED_MAX && !listed; i++)
		if (!app->listed[i].request)
			listed = &app->listed[i];
	if (listed)
		listed->listing = window_list_new(app->timeline, query);
	if (listed && listed->listing) {
		listed->request = request;
		return;
	}
	app->metrics.query_failures++;
	http_refuse(request, 503,
		    "too many lists are being asked for: try again");
}

static void answer_now(struct app *app, struct http_request *request,
		       const struct query *query)
{
	char message[QUERY_MESSAGE] = "";
	bool ready = ready_of(app, message);
	char *text = listing_now(&app->config, timeline_now(app->timeline),
				 ready ? NULL : message);

	if (text)
		http_answer(request, 200, query->content_type, text);
	else
		http_refuse(request, 500, "out of memory");
	free(text);
}

/* Returns false after a refusal. */
static bool open_page(struct asking *asking, struct http_request *request)
{
	char message[HTML_MESSAGE];
	int error = html_page_new(&asking->job.page, message);
	char *policy = error ? NULL : page_policy(asking->job.page);

	if (policy) {
		http_set_policy(request, policy);
		free(policy);
		return true;
	}
	html_page_free(asking->job.page);
	http_refuse(request, 503, error ? message : "out of memory");
	return false;
}

static void drop_page(struct asking *asking)
{
	html_page_free(asking->job.page);
	asking->job.page = NULL;
}

static struct asking *free_asking(struct app *app, const struct query *query)
{
	int i;

	for (i = first_of(ASKING_MAX, query); i < ASKING_MAX; i++)
		if (!app->asking[i].request)
			return &app->asking[i];
	return NULL;
}

/* Lists for which the heads of parts suffice. */
static bool is_listed(const struct query *query)
{
	return query->what == QUERY_WINDOWS ||
	       (query->what == QUERY_BUILDS &&
		!label_filter_is_set(&query->filter));
}

static worker_fn work_of(const struct query *query)
{
	switch (query->what) {
	case QUERY_PAGE:
		return job_page;
	case QUERY_BUILDS:
	case QUERY_LABELS:
		return job_list;
	case QUERY_RANGES:
		return job_ranges;
	default:
		return job_answer;
	}
}

static void ask(void *context, struct http_request *request,
		const struct query *query)
{
	struct asking *asking;
	struct app *app = context;
	int error;

	app->metrics.queries++;
	if (is_listed(query)) {
		answer_list(app, request, query);
		return;
	}
	if (query->what == QUERY_NOW) {
		answer_now(app, request, query);
		return;
	}
	asking = free_asking(app, query);
	if (!asking) {
		app->metrics.query_failures++;
		http_refuse(request, 503,
		       "too many profiles are being asked for: try again");
		return;
	}
	*asking = (struct asking){
		.job.query = *query,
		.job.symbols = symbols_folder(app->symbols),
	};
	if (query->what == QUERY_PAGE && !open_page(asking, request)) {
		app->metrics.query_failures++;
		return;
	}
	error = timeline_parts(app->timeline, query->from, query->to,
			       query->kind, query->build_id,
			       &asking->job.parts);
	if (!error && query->diff)
		error = timeline_parts(app->timeline, query->before_from,
				       query->before_to, query->kind,
				       query->before_build_id,
				       &asking->job.before);
	if (!error)
		error = worker_start(&asking->worker, work_of(query),
				     &asking->job, WORKER_READS_FILES, -1,
				     app->config.request_seconds);
	/* The worker has a copy. */
	parts_free(&asking->job.parts);
	parts_free(&asking->job.before);
	if (!error) {
		asking->request = request;
		return;
	}
	drop_page(asking);
	app->metrics.query_failures++;
	if (error == -EFBIG)
		http_refuse(request, 413,
		       "there is too much of that: ask for less time, for one kind, or for one build_id");
	else
		http_refuse(request, 500, strerror(-error));
}

/* Makes the page around what its worker has written. */
static void answer_page(struct app *app, struct http_request *request,
			struct asking *asking)
{
	int fd = page_around(asking->job.page, &asking->job.query,
			     asking->worker.out);

	close(asking->worker.out);
	if (fd >= 0) {
		http_answer_file(request, asking->job.query.content_type, fd);
		return;
	}
	app->metrics.query_failures++;
	if (fd == -EBADMSG)
		log_error("a worker has written what is no data of a page");
	http_refuse(request, 500, fd == -EFBIG ?
		    "that is too much for a page: ask for less time, or for one kind" :
		    "the page cannot be made");
}

static void finish_asking(struct app *app, struct asking *asking,
			  enum answer answer)
{
	static const unsigned int statuses[] = {
		[ANSWER_WRONG] = 400, [ANSWER_NOTHING] = 404,
		[ANSWER_FAILED] = 500,
	};
	struct http_request *request = asking->request;
	char message[WORKER_MESSAGE];

	asking->request = NULL;
	if (answer == ANSWER_OK && asking->job.page) {
		answer_page(app, request, asking);
		drop_page(asking);
		return;
	}
	drop_page(asking);
	if (answer == ANSWER_OK) {
		http_answer_file(request, asking->job.query.content_type,
				 asking->worker.out);
		return;
	}
	app->metrics.query_failures++;
	worker_message(&asking->worker, message);
	close(asking->worker.out);
	http_refuse(request, statuses[answer], message);
}

static const struct http_ops ops = {
	.now = now_of, .metrics = metrics_of, .ready = ready_of, .ask = ask,
};

/* --- the collector -------------------------------------------------------- */

static void drop_collector(struct app *app)
{
	if (app->collector >= 0)
		close(app->collector);
	app->collector = -1;
}

/* Says it once. Without the pause the collector would ask at once again. */
static void lack_files(struct app *app)
{
	if (!app->short_of_files)
		log_warning("the collector waits: no descriptor is free");
	app->short_of_files = true;
	usleep(WORK_TICK_MS * 1000);
}

/* Tells the collector what was spent: it keeps the budget. */
static void answer_collector(struct app *app)
{
	struct wire_spent spent = { .cpu_ns = own_cpu_ns() };
	struct timeline_counts counts;

	timeline_count(app->timeline, &counts);
	spent.looks_ns = counts.totals.cost_ns;
	if (app->collector >= 0)
		wire_answer(app->collector, &spent);
}

/* Only root, and who runs this, may say what was collected. */
static void accept_collector(struct app *app)
{
	int fd = accept4(app->listener, NULL, NULL, SOCK_CLOEXEC);
	socklen_t size = sizeof(struct ucred);
	struct ucred peer;

	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE)
			lack_files(app);
		return;
	}
	app->short_of_files = false;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) ||
	    (peer.uid && peer.uid != geteuid())) {
		log_warning("a collector of another user was refused");
		close(fd);
		return;
	}
	if (app->collector >= 0)
		log_info("another collector takes over");
	else
		log_info("the collector is connected");
	drop_collector(app);
	app->collector = fd;
	app->connected_ns = wire_now();
	answer_collector(app);
}

/* Says once what a window lacks. */
static void say_lack(struct app *app, const struct wire_head *head)
{
	if (head->refused && !app->lacks_tables)
		log_warning("the module has no room for the unwinding tables of %llu files or processes: stacks there are by frame pointers",
			    (unsigned long long)head->refused);
	app->lacks_tables = head->refused;
	if (head->dropped && !app->drops_records)
		log_warning("%llu records had no room in a window: some program maps files without end",
			    (unsigned long long)head->dropped);
	app->drops_records = head->dropped;
}

static void take_recording(struct app *app, const struct wire_head *head,
			   int fd)
{
	if (app->waiting_count == WAITING_MAX) {
		app->metrics.overrun++;
		close(fd);
		return;
	}
	app->metrics.records_dropped += head->dropped;
	app->metrics.tables_refused = head->refused;
	say_lack(app, head);
	app->waiting[app->waiting_count++] = (struct waiting){ *head, fd };
	*app->trouble = 0;
}

/* Answers, unless a window waits, whose cost is not known yet. */
static void take_plan(struct app *app, const struct wire_head *head)
{
	uint64_t length = head->end_ns - head->begin_ns;

	app->planned_ns = wire_now() + length;
	if (head->rests)
		app->metrics.rested_ns += length;
	if (!app->waiting_count)
		answer_collector(app);
}

static void hear_collector(struct app *app)
{
	struct wire_head head;
	char message[128];
	int fd, error = wire_receive(app->collector, &head, &fd, message,
				     sizeof(message));

	if (error == -EAGAIN)
		return;
	if (error == -EMFILE) {
		app->metrics.unreadable++;
		log_warning("a window is lost: no descriptor is free");
		return;
	}
	if (error) {
		app->metrics.malformed += error == -EBADMSG;
		log_warning("the collector is gone: %s",
			    error == -EBADMSG ? message :
			    error == -ENODATA ? "it closed the connection" :
						strerror(-error));
		drop_collector(app);
		return;
	}
	app->metrics.collector_cpu_ns = head.cpu_ns;
	app->metrics.files_read = head.files_read;
	app->metrics.files_failed = head.files_failed;
	app->metrics.files_late = head.files_late;
	app->metrics.files_hung = head.files_hung;
	app->metrics.files_skipped = head.files_skipped;
	app->metrics.opens_files = head.opens_files;
	if (head.type == WIRE_RECORDING) {
		take_recording(app, &head, fd);
	} else if (head.type == WIRE_PLAN) {
		take_plan(app, &head);
	} else if (strcmp(app->trouble, head.text)) {
		log_warning("the collector says: %s", head.text);
		strcpy(app->trouble, head.text);
	}
}

static void pop_waiting(struct app *app)
{
	size_t i;

	close(app->waiting[0].fd);
	app->waiting_count--;
	for (i = 0; i < app->waiting_count; i++)
		app->waiting[i] = app->waiting[i + 1];
}

/* Says once that no process can be started. Returns true if one was. */
static bool note_start(struct app *app, int error)
{
	if (error && !app->short_of_processes)
		log_error("no process can be started, so that windows wait: %s",
			  strerror(-error));
	app->short_of_processes = error;
	return !error;
}

/* Returns false if it is to be tried again. */
static bool start_reading(struct app *app)
{
	const struct job job = { .recording = true };

	return note_start(app, worker_start(&app->reader, job_merge, &job,
					    WORKER_NO_FILES,
					    app->waiting[0].fd, MERGE_SECONDS));
}

/* Reads the parts that a worker has written. */
static int take_parts(struct worker *worker, enum answer answer,
		      struct parts *parts, char message[WORKER_MESSAGE])
{
	off_t size = lseek(worker->out, 0, SEEK_END);
	int error = 0;

	*parts = (struct parts){ .count = 0 };
	if (answer != ANSWER_OK) {
		worker_message(worker, message);
		error = -EBADMSG;
	} else {
		error = size < 0 ? -errno :
			parts_read(parts, worker->out, size);
		if (error)
			snprintf(message, WORKER_MESSAGE, "%s",
				 strerror(-error));
	}
	close(worker->out);
	return error;
}

static void keep_window(struct app *app, enum answer answer)
{
	const struct wire_head *head = &app->waiting[0].head;
	char message[WORKER_MESSAGE];
	struct parts parts;

	if (take_parts(&app->reader, answer, &parts, message)) {
		app->metrics.unreadable++;
		log_warning("a window is lost: %s", message);
		return;
	}
	push_add(app->push, head->begin_ns, head->end_ns, &parts);
	symbols_note(app->symbols, &parts);
	if (timeline_add(app->timeline, head->begin_ns, head->end_ns,
				&parts)) {
		app->metrics.unreadable++;
		parts_free(&parts);
	} else {
		app->heard_ns = wire_now();
	}
}

static void finish_reading(struct app *app, enum answer answer)
{
	keep_window(app, answer);
	pop_waiting(app);
	answer_collector(app);
}

/* --- merging -------------------------------------------------------------- */

static bool start_merger(struct app *app)
{
	const struct job job = {
		.parts = app->task.parts,
		.drop_whole = app->task.window.level > STORE_MINUTE,
	};

	return note_start(app, worker_start(&app->merger, job_merge, &job,
					    WORKER_NO_FILES, -1,
					    MERGE_SECONDS));
}

static bool start_merging(struct app *app, bool all)
{
	int due = timeline_due(app->timeline, all, &app->task);
	bool started;

	if (due <= 0)
		return false;
	if (timeline_is_single(&app->task)) {
		timeline_finish(app->timeline, &app->task, &app->task.parts);
		return true;
	}
	started = start_merger(app);
	/* The worker has a copy. */
	parts_free(&app->task.parts);
	if (!started)
		timeline_postpone(app->timeline, &app->task);
	return started;
}

static void finish_merging(struct app *app, enum answer answer)
{
	char message[WORKER_MESSAGE];
	struct parts parts;
	int error = take_parts(&app->merger, answer, &parts, message);

	if (error)
		log_warning("windows cannot be merged: %s", message);
	timeline_finish(app->timeline, &app->task, error ? NULL : &parts);
	parts_free(&parts);
	app->looked_ns = 0;		/* the next may be due */
}

/* Returns true if a worker is left. */
static bool run_workers(struct app *app)
{
	enum answer answer;
	bool left = false;
	int i;

	for (i = 0; i < ASKING_MAX; i++)
		if (app->asking[i].request &&
		    worker_ended(&app->asking[i].worker, &answer))
			finish_asking(app, &app->asking[i], answer);
	if (worker_ended(&app->reader, &answer))
		finish_reading(app, answer);
	if (app->waiting_count && !app->reader.pid)
		start_reading(app);
	if (worker_ended(&app->merger, &answer))
		finish_merging(app, answer);
	if (!app->merger.pid && !app->stop &&
	    wire_now() - app->looked_ns >= LOOK_SECONDS * 1000000000ULL) {
		app->looked_ns = wire_now();
		start_merging(app, false);
	}
	for (i = 0; i < ASKING_MAX; i++)
		left |= !!app->asking[i].request;
	left |= push_run(app->push);
	left |= symbols_run(app->symbols);
	return left || app->reader.pid || app->merger.pid;
}

/* --- the loop ------------------------------------------------------------- */

/* The sockets and the store stay where they are until the next start. */
static void reload(struct app *app)
{
	struct config config;
	char message[1024];

	notify("RELOADING=1");
	if (config_load(&config, app->config_path, message, sizeof(message))) {
		log_error("the configuration stays as it was: %s", message);
	} else {
		if (strcmp(config.store, app->config.store) ||
		    strcmp(config.socket, app->config.socket) ||
		    strcmp(config.listen, app->config.listen) ||
		    strcmp(config.collector, app->config.collector))
			log_warning("store, socket, listen and collector change with the next start");
		app->config = config;
		timeline_configure(app->timeline, &config);
		log_info("the configuration was read again");
	}
	notify("READY=1");
}

static void take_signals(struct app *app)
{
	struct signalfd_siginfo info;

	while (read(app->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGHUP)
			reload(app);
		else if (info.ssi_signo != SIGCHLD)
			app->stop = true;
	}
}

/* Returns what does not advance although nothing is known to be in its way. */
static const char *stuck_part(const struct app *app)
{
	if (app->collector >= 0 && !*app->trouble && is_silent(app))
		return "the collector";
	return timeline_is_stuck(app->timeline) ? "the store" : NULL;
}

/*
 * systemd hears from us as long as this loop runs, and collector and store
 * advance; otherwise it starts both programs again. A machine without the
 * module, or a full disk, is no reason to be started again.
 */
static void feed_watchdog(struct app *app)
{
	uint64_t now = wire_now();
	const char *stuck;

	if (!app->watchdog_ms ||
	    now - app->watched_ns < app->watchdog_ms * 1000000 / 3)
		return;
	app->watched_ns = now;
	stuck = stuck_part(app);
	if (stuck && !app->stuck)
		log_error("%s does not advance: the watchdog is not fed",
			  stuck);
	app->stuck = stuck;
	if (!stuck)
		notify("WATCHDOG=1");
}

/* Returns how long to wait for events at most. */
static int tick_ms(const struct app *app, bool working)
{
	if (working)
		return WORK_TICK_MS;
	return app->watchdog_ms && app->watchdog_ms / 3 < TICK_MS ?
	       (int)(app->watchdog_ms / 3) : TICK_MS;
}

static void run_once(struct app *app)
{
	enum {
		SIGNALS, LISTENER, COLLECTOR, PUSH, HTTP,
		POLLED = HTTP + HTTP_FDS
	};
	struct pollfd polled[POLLED] = {
		[SIGNALS] = { app->signals, POLLIN, 0 },
		[LISTENER] = { app->listener, POLLIN, 0 },
		[COLLECTOR] = { app->collector, POLLIN, 0 },
		[PUSH] = { push_fd(app->push), POLLIN, 0 },
	};
	int most = tick_ms(app, run_workers(app));
	bool lists = run_lists(app);
	int fds[HTTP_FDS], i;

	http_fds(app->http, fds);
	for (i = 0; i < HTTP_FDS; i++)
		polled[HTTP + i] = (struct pollfd){ fds[i], POLLIN, 0 };
	http_run(app->http);
	most = lists ? 0 : push_timeout(app->push, most);
	if (poll(polled, POLLED, http_timeout(app->http, most)) < 0)
		return;
	if (polled[SIGNALS].revents)
		take_signals(app);
	if (polled[COLLECTOR].revents)
		hear_collector(app);
	if (polled[LISTENER].revents)
		accept_collector(app);
	http_run(app->http);
	feed_watchdog(app);
}

/* Stores what is in memory, and answers who still waits. */
static void finish(struct app *app)
{
	int i;

	notify("STOPPING=1");
	for (i = 0; i < ASKING_MAX; i++) {
		struct asking *asking = &app->asking[i];

		if (!asking->request)
			continue;
		worker_stop(&asking->worker);
		close(asking->worker.out);
		http_refuse(asking->request, 503, "hwprofd is being stopped");
		drop_page(asking);
		asking->request = NULL;
	}
	for (i = 0; i < LISTED_MAX; i++) {
		if (!app->listed[i].request)
			continue;
		http_refuse(app->listed[i].request, 503,
			    "hwprofd is being stopped");
		end_list(&app->listed[i]);
	}
	http_run(app->http);
	while (app->waiting_count) {
		if (app->reader.pid || start_reading(app)) {
			finish_reading(app, worker_wait(&app->reader));
		} else {
			app->metrics.unreadable++;
			pop_waiting(app);
		}
	}
	do {
		if (app->merger.pid)
			finish_merging(app, worker_wait(&app->merger));
	} while (start_merging(app, true));
	push_finish(app->push);
}

static int serve(struct app *app)
{
	notify("READY=1");
	log_info("serving on %s", app->config.socket);
	while (!app->stop)
		run_once(app);
	finish(app);
	return STATUS_OK;
}

/* --- starting ------------------------------------------------------------- */

static int catch_signals(struct app *app)
{
	static const int caught[] = { SIGTERM, SIGINT, SIGHUP, SIGCHLD };
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
		sigaddset(&set, caught[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	app->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return app->signals < 0 ? fail("cannot wait for signals: %s",
				       strerror(errno)) : -1;
}

/* A store that does not open is no reason not to serve. */
static int open_store(struct app *app)
{
	int error = store_open(&app->store, app->config.store,
			       app->config.store_mib);

	if (error) {
		log_error("everything stays in memory: %s",
			  store_error(app->store));
		store_close(app->store);
		app->store = NULL;
	}
	app->timeline = timeline_new(app->store, &app->config);
	app->symbols = symbols_new(app->config.store, &app->config);
	app->push = app->symbols ?
		    push_new(&app->config, symbols_folder(app->symbols),
			     app->store ? app->config.store : NULL) : NULL;
	return app->timeline && app->push ? -1 : fail("out of memory");
}

static gid_t group_of(const char *name)
{
	const struct group *group = *name ? getgrnam(name) : NULL;

	if (*name && !group)
		log_warning("there is no group '%s': it has no members who may ask",
			    name);
	return group ? group->gr_gid : (gid_t)-1;
}

/*
 * Returns a socket that systemd has opened under @name (sd_listen_fds(3)), or
 * -1.
 */
static int activated(const char *name)
{
	const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
	const char *names = getenv("LISTEN_FDNAMES");
	size_t length = strlen(name), next;
	int fd = 3, end;

	if (!pid || !count || !names || atoi(pid) != getpid())
		return -1;
	for (end = 3 + atoi(count); fd < end && names; fd++) {
		next = strcspn(names, ":");
		if (next == length && !strncmp(names, name, length)) {
			fcntl(fd, F_SETFD, FD_CLOEXEC);
			fcntl(fd, F_SETFL, O_NONBLOCK);
			return fd;
		}
		names = names[next] ? names + next + 1 : NULL;
	}
	return -1;
}

static int open_http(struct app *app)
{
	const struct config *config = &app->config;
	gid_t group = group_of(config->group);
	gid_t values_group = group_of(config->values_group);
	int local = activated("http"), tcp = -1, error;

	if (local < 0)
		local = http_listen_unix(config->socket, group,
					 config->own_profiles);
	if (local < 0)
		return fail("cannot listen on %s: %s", config->socket,
			    strerror(-local));
	if (strcmp(config->listen, "none")) {
		tcp = http_listen_tcp(config->listen);
		if (tcp < 0)
			return fail("cannot listen on %s: %s", config->listen,
				    strerror(-tcp));
	}
	error = http_open(&app->http, local, tcp, group, values_group, config,
			  &ops, app);
	return error ? fail("cannot serve HTTP: %s", strerror(-error)) : -1;
}

static int open_listener(struct app *app)
{
	app->listener = activated("collect");
	if (app->listener < 0)
		app->listener = wire_listen(app->config.collector);
	return app->listener < 0 ? fail("cannot listen on %s: %s",
					app->config.collector,
					strerror(-app->listener)) : -1;
}

/* Makes the folder of the file @path; or, with @whole, @path. */
static int make_folder(const char *path, bool whole)
{
	char folder[CONFIG_TEXT];
	char *slash;

	strcpy(folder, path);
	slash = strrchr(folder, '/');
	if (!whole)
		*slash = 0;
	if (!*folder || !mkdir(folder, 0755) || errno == EEXIST)
		return -1;
	return fail("cannot make the folder %s: %s", folder, strerror(errno));
}

/* systemd does that from the unit. */
static int make_folders(const struct app *app)
{
	int status = make_folder(app->config.store, true);

	if (status < 0)
		status = make_folder(app->config.socket, false);
	return status < 0 ? make_folder(app->config.collector, false) : status;
}

static int run(struct app *app)
{
	int status;

	/* Threads of resolvers would reserve addresses that workers need. */
	mallopt(M_ARENA_MAX, 1);
	app->collector = app->listener = -1;
	app->metrics.opens_files = 1;
	app->watchdog_ms = notify_watchdog_ms();
	/* Nothing that is started from here can get rights back. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return fail("cannot give up rights: %s", strerror(errno));
	status = catch_signals(app);
	if (status < 0 && app->foreground)
		status = make_folders(app);
	if (status < 0)
		status = open_store(app);
	if (status < 0)
		status = open_listener(app);
	if (status < 0)
		status = open_http(app);
	if (status < 0)
		status = serve(app);
	http_close(app->http);
	drop_collector(app);
	push_free(app->push);
	symbols_free(app->symbols);
	timeline_free(app->timeline);
	store_close(app->store);
	return status;
}

static const struct option options[] = {
	{ "config", required_argument, NULL, 'c' },
	{ "check", no_argument, NULL, 'C' },
	{ "foreground", no_argument, NULL, 'f' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

int main(int argc, char **argv)
{
	struct app app = { .config_path = NULL };
	bool check = false;
	int option;

	while ((option = getopt_long(argc, argv, "c:h", options, NULL)) >= 0) {
		switch (option) {
		case 'c':
			app.config_path = optarg;
			break;
		case 'C':
			check = true;
			break;
		case 'f':
			app.foreground = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return fflush(stdout) ? STATUS_FAILED : STATUS_OK;
		default:
			fprintf(stderr, "Try '%s --help'.\n", argv[0]);
			return STATUS_USAGE;
		}
	}
	if (!config_start(&app.config, app.config_path, argv[optind]))
		return STATUS_USAGE;
	if (check) {
		printf("%s: the configuration is right\n",
		       app.config_path ? app.config_path : CONFIG_FILE);
		return STATUS_OK;
	}
	return run(&app);
}
