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
 * ranges were not found, how many ranges are hot or not though the bounds do
 * not allow it, and how many have counts outside their bounds. Exit status 1:
 * there was nothing to count.
 *
 * streams: counts streams of 10 million values and of as many pairs, which are
 * random or made to be hard, in too little memory and in enough. Prints how
 * many splits were refused. Exit status 1: a count is outside its bounds, or
 * memory was not as expected.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hot_ranges.h"
#include "loads.h"
#include "tests/engine/range_streams.h"
#include "tests/oracle/array.h"

#define HOT	0.1

enum {
	STREAM_LENGTH = 10000000,
	STREAM_EPSILON_PPM = 100000,
	LITTLE = 128, MUCH = 1 << 18,	/* blocks */
};

static bool judge(const char *stream, const struct keys *keys, bool pairs)
{
	static const struct { size_t kib; u32 epsilon_ppm; } trees[] = {
		{ 8, 100000 }, { 64, 10000 },
	};
	double hot = HOT * keys->count;
	struct numbers numbers = sorted_numbers(keys, pairs);
	struct range_set truth = exact_set(&numbers, hot);
	unsigned int i;
	u64 refused;

	for (i = 0; i < 2; i++) {
		struct range_set set = counted_set(keys, pairs,
						   (trees[i].kib << 10) /
						   sizeof(struct range_block),
						   trees[i].epsilon_ppm, hot,
						   &refused);
		struct verdict verdict = { .worst = 1 };

		judge_counts(&set, &numbers, &verdict);
		judge_hot(&set, &truth, &numbers, hot, &verdict);
		printf("%s %zu %zu %zu %zu %.2f %.2f %zu %zu %zu\n", stream,
		       trees[i].kib, keys->count, set.count, verdict.hot,
		       100 * (verdict.hot ? verdict.sum / verdict.hot : 0),
		       100 * verdict.worst, verdict.missed, verdict.unexplained,
		       verdict.wrong);
		range_set_free(&set);
	}
	range_set_free(&truth);
	free(numbers.items);
	return keys->count;
}

/* --- what is read --------------------------------------------------------- */

static bool judge_code(void)
{
	const struct keys targets = read_targets();

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

/*
 * Without pairs, ENDS and LATE have so few values that there is always memory.
 */
static bool is_right(enum stream stream, bool pairs, size_t blocks, u64 refused)
{
	bool few = !pairs && (stream == ENDS || stream == LATE);

	return !refused == (blocks == MUCH || few);
}

static bool judge_stream(enum stream stream, const struct keys *keys,
			 const struct numbers *numbers, bool pairs,
			 size_t blocks)
{
	struct verdict verdict = { .worst = 1 };
	struct range_set set;
	u64 refused;

	set = counted_set(keys, pairs, blocks, STREAM_EPSILON_PPM,
			  HOT * keys->count, &refused);
	judge_counts(&set, numbers, &verdict);
	printf("stream %u%s, %zu blocks: %llu refused, %zu ranges, %zu wrong\n",
	       stream, pairs ? " of pairs" : "", blocks,
	       (unsigned long long)refused, set.count, verdict.wrong);
	range_set_free(&set);
	return !verdict.wrong && is_right(stream, pairs, blocks, refused);
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
	numbers = sorted_numbers(&keys, pairs);
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
