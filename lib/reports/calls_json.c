// SPDX-License-Identifier: LGPL-2.1-or-later
#include "calls.h"
#include "profile/json_common.h"

static void put_called(struct json *json, const struct hwprof_called *called)
{
	json_number(json, "share", called->share);
	json_number(json, "share_low", called->share_low);
	json_number(json, "share_high", called->share_high);
	json_unsigned(json, "least", called->least);
	json_unsigned(json, "most", called->most);
	json_string(json, "basis", json_basis_name(called->basis));
	if (called->pid) {
		json_unsigned(json, "pid", called->pid);
		json_string(json, "comm", called->comm);
	}
}

void calls_put(struct json *json, const char *name, const void *calls,
	       size_t index)
{
	const struct hwprof_pair *pair = hwprof_calls_pair(calls, index);

	json_open(json, name, '{');
	put_called(json, &pair->called);
	json_code(json, "site", &pair->site);
	json_code(json, "callee", &pair->callee);
	json_close(json, '}');
}

void calls_put_method(struct json *json, const char *name, const void *calls,
		      size_t index)
{
	const struct hwprof_method *method = hwprof_calls_method(calls, index);

	json_open(json, name, '{');
	put_called(json, &method->called);
	json_code(json, "entry", &method->entry);
	json_unsigned(json, "sites", method->sites);
	json_close(json, '}');
}

static void put_pairs(struct json *json, const struct hwprof_calls *calls,
		      size_t limit)
{
	size_t i;

	json_open(json, "pairs", '[');
	for (i = 0; i < calls->pair_count && (!limit || i < limit); i++)
		calls_put(json, NULL, calls, i);
	json_close(json, ']');
}

static void put_methods(struct json *json, const struct hwprof_calls *calls,
			size_t limit)
{
	size_t i;

	json_open(json, "methods", '[');
	for (i = 0; i < calls->method_count && (!limit || i < limit); i++)
		calls_put_method(json, NULL, calls, i);
	json_close(json, ']');
}

int calls_json(const struct hwprof_profile *profile,
	       const struct hwprof_json_options *options, FILE *out)
{
	const struct hwprof_calls *calls = (const void *)profile;
	struct json json = { .out = out };

	json_open(&json, NULL, '{');
	json_unsigned(&json, "pair_count", calls->pair_count);
	put_pairs(&json, calls, options->limit);
	json_unsigned(&json, "method_count", calls->method_count);
	put_methods(&json, calls, options->limit);
	return json_end(&json, profile);
}
