/* SPDX-License-Identifier: GPL-2.0-only */
/* An event of a traced program, as trace.c writes it. */
#ifndef TESTS_ACCURACY_TRACE_H
#define TESTS_ACCURACY_TRACE_H

#include <stdint.h>

enum trace_kind {
	TRACE_CALL = 1,
	TRACE_BACK_EDGE,
	TRACE_REFERENCE,	/* to data; `from` is not set */
	TRACE_BRANCH,		/* any that was taken */
};

struct trace_event {
	uint64_t from;		/* address of the instruction */
	uint64_t to;
	uint64_t kind;		/* enum trace_kind */
};

#endif /* TESTS_ACCURACY_TRACE_H */
