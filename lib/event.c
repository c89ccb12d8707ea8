// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Converts events from and to text, with the table of fields that the module
 * uses.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "subjects.h"

struct field {
	const char *name;
	unsigned int word, low, high;
};

static const struct field fields[] = {
#define FIELD(name, word, low, high, what)	{ #name, word, low, high },
	HWPROF_FIELDS(FIELD)
#undef FIELD
};

enum {
	FIELD_COUNT = sizeof(fields) / sizeof(fields[0]),
	LIST_SIZE = 512,	/* for all names, with commas */
};

struct parse {
	struct hwprof_event *event;
	const char *text;
	char *message;
	size_t size;
	bool seen[FIELD_COUNT];
};

static int fail(struct parse *parse, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int fail(struct parse *parse, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(parse->message, parse->size, format, args);
	va_end(args);
	return -EINVAL;
}

/*
 * Returns true for fields that say what to profile, or the source: they are in
 * the bytes 0 and 1.
 */
static bool is_subject(const struct field *field)
{
	return !field->word && field->high < 8;
}

static bool is_source(const struct field *field)
{
	return !field->word && field->low >= 8 && field->high < 12;
}

static bool any(const struct field *field)
{
	return true;
}

static const char *list(char *text, bool (*wanted)(const struct field *))
{
	size_t used = 0, i;

	*text = 0;
	for (i = 0; i < FIELD_COUNT && used < LIST_SIZE; i++)
		if (wanted(&fields[i]))
			used += snprintf(text + used, LIST_SIZE - used,
					 "%s%s", used ? ", " : "",
					 fields[i].name);
	return text;
}

static const struct field *find_field(const char *name, size_t length)
{
	size_t i;

	/* Accept "ranges,of=load-address". */
	if (length == 2 && !strncmp(name, "of", length))
		return find_field("range_of", strlen("range_of"));
	for (i = 0; i < FIELD_COUNT; i++)
		if (strlen(fields[i].name) == length &&
		    !strncmp(fields[i].name, name, length))
			return &fields[i];
	return NULL;
}

static uint64_t field_max(const struct field *field)
{
	return UINT64_MAX >> (63 - (field->high - field->low));
}

/* Returns true for the field whose values have names. */
static bool is_range_of(const struct field *field)
{
	return !strcmp(field->name, "range_of");
}

/* Returns the greatest value that the module accepts. */
static uint64_t field_limit(const struct field *field)
{
	if (is_range_of(field))
		return HWPROF_RANGES_OF_COUNT - 1;
	if (!strcmp(field->name, "metrics"))
		return HWPROF_METRICS_MAX;
	return strcmp(field->name, "epsilon_ppm") ? field_max(field) :
						    HWPROF_EPSILON_PPM_MAX;
}

static uint64_t get(const struct hwprof_event *event, const struct field *field)
{
	return event->config[field->word] >> field->low & field_max(field);
}

static void set(struct hwprof_event *event, const struct field *field,
		uint64_t value)
{
	event->config[field->word] &= ~(field_max(field) << field->low);
	event->config[field->word] |= value << field->low;
}

const char *hwprof_source_name(enum hwprof_source source)
{
	static const char *const names[] = {
		[HWPROF_SOURCE_STEP] = "step",
		[HWPROF_SOURCE_LBR] = "lbr",
		[HWPROF_SOURCE_SAMPLE] = "sample",
		[HWPROF_SOURCE_MEM] = "mem",
	};

	return source < sizeof(names) / sizeof(names[0]) ? names[source] : NULL;
}

static const char *const ranges_of[] = {
#define X(constant, number, name, what)	[number] = (name),
	HWPROF_RANGES_OF(X)
#undef X
};

const char *hwprof_range_of_name(enum hwprof_range_of of)
{
	return of < HWPROF_RANGES_OF_COUNT ? ranges_of[of] : NULL;
}

bool hwprof_range_of_pairs(enum hwprof_range_of of)
{
	return of == HWPROF_RANGE_IP_LOAD_ADDRESS ||
	       of == HWPROF_RANGE_IP_STORE_ADDRESS;
}

static int find_range_of(const char *name, size_t length)
{
	int of;

	for (of = 0; of < HWPROF_RANGES_OF_COUNT; of++)
		if (strlen(ranges_of[of]) == length &&
		    !strncmp(ranges_of[of], name, length))
			return of;
	return -EINVAL;
}

int hwprof_range_of(const char *name)
{
	return find_range_of(name, strlen(name));
}

/* Parses a decimal or 0x hexadecimal number of exactly @length bytes. */
static bool parse_number(const char *text, size_t length, uint64_t *value)
{
	char digits[24], *end;

	if (!length || length >= sizeof(digits) ||
	    !isdigit((unsigned char)*text))
		return false;
	memcpy(digits, text, length);
	digits[length] = 0;
	errno = 0;
	*value =
		strtoull(digits, &end,
			 digits[0] == '0' && (digits[1] | 32) == 'x' ? 16 : 10);
	return !*end && !errno;
}

/* Parses a number or the name of a value. */
static bool parse_value(const struct field *field, const char *text,
			size_t length, uint64_t *value)
{
	int of = is_range_of(field) ? find_range_of(text, length) : -EINVAL;

	if (of < 0)
		return parse_number(text, length, value) &&
		       *value <= field_limit(field);
	*value = of;
	return true;
}

/* Returns the allowed values as a part of a sentence. */
static const char *allowed(const struct field *field, char *text)
{
	size_t used = 0, i;

	if (!is_range_of(field)) {
		snprintf(text, LIST_SIZE, "is 0 to %" PRIu64,
			 field_limit(field));
		return text;
	}
	for (i = 0; i < HWPROF_RANGES_OF_COUNT; i++)
		used += snprintf(text + used, LIST_SIZE - used, "%s %s",
				 used ? "," : "are", ranges_of[i]);
	return text;
}

static int length_shown(size_t length)
{
	return length < 64 ? (int)length : 64;
}

/* Parses "name" or "name=value" of @length bytes. */
static int parse_term(struct parse *parse, const char *term, size_t length)
{
	const char *equals = memchr(term, '=', length);
	size_t name_length = equals ? (size_t)(equals - term) : length;
	const struct field *field = find_field(term, name_length);
	char names[LIST_SIZE];
	uint64_t value = 1;

	if (!length)
		return fail(
			parse,
			"a field is missing between the commas of event '%s'",
			parse->text);
	if (!field)
		return fail(
			parse,
			"unknown field '%.*s' in event '%s'; fields are: %s",
			length_shown(name_length), term, parse->text,
			list(names, any));
	if (parse->seen[field - fields])
		return fail(parse, "field '%s' is given twice in event '%s'",
			    field->name, parse->text);
	parse->seen[field - fields] = true;
	if (!equals && field->low != field->high)
		return fail(parse, "'%s' needs a value: allowed %s",
			    field->name, allowed(field, names));
	if (equals && !parse_value(field, equals + 1,
				   length - name_length - 1, &value))
		return fail(parse, "'%.*s': allowed %s", length_shown(length),
			    term, allowed(field, names));
	set(parse->event, field, value);
	return 0;
}

static int parse_terms(struct parse *parse, const char *terms, size_t length)
{
	for (;;) {
		const char *comma = memchr(terms, ',', length);
		size_t term = comma ? (size_t)(comma - terms) : length;
		int error = parse_term(parse, terms, term);

		if (error || !comma)
			return error;
		terms += term + 1;
		length -= term + 1;
	}
}

static int parse_modifiers(struct parse *parse, const char *modifiers)
{
	if (!*modifiers) {
		parse->event->user = true;
		return 0;
	}
	for (; *modifiers; modifiers++) {
		if (*modifiers == 'u')
			parse->event->user = true;
		else if (*modifiers == 'k')
			parse->event->kernel = true;
		else
			return fail(parse,
				    "unknown modifier '%c' in event '%s'; "
				    "modifiers are: u (user mode), k (kernel)",
				    *modifiers, parse->text);
	}
	return 0;
}

static unsigned int count_set(const struct hwprof_event *event,
			      bool (*wanted)(const struct field *))
{
	unsigned int count = 0;
	size_t i;

	for (i = 0; i < FIELD_COUNT; i++)
		count += wanted(&fields[i]) && get(event, &fields[i]);
	return count;
}

static bool is_together(const struct field *field)
{
	return is_subject(field) &&
	       subjects_of(1ULL << field->low) & subjects_together();
}

static bool is_alone(const struct field *field)
{
	return is_subject(field) && !is_together(field);
}

/*
 * Returns the field because of which contexts of an event with other profiles
 * would be incomplete; NULL if there is none.
 */
static const char *find_cut(const struct hwprof_event *event)
{
	static const char *const fields[] = { "lbr", "sample", "mem", "burst" };
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (hwprof_event_field(event, fields[i]))
			return fields[i];
	return NULL;
}

/* Checks whether the profiles of an event can go together. */
static int check_together(struct parse *parse)
{
	const char *cut = find_cut(parse->event);
	char names[LIST_SIZE];

	if (count_set(parse->event, is_alone))
		return fail(parse,
			    "event '%s' names several things to profile, and "
			    "only these can be in one event: %s; give the "
			    "others an event (-e) each",
			    parse->text, list(names, is_together));
	if (hwprof_event_field(parse->event, "cct") && cut)
		return fail(parse,
			    "event '%s' has cct beside other things, which "
			    "needs every branch: leave out '%s', or give cct "
			    "an event (-e) of its own",
			    parse->text, cut);
	return 0;
}

static int check(struct parse *parse)
{
	unsigned int subjects = count_set(parse->event, is_subject);
	char names[LIST_SIZE];

	if (!subjects)
		return fail(parse, "event '%s' must say what is profiled: %s",
			    parse->text, list(names, is_subject));
	if (subjects > 1 && check_together(parse))
		return -EINVAL;
	if (count_set(parse->event, is_source) > 1)
		return fail(parse,
			    "event '%s' names more than one source of: %s",
			    parse->text, list(names, is_source));
	if (hwprof_event_field(parse->event, "range_of") &&
	    !hwprof_event_field(parse->event, "ranges"))
		return fail(parse,
			    "'of' in event '%s' says what ranges are of, and "
			    "it has none",
			    parse->text);
	return 0;
}

int hwprof_event_parse(struct hwprof_event *event, const char *text,
		       char *message, size_t size)
{
	struct parse parse = {
		.event = event, .text = text, .message = message, .size = size,
	};
	const char *terms = text, *slash;
	int error;

	*event = (struct hwprof_event){ .user = false };
	if (!strncmp(text, HWPROF_PMU_NAME "/", strlen(HWPROF_PMU_NAME "/"))) {
		terms += strlen(HWPROF_PMU_NAME "/");
		event->whole = true;
	}
	slash = strchr(terms, '/');
	if (event->whole && !slash)
		return fail(&parse, "event '%s' has no second slash", text);
	error = parse_terms(&parse, terms,
			    slash ? (size_t)(slash - terms) : strlen(terms));
	if (!error)
		error = parse_modifiers(&parse, slash ? slash + 1 : "");
	return error ? error : check(&parse);
}

uint64_t hwprof_event_field(const struct hwprof_event *event, const char *name)
{
	const struct field *field = find_field(name, strlen(name));

	return field ? get(event, field) : 0;
}

int hwprof_event_set(struct hwprof_event *event, const char *name,
		     uint64_t value)
{
	const struct field *field = find_field(name, strlen(name));

	if (!field || value > field_limit(field))
		return -EINVAL;
	set(event, field, value);
	return 0;
}

int hwprof_event_set_trigger(struct hwprof_event *event, uint64_t raw)
{
	static const struct {
		const char *name;
		unsigned int low;
	} parts[] = {
#define PART(name, low)	{ #name, low },
		HWPROF_TRIGGER(PART)
#undef PART
	};
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const struct field *field = find_field(parts[i].name,
						       strlen(parts[i].name));
		uint64_t mask = field_max(field) << parts[i].low;

		set(event, field, (raw & mask) >> parts[i].low);
		raw &= ~mask;
	}
	return raw ? -EINVAL : 0;
}

int hwprof_event_print(const struct hwprof_event *event, char *text,
		       size_t size)
{
	char terms[1024] = "";
	size_t used = 0, i;

	for (i = 0; i < FIELD_COUNT && used < sizeof(terms); i++) {
		uint64_t value = get(event, &fields[i]);

		if (!value)
			continue;
		used += snprintf(terms + used, sizeof(terms) - used, "%s%s",
				 used ? "," : "", fields[i].name);
		if (fields[i].low != fields[i].high && used < sizeof(terms))
			used += snprintf(terms + used, sizeof(terms) - used,
					 "=%" PRIu64, value);
	}
	return snprintf(text, size, HWPROF_PMU_NAME "/%s/%s%s", terms,
			event->user ? "u" : "", event->kernel ? "k" : "");
}
