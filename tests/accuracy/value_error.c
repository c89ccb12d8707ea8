// SPDX-License-Identifier: GPL-2.0-only
/*
 * value_error [-o OBSERVED] [-b BURST] [-t TABLE_KIB] [-p PROFILE_KIB]
 *             [-s SEED] [-v] < LOADS
 *
 * Takes a program's loads, as loads.c writes them, in three ways. In bursts
 * that are spread over the run, they go through the value engine and
 * libhwprof's sums. In single samples, also spread over the run, they are
 * counted by simple sampling. And plain counters take all of them.
 *
 * Prints in a line:
 * - loads, and those observed;
 * - the error of invariance of the engine, and of as many samples, in points;
 * - updates of the profile, and those that sampling needs for the same error;
 * - the share of the executions whose loads are in the profile, in the engine's
 *   estimate and exactly;
 * - how many of the values have their invariance in the given interval.
 * The error is the root mean square over values with 25 % or more of a load's
 * executions, of loads with 200 or more, weighted by the value's executions
 * (sections 5.2 and 5.3 of the paper).
 */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "engine/value_table.h"
#include "loads.h"
#include "tests/engine/random.h"
#include "tests/oracle/array.h"
#include "reports/value_sum.h"

enum {
	INVARIANT = 4,		/* one in so many executions: 25 % */
	EXECUTED = 200,
	RETIRED = 1 << 16,	/* loads until a table is retired */
};

/* --- plain counters ------------------------------------------------------- */

struct counter {
	u64 pc, value;
	u64 count;		/* 0: free */
	u64 other;		/* for the caller's use */
};

struct counters {
	struct counter *items;
	size_t used, room;	/* a power of two */
};

static void counters_init(struct counters *counters, size_t room)
{
	counters->room = room;
	counters->used = 0;
	counters->items = calloc(room, sizeof(*counters->items));
	if (!counters->items)
		abort();
}

static struct counter *counter_of(struct counters *counters, u64 pc, u64 value)
{
	size_t i = (pc * 0x9e3779b97f4a7c15ULL ^ value) *
		   0xd6e8feb86659fd93ULL >> 20;
	struct counter *counter;

	for (;; i++) {
		counter = &counters->items[i & (counters->room - 1)];
		if (!counter->count ||
		    (counter->pc == pc && counter->value == value))
			return counter;
	}
}

static void count(struct counters *counters, u64 pc, u64 value)
{
	struct counter *counter = counter_of(counters, pc, value);

	if (!counter->count++) {
		counter->pc = pc;
		counter->value = value;
		if (++counters->used > counters->room / 2)
			abort();
	}
}

/* --- what is compared ----------------------------------------------------- */

struct trace {
	struct { struct load *items; size_t count, room; } loads;
	struct counters values;		/* by pc and value */
	struct counters executed;	/* by pc; value 0 */
};

static size_t room_for(size_t count)
{
	size_t room = 1024;

	while (room < 2 * count + 2)
		room *= 2;
	return room;
}

static void read_trace(struct trace *trace)
{
	static struct load buffer[4096];
	size_t got, i;

	while ((got = fread(buffer, sizeof(*buffer), 4096, stdin)))
		for (i = 0; i < got; i++)
			*array_push(&trace->loads) = buffer[i];
	counters_init(&trace->values, room_for(trace->loads.count));
	counters_init(&trace->executed, room_for(trace->loads.count / 8));
	for (i = 0; i < trace->loads.count; i++) {
		const struct load *load = &trace->loads.items[i];

		count(&trace->values, load->pc, load->value);
		count(&trace->executed, load->pc, 0);
	}
}

static u64 executions(struct trace *trace, u64 pc)
{
	return counter_of(&trace->executed, pc, 0)->count;
}

/* Tells whether the error includes this value. */
static bool counts(struct trace *trace, const struct counter *value)
{
	u64 all = value->count ? executions(trace, value->pc) : 0;

	return all >= EXECUTED && INVARIANT * value->count >= all;
}

struct error {
	double sum, weight;
	size_t values, inside;
};

static void add_error(struct error *error, const struct counter *value,
		      double exact, double invariance)
{
	error->sum += value->count * (invariance - exact) *
		      (invariance - exact);
	error->weight += value->count;
	error->values++;
}

