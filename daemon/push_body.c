// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "export/export.h"
#include "merge/label_filter.h"
#include "push_body.h"

/* It is not in the profile: see write_pyroscope(). */
#define BOUNDARY	"hwprof-7d1c5b0f3a9e42681b60c4d5"

enum { LABELS_MAX = 64 };

struct labels {
	struct sample_label all[LABELS_MAX];
	size_t count;
	char *own[LABELS_MAX];		/* copies, which are freed */
	size_t own_count;
};

/* A profile, and the labels of the processes in it. */
struct pushed {
	const struct hwprof_profile *profile;
	const struct label_table *processes;
};

const char *push_name(enum push_to to)
{
	static const char *const names[PUSH_TARGETS] = {
		"pyroscope", "parca", "otlp",
	};

	return names[to];
}

const char *push_content_type(enum push_to to)
{
	static const char *const types[PUSH_TARGETS] = {
		[PUSH_PYROSCOPE] = "multipart/form-data; boundary=" BOUNDARY,
		[PUSH_PARCA] = "application/json",
		[PUSH_OTLP] = "application/x-protobuf",
	};

	return types[to];
}

/* --- labels --------------------------------------------------------------- */

/* A receiver refuses a name that comes twice: the first one holds. */
static void add_label(struct labels *labels, const char *key, const char *text)
{
	size_t i;

	for (i = 0; i < labels->count; i++)
		if (!strcmp(labels->all[i].key, key))
			return;
	if (labels->count < LABELS_MAX)
		labels->all[labels->count++] = (struct sample_label){
			.key = key, .text = text,
		};
}

/* Adds "NAME=VALUE", as config_load() has checked it. */
static int add_own(void *context, const char *part)
{
	struct labels *labels = context;
	char *copy;

	if (labels->own_count == LABELS_MAX)
		return 0;
	copy = strdup(part);
	if (!copy)
		return -ENOMEM;
	labels->own[labels->own_count++] = copy;
	copy[strcspn(copy, "=")] = 0;
	add_label(labels, copy, copy + strlen(copy) + 1);
	return 0;
}

static void free_labels(struct labels *labels)
{
	size_t i;

	for (i = 0; i < labels->own_count; i++)
		free(labels->own[i]);
}

/* --- labels of processes -------------------------------------------------- */

/* Texts of one process's labels. */
struct process_texts {
	const struct label_table *processes;
	char program[LABEL_NAME], uid[16];
	char cgroup[LABEL_PATH], unit[LABEL_PATH];
	char container[LABEL_CONTAINER + 1];
};

/* Receivers refuse what is not UTF-8, and names may be any bytes. */
static const char *plain_text(char *text, size_t size, const char *from,
			      size_t length)
{
	size_t i;

	if (length >= size)
		length = size - 1;
	for (i = 0; i < length; i++)
		text[i] = from[i] >= ' ' && from[i] < 127 ? from[i] : '?';
	text[length] = 0;
	return text;
}

#define PLAIN_TEXT(text, from, length) \
	plain_text(text, sizeof(text), from, length)

/* Leaves a label out that is unknown. */
static size_t add_process_label(struct sample_label *labels, size_t count,
				const char *key, const char *text)
{
	if (!*text)
		return count;
	labels[count] = (struct sample_label){ .key = key, .text = text };
	return count + 1;
}

static size_t label_process(void *context, uint32_t pid, const char *comm,
			    struct sample_label labels[SAMPLES_PROCESS_LABELS])
{
	struct process_texts *texts = context;
	const struct label *label = labels_find(texts->processes, pid);
	const char *cgroup = label ? label->cgroup : "", *unit = "";
	const char *container = label_container(cgroup);
	size_t unit_length = label_unit(cgroup, &unit), count;

