/* SPDX-License-Identifier: GPL-2.0-only */
/* The loops that went on last, for programs that ask what a loop carries. */
#ifndef LOOPS_BPF_H
#define LOOPS_BPF_H

#include "count.bpf.h"

enum { LOOPS = 32 };

struct loops {
	struct loop {
		__u64 head, tail;
		__u64 time;		/* of the last back edge; 0: none */
	} loop[LOOPS];
};

/*
 * Count the loops around both instructions whose back edge was taken at @time
 * or later. Functions that are not static are verified once, and not at each
 * call.
 */
__noinline int loops_around(const struct loops *loops, __u64 ip, __u64 other,
			    __u64 time)
{
	int count = 0;
	__u32 i;

	for (i = 0; loops && i < LOOPS; i++) {
		const struct loop *loop = &loops->loop[i];
		__u64 length = loop->tail - loop->head;

		count += (loop->time >= time) & (ip - loop->head <= length) &
			 (other - loop->head <= length);
	}
	return count;
}

/* Note a branch at @time, if it is a jump back. */
static inline void loops_note(struct loops *loops,
			      const struct hwprof_program_branch *branch,
			      __u64 time)
{
	__u32 i, at = 0;

	if (branch->to > branch->from ||
	    branch->branch > HWPROF_BRANCH_INDIRECT)
		return;
	for (i = 0; i < LOOPS; i++) {
		if (loops->loop[i].tail == branch->from &&
		    loops->loop[i].head == branch->to) {
			at = i;
			break;
		}
		if (loops->loop[i].time < loops->loop[at % LOOPS].time)
			at = i;
	}
	loops->loop[at % LOOPS] = (struct loop) {
		branch->to, branch->from, time,
	};
}

#endif /* LOOPS_BPF_H */
