// SPDX-License-Identifier: GPL-2.0-only
/*
 * hwprofd-collect: records all that runs, one window of time after the other,
 * and hands the recordings to hwprofd. It has the capabilities that this takes.
 * Files of programs are opened by another process, and read by processes that
 * have no capabilities: see code_reader.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "code_reader.h"
#include "config.h"
#include "live/permission.h"
#include "live/pmu.h"
#include "live/recording.h"
#include "live/source_choice.h"
#include "log.h"
#include "meter.h"
#include "notify.h"
#include "wire.h"

enum {
	STATUS_OK = 0, STATUS_FAILED = 1, STATUS_USAGE = 2,

	EVENTS_MAX = 2,			/* events, and stacks */
	TURNS_MAX = 2,			/* values, and ranges */
	MEMORY_MIB = 16,		/* of an event, if that is allowed */
	WAKES_MOST = 25,		/* of an idle CPU, a second */
	LOOKS_MOST = 4000,		/* on a CPU, a second */
	STEP_MS = 1000,			/* how long records wait in a ring */
	RETRY_MS = 5000,		/* after something has failed */
	SEND_TRIES = 20,		/* of a window, one a second */
	EVENT_NAME = 256,
	PATH_SIZE = 64,
};

static const char usage[] =
"usage: hwprofd-collect [OPTIONS]\n"
"\n"
"Records all that runs, and hands it to hwprofd, window by window. systemd starts\n"
"it with the capabilities that it needs: see hwprofd(8).\n"
"\n"
"  -c, --config FILE  the configuration (default: " CONFIG_FILE ")\n"
"  -h, --help\n"
"\n"
"exit status: 0, or 1 if something failed, or 2 for wrong usage or a wrong\n"
"configuration.\n";

/* Events of a window. */
struct event_set {
	struct hwprof_event parsed[EVENTS_MAX];
	struct events_kind events[EVENTS_MAX];
	char names[EVENTS_MAX][EVENT_NAME];
	bool own_interval[EVENTS_MAX];	/* the configuration has interval_ms */
	size_t count;
	size_t first, used;		/* which ones this window has */
};

struct collector {
	struct config config;
	const char *config_path;	/* NULL: CONFIG_FILE */
	struct event_set usual;
	struct event_set turns[TURNS_MAX];	/* have a window now and then */
	size_t turn_count;
	uint64_t windows;		/* that were begun */
	struct spending spending;
	struct meter meter;
	struct event_set *set;		/* of this window */
	struct confined_reader reader;	/* of files with code */
	struct known_code *code;	/* NULL: none yet */
	int socket;			/* -1: not connected */
	int signals;
	bool stop, reload;
	char said[WIRE_TEXT];		/* the last trouble */
};

/* --- events --------------------------------------------------------------- */

static void set_words(struct event_set *set, size_t i)
{
	const struct hwprof_event *event = &set->parsed[i];
	struct perf_event_attr *attr = &set->events[i].attr;

	attr->config = event->config[0];
	attr->config1 = event->config[1];
	attr->config2 = event->config[2];
	hwprof_event_print(event, set->names[i], EVENT_NAME);
	set->events[i].name = set->names[i];
}

/* config_load() has checked the text. */
static void add_event(struct event_set *set, const char *text)
{
	size_t i = set->count;
	struct hwprof_event *event = &set->parsed[i];
	char message[512];

	if (!strcmp(text, "none") ||
	    hwprof_event_parse(event, text, message, sizeof(message)))
		return;
	source_choose_careful(event, false);
	hwprof_event_set(event, "rows", 1);
	if (!strstr(text, "memory_mib"))
		hwprof_event_set(event, "memory_mib", MEMORY_MIB);
	set->own_interval[i] = strstr(text, "interval_ms");
	set->events[i].attr = (struct perf_event_attr){
		.exclude_kernel = 1,
		.freq = 1,
	};
	set->count++;
	set_words(set, i);
}

static void add_turn(struct collector *collector, const char *text)
{
	struct event_set *set = &collector->turns[collector->turn_count];

	set->count = 0;
	add_event(set, text);
	collector->turn_count += set->count;
}

static void set_events(struct collector *collector)
{
	const struct config *config = &collector->config;

	collector->usual.count = 0;
	add_event(&collector->usual, config->events);
	add_event(&collector->usual, config->stacks);
	collector->turn_count = 0;
	add_turn(collector, config->values);
	add_turn(collector, config->ranges);
	collector->set = &collector->usual;
}

/* Each so many windows is one of the turns, which come one after the other. */
static void choose_set(struct collector *collector)
{
	uint64_t number = ++collector->windows / collector->config.turn;

	collector->set = &collector->usual;
	if (collector->turn_count &&
	    collector->windows % collector->config.turn == 0)
		collector->set = &collector->turns[number %
						   collector->turn_count];
}

