// SPDX-License-Identifier: GPL-2.0-only
/*
 * Extensions of time slices (rseq, Linux 7.0): a thread asks for a bit more
 * time before a critical section. If it is to be preempted there, the kernel
 * grants the time, or takes the request back. A thread that was granted time
 * gives the rest back behind the section.
 */
#ifdef __x86_64__
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "subject.h"

/* Numbers that this machine's headers are too old for. */
enum {
	SLICE_EXTENSION		= 79,	/* PR_RSEQ_SLICE_EXTENSION */
	SLICE_EXTENSION_SET	= 2,
	SLICE_ENABLE		= 1,
	NR_SLICE_YIELD		= 471,	/* rseq_slice_yield */
	RSEQ_FEATURE_SIZE	= 27,	/* AT_RSEQ_FEATURE_SIZE */
	SIZE_OF_OLD		= 32,	/* of libc's struct rseq */
};

enum { THREADS = 4, ANSWERS = 5, WORK = 300 };

/* The kernel's struct rseq is larger than that of this machine's libc. */
union area {
	struct {
		char old[28];
		uint8_t request, granted;
		uint16_t reserved;
	};
	char room[256];
} __attribute__((aligned(256)));

static _Thread_local union area area;

/*
 * Replaces libc's area, which has no room for requests, and lets this thread
 * use extensions. A new thread has none of libc's if the thread that made it
 * has replaced its own. Returns 0 or an errno.
 */
static int enable(void)
{
	struct rseq *old = (void *)((char *)__builtin_thread_pointer() +
				    __rseq_offset);
	unsigned long size = getauxval(RSEQ_FEATURE_SIZE);

	if (!__rseq_size || size <= SIZE_OF_OLD)
		return EOPNOTSUPP;
	if ((int)old->cpu_id >= 0 &&
	    syscall(SYS_rseq, old, SIZE_OF_OLD, RSEQ_FLAG_UNREGISTER, RSEQ_SIG))
		return errno;
	if (syscall(SYS_rseq, &area, size, 0, RSEQ_SIG) ||
	    prctl(SLICE_EXTENSION, SLICE_EXTENSION_SET, SLICE_ENABLE, 0, 0))
		return errno;
	return 0;
}

static bool is_clear(void)
{
	return !__atomic_load_n(&area.request, __ATOMIC_RELAXED) &&
	       !__atomic_load_n(&area.granted, __ATOMIC_RELAXED) &&
	       !area.reserved;
}

/*
 * Runs a critical section. Returns whether the kernel has answered the request.
 */
static bool ask_once(uint64_t expected)
{
	uint64_t work;
	long yielded;

	__atomic_store_n(&area.request, 1, __ATOMIC_SEQ_CST);
	work = subject_work(WORK);
	expect(work == expected);
	if (__atomic_exchange_n(&area.request, 0, __ATOMIC_SEQ_CST))
		return false;
	if (__atomic_load_n(&area.granted, __ATOMIC_SEQ_CST)) {
		yielded = syscall(NR_SLICE_YIELD);
		expect(yielded == 0 || yielded == 1);
	}
	expect(is_clear());
	return true;
}

static void *ask_all(void *unused)
{
	uint64_t expected = subject_work(WORK);
	unsigned int answers = 0;

	expect(!enable());
	expect(syscall(NR_SLICE_YIELD) == 0);	/* nothing was granted */
	while (answers < ANSWERS)
		answers += ask_once(expected);
	expect(is_clear());
	return NULL;
}

/* All threads compete for one CPU. */
static void stay_here(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	expect(!sched_setaffinity(0, sizeof(cpus), &cpus));
}

void subject_slice(void)
{
	pthread_t threads[THREADS];
	int i, error = enable();

	if (error) {
		printf("skip: no extensions of time slices: %s\n",
		       strerror(error));
		return;
	}
	stay_here();
	for (i = 0; i < THREADS; i++)
		expect(!pthread_create(&threads[i], NULL, ask_all, NULL));
	for (i = 0; i < THREADS; i++)
		expect(!pthread_join(threads[i], NULL));
	printf("each of %d threads has had %d answers\n", THREADS, ANSWERS);
}
#endif
