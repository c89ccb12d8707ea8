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

#define COND(f, t)	{ .kind = STREAM_COND, .from = f, .to = t, .space = 1 }
#define JUMP(f, t)	{ .kind = STREAM_JUMP, .from = f, .to = t, .space = 1 }
#define INDIRECT(f, t)	{ .kind = STREAM_INDIRECT, .from = f, .to = t, .space = 1 }
#define CALL(f, t)	{ .kind = STREAM_CALL, .from = f, .to = t, .space = 1 }
#define RET(f, t)	{ .kind = STREAM_RET, .from = f, .to = t, .space = 1 }
#define SYSCALL(f, t)	{ .kind = STREAM_SYSCALL, .from = f, .to = t, .space = 1 }
#define SIGNAL(f, t)	{ .kind = STREAM_SIGNAL, .from = f, .to = t, .space = 1 }
#define SIGRETURN(f, t)	{ .kind = STREAM_SIGRETURN, .from = f, .to = t, .space = 1 }
#define GAP(t)		{ .kind = STREAM_GAP, .to = t, .space = 1 }

#endif /* TESTS_ENGINE_TRACE_H */