	PLAIN_TEXT(texts->program, comm ? comm : "", comm ? strlen(comm) : 0);
	PLAIN_TEXT(texts->cgroup, cgroup, strlen(cgroup));
	PLAIN_TEXT(texts->unit, unit, unit_length);
	PLAIN_TEXT(texts->container, container ? container : "",
		   container ? LABEL_CONTAINER : 0);
	*texts->uid = 0;
	if (label && label->uid != LABEL_NO_UID)
		snprintf(texts->uid, sizeof(texts->uid), "%u", label->uid);
	count = add_process_label(labels, 0, "program", texts->program);
	count = add_process_label(labels, count, "uid", texts->uid);
	count = add_process_label(labels, count, "cgroup", texts->cgroup);
	count = add_process_label(labels, count, "unit", texts->unit);
	return add_process_label(labels, count, "container", texts->container);
}

/* --- formats -------------------------------------------------------------- */

static int write_export(const struct push_body *body,
			const struct pushed *pushed, const char *format,
			const struct labels *labels, FILE *out,
			char message[PUSH_MESSAGE])
{
	struct process_texts texts = { .processes = pushed->processes };
	const struct sample_labeller labeller = { label_process, &texts };
	const struct export_origin origin = {
		.begin_ns = body->begin_ns, .length_ns = body->length_ns,
		.labels = labels->all, .label_count = labels->count,
		.labeller = body->process_labels ? &labeller : NULL,
	};
	struct hwprof_export *export;
	int error = hwprof_export_open(&export, pushed->profile, format,
				       NULL);

	if (!error) {
		export->origin = &origin;
		error = hwprof_export_write(export, 0, out);
	}
	if (error)
		snprintf(message, PUSH_MESSAGE, "%s",
			 hwprof_export_error(export));
	hwprof_export_close(export);
	return error;
}

/* Makes pprof's profile, which the caller frees. */
static int make_pprof(const struct push_body *body,
		      const struct pushed *pushed, char **bytes, size_t *size,
		      char message[PUSH_MESSAGE])
{
	static const struct labels none;
	FILE *out = open_memstream(bytes, size);
	int error;

	if (!out)
		return -ENOMEM;
	error = write_export(body, pushed, "pprof", &none, out, message);
	if (fclose(out) && !error)
		error = -ENOMEM;
	return error;
}

static void put_type(struct json *json, const char *type)
{
	json_open(json, type, '{');
	json_string(json, "units", "samples");
	json_string(json, "display-name", type);
	json_string(json, "aggregation", "sum");
	json_bool(json, "cumulative", false);
	json_bool(json, "sampled", false);
	json_close(json, '}');
}

/* Values that are not named here are left out by Pyroscope. */
static void put_types(const struct hwprof_profile *profile, FILE *out)
{
	struct json json = { .out = out, .line = true };
	struct samples_types types;
	size_t i;

	samples_types(profile, &types);
	json_open(&json, NULL, '{');
	for (i = 0; i < types.count; i++)
		put_type(&json, types.all[i].type);
	json_close(&json, '}');
}

static void put_part(FILE *out, const char *name, const char *file,
		     const char *type)
{
	fprintf(out, "--" BOUNDARY "\r\nContent-Disposition: form-data; name=\"%s\"; filename=\"%s\"\r\nContent-Type: %s\r\n\r\n",
		name, file, type);
}

static int write_pyroscope(const struct push_body *body,
			   const struct pushed *pushed, FILE *out,
			   char message[PUSH_MESSAGE])
{
	char *bytes = NULL;
	size_t size = 0;
	int error = make_pprof(body, pushed, &bytes, &size, message);

	if (!error && memmem(bytes, size, BOUNDARY, strlen(BOUNDARY)))
		error = -EINVAL;
	if (!error) {
		put_part(out, "profile", "profile.pprof",
			 "application/octet-stream");
		fwrite(bytes, 1, size, out);
		fputs("\r\n", out);
		put_part(out, "sample_type_config", "sample_type_config.json",
			 "application/json");
		put_types(pushed->profile, out);
		fputs("\r\n--" BOUNDARY "--\r\n", out);
	}
	free(bytes);
	return error;
}

