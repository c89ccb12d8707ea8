// SPDX-License-Identifier: GPL-2.0-only
/*
 * ranges [-t TABLE_KIB] [-e EPSILON_PPM] [-r ROUNDS] FILE...
 * ranges [-t TABLE_KIB] [-e EPSILON_PPM] [-r ROUNDS] -v NAME < LOADS
 *
 * Measures nanoseconds per branch of the range engine and of its peers
 * (range_peers.h). All process the same recorded branches in the same process.
 * The best of ROUNDS counts; rounds alternate. Prints the accuracy of the hot
 * ranges, too, compared with exact counts of the same branches (section 5.3 of
 * the paper). -v: the same for the values of a program's loads, as
 * tests/accuracy/loads.c writes them.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "reports/range_hot.h"
#include "range_peers.h"
#include "stream.h"
#include "tests/oracle/rows.h"

#define HOT	0.1

static void take(void *context, u32 thread, const struct stream_event *event)
{
	struct stream *stream = context;

	if (event->kind >= STREAM_COND && event->kind <= STREAM_RET)
		*array_push(stream) = *event;
}

/*
 * Puts values into `to`, which the peers read. A wide load counts with its
 * first eight bytes.
 */
static void read_values(struct stream *stream)
{
	size_t i;

	stream_read_loads(stream);
	for (i = 0; i < stream->count; i++) {
		stream->items[i].to = stream->items[i].value;
		stream->items[i].width = min(stream->items[i].width, 8U);
	}
}

/* --- the peers ----------------------------------------------------------- */

/*
 * Returns the bits of the smallest table of which half is free. It uses the
 * caches least.
 */
static unsigned int counters_bits(const struct stream *stream)
{
	struct counters counters;
	unsigned int bits = 10;
	size_t i;

	counters_init(&counters, 22);
	for (i = 0; i < stream->count; i++)
		counters_feed(&counters, stream->items[i].to);
	while (1UL << bits < 2 * counters.used)
		bits++;
	counters_free(&counters);
	return bits;
}

static __always_inline double time_feeds(const struct stream *stream,
					 void *peer,
					 void (*feed)(void *peer, u64 value))
{
	double start = now();
	size_t i;

	for (i = 0; i < stream->count; i++)
		feed(peer, stream->items[i].to);
	return (now() - start) / stream->count;
}

static double time_counters(const struct stream *stream, unsigned int bits)
{
	struct counters counters;
	double time;

	counters_init(&counters, bits);
	time = time_feeds(stream, &counters, counters_feed);
	counters_free(&counters);
	return time;
}

static double time_saving(const struct stream *stream, size_t size)
{
	struct saving *saving = saving_make(size);
	double time = time_feeds(stream, saving, saving_feed);

	saving_free(saving);
	return time;
}

static double time_plain(const struct stream *stream, u32 ppm)
{
	struct plain_tree *tree = plain_make(ppm);
	double time = time_feeds(stream, tree, plain_feed);

	plain_free(tree);
	return time;
}

/* --- the engine ---------------------------------------------------------- */

static double time_engine(const struct stream *stream, void *table,
			  size_t size, u32 ppm)
{
	const struct engine_params params = {
		.basis = HWPROF_BASIS_EXACT, .epsilon_ppm = ppm,
		.range_of = stream->items->kind == STREAM_LOAD ?
			    HWPROF_RANGE_LOAD_VALUE : HWPROF_RANGE_IP,
	};
	double start;
	size_t i;

	memset(table, 0, size);
	range_engine.table_init(table, size, &params);
	start = now();
	for (i = 0; i < stream->count; i++)
		range_engine.feed(table, NULL, &stream->items[i]);
	return (now() - start) / stream->count;
}

static bool take_row(void *context, const void *data, u64 ip, u64 addr,
		     u64 period)
{
	const struct hwprof_row_range *row = data;

	if (range_set_add(context, row->low, row->bits, period))
		abort();
	return true;
}

struct accuracy {
	unsigned int hot;
	double sum, worst;
};

