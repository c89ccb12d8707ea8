// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "calls.h"
#include "estimate.h"
#include "location.h"
#include "base/tree.h"

/* --- rows, summed --------------------------------------------------------- */

static int compare_rows(const void *a, const void *b)
{
	const struct collected_call *x = a, *y = b;
	int order = compare_u64(x->site, y->site);

	if (!order)
		order = compare_u64(x->callee, y->callee);
	return order ? order : row_origin_compare(&x->origin, &y->origin);
}

static int add_row(struct hwprof_profile *profile,
		   const struct collected_call *from)
{
	struct collected_call *to;
	bool is_new;

	to = tree_get(&profile->rows, from, sizeof(*from), compare_rows,
		      &is_new);
	if (!to)
		return -ENOMEM;
	if (is_new)
		return 0;
	row_origin_add(&to->origin, &from->origin);
	to->count += from->count;
	to->sum_sq += from->sum_sq;
	/* Rows come out of order, but both values only grow. */
	if (from->evicted > to->evicted)
		to->evicted = from->evicted;
	if (from->error > to->error)
		to->error = from->error;
	return 0;
}

int calls_add_row(struct hwprof_profile *profile,
		  const struct hwprof_row_call *row,
		  uint64_t time)
{
	struct collected_call call = {
		.origin = row_origin_of(&row->row, row->basis, time),
		.site = row->site,
		.callee = row->callee,
		.count = row->calls,
		.error = row->error,
		.evicted = row->evicted,
		.sum_sq = row->sum_sq,
	};
	struct session_facts *session =
		facts_session(&profile->facts, row->row.session);

	if (!session)
		return -ENOMEM;
	if (row->evicted > session->evicted)
		session->evicted = row->evicted;
	facts_date(&profile->facts, &call.origin, time);
	profile->facts.rows++;
	return add_row(profile, &call);
}

/*
 * Adds a sample, which is one call that stands for a period of calls, or a row
 * without its raw data.
 */
static int add_sample(struct hwprof_profile *profile,
		      const struct hwprof_sample *sample)
{
	struct collected_call call = {
		.origin = row_origin_of_sample(sample),
		.site = sample->ip,
		.callee = sample->addr,
		.count = sample->period,
	};

	profile->facts.bare_rows += sample->rows;
	profile->facts.samples++;
	if (sample->row && sample->row->type == HWPROF_ROW_CALL)
		call.callee = ((const struct hwprof_row_call *)
			       sample->row)->callee;
	return call.count ? add_row(profile, &call) : 0;
}

static int take(struct hwprof_profile *profile,
		const struct hwprof_sample *sample)
{
	if (!sample->rows || !sample->row)
		return add_sample(profile, sample);
	if (sample->row->type == HWPROF_ROW_CALL)
		return calls_add_row(profile, (const void *)sample->row,
				     sample->time);
	return 0;
}

/* --- places --------------------------------------------------------------- */

/* Returns the origin of @row; its session is in profile->facts. */
static struct call_origin origin_of(const struct hwprof_profile *profile,
				    const struct collected_call *row,
				    uint32_t pid)
{
	const struct recording_facts *facts = &profile->facts;
	uint64_t evicted = facts_evicted_of(facts, row->origin.session);
	uint64_t known = facts_most(facts, row->origin.session, row->evicted);

	return (struct call_origin){
		.file = profile->file_count,
		.session = row->origin.session,
		.space = row->origin.space,
		.pid = row->origin.pid,
		/* The kernel is one program. */
		.programs = row->origin.space ?
			    processes_programs(facts->processes, pid) : 1,
		/* Evicted before its last row, or possibly after it. */
		.missed = facts_most(facts, row->origin.session, row->error) +
			  (evicted > known ? evicted - known : 0),
		.evicted = evicted,
		.evicted_file = facts_evicted(facts),
	};
}

