// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
#include "cct_stack.h"

enum {
	KNOWN_WAYS	= 4,
	KNOWN_SHARE	= 8,	/* of the memory, for stacks that are known */
};

size_t cct_stacks_init(struct cct_stacks **stacks, void *memory, size_t size,
		       u64 seed)
{
	size_t header = (sizeof(**stacks) + 63) & ~(size_t)63, sets = 1;
	struct cct_known *known = memory + header;
	u64 state = seed;
	u32 i;

	while (2 * sets * KNOWN_WAYS * sizeof(*known) <= size / KNOWN_SHARE)
		sets *= 2;
	*stacks = memory;
	(*stacks)->seed = seed;
	(*stacks)->known = known;
	(*stacks)->mask = sets - 1;
	for (i = 0; i < CCT_STACK_MAX + 4; i++) {
		state += HASH_PRIME;
		(*stacks)->keys[i] = hash_product(state, seed ^ HASH_PRIME);
	}
	return header + sets * KNOWN_WAYS * sizeof(*known);
}

/* --- stacks that are known ---------------------------------------------- */

/*
 * Return a keyed hash of the stack: UMAC's NH, with two sites a product and
 * keys that nobody outside knows. Two stacks that differ have the same sum with
 * a probability of 2^-64, whoever chose them. The hash of the sum is as good,
 * so sites are not compared.
 */
static __always_inline u64 cct_stack_hash_of(const struct cct_stacks *stacks,
					     const struct stream_stack *stack)
{
	const u64 *key = stacks->keys, *site = stack->sites;
	u64 outermost = stack->depth ? site[stack->depth - 1] : 0;
	unsigned __int128 sum;
	u32 i, pairs = stack->depth / 2;

	/*
	 * The fixed part comes first. The odd site makes a pair with nothing.
	 * Half of all stacks have one, so there is no branch on it.
	 */
	sum = (unsigned __int128)(key[0] + ((u64)stack->space << 32 |
					    stack->depth)) *
	      (key[1] + stack->procedure);
	sum += (unsigned __int128)key[2] *
	       (key[3] + (outermost & -(u64)(stack->depth & 1)));
	for (i = 0, key += 4; i < pairs; i++, key += 2, site += 2)
		sum += (unsigned __int128)(key[0] + site[0]) *
		       (key[1] + site[1]);
	return hash_product((u64)sum ^ stacks->seed,
			    (u64)(sum >> 64) ^ HASH_PRIME);
}

static __always_inline struct cct_known *
cct_stack_set_of(const struct cct_stacks *stacks, u64 hash)
{
	return &stacks->known[(hash >> 32 & stacks->mask) * KNOWN_WAYS];
}

/* The node that the stack leads to; NULL: not known, or it is gone. */
static __always_inline struct cct_node *
cct_stack_find_known(const struct cct_tree *tree,
		     const struct cct_stacks *stacks, u64 hash)
{
	const struct cct_known *known = cct_stack_set_of(stacks, hash);
	unsigned int way;

	for (way = 0; way < KNOWN_WAYS; way++, known++) {
		struct cct_node *node = &tree->nodes[known->number - 1];

		if (known->hash == hash && known->number &&
		    known->number <= tree->top && (u32)node->id == known->id)
			return node;
	}
	return NULL;
}

/* Remember where the stack leads to, in place of the oldest one of its set. */
static void cct_remember(const struct cct_tree *tree, struct cct_stacks *stacks,
			 u64 hash, const struct cct_node *node)
{
	struct cct_known *set = cct_stack_set_of(stacks, hash);

	memmove(set + 1, set, (KNOWN_WAYS - 1) * sizeof(*set));
	*set = (struct cct_known) {
		hash, cct_number(tree, node) + 1, node->id,
	};
}

/* --- counting ----------------------------------------------------------- */

static __always_inline void
cct_stack_count_node(struct cct_tree *tree, struct cct_node *node,
		     const struct stream_stack *stack)
{
	node->weight += stack->weight;
	node->samples++;
	tree->pending += stack->weight;
	if (stack->metrics)
		cct_add_metrics(tree, node, stack->metrics);
}

bool cct_stack_count(struct cct_tree *tree, struct cct_stacks *stacks,
		     const struct stream_stack *stack)
{
	struct cct_node *node;

	if (unlikely(stack->depth > CCT_STACK_MAX))
		return false;
	node = cct_stack_find_known(tree, stacks,
				    cct_stack_hash_of(stacks, stack));
	if (!node)
		return false;
	cct_stack_count_node(tree, node, stack);
	return true;
}

/* --- walking ------------------------------------------------------------ */

/*
 * The chain of the calls that are walked, as lists of calls by their callee, so
 * that a deep stack's walk does not search the chain for each of its calls. The
 * lists are by a key that nobody outside knows, and have the chain's last call
 * first.
 */
static u16 *cct_stack_list_of(struct cct_stacks *stacks, u64 callee)
{
	u64 hash = callee * (stacks->keys[0] | 1);

	return &stacks->lists[hash >> (64 - CCT_STACK_LIST_BITS)];
}

static void cct_stack_begin_chain(struct cct_stacks *stacks)
{
	memset(stacks->lists, 0, sizeof(stacks->lists));
	stacks->chained = 0;
	stacks->last = 0;
}

/* Call @at comes next: a back edge leaves the chain above its ancestor. */
static void cct_stack_chain_call(struct cct_stacks *stacks, u32 at)
{
	struct cct_call *call = &stacks->calls[at];
	u16 *list;

	stacks->chained = at;
	if (!call->again) {
		list = cct_stack_list_of(stacks, call->callee);
		call->next = *list;
		*list = at;
		stacks->last = at;
		return;
	}
	while (stacks->last != call->below) {
		const struct cct_call *last = &stacks->calls[stacks->last];

		*cct_stack_list_of(stacks, last->callee) = last->next;
		stacks->last = last->below;
	}
}

