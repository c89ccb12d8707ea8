// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sequitur's grammars and hot data streams of random sequences, against plain
 * implementations.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/sequitur.h"
#include "tools/streams.h"

enum {
	RUNS	= 3000,
	MOST	= 600,			/* symbols of a sequence */
	RULES	= 1000,
};

static uint64_t state;

static uint32_t below(uint32_t bound)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (state >> 33) % bound;
}

/* A sequence with much that comes again: copies of parts of itself. */
static size_t fill(uint32_t *sequence, uint32_t symbols)
{
	size_t count = 0, wanted = 1 + below(MOST);

	while (count < wanted) {
		size_t length = 1 + below(20), from, i;

		if (count < 4 || !below(3)) {
			sequence[count++] = below(symbols);
			continue;
		}
		from = below(count);
		for (i = 0; i < length && from + i < count && count < wanted;
		     i++)
			sequence[count++] = sequence[from + i];
	}
	return count;
}

/* --- Sequitur ------------------------------------------------------------- */

/* Writes what a rule stands for. */
static size_t spell(const struct sequitur *sequitur, uint32_t rule,
		    uint32_t *to, size_t count)
{
	uint32_t at = 0, symbol;

	while (sequitur_next(sequitur, rule, &at, &symbol)) {
		if (symbol & SEQUITUR_RULE) {
			count = spell(sequitur, symbol & ~SEQUITUR_RULE, to,
				      count);
		} else {
			assert_true(count < MOST);
			to[count++] = symbol;
		}
	}
	return count;
}

/* The symbols of all rules, one behind the other, with rules' ends. */
static size_t list(const struct sequitur *sequitur, uint64_t *symbols,
		   size_t *uses)
{
	size_t count = 0, rule;

	for (rule = 0; rule < sequitur_rule_count(sequitur); rule++) {
		uint32_t at = 0, symbol;

		if (!sequitur_rule_is_used(sequitur, rule))
			continue;
		while (sequitur_next(sequitur, rule, &at, &symbol)) {
			if (symbol & SEQUITUR_RULE)
				uses[symbol & ~SEQUITUR_RULE]++;
			symbols[count++] = symbol;
		}
		symbols[count++] = UINT64_MAX;
	}
	return count;
}

/* No pair is twice in the grammar, unless its two places overlap. */
static void check_pairs(const uint64_t *symbols, size_t count)
{
	size_t i, j;

	for (i = 0; i + 1 < count; i++) {
		if (symbols[i] == UINT64_MAX || symbols[i + 1] == UINT64_MAX)
			continue;
		for (j = i + 2; j + 1 < count; j++)
			assert_false(symbols[i] == symbols[j] &&
				     symbols[i + 1] == symbols[j + 1]);
	}
}

static void check_grammar(const uint32_t *sequence, size_t count)
{
	struct sequitur *sequitur = sequitur_new();
	uint64_t symbols[3 * MOST];
	uint32_t spelled[MOST];
	size_t uses[RULES] = { 0 }, i;

	assert_non_null(sequitur);
	for (i = 0; i < count; i++)
		assert_true(sequitur_append(sequitur, sequence[i]));
	assert_int_equal(count, spell(sequitur, 0, spelled, 0));
	assert_memory_equal(sequence, spelled, count * sizeof(*spelled));
	assert_true(sequitur_rule_count(sequitur) <= RULES);
	check_pairs(symbols, list(sequitur, symbols, uses));
	for (i = 1; i < sequitur_rule_count(sequitur); i++)
		if (sequitur_rule_is_used(sequitur, i))
			assert_true(uses[i] >= 2);
	sequitur_free(sequitur);
}

static void grammars(void **unused)
{
	uint32_t sequence[MOST];
	size_t i;

	for (i = 0; i < RUNS; i++) {
		state = i;
		check_grammar(sequence, fill(sequence, 1 + below(12)));
	}
}

/* --- streams -------------------------------------------------------------- */

enum { BREAK = UINT32_MAX };

/* Counts a stream from left to right, without overlaps. */
static uint64_t times_of(const uint32_t *sequence, size_t count, size_t first,
			 size_t length)
{
	uint64_t times = 0;
	size_t i = 0;

	while (i + length <= count) {
		bool same = !memcmp(&sequence[i], &sequence[first],
				    length * sizeof(*sequence));

		times += same;
		i += same ? length : 1;
	}
	return times;
}

static struct reference reference_of(uint32_t symbol)
{
	return (struct reference){ 0x1000 + symbol / 3, 0x2000 + symbol % 3 };
}