static int add_pair(struct hwprof_calls *calls,
		    const struct collected_call *row)
{
	struct pair_entry *entry = &calls->pairs[calls->pair_count++];
	const struct hwprof_profile *profile = &calls->profile;
	struct hwprof_called *called = &entry->pair.called;
	struct row_weight weight = facts_weight(&profile->facts, &row->origin,
						row->count);
	struct location site, callee;

	if (location_find(&site, profile, &row->origin, row->site) ||
	    location_find(&callee, profile, &row->origin, row->callee))
		return -ENOMEM;
	*entry = (struct pair_entry){
		.pair.site.address = site.address,
		.pair.callee.address = callee.address,
		.site_object = site.object,
		.callee_object = callee.object,
		.sum_sq = row->sum_sq * weight.weight * weight.weight,
		.last = row->origin.last,
		.file = callee.file ? callee.file : site.file,
	};
	called->least = called->most = weighed(&weight, row->count);
	called->basis = row->origin.basis;
	called->pid = callee.pid ? callee.pid : site.pid;
	entry->origin = origin_of(profile, row, entry->file ? called->pid : 0);
	called->comm = profile_comm(profile, called->pid, entry->last);
	calls->total += called->least;
	calls->profile.found += row->count;
	return 0;
}

static int place_all(struct hwprof_profile *profile, void **rows, size_t count)
{
	struct hwprof_calls *calls = (struct hwprof_calls *)profile;
	struct pair_entry *pairs = reallocarray(calls->pairs,
						calls->pair_count + count + 1,
						sizeof(*pairs));
	int error = 0;
	size_t i;

	if (!pairs)
		return -ENOMEM;
	calls->pairs = pairs;
	calls->evicted += facts_evicted(&profile->facts);
	for (i = 0; !error && i < count; i++)
		error = add_pair(calls, rows[i]);
	return error;
}

/* --- pairs and methods ---------------------------------------------------- */

/* Compares callees first, so that the pairs of a method are adjacent. */
static int compare_places(const void *a, const void *b)
{
	const struct pair_entry *x = a, *y = b;
	int order = object_compare(x->callee_object, y->callee_object);

	if (!order)
		order = compare_u64(x->pair.callee.address,
				    y->pair.callee.address);
	if (!order)
		order = compare_u64(x->pair.called.pid, y->pair.called.pid);
	if (!order)
		order = compare_u64(x->file, y->file);
	if (!order)
		order = object_compare(x->site_object, y->site_object);
	return order ? order : compare_u64(x->pair.site.address,
					   y->pair.site.address);
}

static int compare_sessions(const struct pair_entry *x,
			    const struct pair_entry *y)
{
	int order = compare_places(x, y);

	if (!order)
		order = compare_u64(x->origin.file, y->origin.file);
	return order ? order : compare_u64(x->origin.session,
					   y->origin.session);
}

static int compare_entries(const void *a, const void *b)
{
	const struct pair_entry *x = a, *y = b;
	int order = compare_sessions(x, y);

	return order ? order : compare_u64(x->origin.space, y->origin.space);
}

static bool same_method(const struct pair_entry *a, const struct pair_entry *b)
{
	return a->callee_object == b->callee_object &&
	       a->pair.callee.address == b->pair.callee.address &&
	       a->pair.called.pid == b->pair.called.pid && a->file == b->file;
}

/* Adds all counts but `most`. The calls ended at *@last and @from_last. */
static void add_called(struct hwprof_called *to, uint64_t *last,
		       const struct hwprof_called *from, uint64_t from_last)
{
	to->least += from->least;
	if (from->basis > to->basis)
		to->basis = from->basis;
	if (from_last > *last) {
		*last = from_last;
		to->comm = from->comm;
	}
}

/* --- bounds --------------------------------------------------------------- */

/*
 * Returns the calls evicted by all sessions that may have seen the pair. A
 * process is in one file.
 */
static uint64_t evicted_around(const struct hwprof_calls *calls,
			       const struct pair_entry *entry)
{
	return entry->file ? entry->origin.evicted_file : calls->evicted;
}

/*
 * Returns how many of the evicted calls were certainly not of this pair.
 * @entries are those of one place and session. The number is known only if each
 * program that may have made the calls has a row of the pair: rows do not tell
 * what a program without one lost. Of a program's rows of several stretches,
 * the one that was written last knows most.
 */
