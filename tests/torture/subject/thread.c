// SPDX-License-Identifier: GPL-2.0-only
/* Threads. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "subject.h"

enum { THREADS = 8, LOCK_ROUNDS = 50 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t total;

static void *add(void *rounds)
{
	long i;

	for (i = 0; i < (long)rounds; i++) {
		uint64_t work = subject_work(20);

		pthread_mutex_lock(&lock);
		total += work;
		pthread_mutex_unlock(&lock);
	}
	return rounds;
}

void subject_threads(void)
{
	pthread_t threads[THREADS];
	void *result;
	long i;

	for (i = 0; i < THREADS; i++)
		expect(!pthread_create(&threads[i], NULL, add,
				       (void *)LOCK_ROUNDS));
	for (i = 0; i < THREADS; i++) {
		expect(!pthread_join(threads[i], &result));
		expect(result == (void *)LOCK_ROUNDS);
	}
	printf("total %llx\n", (unsigned long long)total);
}

void subject_thread_storm(void)
{
	pthread_t thread;
	int i;

	for (i = 0; i < 60; i++) {
		expect(!pthread_create(&thread, NULL, add, (void *)1));
		if (i & 1)
			pthread_join(thread, NULL);
		else
			pthread_detach(thread);
	}
	for (i = 0; i < 1000; i++) {
		pthread_mutex_lock(&lock);
		if (total == 60 * subject_work(20))
			i = 1000;
		pthread_mutex_unlock(&lock);
		usleep(1000);
	}
	printf("total %llx\n", (unsigned long long)total);
}

/* Moves from one CPU to the next. */
void subject_affinity(void)
{
	int cpus = sysconf(_SC_NPROCESSORS_CONF), i;
	uint64_t sum = 0;
	cpu_set_t set;

	for (i = 0; i < 40; i++) {
		CPU_ZERO(&set);
		CPU_SET(i % cpus, &set);
		expect(!sched_setaffinity(0, sizeof(set), &set));
		sum += subject_work(50);
	}
	printf("sum %llx\n", (unsigned long long)sum);
}

/*
 * Runs more processes than CPUs, of different weight, which are often
 * preempted.
 */
void subject_sleepers(void)
{
	pid_t pids[6];
	int i, j;

	for (i = 0; i < 6; i++) {
		pids[i] = fork();
		if (pids[i])
			continue;
		expect(nice(3 * i) >= 0);
		for (j = 0; j < 30; j++) {
			subject_work(100);
			if (i & 1)
				sched_yield();
			else
				usleep(100);
		}
		_exit(i);
	}
	for (i = 0; i < 6; i++)
		subject_wait(pids[i], "sleeper");
}
