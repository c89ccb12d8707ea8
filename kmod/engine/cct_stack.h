/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Contexts from sampled stacks of calls (Ammons, Ball, Larus, section 4): each
 * stack is one chain from the root on, and what the sample weighs is counted in
 * the node at its end. A procedure is on a chain once, as of exact calls
 * (section 4.1): a call of one that is there already is a back edge, and the
 * stack goes on at its node.
 *
 * Most stacks were there before. So each is remembered by a keyed hash of its
 * call sites and of the procedure that runs, wherever in that, with the node
 * that it leads to. Of a stack that is new, only what differs from the last new
 * one is walked.
 */
#ifndef HWPROF_ENGINE_CCT_STACK_H
#define HWPROF_ENGINE_CCT_STACK_H

#include "cct_tree.h"

enum {
	CCT_STACK_MAX	= 512,	/* calls of a stack; of a deeper one the
				 * outermost, and it counts as `deeper` there */
	CCT_STACK_LIST_BITS = 7,
	CCT_STACK_AGAIN	= 0xffff,	/* above each call's number */
};

/* A call of the stack that was walked last, and the node that it led to. */
struct cct_call {
	u64 site;
	u64 callee;
	u64 id;			/* of the node */
	u32 number;		/* its number, where that is right: cct_at() */
	/*
	 * On the chain: the call below it there, and the next one of its list.
	 * 0: the root. A back edge: the ancestor, and CCT_STACK_AGAIN.
	 */
	u16 below;
	u16 next;
};

/* A cache line has four. */
struct cct_known {
	u64 hash;		/* of the stack */
	u32 number;		/* of its node, + 1; 0: free */
	u32 id;			/* half of the node's */
};

struct cct_stacks {
	u64 seed;
	u64 keys[CCT_STACK_MAX + 4];
	struct cct_call calls[CCT_STACK_MAX + 2];	/* [0]: the root */
	u32 depth;		/* calls that are right, besides the root; */
	u32 space;		/* and whose root it is. Kernel: 0 */
	u64 removed;		/* the tree's, when their nodes were there */
	/* Lists of calls; see cct_stack_list_of(). 0: empty. */
	u16 lists[1 << CCT_STACK_LIST_BITS];
	u32 chained;		/* calls that made the lists, */
	u32 last;		/* and where their chain ends */
	struct cct_known *known;
	u32 mask;		/* of its sets */
};

/*
 * Puts what stacks need at the begin of @memory, of @size bytes that are 0, and
 * says how many bytes that takes, a multiple of 64.
 */
size_t cct_stacks_init(struct cct_stacks **stacks, void *memory, size_t size,
		       u64 seed);

/*
 * Counts the stack, if it is known. False: nothing was done: it is to be
 * walked.
 */
bool cct_stack_count(struct cct_tree *tree, struct cct_stacks *stacks,
		     const struct stream_stack *stack);

/* Counts any stack whose procedures are known. */
void cct_stack_walk(struct cct_tree *tree, struct cct_stacks *stacks,
		    const struct stream_stack *stack);

#endif /* HWPROF_ENGINE_CCT_STACK_H */
