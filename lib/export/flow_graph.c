// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A procedure's code is decoded and cut into blocks. A block ends with a jump
 * or return, or before an instruction that a jump of the procedure leads to. A
 * call does not end a block.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/row_origin.h"
#include "code/decode.h"
#include "flow_graph.h"
#include "reports/edges.h"
#include "base/array.h"

enum { PROCEDURE_MAX = 1 << 20 };	/* bytes of a procedure's code */

struct flow_point {
	uint64_t address, target;
	uint8_t ending;			/* enum ending */
	bool leader;			/* a block begins here */
	size_t block;			/* number of its block that is written;
					 * SIZE_MAX: none */
};

/* A block: points @first to @last. */
struct flow_block {
	size_t first, last;
	uint64_t count;
};

struct flow {
	const struct hwprof_edges *edges;
	struct code_spot spot;		/* the procedure's object and process */
	uint64_t begin, end;		/* of its code */
	struct flow_point *points;	/* by address */
	size_t count, room;
	struct flow_block *blocks;	/* those that ran */
	size_t block_count;
};

/* --- code ---------------------------------------------------------------- */

static int add_point(struct flow *flow, const struct instruction *instruction)
{
	struct flow_point *points = array_grow(flow->points, &flow->room,
					       flow->count + 1,
					       sizeof(*points));

	if (!points)
		return -ENOMEM;
	flow->points = points;
	points[flow->count++] = (struct flow_point){
		.address = instruction->address, .target = instruction->target,
		.ending = instruction->ending, .block = SIZE_MAX,
	};
	return 0;
}

static int decode_all(struct flow *flow, struct decoder *decoder)
{
	struct instruction instruction;
	struct code code;
	int error = 0;

	flow->count = 0;
	if (code_begin(&code, decoder, flow->spot.object, flow->begin))
		return 0;
	while (!error && code_next(&code, &instruction) &&
	       instruction.address < flow->end)
		error = add_point(flow, &instruction);
	return error;
}

