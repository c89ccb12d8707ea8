// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "stretches.h"

/* The fraction of the golden ratio: its multiples are spread evenly. */
static const double DITHER_STEP = 0.6180339887498949;

/* The stretches of one session. */
struct run {
	const struct distance *distances;
	struct stretch *stretches;
	size_t count;
};

struct stretches *stretches_new(const struct distances *distances)
{
	struct stretches *stretches = calloc(1, sizeof(*stretches));

	if (stretches)
		stretches->distances = distances;
	return stretches;
}

void stretches_free(struct stretches *stretches)
{
	if (!stretches)
		return;
	free(stretches->all);
	free(stretches);
}

void stretches_reset(struct stretches *stretches)
{
	stretches->count = 0;
	stretches->dither = 0;
}

/* Makes a stretch for each distance. */
static int grow(struct stretches *stretches)
{
	size_t wanted = stretches->distances->count;
	struct stretch *all = array_grow(stretches->all, &stretches->room,
					 wanted, sizeof(*all));

	if (!all)
		return -ENOMEM;
	stretches->all = all;
	while (stretches->count < wanted)
		all[stretches->count++] =
			(struct stretch){ .weight = 1, .most = 1 };
	return 0;
}

/* Sets the run of @session. Returns false if it has no stretches. */
static bool find_run(const struct stretches *stretches, uint32_t session,
		     struct run *run)
{
	const struct distance *first;

	if (!stretches)
		return false;
	first = distances_of(stretches->distances, session, &run->count);
	if (!first)
		return false;
	run->distances = first;
	run->stretches = stretches->count == stretches->distances->count ?
		stretches->all + (first - stretches->distances->all) : NULL;
	return true;
}

