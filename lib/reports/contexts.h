/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From rows to calling context trees: contexts.c sums the rows of a file and
 * places them in objects. The rows come from the file, or from the engine that
 * replays its call stacks (chains.c). context_tree.c builds one tree for all
 * processes, callers.c inverts it, and contexts_json.c writes it.
 */
#ifndef HWPROF_CONTEXTS_H
#define HWPROF_CONTEXTS_H

#include "base/row_origin.h"
#include "base/json.h"
#include "profile/profile.h"

/* The rows of one id in one session, summed. */
struct collected_context {
	struct row_origin origin;
	uint32_t kind;
	uint64_t id, parent, target;
	uint64_t callee, site;
	uint64_t calls, deeper, branches;	/* samples have weight and
				 * number in the last two */
	uint64_t metrics[HWPROF_METRICS_MAX];	/* in the order of
					 * facts.metrics */
	struct collected_context *up;	/* row of the parent; NULL: none */
	size_t node;			/* number of its node + 1; 0: none
					 * yet */
	bool nowhere;			/* a sample where no code is known */
};

/* A node of the tree. Its number is its index in the tree's array. */
struct context_node {
	struct hwprof_context context;
	struct object *object;		/* of the procedure; NULL: unknown */
	struct object *site_object;
	uint64_t site;			/* address in the site's object */
	uint64_t last;			/* time of the last row */
	size_t file;			/* as struct location has it */
	size_t parent;			/* number of the parent; SIZE_MAX:
					 * none */
	size_t target;
};

struct context_tree {
	struct context_node *nodes;	/* parents before their children */
	size_t count, room;
	size_t *slots;			/* hash table of number + 1 */
	size_t slot_count;		/* a power of two */
};

struct hwprof_contexts {
	struct hwprof_profile profile;
	struct context_tree tree;
	struct hwprof_context **order;	/* in the order of the report */
	struct hwprof_context_statistics statistics;
	struct metrics metrics;
	int places[HWPROF_METRICS_MAX];	/* index in `metrics` of each metric of
					 * the file; below 0: none */
	double samples;			/* stacks in the tree, as if of equal
					 * weights; 0: they are not sampled, or
					 * the tree is inverted */
	uint64_t orphans;		/* calls of the file whose callers' rows
					 * are missing */
};

extern const struct profile_kind contexts_kind;

/* Adds a row of time @time, without metrics. Returns 0 or -ENOMEM. */
int contexts_add_row(struct hwprof_profile *profile,
		     const struct hwprof_row_context *row, uint64_t time);

/*
 * Returns the number of the node of @id, a context of the file that is being
 * read. The node must have been placed. Returns SIZE_MAX if there is none.
 */
size_t contexts_node(const struct hwprof_profile *profile, uint32_t session,
		     uint64_t id);

/*
 * Finds or adds the node with the kind, place and caller of @node: its kind,
 * address, pid, file, comm (of roots), object, site, site_object and parent.
 * Returns its number, or SIZE_MAX if out of memory.
 */
size_t context_tree_get(struct context_tree *tree,
			const struct context_node *node);
/* Computes the sums over subtrees (the fields all_*). */
void context_tree_sum(struct context_tree *tree);
/*
 * Fills @turned with the inversion of @tree for the functions that @profile
 * wants; see hwprof_contexts_turned(). The nodes of @tree have names and sums.
 * Returns 0 or -ENOMEM; in callers.c.
 */
int context_tree_turn(const struct context_tree *tree,
		      const struct hwprof_profile *profile,
		      struct context_tree *turned);
/*
 * Sets shares and depths, and lists children behind their parents, the largest
 * shares first. Returns 0 or -ENOMEM.
 */
int context_tree_order(struct context_tree *tree,
		       struct hwprof_context ***order);
int context_tree_measure(const struct context_tree *tree,
			 struct hwprof_context_statistics *statistics);
void context_tree_free(struct context_tree *tree);

/* Writes one context as JSON; in contexts_json.c. */
void contexts_put(struct json *json, const char *name, const void *contexts,
	       size_t index);
/* Writes the whole profile; see hwprof_profile_json(). */
int contexts_json(const struct hwprof_profile *profile,
		  const struct hwprof_json_options *options, FILE *out);

#endif /* HWPROF_CONTEXTS_H */
