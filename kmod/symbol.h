/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of the kernel that are not exported, which a kprobe finds when the
 * module is loaded. docs/architecture.md has a reason for each.
 */
#ifndef HWPROF_SYMBOL_H
#define HWPROF_SYMBOL_H

#include <linux/types.h>

/* X(name, what is missing without it) */
#define HWPROF_SYMBOLS(X)						       \
	X(perf_event_overflow, "samples are neither throttled nor counted by PERF_EVENT_IOC_REFRESH") \
	X(perf_ioctl, "rows do not come when an event is disabled, but at the end of the interval")

enum symbol {
#define X(name, without)	SYMBOL_##name,
	HWPROF_SYMBOLS(X)
#undef X
	SYMBOLS
};

/* Its address; NULL, and a warning in the kernel's log: it cannot be had. */
void *symbol_find(enum symbol symbol);

/* Whoever probes it itself says whether that worked. Warns if not. */
void symbol_note(enum symbol symbol, bool found);

/* For sysfs: "yes", or a line for each that is missing. Returns its length. */
ssize_t symbols_show(char *page);

#endif /* HWPROF_SYMBOL_H */
