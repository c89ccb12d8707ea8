// SPDX-License-Identifier: GPL-2.0-only
/*
 * Restartable sequences (rseq): a thread that is preempted inside one continues
 * at its abort handler.
 */
#ifdef __x86_64__
#include <pthread.h>
#include <stdlib.h>
#include <sys/rseq.h>

#include "subject.h"

enum { THREADS = 6, ROUNDS = 300, ABORTS = 3, CPUS = 64 };

static uint64_t counts[CPUS];		/* of each CPU, without a lock */
static uint64_t counted, aborted;	/* of all threads, atomic */

/*
 * Reads the CPU's count, waits, and writes the count plus one. If another
 * thread on the CPU counts meanwhile, its count is lost, unless this one starts
 * again. Returns whether it has counted.
 */
static bool count_once(struct rseq *rseq)
{
	asm goto(".pushsection .data\n\t"
		 ".balign 32\n"
		 "3:\n\t"
		 ".long 0, 0\n\t"
		 ".quad 1f, 2f - 1f, 4f\n\t"
		 ".popsection\n\t"
		 ".pushsection .text.unlikely, \"ax\"\n\t"
		 ".byte 0x0f, 0xb9, 0x3d\n\t"	/* an instruction around */
		 ".long %c[signature]\n"	/* the kernel checks it */
		 "4:\n\t"
		 "jmp %l[aborted]\n\t"
		 ".popsection\n\t"
		 "leaq 3b(%%rip), %%rax\n\t"
		 "movq %%rax, %c[place](%[rseq])\n"
		 "1:\n\t"
		 "movl %c[cpu](%[rseq]), %%eax\n\t"
		 "leaq (%[counts], %%rax, 8), %%rax\n\t"
		 "movq (%%rax), %%rdx\n\t"
		 "movl $20, %%ecx\n"
		 "5:\n\t"
		 "decl %%ecx\n\t"
		 "jnz 5b\n\t"
		 "incq %%rdx\n\t"
		 "movq %%rdx, (%%rax)\n"
		 "2:\n\t"
		 "movq $0, %c[place](%[rseq])"
		 : : [rseq] "r" (rseq), [counts] "r" (counts),
		     [signature] "i" (RSEQ_SIG),
		     [place] "i" (offsetof(struct rseq, rseq_cs)),
		     [cpu] "i" (offsetof(struct rseq, cpu_id))
		 : "memory", "cc", "rax", "rcx", "rdx" : aborted);
	return true;
aborted:
	return false;
}

/* Goes on until some sequences were aborted, of any thread. */
static void *count_all(void *unused)
{
	struct rseq *rseq = __builtin_thread_pointer() + __rseq_offset;
	int i;

	expect(rseq->cpu_id < CPUS);
	for (i = 0; i < ROUNDS ||
		    __atomic_load_n(&aborted, __ATOMIC_RELAXED) < ABORTS; i++) {
		while (!count_once(rseq))
			__atomic_fetch_add(&aborted, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&counted, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

void subject_rseq(void)
{
	pthread_t threads[THREADS];
	uint64_t sum = 0;
	int i;

	if (!__rseq_size) {
		puts("skip: no restartable sequences here");
		return;
	}
	for (i = 0; i < THREADS; i++)
		expect(!pthread_create(&threads[i], NULL, count_all, NULL));
	for (i = 0; i < THREADS; i++)
		expect(!pthread_join(threads[i], NULL));
	for (i = 0; i < CPUS; i++)
		sum += counts[i];
	expect(sum == counted && counted >= THREADS * ROUNDS);
	puts("each was counted once");
}
#endif
