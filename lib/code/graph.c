// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>

#include "graph.h"
#include "base/array.h"

void graph_free(struct graph *graph)
{
	free(graph->nodes);
	free(graph->seen);
}

void graph_clear(struct graph *graph)
{
	graph->count = graph->seen_count = 0;
	graph->indirect = false;
}

int graph_add(struct graph *graph, const struct instruction *instruction)
{
	struct node *nodes = array_grow(graph->nodes, &graph->room,
					graph->count + 1, sizeof(*nodes));

	if (!nodes)
		return -ENOMEM;
	graph->nodes = nodes;
	nodes[graph->count++] = (struct node){
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

/* --- indirect jumps ------------------------------------------------------- */

int graph_see(struct graph *graph, uint64_t from, uint64_t to)
{
	const struct node *node = find(graph, from);
	struct seen_jump *seen;

	if (!node || node->ending != ENDING_INDIRECT)
		return 0;
	seen = array_grow(graph->seen, &graph->seen_room,
			  graph->seen_count + 1, sizeof(*seen));
	if (!seen)
		return -ENOMEM;
	graph->seen = seen;
	seen[graph->seen_count++] = (struct seen_jump){ from, to };
	return 0;
}

static int compare_seen(const void *a, const void *b)
{
	const struct seen_jump *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

/* Sorts what was seen, each target once. */
static void sort_seen(struct graph *graph)
{
	size_t kept = 0, i;

	if (!graph->seen_count)
		return;
	qsort(graph->seen, graph->seen_count, sizeof(*graph->seen),
	      compare_seen);
	for (i = 1; i < graph->seen_count; i++)
		if (compare_seen(&graph->seen[kept], &graph->seen[i]))
			graph->seen[++kept] = graph->seen[i];
	graph->seen_count = kept + 1;
}

/* Returns the first target of the jump that was seen; or the end of all. */
static const struct seen_jump *first_seen(const struct graph *graph,
					  uint64_t from)
{
	size_t low = 0, high = graph->seen_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (graph->seen[middle].from < from)
			low = middle + 1;
		else
			high = middle;
	}
	return graph->seen + low;
}

/* Returns the ways behind a jump to @target; 0 if it is in an instruction. */
static uint64_t ways_behind(const struct graph *graph, const struct node *node,
			    uint64_t target)
{
	const struct node *to;

	if (!is_inside(graph, target))
		return 1;
	to = find(graph, target);
	if (!to)
		return 0;
	return is_back(node, target) ? 1 : to->ways;
}

/*
 * Sums the ways of an indirect jump to targets below @limit. Returns false if
 * there are too many.
 */
static bool ways_seen(const struct graph *graph, const struct node *node,
		      uint64_t limit, uint64_t *ways)
{
	const struct seen_jump *end = graph->seen + graph->seen_count;
	const struct seen_jump *seen = first_seen(graph, node->address);

	for (*ways = 0; seen < end && seen->from == node->address &&
	     seen->to < limit; seen++)
		if (__builtin_add_overflow(*ways,
					   ways_behind(graph, node, seen->to),
					   ways))
			return false;
	return true;
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
	if (!jumps(node))
		return !ending_goes_on(node->ending);
	return ways_behind(graph, node, node->target);
}

/* Notes that back edges lead to the targets of an indirect jump. */
static void start_seen(struct graph *graph, const struct node *node)
{
	const struct seen_jump *end = graph->seen + graph->seen_count;
	const struct seen_jump *seen = first_seen(graph, node->address);
	struct node *to;

	for (; seen < end && seen->from == node->address; seen++) {
		to = is_inside(graph, seen->to) && is_back(node, seen->to) ?
		     find(graph, seen->to) : NULL;
		if (to)
			to->start = true;
	}
}

static const char *count_seen(struct graph *graph, struct node *node)
{
	if (!graph->seen_count)
		return "indirect jump";
	graph->indirect = true;
	if (!ways_seen(graph, node, UINT64_MAX, &node->ways))
		return "too many paths";
	if (!node->ways)
		node->ways = 1;
	start_seen(graph, node);
	return NULL;
}

static const char *count_ways(struct graph *graph, struct node *node)
{
	uint64_t off;

	if (node->ending == ENDING_INDIRECT)
		return count_seen(graph, node);
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
	sort_seen(graph);
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

/* Adds the ways of targets before this one, which was seen. */
static bool jump_indirect(struct graph_walk *walk, uint64_t to)
{
	uint64_t before;

	if (!ways_seen(walk->graph, walk->at, to, &before) ||
	    !ways_behind(walk->graph, walk->at, to))
		return false;
	walk->number += before;
	return true;
}

static bool jump_direct(struct graph_walk *walk, uint64_t to)
{
	if (!jumps(walk->at) || walk->at->target != to)
		return false;
	walk->number += ways_on(walk->graph, walk->at);
	return true;
}

bool graph_jump(struct graph_walk *walk, uint64_t from, uint64_t to)
{
	if (!run_to(walk, from))
		return false;
	if (walk->at->ending == ENDING_INDIRECT ? !jump_indirect(walk, to) :
						  !jump_direct(walk, to))
		return false;
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