/* The events share what the module gets, and take turns at what is left. */
static uint64_t share_of(const struct collector *collector, size_t i,
			 uint64_t permille)
{
	size_t count = collector->set->count;

	return permille / count +
	       ((i + collector->windows) % count < permille % count);
}

/* Returns the rate that perf accepts, which it lowers on a slow machine. */
static uint64_t rate_of_perf(void)
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_max_sample_rate", "re");
	unsigned int rate;

	if (!file)
		return LOOKS_MOST;
	if (fscanf(file, "%u", &rate) != 1 || !rate)
		rate = LOOKS_MOST;
	fclose(file);
	return rate < LOOKS_MOST ? rate : LOOKS_MOST;
}

/*
 * Returns how many looks a second an event may have on a CPU. Each wakes a CPU
 * that is idle, which no budget counts.
 */
static uint64_t looks_most(const struct collector *collector)
{
	unsigned int cpus = collector->meter.cpus;
	double idle = cpus ? 1 - collector->spending.rate / cpus : 1;
	uint64_t most = rate_of_perf();

	return idle * most > WAKES_MOST ? WAKES_MOST / idle : most;
}

/*
 * Prepares the events of a window. What is learnt comes once, at its end. An
 * event that gets nothing is left out.
 */
static void prepare_set(struct collector *collector,
			const struct spending_plan *plan, int type)
{
	struct event_set *set = collector->set;
	uint64_t rate = looks_most(collector);
	size_t i;

	set->used = 0;
	for (i = 0; i < set->count; i++) {
		uint64_t permille = share_of(collector, i, plan->permille);

		if (!permille)
			continue;
		if (!set->used++)
			set->first = i;
		hwprof_event_set(&set->parsed[i], "budget_permille", permille);
		if (!set->own_interval[i])
			hwprof_event_set(&set->parsed[i], "interval_ms",
					 plan->seconds * 1000);
		set_words(set, i);
		set->events[i].attr.type = type;
		set->events[i].attr.sample_freq = rate;
	}
}

/* Takes less memory where the module or a limit has no more. */
static bool shrink(struct event_set *set, size_t i)
{
	i += set->first;
	if (!event_shrink(&set->parsed[i], MEMORY_MIB))
		return false;
	set_words(set, i);
	return true;
}

/* --- signals and messages ------------------------------------------------- */

static int catch_signals(struct collector *collector)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	collector->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return collector->signals < 0 ? -errno : 0;
}

static void take_signals(struct collector *collector)
{
	struct signalfd_siginfo info;

	while (read(collector->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGHUP)
			collector->reload = true;
		else
			collector->stop = true;
	}
}

/* Waits for so long, or for a signal. */
static void wait_ms(struct collector *collector, int ms)
{
	struct pollfd polled = { .fd = collector->signals, .events = POLLIN };

	poll(&polled, 1, ms);
	take_signals(collector);
	notify("WATCHDOG=1");
}

static void hang_up(struct collector *collector)
{
	if (collector->socket >= 0)
		close(collector->socket);
	collector->socket = -1;
}

/* Returns the CPU time of processes that open and read files. */
static uint64_t files_cpu_ns(const struct collector *collector)
{
	return wire_cpu_ns(RUSAGE_CHILDREN) +
	       file_opener_cpu_ns(&collector->reader.opener);
}

static void send_head(struct collector *collector, struct wire_head *head,
		      int fd)
{
	int error;

	head->cpu_ns = wire_cpu_ns(RUSAGE_SELF) + files_cpu_ns(collector);
	head->files_read = collector->reader.counts.read;
	head->files_failed = collector->reader.counts.failed;
	head->files_late = collector->reader.counts.late;
	head->files_hung = collector->reader.opener.counts.hung;
	head->files_skipped = collector->reader.opener.counts.skipped;
	head->opens_files = file_opener_works(&collector->reader.opener);
	error = wire_send(collector->socket, head, fd);
	if (!error)
		return;
	log_warning("hwprofd is gone: %s", strerror(-error));
	hang_up(collector);
}

/* Logs a trouble once, and tells hwprofd each time. */
static void tell_trouble(struct collector *collector, const char *sentence)
{
	struct wire_head head = { .type = WIRE_TROUBLE };

	snprintf(head.text, sizeof(head.text), "%s", sentence);
	if (strcmp(collector->said, head.text))
		log_error("%s", head.text);
	strcpy(collector->said, head.text);
	send_head(collector, &head, -1);
}

/* --- windows -------------------------------------------------------------- */

