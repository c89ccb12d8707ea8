// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reports/contexts.h"
#include "samples.h"

const char *sample_frame_name(const struct sample_frame *frame,
			      char text[FRAME_TEXT])
{
	if (frame->function)
		return frame->function;
	snprintf(text, FRAME_TEXT, "0x%" PRIx64,
		 frame->entry ? frame->entry : frame->address);
	return text;
}

uint64_t sample_frame_number(struct numbers *frames,
			     const struct sample_frame *frame,
			     uint64_t (*make)(void *context,
					      const struct sample_frame *frame),
			     void *context)
{
	/* Texts of one profile are the same if they are at the same address. */
	const uint64_t words[NUMBERED_WORDS] = {
		(uintptr_t)frame->object, (uintptr_t)frame->function,
		(uintptr_t)frame->file, frame->address, frame->entry,
	};
	struct numbered *entry;
	bool is_new;

	entry = numbers_words(frames, words, &is_new);
	if (is_new)
		entry->value = make(context, frame);
	return entry ? entry->value : 0;
}

/* Labels of one sample. */
struct labels {
	struct sample_label all[SAMPLES_LABELS];
	size_t count;
};

static void add_text(struct labels *labels, const char *key, const char *text)
{
	if (text)
		labels->all[labels->count++] = (struct sample_label){
			.key = key, .text = text,
		};
}

static void add_number(struct labels *labels, const char *key, double number)
{
	if (!isnan(number))
		labels->all[labels->count++] = (struct sample_label){
			.key = key, .number = llround(number),
		};
}

/* Where samples go. */
struct sink {
	const struct sample_labeller *labeller;	/* NULL: none */
	samples_fn fn;
	void *context;
};

static void add_process(struct labels *labels, const struct sink *sink,
			uint32_t pid, const char *comm)
{
	const struct sample_labeller *labeller = sink->labeller;

	if (labeller)
		labels->count += labeller->label(labeller->context, pid, comm,
						 &labels->all[labels->count]);
	else
		add_text(labels, "process", comm);
}

static int give(const struct sink *sink, const struct sample_frame *frames,
		size_t count, const uint64_t *values,
		const struct labels *labels)
{
	const struct stack_sample sample = {
		.frames = frames, .frame_count = count, .values = values,
		.labels = labels->all, .label_count = labels->count,
	};

	return sink->fn(sink->context, &sample);
}

/* --- contexts ----------------------------------------------------------- */

static bool is_sampled(const struct hwprof_context *context)
{
	return context->basis != HWPROF_BASIS_EXACT;
}

static bool are_sampled(const struct hwprof_profile *profile)
{
	size_t i;

	for (i = 0; i < hwprof_contexts_count(profile); i++)
		if (is_sampled(hwprof_contexts_get(profile, i)))
			return true;
	return false;
}

static void context_types(const struct hwprof_profile *profile,
			  struct samples_types *types)
{
	bool sampled = are_sampled(profile);
	const char *name;
	size_t i;

	types->all[0] = (struct samples_type){
		sampled ? "samples" : "calls", "count",
	};
	types->all[1] = (struct samples_type){
		sampled ? "weight" : "branches", "count",
	};
	types->count = 2;
	types->main = 1;
	for (i = 0; (name = hwprof_contexts_metric(profile, i)); i++)
		types->all[types->count++] = (struct samples_type){
			name, "count",
		};
}

/* A procedure's code, or the call in it by which it left to the next frame. */
static struct sample_frame context_frame(const struct context_node *node,
					 const struct context_node *callee)
{
	const struct hwprof_context *context = &node->context;
	struct sample_frame frame = {
		.object = context->object, .build_id = context->build_id,
		.function = context->function, .address = context->address,
		.entry = context->function ? 0 : context->address,
	};
	struct object *object = node->object;

	if (callee && callee->site_object) {
		frame.address = callee->site;
		object = callee->site_object;
		frame.object = object_name(object);
		frame.build_id = object_build_id(object);
	}
	if (object)
		frame.file = object_line(object, frame.address, &frame.line);
	return frame;
}

/*
 * Walks up to the root. What a process did outside of all calls is the root's,
 * so that its name is the outermost frame.
 */
static size_t context_frames(const struct hwprof_context *context,
			     struct sample_frame *frames,
			     const struct hwprof_context **root)
{
	const struct context_node *callee = NULL, *node;
	size_t count = 0;

	for (; context; context = context->parent) {
		if (!context->parent || context->kind == HWPROF_CONTEXT_ROOT)
			*root = context;
		if (context->kind == HWPROF_CONTEXT_ROOT) {
			frames[count++] = (struct sample_frame){
				.function = context->comm,
			};
			break;
		}
		node = (const void *)context;
		frames[count++] = context_frame(node, callee);
		callee = node;
	}
	return count;
}

