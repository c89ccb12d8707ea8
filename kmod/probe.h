/* SPDX-License-Identifier: GPL-2.0-only */
/* The module's functions at tracepoints of the kernel. */
#ifndef HWPROF_PROBE_H
#define HWPROF_PROBE_H

#include <linux/mm_types.h>	/* 7.3's sched.h needs it */
#include <linux/types.h>
#include <trace/events/sched.h>
#include <trace/events/task.h>	/* COMPAT_PREPARE_EXEC() */

struct tracepoint;

/*
 * An element of an array of probes. The kernel calls a probe without checking
 * its type. This macro makes it an error of the build if the function differs
 * from what the tracepoint's header declares. For tracepoints other than
 * sched's, include their <trace/events/...>.
 */
#define PROBE(tracepoint, handler) {					       \
	.name		= #tracepoint,					       \
	.absent		= "this kernel lacks the tracepoint " #tracepoint,     \
	.function	= handler,					       \
	.is_checked	= sizeof((check_trace_callback_type_##tracepoint(      \
					handler), true)),		       \
}

struct probe {
	const char *name;	/* of the tracepoint; NULL: end of the array */
	const char *absent;	/* what to say where it is not found */
	void *function;		/* gets NULL, then the tracepoint's arguments */
	struct tracepoint *tracepoint;	/* set by probes_find() */
	bool is_checked;
};

/**
 * probes_find() - Look for the tracepoints of all probes of an array
 * @probes: the array.
 *
 * Return: NULL, or a sentence that names a tracepoint that this kernel lacks.
 */
const char *probes_find(struct probe *probes);

/**
 * probes_register() - Register all probes of an array, or none
 * @probes: the array.
 *
 * Context: process context.
 * Return: 0 or an errno; -EOPNOTSUPP if this kernel lacks a tracepoint.
 */
int probes_register(struct probe *probes);

/**
 * probes_unregister() - Unregister all probes of an array
 * @probes: the array.
 *
 * No probe runs when this returns.
 *
 * Context: process context.
 */
void probes_unregister(struct probe *probes);

#endif /* HWPROF_PROBE_H */
