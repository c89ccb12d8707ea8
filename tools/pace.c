// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "base/event_config.h"
#include "pace.h"
#include "live/source_choice.h"

#define SESSIONS	"/sys/class/misc/hwprof/sessions"

enum {
	BURST_STEPS = 8,		/* instructions per branch, as the
					 * module assumes */
	/*
	 * With this many independent windows, 1.96 standard errors are a factor
	 * of 1.5.
	 */
	WINDOWS_WANTED = 23,
	PARTS = 10,			/* a loop with a tenth of the time gets
					 * that part */
};

/* --- measuring ------------------------------------------------------------ */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static double time_rounds(unsigned long rounds)
{
	uint64_t begin = now_ns();

#ifdef __x86_64__
	asm volatile("1: dec %0; jnz 1b" : "+r" (rounds) : : "cc");
#endif
	return now_ns() - begin;
}

static int open_step_event(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .disabled = 1,
		.exclude_kernel = 1, .exclude_hv = 1,
	};
	struct hwprof_event event;
	char message[256];
	int64_t type;

	if (!read_number(HWPROF_SYSFS "/type", &type) ||
	    hwprof_event_parse(&event, "loops,step", message, sizeof(message)))
		return -1;
	attr.type = type;
	attr.config = event.config[0];
	attr.config1 = event.config[1];
	attr.config2 = event.config[2];
	return syscall(SYS_perf_event_open, &attr, 0, -1, -1,
		       PERF_FLAG_FD_CLOEXEC);
}

void pace_measure(struct pace *pace)
{
	struct pace_times times;
	int fd;

	if (pace->step_ns || !source_works("step"))
		return;
	fd = open_step_event();
	if (fd < 0)
		return;
	times.free = time_rounds(PACE_FREE_ROUNDS);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	times.rest = time_rounds(1);
	times.stepped = time_rounds(PACE_STEPPED_ROUNDS + 1);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	close(fd);
	pace_of_times(pace, &times);
}

/* --- messages ------------------------------------------------------------- */

/* Writes a cheaper event for -e. Returns false if there is none. */
static bool find_instead(const struct hwprof_event *event, const char *text,
			 char *instead, size_t size)
{
	const char *careful = source_careful(event);
	const char *value = careful && !strcmp(careful, "burst") ? "=200" : "";
	uint32_t engines = config_engines(event->config);

	if (!careful)
		return false;
	if (!strpbrk(text, "/") && !strstr(text, "step")) {
		snprintf(instead, size, "%s,%s%s", text, careful, value);
		return true;
	}
	if (!engines)
		return false;
	snprintf(instead, size, "%s,%s%s",
		 engine_infos[__builtin_ctz(engines)].name, careful, value);
	return true;
}

void pace_warn(struct pace *pace, const struct hwprof_event *event,
	       const char *text, const char *command, const char *who)
{
	char instead[256], number[GROUPED_SIZE];

	pace_measure(pace);
	fprintf(stderr, "hwprof: %s is stepped, instruction by instruction",
		who);
	if (pace->step_ns)
		fprintf(stderr,
			": %.2f us each here, a small loop runs %s times slower",
			pace->step_ns / 1000,
			grouped(pace->slowdown + 0.5, number));
	else
		fprintf(stderr, " and runs far slower");
	if (find_instead(event, text, instead, sizeof(instead)))
		fprintf(stderr, "; for 1 %% of its time: hwprof %s -e %s",
			command, instead);
	fputc('\n', stderr);
}

double pace_burst_rate(struct pace *pace, const struct hwprof_event *event)
{
	uint64_t burst = hwprof_event_field(event, "burst");
	uint64_t permille = hwprof_event_field(event, "budget_permille");

	if (!burst || !permille)
		return 0;
	pace_measure(pace);
	if (!pace->step_ns)
		return 0;
	return permille / 1000.0 * 1e9 / (burst * BURST_STEPS * pace->step_ns);
}

void pace_say_bursts(struct pace *pace, const struct hwprof_event *event)
{
	char cost[GROUPED_SIZE], bursts[GROUPED_SIZE], needed[GROUPED_SIZE];
	uint64_t burst = hwprof_event_field(event, "burst");
	double rate = pace_burst_rate(pace, event);

	if (!rate)
		return;
	fprintf(stderr,
		"hwprof: a burst of %u branches costs some %s ms here: %s a second of CPU time for %.1f %%",
		(unsigned int)burst,
		rounded(burst * BURST_STEPS * pace->step_ns / 1e6, cost),
		rounded(rate, bursts),
		hwprof_event_field(event, "budget_permille") / 10.0);
	if (hwprof_event_field(event, "loops"))
		fprintf(stderr,
			"; trip counts of a loop with a tenth of the time, shorter than a burst, are known to a factor of 1.5 after about %s s of it",
			rounded(WINDOWS_WANTED * PARTS / rate, needed));
	fputc('\n', stderr);
}

/* --- counts of sessions --------------------------------------------------- */

static uint64_t read_total(const char *session, const char *name)
{
	char path[512];
	int64_t value;

	snprintf(path, sizeof(path), SESSIONS "/%s/%s", session, name);
	return read_number(path, &value) && value > 0 ? value : 0;
}

void pace_read_totals(struct pace_totals *totals)
{
	DIR *folder = opendir(SESSIONS);
	struct dirent *entry;

	*totals = (struct pace_totals){ .events = 0 };
	while (folder && (entry = readdir(folder))) {
		const char *name = entry->d_name;

		if (name[0] == '.' ||
		    read_total(name, "owner") != (uint64_t)getpid())
			continue;
		totals->events += read_total(name, "events");
		totals->windows += read_total(name, "windows");
		totals->cost_ns += read_total(name, "cost_ns");
		totals->task_ns += read_total(name, "task_ns");
	}
	if (folder)
		closedir(folder);
}
