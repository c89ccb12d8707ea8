// SPDX-License-Identifier: LGPL-2.1-or-later
#include <math.h>
#include <stdlib.h>

#include "profile/json_common.h"
#include "paths.h"

static void put_line(struct json *json, const char *file_name,
		     const char *line_name, const char *file, unsigned int line)
{
	json_string(json, file_name, file);
	json_unsigned_unless(json, line_name, line, !file);
}

static void put_block(struct json *json, const struct hwprof_block *block)
{
	json_open(json, NULL, '{');
	json_string(json, "object", block->object);
	json_hex(json, "first", block->first);
	json_hex(json, "last", block->last);
	json_string(json, "function", block->function);
	json_unsigned_unless(json, "offset", block->offset, !block->function);
	put_line(json, "file", "line", block->file, block->line);
	put_line(json, "last_file", "last_line", block->last_file,
		 block->last_line);
	json_unsigned_unless(json, "instructions", block->instructions,
			     block->undecoded);
	json_string(json, "branch", block->branch);
	json_bool(json, "conditional", block->conditional);
	json_bool(json, "taken", block->taken);
	json_string(json, "callee", block->callee);
	json_string(json, "undecoded", block->undecoded);
	json_close(json, '}');
}

/* Writes the known contexts; null if contexts were not recorded. */
static void put_contexts(struct json *json, const struct hwprof_paths *paths,
			 size_t index)
{
	size_t count = hwprof_paths_contexts(&paths->profile, index), i;

	if (!paths->contexts) {
		json_null(json, "contexts");
		return;
	}
	json_open(json, "contexts", '[');
	for (i = 0; i < count; i++) {
		struct hwprof_path_context of;
		char *chain;

		hwprof_paths_context(&paths->profile, index, i, &of);
		chain = hwprof_context_chain(of.context);
		json_open(json, NULL, '{');
		json_string(json, "chain", chain);
		json_unsigned(json, "count", of.count);
		json_unsigned_unless(json, "cycles", of.cycles, !of.cycles);
		json_close(json, '}');
		free(chain);
	}
	json_close(json, ']');
}

static void put_windows(struct json *json, double windows)
{
	json_number(json, "windows", windows > 0 ? windows : NAN);
}

static void put_share(struct json *json, uint64_t branches,
		      uint64_t instructions, uint64_t cycles, double windows,
		      double share, enum hwprof_heat heat)
{
	json_unsigned(json, "branches", branches);
	json_unsigned_unless(json, "instructions", instructions,
			     !instructions);
	json_unsigned_unless(json, "cycles", cycles, !cycles);
	put_windows(json, windows);
	json_number(json, "share", share);
	json_string(json, "heat", hwprof_heat_name(heat));
}

void paths_put(struct json *json, const char *name, const void *paths,
	       size_t index)
{
	const struct hwprof_path *path = hwprof_paths_get(paths, index);
	struct hwprof_block block;
	uint32_t i;

	json_open(json, name, '{');
	json_string(json, "object", path->procedure->object);
	json_string(json, "function", path->procedure->function);
	json_string(json, "begins", path->called ? "entry" : "back edge");
	json_string(json, "ends", path->returns ? "return" : "back edge");
	json_string(json, "start_object", path->start_object);
	json_hex(json, "start", path->start);
	json_string(json, "start_function", path->start_function);
	json_unsigned_unless(json, "start_offset", path->start_offset,
			     !path->start_function);
	put_line(json, "start_file", "start_line", path->start_file,
		 path->start_line);
	json_hex(json, "end", path->end);
	json_unsigned_unless(json, "end_offset", path->end_offset,
			     !path->procedure->function);
	put_line(json, "end_file", "end_line", path->end_file, path->end_line);
	json_unsigned(json, "length", path->length);
	json_unsigned(json, "count", path->count);
	json_unsigned_unless(json, "number", path->number, path->unnumbered);
	json_string(json, "unnumbered", path->unnumbered);
	put_share(json, path->branches, path->instructions, path->cycles,
		  path->windows, path->share, path->heat);
	json_string(json, "basis", json_basis_name(path->basis));
	if (path->procedure->pid) {
		json_unsigned(json, "pid", path->procedure->pid);
		json_string(json, "comm", path->procedure->comm);
	}
	json_open(json, "blocks", '[');
	for (i = 0; i < path->blocks; i++) {
		hwprof_paths_block(paths, index, i, &block);
		put_block(json, &block);
	}
	json_close(json, ']');
	put_contexts(json, paths, index);
	json_close(json, '}');
}

void paths_put_procedure(struct json *json, const char *name, const void *paths,
			 size_t index)
{
	const struct hwprof_procedure *procedure =
		hwprof_paths_procedure(paths, index);

	json_open(json, name, '{');
	json_string(json, "object", procedure->object);
	json_string(json, "build_id", procedure->build_id);
	json_string(json, "function", procedure->function);
	json_unsigned(json, "paths", procedure->paths);
	json_unsigned_unless(json, "possible", procedure->possible,
			     procedure->unnumbered);
	json_bool(json, "seen", procedure->seen);
	json_string(json, "unnumbered", procedure->unnumbered);
	json_unsigned(json, "count", procedure->count);
	put_share(json, procedure->branches, procedure->instructions,
		  procedure->cycles, procedure->windows, procedure->share,
		  procedure->heat);
	if (procedure->pid) {
		json_unsigned(json, "pid", procedure->pid);
		json_string(json, "comm", procedure->comm);
	}
	json_close(json, '}');
}

static void put_sums(struct json *json, const char *name,
		     const struct hwprof_heat_sum *sums)
{
	unsigned int heat;

	json_open(json, name, '{');
	for (heat = 0; heat < HWPROF_HEATS; heat++) {
		json_open(json, hwprof_heat_name(heat), '{');
		json_unsigned(json, "number", sums[heat].number);
		json_unsigned(json, "paths", sums[heat].paths);
		json_unsigned(json, "branches", sums[heat].branches);
		json_number(json, "branch_share", sums[heat].branch_share);
		json_number(json, "share", sums[heat].share);
		json_close(json, '}');
	}
	json_close(json, '}');
}

static void put_summary(struct json *json,
			const struct hwprof_paths_summary *summary)
{
	json_open(json, "summary", '{');
	json_string(json, "metric", summary->metric);
	json_unsigned(json, "count", summary->count);
	json_unsigned(json, "branches", summary->branches);
	json_unsigned(json, "unseen", summary->unseen);
	put_windows(json, summary->windows);
	json_unsigned_unless(json, "paths_of_half", summary->half,
			     !summary->half);
	json_unsigned_unless(json, "paths_of_90_percent", summary->most,
			     !summary->most);
	put_sums(json, "paths", summary->paths);
	put_sums(json, "procedures", summary->procedures);
	json_close(json, '}');
}

int paths_json(const struct hwprof_profile *profile,
	       const struct hwprof_json_options *options, FILE *out)
{
	const struct hwprof_paths *paths = (const void *)profile;
	size_t count = paths->count, i;
	struct json json = { .out = out };

	if (options->limit && options->limit < count)
		count = options->limit;
	json_open(&json, NULL, '{');
	put_summary(&json, &paths->summary);
	json_open(&json, "paths", '[');
	for (i = 0; i < count; i++)
		paths_put(&json, NULL, paths, i);
	json_close(&json, ']');
	json_open(&json, "procedures", '[');
	for (i = 0; i < paths->procedure_count; i++)
		paths_put_procedure(&json, NULL, paths, i);
	json_close(&json, ']');
	return json_end(&json, profile);
}
