// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "edges.h"
#include "location.h"
#include "base/tree.h"

/* --- rows, summed -------------------------------------------------------- */

static int compare_rows(const void *a, const void *b)
{
	const struct collected_edge *x = a, *y = b;
	int order = compare_u64(x->from, y->from);

	if (!order)
		order = compare_u64(x->to, y->to);
	if (!order)
		order = compare_u64(x->end, y->end);
	return order ? order : row_origin_compare(&x->origin, &y->origin);
}

static int add_row(struct hwprof_profile *profile,
		   const struct collected_edge *from)
{
	struct collected_edge *to;
	bool is_new;

	to = tree_get(&profile->rows, from, sizeof(*from), compare_rows,
		      &is_new);
	if (!to)
		return -ENOMEM;
	if (is_new)
		return 0;
	row_origin_add(&to->origin, &from->origin);
	to->count += from->count;
	to->mispredicted += from->mispredicted;
	to->cycles += from->cycles;
	to->sum_sq += from->sum_sq;
	to->flags |= from->flags;
	if (from->kind)
		to->kind = from->kind;
	return 0;
}

int edges_add_row(struct hwprof_profile *profile,
		  const struct hwprof_row_edge *row, uint64_t time)
{
	struct collected_edge edge = {
		.origin = row_origin_of(&row->row, row->basis, time),
		.from = row->from, .to = row->to, .end = row->end,
		.count = row->count, .mispredicted = row->mispredicted,
		.cycles = row->cycles, .sum_sq = row->sum_sq,
		.kind = row->kind, .flags = row->flags,
	};
	struct session_facts *session =
		facts_session(&profile->facts, row->row.session);

	if (!session)
		return -ENOMEM;
	if (row->evicted > session->evicted)
		session->evicted = row->evicted;
	facts_date(&profile->facts, &edge.origin, time);
	profile->facts.rows++;
	return add_row(profile, &edge);
}

/* A branch that stands for a period of them; or a row without raw data. */
static int add_sample(struct hwprof_profile *profile,
		      const struct hwprof_sample *sample)
{
	struct collected_edge edge = {
		.origin = row_origin_of_sample(sample),
		.from = sample->ip, .to = sample->addr,
		.count = sample->period,
	};

	profile->facts.bare_rows += sample->rows;
	profile->facts.samples++;
	if (sample->row && sample->row->type == HWPROF_ROW_EDGE) {
		const struct hwprof_row_edge *row = (const void *)sample->row;

		edge.to = row->to;
		edge.kind = row->kind;
	}
	return edge.count ? add_row(profile, &edge) : 0;
}

static int take(struct hwprof_profile *profile,
		const struct hwprof_sample *sample)
{
	if (!sample->rows || !sample->row)
		return add_sample(profile, sample);
	if (sample->row->type == HWPROF_ROW_EDGE)
		return edges_add_row(profile, (const void *)sample->row,
				     sample->time);
	return 0;
}

/* --- places -------------------------------------------------------------- */

/* 0 is nowhere. @left, if not NULL: bytes from there on that are mapped so. */
static int find_spot(struct code_spot *spot,
		     const struct hwprof_profile *profile,
		     const struct row_origin *origin, uint64_t address,
		     uint64_t *left)
{
	struct location location = { .left = 0 };

	*spot = (struct code_spot){ .object = NULL };
	if (address && location_find(&location, profile, origin, address))
		return -ENOMEM;
	if (address)
		*spot = (struct code_spot){
			.object = location.object, .pid = location.pid,
			.file = location.file, .address = location.address,
		};
	if (left)
		*left = location.left;
	return 0;
}

/* A line is in one mapping, and leads forwards; else its row is damaged. */
static int find_spots(struct edge_entry *entry,
		      const struct hwprof_profile *profile,
		      const struct collected_edge *row)
{
	const struct row_origin *origin = &row->origin;
	uint64_t length = row->end - row->to, left;

	if (find_spot(&entry->from, profile, origin, row->from, NULL) ||
	    find_spot(&entry->to, profile, origin, row->to, &left) ||
	    find_spot(&entry->stop, profile, origin, row->end, NULL))
		return -ENOMEM;
	if (!entry->to.object)
		return 0;
	if (row->end >= row->to && length < left)
		entry->end = entry->to.address + length;
	else
		entry->stop.object = NULL;
	return 0;
}

static int add_edge(struct hwprof_edges *edges,
		    const struct collected_edge *row)
{
	const struct hwprof_profile *profile = &edges->profile;
	struct edge_entry *entry = &edges->edges[edges->edge_count++];
	struct row_weight weight = facts_weight(&profile->facts, &row->origin,
						row->end ? row->count : 0);
	uint32_t pid;

	*entry = (struct edge_entry){
		.count = weighed(&weight, row->count),
		.mispredicted = weighed(&weight, row->mispredicted),
		.cycles = weighed(&weight, row->cycles),
		.sum_sq = row->sum_sq * weight.weight * weight.weight,
		.last = row->origin.last,
		.kind = row->kind, .flags = row->flags,
		.basis = row->origin.basis,
	};
	if (find_spots(entry, profile, row))
		return -ENOMEM;
	pid = entry->from.pid ? entry->from.pid : entry->to.pid;
	entry->comm = profile_comm(profile, pid, entry->last);
	if (row->end || !row->origin.basis)
		edges->profile.found += row->count;
	return 0;
}

