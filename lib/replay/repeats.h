/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Repeated branch stacks. Programs spend their time in loops, so most stacks of
 * a recording equal an earlier one, branch for branch. Each is kept once. It is
 * fed to the engine when it first occurs. Repetitions are only counted, and
 * later fed at once.
 *
 * The table has a fixed size. A stack in it keeps the kinds of branches with
 * which it was fed, even if the sites that these were inferred for are evicted.
 *
 * Stacks with equal hashes count as equal without comparing their branches; see
 * hash().
 */
#ifndef HWPROF_REPEATS_H
#define HWPROF_REPEATS_H

#include "sites.h"

/* Feeds a stack @times times. */
typedef void (*repeats_feed)(void *context, const struct stack *stack,
			     const uint8_t *kinds, uint32_t times);

struct repeats;
struct repeat;

/* Returns NULL if out of memory. */
struct repeats *repeats_new(repeats_feed feed, void *context);
void repeats_free(struct repeats *repeats);

/*
 * If there is room, keeps the @branches of a stack until it is taken: sets its
 * `repeat`, and points its `branches` at them, as branches_read() returns them.
 */
void repeats_hold(struct repeats *repeats, struct stack *stack,
		  struct byte_reader branches);

/*
 * Takes a held stack. Returns true if it repeats another, and was counted.
 * Otherwise the caller feeds it, and calls repeats_fed().
 */
bool repeats_take(struct repeats *repeats, const struct stack *stack);

/* Allows repetitions of a stack that was fed with these @kinds. */
void repeats_fed(struct repeats *repeats, const struct stack *stack,
		 const uint8_t *kinds);

/* Returns true if counted repetitions wait to be fed. */
bool repeats_wait(const struct repeats *repeats);

/*
 * Feeds all counted repetitions, because what follows may change their effect.
 */
void repeats_flush(struct repeats *repeats);

/* Does the same. Each stack must then be fed again before it can repeat. */
void repeats_restart(struct repeats *repeats);

#endif /* HWPROF_REPEATS_H */
