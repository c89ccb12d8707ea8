// SPDX-License-Identifier: LGPL-2.1-or-later
#include <math.h>
#include <string.h>

#include "estimate.h"
#include "value_sum.h"

#define CONSTANT	0.99	/* share of executions with one value */
#define STRIDED		0.75	/* share of runs that follow by the stride */
#define GLACIAL		0.95	/* share of executions with the previous
				 * value */
enum {
	PAIRS_LEAST = 8,	/* executions behind another that show a
				 * pattern */
};

static uint64_t seen(const struct value_sum *sum)
{
	return sum->loads - sum->unseen;
}

static uint64_t rest(const struct value_sum *sum)
{
	uint64_t rest = seen(sum);
	uint32_t i;

	for (i = 0; i < sum->count; i++)
		rest -= sum->values[i].hits;
	return rest;
}

static const struct hwprof_value *find(const struct value_sum *sum,
				       uint64_t value)
{
	uint32_t i;

	for (i = 0; i < sum->count; i++)
		if (sum->values[i].value == value)
			return &sum->values[i];
	return NULL;
}

/* Inserts a value in order. If there is no room, drops the least frequent. */
static void insert(struct value_sum *sum, struct hwprof_value value)
{
	uint32_t i = sum->count;

	for (; i && sum->values[i - 1].hits < value.hits; i--)
		if (i < VALUE_SUM_KEPT)
			sum->values[i] = sum->values[i - 1];
	if (i == VALUE_SUM_KEPT)
		return;
	sum->values[i] = value;
	sum->count += sum->count < VALUE_SUM_KEPT;
}

static void add_values(struct value_sum *sum, const struct value_sum *from)
{
	const struct value_sum before = *sum;
	uint32_t i;

	sum->count = 0;
	for (i = 0; i < before.count; i++) {
		struct hwprof_value value = before.values[i];
		const struct hwprof_value *same = find(from, value.value);

		value.hits += same ? same->hits : 0;
		value.missed += same ? same->missed : rest(from);
		insert(sum, value);
	}
	for (i = 0; i < from->count; i++) {
		struct hwprof_value value = from->values[i];

		if (find(&before, value.value))
			continue;
		value.missed += rest(&before);
		insert(sum, value);
	}
}

void value_sum_add(struct value_sum *sum, const struct value_sum *from)
{
	add_values(sum, from);
	if (sum->stride == from->stride) {
		sum->strides += from->strides;
	} else if (sum->strides < from->strides) {
		sum->stride = from->stride;
		sum->strides = from->strides;
	}
	sum->loads += from->loads;
	sum->unseen += from->unseen;
	sum->runs += from->runs;
	sum->breaks += from->breaks;
	if (from->width > sum->width)
		sum->width = from->width;
	/* The weaker basis holds for the sum. */
	if (from->basis > sum->basis)
		sum->basis = from->basis;
}

struct value_sum value_sum_of(const struct hwprof_row_value *row)
{
	struct value_sum sum = {
		.loads = row->loads, .unseen = row->unseen,
		.runs = row->runs, .breaks = row->breaks,
		.stride = row->stride, .strides = row->strides,
		.width = row->width, .basis = row->basis,
	};
	uint32_t i;

	for (i = 0; i < row->count; i++)
		insert(&sum, row->values[i]);
	if (!sum.basis || sum.basis > HWPROF_BASIS_TIME)
		sum.basis = HWPROF_BASIS_TIME;
	return sum;
}

/* --- conclusions ---------------------------------------------------------- */

double value_sum_invariance(const struct value_sum *sum, uint32_t index)
{
	return (double)sum->values[index].hits / seen(sum);
}

void value_sum_interval(const struct value_sum *sum, uint32_t index,
			double *low, double *high)
{
	const struct hwprof_value *value = &sum->values[index];

	*low = value_sum_invariance(sum, index);
	*high = (double)(value->hits + value->missed) / seen(sum);
	if (*high > 1)
		*high = 1;
	/* Executions of one window depend on each other: it counts once. */
	if (sum->basis != HWPROF_BASIS_EXACT && sum->breaks)
		widen_binomial(sum->breaks, low, high);
}

enum hwprof_value_class value_sum_class(const struct value_sum *sum)
{
	uint64_t pairs = seen(sum) - sum->breaks;

	if (!sum->count)
		return HWPROF_VALUE_VARYING;
	if (value_sum_invariance(sum, 0) >= CONSTANT)
		return sum->values[0].value ? HWPROF_VALUE_CONSTANT :
					      HWPROF_VALUE_ZERO;
	if (pairs < PAIRS_LEAST)
		return HWPROF_VALUE_VARYING;
	if (sum->strides >= STRIDED * pairs)
		return HWPROF_VALUE_STRIDE;
	if (seen(sum) - sum->runs >= GLACIAL * pairs)
		return HWPROF_VALUE_GLACIAL;
	return HWPROF_VALUE_VARYING;
}

bool value_sum_is_new(const struct value_sum *sum)
{
	return sum->breaks <= 1;
}