static u64 exact_count(const struct stream *stream,
		       const struct range_node *node)
{
	u64 sum = 0;
	size_t i;

	for (i = 0; i < stream->count; i++)
		sum += stream->items[i].to - node->low <=
		       range_last(node) - node->low;
	return sum;
}

static struct accuracy judge(const struct stream *stream, void *table)
{
	struct accuracy accuracy = { .worst = 1 };
	struct range_set set = { 0 };
	size_t at = 0, i;

	range_engine.rows(table, 0, &at, ~0UL, take_row, &set);
	if (range_set_build(&set, HOT * stream->count))
		abort();
	for (i = 0; i < set.count; i++) {
		const struct range_node *node = &set.nodes[i];
		double right;

		if (!node->hot)
			continue;
		right = (double)node->count / exact_count(stream, node);
		accuracy.hot++;
		accuracy.sum += right;
		if (right < accuracy.worst)
			accuracy.worst = right;
	}
	range_set_free(&set);
	return accuracy;
}

static bool read_stream(const char *name, struct stream *stream)
{
	struct branch_rows rows = { 0 };
	struct loop_rows none = { 0 };

	if (!rows_read(name, &rows, &none))
		return false;
	rows_branches(&rows, take, stream);
	rows_free(&rows, &none);
	return true;
}

static void keep_least(double *least, double time)
{
	if (!*least || time < *least)
		*least = time;
}

static struct accuracy compare(const char *name, const struct stream *stream,
			       size_t size, unsigned int ppm,
			       unsigned int rounds)
{
	double range = 0, counter = 0, saving = 0, plain = 0;
	void *table = aligned_alloc(64, size);
	unsigned int bits = counters_bits(stream);
	struct accuracy accuracy;

	if (!table)
		abort();
	while (rounds--) {
		keep_least(&counter, time_counters(stream, bits));
		keep_least(&saving, time_saving(stream, size));
		keep_least(&plain, time_plain(stream, ppm));
		keep_least(&range, time_engine(stream, table, size, ppm));
	}
	accuracy = judge(stream, table);
	printf("%-8s %5.2f ns  counters %5.2f ns %4.2f  space-saving %5.2f ns %4.2f  plain tree %5.2f ns %4.2f  hot %2u accuracy %6.2f%% worst %6.2f%%\n",
	       strrchr(name, '/') ? strrchr(name, '/') + 1 : name, range,
	       counter, counter / range, saving, saving / range, plain,
	       plain / range, accuracy.hot,
	       accuracy.hot ? 100 * accuracy.sum / accuracy.hot : 0,
	       100 * accuracy.worst);
	free(table);
	return accuracy;
}

int main(int argc, char **argv)
{
	unsigned int rounds = 9, ppm = 10000, hot = 0;
	size_t size = 128 << 10;	/* as 1 MiB gives a CPU of two */
	bool values = false;
	double sum = 0;
	int option;

	while ((option = getopt(argc, argv, "t:e:r:v")) != -1) {
		if (option == 't')
			size = strtoul(optarg, NULL, 0) << 10;
		else if (option == 'e')
			ppm = strtoul(optarg, NULL, 0);
		else if (option == 'r')
			rounds = strtoul(optarg, NULL, 0);
		else if (option == 'v')
			values = true;
		else
			return 2;
	}
	if (optind == argc || !rounds || (values && optind + 1 < argc)) {
		fprintf(stderr, "usage: ranges [-t TABLE_KIB] [-e EPSILON_PPM] [-r ROUNDS] FILE...|-v NAME\n");
		return 2;
	}
	for (; optind < argc; optind++) {
		struct stream stream = { 0 };
		struct accuracy accuracy;

		if (values)
			read_values(&stream);
		else if (!read_stream(argv[optind], &stream))
			return 2;
		if (!stream.count)
			return 2;
		accuracy = compare(argv[optind], &stream, size, ppm, rounds);
		hot += accuracy.hot;
		sum += accuracy.sum;
		free(stream.items);
	}
	if (!values)
		printf("hot ranges: %u, average accuracy %.2f%%\n", hot,
		       hot ? 100 * sum / hot : 0);
	return 0;
}