static double points(const struct error *error)
{
	return error->weight ? 100 * sqrt(error->sum / error->weight) : 0;
}

/* --- simple sampling ------------------------------------------------------ */

/*
 * Returns the error of @samples, which are evenly spread with random offsets.
 */
static double simple(struct trace *trace, size_t samples, u64 seed)
{
	double step = (double)trace->loads.count / samples;
	struct counters values, executed;
	struct error error = { 0 };
	size_t i;

	counters_init(&values, room_for(samples));
	counters_init(&executed, room_for(samples));
	for (i = 0; i < samples; i++) {
		size_t at = (i + random_below(&seed, 1 << 20) /
				 (double)(1 << 20)) * step;
		const struct load *load = &trace->loads.items[at];

		count(&values, load->pc, load->value);
		count(&executed, load->pc, 0);
	}
	for (i = 0; i < trace->values.room; i++) {
		const struct counter *value = &trace->values.items[i];
		u64 all;

		if (!counts(trace, value))
			continue;
		all = counter_of(&executed, value->pc, 0)->count;
		add_error(&error, value,
			  (double)value->count / executions(trace, value->pc),
			  all ? (double)counter_of(&values, value->pc,
						   value->value)->count / all
			      : 0);
	}
	free(values.items);
	free(executed.items);
	return points(&error);
}

/*
 * Returns how many samples, or updates, make the average error of three tries
 * no larger than @wanted.
 */
static size_t simple_for(struct trace *trace, double wanted, u64 seed)
{
	size_t samples = 1000;

	while (samples < trace->loads.count &&
	       (simple(trace, samples, seed) +
		simple(trace, samples, seed + 1) +
		simple(trace, samples, seed + 2)) / 3 > wanted)
		samples += samples / 8;
	return samples;
}

/* --- the engine ----------------------------------------------------------- */

struct found {
	u64 pc;
	struct value_sum sum;
};

struct engine {
	struct value_table *table, *profile;
	u64 cursor[1];
	struct { struct found *items; size_t count, room; } found;
	struct counters index;		/* of pc: other */
	u64 fed, updates, delivered;
};

static void *make_table(size_t size, u64 seed)
{
	const struct engine_params params = {
		.basis = HWPROF_BASIS_TIME, .seed = seed,
	};
	void *table = aligned_alloc(64, size);

	if (!table)
		abort();
	memset(table, 0, size);
	value_engine.table_init(table, size, &params);
	return table;
}

static bool take_row(void *context, const void *data, u64 ip, u64 addr,
		     u64 period)
{
	struct engine *engine = context;
	struct value_sum sum = value_sum_of(data);
	struct counter *counter = counter_of(&engine->index, ip, 0);
	struct found *found;

	engine->delivered += period;
	if (counter->count) {
		value_sum_add(&engine->found.items[counter->other].sum, &sum);
		return true;
	}
	count(&engine->index, ip, 0);
	counter->other = engine->found.count;
	found = array_push(&engine->found);
	*found = (struct found){ ip, sum };
	return true;
}

static void retire(struct engine *engine)
{
	size_t at = 0;

	engine->updates += engine->table->used;
	value_engine.merge(engine->profile, engine->table, SIZE_MAX);
	value_engine.rows(engine->profile, 0, &at, ~0UL, take_row, engine);
}

static void feed(struct engine *engine, const struct load *load)
{
	const struct stream_event event = {
		.kind = STREAM_LOAD, .space = 1, .from = load->pc,
		.to = load->address, .value = load->value, .width = load->width,
	};

	if (!value_engine.feed(engine->table, engine->cursor, &event) ||
	    ++engine->fed % RETIRED == 0)
		retire(engine);
}

static void observe(struct engine *engine, const struct trace *trace,
		    size_t wanted, size_t burst, u64 seed)
{
	const struct stream_event gap = { .kind = STREAM_GAP, .space = 1 };
	size_t all = trace->loads.count, bursts = wanted / burst, at, i, k;
	double step = (double)all / bursts;

	for (i = 0; i < bursts; i++) {
		at = i * step + random_below(&seed, 1 << 20) /
				(double)(1 << 20) * (step - burst);
		value_engine.feed(engine->table, engine->cursor, &gap);
		for (k = at; k < at + burst && k < all; k++)
			feed(engine, &trace->loads.items[k]);
	}
	retire(engine);
}

