// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Infers kinds of branches without code. A branch that leads some bytes behind
 * the site of an earlier branch of its stack is a return, and the earlier one
 * is a call. Jumps may look the same by chance. Most are recognised by their
 * distance, or because a line runs over the site: lines run over conditional
 * jumps that are not taken, but not over calls or returns. On branches of eight
 * programs, 94 to 99.9 % of the kinds were right, and 96 % of the iterations
 * were in existing loops.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "sites.h"
#include "source/x86/branch_decode.h"

enum {
	WAYS		= 4,
	SET_BITS	= 14,
	INFER_MAX	= 256,	/* branches of a stack; the search is
				 * quadratic */
	LOOKS_MAX	= 256,	/* most stacks that a site's kind is inferred
				 * from */
	CALL_MIN	= 2,	/* length of calls that compilers make, in
				 * bytes */
	CALL_MAX	= 8,
	CALL_NEAR	= 5,	/* length of a direct call */
	AHEAD		= 64,	/* bytes; calls lead farther ahead */
	SHORT_JUMP	= 130,
	FAR		= 16384,	/* bytes; leads out of most
					 * procedures */
	LOOKS_LEAST	= 16,	/* looks before a site counts as a jump back */
	PASSED_WEIGHT	= 4,	/* pairs that one line over a site outweighs */
	PASSED_ENOUGH	= 8,	/* such lines that decide the kind */
	NEAR		= 4096,	/* bytes; within a procedure */
	PROCEDURE_ALIGN	= 16,
};

/* How the kind of a site became known. */
enum evidence {
	EVIDENCE_CODE,		/* from the instruction */
	EVIDENCE_OPEN,		/* from stacks so far */
	EVIDENCE_FINAL,		/* from stacks, and no longer changes */
};

struct site {
	uint64_t from;		/* 0: free */
	uint32_t program;
	uint8_t kind;
	uint8_t evidence;
	uint16_t looks : 15;
	uint16_t no_call : 1;	/* it cannot be a call */
};

/* Four sites make a cache line. */
_Static_assert(sizeof(struct site) == 16, "");

/*
 * How often an open site looked like each kind. One stack with a missing record
 * contradicts as much as a good one confirms, so the majority decides.
 */
struct votes {
	uint16_t calls, returns;	/* pairs that contained it */
	uint16_t passed;		/* lines that ran over it */
};

struct sites {
	struct site (*sets)[WAYS];
	struct votes *votes;		/* one for each site in the sets */
	const struct hwprof_file *file;
	const struct processes *processes;
	struct objects *objects;
};

#define SETS_SIZE	(sizeof(*((struct sites *)NULL)->sets) << SET_BITS)

/*
 * Maps empty sets, of which few may be used. Clearing them would touch all of
 * their pages.
 */
