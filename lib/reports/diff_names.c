// SPDX-License-Identifier: LGPL-2.1-or-later
/* Names by which things of a profile are recognised in another recording. */
#include <inttypes.h>
#include <math.h>

#include "calls.h"
#include "contexts.h"
#include "profile/diff.h"
#include "profile/diff_paths.h"
#include "edges.h"
#include "estimate.h"
#include "loops.h"
#include "paths.h"
#include "ranges.h"
#include "values.h"
#include "base/text.h"

/* The place of a piece of code. */
struct spot {
	const char *object, *build_id, *function, *file;
	uint64_t address, offset;	/* in the object; in the function */
	unsigned int line;
	uint32_t pid;
};

/*
 * In another build, code has moved, but it keeps its line or its function. The
 * sources may be in another folder.
 */
static bool name_spot(const struct spot *spot, enum diff_name sort, FILE *out)
{
	diff_put_path(out, spot->object);
	fputc('|', out);
	if (sort == DIFF_ADDRESS) {
		fprintf(out, "%s|%" PRIu32 "|%" PRIx64,
			text_or_empty(spot->build_id), spot->pid,
			spot->address);
		return true;
	}
	if (!spot->function || (sort != DIFF_SOURCE && sort != DIFF_OFFSET) ||
	    (sort == DIFF_SOURCE && !spot->file))
		return false;
	if (sort == DIFF_SOURCE)
		fprintf(out, "%s|%s|%u", spot->function,
			path_file_name(spot->file), spot->line);
	else
		fprintf(out, "%s|%" PRIx64, spot->function, spot->offset);
	return true;
}

/* --- loops -------------------------------------------------------------- */

static size_t loops_count(const void *loops)
{
	return hwprof_loops_count(loops);
}

static double loops_share(const void *loops, size_t index)
{
	return hwprof_loops_get(loops, index)->share;
}

static uint64_t loops_rank(const void *loops, size_t index)
{
	return hwprof_loops_get(loops, index)->head;
}

static bool loops_name(const void *loops, size_t index, enum diff_name sort,
		       const uint64_t *above, FILE *out)
{
	const struct hwprof_loop *loop = hwprof_loops_get(loops, index);
	const struct spot spot = {
		loop->object, loop->build_id, loop->function, loop->file,
		loop->head, loop->function_offset, loop->line, loop->pid,
	};

	if (sort == DIFF_CODE || sort == DIFF_CALLS || sort == DIFF_NESTING)
		return loop_code_name(loops, index, sort, out);
	return name_spot(&spot, sort, out);
}

static void loops_interval(const void *loops, size_t index, double *low,
			   double *high)
{
	*low = hwprof_loops_get(loops, index)->share_low;
	*high = hwprof_loops_get(loops, index)->share_high;
}

const struct diff_kind loops_diff = {
	.count = loops_count, .share = loops_share, .rank = loops_rank,
	.interval = loops_interval,
	.name = loops_name, .put = loops_put,
};

/* --- ranges ------------------------------------------------------------- */

/* Returns a range; the first one is the root. */
static const struct hwprof_range *range_at(const void *ranges, size_t index)
{
	return hwprof_ranges_get(ranges, index);
}

static size_t ranges_count(const void *ranges)
{
	return hwprof_ranges_count(ranges);
}

static double ranges_share(const void *ranges, size_t index)
{
	return range_at(ranges, index)->share;
}

static uint64_t ranges_rank(const void *ranges, size_t index)
{
	return range_at(ranges, index)->low;
}

static bool ranges_name(const void *ranges, size_t index, enum diff_name sort,
			const uint64_t *above, FILE *out)
{
	const struct hwprof_range *range = range_at(ranges, index);
	const struct spot spot = {
		.object = range->object, .build_id = range->build_id,
		.function = range->function, .address = range->low,
		.offset = range->function_offset, .pid = range->pid,
	};

	const struct spot code = {
		.object = range->code.object, .build_id = range->code.build_id,
		.function = range->code.function, .address = range->code.low,
		.offset = range->code.function_offset,
	};

	fprintf(out, "%u|", range->bits);
	if (range->code.bits || range->code.object) {
		fprintf(out, "%u|", range->code.bits);
		if (!name_spot(&code, sort, out))
			return false;
		fputc('|', out);
	}
	return name_spot(&spot, sort, out);
}

const struct diff_kind ranges_diff = {
	.count = ranges_count, .share = ranges_share,
	.rank = ranges_rank, .name = ranges_name, .put = ranges_put,
};

/* --- call pairs and methods --------------------------------------------- */

static bool name_code(const struct hwprof_code *code, uint32_t pid,
		      enum diff_name sort, FILE *out)
{
	const struct spot spot = {
		code->object, code->build_id, code->function, code->file,
		code->address, code->function_offset, code->line, pid,
	};

	return name_spot(&spot, sort, out);
}

/*
 * Names an entry by its function alone; in another build its line may differ.
 */
static bool name_entry(const struct hwprof_code *code, uint32_t pid,
		       enum diff_name sort, FILE *out)
{
	return name_code(code, pid, sort == DIFF_SOURCE ? DIFF_OFFSET : sort,
			 out);
}

