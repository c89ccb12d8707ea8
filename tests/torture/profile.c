// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profile.h"
#include "tap.h"

enum { RING_PAGES = 64, CONFIG_STEP = 1 << 8, CONFIG_ROWS = 1 << 12 };
enum { BRANCHES = 1, LOOPS = 2 };
enum { BURST_NS = 20000, OFTEN_NS = 10000 };	/* from one to the next */

const struct profile_mode count_branches = {
	"branches, counted", BRANCHES, 0, 0, false
};
const struct profile_mode count_back_edges = {
	"back edges, counted", LOOPS, 0, 0, false
};
const struct profile_mode often_in_bursts = {
	"loops in bursts, often", LOOPS | CONFIG_ROWS, 20, OFTEN_NS, false
};

static const struct profile_mode modes[] = {
	{ "branches, counted", BRANCHES, 0, 0, false },
	{ "loops in rows", LOOPS | CONFIG_STEP | CONFIG_ROWS, 0, 1, false },
	{ "branches in rows, on and off", BRANCHES | CONFIG_ROWS, 0, 1, true },
	{ "loops in bursts", LOOPS | CONFIG_ROWS, 20, BURST_NS, false },
	{ "branches, sampled", BRANCHES, 0, 1, false },
	{ "branches in rows", BRANCHES | CONFIG_ROWS, 0, 1, false },
	{ "loops in bursts, on and off", LOOPS | CONFIG_ROWS, 20, BURST_NS,
	  true },
	{ "loops, sampled", LOOPS, 0, 1, false },
	{ "loops, counted, on and off", LOOPS, 0, 0, true },
};

enum { MODES = sizeof(modes) / sizeof(modes[0]) };

unsigned int profile_each = MODES;
static unsigned int turn;

const struct profile_mode *profile_next(void)
{
	return &modes[turn++ % MODES];
}

void profile_begin_with(unsigned int first)
{
	turn = first;
}

struct profile {
	const struct profile_mode *mode;
	int fds[PROFILE_CPUS];
	struct perf_event_mmap_page *rings[PROFILE_CPUS];
	int count;
	pthread_t worker;	/* reads the rings, flickers */
	volatile bool stop;
};

static uint32_t pmu_type(void)
{
	const char *path = "/sys/bus/event_source/devices/hwprof/type";
	FILE *file = fopen(path, "r");
	uint32_t type;

	if (!file || fscanf(file, "%u", &type) != 1)
		tap_bail("%s: %s: is the module loaded?", path,
			 strerror(errno));
	fclose(file);
	return type;
}

static int open_event(const struct profile_mode *mode, pid_t task, int cpu,
		      bool on_exec)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = pmu_type(),
		.config = mode->config,
		.config1 = mode->burst,
		.sample_period = mode->period,
		.sample_type = mode->period ? PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
			       PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW : 0,
		.disabled = 1,
		.inherit = 1,
		.exclude_kernel = 1,
		.enable_on_exec = on_exec,
	};
	int fd = syscall(SYS_perf_event_open, &attr, task, cpu, -1,
			 PERF_FLAG_FD_CLOEXEC);

	/* The thread may have ended, which is no error of hwprof. */
	if (fd < 0 && errno != ESRCH)
		tap_bail("perf_event_open of %s: %s", mode->name,
			 strerror(errno));
	return fd;
}

static void drain(struct perf_event_mmap_page *ring)
{
	uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);

	__atomic_store_n(&ring->data_tail, head, __ATOMIC_RELEASE);
}

static void *work(void *context)
{
	struct profile *profile = context;
	bool on = true;
	int i;

	while (!profile->stop) {
		for (i = 0; i < profile->count; i++)
			if (profile->rings[i])
				drain(profile->rings[i]);
		if (profile->mode->flickers)
			profile_switch(profile, on = !on);
		usleep(profile->mode->flickers ? 300 : 3000);
	}
	return NULL;
}

struct profile *profile_open(const struct profile_mode *mode, pid_t task,
			     bool on_exec)
{
	struct profile *profile = calloc(1, sizeof(*profile));
	int cpus = mode->period ? sysconf(_SC_NPROCESSORS_ONLN) : 1, i;

	profile->mode = mode;
	for (i = 0; i < cpus; i++) {
		int fd = open_event(mode, task, mode->period ? i : -1, on_exec);

		if (fd < 0)
			break;
		profile->fds[profile->count] = fd;
		if (mode->period) {
			void *ring = mmap(NULL, (RING_PAGES + 1) * 4096UL,
					  PROT_READ | PROT_WRITE, MAP_SHARED,
					  fd, 0);

			if (ring == MAP_FAILED)
				tap_bail("ring of %s: %s", mode->name,
					 strerror(errno));
			profile->rings[profile->count] = ring;
		}
		profile->count++;
	}
	if (mode->period || mode->flickers)
		pthread_create(&profile->worker, NULL, work, profile);
	return profile;
}

void profile_switch(struct profile *profile, bool on)
{
	int i;

	for (i = 0; i < profile->count; i++)
		ioctl(profile->fds[i],
		      on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

uint64_t profile_count(const struct profile *profile)
{
	uint64_t sum = 0, value;
	int i;

	for (i = 0; i < profile->count; i++)
		if (read(profile->fds[i], &value, sizeof(value)) ==
		    sizeof(value))
			sum += value;
	return sum;
}

void profile_close(struct profile *profile)
{
	int i;

	profile->stop = true;
	if (profile->worker)
		pthread_join(profile->worker, NULL);
	for (i = 0; i < profile->count; i++) {
		if (profile->rings[i])
			munmap(profile->rings[i], (RING_PAGES + 1) * 4096UL);
		close(profile->fds[i]);
	}
	free(profile);
}
