/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The nodes and recursive edges of calling context trees (Ammons, Ball, Larus:
 * Exploiting Hardware Performance Counters with Flow and Context Sensitive
 * Profiling, section 4), in a pool of fixed size.
 *
 * The id of a node is a keyed hash of its chain of calls. A node has the same
 * id in every table, in the profile and in rows. A task can therefore go on in
 * another table in the middle of a call: it knows its node's id, whether the
 * node exists there or not. A child is found by its id, where the paper follows
 * a pointer from the call's slot in the caller's record.
 *
 * A node whose counts were all told in rows can make room for another one.
 */
#ifndef HWPROF_ENGINE_CCT_TREE_H
#define HWPROF_ENGINE_CCT_TREE_H

#include "flow.h"
#include "../../uapi/linux/hwprof.h"

enum {
	CCT_WAYS	= 8,	/* slots of a set: its tags are one word */
	CCT_HINTS	= 1024,	/* a power of two */
};

/* A node, one cache line. Counts are what no row has told yet. */
struct cct_node {
	u64 id;			/* 0: free */
	/* 0: a root. Free node: number of the next one. */
	u64 parent;
	u64 callee;
	u64 site;
	union {
		u64 calls;
		u64 weight;	/* with sampled stacks */
	};
	u64 deeper;
	union {
		u64 branches;
		u64 samples;	/* with sampled stacks */
		u64 target;	/* recursive edge: id of the ancestor */
	};
	u32 space;
	u16 kind;		/* enum hwprof_context_kind */
	u16 untold;		/* with sampled stacks: in no row yet */
};

#define CCT_NO_NODE	U32_MAX

struct cct_tree {
	struct cct_node *nodes;
	u64 *metrics;		/* metric_count per node */
	u64 key;		/* odd; nobody outside knows it */
	u64 *tags;		/* a byte for each slot of a set; 0: free */
	u32 *numbers;		/* of each slot: its node's */
	u32 node_count;
	u32 metric_count;
	u32 set_count;		/* a power of two */
	u32 top;		/* first node that was never used */
	u32 free;		/* first of the free list, or CCT_NO_NODE */
	u32 used;
	u32 hand;		/* node that cct_free_some() looks at next */
	u64 pending;		/* calls of all nodes, deeper ones included */
	u64 evicted;		/* calls that there was no room for */
	u64 removed;		/* changes whenever a node is removed */
	u32 hint[CCT_HINTS];	/* numbers of nodes found last */
};

/**
 * cct_tree_init() - Make an empty tree
 * @tree: the tree.
 * @memory: zeroed memory for all that the tree points to.
 * @size: bytes of it, 4 KiB or more.
 * @metrics: number of metrics that each node has.
 * @seed: random number.
 */
void cct_tree_init(struct cct_tree *tree, void *memory, size_t size,
		   u32 metrics, u64 seed);

/**
 * cct_find_slowly() - Find a node that the hint does not lead to
 * @tree: the tree.
 * @id: id of the node.
 *
 * Return: the node, or NULL if the tree does not have it.
 */
struct cct_node *cct_find_slowly(struct cct_tree *tree, u64 id);

/**
 * cct_get() - Find a node, or make it
 * @tree: the tree.
 * @id: id of the node.
 *
 * Return: the node, or NULL if there is no room. A node that was made has kind
 * 0, and counts that are 0; the caller sets the rest.
 */
struct cct_node *cct_get(struct cct_tree *tree, u64 id);

/**
 * cct_remove() - Remove a node, with counts that no row has told
 * @tree: the tree.
 * @node: the node.
 */
void cct_remove(struct cct_tree *tree, struct cct_node *node);

/**
 * cct_tree_restart() - Reset a tree whose nodes were all removed
 * @tree: the tree.
 */
void cct_tree_restart(struct cct_tree *tree);

static inline bool cct_is_told(const struct cct_node *node)
{
	return !node->calls && !node->deeper && !node->untold &&
	       (!node->branches || node->kind == HWPROF_CONTEXT_RECURSION);
}

static inline bool cct_has_room(const struct cct_tree *tree)
{
	return tree->used <= tree->node_count / 2;
}

static __always_inline u32 cct_number(const struct cct_tree *tree,
				      const struct cct_node *node)
{
	return node - tree->nodes;
}

static __always_inline u64 *cct_metrics(const struct cct_tree *tree,
					const struct cct_node *node)
{
	return &tree->metrics[(size_t)cct_number(tree, node) *
			      tree->metric_count];
}

static __always_inline void cct_add_metrics(const struct cct_tree *tree,
					    const struct cct_node *node,
					    const u64 *metrics)
{
	u64 *sums = cct_metrics(tree, node);
	u32 i;

	for (i = 0; i < tree->metric_count; i++)
		sums[i] += metrics[i];
}

/* Return the node @id if it has that number in this tree; else NULL. */
static __always_inline struct cct_node *cct_at(const struct cct_tree *tree,
					       u32 number, u64 id)
{
	struct cct_node *node = &tree->nodes[number];

	return number < tree->top && node->id == id ? node : NULL;
}

/* Return the node if it is where the hint says; else NULL. */
static __always_inline struct cct_node *
cct_find_hinted(const struct cct_tree *tree, u64 id)
{
	return cct_at(tree, tree->hint[id >> 32 & (CCT_HINTS - 1)], id);
}

/* Return the node, or NULL if the tree does not have it. */
static __always_inline struct cct_node *cct_find(struct cct_tree *tree, u64 id)
{
	struct cct_node *node = cct_find_hinted(tree, id);

	return likely(node) ? node : cct_find_slowly(tree, id);
}

/*
 * Return an id, which is never 0. Without knowing an ancestor's id, nobody can
 * choose calls that give a certain id.
 */
static __always_inline u64 cct_id(u64 parent, u64 site, u64 callee)
{
	return flow_mix(parent, site, callee) | 1;
}

#endif /* HWPROF_ENGINE_CCT_TREE_H */
