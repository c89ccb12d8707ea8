// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * pprof's profile.proto, compressed by gzip. Messages are packed one by one and
 * written at once, as repeated fields of the profile may be in any order: only
 * tables of strings, mappings, functions and locations are kept.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "export.h"
#include "base/numbers.h"
#include "pprof.pb-c.h"
#include "samples.h"
#include "base/array.h"

enum {
	CHUNK = 1 << 16,
	GZIP = 16,		/* zlib: add it to the window's bits */
	WINDOW_BITS = 15,
};

struct pprof {
	FILE *out;
	z_stream zip;
	struct numbers strings, mappings, functions, locations;
	struct numbers frames;		/* value: their location */
	struct samples_types types;
	uint64_t *ids;			/* of the locations of a stack */
	size_t room;
	int error;
};

/* --- output ------------------------------------------------------------- */

static void deflate_all(struct pprof *pprof, int flush)
{
	uint8_t bytes[CHUNK];
	int status;

	do {
		pprof->zip.next_out = bytes;
		pprof->zip.avail_out = sizeof(bytes);
		status = deflate(&pprof->zip, flush);
		fwrite(bytes, 1, sizeof(bytes) - pprof->zip.avail_out,
		       pprof->out);
	} while (status == Z_OK && !pprof->zip.avail_out);
}

/* Adds a profile that has only one field: parts of a message add up. */
static void put(struct pprof *pprof, const Pprof__Profile *part)
{
	size_t size = pprof__profile__get_packed_size(part);
	uint8_t *bytes = malloc(size + 1);

	if (!bytes) {
		pprof->error = -ENOMEM;
		return;
	}
	pprof__profile__pack(part, bytes);
	pprof->zip.next_in = bytes;
	pprof->zip.avail_in = size;
	deflate_all(pprof, Z_NO_FLUSH);
	free(bytes);
}

/* --- tables ------------------------------------------------------------- */

/* Returns the entry; NULL if out of memory. */
static struct numbered *get(struct pprof *pprof, struct numbers *table,
			    const uint64_t words[NUMBERED_WORDS], bool *is_new)
{
	struct numbered *entry = numbers_words(table, words, is_new);

	if (!entry)
		pprof->error = -ENOMEM;
	return entry;
}

static int64_t string_of(struct pprof *pprof, const char *text)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	struct numbered *entry;
	bool is_new;

	entry = numbers_text(&pprof->strings, text, &is_new);
	if (!entry) {
		pprof->error = -ENOMEM;
		return 0;
	}
	if (!is_new)
		return entry->number;
	part.n_string_table = 1;
	part.string_table = &entry->text;
	put(pprof, &part);
	return entry->number;
}

static uint64_t mapping_of(struct pprof *pprof, const struct sample_frame *from)
{
	const uint64_t like[NUMBERED_WORDS] = {
		string_of(pprof, from->object),
		string_of(pprof, from->build_id),
	};
	Pprof__Mapping mapping = PPROF__MAPPING__INIT, *all = &mapping;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	struct numbered *entry;
	bool is_new;

	if (!from->object)
		return 0;
	entry = get(pprof, &pprof->mappings, like, &is_new);
	if (!is_new)
		return entry ? entry->number + 1 : 0;
	mapping.id = entry->number + 1;
	mapping.memory_limit = INT64_MAX;
	mapping.filename = like[0];
	mapping.build_id = like[1];
	/* Otherwise pprof looks for names itself. */
	mapping.has_functions = true;
	mapping.has_filenames = true;
	mapping.has_line_numbers = true;
	part.n_mapping = 1;
	part.mapping = &all;
	put(pprof, &part);
	return mapping.id;
}

static uint64_t function_of(struct pprof *pprof,
			    const struct sample_frame *from)
{
	char text[FRAME_TEXT];
	const uint64_t like[NUMBERED_WORDS] = {
		string_of(pprof, sample_frame_name(from, text)),
		string_of(pprof, from->file),
	};
	Pprof__Function function = PPROF__FUNCTION__INIT, *all = &function;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	struct numbered *entry;
	bool is_new;

	entry = get(pprof, &pprof->functions, like, &is_new);
	if (!is_new)
		return entry ? entry->number + 1 : 0;
	function.id = entry->number + 1;
	function.name = function.system_name = like[0];
	function.filename = like[1];
	part.n_function = 1;
	part.function = &all;
	put(pprof, &part);
	return function.id;
}

