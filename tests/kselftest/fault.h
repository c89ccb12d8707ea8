/* SPDX-License-Identifier: GPL-2.0-only */
/* Allocations that fail: the kernel's fault injection, for this thread. */
#ifndef FAULT_H
#define FAULT_H

#include <stdbool.h>

/* Once for all: any allocation may fail, in silence. False: none can here. */
bool faults_init(void);

/* From now on the nth allocation of this thread fails; 0: none. */
void fail_nth(int n);

/* Did it come to that? From now on none fails. */
bool failed_nth(void);

#endif /* FAULT_H */
