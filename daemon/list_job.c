// SPDX-License-Identifier: GPL-2.0-only
/* Lists that need the rows of parts: labels, and builds of some labels. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "jobs.h"
#include "listing.h"
#include "merge/merge.h"

/* --- labels --------------------------------------------------------------- */

static void put_text(struct json *json, const char *name, const char *text,
		     size_t length)
{
	char copy[LABEL_PATH];

	if (!length || length >= sizeof(copy)) {
		json_null(json, name);
		return;
	}
	memcpy(copy, text, length);
	copy[length] = 0;
	json_string(json, name, copy);
}

static void put_process(struct json *json, const struct merge_process *process)
{
	const char *container = label_container(process->cgroup), *unit = "";
	size_t length = label_unit(process->cgroup, &unit);

	json_open(json, NULL, '{');
	json_string(json, "program", process->program);
	if (process->uid == LABEL_NO_UID)
		json_null(json, "uid");
	else
		json_unsigned(json, "uid", process->uid);
	put_text(json, "cgroup", process->cgroup, strlen(process->cgroup));
	put_text(json, "unit", unit, length);
	put_text(json, "container", container, container ? LABEL_CONTAINER : 0);
	listing_put_units(json, process->units);
	json_close(json, '}');
}

static bool has_units(const struct merge_process *process)
{
	int kind;

	for (kind = 0; kind < HWPROF_KINDS; kind++)
		if (process->units[kind])
			return true;
	return false;
}

static void put_labels(struct json *json, const struct merge *merge)
{
	struct merge_process process;
	size_t i;

	json_open(json, "labels", '[');
	for (i = 0; merge_process(merge, i, &process); i++)
		if (has_units(&process))
			put_process(json, &process);
	json_close(json, ']');
}

/* --- builds --------------------------------------------------------------- */

/* Returns true if an earlier part is of the same build. */
static bool is_listed(const struct merge *merge, size_t index)
{
	const struct merge_part *part = merge_part(merge, index), *other;
	size_t i;

	for (i = 0; i < index; i++) {
		other = merge_part(merge, i);
		if (!strcmp(other->build_id, part->build_id) &&
		    !strcmp(other->object, part->object))
			return true;
	}
	return false;
}

static void put_build(struct json *json, const struct merge *merge,
		      size_t index, const struct query *query)
{
	const struct merge_part *part = merge_part(merge, index), *other;
	uint64_t units[HWPROF_KINDS] = { 0 };
	size_t i;

	for (i = index; (other = merge_part(merge, i)); i++)
		if (!strcmp(other->build_id, part->build_id) &&
		    !strcmp(other->object, part->object))
			units[other->kind] += other->units;
	json_open(json, NULL, '{');
	if (*part->build_id)
		json_string(json, "build_id", part->build_id);
	else
		json_null(json, "build_id");
	json_string(json, "object", part->object);
	json_signed(json, "from", query->from);
	json_signed(json, "to", query->to);
	listing_put_units(json, units);
	json_close(json, '}');
}

static void put_builds(struct json *json, const struct merge *merge,
		       const struct query *query)
{
	size_t i;

	json_open(json, "builds", '[');
	for (i = 0; merge_part(merge, i); i++)
		if (!is_listed(merge, i))
			put_build(json, merge, i, query);
	json_close(json, ']');
}

/* --- the answer ----------------------------------------------------------- */

static enum answer write_list(const struct merge *merge,
			      const struct query *query, int out)
{
	struct json json = { .out = fdopen(out, "w") };

	if (!json.out)
		return ANSWER_FAILED;
	json_open(&json, NULL, '{');
	json_signed(&json, "now", query->now);
	if (query->what == QUERY_LABELS)
		put_labels(&json, merge);
	else
		put_builds(&json, merge, query);
	json_close(&json, '}');
	return fflush(json.out) || ferror(json.out) ? ANSWER_FAILED : ANSWER_OK;
}

enum answer job_list(const void *context, int out)
{
	const struct job *job = context;
	char message[JOB_MESSAGE] = "";
	enum answer answer;
	struct merge *merge;
	int error = job_merged(&merge, job, false, message);

	answer = error ? worker_fail(out, ANSWER_FAILED, "%s", *message ?
				     message : strerror(-error)) :
		 write_list(merge, &job->query, out);
	merge_free(merge);
	return answer;
}
