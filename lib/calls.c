// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>

#include "calls.h"
#include "place.h"

/* --- rows, summed ----------------------------------------------------------- */

static int compare_rows(const void *a, const void *b)
{
	const struct collected_call *x = a, *y = b;
	int order = compare_u64(x->site, y->site);

	if (!order)
		order = compare_u64(x->callee, y->callee);
	if (!order)
		order = compare_u64(x->session, y->session);
	if (!order)
		order = compare_u64(x->space, y->space);
	/* Space 0 is of no process in particular, so the pid counts too. */
	if (!order)
		order = compare_u64(x->pid, y->pid);
	/* Samples and rows of one run count the same things: not to be added. */
	return order ? order : !!x->basis - !!y->basis;
}

static void sum_up(struct collected_call *to, const struct collected_call *from)
{
	to->count += from->count;
	to->sum_sq += from->sum_sq;
	/* Rows come out of order, but both only grow. */
	if (from->evicted > to->evicted)
		to->evicted = from->evicted;
	if (from->error > to->error)
		to->error = from->error;
	if (from->first < to->first)
		to->first = from->first;
	if (from->last > to->last)
		to->last = from->last;
	if (from->basis > to->basis)
		to->basis = from->basis;
}

static int add_row(struct hwprof_calls *calls,
		   const struct collected_call *from)
{
	struct collected_call **found, *row;

	found = tfind(from, &calls->rows, compare_rows);
	if (found) {
		sum_up(*found, from);
		return 0;
	}
	row = malloc(sizeof(*row));
	if (!row)
		return -ENOMEM;
	*row = *from;
	if (!tsearch(row, &calls->rows, compare_rows)) {
		free(row);
		return -ENOMEM;
	}
	calls->row_count++;
	return 0;
}

int calls_add_row(struct hwprof_calls *calls, const struct hwprof_row_call *row,
		  uint64_t time)
{
	struct collected_call call = {
		.session = row->row.session,
		.space = row->row.space,
		.pid = row->row.pid,
		.basis = row->basis,
		.site = row->site,
		.callee = row->callee,
		.count = row->calls,
		.error = row->error,
		.evicted = row->evicted,
		.sum_sq = row->sum_sq,
		.first = time,
		.last = time,
	};

	if (!call.basis || call.basis > HWPROF_BASIS_TIME)
		call.basis = HWPROF_BASIS_TIME;
	calls->collected.rows++;
	return add_row(calls, &call);
}

/* One call that stands for a period of them; or a row without its raw data. */
static int add_sample(struct hwprof_calls *calls,
		      const struct hwprof_sample *sample)
{
	struct collected_call call = {
		.pid = sample->pid,
		.site = sample->ip,
		.callee = sample->addr,
		.count = sample->period,
		.first = sample->time,
		.last = sample->time,
	};

	calls->collected.bare_rows += sample->rows;
	calls->collected.samples++;
	if (sample->row && sample->row->type == HWPROF_ROW_CALL)
		call.callee = ((const struct hwprof_row_call *)
			       sample->row)->callee;
	return call.count ? add_row(calls, &call) : 0;
}

static int take(void *context, struct hwprof_file *file,
		const struct hwprof_sample *sample)
{
	int error = 0;

	if (!sample->rows || !sample->row)
		error = add_sample(context, sample);
	else if (sample->row->type == HWPROF_ROW_CALL)
		error = calls_add_row(context, (const void *)sample->row,
				      sample->time);
	return error ? file_fail(file, -ENOMEM, "out of memory") : 0;
}

/* --- places ----------------------------------------------------------------- */

static int place(const struct hwprof_calls *calls,
		 const struct hwprof_file *file,
		 const struct collected_call *row, uint64_t address,
		 struct object **object, struct hwprof_code *code,
		 uint32_t *pid)
{
	struct place place;

	if (place_find(&place, calls->objects, calls->collected.processes, file,
		       row->pid, row->first, row->last, address))
		return -ENOMEM;
	*object = place.object;
	code->address = place.address;
	if (place.pid)
		*pid = place.pid;
	return 0;
}

/* Calls that were given up until its last row, or may have been after it. */
static uint64_t missed(const struct hwprof_calls *calls,
		       const struct collected_call *row)
{
	size_t i;

	for (i = 0; i < calls->collected.session_count; i++) {
		const struct collected_session *session =
			&calls->collected.sessions[i];

		if (session->session == row->session &&
		    session->totals.evicted > row->evicted)
			return row->error + session->totals.evicted -
			       row->evicted;
	}
	return row->error;
}

static int place_row(struct hwprof_calls *calls,
		     const struct hwprof_file *file,
		     const struct collected_call *row)
{
	struct pair_entry *entry = &calls->pairs[calls->pair_count++];
	struct hwprof_called *called = &entry->pair.called;

	calls->total += row->count;
	entry->sum_sq = row->sum_sq;
	entry->last = row->last;
	called->least = row->count;
	called->most = row->count + missed(calls, row);
	called->basis = row->basis;
	if (place(calls, file, row, row->site, &entry->site_object,
		  &entry->pair.site, &called->pid) ||
	    place(calls, file, row, row->callee, &entry->callee_object,
		  &entry->pair.callee, &called->pid))
		return -ENOMEM;
	if (calls->flags & HWPROF_PER_PROCESS)
		called->pid = row->pid;
	return 0;
}

