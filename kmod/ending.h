/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs that an exec or an exit is just ending, and since when. */
#ifndef HWPROF_ENDING_H
#define HWPROF_ENDING_H

#include <linux/types.h>

/**
 * ending_note() - Note that current's program is ending
 * @key: space_key() of the program.
 * @now: local_clock(), before perf reports the exec or exit.
 *
 * Whoever claims a record of this program later finds the note. A record that
 * was claimed before can be found when this returns. Of two notes of a program,
 * the first counts.
 *
 * Context: any but NMIs.
 */
void ending_note(u64 key, u64 now);

/**
 * ending_since() - Look whether current's program is ending
 * @key: space_key() of the program.
 *
 * Context: any, NMIs too.
 * Return: the time of its note; 0 if there is none, or if another program has
 * taken its place.
 */
u64 ending_since(u64 key);

#endif /* HWPROF_ENDING_H */
