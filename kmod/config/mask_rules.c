// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
#ifdef __KERNEL__
#include <linux/errno.h>
#else
#include <errno.h>
#endif

#include "mask_rules.h"

enum {
	MASK_FLAGS	= HWPROF_MASK_SET | HWPROF_MASK_HASH,
	MASK_ACCESSES	= 1 << HWPROF_KIND_LOAD | 1 << HWPROF_KIND_STORE,
	MASK_CLASSES	= (1 << HWPROF_CLASSES) - 1,
};

static struct config_refusal mask_refuse(int error, const char *sentence)
{
	return (struct config_refusal) { error, -1, sentence };
}

/* Check what is wrong in any session. */
static struct config_refusal mask_check_fields(const struct hwprof_mask *mask)
{
	if (mask->flags & ~MASK_FLAGS || mask->reserved)
		return mask_refuse(-EINVAL, "has unknown flags");
	if (mask->kinds & ~HWPROF_MASK_KINDS)
		return mask_refuse(-EINVAL, "names an unknown kind");
	if (mask->classes & ~MASK_CLASSES)
		return mask_refuse(-EINVAL, "names an unknown class");
	if (mask->widths & ~HWPROF_MASK_WIDTHS)
		return mask_refuse(-EINVAL, "names an unknown width");
	if (mask->value_match & ~mask->value_mask ||
	    mask->address_match & ~mask->address_mask ||
	    mask->ip_match & ~mask->ip_mask)
		return mask_refuse(-EINVAL,
				   "lets nothing pass, because it wants bits "
				   "that it does not look at");
	return mask_refuse(0, NULL);
}

/* Return true if the session sees samples, and no branches. */
static bool mask_is_of_samples(const struct session_config *config)
{
	return config->source_caps & SOURCE_SAMPLES ||
	       (config->source_caps & SOURCE_STACKS &&
		config->engine_caps & ENGINE_STACKS);
}

static bool mask_tests_accesses(const struct hwprof_mask *mask)
{
	return mask->kinds & MASK_ACCESSES || mask->classes || mask->widths ||
	       mask->value_mask || mask->address_mask;
}

static bool mask_leaves_out_branches(const struct hwprof_mask *mask)
{
	return (mask->kinds && ~mask->kinds & HWPROF_MASK_BRANCHES) ||
	       mask->ip_mask;
}

struct config_refusal mask_check(const struct session_config *config,
				 const struct hwprof_mask *mask)
{
	struct config_refusal refusal = mask_check_fields(mask);
	bool samples = mask_is_of_samples(config);

	if (refusal.error)
		return refusal;
	if (samples && mask->kinds)
		return mask_refuse(-EOPNOTSUPP,
				   "names kinds, and the event takes samples, "
				   "which have none");
	if (mask_tests_accesses(mask) && !config->accesses)
		return mask_refuse(-EOPNOTSUPP,
				   "tests loads and stores, which the event "
				   "does not see");
	if (!samples && mask_leaves_out_branches(mask) &&
	    config_has_engine(config, ENGINE_FOLLOWS))
		return mask_refuse(-EINVAL,
				   "leaves out branches, and the event's "
				   "profile must see each");
	return mask_refuse(0, NULL);
}
