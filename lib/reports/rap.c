// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "engine/range_tree.h"
#include "hwprof.h"
#include "range_box.h"

enum {
	PROFILE_SIZE	= 64 << 10,
	PROFILE_SPACE	= 0,		/* values belong to no address space */
};

struct rap_profile {
	struct range_tree tree;
	u32 root;
	uint64_t memory[PROFILE_SIZE / sizeof(uint64_t)];
};

struct rap {
	unsigned int count;
	struct rap_profile profiles[];
};

static int make(struct rap **result, unsigned int count, bool pairs)
{
	struct rap *rap;
	unsigned int i;

	*result = NULL;
	if (!count)
		return -EINVAL;
	rap = calloc(1,
		     sizeof(*rap) + (size_t)count * sizeof(rap->profiles[0]));
	if (!rap)
		return -ENOMEM;
	rap->count = count;
	for (i = 0; i < count; i++) {
		struct rap_profile *profile = &rap->profiles[i];

		range_tree_init(&profile->tree, profile->memory,
				sizeof(profile->memory),
				HWPROF_DEFAULT_EPSILON_PPM, pairs);
		profile->root = range_root(&profile->tree, PROFILE_SPACE);
	}
	*result = rap;
	return 0;
}

int rap_init(struct rap **rap, unsigned int number_of_simultaneous_profiles)
{
	return make(rap, number_of_simultaneous_profiles, false);
}

int rap_init_pairs(struct rap **rap,
		   unsigned int number_of_simultaneous_profiles)
{
	return make(rap, number_of_simultaneous_profiles, true);
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

static void print_ends(uint64_t low, uint64_t high, FILE *out)
{
	fprintf(out, "0x%" PRIx64 " 0x%" PRIx64 " ", low, high);
}

static void print(unsigned int number, const struct range_set *set, bool pairs,
		  FILE *out)
{
	size_t i;

	for (i = 0; i < set->count; i++) {
		const struct range_node *node = &set->nodes[i];
		range_number last = range_last(node);

		fprintf(out, "%u ", number);
		if (pairs) {
			struct pair low = box_pair(node->low);
			struct pair high = box_pair(last);

			print_ends(low.code, high.code, out);
			print_ends(low.address, high.address, out);
		} else {
			print_ends(node->low, last, out);
		}
		fprintf(out, "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			node->own, node->count, node->count + node->around);
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
	free(rap);
}
