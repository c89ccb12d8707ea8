// SPDX-License-Identifier: GPL-2.0-only
/*
 * step
 *
 * Steps per second of the same work: by PTRACE_SINGLESTEP, by the step source
 * that only counts, and by it with the loop engine, in one run on one machine.
 * Exit status 1: a ratio is below its goal.
 */
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
	GOAL_ALONE	= 40,
	GOAL_LOOPS	= 25,
};

static const struct profile_mode rows_of_loops = {
	"loops in rows", 1 << 1 | 1 << 8 | 1 << 12, 1, false
};

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

/* Between two stops; then it ends. */
static void work(unsigned int rounds)
{
	volatile uint32_t sum = 0;

	raise(SIGSTOP);
	while (rounds--)
		sum += work_once();
	raise(SIGSTOP);
	_exit(0);
}

/* --- measuring --------------------------------------------------------------- */

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

/* Instructions from stop to stop. */
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

int main(void)
{
	double ptrace_rate = 0, alone_rate = 0, loops_rate = 0, seconds;
	unsigned long fixed, steps;
	double per_round;
	int i;

	fixed = step_by_ptrace(0, &seconds);
	for (i = 0; i < REPEATS; i++) {
		double rate;

		steps = step_by_ptrace(PTRACE_ROUNDS, &seconds);
		rate = steps / seconds;
		per_round = (double)(steps - fixed) / PTRACE_ROUNDS;
		if (rate > ptrace_rate)
			ptrace_rate = rate;
		rate = (fixed + per_round * SOURCE_ROUNDS) /
		       time_source(&count_branches);
		if (rate > alone_rate)
			alone_rate = rate;
		rate = (fixed + per_round * SOURCE_ROUNDS) /
		       time_source(&rows_of_loops);
		if (rate > loops_rate)
			loops_rate = rate;
	}
	printf("work                         %10.0f instructions a round\n",
	       per_round);
	printf("PTRACE_SINGLESTEP            %10.0f steps/s\n", ptrace_rate);
	printf("step source, counting        %10.0f steps/s, %5.1fx (goal %d)\n",
	       alone_rate, alone_rate / ptrace_rate, GOAL_ALONE);
	printf("step source, loops in rows   %10.0f steps/s, %5.1fx (goal %d)\n",
	       loops_rate, loops_rate / ptrace_rate, GOAL_LOOPS);
	return alone_rate < GOAL_ALONE * ptrace_rate ||
	       loops_rate < GOAL_LOOPS * ptrace_rate;
}
