// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures what filters and masks save: instructions of the whole machine for
 * each branch that is stepped, of profiles of everything, of one function, and
 * of what passes a mask. The function has one of 20 branches, and all loads.
 *
 * It needs a machine of one CPU whose time is derived from instructions (vm
 * --icount --smp 1), where an instruction takes 2 ns. Exit status 1: the
 * profile of one function costs more than its goal, or a mask more than it
 * saves.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../kselftest/device.h"
#include "../kselftest/edges.h"
#include "icount.h"

enum {
	TIMES		= 3,
	OTHERS		= 19,		/* runs of other code, each as long */
	BRANCHES	= 4 * EDGES_ROUNDS * (OTHERS + 1),
	LOADS		= 40000,
	GOAL		= 10,		/* percent */
	MASK_GOAL	= 102,		/* the same */
};

/* ../kselftest/x86/edges.S */
void edges_run(void);
extern const char edge_odd_ret[];

static long long *took;			/* shared with the child */

/* Loops of loops: as many branches as those of edges_run(). */
static __attribute__((noinline)) void other_run(void)
{
	unsigned long left = EDGES_ROUNDS, inner;

	__asm__ volatile("1: mov $3, %1\n2: dec %1\n\tjnz 2b\n\t"
			 "nop\n\tjmp 3f\n\tnop\n3: dec %0\n\tjnz 1b"
			 : "+r"(left), "=&r"(inner));
}

static void branches_run(void)
{
	int i;

	edges_run();
	for (i = 0; i < OTHERS; i++)
		other_run();
}

/* Loads, a store and a branch in turn. */
static void loads_run(void)
{
	unsigned long left = LOADS / 4, data = 1, value;

	__asm__ volatile("1: mov %2, %1\n\tadd %2, %1\n\tmov %2, %1\n\t"
			 "cmp %2, %1\n\tmov %1, %2\n\tdec %0\n\tjnz 1b"
			 : "+r"(left), "=&r"(value), "+m"(data));
}

static void (*run)(void) = branches_run;

static void work(void *context)
{
	long long best = 1LL << 62, start;
	int i;

	(void)context;
	for (i = 0; i < TIMES; i++) {
		start = icount_now();
		run();
		start = icount_now() - start;
		best = start < best ? start : best;
	}
	*took = best;
}

static void __attribute__((noreturn)) give_up(const char *what, int error)
{
	fprintf(stderr, "filters: %s: %s\n", what, strerror(error));
	exit(2);
}

/* Steps the work. Returns instructions for each branch or load. */
static double measure(struct perf_event_attr *attr, const char *filter)
{
	struct child child = child_start(work, NULL);
	int event = event_open(attr, child.pid, -1, -1, 0);

	if (event < 0)
		give_up("an event", -event);
	if (filter && ioctl(event, PERF_EVENT_IOC_SET_FILTER, filter))
		give_up(filter, errno);
	ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
	child_go(&child);
	waitpid(child.pid, NULL, 0);
	close(event);
	return (double)*took / NS_PER_INSTRUCTION /
	       (run == branches_run ? BRANCHES : LOADS);
}

/* @mask: NULL: none */
static double measure_session(unsigned long profile, const char *filter,
			      const struct hwprof_mask *mask)
{
	struct hwprof_config config = device_config(profile);
	int fd = device_open(&config);
	struct perf_event_attr attr;
	double cost;

	if (fd < 0)
		give_up("a session", -fd);
	if (mask && ioctl(fd, HWPROF_IOC_MASK, mask))
		give_up("a mask", errno);
	attr = device_feeder(&config);
	cost = measure(&attr, filter);
	close(fd);
	return cost;
}

/* Returns true if the filter saves too little. */
static int compare(const char *name, unsigned long profile, double alone)
{
	unsigned long begin = (unsigned long)edges_run;
	double all = measure_session(profile, NULL, NULL) - alone, one;
	char filter[80];

	snprintf(filter, sizeof(filter), "filter 0x%lx/0x%lx", begin,
		 (unsigned long)edge_odd_ret + 1 - begin);
	one = measure_session(profile, filter, NULL) - alone;
	printf("%-16s %8.1f %8.1f  %5.1f %%  (at most %d)\n", name, all, one,
	       100 * one / all, GOAL);
	return 100 * one > GOAL * all;
}

/* Masks for code with branches, and for code with loads. */
static const struct masked {
	const char *name;
	unsigned long profile;
	struct hwprof_mask mask;
} masks[] = {
	{ "edges, calls", EVENT_EDGES, { .kinds = 1 << HWPROF_BRANCH_CALL } },
	{ "edges, a quarter", EVENT_EDGES,
	  { .flags = HWPROF_MASK_HASH, .ip_mask = 3 } },
}, load_masks[] = {
	{ "values, no load", EVENT_VALUES, { .kinds = HWPROF_MASK_BRANCHES } },
	{ "values, no class", EVENT_VALUES,
	  { .classes = 1 << HWPROF_CLASS_STRING } },
	{ "values, no value", EVENT_VALUES,
	  { .kinds = 1 << HWPROF_KIND_LOAD, .value_mask = ~0ULL } },
};

/* Returns true if the mask costs more than it saves. */
static bool compare_masked(const struct masked *masked, double alone)
{
	double all = measure_session(masked->profile, NULL, NULL) - alone, some;
	struct hwprof_mask mask = masked->mask;

	mask.size = sizeof(mask);
	mask.flags |= HWPROF_MASK_SET;
	some = measure_session(masked->profile, NULL, &mask) - alone;
	printf("%-16s %8.1f %8.1f  %5.1f %%\n", masked->name, all, some,
	       100 * some / all);
	return 100 * some > MASK_GOAL * all;
}

static bool compare_all(const struct masked *masked, size_t count, double alone)
{
	bool over = false;

	for (; count; count--, masked++)
		over |= compare_masked(masked, alone);
	return over;
}

int main(void)
{
	struct perf_event_attr attr = event_attr(EVENT_EDGES | EVENT_STEP);
	double alone;
	int over;

	took = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	/* The machine may still be busy with its start. */
	measure(&attr, NULL);
	alone = measure(&attr, NULL);
	printf("instructions for each branch: stepping and counting %.1f\n",
	       alone);
	printf("more than that:  everything  one function\n");
	over = compare("edges", EVENT_EDGES, alone);
	over |= compare("loops", EVENT_LOOPS, alone);
	over |= compare("paths", EVENT_PATHS, alone);
	printf("more than that:  everything  what passes a mask\n");
	over |= compare_all(masks, sizeof(masks) / sizeof(masks[0]), alone);
	run = loads_run;
	alone = measure(&attr, NULL);
	printf("instructions for each load: stepping and counting %.1f\n",
	       alone);
	printf("more than that:  everything  what passes a mask\n");
	over |= compare_all(load_masks,
			    sizeof(load_masks) / sizeof(load_masks[0]), alone);
	return over;
}
