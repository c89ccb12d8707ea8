// SPDX-License-Identifier: LGPL-2.1-or-later
/* Counts the possible paths of procedures, and numbers those that ran. */
#include <errno.h>

#include "code/graph.h"
#include "paths.h"

/*
 * Adds all instructions from @begin to @end. Sets *@why if it fails. Returns 0
 * or -ENOMEM.
 */
static int add_code(struct graph *graph, struct decoder *decoder,
		    struct object *object, uint64_t begin, uint64_t end,
		    const char **why)
{
	struct instruction now = { .address = begin };
	struct code code;

	*why = code_begin(&code, decoder, object, begin);
	while (!*why && code.address < end) {
		if (!code_next(&code, &now))
			*why = unknown_instruction;
		else if (graph_add(graph, &now))
			return -ENOMEM;
	}
	return 0;
}

/* Notes where the jumps of a path led, and its end. Returns 0 or -ENOMEM. */
static int see_entry(struct graph *graph, const struct path_entry *entry)
{
	const struct path_point *point = entry->points + 1;
	uint32_t jumps = entry->spelled, i;
	int error = 0;

	if (entry->path.spelled == entry->path.length && !entry->path.returns)
		jumps++;
	for (i = 0; i < jumps && !error; i++, point += 2)
		if (point[0].object == path_end(entry)->object)
			error = graph_see(graph, point[0].address,
					  point[1].address);
	return error;
}

/* Makes the graph of a procedure, by its paths. Returns 0 or -ENOMEM. */
static int make_graph(struct graph *graph, struct hwprof_procedure *procedure,
		      struct path_entry *const *entries,
		      struct hwprof_paths *paths)
{
	const struct path_point *last = path_end(*entries);
	uint64_t begin, end, i;
	int error;

	if (!object_bounds(last->object, last->address, &begin, &end)) {
		procedure->unnumbered = "no symbol";
		return 0;
	}
	if (!paths->lines.decoder)
		paths->lines.decoder = decoder_new();
	if (!paths->lines.decoder)
		return -ENOMEM;
	error = add_code(graph, paths->lines.decoder, last->object, begin, end,
			 &procedure->unnumbered);
	for (i = 0; !error && !procedure->unnumbered &&
	     i < procedure->paths; i++)
		error = see_entry(graph, entries[i]);
	if (error)
		return error;
	if (!procedure->unnumbered)
		procedure->unnumbered = graph_count(graph);
	if (!procedure->unnumbered) {
		procedure->possible = graph->paths;
		procedure->seen = graph->indirect;
	}
	return 0;
}

/*
 * Returns true if all points are in the procedure, except the target of the
 * end.
 */
static bool is_in(const struct path_entry *entry, const struct graph *graph)
{
	const struct path_point *end = path_end(entry), *point;
	uint64_t first = graph->nodes[0].address;
	uint64_t last = graph->nodes[graph->count - 1].address;

	for (point = entry->points; point <= end; point++)
		if (point->object != end->object || point->address < first ||
		    point->address > last)
			return false;
	return true;
}

static bool walk_entry(struct graph_walk *walk, const struct graph *graph,
		       const struct path_entry *entry)
{
	const struct path_point *point = entry->points;
	uint32_t i;

	if (!graph_begin(walk, graph, point->address, entry->path.called))
		return false;
	for (point++, i = 0; i < entry->spelled; i++, point += 2)
		if (!graph_jump(walk, point[0].address, point[1].address))
			return false;
	if (entry->path.returns)
		return graph_return(walk, point->address);
	return graph_jump(walk, point[0].address, point[1].address);
}

static void number_entry(struct path_entry *entry, const struct graph *graph)
{
	struct hwprof_path *path = &entry->path;
	struct graph_walk walk;

	path->unnumbered = path->procedure->unnumbered;
	if (path->unnumbered)
		return;
	if (path->spelled < path->length)
		path->unnumbered = "not all jumps are known";
	else if (!is_in(entry, graph))
		path->unnumbered = "tail call";
	else if (!walk_entry(&walk, graph, entry))
		path->unnumbered = "not in the procedure's graph";
	else
		path->number = walk.number;
}

int paths_number(struct hwprof_paths *paths)
{
	struct path_entry **entry = paths->entries;
	struct graph graph = { .count = 0 };
	int error = 0;
	size_t i, j;

	for (i = 0; i < paths->procedure_count && !error; i++) {
		struct hwprof_procedure *procedure = &paths->procedures[i];

		graph_clear(&graph);
		error = make_graph(&graph, procedure, entry, paths);
		for (j = 0; j < procedure->paths && !error; j++)
			number_entry(*entry++, &graph);
	}
	graph_free(&graph);
	return error;
}
