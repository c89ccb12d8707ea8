/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From rows to calling context trees: contexts.c sums the rows of a file, or those
 * that the engine makes of its stacks of calls (chains.c), and places them in
 * objects, context_tree.c makes one tree of those of all processes, callers.c turns
 * it round, contexts_json.c writes it out.
 */
#ifndef HWPROF_CONTEXTS_H
#define HWPROF_CONTEXTS_H

#include "origin.h"
#include "json.h"
#include "profile.h"

/* The rows of one id in one session, summed. */
struct collected_context {
	struct origin origin;
	uint32_t kind;
	uint64_t id, parent, target;
	uint64_t callee, site;
	uint64_t calls, deeper, branches;	/* of samples: weight, and how
						 * many */
	uint64_t metrics[HWPROF_METRICS_MAX];	/* as collected.metrics has them */
	struct collected_context *up;	/* those of its parent; NULL: none */
	size_t node;			/* its number in the tree, + 1; 0: none yet */
	bool nowhere;			/* a sample's, that no code is at */
};

/* A node of the tree, which has a number: that of `context` in its array. */
struct context_node {
	struct hwprof_context context;
	struct object *object;		/* of the procedure; NULL: unknown */
	struct object *site_object;
	uint64_t site;			/* in its object */
	uint64_t last;			/* time of the last row */
	size_t file;			/* as struct place has it */
	size_t parent;			/* numbers; SIZE_MAX: none */
	size_t target;
};

struct context_tree {
	struct context_node *nodes;	/* parents before their children */
	size_t count, room;
	size_t *slots;			/* by what a node is: number + 1 */
	size_t slot_count;		/* a power of two */
};

struct hwprof_contexts {
	struct hwprof_profile profile;
	struct context_tree tree;
	struct hwprof_context **order;	/* as the report has them */
	struct hwprof_context_statistics statistics;
	struct metrics metrics;
	int places[HWPROF_METRICS_MAX];	/* in these, of the file's; below 0:
					 * nowhere */
	uint64_t orphans;		/* calls of the file whose callers' rows are
					 * missing */
};

extern const struct profile_kind contexts_kind;

/* Sums up a row as of @time, without metrics. -ENOMEM. */
int contexts_add_row(struct hwprof_profile *profile,
		     const struct hwprof_row_context *row, uint64_t time);

/*
 * The number of what @id of the file that is read now is in the tree, once it is
 * placed; SIZE_MAX: nothing.
 */
size_t contexts_node(const struct hwprof_profile *profile, uint32_t session,
		     uint64_t id);

/*
 * The node of that kind, place and caller, made if need be; SIZE_MAX: out of
 * memory. Of @node: kind, address, pid, file, comm of
 * roots, object, site, site_object, parent.
 */
size_t context_tree_get(struct context_tree *tree,
			const struct context_node *node);
/* Adds up what subtrees have: the fields all_*. */
void context_tree_sum(struct context_tree *tree);
/*
 * callers.c: makes @turned of @tree, whose nodes are named and summed up, as
 * hwprof_contexts_turned() describes it, for what @profile wants. -ENOMEM.
 */
int context_tree_turn(const struct context_tree *tree,
		      const struct hwprof_profile *profile,
		      struct context_tree *turned);
/* Sets shares and depths, and puts children behind parents, heavy ones first.
 * -ENOMEM. */
int context_tree_order(struct context_tree *tree,
		       struct hwprof_context ***order);
int context_tree_measure(const struct context_tree *tree,
			 struct hwprof_context_statistics *statistics);
void context_tree_free(struct context_tree *tree);

/* contexts_json.c: writes one of them as JSON. */
void contexts_put(struct json *json, const char *name, const void *contexts,
	       size_t index);
/* chains.c: gathers rows from stacks of calls. */
int contexts_replay(struct hwprof_profile *profile, void *options);
/* JSON of all of it: as hwprof_profile_json(). */
int contexts_json(const struct hwprof_profile *profile,
		  const struct hwprof_json_options *options, FILE *out);

#endif /* HWPROF_CONTEXTS_H */
