// SPDX-License-Identifier: GPL-2.0-only
/*
 * exact_calls [-o] FILE: the call pairs in a recording, beside the branches in it.
 *
 * Of each process: each pair was called no less often than is said, nor more.
 * Prints pairs that are wrong, and how many there are. Exit status 1: a pair is
 * wrong or missing.
 *
 * -o: the overlap of sampled profiles with the exact one instead (Mousa, Krintz:
 * HPS, section 6), of all processes together. A line for each length of a burst
 * and frequency: burst, 1 / frequency, calls that were sampled, and the overlap, in
 * percent, of call pairs and of methods.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/stream.h"
#include "hwprof.h"
#include "tests/engine/random.h"
#include "tests/oracle/array.h"

#define HOT	0.9

struct pair {
	u32 pid;
	u64 site, callee;
	u64 exact, least, error, evicted;
};

/* What moves the sampling counter: a call, or a back edge. */
struct event {
	u32 pid;
	u64 site, callee;	/* site 0: a back edge */
};

/* Consecutive events of a thread. */
struct run {
	u32 pid, tid;
	u64 sequence;
	size_t first, count;
};

struct recording {
	struct { struct pair *items; size_t count, room; } pairs;
	struct { struct event *items; size_t count, room; } events;
	struct { struct run *items; size_t count, room; } runs;
	u64 evicted;
};

static bool is_call(const struct hwprof_branch *branch)
{
	return branch->kind == HWPROF_BRANCH_CALL;
}

static bool is_back_edge(const struct hwprof_branch *branch)
{
	return branch->kind <= HWPROF_BRANCH_INDIRECT &&
	       branch->to <= branch->from &&
	       branch->from - branch->to <= HWPROF_DEFAULT_SPAN;
}

static void take_branches(struct recording *recording,
			  const struct hwprof_row_branches *row)
{
	struct run *run = array_push(&recording->runs);
	u32 i;

	*run = (struct run){ row->row.pid, row->tid, row->sequence,
			     recording->events.count, 0 };
	for (i = 0; i < row->count; i++) {
		const struct hwprof_branch *branch = &row->branches[i];

		if (is_call(branch))
			*array_push(&recording->pairs) = (struct pair){
				.pid = row->row.pid, .site = branch->from,
				.callee = branch->to, .exact = 1,
			};
		if (!is_call(branch) && !is_back_edge(branch))
			continue;
		*array_push(&recording->events) = (struct event){
			.pid = row->row.pid,
			.site = is_call(branch) ? branch->from : 0,
			.callee = branch->to,
		};
		run->count++;
	}
}

static int take(void *context, const struct hwprof_sample *sample)
{
	const struct hwprof_row_call *row = (const void *)sample->row;
	struct recording *recording = context;

	if (!sample->row)
		return 0;
	if (sample->row->type == HWPROF_ROW_BRANCHES)
		take_branches(recording, (const void *)sample->row);
	if (sample->row->type == HWPROF_ROW_CALL)
		*array_push(&recording->pairs) = (struct pair){
			.pid = row->row.pid, .site = row->site,
			.callee = row->callee, .least = row->calls,
			.error = row->error, .evicted = row->evicted,
		};
	/* Were branches evicted, pairs would have more calls than there are. */
	if (sample->row->type == HWPROF_ROW_TOTALS) {
		const struct hwprof_row_totals *totals =
			(const void *)sample->row;

		if (totals->evicted > recording->evicted)
			recording->evicted = totals->evicted;
	}
	return 0;
}

static int compare_numbers(u64 a, u64 b)
{
	return (a > b) - (a < b);
}

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	int order = compare_numbers(x->pid, y->pid);

	if (!order)
		order = compare_numbers(x->site, y->site);
	return order ? order : compare_numbers(x->callee, y->callee);
}

/* --- are they right? -------------------------------------------------------- */

static void sum_up(struct recording *recording)
{
	struct pair *pairs = recording->pairs.items;
	size_t kept = 0, i;

	qsort(pairs, recording->pairs.count, sizeof(*pairs), compare_pairs);
	for (i = 0; i < recording->pairs.count; i++) {
		struct pair *last = &pairs[kept - !!kept];

		if (!kept || compare_pairs(last, &pairs[i])) {
			pairs[kept++] = pairs[i];
			continue;
		}
		last->exact += pairs[i].exact;
		last->least += pairs[i].least;
		last->error = max(last->error, pairs[i].error);
		last->evicted = max(last->evicted, pairs[i].evicted);
	}
	recording->pairs.count = kept;
}

static int check(struct recording *recording)
{
	size_t wrong = 0, sure = 0, i;
	u64 calls = 0;

	sum_up(recording);
	for (i = 0; i < recording->pairs.count; i++) {
		const struct pair *pair = &recording->pairs.items[i];
		u64 most = pair->least + pair->error + recording->evicted -
			   pair->evicted;

		calls += pair->exact;
		sure += pair->least == pair->exact;
		if (pair->least <= pair->exact && pair->exact <= most)
			continue;
		wrong++;
		printf("# %u: 0x%llx calls 0x%llx %llu to %llu times, and it is %llu\n",
		       pair->pid, (unsigned long long)pair->site,
		       (unsigned long long)pair->callee,
		       (unsigned long long)pair->least,
		       (unsigned long long)most,
		       (unsigned long long)pair->exact);
	}
	printf("%llu calls, %zu of %zu pairs as often as they were, %llu calls evicted\n",
	       (unsigned long long)calls, sure, recording->pairs.count,
	       (unsigned long long)recording->evicted);
	return wrong || !calls;
}

