// SPDX-License-Identifier: LGPL-2.1-or-later
#include "edges.h"
#include "profile/json_common.h"

/* As the code says, so far as it was read. */
static const char *kind_name(const struct hwprof_branch_site *site)
{
	switch (site->kind) {
	case HWPROF_BRANCH_COND:
		return "conditional jump";
	case HWPROF_BRANCH_JUMP:
		return "jump";
	case HWPROF_BRANCH_INDIRECT:
		return "indirect jump";
	case HWPROF_BRANCH_CALL:
		return site->indirect ? "indirect call" : "call";
	case HWPROF_BRANCH_RET:
		return "return";
	default:
		return NULL;
	}
}

static void put_target(struct json *json,
		       const struct hwprof_branch_target *target,
		       bool predicted)
{
	json_open(json, NULL, '{');
	json_code(json, "code", &target->code);
	json_unsigned(json, "count", target->count);
	json_number(json, "share", target->share);
	json_unsigned_unless(json, "mispredicted", target->mispredicted,
			     !predicted);
	json_unsigned_unless(json, "cycles", target->cycles, !target->cycles);
	json_close(json, '}');
}

static void put_shares(struct json *json, const struct hwprof_branch_site *site)
{
	json_number(json, "share", site->share);
	json_number(json, "share_low", site->share_low);
	json_number(json, "share_high", site->share_high);
	json_unsigned(json, "taken", site->taken);
	json_unsigned(json, "led", site->led);
	json_unsigned(json, "most", site->most);
	json_unsigned_unless(json, "passed", site->passed,
			     site->kind != HWPROF_BRANCH_COND || !site->basis);
	json_number(json, "bias", site->bias);
	json_number(json, "bias_low", site->bias_low);
	json_number(json, "bias_high", site->bias_high);
	json_unsigned_unless(json, "mispredicted", site->mispredicted,
			     !site->predicted);
	json_unsigned_unless(json, "cycles", site->cycles, !site->cycles);
	json_string(json, "basis", json_basis_name(site->basis));
}

void edges_put(struct json *json, const char *name, const void *edges,
	       size_t index)
{
	const struct hwprof_branch_site *site = hwprof_edges_get(edges, index);
	size_t i;

	json_open(json, name, '{');
	put_shares(json, site);
	if (site->pid) {
		json_unsigned(json, "pid", site->pid);
		json_string(json, "comm", site->comm);
	}
	json_string(json, "kind", kind_name(site));
	json_code(json, "code", &site->code);
	json_open(json, "targets", '[');
	for (i = 0; i < site->target_count; i++)
		put_target(json, &site->targets[i], site->predicted);
	json_close(json, ']');
	json_close(json, '}');
}

int edges_json(const struct hwprof_profile *profile,
	       const struct hwprof_json_options *options, FILE *out)
{
	size_t count = hwprof_edges_count(profile), i;
	struct json json = { .out = out };

	json_open(&json, NULL, '{');
	json_unsigned(&json, "branch_count", count);
	json_open(&json, "branches", '[');
	for (i = 0; i < count && (!options->limit || i < options->limit); i++)
		edges_put(&json, NULL, profile, i);
	json_close(&json, ']');
	return json_end(&json, profile);
}
