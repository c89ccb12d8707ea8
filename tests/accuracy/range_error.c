// SPDX-License-Identifier: GPL-2.0-only
/*
 * range_error code < EVENTS range_error data < LOADS range_error streams
 *
 * Compares hot ranges of a program in little memory with exact counts (Mysore
 * et al., section 5.3). `code` takes the targets of branches from trace.c.
 * `data` takes loads from loads.c: their values, their addresses, and pairs of
 * instruction and address. The tree has 8 KiB of ranges and an epsilon of 10 %,
 * or 64 KiB and 1 %, as in the paper. The counts that rows have reported take
 * half as much in addition. Hints, which change no count, take 10 KiB.
 *
 * Prints for each: the stream, KiB, values, ranges, hot ranges, and the average
 * and worst accuracy of their counts in percent. Then follow how many truly hot
 * ranges were not found, how many of these the bounds do not explain, and how
 * many ranges have counts outside their bounds. Exit status 1: there was
 * nothing to count.
 *
 * streams: counts streams of 10 million values and of as many pairs, which are
 * random or made to be hard, in too little memory and in enough. Prints how
 * many splits were refused. Exit status 1: a count is outside its bounds, or
 * memory was not as expected.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/range_tree.h"
#include "trace.h"
#include "loads.h"
#include "reports/range_box.h"
#include "tests/engine/range_streams.h"
#include "tests/oracle/array.h"

#define HOT	0.1

enum {
	STREAM_LENGTH = 10000000,
	STREAM_EPSILON_PPM = 100000,
	LITTLE = 128, MUCH = 1 << 18,	/* blocks */
};

struct keys {
	struct range_key *items;
	size_t count, room;
};

/* --- exact counts --------------------------------------------------------- */

struct numbers {
	range_number *items;	/* sorted */
	size_t count;
};

static range_number number_of(struct range_key key, bool pairs)
{
	return pairs ? box_number((struct pair){ key.code, key.value }) :
		       key.value;
}

