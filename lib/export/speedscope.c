// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * speedscope's file format, one profile of type "sampled". Frames are shared
 * and numbered as they are met; so samples, weights and frames are collected
 * apart.
 */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"
#include "base/json.h"
#include "samples.h"
#include "base/tree.h"
#include "base/text.h"

struct scope_frame {
	char *name;
	const char *file;
	unsigned int line;
	size_t number;
};

struct scope {
	struct samples_types types;
	void *frames;			/* tree of struct scope_frame */
	size_t frame_count;
	FILE *frame_out, *sample_out, *weight_out;
	char *frame_text, *sample_text, *weight_text;
	size_t frame_size, sample_size, weight_size;
	size_t samples;
	uint64_t sum;
};

static int compare_frames(const void *a, const void *b)
{
	const struct scope_frame *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	if (!order)
		order = text_compare(x->file, y->file);
	if (!order)
		order = (x->line > y->line) - (x->line < y->line);
	return order;
}

static void put_frame(struct scope *scope, const struct scope_frame *frame)
{
	struct json json = { .out = scope->frame_out, .line = true };

	if (frame->number)
		putc(',', scope->frame_out);
	json_open(&json, NULL, '{');
	json_string(&json, "name", frame->name);
	if (frame->file)
		json_string(&json, "file", frame->file);
	if (frame->line)
		json_unsigned(&json, "line", frame->line);
	json_close(&json, '}');
}

/* Returns the number of the frame; SIZE_MAX if out of memory. */
static size_t frame_number(struct scope *scope, const struct sample_frame *from)
{
	char text[FRAME_TEXT];
	const struct scope_frame like = {
		.name = (char *)sample_frame_name(from, text),
		.file = from->file, .line = from->line,
		.number = scope->frame_count,
	};
	struct scope_frame *frame;
	bool is_new;

	frame = tree_get(&scope->frames, &like, sizeof(like), compare_frames,
			 &is_new);
	if (!frame)
		return SIZE_MAX;
	if (is_new) {
		frame->name = strdup(like.name);
		if (!frame->name) {
			frame->name = "";
			return SIZE_MAX;
		}
		scope->frame_count++;
		put_frame(scope, frame);
	}
	return frame->number;
}

static int add_sample(void *context, const struct stack_sample *sample)
{
	struct scope *scope = context;
	uint64_t value = sample->values[scope->types.main];
	size_t i;

	if (!value)
		return 0;
	if (scope->samples++) {
		putc(',', scope->sample_out);
		putc(',', scope->weight_out);
	}
	for (i = sample->frame_count; i--;) {
		size_t number = frame_number(scope, &sample->frames[i]);

		if (number == SIZE_MAX)
			return -ENOMEM;
		fprintf(scope->sample_out, "%c%zu",
			i + 1 == sample->frame_count ? '[' : ',', number);
	}
	putc(']', scope->sample_out);
	fprintf(scope->weight_out, "%llu", (unsigned long long)value);
	scope->sum += value;
	return 0;
}

static void put_all(const struct scope *scope, const char *name, FILE *out)
{
	fprintf(out, "{\"$schema\":\"https://www.speedscope.app/"
		"file-format-schema.json\",\n"
		"\"exporter\":\"hwprof " HWPROF_VERSION "\",\n"
		"\"shared\":{\"frames\":[%s]},\n"
		"\"profiles\":[{\"type\":\"sampled\",\"name\":\"%s: "
		"%s\",\"unit\":\"none\","
		"\"startValue\":0,\"endValue\":%llu,\n"
		"\"samples\":[%s],\n\"weights\":[%s]}]}\n",
		scope->frame_text, name,
		scope->types.all[scope->types.main].type,
		(unsigned long long)scope->sum, scope->sample_text,
		scope->weight_text);
}

static int close_text(FILE *out, int error)
{
	return out && !fclose(out) ? error : -ENOMEM;
}

static void free_frames(struct scope *scope)
{
	size_t count, i;
	struct scope_frame **all = tree_list(scope->frames, &count);

	for (i = 0; all && i < count; i++)
		if (*all[i]->name)
			free(all[i]->name);
	free(all);
	tdestroy(scope->frames, free);
}

int speedscope_write(struct hwprof_export *export, struct part *part, FILE *out)
{
	struct scope scope = { .frames = NULL };
	int error = 0;

	samples_types(export->profile, &scope.types);
	scope.frame_out = open_memstream(&scope.frame_text, &scope.frame_size);
	scope.sample_out = open_memstream(&scope.sample_text,
					  &scope.sample_size);
	scope.weight_out = open_memstream(&scope.weight_text,
					  &scope.weight_size);
	if (scope.frame_out && scope.sample_out && scope.weight_out)
		error = samples_each(export->profile, NULL, add_sample, &scope);
	error = close_text(scope.frame_out, error);
	error = close_text(scope.sample_out, error);
	error = close_text(scope.weight_out, error);
	if (!error)
		put_all(&scope, hwprof_kind_name(
			hwprof_profile_kind(export->profile)), out);
	free_frames(&scope);
	free(scope.frame_text);
	free(scope.sample_text);
	free(scope.weight_text);
	return error;
}
