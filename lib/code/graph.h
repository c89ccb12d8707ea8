/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The control-flow graph of a procedure, which numbers its paths from 0: Ball,
 * Larus, Efficient Path Profiling (MICRO 1996). Its nodes are instructions.
 * Back edges are jumps to their own address or a lower one, as in the engine.
 * Without them the graph has no cycle, and all edges lead to higher addresses.
 * Each back edge ends a path and begins another, like the paper's edges to EXIT
 * and from ENTRY.
 *
 * Where an indirect jump leads is known only of targets that were seen. Its
 * ways are those of these targets, in the order of their addresses.
 */
#ifndef HWPROF_GRAPH_H
#define HWPROF_GRAPH_H

#include "decode.h"

struct node {
	uint64_t address;
	uint64_t target;	/* of a direct jump */
	uint8_t ending;		/* enum ending */
	bool start;		/* a back edge leads here */
	uint64_t ways;		/* number of paths from here to an end */
	uint64_t base;		/* number of the first path that begins here,
				 * behind a back edge */
};

/* A target of an indirect jump that was seen. */
struct seen_jump {
	uint64_t from, to;
};

/* The graph owns its memory. A zeroed one is empty. */
struct graph {
	struct node *nodes;	/* by address; the first is the entry */
	size_t count, room;
	uint64_t paths;		/* number of possible paths */
	struct seen_jump *seen;	/* sorted by graph_count() */
	size_t seen_count, seen_room;
	bool indirect;		/* it has an indirect jump, so that the paths
				 * are those over targets that were seen */
};

void graph_free(struct graph *graph);

/* Adds the next instruction. Returns 0 or -ENOMEM. */
int graph_add(struct graph *graph, const struct instruction *instruction);

/* Empties the graph, which keeps its memory. */
void graph_clear(struct graph *graph);

/*
 * Notes where a jump led. Jumps that are not indirect are ignored. Call it
 * between graph_add() and graph_count(). Returns 0 or -ENOMEM.
 */
int graph_see(struct graph *graph, uint64_t from, uint64_t to);

/*
 * Counts and numbers the paths. An indirect jump of which no target was seen
 * is one way, which ends there; if none of all was, there is no number. Returns
 * NULL, or why that is impossible, such as "indirect jump".
 */
const char *graph_count(struct graph *graph);

/* The state of following a path. */
struct graph_walk {
	const struct graph *graph;
	const struct node *at;	/* NULL: the path has ended */
	uint64_t number;	/* valid once the path has ended */
};

/*
 * Follow a path. graph_begin() starts it at @start, called or behind a back
 * edge. graph_jump() continues to the jump at @from and its target @to, which
 * may be the path's end. graph_return() continues to the return at @from. They
 * return false if the graph has no such path.
 */
bool graph_begin(struct graph_walk *walk, const struct graph *graph,
		 uint64_t start, bool called);
bool graph_jump(struct graph_walk *walk, uint64_t from, uint64_t to);
bool graph_return(struct graph_walk *walk, uint64_t from);

#endif /* HWPROF_GRAPH_H */
