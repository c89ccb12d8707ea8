// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many processes, which daemon_storms.sh lets hwprofd see.
 *
 * crowd short SECONDS PROGRAM	runs it again and again; prints how often
 * crowd cgroups FOLDER N SECONDS
 *				makes N cgroups in FOLDER, each with a process
 *				that works now and then; prints how many did
 * crowd bomb SECONDS		each process forks as often as it is allowed to;
 *				prints how often the first one was not
 * crowd files PID N		limits the descriptors of PID to N
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static int fail(const char *what)
{
	perror(what);
	return 1;
}

static int run_short(double seconds, char *program)
{
	char *const argv[] = { program, NULL };
	double end = now() + seconds;
	long count = 0;
	pid_t pid;

	for (; now() < end; count++) {
		errno = posix_spawn(&pid, program, NULL, NULL, argv, argv + 1);
		if (errno || waitpid(pid, NULL, 0) != pid)
			return fail(program);
	}
	printf("%ld\n", count);
	return 0;
}

/* Works for a moment each second, for so long. */
static void work(double seconds)
{
	double end = now() + seconds;
	volatile unsigned int i;

	while (now() < end) {
		for (i = 0; i < 100000; i++)
			;
		sleep(1);
	}
	_exit(0);
}

static int join(const char *folder, int number)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%d", folder, number);
	if (mkdir(path, 0755) && errno != EEXIST)
		return fail(path);
	strcat(path, "/cgroup.procs");
	file = fopen(path, "w");
	if (!file || fputs("0\n", file) < 0 || fclose(file))
		return fail(path);
	return 0;
}

static int run_cgroups(const char *folder, int count, double seconds)
{
	int i, status, failed = 0;
	pid_t pid;

	for (i = 0; i < count; i++) {
		pid = fork();
		if (pid < 0)
			return fail("fork");
		if (pid)
			continue;
		if (join(folder, i))
			_exit(1);
		work(seconds);
	}
	while (wait(&status) > 0)
		failed += status != 0;
	printf("%d\n", count - failed);
	return failed != 0;
}

static int bomb(double seconds)
{
	double end = now() + seconds;
	pid_t first = getpid();
	long refused = 0;

	signal(SIGCHLD, SIG_IGN);
	while (now() < end) {
		if (fork() >= 0)
			continue;
		refused++;
		usleep(1000);
	}
	if (getpid() == first)
		printf("%ld\n", refused);
	return 0;
}

static int limit_files(pid_t pid, unsigned long count)
{
	struct rlimit limit;

	if (prlimit(pid, RLIMIT_NOFILE, NULL, &limit))
		return fail("prlimit");
	limit.rlim_cur = count;
	return prlimit(pid, RLIMIT_NOFILE, &limit, NULL) ? fail("prlimit") : 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "short"))
		return run_short(atof(argv[2]), argv[3]);
	if (argc == 5 && !strcmp(argv[1], "cgroups"))
		return run_cgroups(argv[2], atoi(argv[3]), atof(argv[4]));
	if (argc == 3 && !strcmp(argv[1], "bomb"))
		return bomb(atof(argv[2]));
	if (argc == 4 && !strcmp(argv[1], "files"))
		return limit_files(atoi(argv[2]), atol(argv[3]));
	fprintf(stderr, "usage: see crowd.c\n");
	return 2;
}
