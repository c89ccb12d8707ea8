// SPDX-License-Identifier: LGPL-2.1-or-later
/* Writes calling contexts for other tools: as JSON, and as folded stacks. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "contexts.h"
#include "engine/types.h"
#include "profile/json_common.h"

static const char *kind_name(enum hwprof_context_kind kind)
{
	switch (kind) {
	case HWPROF_CONTEXT_ROOT:
		return "root";
	case HWPROF_CONTEXT_CALL:
		return "call";
	case HWPROF_CONTEXT_SIGNAL:
		return "signal";
	case HWPROF_CONTEXT_RECURSION:
		return "recursion";
	}
	return NULL;
}

static void put_place(struct json *json, const struct hwprof_context *context)
{
	json_string(json, "object", context->object);
	json_string(json, "build_id", context->build_id);
	if (context->object)
		json_hex(json, "address", context->address);
	else
		json_null(json, "address");
	json_string(json, "function", context->function);
	json_unsigned_unless(json, "function_offset", context->function_offset,
			     !context->function);
	json_string(json, "site_object", context->site_object);
	if (context->site_object)
		json_hex(json, "site", context->site);
	else
		json_null(json, "site");
	json_string(json, "site_function", context->site_function);
	json_unsigned_unless(json, "site_offset", context->site_offset,
			     !context->site_function);
}

static void put_metrics(struct json *json, const struct hwprof_profile *profile,
			const struct hwprof_context *context)
{
	const char *name;
	size_t i;

	json_open(json, "metrics", '{');
	for (i = 0; (name = hwprof_contexts_metric(profile, i)); i++) {
		json_open(json, name, '{');
		json_unsigned(json, "own", context->metrics[i]);
		json_unsigned(json, "all", context->all_metrics[i]);
		json_close(json, '}');
	}
	json_close(json, '}');
}

static void put_counts(struct json *json, const struct hwprof_profile *profile,
		       const struct hwprof_context *context)
{
	json_unsigned(json, "calls", context->calls);
	json_unsigned(json, "deeper", context->deeper);
	json_unsigned(json, "branches", context->branches);
	json_unsigned(json, "all_calls", context->all_calls);
	json_unsigned(json, "all_branches", context->all_branches);
	json_unsigned(json, "weight", context->weight);
	json_unsigned(json, "all_weight", context->all_weight);
	json_unsigned(json, "samples", context->samples);
	put_metrics(json, profile, context);
	json_number(json, "share", context->share);
	json_string(json, "basis", json_basis_name(context->basis));
	json_unsigned_unless(json, "pid", context->pid, !context->pid);
	json_string(json, "comm", context->comm);
}

/* @parent and @target are indices of nodes that were written before. */
static void put_context(struct json *json, const struct hwprof_profile *profile,
			const struct hwprof_context *context, uint64_t parent,
			uint64_t target)
{
	json_open(json, NULL, '{');
	json_string(json, "kind", kind_name(context->kind));
	json_unsigned_unless(json, "parent", parent, !context->parent);
	json_unsigned_unless(json, "target", target, !context->target);
	json_unsigned(json, "depth", context->depth);
	put_place(json, context);
	put_counts(json, profile, context);
	json_close(json, '}');
}

static void put_statistics(struct json *json,
			   const struct hwprof_context_statistics *statistics)
{
	json_open(json, "statistics", '{');
	json_unsigned(json, "nodes", statistics->nodes);
	json_unsigned(json, "back_edges", statistics->back_edges);
	json_unsigned(json, "procedures", statistics->procedures);
	json_unsigned(json, "leaves", statistics->leaves);
	json_number(json, "out_degree", statistics->out_degree);
	json_number(json, "height", statistics->height);
	json_unsigned(json, "height_max", statistics->height_max);
	json_unsigned(json, "replication", statistics->replication);
	json_unsigned(json, "call_sites", statistics->call_sites);
	json_unsigned(json, "indirect_sites", statistics->indirect_sites);
	json_close(json, '}');
}

static const struct context_node *node_of(const struct hwprof_context *context)
{
	return container_of(context, struct context_node, context);
}