struct placing {
	struct hwprof_calls *calls;
	const struct hwprof_file *file;
	int error;
};

static void place_one(const void *node, VISIT visit, void *context)
{
	const struct collected_call *row = *(void *const *)node;
	struct placing *placing = context;

	if (visit != postorder && visit != leaf)
		return;
	/* Samples beside rows say nothing more. */
	if (placing->calls->collected.rows && !row->basis)
		return;
	if (!placing->error)
		placing->error = place_row(placing->calls, placing->file, row);
}

static int place_all(struct hwprof_calls *calls, const struct hwprof_file *file)
{
	struct placing placing = { calls, file, 0 };

	calls->pairs = calloc(calls->row_count + 1, sizeof(*calls->pairs));
	if (!calls->pairs)
		return -ENOMEM;
	twalk_r(calls->rows, place_one, &placing);
	return placing.error;
}

/* --- pairs and methods ------------------------------------------------------ */

static int compare_objects(const struct object *a, const struct object *b)
{
	return compare_u64((uintptr_t)a, (uintptr_t)b);
}

/* By callee first, so that the pairs of a method are together. */
static int compare_places(const void *a, const void *b)
{
	const struct pair_entry *x = a, *y = b;
	int order = compare_objects(x->callee_object, y->callee_object);

	if (!order)
		order = compare_u64(x->pair.callee.address,
				    y->pair.callee.address);
	if (!order)
		order = compare_u64(x->pair.called.pid, y->pair.called.pid);
	if (!order)
		order = compare_objects(x->site_object, y->site_object);
	return order ? order : compare_u64(x->pair.site.address,
					   y->pair.site.address);
}

static bool same_method(const struct pair_entry *a, const struct pair_entry *b)
{
	return a->callee_object == b->callee_object &&
	       a->pair.callee.address == b->pair.callee.address &&
	       a->pair.called.pid == b->pair.called.pid;
}

/* What two have in common that were called in turn. */
static void add_called(struct hwprof_called *to,
		       const struct hwprof_called *from)
{
	to->least += from->least;
	to->most += from->most;
	if (from->basis > to->basis)
		to->basis = from->basis;
}

/* One entry for what has one place. */
static void merge_pairs(struct hwprof_calls *calls)
{
	size_t kept = 0, i;

	qsort(calls->pairs, calls->pair_count, sizeof(*calls->pairs),
	      compare_places);
	for (i = 0; i < calls->pair_count; i++) {
		struct pair_entry *entry = &calls->pairs[i];
		struct pair_entry *last = &calls->pairs[kept - !!kept];

		if (kept && !compare_places(last, entry)) {
			add_called(&last->pair.called, &entry->pair.called);
			last->sum_sq += entry->sum_sq;
			if (entry->last > last->last)
				last->last = entry->last;
		} else {
			calls->pairs[kept++] = *entry;
		}
	}
	calls->pair_count = kept;
}

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
			to->last = entry->last;
		} else {
			to = &calls->methods[calls->method_count - 1];
			add_called(&to->method.called, &entry->pair.called);
			if (entry->last > to->last)
				to->last = entry->last;
		}
		to->method.sites++;
	}
	return 0;
}

/*
 * Calls come together, in windows: how much these differ says how sure the
 * share is. Σx²/(Σx)² is the variance of the count's logarithm, if windows are
 * independent, and so much that the total's may be left out. 1.96 + 2.4/n
 * stands for Student's t, as lib/estimate.c has it.
 */
void estimate_share(struct hwprof_called *called, double sum_sq)
{
	double windows = called->least * (double)called->least / sum_sq;
	double reach;

	called->share_low = called->share_high = NAN;
	if (!(sum_sq > 0) || windows < 1.01)
		return;		/* one does not say how much they differ */
	reach = (1.96 + 2.4 / windows) / sqrt(windows - 1);
	if (called->basis == HWPROF_BASIS_TIME)
		reach *= 1.3;
	called->share_low = called->share * exp(-reach);
	called->share_high = fmin(called->share * exp(reach), 1);
}

static void describe_called(const struct hwprof_calls *calls,
			    struct hwprof_called *called, uint64_t last)
{
	uint64_t most = called->least + calls->totals.evicted;

