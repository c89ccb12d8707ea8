// SPDX-License-Identifier: GPL-2.0-only
/* Hot ranges of a time, and how many events each of its windows has in them. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "jobs.h"
#include "reports/ranges.h"
#include "wholes.h"

struct range_map {
	const struct job *job;
	const struct hwprof_profile *profile;	/* of all windows */
	uint64_t *own;		/* of one window: events by range */
	struct json json;
	char message[WORKER_MESSAGE];
};

/* --- which range ---------------------------------------------------------- */

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* A build has one name here, whichever path a window knows it by. */
static bool is_same_object(const char *object, const char *build_id,
			   const char *other, const char *other_id)
{
	return build_id && other_id ? !strcmp(build_id, other_id) :
				      is_same(object, other);
}

static bool is_inside(const struct hwprof_range *inner,
		      const struct hwprof_range *outer)
{
	return inner->low >= outer->low && inner->high <= outer->high &&
	       inner->code.low >= outer->code.low &&
	       inner->code.high <= outer->code.high &&
	       inner->pid == outer->pid &&
	       is_same_object(inner->object, inner->build_id, outer->object,
			      outer->build_id) &&
	       is_same_object(inner->code.object, inner->code.build_id,
			      outer->code.object, outer->code.build_id);
}

/* Returns the smallest hot range around @range: the last one, or the root. */
static size_t index_of(const struct range_map *map,
		       const struct hwprof_range *range)
{
	size_t i = hwprof_ranges_count(map->profile) - 1;

	while (i && !is_inside(range, hwprof_ranges_get(map->profile, i)))
		i--;
	return i;
}

/* --- columns -------------------------------------------------------------- */

static void add_range(void *context, const struct hwprof_range *range)
{
	struct range_map *map = context;
	size_t i = index_of(map, range);

	/* The root has all that is in no hot range, whatever that is in. */
	map->own[i] += range->own;
	map->own[0] -= range->own;
}

static void put_column(struct range_map *map, const struct part *part,
		       const struct hwprof_profile *profile)
{
	size_t count = hwprof_ranges_count(map->profile), i;
	uint64_t events = hwprof_ranges_get(profile, 0)->least;
	struct json *json = &map->json;

	memset(map->own, 0, count * sizeof(*map->own));
	map->own[0] = events;
	ranges_each(profile, add_range, map);
	json_open(json, NULL, '{');
	json_signed(json, "from", part->from);
	json_signed(json, "to", part->to);
	json_unsigned(json, "events", events);
	json_open(json, "own", '[');
	for (i = 0; i < count; i++)
		json_unsigned(json, NULL, map->own[i]);
	json_close(json, ']');
	json_close(json, '}');
}

/* A window without a recording that can be read is left out. */
static enum answer put_window(struct range_map *map, const struct part *parts,
			      size_t count)
{
	const struct hwprof_options options = {
		.flags = HWPROF_SAME_PROCESSES | HWPROF_TRUSTED_FILES,
		.debuginfo = map->job->symbols,
	};
	struct wholes wholes;
	enum answer answer = wholes_read(&wholes, parts, count,
					 HWPROF_KIND_RANGES, &options,
					 map->message);

	if (answer == ANSWER_OK)
		put_column(map, parts, wholes.profile);
	wholes_free(&wholes);
	return answer == ANSWER_NOTHING ? ANSWER_OK : answer;
}

/* Parts of one window come one behind the other. */
static enum answer put_windows(struct range_map *map)
{
	const struct parts *parts = &map->job->parts;
	enum answer answer = ANSWER_OK;
	size_t from, to;

	json_open(&map->json, "columns", '[');
	for (from = 0; from < parts->count && answer == ANSWER_OK; from = to) {
		const struct part *part = &parts->all[from];

		for (to = from + 1; to < parts->count &&
		     parts->all[to].from == part->from &&
		     parts->all[to].to == part->to;)
			to++;
		answer = put_window(map, part, to - from);
	}
	json_close(&map->json, ']');
	return answer;
}

/* --- the answer ----------------------------------------------------------- */

static enum answer put_map(struct range_map *map)
{
	enum answer answer;

	json_open(&map->json, NULL, '{');
	json_signed(&map->json, "now", map->job->query.now);
	answer = put_windows(map);
	if (answer != ANSWER_OK)
		return answer;
	/* Its writer does not know that it is a member. */
	fputs(",\n\"report\": ", map->json.out);
	if (hwprof_profile_json(map->profile, NULL, map->json.out))
		return ANSWER_FAILED;
	json_close(&map->json, '}');
	return fflush(map->json.out) || ferror(map->json.out) ? ANSWER_FAILED :
								ANSWER_OK;
}

static enum answer write_map(struct range_map *map, int out)
{
	size_t count = hwprof_ranges_count(map->profile);
	enum answer answer = ANSWER_FAILED;

	map->json.out = fdopen(out, "w");
	map->own = calloc(count, sizeof(*map->own));
	if (map->json.out && map->own)
		answer = put_map(map);
	free(map->own);
	return answer;
}

enum answer job_ranges(const void *context, int out)
{
	const struct job *job = context;
	const struct hwprof_options options = {
		.flags = HWPROF_SAME_PROCESSES | HWPROF_TRUSTED_FILES,
		.debuginfo = job->symbols,
	};
	struct range_map map = { .job = job };
	struct wholes wholes;
	enum answer answer = wholes_read(&wholes, job->parts.all,
					 job->parts.count, HWPROF_KIND_RANGES,
					 &options, map.message);

	map.profile = wholes.profile;
	if (answer == ANSWER_OK)
		answer = write_map(&map, out);
	wholes_free(&wholes);
	if (answer == ANSWER_OK)
		return ANSWER_OK;
	return worker_fail(out, answer, "%s", *map.message ? map.message :
			   "the ranges cannot be written");
}
