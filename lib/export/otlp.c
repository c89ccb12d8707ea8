// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * OpenTelemetry's profiles. Each value of the samples is a profile of its own;
 * all share the tables of the dictionary. The message is written in pieces, a
 * profile each and then the dictionary: messages add up when they are read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"
#include "base/numbers.h"
#include "otlp.pb-c.h"
#include "otlp_1_9.pb-c.h"
#include "samples.h"
#include "base/array.h"

#define BUILD_ID_KEY	"process.executable.build_id.gnu"

/*
 * Words of the entries of each table. The first element of each table in the
 * message is empty, so references to others than strings are numbers plus 1,
 * and 0 is nothing. The first string is "".
 */
enum { MAPPING_FILE, MAPPING_ID };		/* string, attribute */
enum { FUNCTION_NAME, FUNCTION_FILE };		/* strings */
enum { LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_FUNCTION, LOCATION_LINE };
enum { ATTRIBUTE_KEY, ATTRIBUTE_IS_TEXT, ATTRIBUTE_VALUE };
enum { NODE_PREFIX, NODE_LOCATION };		/* of a tree of stacks */
enum { STACK_NODE };

struct otlp_sample {
	uint32_t stack;
	uint32_t label_count;
	size_t first_label;		/* in labels */
	size_t first_value;		/* in values */
};

struct otlp {
	struct samples_types types;
	struct numbers strings, mappings, functions, locations, attributes;
	struct numbers nodes, stacks;
	struct numbers frames;		/* value: their location */
	struct otlp_sample *samples;
	size_t sample_count, sample_room;
	int32_t *labels;
	size_t label_count, label_room;
	int64_t *values;
	size_t value_count, value_room;
	bool failed;			/* memory is out */
	const struct export_origin *origin;	/* NULL: not known */
	Otlp__Resource resource;
	void *attribute_room;		/* of the resource */
	Otlp__InstrumentationScope tool;
	Otlp__ValueType type;		/* of the profile being written */
	ProtobufCBuffer buffer;
	FILE *out;
};

/* --- tables --------------------------------------------------------------- */

static uint64_t text_number(struct otlp *otlp, const char *text)
{
	return number_of_text(&otlp->strings, text, &otlp->failed);
}

/* Returns the number of the entry, plus 1. */
static uint64_t number(struct otlp *otlp, struct numbers *table,
		       const uint64_t words[NUMBERED_WORDS])
{
	return number_of_words(table, words, &otlp->failed);
}

static uint64_t text_attribute(struct otlp *otlp, const char *key,
			       const char *text)
{
	const uint64_t words[NUMBERED_WORDS] = {
		[ATTRIBUTE_KEY] = text_number(otlp, key),
		[ATTRIBUTE_IS_TEXT] = true,
		[ATTRIBUTE_VALUE] = text_number(otlp, text),
	};

	return number(otlp, &otlp->attributes, words);
}

static uint64_t number_attribute(struct otlp *otlp, const char *key,
				 int64_t value)
{
	const uint64_t words[NUMBERED_WORDS] = {
		[ATTRIBUTE_KEY] = text_number(otlp, key),
		[ATTRIBUTE_VALUE] = value,
	};

	return number(otlp, &otlp->attributes, words);
}

static uint64_t mapping_of(struct otlp *otlp, const struct sample_frame *from)
{
	const uint64_t words[NUMBERED_WORDS] = {
		[MAPPING_FILE] = text_number(otlp, from->object),
		[MAPPING_ID] = from->build_id ?
			       text_attribute(otlp, BUILD_ID_KEY,
					      from->build_id) : 0,
	};

	return from->object ? number(otlp, &otlp->mappings, words) : 0;
}

static uint64_t function_of(struct otlp *otlp, const struct sample_frame *from)
{
	char text[FRAME_TEXT];
	const uint64_t words[NUMBERED_WORDS] = {
		[FUNCTION_NAME] = text_number(otlp, sample_frame_name(from,
								      text)),
		[FUNCTION_FILE] = text_number(otlp, from->file),
	};

	return number(otlp, &otlp->functions, words);
}