static int compare_numbers(const void *a, const void *b)
{
	const range_number *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static struct numbers sorted(const struct keys *keys, bool pairs)
{
	struct numbers numbers = {
		.items = malloc(keys->count * sizeof(*numbers.items)),
		.count = keys->count,
	};
	size_t i;

	if (!numbers.items)
		abort();
	for (i = 0; i < keys->count; i++)
		numbers.items[i] = number_of(keys->items[i], pairs);
	qsort(numbers.items, numbers.count, sizeof(*numbers.items),
	      compare_numbers);
	return numbers;
}

static size_t below(const struct numbers *numbers, range_number limit)
{
	size_t low = 0, high = numbers->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (numbers->items[middle] < limit)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static u64 exact(const struct numbers *numbers, const struct range_node *node)
{
	range_number last = range_last(node);
	size_t end = last + 1 ? below(numbers, last + 1) : numbers->count;

	return end - below(numbers, node->low);
}

/* Returns the tree that counts each number separately. */
static struct range_set exact_set(const struct numbers *numbers)
{
	struct range_set set = { 0 };
	size_t i, first = 0;

	for (i = 1; i <= numbers->count; i++) {
		if (i < numbers->count &&
		    numbers->items[i] == numbers->items[first])
			continue;
		if (range_set_add(&set, numbers->items[first], 0, i - first))
			abort();
		first = i;
	}
	if (range_set_build(&set, HOT * numbers->count))
		abort();
	return set;
}

/* --- the engine's --------------------------------------------------------- */

static void count(struct range_tree *tree, const struct keys *keys, bool pairs)
{
	u32 root = range_root(tree, 0);
	size_t i;

	for (i = 0; i < keys->count; i++)
		if (pairs)
			range_count_pair(tree, root, keys->items[i].code,
					 keys->items[i].value, 1);
		else
			range_count(tree, root, keys->items[i].value, 1);
}

static struct range_set counted_set(const struct keys *keys, bool pairs,
				    size_t blocks, u32 epsilon_ppm,
				    u64 *refused)
{
	/* Each block's memory; 2 bytes of it are for the owners of roots. */
	size_t size = blocks * (sizeof(struct range_block) +
				sizeof(struct range_told) + 2 +
				(pairs ? sizeof(u64) : 0));
	static struct range_tree tree;
	void *memory = calloc(1, size);
	struct range_set set = { 0 };
	u32 node;

	if (!memory)
		abort();
	range_tree_init(&tree, memory, size, epsilon_ppm, pairs);
	if (tree.block_count != blocks)
		abort();
	count(&tree, keys, pairs);
	for (node = 0; node < range_node_count(&tree); node++)
		if (range_is_used(&tree, node) && *range_own(&tree, node) &&
		    range_set_add(&set,
				  number_of(range_low(&tree, node), pairs),
				  range_bits(&tree, node),
				  *range_own(&tree, node)))
			abort();
	if (range_set_build(&set, HOT * keys->count))
		abort();
	*refused = tree.refused;
	free(memory);
	return set;
}

/* --- both ----------------------------------------------------------------- */

struct result {
	size_t hot, missed, unexplained, wrong;
	double sum, worst;
};

static void compare(const struct range_set *set, const struct numbers *numbers,
		    struct result *result)
{
	size_t i;

	for (i = 0; i < set->count; i++) {
		const struct range_node *node = &set->nodes[i];
		u64 is = exact(numbers, node);
		double right = is ? (double)node->count / is : 1;

		result->wrong += node->count > is ||
				 node->count + node->around < is;
		if (!node->hot)
			continue;
		result->hot++;
		result->sum += right;
		if (right < result->worst)
			result->worst = right;
	}
}

static bool contains(const struct range_node *outer,
		     const struct range_node *inner)
{
	return outer->low <= inner->low &&
	       range_last(outer) >= range_last(inner);
}

/*
 * Tells whether a hot range of the set equals this one, apart from values that
 * never occurred.
 */
static bool is_found(const struct range_set *set, const struct numbers *numbers,
		     const struct range_node *hot)
{
	size_t i;

	for (i = 0; i < set->count; i++)
		if (set->nodes[i].hot &&
		    (contains(&set->nodes[i], hot) ||
		     contains(hot, &set->nodes[i])) &&
		    exact(numbers, &set->nodes[i]) == hot->count)
			return true;
	return false;
}

/* Returns the counts of ranges around @hot, which may belong to @hot. */
static u64 around(const struct range_set *set, const struct range_node *hot)
{
	u64 sum = 0;
	size_t i;

	for (i = 0; i < set->count; i++)
		if (contains(&set->nodes[i], hot) &&
		    !contains(hot, &set->nodes[i]))
			sum += set->nodes[i].own;
	return sum;
}

/* Tells whether a true range inside @hot was not found either. */
static bool is_one_inside(const struct range_set *truth, const bool *missed,
			  size_t hot)
{
	size_t i;

	for (i = hot + 1; i < truth->count &&
	     contains(&truth->nodes[hot], &truth->nodes[i]); i++)
		if (missed[i])
			return true;
	return false;
}

/*
 * Counts the hot ranges that were not found. The bounds explain most: the
 * counts around a range may belong to it and make it hot. Or a wider range is
 * hot instead, which then lacks in the rest of those around it.
 */
static void find_missed(const struct range_set *set,
			const struct range_set *truth,
			const struct numbers *numbers, struct result *result)
{
	bool *missed = calloc(truth->count, sizeof(*missed));
	size_t i;

	if (!missed)
		abort();
	for (i = truth->count; i--;) {
		const struct range_node *hot = &truth->nodes[i];

		if (!hot->hot || is_found(set, numbers, hot))
			continue;
		missed[i] = true;
		result->missed++;
		result->unexplained += hot->rest >= HOT * numbers->count +
						    around(set, hot) &&
				       !is_one_inside(truth, missed, i);
	}
	free(missed);
}

static bool judge(const char *stream, const struct keys *keys, bool pairs)
{
	static const struct { size_t kib; u32 epsilon_ppm; } trees[] = {
		{ 8, 100000 }, { 64, 10000 },
	};
	struct numbers numbers = sorted(keys, pairs);
	struct range_set truth = exact_set(&numbers);
	unsigned int i;
	u64 refused;

	for (i = 0; i < 2; i++) {
		struct range_set set = counted_set(keys, pairs,
						   (trees[i].kib << 10) /
						   sizeof(struct range_block),
						   trees[i].epsilon_ppm,
						   &refused);
		struct result result = { .worst = 1 };

		compare(&set, &numbers, &result);
		find_missed(&set, &truth, &numbers, &result);
		printf("%s %zu %zu %zu %zu %.2f %.2f %zu %zu %zu\n", stream,
		       trees[i].kib, keys->count, set.count, result.hot,
		       100 * (result.hot ? result.sum / result.hot : 0),
		       100 * result.worst, result.missed, result.unexplained,
		       result.wrong);
		range_set_free(&set);
	}
	range_set_free(&truth);
	free(numbers.items);
	return keys->count;
}

/* --- what is read --------------------------------------------------------- */

static bool judge_code(void)
{
	static struct trace_event buffer[8192];
	struct keys targets = { 0 };
	size_t got, i;

	while ((got = fread(buffer, sizeof(*buffer), 8192, stdin)))
		for (i = 0; i < got; i++)
			if (buffer[i].kind == TRACE_BRANCH)
				*array_push(&targets) = (struct range_key){
					.value = buffer[i].to };
	return judge("code", &targets, false);
}

static bool judge_data(void)
{
	static struct load buffer[8192];
	struct keys values = { 0 }, addresses = { 0 }, pairs = { 0 };
	size_t got, i;

	while ((got = fread(buffer, sizeof(*buffer), 8192, stdin)))
		for (i = 0; i < got; i++) {
			if (buffer[i].width <= sizeof(buffer[i].value))
				*array_push(&values) = (struct range_key){
					.value = buffer[i].value };
			*array_push(&addresses) = (struct range_key){
				.value = buffer[i].address };
			*array_push(&pairs) = (struct range_key){
				.value = buffer[i].address,
				.code = buffer[i].pc };
		}
	return judge("values", &values, false) &&
	       judge("addresses", &addresses, false) &&
	       judge("pairs", &pairs, true);
}

/* Only ENDS without pairs has so few values that there is always memory. */
static bool is_right(enum stream stream, bool pairs, size_t blocks, u64 refused)
{
	return !refused == (blocks == MUCH || (stream == ENDS && !pairs));
}

static bool judge_stream(enum stream stream, const struct keys *keys,
			 const struct numbers *numbers, bool pairs,
			 size_t blocks)
{
	struct result result = { .worst = 1 };
	struct range_set set;
	u64 refused;

	set = counted_set(keys, pairs, blocks, STREAM_EPSILON_PPM, &refused);
	compare(&set, numbers, &result);
	printf("stream %u%s, %zu blocks: %llu refused, %zu ranges, %zu wrong\n",
	       stream, pairs ? " of pairs" : "", blocks,
	       (unsigned long long)refused, set.count, result.wrong);
	range_set_free(&set);
	return !result.wrong && is_right(stream, pairs, blocks, refused);
}

/*
 * The code of a pair comes from such a stream, too, but changes a third as
 * often.
 */
static bool judge_stream_of(enum stream stream, bool pairs)
{
	u64 random = stream, codes = stream + STREAMS, i;
	struct keys keys = { 0 };
	struct numbers numbers;
	bool right;

	for (i = 0; i < STREAM_LENGTH; i++)
		*array_push(&keys) = (struct range_key){
			.value = next_value(stream, i, &random),
			.code = pairs ? next_value(stream, i / 3, &codes) : 0 };
	numbers = sorted(&keys, pairs);
	right = judge_stream(stream, &keys, &numbers, pairs, LITTLE);
	right &= judge_stream(stream, &keys, &numbers, pairs, MUCH);
	free(numbers.items);
	free(keys.items);
	return right;
}

static bool judge_streams(void)
{
	unsigned int stream;
	bool right = true;

	for (stream = 0; stream < STREAMS; stream++) {
		right &= judge_stream_of(stream, false);
		right &= judge_stream_of(stream, true);
	}
	return right;
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	if (!strcmp(argv[1], "code"))
		return !judge_code();
	if (!strcmp(argv[1], "data"))
		return !judge_data();
	return !strcmp(argv[1], "streams") ? !judge_streams() : 2;
}
