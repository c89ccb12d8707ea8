// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * From edges to branches: where each led, and how often it was passed. Code
 * that lines ran through is decoded, for conditional jumps that were never
 * taken and for what a branch's edges do not say.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "code/decode.h"
#include "edges.h"
#include "estimate.h"
#include "base/array.h"

static void add_weight(struct weight *to, struct weight from)
{
	to->count += from.count;
	to->root += from.root;
}

/* --- branches that were taken -------------------------------------------- */

static void add_target(struct hwprof_branch_target *target,
		       const struct edge_entry *edge)
{
	target->count += edge->count;
	target->mispredicted += edge->mispredicted;
	target->cycles += edge->cycles;
}

static void describe_code(struct hwprof_code *code, struct object *object)
{
	code->object = object_name(object);
	code->build_id = object_build_id(object);
	code->function = object_symbol(object, code->address,
				       &code->function_offset);
	code->file = object_line(object, code->address, &code->line);
}

static void add_edge(struct branch_entry *branch, const struct edge_entry *edge)
{
	struct hwprof_branch_site *site = &branch->site;
	struct weight weight = { edge->count, sqrt(edge->sum_sq) };

	add_weight(&branch->led, weight);
	site->led += edge->count;
	site->mispredicted += edge->mispredicted;
	site->cycles += edge->cycles;
	site->predicted |= edge->flags & HWPROF_EDGE_PREDICTION;
	if (edge->kind)
		site->kind = edge->kind;
	if (edge->basis > site->basis)
		site->basis = edge->basis;
	if (!branch->last || edge->last > branch->last) {
		branch->last = edge->last;
		site->comm = edge->comm;
	}
}

static struct branch_entry *begin_branch(struct hwprof_edges *edges,
					 const struct code_spot *spot)
{
	struct branch_entry *branch = &edges->branches[edges->branch_count++];

	*branch = (struct branch_entry){
		.spot = *spot,
		.site.code.address = spot->address,
		.site.pid = spot->pid,
	};
	return branch;
}

/* Edges are by place, so that those of a branch to a target are together. */
static void take_edges(struct hwprof_edges *edges)
{
	const struct edge_entry *last = NULL;
	struct hwprof_branch_target *target = NULL, *next = edges->targets;
	struct branch_entry *branch = NULL;
	size_t i;

	for (i = 0; i < edges->edge_count; i++) {
		const struct edge_entry *edge = &edges->edges[i];
		bool other = !last || spot_compare(&last->from, &edge->from);

		if (!edge->from.object)
			continue;
		if (other)
			branch = begin_branch(edges, &edge->from);
		if (other || spot_compare(&last->to, &edge->to)) {
			target = next++;
			target->code.address = edge->to.address;
			if (edge->to.object)
				describe_code(&target->code, edge->to.object);
			if (!branch->site.target_count++)
				branch->targets = target;
		}
		add_target(target, edge);
		add_edge(branch, edge);
		last = edge;
	}
}

static int compare_spots(const void *a, const void *b)
{
	const struct branch_entry *x = a, *y = b;

	return spot_compare(&x->spot, &y->spot);
}

/* Branches of which only is known that lines end with them. */
static void take_stops(struct hwprof_edges *edges)
{
	const struct edge_lines *lines = &edges->lines;
	size_t known = edges->branch_count, i;

	for (i = 0; i < lines->stop_count; i++) {
		const struct branch_entry like = {
			.spot = lines->stops[i].spot,
		};

		if (i && !spot_compare(&like.spot, &lines->stops[i - 1].spot))
			continue;
		if (!bsearch(&like, edges->branches, known, sizeof(like),
			     compare_spots))
			begin_branch(edges, &like.spot);
	}
	qsort(edges->branches, edges->branch_count, sizeof(*edges->branches),
	      compare_spots);
}

/* --- code ---------------------------------------------------------------- */

struct decoding {
	struct hwprof_edges *edges;
	struct decoder *decoder;
	size_t known;		/* branches that were taken: by place */
	size_t room;		/* for all */
};

/* A conditional jump that lines ran over, and none of them took. */
static int add_passed(struct decoding *decoding, const struct code_spot *spot)
{
	struct hwprof_edges *edges = decoding->edges;

	struct branch_entry *branches = array_grow(edges->branches,
						   &decoding->room,
						   edges->branch_count + 1,
						   sizeof(*branches));

	if (!branches)
		return -ENOMEM;
	edges->branches = branches;
	begin_branch(edges, spot)->site.kind = HWPROF_BRANCH_COND;
	return 0;
}