static uint64_t new_location(void *context, const struct sample_frame *from)
{
	struct pprof *pprof = context;
	const uint64_t like[NUMBERED_WORDS] = {
		mapping_of(pprof, from), from->address,
		function_of(pprof, from), from->line,
	};
	Pprof__Location location = PPROF__LOCATION__INIT, *all = &location;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Line line = PPROF__LINE__INIT, *lines = &line;
	struct numbered *entry;
	bool is_new;

	entry = get(pprof, &pprof->locations, like, &is_new);
	if (!is_new)
		return entry ? entry->number + 1 : 0;
	location.id = entry->number + 1;
	location.mapping_id = like[0];
	location.address = from->address;
	line.function_id = like[2];
	line.line = from->line;
	location.n_line = 1;
	location.line = &lines;
	part.n_location = 1;
	part.location = &all;
	put(pprof, &part);
	return location.id;
}

static uint64_t location_of(struct pprof *pprof,
			    const struct sample_frame *from)
{
	uint64_t location = sample_frame_number(&pprof->frames, from,
						new_location, pprof);

	if (!location)
		pprof->error = -ENOMEM;
	return location;
}

/* --- samples ------------------------------------------------------------ */

static void set_label(struct pprof *pprof, Pprof__Label *to,
		      const struct sample_label *from)
{
	pprof__label__init(to);
	to->key = string_of(pprof, from->key);
	if (from->text)
		to->str = string_of(pprof, from->text);
	else
		to->num = from->number;
}

static int add_sample(void *context, const struct stack_sample *from)
{
	Pprof__Sample sample = PPROF__SAMPLE__INIT, *all = &sample;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Label labels[SAMPLES_LABELS], *label_list[SAMPLES_LABELS];
	struct pprof *pprof = context;
	uint64_t *ids = array_grow(pprof->ids, &pprof->room, from->frame_count,
				   sizeof(*ids));
	size_t i;

	if (!ids)
		return -ENOMEM;
	pprof->ids = ids;
	for (i = 0; i < from->frame_count; i++)
		pprof->ids[i] = location_of(pprof, &from->frames[i]);
	for (i = 0; i < from->label_count; i++) {
		set_label(pprof, &labels[i], &from->labels[i]);
		label_list[i] = &labels[i];
	}
	sample.n_location_id = from->frame_count;
	sample.location_id = pprof->ids;
	sample.n_value = pprof->types.count;
	sample.value = (int64_t *)from->values;
	sample.n_label = from->label_count;
	sample.label = label_list;
	part.n_sample = 1;
	part.sample = &all;
	put(pprof, &part);
	return pprof->error;
}

/* --- all of it ---------------------------------------------------------- */

static void put_types(struct pprof *pprof, const struct export_origin *origin)
{
	Pprof__ValueType types[SAMPLES_TYPES], *all[SAMPLES_TYPES];
	Pprof__Profile part = PPROF__PROFILE__INIT;
	size_t i;

	string_of(pprof, "");	/* has to be the first */
	for (i = 0; i < pprof->types.count; i++) {
		pprof__value_type__init(&types[i]);
		types[i].type = string_of(pprof, pprof->types.all[i].type);
		types[i].unit = string_of(pprof, pprof->types.all[i].unit);
		all[i] = &types[i];
	}
	part.n_sample_type = pprof->types.count;
	part.sample_type = all;
	part.period = 1;
	part.period_type = all[pprof->types.main];
	part.default_sample_type = types[pprof->types.main].type;
	if (origin) {
		part.time_nanos = origin->begin_ns;
		part.duration_nanos = origin->length_ns;
	}
	put(pprof, &part);
}

static void free_tables(struct pprof *pprof)
{
	numbers_free(&pprof->strings);
	numbers_free(&pprof->mappings);
	numbers_free(&pprof->functions);
	numbers_free(&pprof->locations);
	numbers_free(&pprof->frames);
	free(pprof->ids);
}

int pprof_write(struct hwprof_export *export, struct part *part, FILE *out)
{
	struct pprof pprof = { .out = out };
	int error;

	if (deflateInit2(&pprof.zip, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
			 WINDOW_BITS + GZIP, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	samples_types(export->profile, &pprof.types);
	put_types(&pprof, export->origin);
	error = samples_each(export->profile, export_labeller(export),
			     add_sample, &pprof);
	if (!error)
		error = pprof.error;
	pprof.zip.avail_in = 0;
	deflate_all(&pprof, Z_FINISH);
	deflateEnd(&pprof.zip);
	free_tables(&pprof);
	return error;
}
