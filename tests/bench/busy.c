// SPDX-License-Identifier: GPL-2.0-only
/*
 * busy COMMAND [ARG...]: runs the command without its output, and prints how
 * many instructions the whole machine executed meanwhile, including the kernel.
 * It needs a machine of one CPU whose time is derived from instructions (vm
 * --icount --smp 1), where an instruction takes 2 ns. Idle time does not count.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "icount.h"

/* Returns the idle time in nanoseconds, from ticks of 10 ms. */
static long long idle(void)
{
	long long ticks = 0, waiting = 0;
	FILE *file = fopen("/proc/stat", "r");

	if (!file || fscanf(file, "cpu %*d %*d %*d %lld %lld", &ticks,
			    &waiting) != 2) {
		perror("busy: /proc/stat");
		exit(2);
	}
	fclose(file);
	return (ticks + waiting) * 1000000000LL / sysconf(_SC_CLK_TCK);
}

static void become(char **command)
{
	int output = open("/tmp/busy.output", O_CREAT | O_WRONLY | O_TRUNC,
			  0600);

	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	execvp(command[0], command);
	_exit(127);
}

int main(int argc, char **argv)
{
	long long start, idled;
	int status;
	pid_t child;

	if (argc < 2) {
		fprintf(stderr, "usage: busy COMMAND [ARG...]\n");
		return 2;
	}
	idled = idle();
	start = icount_now();
	child = fork();
	if (!child)
		become(argv + 1);
	if (child < 0 || waitpid(child, &status, 0) < 0 || status) {
		fprintf(stderr, "busy: %s: status 0x%x\n", argv[1], status);
		return 1;
	}
	printf("%lld\n", (icount_now() - start - (idle() - idled)) /
			 NS_PER_INSTRUCTION);
	return 0;
}
