// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures what BPF programs of a session cost: instructions of the whole
 * machine for each event. The program that is stepped has known branches.
 *
 * usage: programs edges.bpf.o
 *
 * It needs a machine of one CPU whose time is derived from instructions (vm
 * --icount --smp 1), where an instruction takes 2 ns. Exit status 1: a program
 * costs more than its goal.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../kselftest/bpf.h"
#include "../kselftest/device.h"
#include "../kselftest/edges.h"
#include "icount.h"

enum {
	TIMES		= 5,
	CALLS		= 20,		/* of edges_run() at a time */
	BRANCHES	= 4 * EDGES_ROUNDS * CALLS,	/* about that many */
	GOAL_EMPTY	= 120,
	GOAL_EDGES	= 320,
	GOAL_UNWANTED	= 1,		/* less than that: 0 */
};

/* ../kselftest/x86/edges.S */
void edges_run(void);

static long long *took;			/* shared with the child */

/* Branches without calls and returns: as many as those of edges_run(). */
static void loop_run(void)
{
	unsigned long left = 4 * EDGES_ROUNDS;

	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(left));
}

static void work(void *run)
{
	long long best = 1LL << 62, start;
	int i, k;

	for (i = 0; i < TIMES; i++) {
		start = icount_now();
		for (k = 0; k < CALLS; k++)
			((void (*)(void))run)();
		start = icount_now() - start;
		best = start < best ? start : best;
	}
	*took = best;
}

static void __attribute__((noreturn)) give_up(const char *what, int error)
{
	fprintf(stderr, "programs: %s: %s\n", what, strerror(-error));
	exit(2);
}

/* Steps the work. Returns instructions for each branch. */
static double measure(struct perf_event_attr *attr, void (*run)(void))
{
	struct child child = child_start(work, run);
	int event = event_open(attr, child.pid, -1, -1, 0);

	if (event < 0)
		give_up("an event", event);
	ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
	child_go(&child);
	waitpid(child.pid, NULL, 0);
	close(event);
	return (double)*took / NS_PER_INSTRUCTION / BRANCHES;
}

/* Measures a session with a program (-1: none) for the kinds. */
static double measure_session(int program, unsigned int kinds,
			      void (*run)(void))
{
	struct hwprof_config config = device_config(1 << 7 /* edges */);
	int fd = device_open(&config), error;
	struct perf_event_attr attr;
	double cost;

	if (fd < 0)
		give_up("a session", fd);
	error = program < 0 ? 0 : bpf_give(fd, program, kinds);
	if (error)
		give_up("a program", error);
	attr = device_feeder(&config);
	cost = measure(&attr, run);
	close(fd);
	return cost;
}

static int empty_program(int verdict)
{
	struct bpf_code code;
	int fd;

	bpf_begin(&code);
	bpf_return(&code, verdict);
	fd = bpf_load(&code, BPF_PROG_TYPE_RAW_TRACEPOINT);
	if (fd < 0)
		give_up("an empty program", fd);
	return fd;
}

static int load_object(const char *path)
{
	struct bpf_object *object = bpf_object__open_file(path, NULL);
	struct bpf_program *program =
		object ? bpf_object__next_program(object, NULL) : NULL;

	if (!program)
		give_up(path, -errno);
	bpf_program__set_type(program, BPF_PROG_TYPE_RAW_TRACEPOINT);
	if (bpf_object__load(object))
		give_up(path, -errno);
	return bpf_program__fd(program);
}

static int print(const char *what, double cost, int goal)
{
	if (!goal)
		return printf("%-48s %8.1f\n", what, cost), 0;
	printf("%-48s %8.1f  (at most %d)\n", what, cost, goal);
	return cost > goal;
}

int main(int argc, char **argv)
{
	struct perf_event_attr attr = event_attr(1 << 7 | 1 << 8);
	const unsigned int branch = 1U << HWPROF_PROGRAM_BRANCH;
	const unsigned int returns = 1U << HWPROF_PROGRAM_RETURN;
	double alone, engine, loop;
	int over = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: programs edges.bpf.o\n");
		return 2;
	}
	took = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	alone = measure(&attr, edges_run);
	engine = measure_session(-1, 0, edges_run);
	loop = measure_session(-1, 0, loop_run);
	printf("instructions for each branch that is stepped\n");
	print("stepping and counting", alone, 0);
	print("edges, more than counting", engine - alone, 0);
	over |= print("an empty program, more than edges",
		      measure_session(empty_program(0), branch, edges_run) -
		      engine, GOAL_EMPTY);
	over |= print("a program of returns, for other branches",
		      measure_session(empty_program(0), returns, loop_run) -
		      loop, GOAL_UNWANTED);
	over |= print("the program edges, more than counting",
		      measure_session(load_object(argv[1]), branch,
				      edges_run) - alone, GOAL_EDGES);
	return over;
}
