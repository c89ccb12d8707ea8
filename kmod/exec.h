/* SPDX-License-Identifier: GPL-2.0-only */
/* When the execs began that are going on. */
#ifndef HWPROF_EXEC_H
#define HWPROF_EXEC_H

#include <linux/types.h>

/**
 * exec_note() - Note that an exec of current has come to the point of no return
 * @key: space_key() of the program that it ends.
 * @now: local_clock(), before perf reports the exec.
 *
 * Whoever claims a record of this program later finds the note. A record that
 * was claimed before can be found when this returns.
 */
void exec_note(u64 key, u64 now);

/**
 * exec_began() - Look whether an exec is ending current's program
 * @key: space_key() of the program.
 *
 * Context: any, NMIs too.
 * Return: local_clock() when the exec began; 0 if there is none, or if others
 * are going on that are noted in the same place.
 */
u64 exec_began(u64 key);

#endif /* HWPROF_EXEC_H */
