/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs that an exec or an exit is just ending, and since when. */
#ifndef HWPROF_ENDING_H
#define HWPROF_ENDING_H

#include "moment.h"

/**
 * ending_is_due() - Look whether an exit ends current's program
 *
 * For perf it ends with its first thread, if the others exit, too.
 *
 * Context: any. Current must not have been released yet.
 * Return: true if current exits, and its program ends with it.
 */
bool ending_is_due(void);

/**
 * ending_note() - Note that current's program is ending, before perf reports it
 * @key: space_key() of the program.
 * @clock: the clock to tell it by.
 *
 * Whoever claims a record of this program later finds the note, unless another
 * program has taken its place, or was taking it just now. There are 256 places.
 * A record that was claimed before can be found when this returns. Of two notes
 * of a program, the first counts; of two at once, either.
 *
 * Context: any but NMIs. Current must not have been released yet.
 * Return: the time of the note that counts; the time now if there is no place.
 */
u64 ending_note(u64 key, enum moment_clock clock);

/**
 * ending_since() - Look whether current's program is ending
 * @key: space_key() of the program.
 * @clock: the clock to tell it by.
 *
 * Context: any, NMIs too. Current must not have been released yet.
 * Return: the time of its note; 0 if there is none, or if another program has
 * taken its place.
 */
u64 ending_since(u64 key, enum moment_clock clock);

/**
 * ending_moment() - Tell when current's program ends
 * @key: space_key() of the program.
 *
 * Context: any, NMIs too. Current must not have been released yet.
 * Return: the moment of its note; if there is none, now.
 */
struct moment ending_moment(u64 key);

#endif /* HWPROF_ENDING_H */
