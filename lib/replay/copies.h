/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds newest branches that a CPU has recorded twice. Intel's CPUs with
 * Skylake's core do so at times; the module's arch_copies_newest_branch() lists
 * them, with a source.
 *
 * A loop of one branch has equal records, too. A record is certainly a copy if
 * no straight line leads from the branch's target back to the branch. Other
 * equal records count as copies only if the recording has certain ones, and if
 * nothing in it so far shows that the branch follows itself.
 */
#ifndef HWPROF_COPIES_H
#define HWPROF_COPIES_H

#include "perfdata/file.h"
#include "straight.h"

struct copies;

/*
 * Makes the state for the recording @file, which names the CPU. Returns NULL if
 * out of memory.
 */
struct copies *copies_new(const struct hwprof_file *file,
			  struct straight_lines *lines);
void copies_free(struct copies *copies);

/*
 * Learns from the @branches of a sample, newest first. All samples of one time
 * must be learnt from before copies_find() is asked about one.
 */
void copies_learn(struct copies *copies, struct byte_reader branches);

/*
 * Sets stack->copied to the number of newest branches that are copies, 0 or 1.
 * Returns 0; 1 if the result for an equal stack may differ; or -ENOMEM.
 */
int copies_find(const struct copies *copies, struct stack *stack);

#endif /* HWPROF_COPIES_H */
