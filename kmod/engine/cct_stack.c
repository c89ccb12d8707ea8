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
 * lists are by a hash that nobody outside knows, and have the chain's last call
 * first. Procedures at equal distances, too, are spread as if by chance.
 */
static u16 *cct_stack_list_of(struct cct_stacks *stacks, u64 callee)
{
	u64 hash = hash_product(callee ^ stacks->keys[0], stacks->keys[1] | 1);

	return &stacks->lists[hash * HASH_PRIME >> (64 - CCT_STACK_LIST_BITS)];
}

static void cct_stack_begin_chain(struct cct_stacks *stacks)
{
	memset(stacks->lists, 0, sizeof(stacks->lists));
	stacks->chained = 0;
	stacks->last = 0;
}

/* Add call @at to the chain and to @list, that of its callee. */
static void cct_stack_chain_in(struct cct_stacks *stacks, u16 *list, u32 at)
{
	struct cct_call *call = &stacks->calls[at];

	call->below = stacks->last;
	call->next = *list;
	*list = at;
	stacks->last = at;
	stacks->chained = at;
}

/* Call @at comes next: a back edge leaves the chain above its ancestor. */
static void cct_stack_chain_call(struct cct_stacks *stacks, u32 at)
{
	const struct cct_call *call = &stacks->calls[at];

	if (call->next != CCT_STACK_AGAIN) {
		cct_stack_chain_in(stacks,
				   cct_stack_list_of(stacks, call->callee), at);
		return;
	}
	while (stacks->last != call->below) {
		const struct cct_call *last = &stacks->calls[stacks->last];

		*cct_stack_list_of(stacks, last->callee) = last->next;
		stacks->last = last->below;
	}
	stacks->chained = at;
}

/* Fill in a node that was just made for the call. */
static void cct_stack_set(struct cct_node *node, u32 space,
			  const struct cct_call *call,
			  enum hwprof_context_kind kind)
{
	node->parent = kind == HWPROF_CONTEXT_ROOT ? 0 : call[-1].id;
	node->callee = call->callee;
	node->site = call->site;
	node->space = space;
	node->kind = kind;
	node->untold = true;
}

/* The root's node, as call 0. */
static struct cct_node *cct_stack_begin(struct cct_tree *tree,
					struct cct_stacks *stacks, u32 space)
{
	struct cct_call *root = &stacks->calls[0];
	struct cct_node *node;

	root->id = cct_id(stacks->seed, space, HWPROF_CONTEXT_ROOT);
	if (stacks->space != space || stacks->removed != tree->removed)
		stacks->depth = 0;
	node = cct_at(tree, root->number, root->id);
	if (!node)
		node = cct_get(tree, root->id);
	if (node && !node->kind)
		cct_stack_set(node, space, root, HWPROF_CONTEXT_ROOT);
	stacks->space = space;
	stacks->removed = tree->removed;
	root->number = node ? cct_number(tree, node) : CCT_NO_NODE;
	return node;
}

/*
 * Look for the procedure of a call on the chain, because @edge is new or a back
 * edge. Return the node that the call leads to.
 */
static struct cct_node *cct_stack_turn(struct cct_tree *tree,
				       struct cct_stacks *stacks,
				       struct cct_call *call,
				       struct cct_node *edge)
{
	u16 *list = cct_stack_list_of(stacks, call->callee);
	u32 at = call - stacks->calls;
	const struct cct_call *ancestor;

	while (stacks->chained < at - 1)
		cct_stack_chain_call(stacks, stacks->chained + 1);
	ancestor = &stacks->calls[call->callee ? *list : 0];
	while (ancestor != stacks->calls && ancestor->callee != call->callee)
		ancestor = &stacks->calls[ancestor->next];
	if (ancestor == stacks->calls) {
		if (unlikely(edge->kind))
			return NULL;	/* two ids that are the same */
		cct_stack_set(edge, stacks->space, call, HWPROF_CONTEXT_CALL);
		cct_stack_chain_in(stacks, list, at);
		return edge;
	}
	if (!edge->kind) {
		cct_stack_set(edge, stacks->space, call,
			      HWPROF_CONTEXT_RECURSION);
		edge->target = ancestor->id;
	}
	call->id = ancestor->id;
	call->number = ancestor->number;
	call->below = ancestor - stacks->calls;
	call->next = CCT_STACK_AGAIN;
	return cct_at(tree, call->number, call->id);
}

/*
 * Walk a call whose callers are walked: the paper's cases (section 4.2). Return
 * the node that it leads to, or NULL if there is no room.
 */
static struct cct_node *cct_stack_step(struct cct_tree *tree,
				       struct cct_stacks *stacks,
				       struct cct_call *call)
{
	u64 id = cct_id(call[-1].id, call->site, call->callee);
	struct cct_node *node = cct_find_hinted(tree, id);

	call->id = id;
	if (!node)
		node = cct_get(tree, id);
	if (unlikely(!node))
		return NULL;
	call->number = cct_number(tree, node);
	call->next = 0;
	/*
	 * A node that was made as no back edge stays none: its chain is the
	 * same.
	 */
	if (!node->kind || node->kind == HWPROF_CONTEXT_RECURSION)
		return cct_stack_turn(tree, stacks, call, node);
	return node;
}

/*
 * Call @at of the stack, counted from 1, the outermost. The outermost procedure
 * has no call site.
 */
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
		struct cct_call *call = &stacks->calls[++at];

		call->site = cct_stack_site_at(stack, at);
		call->callee = cct_stack_callee_at(stack, at);
		node = cct_stack_step(tree, stacks, call);
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