	if (called->most > most)
		called->most = most;
	if (calls->total)
		called->share = (double)called->least / calls->total;
	estimate_share(called, NAN);
	if (called->pid)
		called->comm = processes_comm(calls->collected.processes,
					      called->pid, last);
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

static int compare_pointers(const void *a, const void *b)
{
	return compare_objects(a, b);
}

/* What is wrong with an object is said once. */
static int warn_of_object(struct hwprof_calls *calls,
			  const struct object *object)
{
	const char *warning = object_warning(object);

	if (!warning || tfind(object, &calls->warned, compare_pointers))
		return 0;
	if (!tsearch(object, &calls->warned, compare_pointers))
		return -ENOMEM;
	return warnings_add(&calls->warnings, "%s", warning);
}

static int describe(struct hwprof_calls *calls)
{
	int error = 0;
	size_t i;

	for (i = 0; i < calls->pair_count; i++) {
		struct pair_entry *entry = &calls->pairs[i];
		struct hwprof_called *called = &entry->pair.called;

		describe_called(calls, called, entry->last);
		if (called->basis > HWPROF_BASIS_EXACT)
			estimate_share(called, entry->sum_sq);
		describe_code(&entry->pair.site, entry->site_object);
		describe_code(&entry->pair.callee, entry->callee_object);
		error |= warn_of_object(calls, entry->site_object);
		error |= warn_of_object(calls, entry->callee_object);
	}
	for (i = 0; i < calls->method_count; i++) {
		struct method_entry *entry = &calls->methods[i];

		describe_called(calls, &entry->method.called, entry->last);
		describe_code(&entry->method.entry, entry->object);
	}
	qsort(calls->pairs, calls->pair_count, sizeof(*calls->pairs),
	      compare_pairs);
	qsort(calls->methods, calls->method_count, sizeof(*calls->methods),
	      compare_methods);
	return error;
}

/* --- all of it -------------------------------------------------------------- */

static int warn_of_totals(struct hwprof_calls *calls)
{
	const struct hwprof_totals *totals = &calls->totals;
	struct warnings *warnings = &calls->warnings;
	int error = 0;

	if (calls->collected.bare_rows)
		error |= warnings_add(warnings, "%" PRIu64 " rows have no raw data: how sure their counts are is not known; record with 'perf record -R'",
				      calls->collected.bare_rows);
	else if (totals->samples && totals->rows)
		error |= warnings_add(warnings, "the file has rows and %" PRIu64 " samples of calls: the samples are left out",
				      totals->samples);
	return error | collected_warn(&calls->collected, totals, calls->total,
				      "calls", warnings);
}

static int make(struct hwprof_calls *calls, struct hwprof_file *file,
		calls_gather gather, void *context)
{
	int error;

	calls->objects = objects_new(calls->flags & HWPROF_NO_OBJECTS);
	if (!calls->objects)
		return file_fail(file, -ENOMEM, "out of memory");
	error = gather(calls, file, context);
	if (error)
		return error;
	collected_totals(&calls->collected, file, &calls->totals);
	if (place_all(calls, file))
		return file_fail(file, -ENOMEM, "out of memory");
	merge_pairs(calls);
	if (make_methods(calls) || warn_of_totals(calls) || describe(calls))
		return file_fail(file, -ENOMEM, "out of memory");
	return 0;
}

int calls_make(struct hwprof_calls **result, struct hwprof_file *file,
	       unsigned int flags, calls_gather gather, void *context)
{
	struct hwprof_calls *calls = calloc(1, sizeof(*calls));
	int error;

	*result = NULL;
	if (!calls)
		return file_fail(file, -ENOMEM, "out of memory");
	calls->flags = flags;
	error = make(calls, file, gather, context);
	if (error) {
		hwprof_calls_free(calls);
		return error;
	}
	*result = calls;
	return 0;
}

static int gather_rows(struct hwprof_calls *calls, struct hwprof_file *file,
		       void *context)
{
	return collect_samples(&calls->collected, file, "calls", take, calls);
}

int hwprof_calls_read(struct hwprof_calls **result, struct hwprof_file *file,
		      unsigned int flags)
{
	return calls_make(result, file, flags, gather_rows, NULL);
}

/* Objects are not the tree's to free. */
static void keep(void *object)
{
}

void hwprof_calls_free(struct hwprof_calls *calls)
{
	if (!calls)
		return;
	tdestroy(calls->rows, free);
	tdestroy(calls->warned, keep);
	free(calls->pairs);
	free(calls->methods);
	warnings_free(&calls->warnings);
	collected_free(&calls->collected);
	objects_free(calls->objects);
	free(calls);
}

size_t hwprof_calls_pair_count(const struct hwprof_calls *calls)
{
	return calls->pair_count;
}

const struct hwprof_pair *hwprof_calls_pair(const struct hwprof_calls *calls,
					    size_t index)
{
	return &calls->pairs[index].pair;
}

size_t hwprof_calls_method_count(const struct hwprof_calls *calls)
{
	return calls->method_count;
}

const struct hwprof_method *hwprof_calls_method(const struct hwprof_calls *calls,
						size_t index)
{
	return &calls->methods[index].method;
}

const struct hwprof_totals *hwprof_calls_totals(const struct hwprof_calls *calls)
{
	return &calls->totals;
}

const char *hwprof_calls_warning(const struct hwprof_calls *calls, size_t index)
{
	return warnings_get(&calls->warnings, index);
}
