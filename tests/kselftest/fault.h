/* SPDX-License-Identifier: GPL-2.0-only */
/* Failing allocations by the kernel's fault injection, for this thread. */
#ifndef FAULT_H
#define FAULT_H

#include <stdbool.h>

/*
 * Lets any allocation fail silently. Returns false if the kernel cannot do it.
 */
bool faults_init(void);

/* Lets the nth allocation of this thread from now on fail; 0: none. */
void fail_nth(int n);

/* Returns true if it failed, and lets no further one fail. */
bool failed_nth(void);

#endif /* FAULT_H */
