// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "phases.h"

/* A vector: counts by thing, which ascend. */
struct vector {
	struct phase_count *counts;
	size_t count;
	uint64_t sum;
};

/* --- the run -------------------------------------------------------------- */

int phase_run_add(struct phase_run *run, uint64_t time, uint64_t thing,
		  uint64_t count)
{
	struct phase_count *counts = array_grow(run->counts, &run->room,
						run->count + 1,
						sizeof(*counts));

	if (!counts)
		return -ENOMEM;
	run->counts = counts;
	counts[run->count++] = (struct phase_count){ time, thing, count };
	return 0;
}

int phase_run_end(struct phase_run *run, uint64_t time)
{
	uint64_t *ends = array_grow(run->ends, &run->end_room,
				    run->end_count + 1, sizeof(*ends));

	if (!ends)
		return -ENOMEM;
	run->ends = ends;
	ends[run->end_count++] = time;
	return 0;
}

void phase_run_free(struct phase_run *run)
{
	free(run->counts);
	free(run->ends);
	*run = (struct phase_run){ .count = 0 };
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_ends(const void *a, const void *b)
{
	return compare_numbers(*(const uint64_t *)a, *(const uint64_t *)b);
}

static int compare_times(const void *a, const void *b)
{
	const struct phase_count *left = a, *right = b;

	return compare_numbers(left->time, right->time);
}

static int compare_things(const void *a, const void *b)
{
	const struct phase_count *left = a, *right = b;

	return compare_numbers(left->thing, right->thing);
}

/* --- intervals ------------------------------------------------------------ */

/* Keeps ends that are @least apart. The last one stays. */
static void thin_out(struct phase_run *run, uint64_t least)
{
	size_t kept = 0, i;

	if (run->end_count)
		qsort(run->ends, run->end_count, sizeof(*run->ends),
		      compare_ends);
	for (i = 0; i < run->end_count; i++) {
		uint64_t end = run->ends[i];

		if (kept && (end == run->ends[kept - 1] ||
			     end - run->ends[kept - 1] < least)) {
			if (i + 1 == run->end_count)
				run->ends[kept - 1] = end;
			continue;
		}
		run->ends[kept++] = end;
	}
	run->end_count = kept;
}

/* Makes sure that the last end is behind all counts. */
static int close_run(struct phase_run *run)
{
	uint64_t last = run->count ? run->counts[run->count - 1].time : 0;

	if (!run->count ||
	    (run->end_count && run->ends[run->end_count - 1] >= last))
		return 0;
	return phase_run_end(run, last);
}

/* Adds up counts of one thing, and returns their vector. */
static struct vector vector_of(struct phase_count *counts, size_t count)
{
	struct vector vector = { .counts = counts };
	size_t i;

	if (count)
		qsort(counts, count, sizeof(*counts), compare_things);
	for (i = 0; i < count; i++) {
		vector.sum += counts[i].count;
		if (vector.count &&
		    counts[vector.count - 1].thing == counts[i].thing)
			counts[vector.count - 1].count += counts[i].count;
		else
			counts[vector.count++] = counts[i];
	}
	return vector;
}

/* --- distances ------------------------------------------------------------ */

static double share_of(const struct vector *vector, size_t index)
{
	return (double)vector->counts[index].count / vector->sum;
}

/* Both vectors have counts. */
static double distance_of(const struct vector *a, const struct vector *b)
{
	double sum = 0;
	size_t i = 0, j = 0;

	while (i < a->count || j < b->count) {
		if (j == b->count ||
		    (i < a->count && a->counts[i].thing < b->counts[j].thing))
			sum += share_of(a, i++);
		else if (i == a->count ||
			 b->counts[j].thing < a->counts[i].thing)
			sum += share_of(b, j++);
		else
			sum += fabs(share_of(a, i++) - share_of(b, j++));
	}
	return sum / 2;
}

/* Adds a vector to the sum of a phase. */
static int add_to(struct vector *phase, const struct vector *vector)
{
	size_t all = phase->count + vector->count, i = 0, j = 0, count = 0;
	struct phase_count *sum = malloc((all + 1) * sizeof(*sum));

	if (!sum)
		return -ENOMEM;
	while (i < phase->count || j < vector->count) {
		if (j == vector->count ||
		    (i < phase->count &&
		     phase->counts[i].thing < vector->counts[j].thing)) {
			sum[count++] = phase->counts[i++];
			continue;
		}
		sum[count] = vector->counts[j];
		if (i < phase->count &&
		    phase->counts[i].thing == vector->counts[j].thing)
			sum[count].count += phase->counts[i++].count;
		count++;
		j++;
	}
	free(phase->counts);
	*phase = (struct vector){ sum, count, phase->sum + vector->sum };
	return 0;
}

/* --- phases --------------------------------------------------------------- */

/* The phases so far. */
struct finding {
	struct vector *phases;
	size_t count, room;
	size_t present;
	double threshold;
};

/* Returns the nearest phase within the threshold, or a new one. */
static size_t nearest(const struct finding *finding,
		      const struct vector *vector)
{
	size_t best = finding->count, i;
	double least = finding->threshold;

	for (i = 0; i < finding->count; i++) {
		double distance = distance_of(vector, &finding->phases[i]);

		if (distance > least ||
		    (best < finding->count && distance == least))
			continue;
		least = distance;
		best = i;
	}
	return best;
}

static int add_phase(struct finding *finding)
{
	struct vector *phases = array_grow(finding->phases, &finding->room,
					   finding->count + 1,
					   sizeof(*phases));

	if (!phases)
		return -ENOMEM;
	finding->phases = phases;
	phases[finding->count++] = (struct vector){ .count = 0 };
	return 0;
}

/* Finds the phase of the next interval, which @vector is of. */
static int classify(struct finding *finding, const struct vector *vector,
		    struct phase_interval *interval)
{
	interval->count = vector->sum;
	interval->phase = finding->present;
	/* Nothing ran. */
	if (!vector->sum && finding->count)
		return 0;
	if (finding->count && finding->phases[finding->present].sum)
		interval->distance =
			distance_of(vector,
				    &finding->phases[finding->present]);
	if (!finding->count)
		interval->phase = 0;
	else if (interval->distance > finding->threshold)
		interval->phase = nearest(finding, vector);
	if (interval->phase == finding->count && add_phase(finding))
		return -ENOMEM;
	finding->present = interval->phase;
	return add_to(&finding->phases[finding->present], vector);
}

static void set_times(struct phases *phases, const struct phase_run *run)
{
	size_t i;

	for (i = 0; i < phases->interval_count; i++) {
		phases->intervals[i].begin = i ? run->ends[i - 1] : 0;
		phases->intervals[i].end = run->ends[i];
	}
}

static int classify_all(struct phases *phases, struct finding *finding,
			struct phase_run *run)
{
	size_t first = 0, i;
	int error = 0;

	for (i = 0; i < phases->interval_count && !error; i++) {
		struct phase_interval *interval = &phases->intervals[i];
		size_t behind = first;
		struct vector vector;

		while (behind < run->count &&
		       run->counts[behind].time <= interval->end)
			behind++;
		vector = vector_of(&run->counts[first], behind - first);
		error = classify(finding, &vector, interval);
		phases->change_count += i && interval->phase !=
						     interval[-1].phase;
		first = behind;
	}
	phases->phase_count = finding->count;
	return error;
}

int phases_find(struct phases *phases, struct phase_run *run, uint64_t least,
		double threshold)
{
	struct finding finding = { .threshold = threshold };
	int error;

	*phases = (struct phases){ .intervals = NULL };
	if (run->count)
		qsort(run->counts, run->count, sizeof(*run->counts),
		      compare_times);
	thin_out(run, least);
	error = close_run(run);
	phases->interval_count = run->end_count;
	phases->intervals = calloc(run->end_count + 1,
				   sizeof(*phases->intervals));
	if (!phases->intervals)
		error = -ENOMEM;
	if (!error) {
		set_times(phases, run);
		error = classify_all(phases, &finding, run);
	}
	while (finding.count)
		free(finding.phases[--finding.count].counts);
	free(finding.phases);
	if (error)
		phases_free(phases);
	return error;
}

void phases_free(struct phases *phases)
{
	free(phases->intervals);
	*phases = (struct phases){ .intervals = NULL };
}

size_t phases_at(const struct phases *phases, uint64_t time)
{
	size_t low = 0, high = phases->interval_count;

	while (low + 1 < high) {
		size_t middle = low + (high - low) / 2;

		if (time > phases->intervals[middle].begin)
			low = middle;
		else
			high = middle;
	}
	return phases->interval_count ? phases->intervals[low].phase : 0;
}