static size_t methods_count(const void *calls)
{
	return hwprof_calls_method_count(calls);
}

static double methods_share(const void *calls, size_t index)
{
	return hwprof_calls_method(calls, index)->called.share;
}

static uint64_t methods_rank(const void *calls, size_t index)
{
	return hwprof_calls_method(calls, index)->entry.address;
}

static bool methods_name(const void *calls, size_t index, enum diff_name sort,
			 const uint64_t *above, FILE *out)
{
	const struct hwprof_method *method = hwprof_calls_method(calls, index);

	return name_entry(&method->entry, method->called.pid, sort, out);
}

static const struct diff_kind methods_diff = {
	.count = methods_count, .share = methods_share, .rank = methods_rank,
	.name = methods_name, .put = calls_put_method,
};

static size_t calls_count(const void *calls)
{
	return hwprof_calls_pair_count(calls);
}

static double calls_share(const void *calls, size_t index)
{
	return hwprof_calls_pair(calls, index)->called.share;
}

static uint64_t calls_rank(const void *calls, size_t index)
{
	return hwprof_calls_pair(calls, index)->site.address;
}

static bool calls_name(const void *calls, size_t index, enum diff_name sort,
		       const uint64_t *above, FILE *out)
{
	const struct hwprof_pair *pair = hwprof_calls_pair(calls, index);

	if (sort == DIFF_CALLS && pair->site.function) {
		diff_put_path(out, pair->site.object);
		fprintf(out, "|%s|", pair->site.function);
		return name_entry(&pair->callee, pair->called.pid, DIFF_OFFSET,
				  out);
	}
	if (!name_code(&pair->site, pair->called.pid, sort, out))
		return false;
	fputc('|', out);
	return name_entry(&pair->callee, pair->called.pid, sort, out);
}

static void calls_interval(const void *calls, size_t index, double *low,
			   double *high)
{
	const struct hwprof_called *called =
		&hwprof_calls_pair(calls, index)->called;
	bool exact = called->basis == HWPROF_BASIS_EXACT;

	*low = exact ? called->share : called->share_low;
	*high = exact ? called->share : called->share_high;
}

const struct diff_kind calls_diff = {
	.count = calls_count, .share = calls_share, .rank = calls_rank,
	.interval = calls_interval,
	.name = calls_name, .put = calls_put,
	.procedures = &methods_diff, .procedures_name = "methods",
};

/* --- edges, by branch --------------------------------------------------- */

static size_t edges_count(const void *edges)
{
	return hwprof_edges_count(edges);
}

static double edges_share(const void *edges, size_t index)
{
	return hwprof_edges_get(edges, index)->share;
}

static uint64_t edges_rank(const void *edges, size_t index)
{
	return hwprof_edges_get(edges, index)->code.address;
}

static bool edges_name(const void *edges, size_t index, enum diff_name sort,
		       const uint64_t *above, FILE *out)
{
	const struct hwprof_branch_site *site = hwprof_edges_get(edges, index);

	return name_code(&site->code, site->pid, sort, out);
}

static void edges_interval(const void *edges, size_t index, double *low,
			   double *high)
{
	const struct hwprof_branch_site *site = hwprof_edges_get(edges, index);
	bool exact = site->basis == HWPROF_BASIS_EXACT;

	*low = exact ? site->share : site->share_low;
	*high = exact ? site->share : site->share_high;
}

const struct diff_kind edges_diff = {
	.count = edges_count, .share = edges_share, .rank = edges_rank,
	.interval = edges_interval,
	.name = edges_name, .put = edges_put,
};

/* --- contexts ----------------------------------------------------------- */

static size_t contexts_count(const void *contexts)
{
	return hwprof_contexts_count(contexts);
}

static double contexts_share(const void *contexts, size_t index)
{
	return hwprof_contexts_get(contexts, index)->share;
}

static uint64_t contexts_rank(const void *contexts, size_t index)
{
	return hwprof_contexts_get(contexts, index)->site;
}

static unsigned int contexts_depth(const void *contexts, size_t index)
{
	return hwprof_contexts_get(contexts, index)->depth;
}

/*
 * Names a context by its callers, site and function, or without the site, which
 * may have moved.
 */
static bool contexts_name(const void *contexts, size_t index,
			  enum diff_name sort, const uint64_t *above, FILE *out)
{
	const struct hwprof_context *context =
		hwprof_contexts_get(contexts, index);
	const struct spot spot = {
		.object = context->object, .build_id = context->build_id,
		.function = context->function, .address = context->address,
		.offset = context->function_offset, .pid = context->pid,
	};
	uint64_t callers = above[context->depth];

