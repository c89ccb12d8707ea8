// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hot_ranges.h"
#include "reports/range_box.h"
#include "tests/oracle/array.h"
#include "trace.h"

struct keys read_targets(void)
{
	static struct trace_event buffer[8192];
	struct keys targets = { 0 };
	size_t got, i;

	while ((got = fread(buffer, sizeof(*buffer), 8192, stdin)))
		for (i = 0; i < got; i++)
			if (buffer[i].kind == TRACE_BRANCH)
				*array_push(&targets) = (struct range_key){
					.value = buffer[i].to };
	return targets;
}

/* --- exact counts --------------------------------------------------------- */

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

struct numbers sorted_numbers(const struct keys *keys, bool pairs)
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

struct range_set exact_set(const struct numbers *numbers, double hot)
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
	if (range_set_build(&set, hot))
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

struct range_set counted_set(const struct keys *keys, bool pairs, size_t blocks,
			     u32 epsilon_ppm, double hot, u64 *refused)
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
	if (range_set_build(&set, hot))
		abort();
	*refused = tree.refused;
	free(memory);
	return set;
}

/* --- both ----------------------------------------------------------------- */

void judge_counts(const struct range_set *set, const struct numbers *numbers,
		  struct verdict *verdict)
{
	size_t i;

	for (i = 0; i < set->count; i++) {
		const struct range_node *node = &set->nodes[i];
		u64 is = exact(numbers, node);
		double right = is ? (double)node->count / is : 1;

		verdict->wrong += node->count > is ||
				 node->count + node->around < is;
		if (!node->hot)
			continue;
		verdict->hot++;
		verdict->sum += right;
		if (right < verdict->worst)
			verdict->worst = right;
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

/* Returns the counts of the ranges around @range. */
static u64 around(const struct range_set *set, const struct range_node *range)
{
	u64 sum = 0;
	size_t i;

	for (i = 0; i < set->count; i++)
		if (contains(&set->nodes[i], range) &&
		    !contains(range, &set->nodes[i]))
			sum += set->nodes[i].own;
	return sum;
}

/* Returns the counts of the hot ranges inside @range. */
static u64 hot_inside(const struct range_set *set,
		      const struct range_node *range)
{
	const struct range_node *last = NULL;
	u64 sum = 0;
	size_t i;

	for (i = 0; i < set->count; i++) {
		const struct range_node *node = &set->nodes[i];

		if (!node->hot || !contains(range, node) ||
		    contains(node, range) || (last && contains(last, node)))
			continue;
		sum += node->count;
		last = node;
	}
	return sum;
}

/*
 * Returns the most that a profile can tell of @range without the hot ranges
 * inside it. It can tell less by the counts around @range.
 */
static double most_rest(const struct range_set *set,
			const struct numbers *numbers,
			const struct range_node *range)
{
	return (double)exact(numbers, range) - hot_inside(set, range);
}

void judge_hot(const struct range_set *set, const struct range_set *truth,
	       const struct numbers *numbers, double hot,
	       struct verdict *verdict)
{
	const struct range_node *node;

	for (node = truth->nodes; node < truth->nodes + truth->count; node++) {
		if (!node->hot || is_found(set, numbers, node))
			continue;
		verdict->missed++;
		verdict->unexplained += most_rest(set, numbers, node) >=
					hot + around(set, node);
	}
	for (node = set->nodes; node < set->nodes + set->count; node++)
		verdict->unexplained += node->hot &&
					most_rest(set, numbers, node) < hot;
}
