/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The nodes and back edges of calling context trees (Ammons, Ball, Larus:
 * Exploiting Hardware Performance Counters with Flow and Context Sensitive
 * Profiling, section 4), in a pool of fixed size.
 *
 * A node is named by a keyed hash of its chain of calls, and has that name in
 * every table, in the profile and in rows. So a task can go on in another table
 * in the middle of a call: it names the node that it is in, whether that is
 * there yet or not. And a child is found by its name, where the paper follows a
 * pointer from the call's slot in the caller's record.
 *
 * A node that has told all of its counts in rows says nothing more, and makes
 * room for another one.
 */
#ifndef HWPROF_ENGINE_CCT_TREE_H
#define HWPROF_ENGINE_CCT_TREE_H

#include "flow.h"
#include "../../uapi/linux/hwprof.h"

enum {
	CCT_WAYS	= 8,	/* slots of a set: a cache line */
	CCT_HINTS	= 1024,	/* a power of two */
};

/* A cache line. Counts are of what no row told yet. */
struct cct_node {
	u64 id;			/* 0: free */
	u64 parent;		/* 0: a root. Free: the next one's number */
	u64 callee;
	u64 site;
	union {
		u64 calls;
		u64 weight;	/* of sampled stacks */
	};
	u64 deeper;
	union {
		u64 branches;
		u64 samples;	/* of sampled stacks */
		u64 target;	/* of a back edge */
	};
	u32 space;
	u16 kind;		/* enum hwprof_context_kind */
	u16 untold;		/* of sampled stacks: no row had it yet */
};

#define CCT_NO_NODE	U32_MAX

struct cct_tree {
	struct cct_node *nodes;
	u64 *metrics;		/* of each node, metric_count of them */
	u64 *slots;		/* half an id, a node's number + 1; 0: free */
	u32 node_count;
	u32 metric_count;
	u32 slot_count;		/* a power of two */
	u32 top;		/* nodes from here on were never used, */
	u32 free;		/* and a list of others that are free */
	u32 used;
	u32 hand;		/* the next one to be looked at for its room */
	u64 pending;		/* calls of all nodes, with deeper ones */
	u64 evicted;		/* calls for which there was no room */
	u64 removed;		/* other than before: nodes were taken away */
	u32 hint[CCT_HINTS];	/* numbers of nodes that were found last */
};

/*
 * @memory: @size bytes, 4 KiB or more, that are 0. Nodes are as much larger as
 * @metrics of them take.
 */
void cct_tree_init(struct cct_tree *tree, void *memory, size_t size,
		   u32 metrics);

/* cct_find(), where the hint is of another one. */
struct cct_node *cct_find_slowly(struct cct_tree *tree, u64 id);

/* A node that is not there, with nothing but its id. NULL: there is no room. */
struct cct_node *cct_make(struct cct_tree *tree, u64 id);

/* Takes it away, with what it has not told. */
void cct_remove(struct cct_tree *tree, struct cct_node *node);

/* As after cct_tree_init(): all nodes were removed. */
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

/* The node @id, if it has that number in this tree; else NULL. */
static __always_inline struct cct_node *cct_at(const struct cct_tree *tree,
					       u32 number, u64 id)
{
	struct cct_node *node = &tree->nodes[number];

	return number < tree->top && node->id == id ? node : NULL;
}

/* The node, if it is where the hint says; else NULL. */
static __always_inline struct cct_node *
cct_find_hinted(const struct cct_tree *tree, u64 id)
{
	return cct_at(tree, tree->hint[id >> 32 & (CCT_HINTS - 1)], id);
}

/* NULL: it is not there. */
static __always_inline struct cct_node *cct_find(struct cct_tree *tree, u64 id)
{
	struct cct_node *node = cct_find_hinted(tree, id);

	return likely(node) ? node : cct_find_slowly(tree, id);
}

/* Never 0. Who does not know an ancestor's id cannot choose this one. */
static __always_inline u64 cct_id(u64 parent, u64 site, u64 callee)
{
	return flow_mix(parent, site, callee) | 1;
}

#endif /* HWPROF_ENGINE_CCT_TREE_H */
