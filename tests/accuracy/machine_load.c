// SPDX-License-Identifier: GPL-2.0-only
/*
 * A machine at work. For some seconds a client asks a server RATE times a
 * second, and the command, a compiler for instance, runs every ten seconds. In
 * between, the machine is idle. The work is the same in each run. Prints how
 * many instructions the machine executed. It needs one CPU whose time is
 * derived from instructions (vm --icount --smp 1).
 *
 * usage: machine_load SECONDS RATE [COMMAND ARG...]
 */
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/icount.h"

enum { WORDS = 4096, COMMAND_SECONDS = 10 };

static const long long second = 1000000000;

/* Returns how long the only CPU was idle, in nanoseconds. */
static long long idle(void)
{
	long long value, sum = 0;
	char line[256];
	FILE *file = fopen("/proc/timer_list", "r");

	if (!file)
		err(1, "/proc/timer_list");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, " .idle_sleeptime : %lld", &value) == 1 ||
		    sscanf(line, " .iowait_sleeptime : %lld", &value) == 1)
			sum += value;
	fclose(file);
	return sum;
}

static void sleep_until(long long time)
{
	const struct timespec then = {
		.tv_sec = time / second, .tv_nsec = time % second,
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, NULL))
		;
}

static int compare(const void *a, const void *b)
{
	uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;

	return (one > other) - (one < other);
}

/* Answers each question, a seed, by the median of numbers made from it. */
static void serve(int socket)
{
	static uint32_t words[WORDS];
	uint32_t seed;
	int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(socket, &seed, sizeof(seed)) == sizeof(seed)) {
		for (i = 0; i < WORDS; i++)
			words[i] = seed = seed * 1664525 + 1013904223;
		qsort(words, WORDS, sizeof(*words), compare);
		if (write(socket, &words[WORDS / 2], sizeof(*words)) < 0)
			break;
	}
	_exit(0);
}

static void ask(int socket, uint32_t seed)
{
	uint32_t answer;

	if (write(socket, &seed, sizeof(seed)) != sizeof(seed) ||
	    read(socket, &answer, sizeof(answer)) != sizeof(answer))
		err(1, "the server is gone");
}

static void run(char **command)
{
	int output, status;
	pid_t child = fork();

	if (!child) {
		output = open("/dev/null", O_WRONLY);
		dup2(output, STDOUT_FILENO);
		execv(command[0], command);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0 || status)
		errx(1, "%s failed", command[0]);
}

int main(int argc, char **argv)
{
	int sockets[2], seconds = argc > 2 ? atoi(argv[1]) : 0;
	int i, rate = argc > 2 ? atoi(argv[2]) : 0;
	long long begin, idled;

	if (seconds <= 0 || rate <= 0) {
		fprintf(stderr,
			"usage: machine_load SECONDS RATE [COMMAND ARG...]\n");
		return 2;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		err(1, "socketpair");
	if (!fork())
		serve(sockets[1]);
	idled = idle();
	begin = icount_now();
	for (i = 0; i < seconds * rate; i++) {
		sleep_until(begin + i * second / rate);
		if (argv[3] && i % (COMMAND_SECONDS * rate) == 0)
			run(argv + 3);
		ask(sockets[0], i);
	}
	sleep_until(begin + seconds * second);
	printf("%lld\n", (icount_now() - begin - (idle() - idled)) /
			 NS_PER_INSTRUCTION);
	return 0;
}
