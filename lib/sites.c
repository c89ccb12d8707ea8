// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What is inferred where there is no code: a branch that leads 2 to 15 bytes
 * behind the site of an earlier one of its stack returns, and that one was a
 * call. So may jumps by chance, and most of those give themselves away: a line
 * runs over a conditional jump that is not taken, as over no call or return;
 * and one call does not return twice. After a while the kind stays as it is.
 */
#include <errno.h>
#include <stdlib.h>

#include "engine/flow.h"
#include "sites.h"
#include "source/x86/branch_decode.h"

enum {
	WAYS		= 4,
	SET_BITS	= 14,
	CODE_BYTES	= 16,	/* an instruction has up to 15 */
	INFER_MAX	= 256,	/* branches of a stack: it is quadratic */
	LOOKS_MAX	= 256,	/* stacks that a site's kind is inferred from */
	NEAR		= 4096,	/* bytes: within a procedure */
	PROCEDURE_ALIGN	= 16,
};

/* How the kind of a site is known. */
enum evidence {
	EVIDENCE_CODE,		/* from the instruction */
	EVIDENCE_NONE,		/* it may be anything: a jump, so far */
	EVIDENCE_PAIR,		/* a call or return, from a stack */
	EVIDENCE_FINAL,		/* it stays, whatever stacks look like */
};

struct site {
	uint64_t from;		/* 0: free */
	uint32_t program;
	uint8_t kind;
	uint8_t evidence;
	uint16_t looks;
};

struct sites {
	struct site (*sets)[WAYS];
	const struct hwprof_file *file;
	const struct processes *processes;
	struct objects *objects;
	uint64_t inferred;
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
		.file = file, .processes = processes, .objects = objects,
	};
	if (!sites->sets) {
		free(sites);
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
	free(sites);
}

uint64_t sites_inferred(const struct sites *sites)
{
	return sites->inferred;
}

/* --- the table -------------------------------------------------------------- */

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

/* The site that was put in first makes room. */
static struct site *claim(struct sites *sites, uint32_t program, uint64_t from)
{
	struct site *set = set_of(sites, program, from);

	memmove(set + 1, set, (WAYS - 1) * sizeof(*set));
	*set = (struct site){ .from = from, .program = program };
	return set;
}

/* --- from the code ---------------------------------------------------------- */

static uint8_t kind_of_code(const uint8_t *bytes, size_t count, bool is64)
{
	switch (branch_decode(bytes, count, is64).kind) {
	case INSN_COND:
		return STREAM_COND;
	case INSN_JUMP:
		return STREAM_JUMP;
	case INSN_INDIRECT:
		return STREAM_INDIRECT;
	case INSN_CALL:
		return STREAM_CALL;
	case INSN_RET:
		return STREAM_RET;
	}
	return 0;
}

/* 0: there is no code, or no branch is there. -ENOMEM. */
static int decode(const struct sites *sites, const struct stack *stack,
		  uint64_t from)
{
	const struct mapping *mapping;
	uint8_t bytes[CODE_BYTES];
	struct object *object;
	struct build_id id;
	size_t count;
	bool is64;

	mapping = processes_find(sites->processes, stack->pid, stack->time,
				 from);
	if (!mapping)
		return 0;
	id = processes_build_id(sites->file, mapping);
	object = objects_get(sites->objects, mapping->name, &id);
	if (!object)
		return -ENOMEM;
	count = object_x86_code(object, from - mapping->start + mapping->offset,
				bytes, sizeof(bytes), &is64);
	return count ? kind_of_code(bytes, count, is64) : 0;
}

static int look_up(struct sites *sites, const struct stack *stack,
		   uint32_t program, uint64_t from, struct site **site)
{
	/* The kernel's code is not what its file has: it patches itself. */
	int kind = program ? decode(sites, stack, from) : 0;

	if (kind < 0)
		return kind;
	*site = claim(sites, program, from);
	(*site)->kind = kind ? kind : STREAM_JUMP;
	(*site)->evidence = kind ? EVIDENCE_CODE : EVIDENCE_NONE;
	return 0;
}

/* --- from the stack ----------------------------------------------------------- */

static uint32_t program_at(const struct stack *stack, uint64_t address)
{
	return window_in_kernel(address) ? 0 : stack->program;
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
	return site->evidence == EVIDENCE_NONE ||
	       site->evidence == EVIDENCE_PAIR;
}

static void finalize(struct site *site, uint8_t kind)
{
	site->evidence = EVIDENCE_FINAL;
	site->kind = kind;
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

	if (!site || !is_open(site))
		return;
	if (is_passed(stack, site->from))
		finalize(site, STREAM_COND);
	else if (++site->looks == LOOKS_MAX)
		finalize(site, site->kind);
}

/* `jmp test; body: ...; test: jcc body` looks like a call, but for this. */
static bool is_near(const struct window_branch *call,
		    const struct window_branch *ret)
{
	return call->to - call->from < NEAR && ret->from - call->to < NEAR &&
	       call->to % PROCEDURE_ALIGN;
}

static bool is_behind(const struct window_branch *ret,
		      const struct window_branch *call)
{
	return ret->to - call->from - FLOW_CALL_MIN <=
	       FLOW_CALL_MAX - FLOW_CALL_MIN &&
	       !is_near(call, ret);
}

