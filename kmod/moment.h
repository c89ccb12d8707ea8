/* SPDX-License-Identifier: GPL-2.0-only */
/* Moments by the clocks that events of rows may have. */
#ifndef HWPROF_MOMENT_H
#define HWPROF_MOMENT_H

#include <linux/types.h>

struct perf_event_attr;

/* Perf has other clocks, but not for PMUs whose samples are taken in NMIs. */
enum moment_clock {
	MOMENT_LOCAL,		/* local_clock(), perf's own */
	MOMENT_MONOTONIC,	/* CLOCK_MONOTONIC */
	MOMENT_RAW,		/* CLOCK_MONOTONIC_RAW */
	MOMENT_CLOCKS,
};

/* The time by each clock at one moment, in ns. */
struct moment {
	u64 by[MOMENT_CLOCKS];
};

/**
 * moment_clock_of() - Tell an event's clock
 * @attr: what was requested.
 *
 * Return: the clock; MOMENT_LOCAL for one that perf is about to refuse.
 */
enum moment_clock moment_clock_of(const struct perf_event_attr *attr);

/**
 * moment_by() - Read a clock
 * @clock: the clock.
 *
 * Context: any, NMIs too.
 * Return: its time, in ns.
 */
u64 moment_by(enum moment_clock clock);

/**
 * moment_now() - Read all clocks
 *
 * Context: any, NMIs too.
 */
struct moment moment_now(void);

#endif /* HWPROF_MOMENT_H */
