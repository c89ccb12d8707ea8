// SPDX-License-Identifier: GPL-2.0-only
/* Processes that fork, and that execute other programs. */
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "subject.h"

extern char **environ;

void subject_nothing(void)
{
}

/* Runs in a child after its exec. */
void subject_told(void)
{
	printf("told: flags %lx\n", read_flags() & TF);
	exit(7);
}

void subject_fork(void)
{
	int i;

	for (i = 0; i < 5; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit((read_flags() & TF) ? 99 : i + 10);
		subject_wait(pid, "fork");
	}
}

static int grow(int depth)
{
	int i, status, sum = 0;

	for (i = 0; depth && i < 2; i++) {
		pid_t pid = fork();

		if (!pid) {
			subject_work(200);
			_exit(grow(depth - 1));
		}
		expect(waitpid(pid, &status, 0) == pid);
		sum += WEXITSTATUS(status);
	}
	return sum + 1;
}

void subject_fork_tree(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(grow(4));
	subject_wait(pid, "tree of 31");
}

void subject_vfork(void)
{
	int i;

	for (i = 0; i < 3; i++) {
		pid_t pid = vfork();

		if (!pid) {
			if (i == 2)
				_exit(5);
			subject_become("told");
		}
		subject_wait(pid, "vfork");
	}
}

void subject_spawn(void)
{
	char *argv[] = { "/proc/self/exe", "told", NULL };
	pid_t pid;

	expect(!posix_spawn(&pid, argv[0], NULL, NULL, argv, environ));
	subject_wait(pid, "spawn");
}

void subject_exec(void)
{
	subject_become("told");
}

static void *exec_told(void *unused)
{
	subject_become("told");
	return NULL;
}

static void *spin(void *unused)
{
	for (;;)
		subject_work(100);
	return NULL;
}

/* Executes from a thread, which becomes the leader; the others are killed. */
void subject_exec_by_thread(void)
{
	pthread_t threads[3];
	int i;

	for (i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, i < 2 ? spin : exec_told,
			       NULL);
	for (;;)
		pause();
}

/* Forks like make: many short processes at a time. */
void subject_children_storm(void)
{
	int i, status, good = 0;

	for (i = 0; i < 40; i++) {
		pid_t pid = i & 1 ? vfork() : fork();

		if (!pid) {
			if (i % 8 == 7)
				subject_become("told");
			_exit(3);
		}
		if (i % 8 == 0)
			while (i > 16 && good < i - 16 && wait(&status) > 0)
				good++;
	}
	while (wait(&status) > 0)
		good++;
	printf("children: %d\n", good);
}
