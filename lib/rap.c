// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "engine/range_tree.h"
#include "hwprof.h"
#include "range_hot.h"

enum {
	PROFILE_SIZE	= 64 << 10,
	PROFILE_SPACE	= 0,		/* values belong to nothing */
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

int rap_init(struct rap **result, unsigned int number_of_simultaneous_profiles)
{
	unsigned int count = number_of_simultaneous_profiles, i;
	struct rap *rap;

	*result = NULL;
	if (!count)
		return -EINVAL;
	rap = calloc(1, sizeof(*rap) + (size_t)count * sizeof(rap->profiles[0]));
	if (!rap)
		return -ENOMEM;
	rap->count = count;
	for (i = 0; i < count; i++) {
		struct rap_profile *profile = &rap->profiles[i];

		range_tree_init(&profile->tree, profile->memory,
				sizeof(profile->memory),
				HWPROF_DEFAULT_EPSILON_PPM);
		profile->root = range_root(&profile->tree, PROFILE_SPACE);
	}
	*result = rap;
	return 0;
}

void rap_add_points(struct rap *rap, uint64_t profile_event_identifier,
		    uint64_t count, unsigned int profile_type)
{
	struct rap_profile *profile = &rap->profiles[profile_type];

	range_count(&profile->tree, profile->root, profile_event_identifier,
		    count);
}

static int gather(const struct rap_profile *profile, struct range_set *set)
{
	const struct range_tree *tree = &profile->tree;
	u32 node;

	for (node = 0; node < range_node_count(tree); node++)
		if (range_is_used(tree, node) && *range_own(tree, node) &&
		    range_set_add(set, range_low(tree, node),
				  range_bits(tree, node),
				  *range_own(tree, node)))
			return -ENOMEM;
	return range_set_build(set, 0);
}

static void print(unsigned int number, const struct range_set *set, FILE *out)
{
	size_t i;

	for (i = 0; i < set->count; i++) {
		const struct range_node *node = &set->nodes[i];

		fprintf(out, "%u 0x%" PRIx64 " 0x%" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			number, node->low, range_last(node), node->own,
			node->count, node->count + node->around);
	}
}

int rap_finalize(const struct rap *rap, FILE *out)
{
	unsigned int i;

	for (i = 0; i < rap->count; i++) {
		struct range_set set = { 0 };
		int error = gather(&rap->profiles[i], &set);

		if (!error)
			print(i, &set, out);
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