static int open_recording(struct collector *collector,
			  struct recording **recording,
			  const struct events_options *options)
{
	int error, refused;

	do {
		error = recording_open(recording, options);
		refused = recording_refused(*recording);
		if (!error)
			return 0;
		if (error != -ENOMEM || refused < 0 ||
		    !shrink(collector->set, refused))
			return error;
		recording_close(*recording);
	} while (true);
}

/* Records until the window is over or full, or a signal comes. */
static int record(struct collector *collector, struct recording *recording,
		  uint64_t end_ns)
{
	struct pollfd signals = { .fd = collector->signals, .events = POLLIN };
	int error = 0;

	while (error >= 0 && wire_now() < end_ns && !collector->stop &&
	       !recording_is_full(recording)) {
		error = recording_step(recording, &signals, STEP_MS);
		take_signals(collector);
		notify("WATCHDOG=1");
	}
	return error < 0 ? error : 0;
}

static int write_window(struct collector *collector,
			struct recording *recording, uint64_t seconds, int fd,
			struct wire_head *head)
{
	static char *const argv[] = { "hwprofd-collect", NULL };
	const struct event_set *set = collector->set;
	const struct writer_facts facts = {
		.argc = 1, .argv = argv,
		.pmu_type = set->events[set->first].attr.type,
	};
	struct writer_summary summary;
	char path[PATH_SIZE];
	int error;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	error = recording_start(recording, path);
	head->begin_ns = wire_now();
	if (!error)
		error = record(collector, recording,
			       head->begin_ns + seconds * 1000000000ULL);
	if (!error)
		error = recording_finish(recording, &facts, &summary);
	head->dropped = recording_dropped(recording);
	if (collector->code)
		head->refused = known_code_refused(collector->code);
	head->end_ns = wire_now();
	return error;
}

static void forget_code(struct collector *collector)
{
	known_code_free(collector->code);
	collector->code = NULL;
}

/*
 * Writes what went wrong with a window, and which settings of the kernel are
 * the reason if it does not permit an event.
 */
static void explain(const struct event_set *set,
		    const struct recording *recording, int error,
		    char sentence[WIRE_TEXT])
{
	int refused = recording_refused(recording);
	bool attaches = refused >= 0 &&
			event_attaches(&set->parsed[set->first + refused]);
	char settings[PERMISSION_TEXT];

	if (error == -EACCES || error == -EPERM)
		snprintf(sentence, WIRE_TEXT,
			 "%s: %s: see NOTES of hwprofd(8)",
			 recording_error(recording),
			 permission_settings(attaches, settings));
	else
		snprintf(sentence, WIRE_TEXT, "%s", recording_error(recording));
}

static int record_window(struct collector *collector, uint64_t seconds, int fd,
			 struct wire_head *head, char sentence[WIRE_TEXT])
{
	static const pid_t everything = -1;
	const struct event_set *set = collector->set;
	const struct events_options options = {
		.kinds = set->events + set->first,
		.kind_count = set->used,
		.targets = &everything, .target_count = 1, .inherit = true,
	};
	struct recording *recording;
	int error = open_recording(collector, &recording, &options);

	if (!collector->code)
		collector->code = known_code_new(&collector->reader.reader);
	if (!error && !collector->code)
		error = -ENOMEM;
	if (!error) {
		code_reader_begin(&collector->reader);
		recording_use_code(recording, collector->code);
		recording_want_labels(recording);
		recording_limit(recording, WIRE_RECORDS_MAX);
		error = write_window(collector, recording, seconds, fd, head);
	}
	if (!collector->code)
		snprintf(sentence, WIRE_TEXT, "out of memory");
	else if (error)
		explain(set, recording, error, sentence);
	recording_close(recording);
	if (collector->code)
		known_code_renew(collector->code);
	return error;
}

static void connect_hwprofd(struct collector *collector)
{
	collector->socket = wire_connect(collector->config.collector);
	meter_forget_answer(&collector->meter);
}

/* A window waits for hwprofd, if that is being started again. */
static void send_window(struct collector *collector, struct wire_head *head,
			int fd)
{
	int tries;

	send_head(collector, head, fd);
	for (tries = 0; tries < SEND_TRIES && collector->socket < 0 &&
	     !collector->stop; tries++) {
		wait_ms(collector, RETRY_MS / 5);
		connect_hwprofd(collector);
		if (collector->socket >= 0)
			send_head(collector, head, fd);
	}
	if (collector->socket < 0)
		log_warning("a window is lost: hwprofd does not listen");
}

