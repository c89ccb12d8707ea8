// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Hot, dense and sparse paths and procedures (Ammons, Ball, Larus, section 6.4,
 * tables 4 and 5).
 */
#include <errno.h>
#include <stdlib.h>

#include "paths.h"

static int compare_procedures(const struct path_entry *x,
			      const struct path_entry *y)
{
	int order = object_compare(path_end(x)->object,
				   path_end(y)->object);

	if (!order)
		order = compare_u64(x->symbol, y->symbol);
	return order ? order : path_compare_owners(x, y);
}

static int by_procedure(const void *a, const void *b)
{
	return compare_procedures(*(struct path_entry *const *)a,
				  *(struct path_entry *const *)b);
}

static void begin_procedure(struct hwprof_procedure *procedure,
			    const struct path_entry *entry)
{
	const struct path_point *end = path_end(entry);
	uint64_t offset;

	procedure->object = object_name(end->object);
	procedure->build_id = object_build_id(end->object);
	procedure->function = object_symbol(end->object, end->address, &offset);
	procedure->address = entry->symbol;
	procedure->pid = entry->pid;
	procedure->comm = entry->comm;
}

static int find_procedures(struct hwprof_paths *paths)
{
	struct hwprof_procedure *procedure = NULL;
	size_t i;

	paths->procedures = calloc(paths->count + 1,
				   sizeof(*paths->procedures));
	paths->order = calloc(paths->count + 1, sizeof(*paths->order));
	if (!paths->procedures || !paths->order)
		return -ENOMEM;
	qsort(paths->entries, paths->count, sizeof(*paths->entries),
	      by_procedure);
	for (i = 0; i < paths->count; i++) {
		struct path_entry *entry = paths->entries[i];

		if (!i || compare_procedures(entry, paths->entries[i - 1])) {
			procedure = &paths->procedures[paths->procedure_count];
			paths->order[paths->procedure_count++] = procedure;
			begin_procedure(procedure, entry);
		}
		procedure->paths++;
		procedure->count += entry->path.count;
		procedure->branches += entry->path.branches;
		procedure->cycles += entry->path.cycles;
		procedure->windows += entry->path.windows;
		procedure->instructions += entry->path.instructions;
		entry->path.procedure = procedure;
		entry->path.end_offset = entry->path.end - entry->symbol;
	}
	return 0;
}

/* --- shares --------------------------------------------------------------- */

enum metric_of { OF_BRANCHES, OF_INSTRUCTIONS, OF_CYCLES, OF_TIME };

/* A path's or a procedure's part of each metric. */
struct amounts {
	double branches, instructions, cycles, windows;
};

struct metric {
	enum metric_of of;
	double hot;			/* least share of what is hot */
	double whole;			/* total that shares refer to */
	double amount, branches;	/* of all paths */
};

static double amount_of(const struct metric *metric,
			const struct amounts *amounts)
{
	switch (metric->of) {
	case OF_TIME:
		return amounts->windows;
	case OF_CYCLES:
		return amounts->cycles;
	case OF_INSTRUCTIONS:
		return amounts->instructions;
	case OF_BRANCHES:
		break;
	}
	return amounts->branches;
}

static double share_of(const struct metric *metric, double amount)
{
	return metric->whole > 0 ? amount / metric->whole : 0;
}

static enum hwprof_heat heat_of(const struct metric *metric, double amount,
				uint64_t branches)
{
	if (share_of(metric, amount) < metric->hot)
		return HWPROF_COLD;
	if (metric->of == OF_BRANCHES)
		return HWPROF_HOT;
	return amount * metric->branches > metric->amount * branches ?
	       HWPROF_DENSE : HWPROF_SPARSE;
}

static void add_heat(struct hwprof_heat_sum *sum, const struct metric *metric,
		     uint64_t branches, double share, uint64_t paths)
{
	sum->number++;
	sum->branches += branches;
	sum->branch_share += branches / metric->branches;
	sum->share += share;
	sum->paths += paths;
}

static int compare_shares(double a, double b)
{
	return (a < b) - (a > b);
}

/* Compares shares. Equal ones have the same order in all runs. */
static int by_share(const void *a, const void *b)
{
	const struct path_entry *x = *(struct path_entry *const *)a;
	const struct path_entry *y = *(struct path_entry *const *)b;
	int order = compare_shares(x->path.share, y->path.share);

	if (!order)
		order = compare_u64(y->path.count, x->path.count);
	if (!order)
		order = compare_u64(x->path.start, y->path.start);
	return order ? order : compare_u64(x->path.end, y->path.end);
}

static int procedures_by_share(const void *a, const void *b)
{
	const struct hwprof_procedure *x =
		*(struct hwprof_procedure *const *)a;
	const struct hwprof_procedure *y =
		*(struct hwprof_procedure *const *)b;
	int order = compare_shares(x->share, y->share);

	return order ? order : compare_u64(x->address, y->address);
}