	if (context->depth && !callers)
		return false;
	fprintf(out, "%" PRIx64 "|%d|", callers, context->kind);
	if (sort == DIFF_CODE || sort == DIFF_CALLS || sort == DIFF_NESTING)
		return false;
	if (context->kind == HWPROF_CONTEXT_ROOT) {
		fprintf(out, "%s|%" PRIu32, text_or_empty(context->comm),
			context->pid);
		return true;
	}
	if (sort == DIFF_ADDRESS) {
		diff_put_path(out, context->site_object);
		fprintf(out, "|%" PRIx64 "|", context->site);
	} else if (sort == DIFF_SOURCE && context->site_object) {
		fprintf(out, "%s|%" PRIx64 "|",
			text_or_empty(context->site_function),
			context->site_offset);
	}
	return name_spot(&spot, sort == DIFF_ADDRESS ? sort : DIFF_OFFSET, out);
}

/* A stack that was sampled is in the subtree, or not. */
static void contexts_interval(const void *contexts, size_t index, double *low,
			      double *high)
{
	const struct hwprof_contexts *all = contexts;
	double share = hwprof_contexts_get(contexts, index)->share;

	if (!all->samples || isnan(share))
		return;
	*low = *high = share;
	widen_binomial(all->samples, low, high);
}

const struct diff_kind contexts_diff = {
	.count = contexts_count, .share = contexts_share,
	.interval = contexts_interval,
	.rank = contexts_rank, .name = contexts_name,
	.depth = contexts_depth, .put = contexts_put,
};

/* --- paths and their procedures ----------------------------------------- */

static size_t procedures_count(const void *paths)
{
	return hwprof_paths_procedures(paths);
}

static double procedures_share(const void *paths, size_t index)
{
	return hwprof_paths_procedure(paths, index)->share;
}

static uint64_t procedures_rank(const void *paths, size_t index)
{
	return hwprof_paths_procedure(paths, index)->address;
}

static bool procedures_name(const void *paths, size_t index,
			    enum diff_name sort, const uint64_t *above,
			    FILE *out)
{
	const struct hwprof_procedure *procedure =
		hwprof_paths_procedure(paths, index);
	const struct spot spot = {
		.object = procedure->object, .build_id = procedure->build_id,
		.function = procedure->function, .pid = procedure->pid,
		.address = procedure->address,
	};

	return name_spot(&spot, sort, out);
}

static const struct diff_kind procedures_diff = {
	.count = procedures_count, .share = procedures_share,
	.rank = procedures_rank, .name = procedures_name,
	.put = paths_put_procedure,
};

static size_t paths_count(const void *paths)
{
	return hwprof_paths_count(paths);
}

static double paths_share(const void *paths, size_t index)
{
	return hwprof_paths_get(paths, index)->share;
}

static uint64_t paths_start(const void *paths, size_t index)
{
	return hwprof_paths_get(paths, index)->start;
}

/* Names a line between taken jumps by its beginning and its length. */
static bool name_line(const struct path_point *first, uint32_t pid,
		      enum diff_name sort, FILE *out)
{
	struct spot spot = {
		.object = object_name(first->object), .pid = pid,
		.address = first->address,
	};

	spot.function = object_symbol(first->object, first->address,
				      &spot.offset);
	spot.file = object_line(first->object, first->address, &spot.line);
	if (!name_spot(&spot, sort, out))
		return false;
	fprintf(out, "+%" PRIx64 "|", sort == DIFF_SOURCE ? 0 :
				      first[1].address - first->address);
	return true;
}

/* Names a path by all its lines, and by its beginning and end. */
static bool paths_name(const void *profile, size_t index, enum diff_name sort,
		       const uint64_t *above, FILE *out)
{
	const struct hwprof_paths *paths = profile;
	const struct path_entry *entry = paths->entries[index];
	const struct hwprof_path *path = &entry->path;
	const struct hwprof_procedure *procedure = path->procedure;
	uint32_t i;

	fprintf(out, "%d|%d|%" PRIu32 "|%s|", path->called, path->returns,
		path->length, sort == DIFF_ADDRESS ?
			      text_or_empty(procedure->build_id) : "");
	for (i = 0; i < path_lines(entry); i++)
		if (!name_line(&entry->points[2 * (size_t)i], procedure->pid,
			       sort, out))
			return false;
	return true;
}

const struct diff_kind paths_diff = {
	.count = paths_count, .share = paths_share, .rank = paths_start,
	.name = paths_name, .put = paths_put,
	.procedures = &procedures_diff, .procedures_name = "procedures",
};

/* --- loads -------------------------------------------------------------- */

static size_t values_count(const void *values)
{
	return hwprof_values_count(values);
}

static double values_share(const void *values, size_t index)
{
	return hwprof_values_get(values, index)->share;
}

static uint64_t values_rank(const void *values, size_t index)
{
	return hwprof_values_get(values, index)->address;
}

static bool values_name(const void *values, size_t index, enum diff_name sort,
			const uint64_t *above, FILE *out)
{
	const struct hwprof_load *load = hwprof_values_get(values, index);
	const struct spot spot = {
		load->object, load->build_id, load->function, load->file,
		load->address, load->function_offset, load->line, load->pid,
	};

	return name_spot(&spot, sort, out);
}

const struct diff_kind values_diff = {
	.count = values_count, .share = values_share,
	.rank = values_rank, .name = values_name, .put = values_put,
};
