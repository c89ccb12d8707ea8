// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/kselftest/event.h"
#include "tests/kselftest/fault.h"
#include "tests/kselftest/known.h"
#include "storm.h"

enum {
	CHILDREN	= 2,		/* at a time */
	FAULTS		= 150,		/* allocations of a fork */
	LIVES_US	= 5000,		/* of one that is killed */
};

static void *be_thread(void *unused)
{
	known_run();
	return NULL;
}

static void run_threads(void)
{
	pthread_t thread[2];
	int i, started = 0;

	for (i = 0; i < 2; i++)
		started += !pthread_create(&thread[started], NULL, be_thread,
					   NULL);
	for (i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
}

static void call_kernel(void)
{
	int i;

	for (i = 0; i < 1000; i++)
		syscall(SYS_getppid);
}

/* Lives the life of a child: one of several, at random. */
static void live(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	switch (random() % 5) {
	case 0:
		execl(known_program(), "known", NULL);
		break;
	case 1:
		run_threads();
		break;
	case 2:
		call_kernel();
		break;
	case 3:
		for (;;)		/* until it is killed */
			known_run();
	default:
		known_run();
	}
	_exit(0);
}

/*
 * Forks. Now and then, an allocation of the fork fails. Returns 0 if it fails.
 */
static pid_t fork_maybe(void)
{
	bool fails = random() % 8 == 0;
	unsigned int seed = random();
	pid_t pid;

	if (fails)
		fail_nth(1 + random() % FAULTS);
	pid = fork();
	if (fails)
		fail_nth(0);
	if (pid == 0) {
		srandom(seed);
		live();
	}
	return pid < 0 ? 0 : pid;
}

void storm(void *unused)
{
	pid_t child[CHILDREN] = { 0 };
	int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Openers and the kernel's threads must get on. */
	if (nice(5) < 0)
		_exit(97);
	for (;;) {
		i = random() % CHILDREN;
		if (child[i]) {
			usleep(random() % LIVES_US);
			kill(child[i], SIGKILL);
			waitpid(child[i], NULL, 0);
		}
		child[i] = fork_maybe();
	}
}