static int place_all(struct hwprof_profile *profile, void **rows, size_t count)
{
	struct hwprof_edges *edges = (struct hwprof_edges *)profile;
	struct edge_entry *all = reallocarray(edges->edges,
					      edges->edge_count + count + 1,
					      sizeof(*all));
	int error = 0;
	size_t i;

	if (!all)
		return -ENOMEM;
	edges->edges = all;
	edges->evicted += facts_evicted(&profile->facts);
	for (i = 0; !error && i < count; i++)
		error = add_edge(edges, rows[i]);
	return error;
}

/* --- one entry for what has one place ------------------------------------ */

static int compare_edges(const void *a, const void *b)
{
	const struct edge_entry *x = a, *y = b;
	int order = spot_compare(&x->from, &y->from);

	if (!order)
		order = spot_compare(&x->to, &y->to);
	if (!order)
		order = spot_compare(&x->stop, &y->stop);
	return order ? order : compare_u64(x->end, y->end);
}

static void add_entry(struct edge_entry *to, const struct edge_entry *from)
{
	to->count += from->count;
	to->mispredicted += from->mispredicted;
	to->cycles += from->cycles;
	to->sum_sq += from->sum_sq;
	to->flags |= from->flags;
	if (from->basis > to->basis)
		to->basis = from->basis;
	if (from->kind)
		to->kind = from->kind;
	if (from->last > to->last) {
		to->last = from->last;
		to->comm = from->comm;
	}
}

static void merge_edges(struct hwprof_edges *edges)
{
	size_t kept = 0, i;

	qsort(edges->edges, edges->edge_count, sizeof(*edges->edges),
	      compare_edges);
	for (i = 0; i < edges->edge_count; i++) {
		struct edge_entry *entry = &edges->edges[i];

		if (kept && !compare_edges(&edges->edges[kept - 1], entry))
			add_entry(&edges->edges[kept - 1], entry);
		else
			edges->edges[kept++] = *entry;
	}
	edges->edge_count = kept;
}

/* --- all of it ----------------------------------------------------------- */

static int warn_of_code(struct hwprof_edges *edges)
{
	if (!edges->undecoded)
		return 0;
	return warnings_add(&edges->profile.warnings, 
			    "%" PRIu64 " straight lines ran through code that "
			    "could not be read: conditional jumps in it that "
			    "were never taken are missing",
			    edges->undecoded);
}

static int finish(struct hwprof_profile *profile)
{
	struct hwprof_edges *edges = (struct hwprof_edges *)profile;
	int error;

	merge_edges(edges);
	error = edge_lines_make(&edges->lines, edges->edges,
				edges->edge_count);
	if (!error)
		error = edges_make_branches(edges);
	return error ? error : warn_of_code(edges);
}

static void destroy(struct hwprof_profile *profile)
{
	struct hwprof_edges *edges = (struct hwprof_edges *)profile;

	edge_lines_free(&edges->lines);
	free(edges->edges);
	free(edges->branches);
	free(edges->targets);
}

const struct profile_kind edges_kind = {
	.size = sizeof(struct hwprof_edges),
	.kind = HWPROF_KIND_EDGES,
	.about = "edges",
	.units = "taken branches",
	.things = "edges",
	.lacking = "the lines behind them are not known",
	.take = take,
	.place = place_all,
	.finish = finish,
	.count = hwprof_edges_count,
	.destroy = destroy,
};

size_t hwprof_edges_count(const struct hwprof_profile *profile)
{
	const struct hwprof_edges *edges = (const void *)profile;

	return profile->kind == &edges_kind ? edges->branch_count : 0;
}

const struct hwprof_branch_site *
hwprof_edges_get(const struct hwprof_profile *profile, size_t index)
{
	const struct hwprof_edges *edges = (const void *)profile;

	return &edges->branches[index].site;
}

size_t hwprof_edges_edge_count(const struct hwprof_profile *profile)
{
	const struct hwprof_edges *edges = (const void *)profile;

	return profile->kind == &edges_kind ? edges->edge_count : 0;
}

void hwprof_edges_edge(const struct hwprof_profile *profile, size_t index,
		       struct hwprof_edge *edge)
{
	const struct hwprof_edges *edges = (const void *)profile;
	const struct edge_entry *entry = &edges->edges[index];
	struct object *from = entry->from.object, *to = entry->to.object;

	*edge = (struct hwprof_edge){
		.from_object = from ? object_name(from) : NULL,
		.from_build_id = from ? object_build_id(from) : NULL,
		.from = entry->from.address,
		.to_object = to ? object_name(to) : NULL,
		.to_build_id = to ? object_build_id(to) : NULL,
		.to = entry->to.address, .end = entry->end,
		.count = entry->count, .mispredicted = entry->mispredicted,
		.cycles = entry->cycles, .kind = entry->kind,
		.predicted = entry->flags & HWPROF_EDGE_PREDICTION,
		.basis = entry->basis,
	};
}
