// SPDX-License-Identifier: GPL-2.0-only
/*
 * overlap < EVENTS
 *
 * How well do sampled profiles of a program agree with the whole one (Mousa,
 * Krintz: HPS, section 6, figure 10)? All events (trace.c) are counted, and
 * they are sampled by the two counters of HPS. Of calls and back edges, a burst
 * is sampled, and then a number of them is skipped. Sampled calls go through
 * the call engine, in a table of 1 MiB.
 *
 * Prints calls, back edges and references to data. Then it prints a line for
 * each length of a burst and frequency: burst, 1 / frequency, sampled calls,
 * the overlap of call pairs and of methods, sampled references, and the overlap
 * of the words that they access. Overlaps are in percent.
 */
#include <stdio.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "trace.h"
#include "tests/engine/random.h"

#define HOT	0.9
#define NEVER	UINT64_MAX

enum {
	BURSTS = 4, FREQUENCIES = 5,
	SAMPLERS = BURSTS * FREQUENCIES,
	TABLE_SIZE = 1 << 20,
	WORD = 8,			/* bytes */
};

static const unsigned int bursts[BURSTS] = { 1, 10, 50, 100 };
static const unsigned int inverses[FREQUENCIES] = {100, 500, 1000, 5000, 10000};

/* --- counts of members, by a key ------------------------------------------ */

struct count {
	u64 key;
	u64 count;		/* 0: free */
};

struct counts {
	struct count *items;
	size_t used, room;	/* a power of two */
	u64 total;
};

static struct count *count_of(const struct counts *counts, u64 key)
{
	size_t i = key * 0x9e3779b97f4a7c15ULL >> 20;

	for (;; i++) {
		struct count *count = &counts->items[i & (counts->room - 1)];

		if (!count->count || count->key == key)
			return count;
	}
}

static void grow(struct counts *counts)
{
	struct counts larger = *counts;
	size_t i;

	larger.room = counts->room ? 2 * counts->room : 1024;
	larger.items = calloc(larger.room, sizeof(*larger.items));
	if (!larger.items)
		abort();
	for (i = 0; i < counts->room; i++)
		if (counts->items[i].count)
			*count_of(&larger, counts->items[i].key) =
				counts->items[i];
	free(counts->items);
	*counts = larger;
}

static void add(struct counts *counts, u64 key, u64 times)
{
	struct count *count;

	if (2 * counts->used >= counts->room)
		grow(counts);
	count = count_of(counts, key);
	counts->used += !count->count;
	counts->total += times;
	count->key = key;
	count->count += times;
}

static u64 pair_key(u64 site, u64 callee)
{
	u64 state = site * 0xd6e8feb86659fd93ULL + callee;

	return random_next(&state);
}

static int hotter(const void *a, const void *b)
{
	const struct count *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return (x->key > y->key) - (x->key < y->key);
}

/* The hottest members of a profile, which together have 90 % of it. */
struct hot {
	struct count *members;
	size_t count;
	u64 sum;
};

static struct hot hot_of(const struct counts *counts)
{
	struct hot hot = {
		.members = calloc(counts->used + 1, sizeof(*hot.members)),
	};
	size_t i;

	if (!hot.members)
		abort();
	for (i = 0; i < counts->room; i++)
		if (counts->items[i].count)
			hot.members[hot.count++] = counts->items[i];
	qsort(hot.members, hot.count, sizeof(*hot.members), hotter);
	for (i = 0; i < hot.count && hot.sum < HOT * counts->total; i++)
		hot.sum += hot.members[i].count;
	hot.count = i;
	return hot;
}

/*
 * Returns the overlap by Feller: over the members that have 90 % of the exact
 * profile, the sum of the smaller of both shares. A share is the part of these
 * members.
 */
static double overlap(const struct hot *hot, const struct counts *sampled)
{
	double sum = 0;
	u64 all = 0;
	size_t i;

	for (i = 0; sampled->room && i < hot->count; i++)
		all += count_of(sampled, hot->members[i].key)->count;
	for (i = 0; all && i < hot->count; i++) {
		const struct count *member = &hot->members[i];
		double a = (double)member->count / hot->sum;
		double b = (double)count_of(sampled, member->key)->count / all;

		sum += a < b ? a : b;
	}
	return 100 * sum;
}

/* --- sampling ------------------------------------------------------------- */

/* The two counters of HPS. Distances vary by a half, against resonance. */
struct sampler {
	u32 burst, sparsity;
	u64 next;		/* event at which it is switched */
	u64 random;
	bool on;
	void *calls;		/* the engine's table */
	struct counts references;
};

