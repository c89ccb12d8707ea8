// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The processed format of the Firefox Profiler, version 46, which newer ones
 * read. The profile is one thread, whose samples have one value as their
 * weight. It has tables of columns; stacks are trees: each has a frame and what
 * called it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"
#include "base/json.h"
#include "base/numbers.h"
#include "samples.h"
#include "base/text.h"
#include "base/array.h"

/*
 * Words of the entries of each table. References are numbers of other entries
 * plus 1, and 0 is nothing; but LIB_PATH, LIB_ID and FUNCTION_NAME are numbers
 * of strings.
 */
enum { LIB_PATH, LIB_ID };
enum { FUNCTION_NAME, FUNCTION_FILE, FUNCTION_LIB };
enum { FRAME_FUNCTION, FRAME_ADDRESS, FRAME_LINE };
enum { STACK_PREFIX, STACK_FRAME };

struct firefox_sample {
	size_t stack;
	uint64_t weight;
};

struct firefox {
	struct samples_types types;
	struct numbers strings, libs, functions, frames, stacks;
	struct numbers known;		/* frames as they come; value: number */
	struct firefox_sample *samples;
	size_t count, room;
	bool failed;			/* memory is out */
	FILE *out;
};

/* --- tables --------------------------------------------------------------- */

static uint64_t text_number(struct firefox *all, const char *text)
{
	return number_of_text(&all->strings, text, &all->failed);
}

/* Returns the number of the entry, plus 1. */
static uint64_t number(struct firefox *all, struct numbers *table,
		       const uint64_t words[NUMBERED_WORDS])
{
	return number_of_words(table, words, &all->failed);
}

static uint64_t lib_number(struct firefox *all, const struct sample_frame *from)
{
	const uint64_t words[NUMBERED_WORDS] = {
		[LIB_PATH] = text_number(all, from->object),
		[LIB_ID] = text_number(all, from->build_id),
	};

	return from->object ? number(all, &all->libs, words) : 0;
}

static uint64_t function_number(struct firefox *all,
				const struct sample_frame *from)
{
	char text[FRAME_TEXT];
	const uint64_t words[NUMBERED_WORDS] = {
		[FUNCTION_NAME] = text_number(all, sample_frame_name(from,
								     text)),
		[FUNCTION_FILE] = from->file ?
				  text_number(all, from->file) + 1 : 0,
		[FUNCTION_LIB] = lib_number(all, from),
	};

	return number(all, &all->functions, words);
}

static uint64_t new_frame(void *context, const struct sample_frame *from)
{
	struct firefox *all = context;
	const uint64_t words[NUMBERED_WORDS] = {
		[FRAME_FUNCTION] = function_number(all, from),
		[FRAME_ADDRESS] = from->address,
		[FRAME_LINE] = from->line ? from->line + 1ULL : 0,
	};

	return number(all, &all->frames, words);
}

static uint64_t frame_number(struct firefox *all,
			     const struct sample_frame *from)
{
	uint64_t number = sample_frame_number(&all->known, from, new_frame,
					      all);

	all->failed |= !number;
	return number;
}

static int add_sample(void *context, const struct stack_sample *sample)
{
	struct firefox *all = context;
	uint64_t weight = sample->values[all->types.main], stack = 0;
	struct firefox_sample *samples;
	size_t i;

	if (!weight)
		return 0;
	samples = array_grow(all->samples, &all->room, all->count + 1,
			     sizeof(*samples));
	if (!samples)
		return -ENOMEM;
	all->samples = samples;
	for (i = sample->frame_count; i--;) {
		const uint64_t words[NUMBERED_WORDS] = {
			[STACK_PREFIX] = stack,
			[STACK_FRAME] = frame_number(all, &sample->frames[i]),
		};

		stack = number(all, &all->stacks, words);
	}
	if (all->failed || !stack)
		return -ENOMEM;
	all->samples[all->count++] = (struct firefox_sample){
		stack - 1, weight,
	};
	return 0;
}

/* --- columns -------------------------------------------------------------- */

