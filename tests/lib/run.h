/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A random program that runs and is sampled: its branch stacks as hardware
 * would have them, and the same branches as they were, for the oracle.
 */
#ifndef HWPROF_TEST_RUN_H
#define HWPROF_TEST_RUN_H

#include "stacks.h"
#include "tests/engine/machine.h"
#include "tests/oracle/oracle.h"

enum { RUN_STACK = 32 };

struct run_style {
	unsigned int branches;	/* from one sample to the next, on average */
	bool types;		/* stacks have the kinds of branches */
	bool kernel;		/* and the kernel's side of system calls */
};

/* Oldest first. */
struct run_entry {
	struct perf_branch_entry entry;
	struct stream_event event;	/* kind 0: into or out of the kernel */
};

struct run {
	struct run_style style;
	struct machine machine;
	uint64_t random;
	struct run_entry entries[RUN_STACK];
	unsigned int count;
	struct oracle *oracle;		/* NULL: nobody wants to know */
	/* Told the same as the oracle, if it is not NULL. */
	void (*see)(void *context, const struct stream_event *event);
	void *context;
	uint64_t branches;		/* in all stacks */
};

void run_init(struct run *run, const struct program *program,
	      const struct run_style *style, uint64_t seed, uint32_t space,
	      struct oracle *oracle);

/* Runs up to the next sample, and gives its stack to the oracle, too. */
void run_sample(struct run *run, struct perf_branch_entry *newest_first);

/* Writes an ELF file with the program's code at its addresses - 0x400000. */
void run_write_object(const struct program *program, const char *path);

#endif /* HWPROF_TEST_RUN_H */