static void sum_up(struct hwprof_paths *paths, const struct metric *metric)
{
	struct hwprof_paths_summary *summary = &paths->summary;
	double covered = 0;
	size_t i;

	for (i = 0; i < paths->count; i++) {
		const struct hwprof_path *path = &paths->entries[i]->path;

		add_heat(&summary->paths[path->heat], metric, path->branches,
			 path->share, 1);
		covered += path->share;
		if (!summary->half && covered >= 0.5)
			summary->half = i + 1;
		if (!summary->most && covered >= 0.9)
			summary->most = i + 1;
	}
	for (i = 0; i < paths->procedure_count; i++) {
		const struct hwprof_procedure *procedure =
			&paths->procedures[i];

		add_heat(&summary->procedures[procedure->heat], metric,
			 procedure->branches, procedure->share,
			 procedure->paths);
	}
}

static struct amounts path_amounts(const struct hwprof_path *path)
{
	return (struct amounts){
		.branches = path->branches, .cycles = path->cycles,
		.instructions = path->instructions, .windows = path->windows,
	};
}

static struct amounts sum_amounts(struct hwprof_paths *paths)
{
	struct hwprof_paths_summary *summary = &paths->summary;
	struct amounts sums = { .branches = 0 };
	size_t i;

	for (i = 0; i < paths->count; i++) {
		const struct hwprof_path *path = &paths->entries[i]->path;

		sums.cycles += path->cycles;
		sums.instructions += path->instructions;
		if (!path->instructions)
			paths->undecoded += path->branches;
		summary->branches += path->branches;
		summary->count += path->count;
		summary->windows += path->windows;
	}
	sums.branches = summary->branches;
	sums.windows = summary->windows;
	return sums;
}

static enum metric_of which_metric(const struct hwprof_paths *paths,
				   const struct amounts *sums)
{
	if (sums->windows > 0)
		return OF_TIME;
	if (sums->cycles > 0)
		return OF_CYCLES;
	return sums->instructions > 0 &&
	       paths->profile.flags & HWPROF_BY_INSTRUCTIONS ?
	       OF_INSTRUCTIONS : OF_BRANCHES;
}

/*
 * Chooses time if windows were taken on paths, cycles if known, or else
 * branches or, if they are wanted, instructions.
 */
static void choose_metric(struct hwprof_paths *paths, struct metric *metric)
{
	static const char *const names[] = {
		[OF_BRANCHES] = "branches", [OF_CYCLES] = "cycles",
		[OF_INSTRUCTIONS] = "instructions", [OF_TIME] = "time",
	};
	const struct amounts sums = sum_amounts(paths);

	metric->of = which_metric(paths, &sums);
	metric->hot = paths->hot;
	metric->branches = sums.branches;
	metric->amount = amount_of(metric, &sums);
	metric->whole = metric->of == OF_TIME ? paths->profile.windows :
						metric->amount;
	paths->summary.metric = names[metric->of];
}

static void set_shares(struct hwprof_paths *paths, const struct metric *metric)
{
	size_t i;

	for (i = 0; i < paths->count; i++) {
		struct hwprof_path *path = &paths->entries[i]->path;
		const struct amounts amounts = path_amounts(path);
		double amount = amount_of(metric, &amounts);

		path->share = share_of(metric, amount);
		path->heat = heat_of(metric, amount, path->branches);
	}
	for (i = 0; i < paths->procedure_count; i++) {
		struct hwprof_procedure *it = &paths->procedures[i];
		const struct amounts amounts = {
			.branches = it->branches, .cycles = it->cycles,
			.instructions = it->instructions,
			.windows = it->windows,
		};
		double amount = amount_of(metric, &amounts);

		it->share = share_of(metric, amount);
		it->heat = heat_of(metric, amount, it->branches);
	}
}

/* Removes unwanted paths and procedures. Shares remain those of all. */
static void choose(struct hwprof_paths *paths)
{
	const struct hwprof_profile *profile = &paths->profile;
	size_t i, kept = 0;

	for (i = 0; i < paths->count; i++)
		if (profile_wants(profile,
				  paths->entries[i]->path.start_function))
			paths->entries[kept++] = paths->entries[i];
	paths->count = kept;
	for (i = kept = 0; i < paths->procedure_count; i++)
		if (profile_wants(profile, paths->order[i]->function))
			paths->order[kept++] = paths->order[i];
	paths->procedure_count = kept;
}

int paths_rank(struct hwprof_paths *paths)
{
	struct metric metric;

	if (find_procedures(paths) || paths_number(paths))
		return -ENOMEM;
	choose_metric(paths, &metric);
	set_shares(paths, &metric);
	qsort(paths->entries, paths->count, sizeof(*paths->entries), by_share);
	qsort(paths->order, paths->procedure_count, sizeof(*paths->order),
	      procedures_by_share);
	sum_up(paths, &metric);
	choose(paths);
	return 0;
}

const char *hwprof_heat_name(enum hwprof_heat heat)
{
	static const char *const names[] = {
		[HWPROF_COLD] = "cold", [HWPROF_HOT] = "hot",
		[HWPROF_SPARSE] = "sparse", [HWPROF_DENSE] = "dense",
	};

	return names[heat];
}
