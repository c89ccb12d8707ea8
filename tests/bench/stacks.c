// SPDX-License-Identifier: GPL-2.0-only
/*
 * stacks FILE OBJECT BRANCHES
 *
 * Writes a recording with so many branches, in stacks of 32, of a random
 * program. It writes the program's code to OBJECT. It repeats 8,192 stacks, of
 * which 3,235 are different. This is more repetition than in windows cut at
 * random out of a million branches of a program. (replay.sh has such, too: of
 * 312,500 windows, 14,602 to 149,827 are different.) It is less than in a
 * recording of a Skylake (93 of 3,732).
 */
#include <stdlib.h>
#include <string.h>

#include "../lib/run.h"

enum {
	PID		= 4242,
	STACKS		= 8192,	/* that differ */
	ROUND		= 512,	/* stacks: what perf's default ring holds */
};

static struct perf_branch_entry entries[STACKS][RUN_STACK];

static const struct program_style program_style = {
	.procedures = 200, .depth = 4, .recursion = true, .tail_calls = true,
	.gotos = true, .longjmps = true,
};

static const struct stacks_style stacks_style = {
	.freq = true, .sample_type = PERF_SAMPLE_TIME,
};

static void make_stacks(const char *object)
{
	const struct run_style style = { .branches = 200 };
	struct program *program = program_new(1, &program_style);
	struct run run;
	unsigned int i;

	run_write_object(program, object);
	run_init(&run, program, &style, 1, 1, NULL);
	for (i = 0; i < STACKS; i++)
		run_sample(&run, entries[i]);
	program_free(program);
}

int main(int argc, char **argv)
{
	unsigned long count, i;
	struct stacks stacks;

	if (argc != 4) {
		fprintf(stderr, "usage: stacks FILE OBJECT BRANCHES\n");
		return 2;
	}
	count = strtoul(argv[3], NULL, 0) / RUN_STACK;
	make_stacks(argv[2]);
	stacks_begin(&stacks, argv[1], &stacks_style);
	stacks_comm(&stacks, 1, PID, "random", true);
	stacks_map(&stacks, 2, PID, 0x400000, 1 << 20, 0x1000, argv[2]);
	for (i = 0; i < count; i++) {
		stacks_sample(&stacks, 1000 + 1000 * i, PID,
			      entries[i % STACKS], RUN_STACK);
		if (i % ROUND == ROUND - 1)
			stacks_round(&stacks);
	}
	stacks_end(&stacks);
	return 0;
}
