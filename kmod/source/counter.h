/* SPDX-License-Identifier: GPL-2.0-only */
/* Properties of hardware counters that perf does not tell. */
#ifndef HWPROF_COUNTER_H
#define HWPROF_COUNTER_H

/*
 * Find out how counters overflow, when the module is loaded. Wait for an
 * overflow.
 */
void counters_init(void);

/*
 * Return how a counter's overflow arrives: "NMI" or "interrupt". If there is
 * none, return a sentence that says why.
 */
const char *counters_overflow(void);

#endif /* HWPROF_COUNTER_H */
