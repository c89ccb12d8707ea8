/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs a program by single steps of ptrace and reports each branch that it
 * takes, from its entry on, so that recordings of real code need no module.
 */
#ifndef HWPROF_TEST_STEPPING_H
#define HWPROF_TEST_STEPPING_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct stepping {
	/* A branch at @from was taken to @to; @kind: HWPROF_BRANCH_*. */
	void (*branch)(void *context, uint64_t from, uint64_t to,
		       unsigned int kind);
	/* The process is about to exit, and still has its maps. */
	void (*exiting)(void *context, pid_t pid);
	void *context;
};

/* Prints what failed, and exits. */
_Noreturn void stepping_die(const char *what);

/* Runs the program to its end, or exits if that fails. */
void stepping_run(const struct stepping *stepping, char **argv);

/* A mapping of code of a process. */
struct stepping_map {
	uint64_t begin, end, offset;
	char name[2048];
};

/*
 * Reads the next mapping of code from /proc/PID/maps. Returns false after the
 * last one.
 */
int stepping_next_map(FILE *maps, struct stepping_map *map);

#endif /* HWPROF_TEST_STEPPING_H */