/*
 * Return the call that entered @callee and is on the chain of the calls up to
 * @end; 0 if there is none.
 */
static u32 cct_stack_find_on_chain(struct cct_stacks *stacks, u32 end,
				   u64 callee)
{
	u32 found;

	while (stacks->chained < end)
		cct_stack_chain_call(stacks, stacks->chained + 1);
	found = callee ? *cct_stack_list_of(stacks, callee) : 0;
	while (found && stacks->calls[found].callee != callee)
		found = stacks->calls[found].next;
	return found;
}

/* The root's node, as call 0. */
static struct cct_node *cct_stack_begin(struct cct_tree *tree,
					struct cct_stacks *stacks, u32 space)
{
	struct cct_call *root = &stacks->calls[0];
	const struct cct_node like = {
		.id = cct_id(stacks->seed, space, HWPROF_CONTEXT_ROOT),
		.space = space, .kind = HWPROF_CONTEXT_ROOT, .untold = true,
	};
	struct cct_node *node;

	if (stacks->space != space || stacks->removed != tree->removed)
		stacks->depth = 0;
	node = cct_at(tree, root->number, like.id);
	if (!node)
		node = cct_find(tree, like.id);
	if (!node)
		node = cct_make(tree, &like);
	stacks->space = space;
	stacks->removed = tree->removed;
	root->id = like.id;
	root->number = node ? cct_number(tree, node) : CCT_NO_NODE;
	return node;
}

/*
 * Call @at of the stack, whose callers are walked: the paper's cases (section
 * 4.2). The node that it leads to; NULL: there is no room.
 */
static struct cct_node *cct_stack_step(struct cct_tree *tree,
				       struct cct_stacks *stacks, u32 at,
				       u64 site, u64 callee)
{
	struct cct_call *call = &stacks->calls[at], *caller = call - 1;
	struct cct_node like = {
		.id = cct_id(caller->id, site, callee), .parent = caller->id,
		.callee = callee, .site = site, .space = stacks->space,
		.kind = HWPROF_CONTEXT_CALL, .untold = true,
	};
	u32 last = caller->again ? caller->below : at - 1;
	struct cct_node *edge = cct_find(tree, like.id);
	u32 ancestor = 0;

	/*
	 * A node that was made as no back edge stays none: its chain is the
	 * same.
	 */
	if (!edge || edge->kind == HWPROF_CONTEXT_RECURSION)
		ancestor = cct_stack_find_on_chain(stacks, at - 1, callee);
	if (ancestor) {
		like.kind = HWPROF_CONTEXT_RECURSION;
		like.target = stacks->calls[ancestor].id;
	}
	if (!edge)
		edge = cct_make(tree, &like);
	/* Two ids that are the same, or no room. */
	if (unlikely(!edge || (edge->kind == HWPROF_CONTEXT_RECURSION &&
			       !ancestor)))
		return NULL;
	*call = (struct cct_call) {
		.site = site, .callee = callee, .id = like.id,
		.number = cct_number(tree, edge), .below = last,
	};
	if (!ancestor)
		return edge;
	call->id = stacks->calls[ancestor].id;
	call->number = stacks->calls[ancestor].number;
	call->below = ancestor;
	call->again = true;
	return cct_at(tree, call->number, call->id);
}

/* The outermost procedure has no call; @at is counted from 1, outermost. */
static __always_inline u64 cct_stack_site_at(const struct stream_stack *stack,
					     u32 at)
{
	return at == 1 ? 0 : stack->sites[stack->used + 1 - at];
}

static __always_inline u64 cct_stack_callee_at(const struct stream_stack *stack,
					       u32 at)
{
	return at == stack->used + 1 ? stack->procedure :
	       stack->procedures[stack->used - at];
}

/* Return how many of the stack's outer calls are those of the last walk. */
static u32 cct_stack_count_common(const struct cct_stacks *stacks,
				  const struct stream_stack *stack, u32 end)
{
	u32 at;

	for (at = 1; at <= end && at <= stacks->depth; at++) {
		const struct cct_call *call = &stacks->calls[at];

		if (call->site != cct_stack_site_at(stack, at) ||
		    call->callee != cct_stack_callee_at(stack, at))
			break;
	}
	return at - 1;
}

void cct_stack_walk(struct cct_tree *tree, struct cct_stacks *stacks,
		    const struct stream_stack *stack)
{
	u32 end = min(stack->used, (u32)CCT_STACK_MAX) + 1, at;
	struct cct_node *node = cct_stack_begin(tree, stacks, stack->space);

	at = node ? cct_stack_count_common(stacks, stack, end) : 0;
	if (stacks->chained > at)
		cct_stack_begin_chain(stacks);
	if (at)
		node = cct_at(tree, stacks->calls[at].number,
			      stacks->calls[at].id);
	while (node && at < end) {
		at++;
		node = cct_stack_step(tree, stacks, at,
				      cct_stack_site_at(stack, at),
				      cct_stack_callee_at(stack, at));
	}
	stacks->depth = node ? at : 0;
	if (!node) {
		tree->evicted += stack->weight;
	} else if (end <= stack->used) {
		node->deeper += stack->weight;
		tree->pending += stack->weight;
		if (stack->metrics)
			cct_add_metrics(tree, node, stack->metrics);
	} else {
		cct_stack_count_node(tree, node, stack);
		if (stack->depth <= CCT_STACK_MAX)
			cct_remember(tree, stacks,
				     cct_stack_hash_of(stacks, stack), node);
	}
}