static uint64_t spared(const struct pair_entry *entries, size_t count)
{
	uint64_t evicted = entries->origin.evicted, missed = 0, least = 0;
	uint32_t spaces = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		const struct call_origin *origin = &entries[i].origin;

		if (!i || origin->space != entries[i - 1].origin.space ||
		    origin->pid != entries[i - 1].origin.pid) {
			missed += least;
			least = origin->missed;
			spaces += !i || origin->space !=
					entries[i - 1].origin.space;
		} else if (origin->missed < least) {
			least = origin->missed;
		}
	}
	missed += least;
	return entries->origin.programs && spaces >= entries->origin.programs &&
	       missed < evicted ? evicted - missed : 0;
}

/* Adds all calls that may also belong to a pair to the pair's first entry. */
static void set_most(struct hwprof_calls *calls)
{
	struct pair_entry *first = NULL;
	size_t i, count;

	for (i = 0; i < calls->pair_count; i += count) {
		struct pair_entry *entry = &calls->pairs[i];

		for (count = 1; i + count < calls->pair_count &&
		     !compare_sessions(entry, entry + count);)
			count++;
		if (!first || compare_places(first, entry)) {
			first = entry;
			first->pair.called.most += evicted_around(calls, first);
		}
		first->pair.called.most -= spared(entry, count);
	}
}

/* --- what is shown -------------------------------------------------------- */

/* Merges the entries of each place. */
static void merge_pairs(struct hwprof_calls *calls)
{
	size_t kept = 0, i;

	qsort(calls->pairs, calls->pair_count, sizeof(*calls->pairs),
	      compare_entries);
	set_most(calls);
	for (i = 0; i < calls->pair_count; i++) {
		struct pair_entry *entry = &calls->pairs[i];
		struct pair_entry *last = &calls->pairs[kept - !!kept];

		if (kept && !compare_places(last, entry)) {
			add_called(&last->pair.called, &last->last,
				   &entry->pair.called, entry->last);
			last->pair.called.most += entry->pair.called.most;
			last->sum_sq += entry->sum_sq;
		} else {
			calls->pairs[kept++] = *entry;
		}
	}
	calls->pair_count = kept;
}

/*
 * Builds methods. Each may have had all evicted calls, since one of its pairs
 * may have no row.
 */
static int make_methods(struct hwprof_calls *calls)
{
	size_t i;

	calls->methods = calloc(calls->pair_count + 1, sizeof(*calls->methods));
	if (!calls->methods)
		return -ENOMEM;
	for (i = 0; i < calls->pair_count; i++) {
		const struct pair_entry *entry = &calls->pairs[i];
		struct method_entry *to;

		if (!i || !same_method(entry - 1, entry)) {
			to = &calls->methods[calls->method_count++];
			to->object = entry->callee_object;
			to->method.entry = entry->pair.callee;
			to->method.called = entry->pair.called;
			to->method.called.most = entry->pair.called.least +
						 evicted_around(calls, entry);
			to->last = entry->last;
		} else {
			to = &calls->methods[calls->method_count - 1];
			add_called(&to->method.called, &to->last,
				   &entry->pair.called, entry->last);
			to->method.called.most += entry->pair.called.least;
		}
		to->method.sites++;
	}
	return 0;
}

static void describe_called(const struct hwprof_calls *calls,
			    struct hwprof_called *called)
{
	if (calls->total)
		called->share = (double)called->least / calls->total;
	called->share_low = called->share_high = NAN;
}

static void describe_code(struct hwprof_code *code, struct object *object)
{
	code->object = object_name(object);
	code->build_id = object_build_id(object);
	code->function = object_symbol(object, code->address,
				       &code->function_offset);
	code->file = object_line(object, code->address, &code->line);
}

static int compare_called(const struct hwprof_called *a,
			  const struct hwprof_called *b)
{
	return compare_u64(b->least, a->least);
}