static bool context_values(const struct hwprof_profile *profile,
			   const struct hwprof_context *context, bool sampled,
			   uint64_t *values)
{
	uint64_t any;
	size_t i;

	values[0] = sampled ? context->samples :
			      context->calls + context->deeper;
	values[1] = sampled ? context->weight : context->branches;
	any = values[0] | values[1];
	for (i = 0; hwprof_contexts_metric(profile, i); i++) {
		values[2 + i] = context->metrics[i];
		any |= context->metrics[i];
	}
	return any;
}

static int each_context(const struct hwprof_profile *profile,
			const struct sink *sink)
{
	size_t count = hwprof_contexts_count(profile), depth = 0, i;
	bool sampled = are_sampled(profile);
	struct sample_frame *frames;
	uint64_t values[SAMPLES_TYPES];
	int error = 0;

	for (i = 0; i < count; i++)
		if (hwprof_contexts_get(profile, i)->depth > depth)
			depth = hwprof_contexts_get(profile, i)->depth;
	frames = calloc(depth + 2, sizeof(*frames));
	if (!frames)
		return -ENOMEM;
	for (i = 0; !error && i < count; i++) {
		const struct hwprof_context *context =
			hwprof_contexts_get(profile, i), *root = context;
		struct labels labels = { .count = 0 };
		size_t length;

		if (!context_values(profile, context, sampled, values))
			continue;
		length = context_frames(context, frames, &root);
		add_process(&labels, sink, root->pid, root->comm);
		if (root->pid && !sink->labeller)
			add_number(&labels, "pid", root->pid);
		if (length)
			error = give(sink, frames, length, values, &labels);
	}
	free(frames);
	return error;
}

/* --- loops -------------------------------------------------------------- */

static void loop_types(const struct hwprof_profile *profile,
		       struct samples_types *types)
{
	*types = (struct samples_types){
		.all = { { "entries", "count" }, { "iterations", "count" } },
		.count = 2, .main = 1,
	};
}

static struct sample_frame loop_frame(const struct hwprof_loop *loop)
{
	return (struct sample_frame){
		.object = loop->object, .build_id = loop->build_id,
		.function = loop->function, .file = loop->file,
		.line = loop->line, .address = loop->head,
	};
}

static void label_loop(const struct hwprof_loop *loop, struct labels *labels)
{
	add_number(labels, "trip", loop->trip);
	add_number(labels, "trip_low", loop->trip_low);
	add_number(labels, "trip_high", loop->trip_high);
	if (loop->trip_max) {
		add_number(labels, "trip_min", loop->trip_min);
		add_number(labels, "trip_max", loop->trip_max);
	}
	add_number(labels, "depth", loop->depth);
}

static int each_loop(const struct hwprof_profile *profile,
		     const struct sink *sink)
{
	size_t i;
	int error = 0;

	for (i = 0; !error && i < hwprof_loops_count(profile); i++) {
		const struct hwprof_loop *loop = hwprof_loops_get(profile, i);
		const struct sample_frame frame = loop_frame(loop);
		const uint64_t values[] = {
			loop->counted ? loop->entries : loop->entries_seen,
			loop->counted ? loop->iterations :
			loop->entries_seen + loop->back_edges_seen,
		};
		struct labels labels = { .count = 0 };

		label_loop(loop, &labels);
		add_process(&labels, sink, loop->pid, loop->comm);
		error = give(sink, &frame, 1, values, &labels);
	}
	return error;
}

/* --- calls, edges ------------------------------------------------------- */

static struct sample_frame code_frame(const struct hwprof_code *code)
{
	return (struct sample_frame){
		.object = code->object, .build_id = code->build_id,
		.function = code->function, .file = code->file,
		.line = code->line, .address = code->address,
	};
}

static void call_types(const struct hwprof_profile *profile,
		       struct samples_types *types)
{
	*types = (struct samples_types){
		.all = { { "calls", "count" } }, .count = 1,
	};
}

static int each_call(const struct hwprof_profile *profile,
		     const struct sink *sink)
{
	size_t i;
	int error = 0;

	for (i = 0; !error && i < hwprof_calls_pair_count(profile); i++) {
		const struct hwprof_pair *pair = hwprof_calls_pair(profile, i);
		const struct sample_frame frames[] = {
			code_frame(&pair->callee), code_frame(&pair->site),
		};
		struct labels labels = { .count = 0 };

		add_process(&labels, sink, pair->called.pid, pair->called.comm);
		error = give(sink, frames, 2, &pair->called.least,
			     &labels);
	}
	return error;
}

