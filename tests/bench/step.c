// SPDX-License-Identifier: GPL-2.0-only
/*
 * step
 *
 * Measures steps per second of the same work: by PTRACE_SINGLESTEP, by the step
 * source that only counts, by the step source with the loop engine, and with
 * several engines in one event. All are in one run on one machine. Exit status
 * 1: a ratio is below its goal.
 */
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../torture/profile.h"

enum {
	PTRACE_ROUNDS	= 4,
	SOURCE_ROUNDS	= 400,
	REPEATS		= 3,	/* the best counts */
	STEP_ROWS	= 1 << 8 | 1 << 12,
	LOOPS		= 1 << 1,
	CALLS		= 1 << 2,
	PATHS		= 1 << 3,
	CCT		= 1 << 6,
};

/* goal: a multiple of the steps by PTRACE_SINGLESTEP; 0: no goal. */
static const struct {
	struct profile_mode mode;
	unsigned int goal;
} cases[] = {
	{ { .name = "loops", .config = STEP_ROWS | LOOPS, .period = 1 }, 25 },
	{ { .name = "loops,calls,paths",
	    .config = STEP_ROWS | LOOPS | CALLS | PATHS, .period = 1 }, 0 },
	{ { .name = "loops,calls,paths,cct",
	    .config = STEP_ROWS | LOOPS | CALLS | PATHS | CCT,
	    .period = 1 }, 0 },
};

enum { CASES = sizeof(cases) / sizeof(cases[0]), GOAL_ALONE = 40 };

/* --- the work: sorts, hashes and copies, the same each round -------------- */

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static uint32_t work_once(void)
{
	static int numbers[64], copy[64];
	uint32_t hash = 2166136261u;
	unsigned int i;

	for (i = 0; i < 64; i++)
		numbers[i] = (i * 7919 + 13) % 1009;
	memcpy(copy, numbers, sizeof(copy));
	qsort(copy, 64, sizeof(copy[0]), compare);
	for (i = 0; i < sizeof(copy); i++)
		hash = (hash ^ ((unsigned char *)copy)[i]) * 16777619u;
	return hash;
}

/* Works between two stops, then ends. */
static void work(unsigned int rounds)
{
	volatile uint32_t sum = 0;

	raise(SIGSTOP);
	while (rounds--)
		sum += work_once();
	raise(SIGSTOP);
	_exit(0);
}

/* --- measuring ------------------------------------------------------------ */

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static pid_t start(unsigned int rounds, bool traced)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		if (traced)
			ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		work(rounds);
	}
	waitpid(pid, &status, WUNTRACED);
	return pid;
}

static void finish(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Returns the number of instructions from stop to stop. */
static unsigned long step_by_ptrace(unsigned int rounds, double *seconds)
{
	pid_t pid = start(rounds, true);
	unsigned long steps = 0;
	double begin = now();
	int status;

	do {
		ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
		waitpid(pid, &status, 0);
		steps++;
	} while (WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
	*seconds = now() - begin;
	finish(pid);
	return steps;
}

static double time_source(const struct profile_mode *mode)
{
	pid_t pid = start(SOURCE_ROUNDS, false);
	struct profile *profile = profile_open(mode, pid, false);
	double seconds;
	int status;

	profile_switch(profile, true);
	seconds = now();
	kill(pid, SIGCONT);
	waitpid(pid, &status, WUNTRACED);
	seconds = now() - seconds;
	if (!profile_count(profile)) {
		fprintf(stderr, "step: %s: nothing was counted\n", mode->name);
		exit(2);
	}
	profile_close(profile);
	finish(pid);
	return seconds;
}

static bool print_rate(const char *what, double rate, double ptrace_rate,
		       unsigned int goal)
{
	printf("step source, %-22s %10.0f steps/s, %5.1fx", what, rate,
	       rate / ptrace_rate);
	if (goal)
		printf(" (goal %u)", goal);
	printf("\n");
	return rate >= goal * ptrace_rate;
}

int main(void)
{
	double ptrace_rate = 0, alone_rate = 0, rates[CASES] = { 0 }, seconds;
	unsigned long fixed, steps;
	double per_round, all;
	unsigned int i, k;
	bool met;

	fixed = step_by_ptrace(0, &seconds);
	for (i = 0; i < REPEATS; i++) {
		steps = step_by_ptrace(PTRACE_ROUNDS, &seconds);
		ptrace_rate = fmax(ptrace_rate, steps / seconds);
		per_round = (double)(steps - fixed) / PTRACE_ROUNDS;
		all = fixed + per_round * SOURCE_ROUNDS;
		alone_rate = fmax(alone_rate,
				  all / time_source(&count_branches));
		for (k = 0; k < CASES; k++)
			rates[k] = fmax(rates[k],
					all / time_source(&cases[k].mode));
	}
	printf("work                                %10.0f instructions a round\n",
	       per_round);
	printf("PTRACE_SINGLESTEP                   %10.0f steps/s\n",
	       ptrace_rate);
	met = print_rate("counting", alone_rate, ptrace_rate, GOAL_ALONE);
	for (k = 0; k < CASES; k++)
		met &= print_rate(cases[k].mode.name, rates[k], ptrace_rate,
				  cases[k].goal);
	return !met;
}