/* Returns text that the caller frees; NULL without memory. */
static char *base64_of(const char *from, size_t size)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *bytes = (const uint8_t *)from;
	char *text = malloc((size + 2) / 3 * 4 + 1), *at = text;
	size_t i;

	for (i = 0; text && i < size; i += 3) {
		size_t left = size - i;
		uint32_t word = bytes[i] << 16 |
				(left > 1 ? bytes[i + 1] << 8 : 0) |
				(left > 2 ? bytes[i + 2] : 0);

		*at++ = digits[word >> 18];
		*at++ = digits[word >> 12 & 63];
		*at++ = left > 1 ? digits[word >> 6 & 63] : '=';
		*at++ = left > 2 ? digits[word & 63] : '=';
	}
	if (text)
		*at = 0;
	return text;
}

static void put_labels(struct json *json, const struct labels *labels)
{
	size_t i;

	json_open(json, "labels", '{');
	json_open(json, "labels", '[');
	for (i = 0; i < labels->count; i++) {
		json_open(json, NULL, '{');
		json_string(json, "name", labels->all[i].key);
		json_string(json, "value", labels->all[i].text);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_close(json, '}');
}

static void put_series(const struct labels *labels, const char *profile,
		       FILE *out)
{
	struct json json = { .out = out, .line = true };

	json_open(&json, NULL, '{');
	json_open(&json, "series", '[');
	json_open(&json, NULL, '{');
	put_labels(&json, labels);
	json_open(&json, "samples", '[');
	json_open(&json, NULL, '{');
	json_string(&json, "rawProfile", profile);
	json_close(&json, '}');
	json_close(&json, ']');
	json_close(&json, '}');
	json_close(&json, ']');
	json_bool(&json, "normalized", false);
	json_close(&json, '}');
}

static int write_parca(const struct push_body *body,
		       const struct pushed *pushed,
		       const struct labels *labels, FILE *out,
		       char message[PUSH_MESSAGE])
{
	char *bytes = NULL, *text = NULL;
	size_t size = 0;
	int error = make_pprof(body, pushed, &bytes, &size, message);

	if (!error) {
		text = base64_of(bytes, size);
		error = text ? 0 : -ENOMEM;
	}
	if (!error)
		put_series(labels, text, out);
	free(text);
	free(bytes);
	return error;
}

static int write_body(const struct push_body *body,
		      const struct pushed *pushed, struct labels *labels,
		      FILE *out, char message[PUSH_MESSAGE])
{
	enum hwprof_kind number = hwprof_profile_kind(pushed->profile);
	const char *kind = hwprof_kind_name(number);
	char name[64];

	switch (body->to) {
	case PUSH_PYROSCOPE:
		/* Its labels are in the URL. */
		return write_pyroscope(body, pushed, out, message);
	case PUSH_PARCA:
		snprintf(name, sizeof(name), "hwprof_%s", kind);
		add_label(labels, "__name__", name);
		add_label(labels, "instance", body->host);
		return write_parca(body, pushed, labels, out, message);
	default:
		add_label(labels, "service.name", "hwprof");
		add_label(labels, "host.name", body->host);
		add_label(labels, "hwprof.kind", kind);
		return write_export(body, pushed, "otlp", labels, out,
				    message);
	}
}

int push_body_write(const struct push_body *body,
		    const struct hwprof_profile *profile,
		    const struct label_table *processes, FILE *out,
		    char message[PUSH_MESSAGE])
{
	const struct pushed pushed = { profile, processes };
	struct labels labels = { .count = 0 };
	int error;

	snprintf(message, PUSH_MESSAGE, "out of memory");
	error = config_each(body->labels, add_own, &labels);
	if (!error)
		error = write_body(body, &pushed, &labels, out, message);
	if (!error && fflush(out)) {
		error = -errno;
		snprintf(message, PUSH_MESSAGE, "cannot write: %s",
			 strerror(errno));
	}
	free_labels(&labels);
	return error;
}