/* Returns the index of a node that was written before; 0 for NULL. */
static uint64_t index_of(const struct hwprof_contexts *contexts,
			 const uint64_t *indices,
			 const struct hwprof_context *context)
{
	return context ? indices[node_of(context) - contexts->tree.nodes] : 0;
}

int contexts_json(const struct hwprof_profile *profile,
		  const struct hwprof_json_options *options, FILE *out)
{
	const struct hwprof_contexts *contexts = (const void *)profile;
	uint64_t *indices = calloc(contexts->tree.count + 1, sizeof(*indices));
	struct json json = { .out = out };
	uint64_t put = 0;
	size_t i;

	if (!indices)
		return -ENOMEM;
	json_open(&json, NULL, '{');
	json_open(&json, "contexts", '[');
	for (i = 0; i < contexts->tree.count; i++) {
		const struct hwprof_context *context = contexts->order[i];

		if (!hwprof_context_is_shown(context, options->min_share))
			continue;
		indices[node_of(context) - contexts->tree.nodes] = put++;
		put_context(&json, profile, context,
			    index_of(contexts, indices, context->parent),
			    index_of(contexts, indices, context->target));
	}
	json_close(&json, ']');
	put_statistics(&json, &contexts->statistics);
	free(indices);
	return json_end(&json, profile);
}

/* --- folded stacks ------------------------------------------------------ */

/*
 * Replaces characters with a meaning in folded stacks (';' and the end of the
 * line) or on terminals.
 */
static void put_name(const char *name, FILE *out)
{
	for (; *name; name++) {
		unsigned char byte = *name;

		if (byte == 0xc2 && (name[1] & 0xe0) == 0x80)
			byte = ' ';
		if (byte < 0x20 || byte == 0x7f)
			byte = ' ';
		fputc(byte == ';' ? ':' : byte, out);
		name += byte == ' ' && (unsigned char)*name == 0xc2;
	}
}

static const char *base_name(const char *path)
{
	const char *slash = *path == '[' ? NULL : strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void put_frame(const struct hwprof_context *context, FILE *out)
{
	if (context->kind == HWPROF_CONTEXT_SIGNAL)
		fputs("[signal];", out);
	if (context->kind == HWPROF_CONTEXT_ROOT) {
		put_name(context->comm ? context->comm : "[unknown]", out);
	} else if (context->function) {
		put_name(context->function, out);
	} else {
		put_name(base_name(context->object), out);
		fprintf(out, "+0x%" PRIx64, context->address);
	}
}

char *hwprof_context_chain(const struct hwprof_context *context)
{
	const struct hwprof_context **chain;
	size_t depth = (size_t)context->depth + 1, size, i;
	char *text = NULL;
	FILE *out;

	chain = calloc(depth, sizeof(*chain));
	out = chain ? open_memstream(&text, &size) : NULL;
	for (i = depth; out && i--; context = context->parent)
		chain[i] = context;
	for (i = 0; out && i < depth; i++) {
		put_frame(chain[i], out);
		if (i + 1 < depth)
			fputc(';', out);
	}
	free(chain);
	if (!out || fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

int hwprof_contexts_folded(const struct hwprof_profile *profile, FILE *out)
{
	const struct hwprof_contexts *contexts = (const void *)profile;
	size_t i;

	for (i = 0; i < contexts->tree.count; i++) {
		const struct hwprof_context *context = contexts->order[i];
		uint64_t own = context->branches ? context->branches :
						   context->weight;
		char *chain;

		if (!own)
			continue;
		chain = hwprof_context_chain(context);
		if (!chain)
			return -ENOMEM;
		fprintf(out, "%s %" PRIu64 "\n", chain, own);
		free(chain);
	}
	return fflush(out) || ferror(out) ? -EIO : 0;
}

/* Writes one context, with its whole chain. */
void contexts_put(struct json *json, const char *name, const void *contexts,
		  size_t index)
{
	const struct hwprof_context *context =
		hwprof_contexts_get(contexts, index);
	char *chain = hwprof_context_chain(context);

	json_open(json, name, '{');
	json_string(json, "kind", kind_name(context->kind));
	json_string(json, "chain", chain);
	put_place(json, context);
	put_counts(json, contexts, context);
	json_close(json, '}');
	free(chain);
}