uint32_t stretches_at(const struct stretches *stretches, uint32_t session,
		      uint64_t time)
{
	size_t low = 1, high;
	struct run run;

	if (!find_run(stretches, session, &run))
		return 0;
	/* The first distance has no beginning. */
	for (high = run.count; low < high;) {
		size_t middle = (low + high) / 2;

		if (run.distances[middle].begin < time)
			low = middle + 1;
		else
			high = middle;
	}
	return run.distances - stretches->distances->all + low;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

int stretches_note(struct stretches *stretches,
		   const struct hwprof_row_totals *row)
{
	uint64_t own = row->task_ns > row->cost_ns ?
		       row->task_ns - row->cost_ns : row->task_ns;
	struct stretch *stretch;
	struct run run;
	size_t at;

	if (!stretches)
		return 0;
	if (grow(stretches))
		return -ENOMEM;
	if (!find_run(stretches, row->row.session, &run))
		return 0;
	/* Numbers follow each other, or the distances are of no use. */
	at = row->changes - run.distances->number;
	if (at >= run.count || run.distances[at].number != row->changes) {
		run.stretches->foreign = true;
		return 0;
	}
	stretch = &run.stretches[at];
	run.stretches->by_time = row->basis == HWPROF_BASIS_TIME;
	stretch->windows = larger(stretch->windows, row->windows);
	stretch->own_ns = larger(stretch->own_ns, own);
	return 0;
}

/* --- weights -------------------------------------------------------------- */

/*
 * Returns true if the distances are known from the first to the last, and only
 * they differ.
 */
static bool is_known(const struct run *run)
{
	const struct distance *first = run->distances;
	size_t i;

	if (run->stretches && run->stretches->foreign)
		return false;
	for (i = 0; i < run->count; i++) {
		const struct distance *it = &run->distances[i];

		if (it->number != first->number + i ||
		    it->burst != first->burst ||
		    it->frequency != first->frequency ||
		    it->filtered != first->filtered ||
		    !it->budget_permille != !first->budget_permille ||
		    (!it->budget_permille && !it->period))
			return false;
	}
	return true;
}

/* Sets what each stretch had alone, because totals only grow. */
static void subtract(const struct run *run)
{
	uint64_t windows = 0, own_ns = 0;
	size_t i;

	for (i = 0; i < run->count; i++) {
		struct stretch *it = &run->stretches[i];

		it->took = it->windows > windows ? it->windows - windows : 0;
		it->own = it->own_ns > own_ns ? it->own_ns - own_ns : 0;
		windows = larger(windows, it->windows);
		own_ns = larger(own_ns, it->own_ns);
	}
}

/*
 * Sets weights of time by windows. Where no window was taken, the time is that
 * of the next stretch with windows, or of the last one.
 */
static void weigh_by_time(const struct run *run)
{
	struct stretch *last = NULL;
	double own = 0;
	size_t i;

	for (i = 0; i < run->count; i++) {
		struct stretch *it = &run->stretches[i];

		own += it->own;
		it->weight = 0;
		if (!it->took)
			continue;
		it->weight = own / it->took;
		own = 0;
		last = it;
	}
	if (last)
		last->weight += own / last->took;
}

static void weigh_by_distance(const struct run *run)
{
	size_t i;

	for (i = 0; i < run->count; i++) {
		const struct distance *it = &run->distances[i];

		run->stretches[i].weight = it->frequency ? 1. / it->period :
							   it->period;
	}
}

/* Makes the smallest weight 1. Stretches without a weight get it, too. */
static void scale(const struct run *run)
{
	double least = 0;
	size_t i;

	for (i = 0; i < run->count; i++) {
		double weight = run->stretches[i].weight;

		if (weight > 0 && (!least || weight < least))
			least = weight;
	}
	for (i = 0; i < run->count; i++) {
		struct stretch *it = &run->stretches[i];

		it->weight = it->weight > 0 ? it->weight / least : 1;
		if (it->weight > run->stretches->most)
			run->stretches->most = it->weight;
	}
}

static void weigh(const struct run *run)
{
	size_t i;

	subtract(run);
	run->stretches->most = 1;
	for (i = 0; i < run->count; i++) {
		run->stretches[i].units = 0;
		run->stretches[i].weight = 1;
	}
	if (run->count < 2 || !is_known(run))
		return;
	/* A machine that is late takes fewer windows than a period asks for. */
	if (run->distances->budget_permille ||
	    (run->stretches->by_time && !run->distances->filtered))
		weigh_by_time(run);
	else
		weigh_by_distance(run);
	scale(run);
}

int stretches_weigh(struct stretches *stretches)
{
	const struct distances *distances;
	struct run run;
	size_t i;

	if (!stretches)
		return 0;
	if (grow(stretches))
		return -ENOMEM;
	distances = stretches->distances;
	for (i = 0; i < distances->count; i += run.count) {
		find_run(stretches, distances->all[i].session, &run);
		weigh(&run);
	}
	return 0;
}

bool stretches_know(const struct stretches *stretches, uint32_t session)
{
	struct run run;

	return find_run(stretches, session, &run) && is_known(&run);
}

struct row_weight stretches_row(struct stretches *stretches, uint32_t number,
				uint64_t units)
{
	struct row_weight row = { .weight = 1 };

	if (!stretches || !number || number > stretches->count)
		return row;
	stretches->all[number - 1].units += units;
	stretches->dither += DITHER_STEP;
	stretches->dither -= stretches->dither >= 1;
	row.weight = stretches->all[number - 1].weight;
	row.dither = stretches->dither;
	return row;
}

int stretches_unseen(struct stretches *stretches, uint32_t number,
		     uint64_t units)
{
	if (!stretches || !number)
		return 0;
	if (grow(stretches))
		return -ENOMEM;
	stretches->all[number - 1].unseen += units;
	return 0;
}

int stretches_sampled(struct stretches *stretches, uint32_t number,
		      uint64_t weight, uint64_t samples)
{
	if (!stretches || !number)
		return 0;
	if (grow(stretches))
		return -ENOMEM;
	stretches->all[number - 1].sampled += weight;
	stretches->all[number - 1].samples += samples;
	return 0;
}

uint64_t stretches_more(const struct stretches *stretches)
{
	double more = 0;
	size_t i;

	for (i = 0; stretches && i < stretches->count; i++)
		more += (stretches->all[i].weight - 1) *
			stretches->all[i].unseen;
	more += 0.5;
	return more < 0x1p64 ? (uint64_t)more : UINT64_MAX;
}

double stretches_most(const struct stretches *stretches, uint32_t session)
{
	struct run run;

	return find_run(stretches, session, &run) && run.stretches ?
	       run.stretches->most : 1;
}

double stretches_windows(const struct stretches *stretches, uint32_t session,
			 double *spread)
{
	double windows = 0;
	struct run run;
	size_t i;

	if (!find_run(stretches, session, &run) || !run.stretches)
		return 0;
	for (i = 0; i < run.count; i++) {
		const struct stretch *it = &run.stretches[i];
		double units = it->weight * it->units;

		windows += it->weight * it->took;
		if (it->took > 0)
			*spread += units * units / it->took;
		if (it->samples > 0)
			*spread += it->sampled * it->sampled / it->samples;
	}
	return windows;
}

/* --- what happened -------------------------------------------------------- */

/* Returns a number in proportion to the distance. */
static double length_of(const struct distance *distance)
{
	if (distance->budget_permille)
		return 1. / distance->budget_permille;
	if (!distance->period)
		return 1;
	return distance->frequency ? 1. / distance->period : distance->period;
}

uint32_t stretches_budget(const struct stretches *stretches, uint32_t session)
{
	struct run run;

	return find_run(stretches, session, &run) ?
	       run.distances->budget_permille : 0;
}

static double told(const struct distance *distance)
{
	return distance->budget_permille ? distance->budget_permille / 1000. :
					   distance->period;
}

static const char *unit_of(const struct distance *distance)
{
	return distance->budget_permille ? "budget" :
	       distance->frequency ? "frequency" : "period";
}

static void tell_first(const struct distance *first,
		       struct hwprof_distances *sum)
{
	sum->unit = unit_of(first);
	sum->asked = sum->longest = told(first);
	sum->factor = 1;
}

void stretches_tell(const struct stretches *stretches, uint32_t session,
		    bool weighed, struct hwprof_distances *sum)
{
	struct run run;
	size_t i;

	if (!find_run(stretches, session, &run) || run.count < 2)
		return;
	if (!sum->sessions++)
		tell_first(run.distances, sum);
	sum->weighed |= weighed;
	for (i = 1; i < run.count; i++) {
		const struct distance *it = &run.distances[i];
		double length = length_of(it), factor;

		sum->lengthened += length > length_of(it - 1);
		sum->shortened += length < length_of(it - 1);
		factor = length / length_of(run.distances);
		if (factor <= sum->factor || strcmp(unit_of(it), sum->unit))
			continue;
		sum->factor = factor;
		sum->longest = told(it);
	}
}
