/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs a random program and samples it. Gives its branch stacks as hardware
 * would record them, and the real branches for the oracle.
 */
#ifndef HWPROF_TEST_RUN_H
#define HWPROF_TEST_RUN_H

#include "stacks.h"
#include "tests/engine/machine.h"
#include "tests/oracle/oracle.h"

enum { RUN_STACK = 32 };

struct run_style {
	unsigned int branches;	/* average number from one sample to the next */
	bool types;		/* stacks contain the kinds of branches */
	bool kernel;		/* stacks contain the kernel's side of system
				 * calls */
};

/* Oldest first. */
struct run_entry {
	struct perf_branch_entry entry;
	struct stream_event event;	/* kind 0: enters or leaves the
					 * kernel */
};

struct run {
	struct run_style style;
	struct machine machine;
	uint64_t random;
	struct run_entry entries[RUN_STACK];
	unsigned int count;
	struct oracle *oracle;		/* NULL: not needed */
	/* Receives the same events as the oracle; may be NULL. */
	void (*see)(void *context, const struct stream_event *event);
	void *context;
	uint64_t branches;		/* number in all stacks */
};

void run_init(struct run *run, const struct program *program,
	      const struct run_style *style, uint64_t seed, uint32_t space,
	      struct oracle *oracle);

/* Runs up to the next sample, and gives its stack to the oracle as well. */
void run_sample(struct run *run, struct perf_branch_entry *newest_first);

/*
 * Writes an ELF file with the program's code at its addresses minus 0x400000.
 */
void run_write_object(const struct program *program, const char *path);

#endif /* HWPROF_TEST_RUN_H */