static void edge_types(const struct hwprof_profile *profile,
		       struct samples_types *types)
{
	*types = (struct samples_types){
		.all = { { "taken", "count" }, { "passed", "count" },
			 { "mispredicted", "count" } },
		.count = 3,
	};
}

static int each_branch(const struct hwprof_profile *profile,
		       const struct sink *sink)
{
	size_t i;
	int error = 0;

	for (i = 0; !error && i < hwprof_edges_count(profile); i++) {
		const struct hwprof_branch_site *site =
			hwprof_edges_get(profile, i);
		const struct sample_frame frame = code_frame(&site->code);
		const uint64_t values[] = {
			site->taken, site->passed, site->mispredicted,
		};
		struct labels labels = { .count = 0 };

		add_number(&labels, "targets", site->target_count);
		add_process(&labels, sink, site->pid, site->comm);
		error = give(sink, &frame, 1, values, &labels);
	}
	return error;
}

/* --- paths, values ------------------------------------------------------ */

static void path_types(const struct hwprof_profile *profile,
		       struct samples_types *types)
{
	*types = (struct samples_types){
		.all = { { "runs", "count" }, { "branches", "count" },
			 { "cycles", "count" } },
		.count = 3, .main = 1,
	};
}

static int each_path(const struct hwprof_profile *profile,
		     const struct sink *sink)
{
	size_t i;
	int error = 0;

	for (i = 0; !error && i < hwprof_paths_count(profile); i++) {
		const struct hwprof_path *path = hwprof_paths_get(profile, i);
		const struct sample_frame frame = {
			.object = path->procedure->object,
			.build_id = path->procedure->build_id,
			.function = path->procedure->function,
			.file = path->end_file, .line = path->end_line,
			.address = path->end,
		};
		const uint64_t values[] = {
			path->count, path->branches, path->cycles,
		};
		struct labels labels = { .count = 0 };

		if (!path->unnumbered)
			add_number(&labels, "path", path->number);
		add_number(&labels, "jumps", path->length);
		add_text(&labels, "heat", hwprof_heat_name(path->heat));
		add_process(&labels, sink, path->procedure->pid,
			    path->procedure->comm);
		error = give(sink, &frame, 1, values, &labels);
	}
	return error;
}

static void value_types(const struct hwprof_profile *profile,
			struct samples_types *types)
{
	*types = (struct samples_types){
		.all = { { "loads", "count" } }, .count = 1,
	};
}

static int each_load(const struct hwprof_profile *profile,
		     const struct sink *sink)
{
	size_t i;
	int error = 0;

	for (i = 0; !error && i < hwprof_values_count(profile); i++) {
		const struct hwprof_load *load = hwprof_values_get(profile, i);
		const struct sample_frame frame = {
			.object = load->object, .build_id = load->build_id,
			.function = load->function, .file = load->file,
			.line = load->line, .address = load->address,
		};
		struct labels labels = { .count = 0 };

		add_text(&labels, "class", hwprof_value_class_name(load->kind));
		add_number(&labels, "width", load->width);
		if (load->value_count)
			add_number(&labels, "invariance_percent",
				   100 * load->values[0].invariance);
		add_process(&labels, sink, load->pid, load->comm);
		error = give(sink, &frame, 1, &load->executions,
			     &labels);
	}
	return error;
}

/* --- all kinds ---------------------------------------------------------- */

static const struct {
	void (*types)(const struct hwprof_profile *profile,
		      struct samples_types *types);
	int (*each)(const struct hwprof_profile *profile,
		    const struct sink *sink);
} kinds[HWPROF_KINDS] = {
	[HWPROF_KIND_CCT] = { context_types, each_context },
	[HWPROF_KIND_LOOPS] = { loop_types, each_loop },
	[HWPROF_KIND_CALLS] = { call_types, each_call },
	[HWPROF_KIND_EDGES] = { edge_types, each_branch },
	[HWPROF_KIND_PATHS] = { path_types, each_path },
	[HWPROF_KIND_VALUES] = { value_types, each_load },
};

void samples_types(const struct hwprof_profile *profile,
		   struct samples_types *types)
{
	*types = (struct samples_types){ .count = 0 };
	kinds[hwprof_profile_kind(profile)].types(profile, types);
}

int samples_each(const struct hwprof_profile *profile,
		 const struct sample_labeller *labeller, samples_fn fn,
		 void *context)
{
	const struct sink sink = { labeller, fn, context };

	return kinds[hwprof_profile_kind(profile)].each(profile, &sink);
}