/* Writes "name":[...] of a word of each entry; of numbers plus 1, 0 is null. */
static void put_column(const struct firefox *all, const char *name,
		       const struct numbers *table, size_t word, bool plus_1)
{
	size_t i;

	fprintf(all->out, ",\"%s\":[", name);
	for (i = 0; i < table->count; i++) {
		uint64_t value = table->list[i]->words[word];

		if (i)
			putc(',', all->out);
		if (plus_1 && !value)
			fputs("null", all->out);
		else
			fprintf(all->out, "%" PRIu64, value - plus_1);
	}
	putc(']', all->out);
}

/* The same of a value that all entries have. */
static void put_same(const struct firefox *all, const char *name, size_t count,
		     const char *value)
{
	fprintf(all->out, ",\"%s\":[", name);
	for (; count; count--)
		fprintf(all->out, "%s%s", value, count > 1 ? "," : "");
	putc(']', all->out);
}

static void begin_table(const struct firefox *all, const char *name,
			size_t count)
{
	fprintf(all->out, ",\n\"%s\":{\"length\":%zu", name, count);
}

static void end_table(const struct firefox *all)
{
	putc('}', all->out);
}

static void put_frames(const struct firefox *all)
{
	const struct numbers *frames = &all->frames;

	begin_table(all, "frameTable", frames->count);
	put_column(all, "address", frames, FRAME_ADDRESS, false);
	put_same(all, "inlineDepth", frames->count, "0");
	put_same(all, "category", frames->count, "0");
	put_same(all, "subcategory", frames->count, "0");
	put_column(all, "func", frames, FRAME_FUNCTION, true);
	put_same(all, "nativeSymbol", frames->count, "null");
	put_same(all, "innerWindowID", frames->count, "0");
	put_same(all, "implementation", frames->count, "null");
	put_column(all, "line", frames, FRAME_LINE, true);
	put_same(all, "column", frames->count, "null");
	end_table(all);
}

/* Functions outside of libraries have the resource -1. */
static void put_resources_of(const struct firefox *all)
{
	size_t i;

	fputs(",\"resource\":[", all->out);
	for (i = 0; i < all->functions.count; i++)
		fprintf(all->out, "%s%" PRId64, i ? "," : "",
			(int64_t)all->functions.list[i]->words[FUNCTION_LIB] -
			1);
	putc(']', all->out);
}

static void put_functions(const struct firefox *all)
{
	const struct numbers *functions = &all->functions;

	begin_table(all, "funcTable", functions->count);
	put_column(all, "name", functions, FUNCTION_NAME, false);
	put_same(all, "isJS", functions->count, "false");
	put_same(all, "relevantForJS", functions->count, "false");
	put_resources_of(all);
	put_column(all, "fileName", functions, FUNCTION_FILE, true);
	put_same(all, "lineNumber", functions->count, "null");
	put_same(all, "columnNumber", functions->count, "null");
	end_table(all);
}

static void put_resources(const struct firefox *all)
{
	size_t count = all->libs.count, i;

	begin_table(all, "resourceTable", count);
	fputs(",\"lib\":[", all->out);
	for (i = 0; i < count; i++)
		fprintf(all->out, "%s%zu", i ? "," : "", i);
	putc(']', all->out);
	put_column(all, "name", &all->libs, LIB_PATH, false);
	put_same(all, "host", count, "null");
	put_same(all, "type", count, "1");	/* a library */
	end_table(all);
}

static void put_stacks(const struct firefox *all)
{
	begin_table(all, "stackTable", all->stacks.count);
	put_column(all, "prefix", &all->stacks, STACK_PREFIX, true);
	put_column(all, "frame", &all->stacks, STACK_FRAME, true);
	put_same(all, "category", all->stacks.count, "0");
	put_same(all, "subcategory", all->stacks.count, "0");
	end_table(all);
}

/* Each sample has a millisecond, since times must grow. */
static void put_samples(const struct firefox *all)
{
	size_t i;

	begin_table(all, "samples", all->count);
	fputs(",\"weightType\":\"samples\",\"stack\":[", all->out);
	for (i = 0; i < all->count; i++)
		fprintf(all->out, "%s%zu", i ? "," : "", all->samples[i].stack);
	fputs("],\"time\":[", all->out);
	for (i = 0; i < all->count; i++)
		fprintf(all->out, "%s%zu", i ? "," : "", i);
	fputs("],\"weight\":[", all->out);
	for (i = 0; i < all->count; i++)
		fprintf(all->out, "%s%" PRIu64, i ? "," : "",
			all->samples[i].weight);
	fputs("]}", all->out);
}

