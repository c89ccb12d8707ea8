/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Branch stacks that repeat. Programs spend their time in loops, so most stacks
 * of a recording were there before, branch for branch. Each is kept once. What
 * it does to loops is found when it is fed first; when it comes again it is only
 * counted, and fed later, once for all of its repetitions.
 *
 * The table has a fixed size. A stack in it keeps the kinds of branches that it
 * was fed with, also where a site had to go that they were inferred for.
 *
 * Stacks with one hash are taken for the same, without a look at their branches:
 * see hash().
 */
#ifndef HWPROF_REPEATS_H
#define HWPROF_REPEATS_H

#include "sites.h"

/* Feeds a stack so many times. */
typedef void (*repeats_feed)(void *context, const struct stack *stack,
			     const uint8_t *kinds, uint32_t times);

struct repeats;
struct repeat;

/* NULL: out of memory. */
struct repeats *repeats_new(repeats_feed feed, void *context);
void repeats_free(struct repeats *repeats);

/*
 * Keeps the @branches of a stack until that is taken: sets its `repeat`, and
 * lets `branches` point to them, as branches_read() gives them. Unless there is
 * no room.
 */
void repeats_hold(struct repeats *repeats, struct stack *stack,
		  struct span branches);

/* Takes a stack that was held. True: it repeats one, and was counted. */
bool repeats_take(struct repeats *repeats, const struct stack *stack);

/* Otherwise the caller feeds it. From now on it is repeated with these @kinds. */
void repeats_fed(struct repeats *repeats, const struct stack *stack,
		 const uint8_t *kinds);

/* Was any counted that is not fed yet? */
bool repeats_wait(const struct repeats *repeats);

/* Feeds all that was counted: what comes next may change what stacks do. */
void repeats_flush(struct repeats *repeats);

/* The same; and each stack is to be fed by the caller again before it repeats. */
void repeats_turn(struct repeats *repeats);

#endif /* HWPROF_REPEATS_H */