static bool may_be(const struct site *site, uint8_t kind)
{
	if (!site)
		return false;
	return site->evidence == EVIDENCE_NONE || site->kind == kind;
}

static void pair(struct site *call, struct site *ret)
{
	if (call->evidence == EVIDENCE_NONE) {
		call->evidence = EVIDENCE_PAIR;
		call->kind = STREAM_CALL;
	}
	if (ret->evidence == EVIDENCE_NONE) {
		ret->evidence = EVIDENCE_PAIR;
		ret->kind = STREAM_RET;
	}
}

/* A return from a call that had returned: neither is what it seemed. */
static void part(struct site *call, struct site *ret)
{
	if (ret->evidence != EVIDENCE_PAIR)
		return;
	finalize(ret, STREAM_JUMP);
	if (call && call->evidence == EVIDENCE_PAIR) {
		call->evidence = EVIDENCE_NONE;
		call->kind = STREAM_JUMP;
	}
}

/* A return whose call is not in the stack: it is right before the target. */
static void find_caller(struct sites *sites, const struct stack *stack,
			const struct site *ret, uint64_t to)
{
	uint32_t program = program_at(stack, to);
	unsigned int length;

	if (ret->kind != STREAM_RET)
		return;
	for (length = FLOW_CALL_MIN; length <= FLOW_CALL_MAX; length++) {
		struct site *call = find(sites, program, to - length);

		if (!call || !may_be(call, STREAM_CALL))
			continue;
		if (call->evidence == EVIDENCE_NONE) {
			call->evidence = EVIDENCE_PAIR;
			call->kind = STREAM_CALL;
		}
		return;
	}
}

/* Is branch @i of the stack a return from one of the @open calls? */
static uint32_t try_return(struct sites *sites, const struct stack *stack,
			   uint32_t i, const uint32_t *calls, uint32_t open)
{
	const struct window_branch *branches = stack->branches;
	struct site *site = find_at(sites, stack, i);
	uint32_t k;

	if (!may_be(site, STREAM_RET))
		return open;
	for (k = open; k--; ) {
		struct site *call;

		if (!is_behind(&branches[i], &branches[calls[k]]))
			continue;
		call = find_at(sites, stack, calls[k]);
		if (may_be(call, STREAM_CALL)) {
			pair(call, site);
			return k;
		}
	}
	find_caller(sites, stack, site, branches[i].to);
	return open;
}

/* Did branch @i seem to return from a call that returned before? */
static void check_return(struct sites *sites, const struct stack *stack,
			 uint32_t i, const uint32_t *calls, uint32_t open)
{
	const struct window_branch *branches = stack->branches;
	struct site *site = find_at(sites, stack, i);
	uint32_t k, j;

	if (!site || site->kind != STREAM_RET ||
	    site->evidence != EVIDENCE_PAIR)
		return;
	for (j = stack->count; --j > i; ) {
		if (!is_behind(&branches[i], &branches[j]))
			continue;
		for (k = 0; k < open && calls[k] != j; k++)
			;
		if (k == open)
			part(find_at(sites, stack, j), site);
		return;
	}
}

static void infer(struct sites *sites, const struct stack *stack)
{
	uint32_t calls[INFER_MAX], open = 0, i;

	for (i = stack->count; i--; )
		look(sites, stack, i);
	for (i = stack->count; i--; ) {
		uint32_t left = try_return(sites, stack, i, calls, open);

		if (left != open) {
			open = left;
			continue;
		}
		check_return(sites, stack, i, calls, open);
		if (may_be(find_at(sites, stack, i), STREAM_CALL))
			calls[open++] = i;
	}
}

/* --- all of a stack ------------------------------------------------------------ */

/* Does it matter which kind the branch is? */
static bool is_plain(const struct window_branch *branch)
{
	return branch->from && branch->to &&
	       window_in_kernel(branch->from) == window_in_kernel(branch->to);
}

/* The kind of a branch whose site is not in its first place. -ENOMEM. */
static noinline int find_kind(struct sites *sites, const struct stack *stack,
			      const struct window_branch *branch, bool *open)
{
	uint32_t program = program_at(stack, branch->from);
	struct site *site;

	if (!is_plain(branch))
		return STREAM_JUMP;
	site = find(sites, program, branch->from);
	if (!site) {
		int error = look_up(sites, stack, program, branch->from, &site);

		if (error)
			return error;
	}
	sites->inferred += site->evidence != EVIDENCE_CODE;
	*open |= is_open(site);
	return site->kind;
}

/* Most often there is nothing to it. */
static __always_inline int take_kind(struct sites *sites,
				     const struct stack *stack,
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

int sites_kinds(struct sites *sites, const struct stack *stack,
		uint8_t *kinds)
{
	bool open = false;
	uint32_t i;

	for (i = 0; i < stack->count; i++) {
		int kind = take_kind(sites, stack, &stack->branches[i], &open);

		if (unlikely(kind < 0))
			return kind;
		kinds[i] = kind;
	}
	if (likely(!open) || stack->count > INFER_MAX)
		return 0;
	infer(sites, stack);
	for (i = 0; i < stack->count; i++) {
		const struct site *site = find_at(sites, stack, i);

		if (site && !window_kind(stack->branches[i].flags))
			kinds[i] = site->kind;
	}
	return 0;
}