static void put_strings(const struct firefox *all)
{
	struct json json = { .out = all->out, .line = true };
	size_t i;

	fputs(",\n\"stringArray\":", all->out);
	json_open(&json, NULL, '[');
	for (i = 0; i < all->strings.count; i++)
		json_string(&json, NULL, all->strings.list[i]->text);
	json_close(&json, ']');
}

/* --- all of it ------------------------------------------------------------ */

static void put_libs(const struct firefox *all)
{
	struct json json = { .out = all->out, .line = true };
	size_t i;

	fputs(",\n\"libs\":", all->out);
	json_open(&json, NULL, '[');
	for (i = 0; i < all->libs.count; i++) {
		const uint64_t *lib = all->libs.list[i]->words;
		const char *path = all->strings.list[lib[LIB_PATH]]->text;
		const char *id = all->strings.list[lib[LIB_ID]]->text;

		json_open(&json, NULL, '{');
		json_string(&json, "name", path_file_name(path));
		json_string(&json, "path", path);
		json_string(&json, "debugName", path_file_name(path));
		json_string(&json, "debugPath", path);
		json_string(&json, "breakpadId", "");
		if (*id)
			json_string(&json, "codeId", id);
		else
			json_null(&json, "codeId");
		json_null(&json, "arch");
		json_close(&json, '}');
	}
	json_close(&json, ']');
}

static void put_meta(const struct firefox *all)
{
	fputs("{\"meta\":{\"version\":24,\"preprocessedProfileVersion\":46,"
	      "\"product\":\"hwprof " HWPROF_VERSION "\","
	      "\"processType\":0,\"interval\":1,\"startTime\":0,"
	      "\"symbolicated\":true,\"debug\":false,\"pausedRanges\":[],"
	      "\"usesOnlyOneStackType\":true,"
	      "\"doesNotUseFrameImplementation\":true,"
	      "\"sourceCodeIsNotOnSearchfox\":true,\"markerSchema\":[],"
	      "\"extensions\":{\"length\":0,\"baseURL\":[],\"id\":[],"
	      "\"name\":[]},"
	      "\"categories\":[{\"name\":\"Other\",\"color\":\"grey\","
	      "\"subcategories\":[\"Other\"]}]}", all->out);
}

static void put_thread(const struct firefox *all, const char *kind)
{
	fprintf(all->out, ",\n\"threads\":[{\"name\":\"%s: %s\","
		"\"processName\":\"hwprof\",\"processType\":\"default\","
		"\"pid\":\"0\",\"tid\":0,\"isMainThread\":true,"
		"\"processStartupTime\":0,\"processShutdownTime\":null,"
		"\"registerTime\":0,\"unregisterTime\":null,"
		"\"pausedRanges\":[],"
		"\"markers\":{\"length\":0,\"category\":[],\"data\":[],"
		"\"endTime\":[],\"name\":[],\"phase\":[],\"startTime\":[]},"
		"\"nativeSymbols\":{\"length\":0,\"address\":[],"
		"\"functionSize\":[],\"libIndex\":[],\"name\":[]}",
		kind, all->types.all[all->types.main].type);
	put_frames(all);
	put_functions(all);
	put_resources(all);
	put_stacks(all);
	put_samples(all);
	put_strings(all);
	fputs("}]", all->out);
}

int firefox_write(struct hwprof_export *export, struct part *part, FILE *out)
{
	struct firefox all = { .out = out };
	int error;

	samples_types(export->profile, &all.types);
	error = samples_each(export->profile, NULL, add_sample, &all);
	if (!error) {
		put_meta(&all);
		put_libs(&all);
		put_thread(&all, hwprof_kind_name(
			hwprof_profile_kind(export->profile)));
		fputs(",\"pages\":[],\"counters\":[],\"profilerOverhead\":[]}\n",
		      out);
	}
	numbers_free(&all.strings);
	numbers_free(&all.libs);
	numbers_free(&all.functions);
	numbers_free(&all.frames);
	numbers_free(&all.stacks);
	numbers_free(&all.known);
	free(all.samples);
	return error;
}