static int compare_points(const void *a, const void *b)
{
	const struct flow_point *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* Returns the point at @address; NULL if no instruction begins there. */
static struct flow_point *find_point(const struct flow *flow, uint64_t address)
{
	const struct flow_point key = { .address = address };

	return bsearch(&key, flow->points, flow->count, sizeof(key),
		       compare_points);
}

static void mark_leader(struct flow *flow, uint64_t address)
{
	struct flow_point *point = find_point(flow, address);

	if (point)
		point->leader = true;
}

static bool ends_block(const struct flow_point *point)
{
	return point->ending != ENDING_NONE && point->ending != ENDING_CALL;
}

/* --- branches of the procedure ------------------------------------------- */

static bool is_jump(const struct hwprof_branch_site *site)
{
	return site->kind == HWPROF_BRANCH_COND ||
	       site->kind == HWPROF_BRANCH_JUMP ||
	       site->kind == HWPROF_BRANCH_INDIRECT;
}

static bool is_inside(const struct flow *flow, const struct code_spot *spot)
{
	return spot->object == flow->spot.object &&
	       spot->pid == flow->spot.pid && spot->file == flow->spot.file &&
	       spot->address >= flow->begin && spot->address < flow->end;
}

/* Calls @fn for each target in the procedure of each of its jumps. */
static void each_target(struct flow *flow, void *context,
			void (*fn)(struct flow *flow, void *context,
				   uint64_t from,
				   const struct hwprof_branch_target *target))
{
	const struct hwprof_edges *edges = flow->edges;
	size_t i, j;

	for (i = 0; i < edges->branch_count; i++) {
		const struct branch_entry *branch = &edges->branches[i];
		const struct hwprof_branch_site *site = &branch->site;

		if (!is_jump(site) || !is_inside(flow, &branch->spot))
			continue;
		for (j = 0; j < site->target_count; j++)
			if (site->targets[j].code.object &&
			    !strcmp(site->targets[j].code.object,
				    site->code.object))
				fn(flow, context, site->code.address,
				   &site->targets[j]);
	}
}

static void mark_target(struct flow *flow, void *context, uint64_t from,
			const struct hwprof_branch_target *target)
{
	mark_leader(flow, target->code.address);
}

/* --- blocks -------------------------------------------------------------- */

static void mark_leaders(struct flow *flow)
{
	size_t i;

	flow->points[0].leader = true;
	for (i = 0; i < flow->count; i++) {
		const struct flow_point *point = &flow->points[i];

		if (!ends_block(point))
			continue;
		if (point->target)
			mark_leader(flow, point->target);
		if (i + 1 < flow->count)
			flow->points[i + 1].leader = true;
	}
	each_target(flow, NULL, mark_target);
}

static struct code_spot spot_at(const struct flow *flow, size_t index)
{
	struct code_spot spot = flow->spot;

	spot.address = flow->points[index].address;
	return spot;
}

/* Returns how often the instruction ran, as far as it was seen. */
static uint64_t count_at(const struct flow *flow, size_t index)
{
	struct code_spot spot = spot_at(flow, index);

	return edge_lines_over(&flow->edges->lines, &spot).count +
	       edge_lines_to(&flow->edges->lines, &spot).count;
}

/* Returns how often the instruction behind point @index ran next. */
static uint64_t count_behind(const struct flow *flow, size_t index)
{
	struct code_spot spot = spot_at(flow, index);

	switch (flow->points[index].ending) {
	case ENDING_NONE:
	case ENDING_COND:
		return edge_lines_over(&flow->edges->lines, &spot).count;
	case ENDING_CALL:
		return edge_lines_to(&flow->edges->lines, &spot).count;
	}
	return 0;
}

/* Makes the blocks that ran. Returns 0 or -ENOMEM. */
static int make_blocks(struct flow *flow)
{
	size_t i, next;

	free(flow->blocks);
	flow->block_count = 0;
	flow->blocks = calloc(flow->count, sizeof(*flow->blocks));
	if (!flow->blocks)
		return -ENOMEM;
	for (i = 0; i < flow->count; i = next) {
		uint64_t count = count_at(flow, i);

		for (next = i + 1; next < flow->count &&
				   !flow->points[next].leader;)
			next++;
		if (!count)
			continue;
		flow->points[i].block = flow->block_count;
		flow->blocks[flow->block_count++] =
			(struct flow_block){ i, next - 1, count };
	}
	return 0;
}

/* --- JSON ---------------------------------------------------------------- */

static void put_block(struct json *json, const struct flow *flow,
		      const struct flow_block *block)
{
	json_open(json, NULL, '{');
	json_hex(json, "first", flow->points[block->first].address);
	json_hex(json, "last", flow->points[block->last].address);
	json_unsigned(json, "instructions", block->last - block->first + 1);
	json_unsigned(json, "count", block->count);
	json_close(json, '}');
}

static void put_edge(struct json *json, uint64_t from, uint64_t to,
		     uint64_t count, const char *kind)
{
	json_open(json, NULL, '{');
	json_unsigned(json, "from", from);
	json_unsigned(json, "to", to);
	json_unsigned(json, "count", count);
	json_string(json, "kind", kind);
	json_close(json, '}');
}

/* Returns the block that ends with the instruction at @address, or SIZE_MAX. */
static size_t block_ending(const struct flow *flow, uint64_t address)
{
	const struct flow_point *point = find_point(flow, address);
	size_t i = point ? point - flow->points : 0;

	while (i && !flow->points[i].leader)
		i--;
	return point ? flow->points[i].block : SIZE_MAX;
}

static void put_taken(struct flow *flow, void *context, uint64_t from,
		      const struct hwprof_branch_target *target)
{
	const struct flow_point *to = find_point(flow, target->code.address);
	size_t block = block_ending(flow, from);

	if (to && to->block != SIZE_MAX && block != SIZE_MAX)
		put_edge(context, block, to->block, target->count, "taken");
}

static void put_edges(struct json *json, struct flow *flow)
{
	size_t i;

	json_open(json, "edges", '[');
	for (i = 0; i < flow->block_count; i++) {
		size_t last = flow->blocks[i].last;
		uint64_t count = count_behind(flow, last);

		if (count && last + 1 < flow->count &&
		    flow->points[last + 1].block != SIZE_MAX)
			put_edge(json, i, flow->points[last + 1].block, count,
				 "next");
	}
	each_target(flow, json, put_taken);
	json_close(json, ']');
}

static int put_graph(struct json *json, struct flow *flow,
		     struct listing *listing)
{
	const char *function;
	uint64_t offset;
	size_t i;
	int error = 0;

	function = object_symbol(flow->spot.object, flow->begin, &offset);
	json_open(json, NULL, '{');
	json_string(json, "object", object_name(flow->spot.object));
	json_string(json, "build_id", object_build_id(flow->spot.object));
	json_string(json, "function", function);
	json_hex(json, "address", flow->begin);
	json_open(json, "blocks", '[');
	for (i = 0; i < flow->block_count; i++)
		put_block(json, flow, &flow->blocks[i]);
	json_close(json, ']');
	put_edges(json, flow);
	json_close(json, '}');
	for (i = 0; !error && i < flow->block_count; i++)
		error = listing_add(listing, flow->spot.object,
				    flow->points[flow->blocks[i].first].address,
				    flow->points[flow->blocks[i].last].address);
	return error;
}

/* --- procedures ---------------------------------------------------------- */

struct procedure {
	struct code_spot spot;		/* its first instruction */
	uint64_t end;
};

static bool find_procedure(const struct branch_entry *branch,
			   struct procedure *procedure)
{
	procedure->spot = branch->spot;
	return branch->site.taken + branch->site.passed &&
	       object_is_file(branch->spot.object) &&
	       object_bounds(branch->spot.object, branch->spot.address,
			     &procedure->spot.address, &procedure->end) &&
	       procedure->end - procedure->spot.address <= PROCEDURE_MAX;
}

/*
 * Returns the @limit procedures of the first branches, which ran most; NULL if
 * out of memory. The caller frees them.
 */
static struct procedure *list_procedures(const struct hwprof_edges *edges,
					 size_t limit, size_t *count)
{
	struct procedure *all = calloc(limit + 1, sizeof(*all));
	size_t i, j;

	*count = 0;
	for (i = 0; all && i < edges->branch_count && *count < limit; i++) {
		if (!find_procedure(&edges->branches[i], &all[*count]))
			continue;
		for (j = 0; j < *count; j++)
			if (!spot_compare(&all[j].spot, &all[*count].spot))
				break;
		*count += j == *count;
	}
	return all;
}

static int put_procedure(struct json *json, struct flow *flow,
			 const struct procedure *procedure,
			 struct decoder *decoder, struct listing *listing)
{
	int error;

	flow->spot = procedure->spot;
	flow->begin = procedure->spot.address;
	flow->end = procedure->end;
	error = decode_all(flow, decoder);
	if (error || !flow->count)
		return error;
	mark_leaders(flow);
	error = make_blocks(flow);
	if (!error && flow->block_count)
		error = put_graph(json, flow, listing);
	return error;
}

int flow_graphs_put(struct json *json, const struct hwprof_profile *profile,
		    size_t limit, struct listing *listing)
{
	struct flow flow = { .edges = (const void *)profile };
	struct decoder *decoder = decoder_new();
	struct procedure *all;
	size_t count, i;
	int error = 0;

	all = list_procedures(flow.edges, limit, &count);
	if (!decoder || !all)
		error = -ENOMEM;
	json_open(json, "graphs", '[');
	for (i = 0; !error && i < count; i++)
		error = put_procedure(json, &flow, &all[i], decoder, listing);
	json_close(json, ']');
	free(flow.points);
	free(flow.blocks);
	free(all);
	decoder_free(decoder);
	return error;
}