static uint64_t new_location(void *context, const struct sample_frame *from)
{
	struct otlp *otlp = context;
	const uint64_t words[NUMBERED_WORDS] = {
		[LOCATION_MAPPING] = mapping_of(otlp, from),
		[LOCATION_ADDRESS] = from->address,
		[LOCATION_FUNCTION] = function_of(otlp, from),
		[LOCATION_LINE] = from->line,
	};

	return number(otlp, &otlp->locations, words);
}

static uint64_t location_of(struct otlp *otlp, const struct sample_frame *from)
{
	uint64_t location = sample_frame_number(&otlp->frames, from,
						new_location, otlp);

	otlp->failed |= !location;
	return location;
}

/* --- samples -------------------------------------------------------------- */

#define RESERVE(otlp, one, wanted)					\
({									\
	void *list_ = array_grow((otlp)->one##s, &(otlp)->one##_room,	\
				 (otlp)->one##_count + (wanted),	\
				 sizeof(*(otlp)->one##s));		\
									\
	if (list_)							\
		(otlp)->one##s = list_;					\
	list_ != NULL;							\
})

static uint32_t stack_of(struct otlp *otlp, const struct stack_sample *from)
{
	uint64_t node = 0;
	size_t i;

	for (i = from->frame_count; i--;) {
		const uint64_t words[NUMBERED_WORDS] = {
			[NODE_PREFIX] = node,
			[NODE_LOCATION] = location_of(otlp, &from->frames[i]),
		};

		node = number(otlp, &otlp->nodes, words);
	}
	return number(otlp, &otlp->stacks,
		      (uint64_t[NUMBERED_WORDS]){ [STACK_NODE] = node });
}

static void add_labels(struct otlp *otlp, const struct stack_sample *from)
{
	size_t i;

	for (i = 0; i < from->label_count; i++) {
		const struct sample_label *label = &from->labels[i];

		otlp->labels[otlp->label_count++] = label->text ?
			text_attribute(otlp, label->key, label->text) :
			number_attribute(otlp, label->key, label->number);
	}
}

static int add_sample(void *context, const struct stack_sample *from)
{
	struct otlp *otlp = context;
	size_t i;

	if (!RESERVE(otlp, sample, 1) ||
	    !RESERVE(otlp, label, from->label_count) ||
	    !RESERVE(otlp, value, otlp->types.count))
		return -ENOMEM;
	otlp->samples[otlp->sample_count++] = (struct otlp_sample){
		.stack = stack_of(otlp, from),
		.label_count = from->label_count,
		.first_label = otlp->label_count,
		.first_value = otlp->value_count,
	};
	add_labels(otlp, from);
	for (i = 0; i < otlp->types.count; i++)
		otlp->values[otlp->value_count++] = from->values[i];
	return otlp->failed ? -ENOMEM : 0;
}

/* --- profiles ------------------------------------------------------------- */

static void append(ProtobufCBuffer *buffer, size_t size, const uint8_t *bytes)
{
	const struct otlp *otlp = (void *)((char *)buffer -
					   offsetof(struct otlp, buffer));

	fwrite(bytes, 1, size, otlp->out);
}

static void put(struct otlp *otlp, const ProtobufCMessage *message)
{
	protobuf_c_message_pack_to_buffer(message, &otlp->buffer);
}

/* --- the origin ----------------------------------------------------------- */

static uint64_t origin_begin(const struct otlp *otlp)
{
	return otlp->origin ? otlp->origin->begin_ns : 0;
}

static uint64_t origin_length(const struct otlp *otlp)
{
	return otlp->origin ? otlp->origin->length_ns : 0;
}

static void set_attribute(Otlp__KeyValue *to, Otlp__AnyValue *value,
			  const struct sample_label *from)
{
	otlp__any_value__init(value);
	value->value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
	value->string_value = (char *)from->text;
	otlp__key_value__init(to);
	to->key = (char *)from->key;
	to->value = value;
}

/* Makes the resource. Returns 0 or -ENOMEM. */
static int make_resource(struct otlp *otlp)
{
	const struct export_origin *origin = otlp->origin;
	struct attribute {
		Otlp__KeyValue pair;
		Otlp__AnyValue value;
	} *all;
	size_t count = origin ? origin->label_count : 0, i;

	otlp__resource__init(&otlp->resource);
	if (!count)
		return 0;
	all = calloc(count, sizeof(*all));
	otlp->resource.attributes = calloc(count, sizeof(Otlp__KeyValue *));
	otlp->attribute_room = all;
	if (!all || !otlp->resource.attributes)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		set_attribute(&all[i].pair, &all[i].value, &origin->labels[i]);
		otlp->resource.attributes[i] = &all[i].pair;
	}
	otlp->resource.n_attributes = count;
	return 0;
}

/*
 * Defines a function that writes the profile of the value with the number
 * @type as messages of a version. It returns 0 or -ENOMEM.
 */
#define DEFINE_PUT_PROFILE(name_, Version, VERSION, version_)		\
static int name_(struct otlp *otlp, size_t type)			\
{									\
	Version##__ProfilesData data =					\
		VERSION##__PROFILES_DATA__INIT;				\
	Version##__ResourceProfiles resource =				\
		VERSION##__RESOURCE_PROFILES__INIT;			\
	Version##__ScopeProfiles scope =				\
		VERSION##__SCOPE_PROFILES__INIT;			\
	Version##__Profile profile = VERSION##__PROFILE__INIT;		\
	Version##__Sample *samples, **list;				\
	size_t count = 0, i;						\
									\
	samples = calloc(otlp->sample_count + 1, sizeof(*samples));	\
	list = calloc(otlp->sample_count + 1, sizeof(*list));		\
	for (i = 0; samples && list && i < otlp->sample_count; i++) {	\
		const struct otlp_sample *from = &otlp->samples[i];	\
									\
		if (!otlp->values[from->first_value + type])		\
			continue;					\
		list[count] = &samples[count];				\
		version_##__sample__init(list[count]);			\
		list[count]->stack_index = from->stack;			\
		list[count]->n_values = 1;				\
		list[count]->values =					\
			&otlp->values[from->first_value + type];	\
		list[count]->n_attribute_indices = from->label_count;	\
		list[count++]->attribute_indices =			\
			&otlp->labels[from->first_label];		\
	}								\
	profile.sample_type = profile.period_type = &otlp->type;	\
	profile.period = 1;						\
	profile.samples = list;						\
	profile.n_samples = count;					\
	profile.time_unix_nano = origin_begin(otlp);			\
	profile.duration_nano = origin_length(otlp);			\
	resource.resource = otlp->origin ? &otlp->resource : NULL;	\
	scope.scope = &otlp->tool;					\
	scope.n_profiles = 1;						\
	scope.profiles = (Version##__Profile *[]){ &profile };		\
	resource.n_scope_profiles = 1;					\
	resource.scope_profiles =					\
		(Version##__ScopeProfiles *[]){ &scope };		\
	data.n_resource_profiles = 1;					\
	data.resource_profiles =					\
		(Version##__ResourceProfiles *[]){ &resource };		\
	if (samples && list)						\
		put(otlp, &data.base);					\
	otlp->failed |= !samples || !list;				\
	free(samples);							\
	free(list);							\
	return otlp->failed ? -ENOMEM : 0;				\
}

DEFINE_PUT_PROFILE(put_profile, Otlp, OTLP, otlp)
DEFINE_PUT_PROFILE(put_profile_1_9, Otlp19, OTLP_1_9, otlp_1_9)

static int put_type(struct otlp *otlp, const char *version, size_t type)
{
	const struct samples_type *from = &otlp->types.all[type];

	otlp__value_type__init(&otlp->type);
	otlp->type.type_strindex = text_number(otlp, from->type);
	otlp->type.unit_strindex = text_number(otlp, from->unit);
	return strcmp(version, "1.9") ? put_profile(otlp, type) :
					put_profile_1_9(otlp, type);
}

/* Writes the profile first that viewers shall show first. */
static int put_profiles(struct otlp *otlp, const char *version)
{
	int error;
	size_t i;

	otlp__instrumentation_scope__init(&otlp->tool);
	otlp->tool.name = "hwprof";
	otlp->tool.version = HWPROF_VERSION;
	error = put_type(otlp, version, otlp->types.main);
	for (i = 0; !error && i < otlp->types.count; i++)
		if (i != otlp->types.main)
			error = put_type(otlp, version, i);
	return error;
}

/* --- the dictionary ------------------------------------------------------- */

/* Writes a dictionary that has only one element: parts of it add up. */
static void put_part(struct otlp *otlp, Otlp__ProfilesDictionary *part)
{
	Otlp__ProfilesData data = OTLP__PROFILES_DATA__INIT;

	data.dictionary = part;
	put(otlp, &data.base);
}

static void put_strings(struct otlp *otlp)
{
	size_t i;

	for (i = 0; i < otlp->strings.count; i++) {
		Otlp__ProfilesDictionary part =
			OTLP__PROFILES_DICTIONARY__INIT;

		part.n_string_table = 1;
		part.string_table = &otlp->strings.list[i]->text;
		put_part(otlp, &part);
	}
}

/* Writes the first elements, which are empty. */
static void put_zeros(struct otlp *otlp)
{
	Otlp__ProfilesDictionary part = OTLP__PROFILES_DICTIONARY__INIT;
	Otlp__Mapping mapping = OTLP__MAPPING__INIT;
	Otlp__Location location = OTLP__LOCATION__INIT;
	Otlp__Function function = OTLP__FUNCTION__INIT;
	Otlp__Link link = OTLP__LINK__INIT;
	Otlp__KeyValueAndUnit attribute = OTLP__KEY_VALUE_AND_UNIT__INIT;
	Otlp__Stack stack = OTLP__STACK__INIT;

	part.n_mapping_table = part.n_location_table = 1;
	part.n_function_table = part.n_link_table = 1;
	part.n_attribute_table = part.n_stack_table = 1;
	part.mapping_table = (Otlp__Mapping *[]){ &mapping };
	part.location_table = (Otlp__Location *[]){ &location };
	part.function_table = (Otlp__Function *[]){ &function };
	part.link_table = (Otlp__Link *[]){ &link };
	part.attribute_table = (Otlp__KeyValueAndUnit *[]){ &attribute };
	part.stack_table = (Otlp__Stack *[]){ &stack };
	put_part(otlp, &part);
}

static void put_mapping(struct otlp *otlp, const uint64_t *words)
{
	Otlp__ProfilesDictionary part = OTLP__PROFILES_DICTIONARY__INIT;
	Otlp__Mapping mapping = OTLP__MAPPING__INIT;
	int32_t id = words[MAPPING_ID];

	mapping.filename_strindex = words[MAPPING_FILE];
	mapping.n_attribute_indices = !!id;
	mapping.attribute_indices = &id;
	part.n_mapping_table = 1;
	part.mapping_table = (Otlp__Mapping *[]){ &mapping };
	put_part(otlp, &part);
}

static void put_function(struct otlp *otlp, const uint64_t *words)
{
	Otlp__ProfilesDictionary part = OTLP__PROFILES_DICTIONARY__INIT;
	Otlp__Function function = OTLP__FUNCTION__INIT;

	function.name_strindex = words[FUNCTION_NAME];
	function.system_name_strindex = words[FUNCTION_NAME];
	function.filename_strindex = words[FUNCTION_FILE];
	part.n_function_table = 1;
	part.function_table = (Otlp__Function *[]){ &function };
	put_part(otlp, &part);
}

static void put_location(struct otlp *otlp, const uint64_t *words)
{
	Otlp__ProfilesDictionary part = OTLP__PROFILES_DICTIONARY__INIT;
	Otlp__Location location = OTLP__LOCATION__INIT;
	Otlp__Line line = OTLP__LINE__INIT;

	line.function_index = words[LOCATION_FUNCTION];
	line.line = words[LOCATION_LINE];
	location.mapping_index = words[LOCATION_MAPPING];
	location.address = words[LOCATION_ADDRESS];
	location.n_lines = 1;
	location.lines = (Otlp__Line *[]){ &line };
	part.n_location_table = 1;
	part.location_table = (Otlp__Location *[]){ &location };
	put_part(otlp, &part);
}

static void put_attribute(struct otlp *otlp, const uint64_t *words)
{
	Otlp__ProfilesDictionary part = OTLP__PROFILES_DICTIONARY__INIT;
	Otlp__KeyValueAndUnit attribute = OTLP__KEY_VALUE_AND_UNIT__INIT;
	Otlp__AnyValue value = OTLP__ANY_VALUE__INIT;

	if (words[ATTRIBUTE_IS_TEXT]) {
		value.value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
		value.string_value =
			otlp->strings.list[words[ATTRIBUTE_VALUE]]->text;
	} else {
		value.value_case = OTLP__ANY_VALUE__VALUE_INT_VALUE;
		value.int_value = words[ATTRIBUTE_VALUE];
	}
	attribute.key_strindex = words[ATTRIBUTE_KEY];
	attribute.value = &value;
	part.n_attribute_table = 1;
	part.attribute_table = (Otlp__KeyValueAndUnit *[]){ &attribute };
	put_part(otlp, &part);
}

/* The node of a stack is its innermost frame. */
static void put_stack(struct otlp *otlp, const uint64_t *words)
{
	Otlp__ProfilesDictionary part = OTLP__PROFILES_DICTIONARY__INIT;
	Otlp__Stack stack = OTLP__STACK__INIT;
	const uint64_t *node;
	size_t depth = 0;
	uint64_t at;

	for (at = words[STACK_NODE]; at; at = node[NODE_PREFIX]) {
		node = otlp->nodes.list[at - 1]->words;
		depth++;
	}
	stack.location_indices = calloc(depth + 1, sizeof(int32_t));
	if (!stack.location_indices) {
		otlp->failed = true;
		return;
	}
	for (at = words[STACK_NODE]; at; at = node[NODE_PREFIX]) {
		node = otlp->nodes.list[at - 1]->words;
		stack.location_indices[stack.n_location_indices++] =
			node[NODE_LOCATION];
	}
	part.n_stack_table = 1;
	part.stack_table = (Otlp__Stack *[]){ &stack };
	put_part(otlp, &part);
	free(stack.location_indices);
}

static void put_table(struct otlp *otlp, const struct numbers *table,
		      void (*put_one)(struct otlp *otlp,
				      const uint64_t *words))
{
	size_t i;

	for (i = 0; i < table->count; i++)
		put_one(otlp, table->list[i]->words);
}

static void put_dictionary(struct otlp *otlp)
{
	put_zeros(otlp);
	put_strings(otlp);
	put_table(otlp, &otlp->mappings, put_mapping);
	put_table(otlp, &otlp->functions, put_function);
	put_table(otlp, &otlp->locations, put_location);
	put_table(otlp, &otlp->attributes, put_attribute);
	put_table(otlp, &otlp->stacks, put_stack);
}

/* --- all of it ------------------------------------------------------------ */

static void free_all(struct otlp *otlp)
{
	numbers_free(&otlp->strings);
	numbers_free(&otlp->mappings);
	numbers_free(&otlp->functions);
	numbers_free(&otlp->locations);
	numbers_free(&otlp->attributes);
	numbers_free(&otlp->nodes);
	numbers_free(&otlp->stacks);
	numbers_free(&otlp->frames);
	free(otlp->resource.attributes);
	free(otlp->attribute_room);
	free(otlp->samples);
	free(otlp->labels);
	free(otlp->values);
}

int otlp_write(struct hwprof_export *export, struct part *part, FILE *out)
{
	struct otlp otlp = {
		.buffer.append = append, .out = out, .origin = export->origin,
	};
	int error = make_resource(&otlp);

	samples_types(export->profile, &otlp.types);
	text_number(&otlp, "");		/* has to be the first */
	if (!error)
		error = samples_each(export->profile, export_labeller(export),
				     add_sample, &otlp);
	if (!error)
		error = put_profiles(&otlp, export->version);
	if (!error)
		put_dictionary(&otlp);
	free_all(&otlp);
	return otlp.failed ? -ENOMEM : error;
}
