/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of the kernel that are not exported. A kprobe finds them when the
 * module is loaded. docs/architecture.md gives a reason for each.
 */
#ifndef HWPROF_SYMBOL_H
#define HWPROF_SYMBOL_H

#include <linux/kprobes.h>
#include <linux/types.h>

/* X(name, what is missing without it) */
#define HWPROF_SYMBOLS(X)						       \
	X(perf_event_overflow,						       \
	  "samples are neither throttled nor counted by "		       \
	  "PERF_EVENT_IOC_REFRESH")					       \
	X(perf_event_exit_task,						       \
	  "rows about processes of CPUs and cgroups may be later than "	       \
	  "perf's report of their exit")				       \
	X(perf_ioctl,							       \
	  "rows do not come when an event is disabled, but at the end of "     \
	  "the interval")						       \
	X(task_work_cancel_match,					       \
	  "a thread that sleeps in the kernel can keep the module loaded "     \
	  "after its events are closed")

enum symbol {
#define X(name, without)	SYMBOL_##name,
	HWPROF_SYMBOLS(X)
#undef X
	SYMBOLS
};

/*
 * Return the address of a function. If it cannot be found, return NULL and warn
 * in the kernel's log.
 */
void *symbol_find(enum symbol symbol);

/*
 * Call @handler at each entry of a function, until symbol_unprobe(). Warn as
 * above if the function cannot be found; then the handler is never called.
 */
void symbol_probe(enum symbol symbol, kprobe_pre_handler_t handler);
void symbol_unprobe(enum symbol symbol);

/*
 * Print for sysfs: "yes", or a line for each missing function. Return the
 * length.
 */
ssize_t symbols_show(char *page);

#endif /* HWPROF_SYMBOL_H */