/* --- how near is a sample? -------------------------------------------------- */

/* How often each member was there, in all and in the sample. */
struct member {
	u64 key;
	u64 exact, sampled;
};

static int compare_keys(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return compare_numbers(x->key, y->key);
}

static int compare_hot(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return compare_numbers(y->exact, x->exact);
}

/*
 * Feller's: of the members that make up 90 % of the exact profile, the sum of
 * the smaller of the two shares, which are shares of these members.
 */
static double overlap(struct member *members, size_t count)
{
	u64 total = 0, exact = 0, sampled = 0;
	size_t kept = 0, hot, i;
	double sum = 0;

	qsort(members, count, sizeof(*members), compare_keys);
	for (i = 0; i < count; i++) {
		total += members[i].exact;
		if (kept && members[kept - 1].key == members[i].key) {
			members[kept - 1].exact += members[i].exact;
			members[kept - 1].sampled += members[i].sampled;
		} else {
			members[kept++] = members[i];
		}
	}
	qsort(members, kept, sizeof(*members), compare_hot);
	for (hot = 0; hot < kept && exact < HOT * total; hot++) {
		exact += members[hot].exact;
		sampled += members[hot].sampled;
	}
	for (i = 0; i < hot && sampled; i++) {
		double a = (double)members[i].exact / exact;
		double b = (double)members[i].sampled / sampled;

		sum += a < b ? a : b;
	}
	return 100 * sum;
}

/* HPS's two counters; distances are varied by a half, against resonance. */
struct sampler {
	u64 burst, sparsity, left, random;
	bool on;
};

static bool sampler_takes(struct sampler *sampler)
{
	if (!sampler->left) {
		sampler->on = !sampler->on;
		sampler->left = sampler->on ? sampler->burst :
			sampler->sparsity / 2 +
			random_below(&sampler->random, sampler->sparsity + 1);
	}
	sampler->left -= !!sampler->left;
	return sampler->on;
}

static u64 mix(u64 a, u64 b)
{
	u64 state = a * 0x9e3779b97f4a7c15ULL + b;

	return random_next(&state);
}

static int compare_runs(const void *a, const void *b)
{
	const struct run *x = a, *y = b;
	int order = compare_numbers(x->pid, y->pid);

	if (!order)
		order = compare_numbers(x->tid, y->tid);
	return order ? order : compare_numbers(x->sequence, y->sequence);
}

/* A member for each call, once as a pair and once as a method. */
static u64 sample(const struct recording *recording, struct sampler sampler,
		  struct member *pairs, struct member *methods, size_t *count)
{
	size_t run, i;
	u64 taken = 0;

	*count = 0;
	for (run = 0; run < recording->runs.count; run++) {
		const struct run *of = &recording->runs.items[run];

		for (i = of->first; i < of->first + of->count; i++) {
			const struct event *event = &recording->events.items[i];
			bool takes = sampler_takes(&sampler);
			u64 method = mix(event->pid, event->callee);

			if (!event->site)
				continue;
			pairs[*count] = (struct member){
				mix(method, event->site), 1, takes };
			methods[*count] = (struct member){ method, 1, takes };
			++*count;
			taken += takes;
		}
	}
	return taken;
}

static int print_overlaps(struct recording *recording)
{
	static const unsigned int bursts[] = { 1, 10, 50, 100 };
	static const unsigned int inverse[] = { 100, 500, 1000, 5000, 10000 };
	size_t room = recording->events.count + 1, count;
	struct member *pairs = calloc(room, sizeof(*pairs));
	struct member *methods = calloc(room, sizeof(*methods));
	unsigned int b, f;

	if (!pairs || !methods)
		return 1;
	qsort(recording->runs.items, recording->runs.count,
	      sizeof(*recording->runs.items), compare_runs);
	for (b = 0; b < 4; b++)
		for (f = 0; f < 5; f++) {
			struct sampler sampler = {
				.burst = bursts[b], .random = b * 10 + f,
				.sparsity = bursts[b] * (inverse[f] - 1),
			};
			u64 taken = sample(recording, sampler, pairs, methods,
					   &count);

			printf("%u %u %llu %.1f", bursts[b], inverse[f],
			       (unsigned long long)taken,
			       overlap(pairs, count));
			printf(" %.1f\n", overlap(methods, count));
		}
	free(pairs);
	free(methods);
	return 0;
}

int main(int argc, char **argv)
{
	bool overlaps = argc == 3 && !strcmp(argv[1], "-o");
	struct recording recording = { 0 };
	struct hwprof_file *file;

	if (argc != 2 + overlaps)
		return 2;
	if (hwprof_file_open(&file, argv[1 + overlaps]) ||
	    hwprof_file_samples(file, take, &recording)) {
		fprintf(stderr, "%s\n", hwprof_file_error(file));
		return 1;
	}
	hwprof_file_close(file);
	return overlaps ? print_overlaps(&recording) : check(&recording);
}
