/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The time of a CPU in which it runs something. Events of a whole CPU are active
 * while it idles, too, and what they cost is a share of what runs.
 */
#ifndef HWPROF_BUSY_H
#define HWPROF_BUSY_H

#include <linux/types.h>

void busy_init(void);

/*
 * Idle time is told apart from the first busy_get() to the last busy_put(), on
 * all CPUs. Returns 0 or an errno. Process context.
 */
int busy_get(void);
void busy_put(void);

/* This CPU's, in ns: local_clock() that stands still while the CPU idles. */
u64 busy_clock(void);

/* Does it stand still? */
bool busy_is_idle(void);

#endif /* HWPROF_BUSY_H */
