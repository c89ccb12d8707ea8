// SPDX-License-Identifier: LGPL-2.1-or-later
#include "branches.h"

/* Flags of window_branch that are kept. */
#define KEPT	(WINDOW_PREDICTION | WINDOW_ABORT | WINDOW_SPEC_MASK |       \
		 WINDOW_TYPE_MASK << WINDOW_TYPE_SHIFT |		       \
		 WINDOW_CYCLES_MASK << WINDOW_CYCLES_SHIFT)

/* Addresses that stand for an unknown one of that side. */
#define SOMEWHERE_USER		1ULL
#define SOMEWHERE_KERNEL	(~0ULL - 1)

/* Filters that leave out branches, even beside PERF_SAMPLE_BRANCH_ANY. */
#define IN_TRANSACTIONS	(PERF_SAMPLE_BRANCH_IN_TX | PERF_SAMPLE_BRANCH_NO_TX)

/* Filters that select kinds of branches. */
#define KINDS	(PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_ANY_RETURN | \
		 PERF_SAMPLE_BRANCH_IND_CALL | PERF_SAMPLE_BRANCH_ABORT_TX |   \
		 PERF_SAMPLE_BRANCH_COND | PERF_SAMPLE_BRANCH_CALL_STACK |     \
		 PERF_SAMPLE_BRANCH_IND_JUMP | PERF_SAMPLE_BRANCH_CALL)

/* The kernel refuses events without a kind, but perf inject makes them. */
bool branches_all(const struct perf_event_attr *attr)
{
	uint64_t filter = attr->branch_sample_type;

	if (filter & IN_TRANSACTIONS)
		return false;
	return filter & PERF_SAMPLE_BRANCH_ANY || !(filter & KINDS);
}

static uint64_t other_side(uint64_t address)
{
	return window_in_kernel(address) ? SOMEWHERE_USER : SOMEWHERE_KERNEL;
}

/*
 * Returns true if the previous branch, which is the next one in @older, left
 * the side of @address.
 */
static bool was_left(struct byte_reader older, uint64_t address)
{
	struct window_branch branch;

	return !reader_copy(&older, &branch, sizeof(branch)) || !branch.to ||
	       window_in_kernel(branch.to) != window_in_kernel(address);
}

static void read_one(struct stack *stack, struct window_branch *branch,
		     struct byte_reader older)
{
	branch->flags &= KEPT;
	if (!branch->from && branch->to && was_left(older, branch->to))
		branch->from = other_side(branch->to);
	else if (!branch->to && branch->from)
		branch->to = other_side(branch->from);
	if (!window_on_wrong_path(branch) && window_is_dead(branch))
		stack->dead++;
}

void branches_read(struct stack *stack, struct window_branch *to,
		   struct byte_reader from)
{
	struct window_branch *begin = to;

	stack->dead = stack->not_taken = 0;
	while (reader_copy(&from, to, sizeof(*to))) {
		if (to->flags & BRANCH_NOT_TAKEN) {
			stack->not_taken++;
			continue;
		}
		read_one(stack, to++, from);
	}
	stack->count = to - begin;
}
