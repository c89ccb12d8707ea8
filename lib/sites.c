// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What is inferred where there is no code: a branch that leads some bytes
 * behind the site of an earlier one of its stack returns, and that one was a
 * call. So may jumps by chance; most of those are told by their distances, or
 * give themselves away, because a line runs over a conditional jump that is not
 * taken, as over no call or return. On branches of eight programs 94 to 99.9 %
 * of kinds came out right, and 96 % of iterations in loops that there are.
 */
#include <errno.h>
#include <stdlib.h>

#include "sites.h"
#include "source/x86/branch_decode.h"

enum {
	WAYS		= 4,
	SET_BITS	= 14,
	INFER_MAX	= 256,	/* branches of a stack: it is quadratic */
	LOOKS_MAX	= 256,	/* stacks that a site's kind is inferred from */
	CALL_MIN	= 2,	/* bytes of those that compilers make */
	CALL_MAX	= 8,
	CALL_NEAR	= 5,	/* if the procedure is near */
	AHEAD		= 64,	/* bytes: no call leads so little ahead */
	SHORT_JUMP	= 130,
	FAR		= 16384,	/* bytes: out of most procedures */
	LOOKS_LEAST	= 16,	/* before it passes for a jump back */
	PASSED_WEIGHT	= 4,	/* pairs that one line over a site outweighs */
	PASSED_ENOUGH	= 8,	/* such lines settle it */
	NEAR		= 4096,	/* bytes: within a procedure */
	PROCEDURE_ALIGN	= 16,
};

/* How the kind of a site is known. */
enum evidence {
	EVIDENCE_CODE,		/* from the instruction */
	EVIDENCE_OPEN,		/* by what stacks have said so far */
	EVIDENCE_FINAL,		/* it stays, whatever stacks look like */
};

struct site {
	uint64_t from;		/* 0: free */
	uint32_t program;
	uint8_t kind;
	uint8_t evidence;
	uint16_t looks : 15;
	uint16_t no_call : 1;	/* it is none, whatever else */
};

/* A set is a cache line. */
_Static_assert(sizeof(struct site) == 16, "");

/*
 * In how many stacks an open site looked like what. One stack with a record
 * missing says as much against what a site is as a good one says for it, so the
 * kind is what most of them say.
 */
struct votes {
	uint16_t calls, returns;	/* pairs that it was in */
	uint16_t passed;		/* a line ran over it */
};

struct sites {
	struct site (*sets)[WAYS];
	struct votes *votes;		/* one for each site in the sets */
	const struct hwprof_file *file;
	const struct processes *processes;
	struct objects *objects;
};

struct sites *sites_new(const struct hwprof_file *file,
			const struct processes *processes,
			struct objects *objects)
{
	struct sites *sites = calloc(1, sizeof(*sites));
	size_t size = sizeof(*sites->sets) << SET_BITS;

	if (!sites)
		return NULL;
	*sites = (struct sites){
		.sets = aligned_alloc(sizeof(*sites->sets), size),
		.votes = calloc(WAYS << SET_BITS, sizeof(*sites->votes)),
		.file = file, .processes = processes, .objects = objects,
	};
	if (!sites->sets || !sites->votes) {
		sites_free(sites);
		return NULL;
	}
	memset(sites->sets, 0, size);
	return sites;
}

void sites_free(struct sites *sites)
{
	if (!sites)
		return;
	free(sites->sets);
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

/* The site that was put in first makes room. */
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

/* 0: there is no code, or no branch is there. -ENOMEM. */
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
	return count ? insn_stream_kind(branch_decode(bytes, count, is64).kind) :
		       0;
}

static int look_up(struct sites *sites, const struct stack *stack,
		   uint32_t program, uint64_t from, struct site **site)
{
	/* The kernel's code is not what its file has: it patches itself. */
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

/* Can its kind still change? */
static bool is_open(const struct site *site)
{
	return site->evidence == EVIDENCE_OPEN;
}

/* Nothing runs over a call or return, unless a record is missing. */
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
	/* Callers are also told of by stacks that they are not in. */
	if (site->looks >= LOOKS_MAX ||
	    max(votes->calls, votes->returns) >= LOOKS_MAX ||
	    (votes->passed >= PASSED_ENOUGH && is_passed_often(votes)))
		site->evidence = EVIDENCE_FINAL;
}

/* Does a line of the stack run over @address? */
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

/* Another look at a site: is it a conditional jump? */
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
 * `jmp test; body: ...; test: jcc body` looks like a call, but for this. Jumps
 * have 2 bytes, if their target is as near as SHORT_JUMP, or 5 or 6.
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

/* Until much speaks against it, also what speaks for it is to be heard. */
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

/* The stack says of which kind the site is. */
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

/* A return whose call is not in the stack: it is right before the target. */
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

/* Is branch @i of the stack a return from one of the @open calls? */
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

/* Does it matter which kind the branch is? */
static bool is_plain(const struct window_branch *branch)
{
	return branch->from && branch->to &&
	       window_in_kernel(branch->from) == window_in_kernel(branch->to);
}

/*
 * A site that no stack has told of may still be a call or return. Taken for a
 * jump it would make a loop of all that lies between, which everything around
 * enters. So before there is enough to go by, and out of a procedure anyway, it
 * just leads to another place, as a system call may do.
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

/* Did neither code nor stacks say of which @kind it is? */
static bool is_unknown(const struct site *site, int kind)
{
	return kind == STREAM_SYSCALL && site->evidence != EVIDENCE_CODE;
}

/* The kind of a branch whose site is not in its first place. -ENOMEM. */
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

/* Most often there is nothing to it. */
static __always_inline int take_kind(struct sites *sites, struct stack *stack,
				     const struct window_branch *branch,
				     bool *open)
{
	int kind = window_kind(branch->flags);
	const struct site *site;

	if (kind)
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

		if (!site || window_kind(branch->flags))
			continue;
		kinds[i] = kind_of(site, branch);
		stack->unknown += is_unknown(site, kinds[i]);
	}
	return 1;
}