static void *new_sets(void)
{
	void *sets = mmap(NULL, SETS_SIZE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return sets == MAP_FAILED ? NULL : sets;
}

struct sites *sites_new(const struct hwprof_file *file,
			const struct processes *processes,
			struct objects *objects)
{
	struct sites *sites = calloc(1, sizeof(*sites));

	if (!sites)
		return NULL;
	*sites = (struct sites){
		.sets = new_sets(),
		.votes = calloc(WAYS << SET_BITS, sizeof(*sites->votes)),
		.file = file, .processes = processes, .objects = objects,
	};
	if (!sites->sets || !sites->votes) {
		sites_free(sites);
		return NULL;
	}
	return sites;
}

void sites_free(struct sites *sites)
{
	if (!sites)
		return;
	if (sites->sets)
		munmap(sites->sets, SETS_SIZE);
	free(sites->votes);
	free(sites);
}

/* --- the table ---------------------------------------------------------- */

static struct site *set_of(const struct sites *sites, uint32_t program,
			   uint64_t from)
{
	uint64_t hash = (from ^ (uint64_t)program << 40) *
			0x9e3779b97f4a7c15ULL;

	return sites->sets[hash >> (64 - SET_BITS)];
}

static struct site *find(const struct sites *sites, uint32_t program,
			 uint64_t from)
{
	struct site *site = set_of(sites, program, from);
	int way;

	for (way = 0; way < WAYS; way++, site++)
		if (site->from == from && site->program == program)
			return site;
	return NULL;
}

static struct votes *votes_of(const struct sites *sites,
			      const struct site *site)
{
	return sites->votes + (site - (struct site *)sites->sets);
}

/* Makes room for a site by evicting the oldest. */
static struct site *claim(struct sites *sites, uint32_t program, uint64_t from)
{
	struct site *set = set_of(sites, program, from);
	struct votes *votes = votes_of(sites, set);

	memmove(set + 1, set, (WAYS - 1) * sizeof(*set));
	memmove(votes + 1, votes, (WAYS - 1) * sizeof(*votes));
	*set = (struct site){ .from = from, .program = program };
	*votes = (struct votes){ 0 };
	return set;
}

/* --- from the code ------------------------------------------------------ */

/* Returns the kind; 0 if there is no code, or no branch in it; or -ENOMEM. */
static int decode(const struct sites *sites, const struct stack *stack,
		  uint64_t from)
{
	const struct mapping *mapping;
	uint8_t bytes[INSN_MAX];
	struct object *object;
	size_t count;
	bool is64;

	mapping = processes_find(sites->processes, stack->pid, stack->time,
				 from);
	if (!mapping)
		return 0;
	object = processes_object(sites->objects, sites->file, mapping);
	if (!object)
		return -ENOMEM;
	count = object_x86_code(object, from - mapping->start + mapping->offset,
				bytes, sizeof(bytes), &is64);
	return count ? insn_stream_kind(branch_decode(bytes, count, is64).kind)
		     : 0;
}

static int look_up(struct sites *sites, const struct stack *stack,
		   uint32_t program, uint64_t from, struct site **site)
{
	/* The kernel patches its code, which thus differs from its file. */
	int kind = program && !stack->guest ? decode(sites, stack, from) : 0;

	if (kind < 0)
		return kind;
	*site = claim(sites, program, from);
	(*site)->kind = kind ? kind : STREAM_JUMP;
	(*site)->evidence = kind ? EVIDENCE_CODE : EVIDENCE_OPEN;
	return 0;
}

/* --- from the stack ----------------------------------------------------- */

static uint32_t program_at(const struct stack *stack, uint64_t address)
{
	return stack_space(stack, window_in_kernel(address));
}

static struct site *find_at(const struct sites *sites,
			    const struct stack *stack, uint32_t i)
{
	uint64_t from = stack->branches[i].from;

	return find(sites, program_at(stack, from), from);
}

/* Returns true if its kind may still change. */
static bool is_open(const struct site *site)
{
	return site->evidence == EVIDENCE_OPEN;
}

/* Lines run over a call or return only if a record is missing. */
static bool is_passed_often(const struct votes *votes)
{
	return PASSED_WEIGHT * votes->passed >
	       max(votes->calls, votes->returns);
}

static void decide(struct site *site, const struct votes *votes)
{
	if (is_passed_often(votes))
		site->kind = STREAM_COND;
	else if (votes->calls >= votes->returns && votes->calls)
		site->kind = STREAM_CALL;
	else if (votes->returns)
		site->kind = STREAM_RET;
	/* Callers also get votes from stacks that do not contain them. */
	if (site->looks >= LOOKS_MAX ||
	    max(votes->calls, votes->returns) >= LOOKS_MAX ||
	    (votes->passed >= PASSED_ENOUGH && is_passed_often(votes)))
		site->evidence = EVIDENCE_FINAL;
}

/* Returns true if a line of the stack runs over @address. */
static bool is_passed(const struct stack *stack, uint64_t address)
{
	uint32_t i;

	for (i = 0; i + 1 < stack->count; i++) {
		uint64_t begin = stack->branches[i + 1].to;
		uint64_t end = stack->branches[i].from;

		if (begin <= address && address < end && end - begin < NEAR)
			return true;
	}
	return false;
}

/* Counts another look at a site: is it a conditional jump? */
static void look(struct sites *sites, const struct stack *stack, uint32_t i)
{
	struct site *site = find_at(sites, stack, i);
	struct votes *votes;

	if (!site || !is_open(site))
		return;
	votes = votes_of(sites, site);
	if (stack->branches[i].to - site->from < AHEAD)
		site->no_call = true;
	votes->passed += is_passed(stack, site->from);
	site->looks++;
	decide(site, votes);
}

static bool within(uint64_t a, uint64_t b, uint64_t distance)
{
	return a - b + distance < 2 * distance;
}

/*
 * Recognises `jmp test; body: ...; test: jcc body`, which looks like a call.
 * Jumps have 2 bytes for targets nearer than SHORT_JUMP, otherwise 5 or 6.
 */
static bool is_jump_and_back(const struct window_branch *call,
			     const struct window_branch *ret)
{
	uint64_t length = ret->to - call->from;

	if (!within(call->to, call->from, NEAR) ||
	    !within(ret->from, call->to, NEAR))
		return false;
	if (call->to % PROCEDURE_ALIGN)
		return true;
	if (length == 2)
		return within(call->to, call->from, SHORT_JUMP);
	return length > CALL_NEAR;
}

static bool is_behind(const struct window_branch *ret,
		      const struct window_branch *call)
{
	return ret->to - call->from - CALL_MIN <= CALL_MAX - CALL_MIN &&
	       !is_jump_and_back(call, ret);
}

/* Returns true unless the votes clearly contradict the kind. */
static bool may_be(const struct sites *sites, const struct site *site,
		   uint8_t kind)
{
	const struct votes *votes;
	unsigned int own, other;

	if (!site)
		return false;
	if (!is_open(site))
		return site->kind == kind;
	if (kind == STREAM_CALL && site->no_call)
		return false;
	votes = votes_of(sites, site);
	own = kind == STREAM_CALL ? votes->calls : votes->returns;
	other = kind == STREAM_CALL ? votes->returns : votes->calls;
	return other <= 2 * (own + 1) && votes->passed <= own + 1;
}

/* Counts a vote of the stack for a kind of the site. */
static void tell(const struct sites *sites, struct site *site, uint8_t kind)
{
	struct votes *votes;

	if (!is_open(site))
		return;
	votes = votes_of(sites, site);
	if (kind == STREAM_CALL)
		votes->calls++;
	else
		votes->returns++;
	decide(site, votes);
}

/*
 * Finds the call of a return whose call is not in the stack: it is directly
 * before the target.
 */
static void find_caller(struct sites *sites, const struct stack *stack,
			const struct site *ret, uint64_t to)
{
	uint32_t program = program_at(stack, to);
	unsigned int length;

	if (ret->kind != STREAM_RET)
		return;
	for (length = CALL_MIN; length <= CALL_MAX; length++) {
		struct site *call = find(sites, program, to - length);

		if (may_be(sites, call, STREAM_CALL)) {
			tell(sites, call, STREAM_CALL);
			return;
		}
	}
}

/*
 * Checks whether branch @i of the stack returns from one of the @open calls.
 * Returns the number of calls that remain open.
 */
static uint32_t try_return(struct sites *sites, const struct stack *stack,
			   uint32_t i, const uint32_t *calls, uint32_t open)
{
	const struct window_branch *branches = stack->branches;
	struct site *site = find_at(sites, stack, i);
	uint32_t k;

	if (!may_be(sites, site, STREAM_RET))
		return open;
	for (k = open; k--; ) {
		struct site *call;

		if (!is_behind(&branches[i], &branches[calls[k]]))
			continue;
		call = find_at(sites, stack, calls[k]);
		if (may_be(sites, call, STREAM_CALL)) {
			tell(sites, call, STREAM_CALL);
			tell(sites, site, STREAM_RET);
			return k;
		}
	}
	find_caller(sites, stack, site, branches[i].to);
	return open;
}

static void infer(struct sites *sites, const struct stack *stack)
{
	uint32_t calls[INFER_MAX], open = 0, i;

	for (i = stack->count; i--; )
		look(sites, stack, i);
	for (i = stack->count; i--; ) {
		uint32_t left = try_return(sites, stack, i, calls, open);

		if (left != open)
			open = left;
		else if (may_be(sites, find_at(sites, stack, i), STREAM_CALL))
			calls[open++] = i;
	}
}

/* --- all of a stack ----------------------------------------------------- */

/* Returns true if the kind of the branch matters. */
static bool is_plain(const struct window_branch *branch)
{
	return branch->from && branch->to &&
	       window_in_kernel(branch->from) == window_in_kernel(branch->to);
}

/*
 * Returns the kind of a branch. A site without votes may still be a call or a
 * return. As a jump back it would make a loop of everything in between, which
 * all code around would enter. Without enough looks, or if it leads out of a
 * procedure, it therefore counts as a mere change of place, like a system call.
 */
static int kind_of(const struct site *site, const struct window_branch *branch)
{
	bool back = branch->to <= branch->from;

	if (site->kind != STREAM_JUMP || site->evidence == EVIDENCE_CODE)
		return site->kind;
	if (!within(branch->to, branch->from, FAR) ||
	    (back && site->looks < LOOKS_LEAST))
		return STREAM_SYSCALL;
	return STREAM_JUMP;
}

/* Returns true if neither code nor stacks told the @kind. */
static bool is_unknown(const struct site *site, int kind)
{
	return kind == STREAM_SYSCALL && site->evidence != EVIDENCE_CODE;
}

/*
 * Finds the kind of a branch whose site is not first in its set. Returns the
 * kind or -ENOMEM.
 */
static noinline int find_kind(struct sites *sites, struct stack *stack,
			      const struct window_branch *branch, bool *open)
{
	uint32_t program = program_at(stack, branch->from);
	struct site *site;
	int kind;

	if (!is_plain(branch))
		return STREAM_JUMP;
	site = find(sites, program, branch->from);
	if (!site) {
		int error = look_up(sites, stack, program, branch->from, &site);

		if (error)
			return error;
	}
	stack->inferred += site->evidence != EVIDENCE_CODE;
	*open |= is_open(site);
	kind = kind_of(site, branch);
	stack->unknown += is_unknown(site, kind);
	return kind;
}

/*
 * Returns the kind of a branch; 0: it was an exception, whatever the code at
 * its address is. This is the fast path.
 */
static __always_inline int take_kind(struct sites *sites, struct stack *stack,
				     const struct window_branch *branch,
				     bool *open)
{
	int kind = window_kind(branch->flags);
	const struct site *site;

	if (kind || window_is_exception(branch->flags))
		return kind;
	site = set_of(sites, stack->program, branch->from);
	if (likely(site->from == branch->from &&
		   site->program == stack->program &&
		   site->evidence == EVIDENCE_CODE))
		return site->kind;
	return find_kind(sites, stack, branch, open);
}

int sites_kinds(struct sites *sites, struct stack *stack, uint8_t *kinds)
{
	bool open = false;
	uint32_t i;

	for (i = 0; i < stack->count; i++) {
		int kind = take_kind(sites, stack, &stack->branches[i], &open);

		if (unlikely(kind < 0))
			return kind;
		kinds[i] = kind;
	}
	if (likely(!open))
		return 0;
	if (stack->count > INFER_MAX)
		return 1;
	infer(sites, stack);
	stack->unknown = 0;
	for (i = 0; i < stack->count; i++) {
		const struct window_branch *branch = &stack->branches[i];
		const struct site *site = find_at(sites, stack, i);

		if (!site || window_kind(branch->flags) ||
		    window_is_exception(branch->flags))
			continue;
		kinds[i] = kind_of(site, branch);
		stack->unknown += is_unknown(site, kinds[i]);
	}
	return 1;
}