static struct error judge(struct engine *engine, struct trace *trace,
			  bool verbose)
{
	struct error error = { 0 };
	size_t i;
	u32 k;

	for (i = 0; i < trace->values.room; i++) {
		const struct counter *value = &trace->values.items[i];
		const struct counter *at;
		double exact, invariance = 0, low = 0, high = 1;

		if (!counts(trace, value))
			continue;
		exact = (double)value->count / executions(trace, value->pc);
		at = counter_of(&engine->index, value->pc, 0);
		if (at->count) {
			const struct value_sum *sum =
				&engine->found.items[at->other].sum;

			for (k = 0; k < sum->count; k++)
				if (sum->values[k].value == value->value)
					break;
			if (k < sum->count) {
				invariance = value_sum_invariance(sum, k);
				value_sum_interval(sum, k, &low, &high);
			}
			if (verbose && fabs(invariance - exact) > 0.1)
				printf("# %#llx: %#llx %.1f %% of %llu, said %.1f of %llu, %u values, %llu runs\n",
				       (unsigned long long)value->pc,
				       (unsigned long long)value->value,
				       100 * exact,
				       (unsigned long long)executions(
					       trace, value->pc),
				       100 * invariance,
				       (unsigned long long)sum->loads,
				       sum->count,
				       (unsigned long long)sum->runs);
		}
		error.inside += low - 1e-9 <= exact && exact <= high + 1e-9;
		add_error(&error, value, exact, invariance);
	}
	return error;
}

/* Computes the completeness: @said by the profile, and as it @is. */
static void completeness(struct engine *engine, struct trace *trace,
			 double *said, double *is)
{
	u64 once = 0, covered = 0;
	size_t i;

	for (i = 0; i < engine->found.count; i++) {
		const struct found *found = &engine->found.items[i];

		once += value_sum_is_new(&found->sum) ? found->sum.loads : 0;
		covered += executions(trace, found->pc);
	}
	*said = 100 - 100.0 * once / engine->delivered;
	*is = 100.0 * covered / trace->loads.count;
}

int main(int argc, char **argv)
{
	size_t wanted = 500000, burst = 32, table = 2048, profile = 6144;
	struct engine engine = { 0 };
	struct trace trace = { 0 };
	struct error error;
	bool verbose = false;
	double said, is;
	u64 seed = 1;
	int option;

	while ((option = getopt(argc, argv, "o:b:t:p:s:v")) != -1) {
		size_t number = optarg ? strtoul(optarg, NULL, 0) : 0;

		if (option == 'o')
			wanted = number;
		else if (option == 'b')
			burst = number;
		else if (option == 't')
			table = number;
		else if (option == 'p')
			profile = number;
		else if (option == 's')
			seed = number;
		else if (option == 'v')
			verbose = true;
		else
			return 2;
	}
	read_trace(&trace);
	if (trace.loads.count < 2 * wanted) {
		fprintf(stderr, "value_error: %zu loads: too few\n",
			trace.loads.count);
		return 2;
	}
	engine.table = make_table(table << 10, seed * 0x9e3779b97f4a7c15ULL);
	engine.profile =
		make_table(profile << 10, seed * 0xd6e8feb86659fd93ULL);
	counters_init(&engine.index, room_for(trace.executed.used));
	value_engine.cursor_init(engine.cursor, 1);
	observe(&engine, &trace, wanted, burst, seed);
	error = judge(&engine, &trace, verbose);
	completeness(&engine, &trace, &said, &is);
	printf("%zu loads of %zu, %llu observed: error %.2f, sampling %.2f; %llu updates, sampling %zu; complete %.2f %%, is %.2f %%; %zu of %zu inside; %llu evicted\n",
	       trace.loads.count, trace.executed.used,
	       (unsigned long long)engine.fed, points(&error),
	       simple(&trace, engine.fed, seed),
	       (unsigned long long)engine.updates,
	       simple_for(&trace, points(&error), seed), said, is, error.inside,
	       error.values,
	       (unsigned long long)value_engine.evicted(engine.profile));
	return 0;
}
