/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The time of a CPU in which it runs something. Events of a whole CPU are
 * active while it idles, too, but what they cost is to be a share of what runs.
 */
#ifndef HWPROF_BUSY_H
#define HWPROF_BUSY_H

#include <linux/types.h>

void busy_init(void);

/**
 * busy_get() - Begin to tell idle time apart, on all CPUs
 * Context: process context.
 * Return: 0 or an errno. busy_put() undoes it; the last one ends it.
 */
int busy_get(void);
void busy_put(void);

/*
 * Return this CPU's busy clock, in ns: local_clock() that stands still while
 * the CPU idles.
 */
u64 busy_clock(void);

/* Return true if this CPU's busy clock stands still. */
bool busy_is_idle(void);

#endif /* HWPROF_BUSY_H */
