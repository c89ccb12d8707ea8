// SPDX-License-Identifier: LGPL-2.1-or-later
/* How often straight lines ran over an instruction. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "edges.h"

static int compare_marks(const void *a, const void *b)
{
	const struct line_mark *x = a, *y = b;

	return spot_compare(&x->spot, &y->spot);
}

static struct line_mark mark_of(const struct edge_entry *edge,
				struct code_spot spot)
{
	return (struct line_mark){
		.spot = spot,
		.weight = { edge->count, sqrt(edge->sum_sq) },
	};
}

/* Each has the weight of all before it, and its own. */
static void sum_up(struct line_mark *marks, size_t count)
{
	size_t i;

	qsort(marks, count, sizeof(*marks), compare_marks);
	for (i = 1; i < count; i++) {
		marks[i].weight.count += marks[i - 1].weight.count;
		marks[i].weight.root += marks[i - 1].weight.root;
	}
}

static void add_line(struct edge_lines *lines, const struct edge_entry *edge)
{
	struct code_spot end = edge->to;

	end.address = edge->end;
	lines->begins[lines->count] = mark_of(edge, edge->to);
	lines->ends[lines->count++] = mark_of(edge, end);
}

int edge_lines_make(struct edge_lines *lines, const struct edge_entry *edges,
		    size_t count)
{
	size_t i;

	lines->begins = calloc(count + 1, sizeof(*lines->begins));
	lines->ends = calloc(count + 1, sizeof(*lines->ends));
	lines->stops = calloc(count + 1, sizeof(*lines->stops));
	if (!lines->begins || !lines->ends || !lines->stops)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		if (edge_has_line(&edges[i]))
			add_line(lines, &edges[i]);
		if (edges[i].stop.object)
			lines->stops[lines->stop_count++] =
				mark_of(&edges[i], edges[i].stop);
	}
	sum_up(lines->begins, lines->count);
	sum_up(lines->ends, lines->count);
	sum_up(lines->stops, lines->stop_count);
	return 0;
}

void edge_lines_free(struct edge_lines *lines)
{
	free(lines->begins);
	free(lines->ends);
	free(lines->stops);
}

/* The weight of all marks before @spot or, if @at, up to it. */
static struct weight weight_until(const struct line_mark *marks, size_t count,
				  const struct code_spot *spot, bool at)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (spot_compare(&marks[middle].spot, spot) < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? marks[low - 1].weight : (struct weight){ 0, 0 };
}

/* The roots are sums of floating-point numbers. */
static struct weight difference(struct weight a, struct weight b)
{
	return (struct weight){
		a.count - b.count,
		a.count == b.count ? 0 : fmax(a.root - b.root, 0),
	};
}

/* Lines of other objects begin and end, and have gone from the difference. */
struct weight edge_lines_over(const struct edge_lines *lines,
			      const struct code_spot *spot)
{
	return difference(weight_until(lines->begins, lines->count, spot, true),
			  weight_until(lines->ends, lines->count, spot, true));
}

struct weight edge_lines_to(const struct edge_lines *lines,
			    const struct code_spot *spot)
{
	return difference(weight_until(lines->stops, lines->stop_count, spot,
				       true),
			  weight_until(lines->stops, lines->stop_count, spot,
				       false));
}
