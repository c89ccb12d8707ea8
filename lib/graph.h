/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The control-flow graph of a procedure, and the numbers of the paths in it, from
 * 0 to one less than there are: Ball, Larus, Efficient Path Profiling (MICRO 1996).
 * Its nodes are instructions. Back edges are jumps to their own address or a lower
 * one, as the engine has it, so that what is left has no cycle, and goes up; each
 * ends a path and begins another, as the edges to EXIT and from ENTRY do there.
 */
#ifndef HWPROF_GRAPH_H
#define HWPROF_GRAPH_H

#include "decode.h"

struct node {
	uint64_t address;
	uint64_t target;	/* of a direct jump */
	uint8_t ending;		/* enum ending */
	bool start;		/* a back edge leads here */
	uint64_t ways;		/* from here to where a path ends */
	uint64_t base;		/* number of the first path that begins here,
				 * behind a back edge */
};

/* All of it is in memory of its own; zeroed, it is empty. */
struct graph {
	struct node *nodes;	/* by address: the first is the entry */
	size_t count, room;
	uint64_t paths;		/* that may be taken */
};

void graph_free(struct graph *graph);

/* Adds the next instruction. -ENOMEM. */
int graph_add(struct graph *graph, const struct instruction *instruction);

/*
 * Counts the paths, and numbers them. NULL, or why that cannot be: what the graph
 * has, "indirect jump".
 */
const char *graph_count(struct graph *graph);

/* A path in the making. */
struct graph_walk {
	const struct graph *graph;
	const struct node *at;	/* NULL: the path has ended */
	uint64_t number;	/* once it has */
};

/*
 * A path begins at @start, called or behind a back edge; runs to @from, where it
 * jumps to @to, which may be its end; or runs to @from and returns there. False: no
 * path of the graph does that.
 */
bool graph_begin(struct graph_walk *walk, const struct graph *graph,
		 uint64_t start, bool called);
bool graph_jump(struct graph_walk *walk, uint64_t from, uint64_t to);
bool graph_return(struct graph_walk *walk, uint64_t from);

#endif /* HWPROF_GRAPH_H */
