/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Newest branches that a CPU has recorded twice. Intel's CPUs with Skylake's core
 * do so at times; see arch_copies_newest_branch() of the module for which these
 * are and where that is known from.
 *
 * A loop of one branch has equal records, too. A copy is certain where no line
 * leads from the branch's target back to it. Others are taken for copies only
 * where the recording has such certain ones, and nothing in it, so far, shows that
 * the branch follows itself.
 */
#ifndef HWPROF_COPIES_H
#define HWPROF_COPIES_H

#include "file.h"
#include "straight.h"

struct copies;

/* Of the recording @file, which says whose it is. NULL: out of memory. */
struct copies *copies_new(const struct hwprof_file *file,
			  struct straight_lines *lines);
void copies_free(struct copies *copies);

/*
 * Learns from the @branches of a sample, newest first, before any stack of the
 * same time is asked about.
 */
void copies_learn(struct copies *copies, struct span branches);

/*
 * Sets stack->copied: how many of its newest branches are copies, 0 or 1. 0; 1:
 * another such stack may be told otherwise; -ENOMEM.
 */
int copies_find(const struct copies *copies, struct stack *stack);

#endif /* HWPROF_COPIES_H */