static struct streams *streams_of(const uint32_t *sequence, size_t count,
				  const struct streams_limits *limits)
{
	struct streams *streams = streams_new(limits);
	size_t i;

	assert_non_null(streams);
	for (i = 0; i < count; i++)
		assert_true(sequence[i] == BREAK ? streams_break(streams) :
			    streams_add(streams, reference_of(sequence[i])));
	assert_true(streams_find(streams));
	return streams;
}

static void check_stream(const uint32_t *sequence, size_t count,
			 const struct streams *streams, size_t index,
			 const struct streams_limits *limits)
{
	const struct stream *stream = streams_get(streams, index);
	size_t i;

	assert_in_range(stream->length, limits->shortest, limits->longest);
	for (i = 0; i < stream->length; i++) {
		struct reference expected =
			reference_of(sequence[stream->first + i]);
		struct reference got =
			streams_reference(streams, stream->first + i);

		assert_int_not_equal(BREAK, sequence[stream->first + i]);
		assert_int_equal(expected.ip, got.ip);
		assert_int_equal(expected.address, got.address);
	}
	assert_int_equal(times_of(sequence, count, stream->first,
				  stream->length), stream->times);
	assert_true(stream->times >= 2);
	assert_int_equal(stream->times * stream->length, stream->heat);
	if (index)
		assert_true(stream->heat <=
			    streams_get(streams, index - 1)->heat);
}

/* Puts breaks into the sequence, never two in a row, nor at its start. */
static void add_breaks(uint32_t *sequence, size_t count)
{
	size_t i;

	for (i = 1; i < count; i++)
		if (!below(40) && sequence[i - 1] != BREAK)
			sequence[i] = BREAK;
}

static void random_streams(void **unused)
{
	uint32_t sequence[MOST];
	size_t found = 0, i, k;

	for (i = 0; i < RUNS; i++) {
		struct streams_limits limits = { .references = MOST };
		struct streams *streams;
		size_t count;

		state = i;
		limits.shortest = 2 + below(4);
		limits.longest = limits.shortest + below(50);
		limits.share = below(100) / 1000.;
		count = fill(sequence, 2 + below(12));
		add_breaks(sequence, count);
		streams = streams_of(sequence, count, &limits);
		for (k = 0; k < streams_count(streams); k++)
			check_stream(sequence, count, streams, k, &limits);
		found += streams_count(streams);
		streams_free(streams);
	}
	assert_true(found > RUNS);
}

/* One stream of 7 references, 50 times, among references that come once. */
static void known_stream(void **unused)
{
	enum { TIMES = 50, LENGTH = 7 };
	const struct streams_limits limits = {
		.references = 10000, .shortest = 3, .longest = 100,
		.share = 0.1,
	};
	uint32_t sequence[TIMES * (LENGTH + 2)];
	struct streams *streams;
	size_t count = 0, i, k;

	for (i = 0; i < TIMES; i++) {
		for (k = 0; k < LENGTH; k++)
			sequence[count++] = k;
		sequence[count++] = 100 + 2 * i;
		sequence[count++] = 101 + 2 * i;
	}
	streams = streams_of(sequence, count, &limits);
	assert_int_equal(1, streams_count(streams));
	assert_int_equal(LENGTH, streams_get(streams, 0)->length);
	assert_int_equal(TIMES, streams_get(streams, 0)->times);
	assert_int_equal(TIMES * LENGTH, streams_get(streams, 0)->heat);
	assert_int_equal(count, streams_kept(streams));
	assert_int_equal(LENGTH + 2 * TIMES, streams_different(streams));
	streams_free(streams);
}

/* References beyond the limit are left out, and counted. */
static void full(void **unused)
{
	const struct streams_limits limits = {
		.references = 10, .shortest = 2, .longest = 5, .share = 0.1,
	};
	static const uint32_t sequence[] = {
		1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, BREAK, 1, 2, 3,
	};
	struct streams *streams = streams_of(sequence, 16, &limits);

	assert_int_equal(10, streams_kept(streams));
	assert_int_equal(5, streams_left_out(streams));
	assert_int_equal(3, streams_get(streams, 0)->times);
	streams_free(streams);
}

static void nothing(void **unused)
{
	const struct streams_limits limits = {
		.references = 10, .shortest = 2, .longest = 5, .share = 0.1,
	};
	struct streams *streams = streams_of(NULL, 0, &limits);

	assert_int_equal(0, streams_count(streams));
	streams_free(streams);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grammars),
		cmocka_unit_test(random_streams),
		cmocka_unit_test(known_stream),
		cmocka_unit_test(full),
		cmocka_unit_test(nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