static int compare_pairs(const void *a, const void *b)
{
	const struct pair_entry *x = a, *y = b;
	int order = compare_called(&x->pair.called, &y->pair.called);

	if (!order)
		order = compare_u64(x->pair.site.address, y->pair.site.address);
	return order ? order : compare_u64(x->pair.callee.address,
					   y->pair.callee.address);
}

static int compare_methods(const void *a, const void *b)
{
	const struct method_entry *x = a, *y = b;
	int order = compare_called(&x->method.called, &y->method.called);

	return order ? order : compare_u64(x->method.entry.address,
					   y->method.entry.address);
}

static void describe(struct hwprof_calls *calls)
{
	const struct share_facts facts = share_facts_of(&calls->profile,
							calls->total);
	size_t i;

	for (i = 0; i < calls->pair_count; i++) {
		struct pair_entry *entry = &calls->pairs[i];
		struct hwprof_called *called = &entry->pair.called;

		describe_called(calls, called);
		if (called->basis > HWPROF_BASIS_EXACT)
			estimate_share(called, entry->sum_sq, &facts);
		widen_share(called, calls->profile.inferred);
		describe_code(&entry->pair.site, entry->site_object);
		describe_code(&entry->pair.callee, entry->callee_object);
	}
	for (i = 0; i < calls->method_count; i++) {
		struct method_entry *entry = &calls->methods[i];

		describe_called(calls, &entry->method.called);
		describe_code(&entry->method.entry, entry->object);
	}
	qsort(calls->pairs, calls->pair_count, sizeof(*calls->pairs),
	      compare_pairs);
	qsort(calls->methods, calls->method_count, sizeof(*calls->methods),
	      compare_methods);
}

/* Removes everything that the wanted function neither calls nor is. */
static void choose(struct hwprof_calls *calls)
{
	const struct hwprof_profile *profile = &calls->profile;
	size_t i, kept = 0;

	for (i = 0; i < calls->pair_count; i++) {
		const struct hwprof_pair *pair = &calls->pairs[i].pair;

		if (profile_wants(profile, pair->site.function) ||
		    profile_wants(profile, pair->callee.function))
			calls->pairs[kept++] = calls->pairs[i];
	}
	calls->pair_count = kept;
	for (i = kept = 0; i < calls->method_count; i++)
		if (profile_wants(profile,
				  calls->methods[i].method.entry.function))
			calls->methods[kept++] = calls->methods[i];
	calls->method_count = kept;
}

/* --- all of it ------------------------------------------------------------ */

static int finish(struct hwprof_profile *profile)
{
	struct hwprof_calls *calls = (struct hwprof_calls *)profile;

	merge_pairs(calls);
	if (make_methods(calls))
		return -ENOMEM;
	describe(calls);
	choose(calls);
	return 0;
}

static void destroy(struct hwprof_profile *profile)
{
	struct hwprof_calls *calls = (struct hwprof_calls *)profile;

	free(calls->pairs);
	free(calls->methods);
}

const struct profile_kind calls_kind = {
	.size = sizeof(struct hwprof_calls),
	.kind = HWPROF_KIND_CALLS,
	.about = "calls",
	.units = "calls",
	.things = "calls",
	.lacking = "how sure their counts are is not known",
	.take = take,
	.place = place_all,
	.finish = finish,
	.count = hwprof_calls_pair_count,
	.destroy = destroy,
};

size_t hwprof_calls_pair_count(const struct hwprof_profile *profile)
{
	const struct hwprof_calls *calls = (const void *)profile;

	return profile->kind == &calls_kind ? calls->pair_count : 0;
}

const struct hwprof_pair *
hwprof_calls_pair(const struct hwprof_profile *profile, size_t index)
{
	const struct hwprof_calls *calls = (const void *)profile;

	return &calls->pairs[index].pair;
}

size_t hwprof_calls_method_count(const struct hwprof_profile *profile)
{
	const struct hwprof_calls *calls = (const void *)profile;

	return profile->kind == &calls_kind ? calls->method_count : 0;
}

const struct hwprof_method *
hwprof_calls_method(const struct hwprof_profile *profile, size_t index)
{
	const struct hwprof_calls *calls = (const void *)profile;

	return &calls->methods[index].method;
}
