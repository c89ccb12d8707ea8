// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUs without a tick (nohz_full) are not interrupted for sessions whose tasks
 * run elsewhere. Needs a kernel that was booted with such a CPU: see ./run.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "event.h"
#include "known.h"
#include "text.h"

EVENT_ALL_NEED("step")

enum {
	SESSIONS	= 8,
	SECONDS		= 2,
	/* The kernel has a few of its own, such as one tick a second. */
	FEW		= 30,
	PAGES		= 1,		/* of a ring; soon full */
};

FIXTURE(nohz)
{
	int cpu;		/* without a tick */
	struct child child;
	int count, fd[2 * SESSIONS];
	void *ring[2 * SESSIONS];
};

FIXTURE_SETUP(nohz)
{
	char cpus[64] = "";

	text_read("/sys/devices/system/cpu/nohz_full", cpus, sizeof(cpus));
	self->cpu = atoi(cpus);
	if (self->cpu <= 0)
		SKIP(return, "no CPU is without a tick");
	ASSERT_TRUE(event_sessions_are(0));
}

FIXTURE_TEARDOWN(nohz)
{
	while (self->count) {
		munmap(self->ring[--self->count], (1 + PAGES) * getpagesize());
		close(self->fd[self->count]);
	}
	if (self->child.pid) {
		kill(self->child.pid, SIGKILL);
		waitpid(self->child.pid, NULL, 0);
	}
	EXPECT_TRUE(event_sessions_are(0));
}

/* Return a number of a line of /proc/interrupts; CPU 0 has the first one. */
static uint64_t number_of(char *line, int cpu)
{
	char *at = line;

	while (cpu--)
		strtoull(at, &at, 10);
	return strtoull(at, &at, 10);
}

/*
 * Return how many function calls, local timers and irq_works have interrupted
 * the CPU.
 */
static uint64_t interrupts(int cpu)
{
	FILE *file = fopen("/proc/interrupts", "r");
	char line[4096], *name;
	uint64_t sum = 0;

	if (!file)
		event_give_up("/proc/interrupts");
	while (fgets(line, sizeof(line), file)) {
		name = line + strspn(line, " ");
		if (!strncmp(name, "CAL:", 4) || !strncmp(name, "LOC:", 4) ||
		    !strncmp(name, "IWI:", 4))
			sum += number_of(name + 4, cpu);
	}
	fclose(file);
	return sum;
}

static uint64_t interrupts_for_a_while(int cpu)
{
	uint64_t before;

	sleep(1);	/* for what comes with the sessions */
	before = interrupts(cpu);
	sleep(SECONDS);
	return interrupts(cpu) - before;
}

/* Opens events of sessions on the task, one for each CPU, with rings. */
static void open_events(struct __test_metadata *_metadata,
			FIXTURE_DATA(nohz) *self, int sessions)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_CALLS | EVENT_STEP | EVENT_ROWS, 1);
	int cpus[] = { 0, self->cpu }, i, fd;

	attr.disabled = 0;
	for (i = 0; i < 2 * sessions; i++) {
		attr.config1 = EVENT_INTERVAL(1 + i / 2);
		fd = event_open(&attr, self->child.pid, cpus[i % 2], -1, 0);
		ASSERT_LE(0, fd);
		self->fd[self->count] = fd;
		self->ring[self->count] =
			mmap(NULL, (1 + PAGES) * getpagesize(),
			     PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		ASSERT_NE(MAP_FAILED, self->ring[self->count++]);
	}
}

static void run_and_sleep(void *unused)
{
	stay_on(0);
	known_run();
	pause();
}

TEST_F(nohz, tasks_that_sleep)
{
	self->child = child_start(run_and_sleep, NULL);
	open_events(_metadata, self, SESSIONS);
	child_go(&self->child);
	child_await_sleep(&self->child);
	EXPECT_GT(FEW, interrupts_for_a_while(self->cpu));
}

static void run_for_ever(void *unused)
{
	stay_on(0);
	for (;;)
		known_run();
}

/* The other CPU has a ring with room, but nobody reads either. */
TEST_F(nohz, rings_that_are_full)
{
	self->child = child_start(run_for_ever, NULL);
	open_events(_metadata, self, 1);
	child_go(&self->child);
	EXPECT_GT(FEW, interrupts_for_a_while(self->cpu));
}

TEST_HARNESS_MAIN