/* The instruction knows better than the recorder. */
static void set_kind(struct hwprof_branch_site *site,
		     const struct instruction *instruction)
{
	static const uint8_t kinds[] = {
		[ENDING_COND] = HWPROF_BRANCH_COND,
		[ENDING_JUMP] = HWPROF_BRANCH_JUMP,
		[ENDING_INDIRECT] = HWPROF_BRANCH_INDIRECT,
		[ENDING_CALL] = HWPROF_BRANCH_CALL,
		[ENDING_RETURN] = HWPROF_BRANCH_RET,
		[ENDING_STOP] = 0,
	};
	unsigned int kind = kinds[instruction->ending];

	if (!kind)
		return;
	site->kind = kind;
	site->indirect = kind == HWPROF_BRANCH_INDIRECT ||
			 (kind == HWPROF_BRANCH_CALL && !instruction->target);
}

static int see_instruction(struct decoding *decoding,
			   const struct code_spot *spot,
			   const struct instruction *instruction)
{
	const struct branch_entry like = { .spot = *spot };
	struct branch_entry *branch;

	branch = bsearch(&like, decoding->edges->branches, decoding->known,
			 sizeof(like), compare_spots);
	if (branch) {
		set_kind(&branch->site, instruction);
		return 0;
	}
	return instruction->ending == ENDING_COND ?
	       add_passed(decoding, spot) : 0;
}

/* All that lines ran through, from @spot to the instruction at @end. */
static int see_code(struct decoding *decoding, struct code_spot spot,
		    uint64_t end, uint64_t count)
{
	struct instruction instruction;
	struct code code;
	int error = 0;

	if (!object_is_file(spot.object) ||
	    code_begin(&code, decoding->decoder, spot.object, spot.address)) {
		decoding->edges->undecoded += count;
		return 0;
	}
	while (!error && code_next(&code, &instruction) &&
	       instruction.address <= end) {
		spot.address = instruction.address;
		if (instruction.ending != ENDING_NONE)
			error = see_instruction(decoding, &spot, &instruction);
	}
	return error;
}

static int compare_lines(const void *a, const void *b)
{
	const struct edge_entry *const *x = a, *const *y = b;

	return spot_compare(&(*x)->to, &(*y)->to);
}

/* Lines that overlap are decoded once. */
static int see_lines(struct decoding *decoding,
		     const struct edge_entry *const *lines, size_t count)
{
	size_t i, next;
	int error = 0;

	for (i = 0; i < count && !error; i = next) {
		uint64_t end = lines[i]->end, weight = lines[i]->count;
		struct code_spot spot = lines[i]->to;

		for (next = i + 1; next < count; next++) {
			spot.address = lines[next]->to.address;
			if (spot_compare(&spot, &lines[next]->to) ||
			    spot.address > end)
				break;
			weight += lines[next]->count;
			if (lines[next]->end > end)
				end = lines[next]->end;
		}
		error = see_code(decoding, lines[i]->to, end, weight);
	}
	return error;
}

static int decode(struct hwprof_edges *edges)
{
	struct decoding decoding = {
		.edges = edges, .decoder = decoder_new(),
		.known = edges->branch_count, .room = 2 * edges->edge_count + 1,
	};
	const struct edge_entry **lines = calloc(edges->edge_count + 1,
						 sizeof(*lines));
	size_t count = 0, i;
	int error = -ENOMEM;

	for (i = 0; lines && i < edges->edge_count; i++)
		if (edge_has_line(&edges->edges[i]))
			lines[count++] = &edges->edges[i];
	if (lines && decoding.decoder) {
		qsort(lines, count, sizeof(*lines), compare_lines);
		error = see_lines(&decoding, lines, count);
	}
	free(lines);
	decoder_free(decoding.decoder);
	return error;
}

/* --- what is shown ------------------------------------------------------- */

static int compare_targets(const void *a, const void *b)
{
	const struct hwprof_branch_target *x = a, *y = b;
	int order = compare_u64(y->count, x->count);

	return order ? order : compare_u64(x->code.address, y->code.address);
}

