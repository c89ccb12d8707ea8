/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions of ours at the kernel's tracepoints. */
#ifndef HWPROF_PROBE_H
#define HWPROF_PROBE_H

#include <linux/mm_types.h>	/* 7.3's <trace/events/sched.h> needs it */
#include <linux/types.h>
#include <trace/events/sched.h>

struct tracepoint;

/*
 * A line of an array of probes. The kernel calls a probe as it is told, whatever
 * its arguments: a function that is not as the tracepoint's header has it is an
 * error of the build. Others than those of sched need their
 * <trace/events/...>.
 */
#define PROBE(tracepoint, handler) {					       \
	.name		= #tracepoint,					       \
	.function	= handler,					       \
	.is_checked	= sizeof((check_trace_callback_type_##tracepoint(      \
					handler), true)),		       \
}

struct probe {
	const char *name;	/* of the tracepoint; NULL: the last one was before */
	void *function;		/* first argument: NULL; the rest: the tracepoint's */
	struct tracepoint *tracepoint;	/* probes_find() finds it */
	bool is_checked;
};

void probes_find(struct probe *probes);

/* All or none. -EOPNOTSUPP: this kernel lacks one of them. Process context. */
int probes_register(struct probe *probes);

/* None of them runs any more. Process context. */
void probes_unregister(struct probe *probes);

#endif /* HWPROF_PROBE_H */
