// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>

#include "graph.h"

void graph_free(struct graph *graph)
{
	free(graph->nodes);
}

int graph_add(struct graph *graph, const struct instruction *instruction)
{
	if (graph->count == graph->room) {
		size_t room = graph->room ? 2 * graph->room : 64;
		struct node *grown = reallocarray(graph->nodes, room,
						  sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		graph->nodes = grown;
		graph->room = room;
	}
	graph->nodes[graph->count++] = (struct node){
		.address = instruction->address,
		.target = instruction->target,
		.ending = instruction->ending,
	};
	return 0;
}

static int compare_nodes(const void *a, const void *b)
{
	const struct node *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static struct node *find(const struct graph *graph, uint64_t address)
{
	struct node key = { .address = address };

	return bsearch(&key, graph->nodes, graph->count, sizeof(key),
		       compare_nodes);
}

static bool jumps(const struct node *node)
{
	return node->ending == ENDING_COND || node->ending == ENDING_JUMP;
}

static bool is_back(const struct node *node, uint64_t target)
{
	return target <= node->address;
}

/* Returns true if the target is in the procedure, forward or back. */
static bool is_inside(const struct graph *graph, uint64_t target)
{
	return target >= graph->nodes[0].address &&
	       target <= graph->nodes[graph->count - 1].address;
}

/* --- counting ------------------------------------------------------------- */

/*
 * Returns the number of ways that do not jump. Code that runs over the
 * procedure's end leaves it.
 */
static uint64_t ways_on(const struct graph *graph, const struct node *node)
{
	if (!ending_goes_on(node->ending))
		return 0;
	return node + 1 < graph->nodes + graph->count ? node[1].ways : 1;
}

/*
 * Returns the number of ways that jump or end here; 0 if the jump leads into
 * the middle of an instruction.
 */
static uint64_t ways_off(const struct graph *graph, const struct node *node)
{
	const struct node *to;

	if (!jumps(node))
		return !ending_goes_on(node->ending);
	if (!is_inside(graph, node->target))
		return 1;
	to = find(graph, node->target);
	if (!to)
		return 0;
	return is_back(node, node->target) ? 1 : to->ways;
}

static const char *count_ways(struct graph *graph, struct node *node)
{
	uint64_t off;

	if (node->ending == ENDING_INDIRECT)
		return "indirect jump";
	off = ways_off(graph, node);
	if (jumps(node) && !off)
		return "jump into an instruction";
	if (__builtin_add_overflow(ways_on(graph, node), off, &node->ways))
		return "too many paths";
	if (jumps(node) && is_inside(graph, node->target) &&
	    is_back(node, node->target))
		find(graph, node->target)->start = true;
	return NULL;
}

const char *graph_count(struct graph *graph)
{
	const char *why = NULL;
	size_t i;

	if (!graph->count)
		return "no code";
	for (i = graph->count; i-- && !why; )
		why = count_ways(graph, &graph->nodes[i]);
	if (why)
		return why;
	graph->paths = graph->nodes[0].ways;
	for (i = 0; i < graph->count; i++) {
		struct node *node = &graph->nodes[i];

		if (!node->start)
			continue;
		node->base = graph->paths;
		if (__builtin_add_overflow(graph->paths, node->ways,
					   &graph->paths))
			return "too many paths";
	}
	return NULL;
}

/* --- walking -------------------------------------------------------------- */

/* A path that begins with a jump from another procedure counts as called. */
bool graph_begin(struct graph_walk *walk, const struct graph *graph,
		 uint64_t start, bool called)
{
	const struct node *at = find(graph, start);

	*walk = (struct graph_walk){ .graph = graph, .at = at };
	if (!at)
		return false;
	if (at->start && !called)
		walk->number = at->base;
	else if (at != graph->nodes)
		return false;
	return true;
}

static bool run_to(struct graph_walk *walk, uint64_t address)
{
	const struct node *end = walk->graph->nodes + walk->graph->count;
	const struct node *at = walk->at;

	while (at && at < end && at->address < address &&
	       ending_goes_on(at->ending))
		at++;
	walk->at = at;
	return at && at < end && at->address == address;
}

bool graph_jump(struct graph_walk *walk, uint64_t from, uint64_t to)
{
	if (!run_to(walk, from) || !jumps(walk->at) || walk->at->target != to)
		return false;
	walk->number += ways_on(walk->graph, walk->at);
	walk->at = is_back(walk->at, to) || !is_inside(walk->graph, to) ?
		   NULL : find(walk->graph, to);
	return true;
}

bool graph_return(struct graph_walk *walk, uint64_t from)
{
	if (!run_to(walk, from) || walk->at->ending != ENDING_RETURN)
		return false;
	walk->at = NULL;
	return true;
}
