/* SPDX-License-Identifier: GPL-2.0-only */
/* What hardware counters are like, where perf does not tell. */
#ifndef HWPROF_COUNTER_H
#define HWPROF_COUNTER_H

/* When the module is loaded; waits for an overflow. */
void counters_init(void);

/* What an overflow is: "NMI", "interrupt", or why there is none: a sentence. */
const char *counters_overflow(void);

#endif /* HWPROF_COUNTER_H */
