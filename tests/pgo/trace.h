/* SPDX-License-Identifier: GPL-2.0-only */
/* The trace that jumps.so writes and cut reads. */
#ifndef TESTS_PGO_TRACE_H
#define TESTS_PGO_TRACE_H

#include <stdint.h>

/* A taken branch of a program, in order. */
struct pgo_branch {
	uint64_t from, to;
	uint32_t kind;			/* enum hwprof_branch_kind */
	uint32_t instructions;		/* since the branch before, with this */
};

#endif /* TESTS_PGO_TRACE_H */
