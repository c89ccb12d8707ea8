/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows become branches. The rows are those of a file, or those that the engine
 * makes of its branch stacks (replay.c). They are summed by edge, and placed in
 * objects, in edges.c. Lines over an address are counted in edge_lines.c.
 * Branches are made in edge_branches.c, and written out in edges_json.c.
 */
#ifndef HWPROF_EDGES_H
#define HWPROF_EDGES_H

#include "base/json.h"
#include "base/row_origin.h"
#include "profile/profile.h"

/* The rows of one edge in one address space of one session, summed. */
struct collected_edge {
	struct row_origin origin;
	uint64_t from, to, end;		/* 0: not known */
	uint64_t count, mispredicted, cycles;
	double sum_sq;
	uint32_t kind, flags;
};

/* An instruction of an object; of a process, where it is alone in having it. */
struct code_spot {
	struct object *object;		/* NULL: not known */
	uint32_t pid;			/* as struct location has them */
	size_t file;
	uint64_t address;
};

/* An edge of what has one place. */
struct edge_entry {
	struct code_spot from, to;
	struct code_spot stop;		/* the branch that the line ends with */
	uint64_t end;			/* its address; 0: there is no line */
	uint64_t count, mispredicted, cycles;
	double sum_sq;
	uint64_t last;			/* time of the last row */
	const char *comm;
	uint32_t kind, flags;
	enum hwprof_basis basis;
};

/* Counts, and the most that the root of their windows' sum_sq can be. */
struct weight {
	uint64_t count;
	double root;
};

/* Where lines begin, or end: by place, each with the weight of all up to it. */
struct line_mark {
	struct code_spot spot;
	struct weight weight;
};

struct edge_lines {
	struct line_mark *begins, *ends;
	size_t count;
	struct line_mark *stops;	/* ends, also where the beginning
					 * was not seen */
	size_t stop_count;
};

struct branch_entry {
	struct code_spot spot;
	struct hwprof_branch_site site;
	struct hwprof_branch_target *targets;
	struct weight led, stopped, passed;
	uint64_t last;
};

struct hwprof_edges {
	struct hwprof_profile profile;
	struct edge_entry *edges;	/* by place */
	size_t edge_count;
	struct branch_entry *branches;	/* by how often they ran */
	size_t branch_count;
	struct hwprof_branch_target *targets;	/* of all */
	struct edge_lines lines;
	enum hwprof_basis basis;	/* the weakest of all edges */
	uint64_t evicted;		/* branches in no row, in all files */
	uint64_t undecoded;		/* counts of lines of unreadable code */
};

extern const struct profile_kind edges_kind;

/* Sums up a row as of @time. -ENOMEM. */
int edges_add_row(struct hwprof_profile *profile,
		  const struct hwprof_row_edge *row, uint64_t time);

/* Compares by object, process, file and address, as tree_compare does. */
static inline int spot_compare(const struct code_spot *a,
			       const struct code_spot *b)
{
	int order = object_compare(a->object, b->object);

	if (!order)
		order = compare_u64(a->pid, b->pid);
	if (!order)
		order = compare_u64(a->file, b->file);
	return order ? order : compare_u64(a->address, b->address);
}

/* Returns true for an edge with a straight line, in one object. */
static inline bool edge_has_line(const struct edge_entry *edge)
{
	return edge->end;
}

/* edge_lines.c: of all edges. -ENOMEM. */
int edge_lines_make(struct edge_lines *lines, const struct edge_entry *edges,
		    size_t count);
void edge_lines_free(struct edge_lines *lines);
/* Lines that run over @spot, and do not end there. */
struct weight edge_lines_over(const struct edge_lines *lines,
			      const struct code_spot *spot);
/* And lines that end there: so often a branch was taken. */
struct weight edge_lines_to(const struct edge_lines *lines,
			    const struct code_spot *spot);

/* edge_branches.c: makes the branches of all edges. -ENOMEM. */
int edges_make_branches(struct hwprof_edges *edges);

/* edges_json.c: writes one branch as JSON. */
void edges_put(struct json *json, const char *name, const void *edges,
	       size_t index);
/* JSON of all of it: as hwprof_profile_json(). */
int edges_json(const struct hwprof_profile *profile,
	       const struct hwprof_json_options *options, FILE *out);

#endif /* HWPROF_EDGES_H */
