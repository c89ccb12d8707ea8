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

#include "event_config.h"

enum { LIST_SIZE = 512 };	/* for all names, with commas */

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

static bool is_subject(enum field field)
{
	return field_places[field].role == HWPROF_ROLE_PROFILE;
}

static bool is_source(enum field field)
{
	return field_places[field].role == HWPROF_ROLE_SOURCE;
}

static bool any(enum field field)
{
	return true;
}

static const char *list(char *text, bool (*wanted)(enum field))
{
	size_t used = 0, i;

	*text = 0;
	for (i = 0; i < FIELD_COUNT && used < LIST_SIZE; i++)
		if (wanted(i))
			used += snprintf(text + used, LIST_SIZE - used,
					 "%s%s", used ? ", " : "",
					 field_places[i].name);
	return text;
}

/* Returns the field of this name; FIELD_COUNT if there is none. */
static enum field find_field(const char *name, size_t length)
{
	size_t i;

	/* Accept "ranges,of=load-address". */
	if (length == 2 && !strncmp(name, "of", length))
		return FIELD_range_of;
	for (i = 0; i < FIELD_COUNT; i++)
		if (strlen(field_places[i].name) == length &&
		    !strncmp(field_places[i].name, name, length))
			break;
	return i;
}

/* Returns true for a field of a single bit, which needs no value. */
static bool is_bit(enum field field)
{
	return field_places[field].low == field_places[field].high;
}

static void set(struct hwprof_event *event, enum field field, uint64_t value)
{
	const struct field_place *place = &field_places[field];
	uint64_t max = UINT64_MAX >> (63 - (place->high - place->low));

	event->config[place->word] &= ~(max << place->low);
	event->config[place->word] |= value << place->low;
}

const char *hwprof_source_name(enum hwprof_source source)
{
	size_t i;

	for (i = 0; i < SOURCE_COUNT; i++)
		if (source_infos[i].number == source)
			return source_infos[i].name;
	return NULL;
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
static bool parse_value(enum field field, const char *text, size_t length,
			uint64_t *value)
{
	int of = field == FIELD_range_of ? find_range_of(text, length)
					 : -EINVAL;

	if (of < 0)
		return parse_number(text, length, value) &&
		       *value <= config_field_most(field);
	*value = of;
	return true;
}

/* Returns the allowed values as a part of a sentence. */
static const char *allowed(enum field field, char *text)
{
	size_t used = 0, i;

	if (field != FIELD_range_of) {
		snprintf(text, LIST_SIZE, "is 0 to %" PRIu64,
			 config_field_most(field));
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
	enum field field = find_field(term, name_length);
	char names[LIST_SIZE];
	uint64_t value = 1;

	if (!length)
		return fail(
			parse,
			"a field is missing between the commas of event '%s'",
			parse->text);
	if (field == FIELD_COUNT)
		return fail(
			parse,
			"unknown field '%.*s' in event '%s'; fields are: %s",
			length_shown(name_length), term, parse->text,
			list(names, any));
	if (parse->seen[field])
		return fail(parse, "field '%s' is given twice in event '%s'",
			    field_places[field].name, parse->text);
	parse->seen[field] = true;
	if (!equals && !is_bit(field))
		return fail(parse, "'%s' needs a value: allowed %s",
			    field_places[field].name, allowed(field, names));
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
				    "unknown modifier '%c' in event '%s'; modifiers are: u (user mode), k (kernel)",
				    *modifiers, parse->text);
	}
	return 0;
}

static bool is_together(enum field field)
{
	const struct hwprof_event event = { .user = true };
	struct hwprof_event alone = event;

	set(&alone, field, 1);
	return is_subject(field) &&
	       event_config(&alone, ALL_SOURCES).engine_caps & ENGINE_JOINS;
}

/* Checks whether the profiles of an event can go together. */
static int check_together(struct parse *parse,
			  const struct session_config *config)
{
	char names[LIST_SIZE];

	if (!(config->engine_caps & ENGINE_JOINS))
		return fail(parse,
			    "event '%s' names several things to profile, and only these can be in one event: %s; give the others an event (-e) each",
			    parse->text, list(names, is_together));
	/* Contexts would be incomplete. */
	if (config->windows && !(config->engine_caps & ENGINE_WINDOWS))
		return fail(parse,
			    "event '%s' has cct beside other things, which needs every branch: leave out '%s', or give cct an event (-e) of its own",
			    parse->text,
			    config->sources & ~(1U << SOURCE_step) ?
			    source_infos[config->source].name : "burst");
	return 0;
}

static int check(struct parse *parse)
{
	const struct session_config config = event_config(parse->event,
							  ALL_SOURCES);
	char names[LIST_SIZE];

	if (!config.engines)
		return fail(parse, "event '%s' must say what is profiled: %s",
			    parse->text, list(names, is_subject));
	if (config_joins(&config) && check_together(parse, &config))
		return -EINVAL;
	if (config.sources & (config.sources - 1))
		return fail(parse,
			    "event '%s' names more than one source of: %s",
			    parse->text, list(names, is_source));
	if (config.range_of && !(config.engine_caps & ENGINE_STREAMS))
		return fail(parse,
			    "'of' in event '%s' says what ranges are of, and it has none",
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
	enum field field = find_field(name, strlen(name));

	return field < FIELD_COUNT ? config_field(event->config, field) : 0;
}

int hwprof_event_set(struct hwprof_event *event, const char *name,
		     uint64_t value)
{
	enum field field = find_field(name, strlen(name));

	if (field == FIELD_COUNT || value > config_field_most(field))
		return -EINVAL;
	set(event, field, value);
	return 0;
}

int hwprof_event_set_trigger(struct hwprof_event *event, uint64_t raw)
{
	static const struct {
		enum field field;
		unsigned int low;
	} parts[] = {
#define PART(name, low)	{ FIELD_##name, low },
		HWPROF_TRIGGER(PART)
#undef PART
	};
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		uint64_t mask = config_field_most(parts[i].field)
				<< parts[i].low;

		set(event, parts[i].field, (raw & mask) >> parts[i].low);
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
		uint64_t value = config_field(event->config, i);

		if (!value)
			continue;
		used += snprintf(terms + used, sizeof(terms) - used, "%s%s",
				 used ? "," : "", field_places[i].name);
		if (!is_bit(i) && used < sizeof(terms))
			used += snprintf(terms + used, sizeof(terms) - used,
					 "=%" PRIu64, value);
	}
	return snprintf(text, size, HWPROF_PMU_NAME "/%s/%s%s", terms,
			event->user ? "u" : "", event->kernel ? "k" : "");
}
