/* SPDX-License-Identifier: GPL-2.0-only */
/* Hand-written traces: one line per taken branch. */
#ifndef TESTS_ENGINE_TRACE_H
#define TESTS_ENGINE_TRACE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/stream.h"
#include "tests/oracle/oracle.h"

#define SPAN	(1U << 20)

#define TAKEN(branch, f, t) \
	{ .kind = branch, .from = f, .to = t, .space = 1 }
#define COND(f, t)	TAKEN(STREAM_COND, f, t)
#define JUMP(f, t)	TAKEN(STREAM_JUMP, f, t)
#define INDIRECT(f, t)	TAKEN(STREAM_INDIRECT, f, t)
#define CALL(f, t)	TAKEN(STREAM_CALL, f, t)
#define RET(f, t)	TAKEN(STREAM_RET, f, t)
#define SYSCALL(f, t)	TAKEN(STREAM_SYSCALL, f, t)
#define SIGNAL(f, t)	TAKEN(STREAM_SIGNAL, f, t)
#define SIGRETURN(f, t)	TAKEN(STREAM_SIGRETURN, f, t)
#define GAP(t)		{ .kind = STREAM_GAP, .to = t, .space = 1 }

#endif /* TESTS_ENGINE_TRACE_H */
