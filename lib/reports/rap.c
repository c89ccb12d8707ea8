// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "engine/range_tree.h"
#include "hwprof.h"
#include "range_box.h"

enum {
	PROFILE_SPACE	= 0,		/* values belong to no address space */
	EPSILON_SCALE	= 1000000,
};

struct rap_profile {
	struct range_tree tree;
	u32 root;
	uint64_t *memory;
};

struct rap {
	unsigned int count;
	struct rap_profile profiles[];
};

static uint32_t epsilon_of(const struct rap_options *options)
{
	return options->epsilon > 0 ? options->epsilon * EPSILON_SCALE + 0.5 :
				      HWPROF_DEFAULT_EPSILON_PPM;
}

static bool is_valid(const struct rap_options *options)
{
	uint32_t epsilon = options->epsilon >= 0 && options->epsilon <= 1 ?
			   epsilon_of(options) : 0;

	return epsilon && !options->reserved && options->dimensions <= 2 &&
	       (!options->memory || (options->memory >= RAP_MEMORY_MIN &&
				     options->memory <= RAP_MEMORY_MAX));
}

static int make_profile(struct rap_profile *profile,
			const struct rap_options *options)
{
	size_t size = options->memory ? options->memory : RAP_MEMORY_DEFAULT;

	size -= size % sizeof(uint64_t);
	profile->memory = calloc(1, size);
	if (!profile->memory)
		return -ENOMEM;
	range_tree_init(&profile->tree, profile->memory, size,
			epsilon_of(options), options->dimensions == 2);
	profile->root = range_root(&profile->tree, PROFILE_SPACE);
	return 0;
}

/* Makes trees. @each: whether each has options of its own. */
static int make(struct rap **result, const struct rap_options *options,
		unsigned int count, bool each)
{
	struct rap *rap;
	unsigned int i;
	int error = 0;

	*result = NULL;
	for (i = 0; i < count; i++)
		if (!is_valid(&options[each ? i : 0]))
			return -EINVAL;
	if (!count)
		return -EINVAL;
	rap = calloc(1,
		     sizeof(*rap) + (size_t)count * sizeof(rap->profiles[0]));
	if (!rap)
		return -ENOMEM;
	rap->count = count;
	for (i = 0; i < count && !error; i++)
		error = make_profile(&rap->profiles[i],
				     &options[each ? i : 0]);
	if (error)
		rap_free(rap);
	else
		*result = rap;
	return error;
}

int rap_init(struct rap **rap, unsigned int number_of_simultaneous_profiles)
{
	const struct rap_options values = { .dimensions = 1 };

	return make(rap, &values, number_of_simultaneous_profiles, false);
}

int rap_init_pairs(struct rap **rap,
		   unsigned int number_of_simultaneous_profiles)
{
	const struct rap_options pairs = { .dimensions = 2 };

	return make(rap, &pairs, number_of_simultaneous_profiles, false);
}

int rap_init_options(struct rap **rap, const struct rap_options *options,
		     unsigned int count)
{
	return make(rap, options, count, true);
}

void rap_add_points(struct rap *rap, uint64_t profile_event_identifier,
		    uint64_t count, unsigned int profile_type)
{
	struct rap_profile *profile = &rap->profiles[profile_type];

	range_count(&profile->tree, profile->root, profile_event_identifier,
		    count);
}

void rap_add_pairs(struct rap *rap, uint64_t code, uint64_t address,
		   uint64_t count, unsigned int profile_type)
{
	struct rap_profile *profile = &rap->profiles[profile_type];

	range_count_pair(&profile->tree, profile->root, code, address, count);
}

static range_number number_of(const struct range_tree *tree,
			      struct range_key key)
{
	return tree->codes ? box_number((struct pair){ key.code, key.value }) :
			     key.value;
}

static int gather(const struct rap_profile *profile, struct range_set *set)
{
	const struct range_tree *tree = &profile->tree;
	u32 node;

	for (node = 0; node < range_node_count(tree); node++)
		if (range_is_used(tree, node) && *range_own(tree, node) &&
		    range_set_add(set, number_of(tree, range_low(tree, node)),
				  range_bits(tree, node),
				  *range_own(tree, node)))
			return -ENOMEM;
	return range_set_build(set, 0);
}

static void describe(const struct range_node *node, bool pairs,
		     struct rap_range *range)
{
	range_number last = range_last(node);

	*range = (struct rap_range){
		.low = node->low, .high = last,
		.own = node->own, .at_least = node->count,
		.at_most = node->count + node->around,
	};
	if (!pairs)
		return;
	range->code_low = box_pair(node->low).code;
	range->code_high = box_pair(last).code;
	range->low = box_pair(node->low).address;
	range->high = box_pair(last).address;
}

int rap_ranges(const struct rap *rap, unsigned int profile_type,
	       rap_range_fn fn, void *context)
{
	struct range_set set = { 0 };
	int result;
	size_t i;

	if (profile_type >= rap->count)
		return -EINVAL;
	result = gather(&rap->profiles[profile_type], &set);
	for (i = 0; i < set.count && !result; i++) {
		struct rap_range range;

		describe(&set.nodes[i],
			 rap->profiles[profile_type].tree.codes, &range);
		result = fn(context, &range);
	}
	range_set_free(&set);
	return result;
}

static void print_ends(uint64_t low, uint64_t high, FILE *out)
{
	fprintf(out, "0x%" PRIx64 " 0x%" PRIx64 " ", low, high);
}

static void print(unsigned int number, const struct range_set *set, bool pairs,
		  FILE *out)
{
	size_t i;

	for (i = 0; i < set->count; i++) {
		struct rap_range range;

		describe(&set->nodes[i], pairs, &range);
		fprintf(out, "%u ", number);
		if (pairs)
			print_ends(range.code_low, range.code_high, out);
		print_ends(range.low, range.high, out);
		fprintf(out, "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			range.own, range.at_least, range.at_most);
	}
}

int rap_finalize(const struct rap *rap, FILE *out)
{
	unsigned int i;

	for (i = 0; i < rap->count; i++) {
		struct range_set set = { 0 };
		int error = gather(&rap->profiles[i], &set);

		if (!error)
			print(i, &set, rap->profiles[i].tree.codes, out);
		range_set_free(&set);
		if (error)
			return error;
	}
	return fflush(out) || ferror(out) ? -EIO : 0;
}

void rap_free(struct rap *rap)
{
	unsigned int i;

	if (!rap)
		return;
	for (i = 0; i < rap->count; i++)
		free(rap->profiles[i].memory);
	free(rap);
}
