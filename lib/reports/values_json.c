// SPDX-License-Identifier: LGPL-2.1-or-later
#include "profile/json_common.h"
#include "values.h"

const char *hwprof_value_class_name(enum hwprof_value_class kind)
{
	switch (kind) {
	case HWPROF_VALUE_CONSTANT:
		return "constant";
	case HWPROF_VALUE_ZERO:
		return "zero";
	case HWPROF_VALUE_STRIDE:
		return "stride";
	case HWPROF_VALUE_GLACIAL:
		return "glacial";
	case HWPROF_VALUE_VARYING:
		break;
	}
	return "varying";
}

static void put_values(struct json *json, const struct hwprof_load *load)
{
	size_t i;

	json_open(json, "values", '[');
	for (i = 0; i < load->value_count; i++) {
		const struct hwprof_load_value *value = &load->values[i];

		json_open(json, NULL, '{');
		json_hex(json, "value", value->value);
		json_unsigned(json, "hits", value->hits);
		json_number(json, "invariance", value->invariance);
		json_number(json, "low", value->low);
		json_number(json, "high", value->high);
		json_close(json, '}');
	}
	json_close(json, ']');
}

void values_put(struct json *json, const char *name, const void *values,
		size_t index)
{
	const struct hwprof_load *load = hwprof_values_get(values, index);

	json_open(json, name, '{');
	json_string(json, "object", load->object);
	json_string(json, "build_id", load->build_id);
	json_string(json, "function", load->function);
	json_unsigned_unless(json, "function_offset", load->function_offset,
			     !load->function);
	json_hex(json, "address", load->address);
	json_string(json, "file", load->file);
	json_unsigned_unless(json, "line", load->line, !load->line);
	json_unsigned(json, "executions", load->executions);
	json_unsigned(json, "seen", load->seen);
	json_number(json, "share", load->share);
	json_unsigned_unless(json, "width", load->width, !load->width);
	json_string(json, "class", hwprof_value_class_name(load->kind));
	json_unsigned_unless(json, "runs", load->runs, !load->basis);
	json_unsigned_unless(json, "breaks", load->breaks, !load->basis);
	if (load->strides)
		json_number(json, "stride", load->stride);
	else
		json_null(json, "stride");
	json_unsigned(json, "strides", load->strides);
	put_values(json, load);
	json_string(json, "basis", json_basis_name(load->basis));
	if (load->pid) {
		json_unsigned(json, "pid", load->pid);
		json_string(json, "comm", load->comm);
	}
	json_close(json, '}');
}

int values_json(const struct hwprof_profile *profile,
		const struct hwprof_json_options *options, FILE *out)
{
	const struct hwprof_values *values = (const void *)profile;
	struct json json = { .out = out };
	size_t i;

	json_open(&json, NULL, '{');
	json_number(&json, "completeness", hwprof_values_completeness(profile));
	json_open(&json, "loads", '[');
	for (i = 0; i < values->count &&
		    (!options->limit || i < options->limit); i++)
		values_put(&json, NULL, values, i);
	json_close(&json, ']');
	return json_end(&json, profile);
}
