// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>
#include <string.h>

#include "branches.h"
#include "copies.h"

enum {
	SET_BITS	= 12,
	ENOUGH		= 8,	/* certain copies needed if the CPU is
				 * unknown */
	RARE		= 64,	/* one in that many chances is no accident */
};

struct pair {
	uint64_t from, to;	/* 0, 0: none */
};

struct copies {
	const struct hwprof_file *file;	/* a pipe tells the CPU only later */
	struct straight_lines *lines;
	uint64_t chances;	/* newest branches that cannot follow
				 * themselves */
	uint64_t certain;	/* how many of these were copied */
	struct pair *followers;	/* branches that have followed themselves */
};

struct copies *copies_new(const struct hwprof_file *file,
			  struct straight_lines *lines)
{
	struct copies *copies = calloc(1, sizeof(*copies));

	if (!copies)
		return NULL;
	*copies = (struct copies){
		.file = file, .lines = lines,
		.followers = calloc(1 << SET_BITS, sizeof(*copies->followers)),
	};
	if (!copies->followers) {
		free(copies);
		return NULL;
	}
	return copies;
}

void copies_free(struct copies *copies)
{
	if (!copies)
		return;
	free(copies->followers);
	free(copies);
}

static bool makes_none(const struct copies *copies)
{
	return copies->file->foreign || copies->file->cpu == FILE_CPU_OTHER;
}

static struct pair *place_of(const struct copies *copies,
			     const struct window_branch *branch)
{
	uint64_t hash = (branch->from ^ branch->to << 20) *
			0x9e3779b97f4a7c15ULL;

	return &copies->followers[hash >> (64 - SET_BITS)];
}

/* --- the newest two ----------------------------------------------------- */

/* Returns true if the branch was executed, and both addresses are known. */
static bool is_whole(const struct window_branch *branch)
{
	return branch->from && branch->to &&
	       !(branch->flags & (WINDOW_ABORT | BRANCH_NOT_TAKEN)) &&
	       !window_on_wrong_path(branch);
}

static bool is_pair(const struct window_branch *a,
		    const struct window_branch *b)
{
	return a->from == b->from && a->to == b->to && is_whole(a) &&
	       is_whole(b);
}

/* --- all samples -------------------------------------------------------- */

static void learn_followers(struct copies *copies, struct byte_reader older)
{
	struct window_branch last = { 0 }, branch;

	while (reader_copy(&older, &branch, sizeof(branch))) {
		if (is_pair(&branch, &last))
			*place_of(copies, &branch) =
				(struct pair){ branch.from, branch.to };
		last = branch;
	}
}

void copies_learn(struct copies *copies, struct byte_reader branches)
{
	struct window_branch newest, next;
	struct byte_reader older;

	if (makes_none(copies) ||
	    !reader_copy(&branches, &newest, sizeof(newest)))
		return;
	older = branches;
	if (!reader_copy(&branches, &next, sizeof(next)))
		return;
	if (is_whole(&newest) && window_never_twice(&newest)) {
		copies->chances++;
		copies->certain += is_pair(&newest, &next);
	}
	/* Without certain copies nothing asks for followers. */
	if (copies->certain)
		learn_followers(copies, older);
}

/* --- a stack ------------------------------------------------------------ */

/* Returns true if the CPU has made copies in this recording. */
static bool makes_copies(const struct copies *copies)
{
	uint64_t least = copies->file->cpu == FILE_CPU_COPIES ? 1 : ENOUGH;

	return copies->certain >= least &&
	       copies->certain * RARE >= copies->chances;
}

static bool follows_itself(const struct copies *copies,
			   const struct stack *stack)
{
	const struct window_branch *branches = stack->branches;
	const struct pair *known = place_of(copies, branches);

	return window_copies(branches, stack->count) == 0 ||
	       (known->from == branches->from && known->to == branches->to);
}

/*
 * Returns 1 if the newest branch certainly does not follow itself, 0 if it may,
 * or -ENOMEM.
 */
static int is_certain(const struct copies *copies, const struct stack *stack)
{
	const struct window_branch *newest = stack->branches;
	int answer;

	if (window_never_twice(newest))
		return 1;
	if (!stack->user)
		return 0;
	answer = straight_ask(copies->lines, stack, newest->to, newest->from);
	return answer < 0 ? answer : answer == STRAIGHT_NO;
}

int copies_find(const struct copies *copies, struct stack *stack)
{
	int certain;

	stack->copied = 0;
	if (makes_none(copies) || stack->count < 2 ||
	    !is_pair(&stack->branches[0], &stack->branches[1]))
		return 0;
	certain = is_certain(copies, stack);
	if (certain < 0)
		return certain;
	if (certain) {
		stack->copied = 1;
		return 0;
	}
	if (follows_itself(copies, stack))
		return 0;
	stack->copied = makes_copies(copies);
	return copies->certain != 0;
}
