// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "code.h"

/* --- addresses ---------------------------------------------------------- */

/* An object that could not be opened has offsets instead of addresses. */
uint64_t code_address(const struct part *part, const struct code_spot *spot,
		      uint64_t address)
{
	if (spot->object != part->object)
		return CODE_OUTSIDE;
	if (!object_elf(part->object))
		return binary_address(&part->binary, address);
	return binary_offset(&part->binary, address) == UINT64_MAX ?
	       CODE_OUTSIDE : address;
}

/* --- collecting --------------------------------------------------------- */

static void add_branch(struct code_profile *code, const struct part *part,
		       const struct edge_entry *edge)
{
	uint64_t from = code_address(part, &edge->from, edge->from.address);
	uint64_t to = code_address(part, &edge->to, edge->to.address);

	/* A branch that is not known has no object. */
	if (!edge->from.object || (from == CODE_OUTSIDE && to == CODE_OUTSIDE))
		return;
	code->branches[code->branch_count++] = (struct code_branch){
		.from = from, .to = to, .count = edge->count,
		.mispredicted = edge->mispredicted,
	};
}

static void add_line(struct code_profile *code, const struct part *part,
		     const struct edge_entry *edge)
{
	uint64_t first, last;

	if (!edge_has_line(edge))
		return;
	first = code_address(part, &edge->to, edge->to.address);
	last = code_address(part, &edge->to, edge->end);
	if (first == CODE_OUTSIDE || last == CODE_OUTSIDE)
		return;
	code->lines[code->line_count++] = (struct code_line){
		.first = first, .last = last, .count = edge->count,
		.entered = edge->from.object != part->object ||
			   edge->kind == HWPROF_BRANCH_RET,
	};
}

static int compare_branches(const void *a, const void *b)
{
	const struct code_branch *x = a, *y = b;
	int order = compare_u64(x->from, y->from);

	return order ? order : compare_u64(x->to, y->to);
}

static int compare_spans(const void *a, const void *b)
{
	const struct code_line *x = a, *y = b;
	int order = compare_u64(x->first, y->first);

	return order ? order : compare_u64(x->last, y->last);
}

static int compare_lines(const void *a, const void *b)
{
	const struct code_line *x = a, *y = b;
	int order = compare_spans(a, b);

	return order ? order : x->entered - y->entered;
}

static void merge_branches(struct code_profile *code)
{
	struct code_branch *all = code->branches;
	size_t kept = 0, i;

	qsort(all, code->branch_count, sizeof(*all), compare_branches);
	for (i = 0; i < code->branch_count; i++) {
		if (!kept || compare_branches(&all[kept - 1], &all[i])) {
			all[kept++] = all[i];
			continue;
		}
		all[kept - 1].count += all[i].count;
		all[kept - 1].mispredicted += all[i].mispredicted;
	}
	code->branch_count = kept;
}

static void merge_lines(struct code_profile *code,
			int (*compare)(const void *a, const void *b))
{
	struct code_line *all = code->lines;
	size_t kept = 0, i;

	for (i = 0; i < code->line_count; i++) {
		if (kept && !compare(&all[kept - 1], &all[i]))
			all[kept - 1].count += all[i].count;
		else
			all[kept++] = all[i];
	}
	code->line_count = kept;
}

void code_merge_lines(struct code_profile *code)
{
	merge_lines(code, compare_spans);
}

int code_collect(struct code_profile *code, const struct hwprof_export *export,
		 const struct part *part)
{
	const struct hwprof_edges *edges = (const void *)export->profile;
	size_t count = edges->edge_count, i;

	*code = (struct code_profile){
		.branches = calloc(count + 1, sizeof(*code->branches)),
		.lines = calloc(count + 1, sizeof(*code->lines)),
	};
	if (!code->branches || !code->lines) {
		code_free(code);
		return -ENOMEM;
	}
	for (i = 0; i < count; i++) {
		add_branch(code, part, &edges->edges[i]);
		add_line(code, part, &edges->edges[i]);
	}
	merge_branches(code);
	qsort(code->lines, code->line_count, sizeof(*code->lines),
	      compare_lines);
	merge_lines(code, compare_lines);
	return 0;
}

void code_free(struct code_profile *code)
{
	free(code->branches);
	free(code->lines);
	*code = (struct code_profile){ .branches = NULL };
}

/* --- lists --------------------------------------------------------------- */

static uint64_t convert(const struct code_text *text, uint64_t address)
{
	return text->convert(text->export, text->part, address);
}

void code_put_lines(const struct code_profile *code,
		    const struct code_text *text)
{
	size_t i;

	fprintf(text->out, "%zu\n", code->line_count);
	for (i = 0; i < code->line_count; i++) {
		const struct code_line *line = &code->lines[i];

		fprintf(text->out, "%" PRIx64 "-%" PRIx64 ":%" PRIu64 "\n",
			convert(text, line->first), convert(text, line->last),
			line->count);
	}
}

static size_t count_led(const struct code_profile *code)
{
	size_t count = 0, i;

	for (i = 0; i < code->branch_count; i++)
		count += code->branches[i].to != CODE_OUTSIDE;
	return count;
}

void code_put_branches(const struct code_profile *code,
		       const struct code_text *text)
{
	size_t i;

	fprintf(text->out, "%zu\n", count_led(code));
	for (i = 0; i < code->branch_count; i++) {
		const struct code_branch *branch = &code->branches[i];

		if (branch->to != CODE_OUTSIDE)
			fprintf(text->out,
				"%" PRIx64 "->%" PRIx64 ":%" PRIu64 "\n",
				convert(text, branch->from),
				convert(text, branch->to), branch->count);
	}
}