struct profile {
	u64 events;		/* calls and back edges */
	u64 due;		/* event at which a sampler is switched */
	u32 on;			/* samplers: a bit each */
	struct sampler samplers[SAMPLERS];
	struct counts pairs, methods, references;
};

static void sampler_init(struct sampler *sampler, u32 burst, u32 inverse)
{
	const struct engine_params params = {
		.basis = HWPROF_BASIS_EXACT, .seed = 1,
	};

	sampler->burst = burst;
	sampler->sparsity = burst * (inverse - 1);
	sampler->random = burst * 100003ULL + inverse;
	sampler->next = random_below(&sampler->random, sampler->sparsity) + 1;
	sampler->calls = calloc(1, TABLE_SIZE);
	if (!sampler->calls)
		abort();
	call_engine.table_init(sampler->calls, TABLE_SIZE, &params);
}

static void sampler_switch(struct sampler *sampler)
{
	sampler->on = !sampler->on;
	sampler->next += sampler->on ? sampler->burst :
		sampler->sparsity / 2 +
		random_below(&sampler->random, sampler->sparsity + 1);
}

static void switch_samplers(struct profile *profile)
{
	u32 i;

	profile->due = NEVER;
	profile->on = 0;
	for (i = 0; i < SAMPLERS; i++) {
		struct sampler *sampler = &profile->samplers[i];

		while (sampler->next <= profile->events)
			sampler_switch(sampler);
		profile->due = min(profile->due, sampler->next);
		profile->on |= (u32)sampler->on << i;
	}
}

static void take_call(struct profile *profile, const struct trace_event *event)
{
	const struct stream_event call = {
		.from = event->from, .to = event->to, .space = 1,
		.kind = STREAM_CALL,
	};
	u32 on;

	add(&profile->pairs, pair_key(event->from, event->to), 1);
	add(&profile->methods, event->to, 1);
	for (on = profile->on; on; on &= on - 1)
		call_engine.feed(profile->samplers[__builtin_ctz(on)].calls,
				 NULL, &call);
}

static void take_reference(struct profile *profile, u64 address)
{
	u64 word = address / WORD;
	u32 on;

	add(&profile->references, word, 1);
	for (on = profile->on; on; on &= on - 1)
		add(&profile->samplers[__builtin_ctz(on)].references, word, 1);
}

static void take(struct profile *profile, const struct trace_event *event)
{
	if (event->kind == TRACE_REFERENCE)
		take_reference(profile, event->to);
	if (event->kind != TRACE_CALL && event->kind != TRACE_BACK_EDGE)
		return;
	if (++profile->events >= profile->due)
		switch_samplers(profile);
	if (event->kind == TRACE_CALL)
		take_call(profile, event);
}

/* --- what became of it ---------------------------------------------------- */

struct sampled {
	struct counts pairs, methods;
};

static bool take_row(void *context, const void *row, u64 site, u64 callee,
		     u64 calls)
{
	struct sampled *sampled = context;

	add(&sampled->pairs, pair_key(site, callee), calls);
	add(&sampled->methods, callee, calls);
	return true;
}

static void print_overlaps(const struct profile *profile)
{
	struct hot pairs = hot_of(&profile->pairs);
	struct hot methods = hot_of(&profile->methods);
	struct hot references = hot_of(&profile->references);
	u32 i;

	for (i = 0; i < SAMPLERS; i++) {
		const struct sampler *sampler = &profile->samplers[i];
		struct sampled sampled = { 0 };

		call_engine.rows(sampler->calls, 0, &(size_t){ 0 }, ~0UL,
				 take_row, &sampled);
		printf("%u %u %llu %.1f %.1f %llu %.1f\n", sampler->burst,
		       inverses[i % FREQUENCIES],
		       (unsigned long long)sampled.pairs.total,
		       overlap(&pairs, &sampled.pairs),
		       overlap(&methods, &sampled.methods),
		       (unsigned long long)sampler->references.total,
		       overlap(&references, &sampler->references));
	}
}

int main(void)
{
	static struct trace_event buffer[8192];
	static struct profile profile;
	size_t got, i;

	for (i = 0; i < SAMPLERS; i++)
		sampler_init(&profile.samplers[i], bursts[i / FREQUENCIES],
			     inverses[i % FREQUENCIES]);
	switch_samplers(&profile);
	while ((got = fread(buffer, sizeof(*buffer), 8192, stdin)))
		for (i = 0; i < got; i++)
			take(&profile, &buffer[i]);
	if (!profile.pairs.total)
		return 1;
	printf("%llu %llu %llu\n", (unsigned long long)profile.pairs.total,
	       (unsigned long long)(profile.events - profile.pairs.total),
	       (unsigned long long)profile.references.total);
	print_overlaps(&profile);
	return 0;
}