static void describe_targets(struct branch_entry *branch)
{
	struct hwprof_branch_site *site = &branch->site;
	size_t i;

	if (!site->target_count)
		return;
	qsort(branch->targets, site->target_count, sizeof(*branch->targets),
	      compare_targets);
	site->targets = branch->targets;
	for (i = 0; i < site->target_count; i++)
		branch->targets[i].share =
			(double)branch->targets[i].count / site->led;
}

/*
 * Lines that end with a branch are all the times that it was taken; where
 * windows begin and end, it may be known more often where it led. Only a
 * conditional jump is passed: lines over others are of other code.
 */
static void set_counts(const struct hwprof_edges *edges,
		       struct branch_entry *branch)
{
	struct hwprof_branch_site *site = &branch->site;

	branch->stopped = edge_lines_to(&edges->lines, &branch->spot);
	site->taken = branch->stopped.count > site->led ?
		      branch->stopped.count : site->led;
	/* Lines are no better than the weakest of them. */
	if (edges->basis > site->basis)
		site->basis = edges->basis;
	if (site->kind != HWPROF_BRANCH_COND)
		return;
	branch->passed = edge_lines_over(&edges->lines, &branch->spot);
	site->passed = branch->passed.count;
}

static void set_shares(struct branch_entry *branch, uint64_t all,
		       double inferred, const struct share_facts *facts)
{
	struct hwprof_branch_site *site = &branch->site;
	struct hwprof_called ran = {
		.least = site->taken + site->passed, .basis = site->basis,
	};
	double root = fmax(branch->stopped.root, branch->led.root) +
		      branch->passed.root;

	if (all)
		ran.share = (double)ran.least / all;
	estimate_share(&ran, site->basis > HWPROF_BASIS_EXACT ? root * root : 0,
		       facts);
	widen_share(&ran, inferred);
	site->share = ran.share;
	site->share_low = ran.share_low;
	site->share_high = ran.share_high;
	site->bias = site->bias_low = site->bias_high = NAN;
	if (site->kind == HWPROF_BRANCH_COND)
		estimate_bias(site, branch->stopped.count, branch->stopped.root,
			      branch->passed.root);
}

static int compare_branches(const void *a, const void *b)
{
	const struct branch_entry *x = a, *y = b;
	int order = compare_u64(y->site.taken + y->site.passed,
				x->site.taken + x->site.passed);

	if (!order)
		order = compare_u64(x->spot.address, y->spot.address);
	return order ? order : spot_compare(&x->spot, &y->spot);
}

static void describe_all(struct hwprof_edges *edges)
{
	struct share_facts facts;
	uint64_t all = 0;
	size_t i;

	for (i = 0; i < edges->edge_count; i++)
		if (edges->edges[i].basis > edges->basis)
			edges->basis = edges->edges[i].basis;
	for (i = 0; i < edges->branch_count; i++) {
		set_counts(edges, &edges->branches[i]);
		all += edges->branches[i].site.taken +
		       edges->branches[i].site.passed;
	}
	facts = share_facts_of(&edges->profile, all);
	for (i = 0; i < edges->branch_count; i++) {
		struct branch_entry *branch = &edges->branches[i];

		branch->site.most = branch->site.taken + edges->evicted;
		describe_code(&branch->site.code, branch->spot.object);
		describe_targets(branch);
		set_shares(branch, all, edges->profile.inferred, &facts);
	}
	qsort(edges->branches, edges->branch_count, sizeof(*edges->branches),
	      compare_branches);
}

/* Leaves out branches of other functions than the one that is wanted. */
static void choose(struct hwprof_edges *edges)
{
	size_t i, kept = 0;

	for (i = 0; i < edges->branch_count; i++)
		if (profile_wants(&edges->profile,
				  edges->branches[i].site.code.function))
			edges->branches[kept++] = edges->branches[i];
	edges->branch_count = kept;
}

int edges_make_branches(struct hwprof_edges *edges)
{
	int error;

	edges->branches = calloc(2 * edges->edge_count + 1,
				 sizeof(*edges->branches));
	edges->targets = calloc(edges->edge_count + 1, sizeof(*edges->targets));
	if (!edges->branches || !edges->targets)
		return -ENOMEM;
	take_edges(edges);
	take_stops(edges);
	error = decode(edges);
	if (error)
		return error;
	describe_all(edges);
	choose(edges);
	return 0;
}
