// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "hwprof.h"
#include "log.h"

enum kind { TEXT, COUNT, FLAG };

struct key {
	const char *name;
	enum kind kind;
	size_t offset;
	uint64_t least, most;
};

#define TEXT_KEY(key, value)						\
	{ #key, TEXT, offsetof(struct config, key), 0, 0 },
#define COUNT_KEY(key, value, least, most)				\
	{ #key, COUNT, offsetof(struct config, key), least, most },
#define FLAG_KEY(key, value)						\
	{ #key, FLAG, offsetof(struct config, key), 0, 0 },

static const struct key keys[] = {
	CONFIG_KEYS(TEXT_KEY, COUNT_KEY, FLAG_KEY)
};

/* Where a line is, and where its message goes. */
struct place {
	const char *name;
	unsigned int line;
	char *message;
	size_t size;
};

static int refuse(const struct place *place, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int refuse(const struct place *place, const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (place->line)
		snprintf(place->message, place->size, "%s:%u: %s", place->name,
			 place->line, text ? text : "out of memory");
	else
		snprintf(place->message, place->size, "%s: %s", place->name,
			 text ? text : "out of memory");
	free(text);
	return -EINVAL;
}

void config_default(struct config *config)
{
	memset(config, 0, sizeof(*config));
#define TEXT_DEFAULT(key, value)		strcpy(config->key, value);
#define COUNT_DEFAULT(key, value, least, most)	config->key = value;
#define FLAG_DEFAULT(key, value)		config->key = value;
	CONFIG_KEYS(TEXT_DEFAULT, COUNT_DEFAULT, FLAG_DEFAULT)
}

static char *trim(char *text)
{
	char *end;

	while (isspace((unsigned char)*text))
		text++;
	end = text + strlen(text);
	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	*end = 0;
	return text;
}

static const struct key *key_of(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(keys[i].name, name))
			return &keys[i];
	return NULL;
}

static int set_count(const struct key *key, uint64_t *value, const char *text,
		     const struct place *place)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	if (isdigit((unsigned char)*text) && !*end && !errno &&
	    *value >= key->least && *value <= key->most)
		return 0;
	return refuse(place, "%s is '%s': allowed are numbers from %llu to %llu",
		      key->name, text, (unsigned long long)key->least,
		      (unsigned long long)key->most);
}

static int set_flag(const struct key *key, bool *value, const char *text,
		    const struct place *place)
{
	*value = !strcmp(text, "yes");
	if (*value || !strcmp(text, "no"))
		return 0;
	return refuse(place, "%s is '%s': allowed are yes and no", key->name,
		      text);
}

static int set_key(struct config *config, const struct key *key,
		   const char *text, const struct place *place)
{
	void *field = (char *)config + key->offset;

	if (key->kind == COUNT)
		return set_count(key, field, text, place);
	if (key->kind == FLAG)
		return set_flag(key, field, text, place);
	if (strlen(text) >= CONFIG_TEXT)
		return refuse(place, "%s has more than %d characters",
			      key->name, CONFIG_TEXT - 1);
	strcpy(field, text);
	return 0;
}

static int take_line(struct config *config, char *line,
		     const struct place *place)
{
	const struct key *key;
	char *value;

	line = trim(line);
	if (!*line || *line == '#')
		return 0;
	value = strchr(line, '=');
	if (!value)
		return refuse(place, "'%s' is not of the form KEY = VALUE",
			      line);
	*value++ = 0;
	key = key_of(trim(line));
	if (!key)
		return refuse(place, "there is no key '%s': see hwprofd.conf(5)",
			      trim(line));
	return set_key(config, key, trim(value), place);
}

bool config_start(struct config *config, const char *path, const char *rest)
{
	char message[1024];

	if (rest) {
		log_error("'%s': there are no arguments without an option",
			  rest);
		return false;
	}
	if (!config_load(config, path, message, sizeof(message)))
		return true;
	log_error("%s", message);
	return false;
}

bool config_split_address(const char *text, char host[CONFIG_TEXT],
			  uint16_t *port)
{
	const char *colon = strrchr(text, ':');
	size_t length = colon ? colon - text : 0;
	unsigned long number;
	char *end;

	if (!length || length >= CONFIG_TEXT ||
	    !isdigit((unsigned char)colon[1]))
		return false;
	number = strtoul(colon + 1, &end, 10);
	if (*end || !number || number > UINT16_MAX)
		return false;
	*port = number;
	if (*text == '[' && text[length - 1] == ']') {
		text++;
		length -= 2;
	} else if (memchr(text, ':', length)) {
		return false;
	}
	memcpy(host, text, length);
	host[length] = 0;
	return length;
}

/* An event must be one that takes looks at the program. */
static int check_looks(const struct hwprof_event *event, const char *key,
		       const char *text, const struct place *place)
{
	if (hwprof_event_field(event, "branches"))
		return refuse(place, "%s is '%s': branches are not collected",
			      key, text);
	if (hwprof_event_field(event, "step"))
		return refuse(place,
			      "%s is '%s': 'step' would make every program far slower; name lbr, burst=200 or sample, or none of them",
			      key, text);
	if (event->kernel)
		return refuse(place,
			      "%s is '%s': the kernel is not collected yet",
			      key, text);
	return 0;
}

/* Rows of these events are merged by build. */
static int check_event(const char *key, const char *text,
		       const struct place *place)
{
	static const char *const turns[] = { "values", "ranges" };
	struct hwprof_event event;
	char message[512];
	size_t i;

	if (!strcmp(text, "none"))
		return 0;
	if (hwprof_event_parse(&event, text, message, sizeof(message)))
		return refuse(place, "%s: %s", key, message);
	for (i = 0; i < sizeof(turns) / sizeof(turns[0]); i++)
		if (hwprof_event_field(&event, turns[i]))
			return refuse(place,
				      "%s is '%s': allowed are loops, calls, paths, edges and cct; %s have a key of their own",
				      key, text, turns[i]);
	return check_looks(&event, key, text, place);
}

/* @key is the name of the kind that the event has: it is then the only one. */
static int check_turn(const char *key, const char *text,
		      const struct place *place)
{
	struct hwprof_event event;
	char message[512];

	if (!strcmp(text, "none"))
		return 0;
	if (hwprof_event_parse(&event, text, message, sizeof(message)))
		return refuse(place, "%s: %s", key, message);
	if (!hwprof_event_field(&event, key))
		return refuse(place,
			      "%s is '%s': allowed are events of %s, and none",
			      key, text, key);
	return check_looks(&event, key, text, place);
}

int config_each(const char *list, int (*fn)(void *context, const char *part),
		void *context)
{
	char part[CONFIG_TEXT];
	int error = 0;

	while (!error && *list) {
		size_t length = strcspn(list, ",");

		snprintf(part, sizeof(part), "%.*s", (int)length, list);
		error = fn(context, trim(part));
		list += length + (list[length] == ',');
	}
	return error;
}

static int check_kind(void *context, const char *name)
{
	static const char *const kinds[] = {
		"loops", "calls", "paths", "edges", "cct",
	};
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(name, kinds[i]))
			return 0;
	return refuse(context,
		      "push_kinds has '%s': allowed are loops, calls, paths, edges and cct",
		      name);
}

/* The characters that all receivers take, without quotes. */
static int check_label(void *context, const char *label)
{
	size_t key = strspn(label, "abcdefghijklmnopqrstuvwxyz"
			    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
	const char *value = label + key + 1;

	if (key && !isdigit((unsigned char)*label) &&
	    strncmp(label, "__", 2) && label[key] == '=' && *value &&
	    value[strspn(value, "abcdefghijklmnopqrstuvwxyz"
			 "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/-")] == 0)
		return 0;
	return refuse(context,
		      "push_labels has '%s': allowed is NAME=VALUE, of letters, digits and '_', in VALUE also '.', ':', '/' and '-'",
		      label);
}

/* A receiver could not tell the label of all from that of a process. */
static int check_process_label(void *context, const char *label)
{
	static const char *const names[] = {
		"program", "uid", "cgroup", "unit", "container",
	};
	size_t length = strcspn(label, "="), i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == length &&
		    !strncmp(label, names[i], length))
			return refuse(context,
				      "push_labels has '%s': with push_process_labels = yes that is a label of processes; allowed are names other than program, uid, cgroup, unit and container",
				      label);
	return 0;
}

static int check_url(const char *key, const char *url,
		     const struct place *place)
{
	size_t scheme = !strncmp(url, "http://", 7) ? 7 :
			!strncmp(url, "https://", 8) ? 8 : 0;

	/* A password would come into the log: push_token is for that. */
	if (!*url || (scheme && url[scheme] && !strpbrk(url, "?#@ ")))
		return 0;
	return refuse(place,
		      "%s is '%s': allowed are http://HOST:PORT and https://HOST:PORT, with a path behind it if need be",
		      key, url);
}

static int check_push(const struct config *config, const struct place *place)
{
	int error = check_url("push_pyroscope", config->push_pyroscope, place);

	if (!error)
		error = check_url("push_parca", config->push_parca, place);
	if (!error)
		error = check_url("push_otlp", config->push_otlp, place);
	if (!error)
		error = config_each(config->push_kinds, check_kind,
				    (void *)place);
	if (!error)
		error = config_each(config->push_labels, check_label,
				    (void *)place);
	if (!error && config->push_process_labels)
		error = config_each(config->push_labels, check_process_label,
				    (void *)place);
	if (!error && *config->push_token && *config->push_token != '/')
		error = refuse(place,
			       "push_token is '%s': it is to be the path of a file, which begins with '/'",
			       config->push_token);
	return error;
}

static int check(const struct config *config, const struct place *place)
{
	char host[CONFIG_TEXT];
	uint16_t port;
	int error;

	if (strcmp(config->listen, "none") &&
	    !config_split_address(config->listen, host, &port))
		return refuse(place,
			      "listen is '%s': allowed are ADDRESS:PORT, such as 127.0.0.1:4771 or [::1]:4771, and none",
			      config->listen);
	if (*config->store != '/' || *config->socket != '/' ||
	    *config->collector != '/')
		return refuse(place,
			      "store, socket and collector are to be paths that begin with '/'");
	if (config->keep_ten_minutes < config->keep_minutes)
		return refuse(place,
			      "keep_ten_minutes is less than keep_minutes: windows of ten minutes are what becomes of windows of a minute");
	error = check_push(config, place);
	if (!error)
		error = check_event("events", config->events, place);
	if (!error)
		error = check_event("stacks", config->stacks, place);
	if (!error)
		error = check_turn("values", config->values, place);
	if (!error)
		error = check_turn("ranges", config->ranges, place);
	if (!error && !strcmp(config->events, "none") &&
	    !strcmp(config->stacks, "none"))
		return refuse(place,
			      "events and stacks are none: nothing would be collected");
	return error;
}

int config_read(struct config *config, FILE *in, const char *name,
		char *message, size_t size)
{
	struct place place = { name, 0, message, size };
	char *line = NULL;
	size_t room = 0;
	int error = 0;

	while (!error && getline(&line, &room, in) > 0) {
		place.line++;
		error = take_line(config, line, &place);
	}
	free(line);
	place.line = 0;
	return error ? error : check(config, &place);
}

int config_load(struct config *config, const char *path, char *message,
		size_t size)
{
	FILE *in = fopen(path ? path : CONFIG_FILE, "re");
	int error;

	config_default(config);
	if (!in && !path && errno == ENOENT)
		return 0;
	if (!path)
		path = CONFIG_FILE;
	if (!in) {
		error = -errno;
		snprintf(message, size, "%s: cannot be read: %s", path,
			 strerror(-error));
		return error;
	}
	error = config_read(config, in, path, message, size);
	fclose(in);
	return error;
}