static void collect_window(struct collector *collector, uint64_t seconds,
			   int fd)
{
	struct wire_head head = { .type = WIRE_RECORDING };
	char sentence[WIRE_TEXT] = "";
	int error = record_window(collector, seconds, fd, &head, sentence);

	if (!error) {
		error = wire_seal(fd);
		snprintf(sentence, sizeof(sentence), "a window is lost: %s",
			 strerror(-error));
	}
	if (error) {
		tell_trouble(collector, sentence);
		wait_ms(collector, RETRY_MS);
		return;
	}
	*collector->said = 0;
	send_window(collector, &head, fd);
}

/* Says that the next message comes later than hwprofd may expect. */
static void tell_plan(struct collector *collector,
		      const struct spending_plan *plan)
{
	struct wire_head head = {
		.type = WIRE_PLAN, .rests = plan->rest,
		.begin_ns = wire_now(),
	};

	head.end_ns = head.begin_ns + plan->seconds * 1000000000ULL;
	if (plan->rest || plan->seconds > collector->config.window)
		send_head(collector, &head, -1);
}

static struct spending_plan make_plan(struct collector *collector)
{
	const struct config *config = &collector->config;

	return config->budget_daemon ? spending_next(&collector->spending) :
	       (struct spending_plan){
		       .seconds = config->window,
		       .permille = config->budget_permille,
	       };
}

/* Records a window, and hands it over. */
static void collect(struct collector *collector,
		    const struct spending_plan *plan, int type)
{
	int fd = wire_memfd();

	if (fd < 0) {
		tell_trouble(collector, "no file can be made in memory");
		wait_ms(collector, RETRY_MS);
		return;
	}
	choose_set(collector);
	prepare_set(collector, plan, type);
	collect_window(collector, plan->seconds, fd);
	close(fd);
}

static struct spent read_meter(struct collector *collector)
{
	return meter_read(&collector->meter, wire_cpu_ns(RUSAGE_SELF),
			  files_cpu_ns(collector), collector->socket);
}

/* Collects a window, rests, or waits for what it takes. */
static void step(struct collector *collector)
{
	int type = pmu_type(HWPROF_PMU_NAME);
	struct spending_plan plan;
	struct spent spent;

	if (collector->socket < 0)
		connect_hwprofd(collector);
	if (collector->socket < 0) {
		wait_ms(collector, RETRY_MS / 5);
		return;
	}
	if (type < 0) {
		forget_code(collector);
		tell_trouble(collector,
			     "the hwprof module is not loaded: modprobe hwprof");
		wait_ms(collector, RETRY_MS);
		return;
	}
	plan = make_plan(collector);
	tell_plan(collector, &plan);
	if (plan.rest)
		wait_ms(collector, plan.seconds * 1000);
	else
		collect(collector, &plan, type);
	spent = read_meter(collector);
	spending_note(&collector->spending, &spent);
}

static void reload(struct collector *collector)
{
	struct config config;
	char message[1024];

	collector->reload = false;
	if (config_load(&config, collector->config_path, message,
			sizeof(message))) {
		log_error("the configuration stays as it was: %s", message);
		return;
	}
	collector->config = config;
	set_events(collector);
	spending_configure(&collector->spending, config.budget_permille,
			   config.window);
	file_opener_forget(&collector->reader.opener);
	log_info("the configuration was read again");
}

static int run(struct collector *collector)
{
	int error;

	collector->socket = -1;
	code_reader_init(&collector->reader);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) {
		log_error("cannot give up rights: %s", strerror(errno));
		return STATUS_FAILED;
	}
	signal(SIGPIPE, SIG_IGN);
	error = catch_signals(collector);
	if (error) {
		log_error("cannot wait for signals: %s", strerror(-error));
		return STATUS_FAILED;
	}
	error = file_opener_start(&collector->reader.opener);
	if (error)
		log_warning("no process that opens files can be started: %s",
			    strerror(-error));
	set_events(collector);
	spending_init(&collector->spending, collector->config.budget_permille,
		      collector->config.window);
	read_meter(collector);
	notify("READY=1");
	while (!collector->stop) {
		step(collector);
		if (collector->reload)
			reload(collector);
	}
	hang_up(collector);
	forget_code(collector);
	code_reader_stop(&collector->reader);
	return STATUS_OK;
}

static const struct option options[] = {
	{ "config", required_argument, NULL, 'c' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

int main(int argc, char **argv)
{
	struct collector collector = { .config_path = NULL };
	int option;

	log_name("hwprofd-collect");
	while ((option = getopt_long(argc, argv, "c:h", options, NULL)) >= 0) {
		switch (option) {
		case 'c':
			collector.config_path = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return fflush(stdout) ? STATUS_FAILED : STATUS_OK;
		default:
			fprintf(stderr, "Try '%s --help'.\n", argv[0]);
			return STATUS_USAGE;
		}
	}
	if (!config_start(&collector.config, collector.config_path,
			  argv[optind]))
		return STATUS_USAGE;
	return run(&collector);
}
