// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/tree.h"
#include "listing.h"

enum { BEGIN_MOST = 3 };		/* times that a list is begun */

struct build {
	char build_id[sizeof(((struct part_head *)NULL)->build_id)];
	char object[PART_OBJECT];
	int64_t first, last;
	uint64_t units[HWPROF_KINDS];
};

struct window_list {
	struct timeline *timeline;
	struct query query;
	struct json json;
	char *text;
	size_t size;			/* of the text */
	struct store_place place;	/* where it goes on */
	uint64_t changes;		/* when it began */
	unsigned int begun;		/* how often */
	void *builds;			/* a tree */
	struct window window;		/* that is being written */
	uint64_t bytes, parts;
	uint64_t units[HWPROF_KINDS];
	struct part_totals account;
	bool open, has_account;
};

static int compare_builds(const void *a, const void *b)
{
	const struct build *x = a, *y = b;
	int order = strcmp(x->build_id, y->build_id);

	return order ? order : strcmp(x->object, y->object);
}

static int add_build(void *context, const struct window *window,
		     const struct part_head *head)
{
	struct window_list *listing = context;
	struct build key = { .first = window->begin, .last = window->end };
	struct build *build;
	bool is_new;

	if (head->kind >= HWPROF_KINDS || part_kind_is_whole(head->kind) ||
	    !part_is_wanted(head, listing->query.kind,
			    listing->query.build_id))
		return 0;
	strcpy(key.build_id, head->build_id);
	strcpy(key.object, head->object);
	build = tree_get(&listing->builds, &key, sizeof(key), compare_builds,
			 &is_new);
	if (!build)
		return -ENOMEM;
	if (window->begin < build->first)
		build->first = window->begin;
	if (window->end > build->last)
		build->last = window->end;
	build->units[head->kind] += head->units;
	return 0;
}

void listing_put_units(struct json *json, const uint64_t units[HWPROF_KINDS])
{
	int kind;

	json_open(json, "units", '{');
	for (kind = 0; kind < HWPROF_KINDS; kind++)
		if (units[kind])
			json_unsigned(json, hwprof_kind_name(kind),
				      units[kind]);
	json_close(json, '}');
}

static void put_build(struct json *json, const struct build *build)
{
	json_open(json, NULL, '{');
	if (*build->build_id)
		json_string(json, "build_id", build->build_id);
	else
		json_null(json, "build_id");
	json_string(json, "object", build->object);
	json_signed(json, "from", build->first);
	json_signed(json, "to", build->last);
	listing_put_units(json, build->units);
	json_close(json, '}');
}

static void put_builds(struct window_list *listing)
{
	size_t count = 0, i;
	void **all = tree_list(listing->builds, &count);

	json_open(&listing->json, "builds", '[');
	for (i = 0; all && i < count; i++)
		put_build(&listing->json, all[i]);
	json_close(&listing->json, ']');
	free(all);
}

static void put_account(struct json *json, const struct part_totals *totals)
{
	json_open(json, "account", '{');
	json_unsigned(json, "produced", totals->produced);
	json_unsigned(json, "delivered", totals->delivered);
	json_unsigned(json, "lost", totals->lost);
	json_unsigned(json, "evicted", totals->evicted);
	json_unsigned(json, "pending", totals->pending);
	json_unsigned(json, "lost_records", totals->lost_records);
	json_unsigned(json, "cost_ns", totals->cost_ns);
	json_unsigned(json, "task_ns", totals->task_ns);
	json_close(json, '}');
}

static void put_window(struct window_list *listing)
{
	static const char *const levels[STORE_LEVELS] = {
		"memory", "minute", "ten minutes", "hour",
	};
	struct json *json = &listing->json;

	if (!listing->open)
		return;
	json_open(json, NULL, '{');
	json_signed(json, "from", listing->window.begin);
	json_signed(json, "to", listing->window.end);
	json_signed(json, "wall", listing->window.wall);
	json_string(json, "level", levels[listing->window.level &
					  (STORE_LEVELS - 1)]);
	json_unsigned(json, "parts", listing->parts);
	json_unsigned(json, "bytes", listing->bytes);
	listing_put_units(json, listing->units);
	if (listing->has_account)
		put_account(json, &listing->account);
	else
		json_null(json, "account");
	json_close(json, '}');
	listing->bytes = listing->parts = 0;
	listing->has_account = false;
	listing->account = (struct part_totals){ 0 };
	memset(listing->units, 0, sizeof(listing->units));
}

/* Heads of one window come one behind the other. */
static int add_window(void *context, const struct window *window,
		      const struct part_head *head)
{
	struct window_list *listing = context;
	const struct window *last = &listing->window;

	if (window->id != last->id || window->begin != last->begin ||
	    window->level != last->level)
		put_window(listing);
	listing->window = *window;
	listing->open = true;
	if (head->kind == PART_ACCOUNT) {
		part_totals_add(&listing->account, &head->totals);
		listing->has_account = true;
	} else if (label_filter_is_set(&listing->query.filter) ||
		   !part_is_wanted(head, listing->query.kind,
				   listing->query.build_id)) {
		return 0;		/* heads do not tell labels */
	} else if (head->kind < HWPROF_KINDS) {
		listing->units[head->kind] += head->units;
	}
	listing->parts++;
	listing->bytes += head->size;
	return 0;
}

static bool lists_builds(const struct window_list *listing)
{
	return listing->query.what == QUERY_BUILDS;
}

/* Forgets what was listed so far. */
static void clear(struct window_list *listing)
{
	if (listing->json.out)
		fclose(listing->json.out);
	free(listing->text);
	tdestroy(listing->builds, free);
	*listing = (struct window_list){
		.timeline = listing->timeline, .query = listing->query,
		.begun = listing->begun,
	};
}

static int begin(struct window_list *listing)
{
	clear(listing);
	listing->begun++;
	listing->place = STORE_BEGIN;
	listing->changes = timeline_changes(listing->timeline);
	listing->json.out = open_memstream(&listing->text, &listing->size);
	if (!listing->json.out)
		return -ENOMEM;
	json_open(&listing->json, NULL, '{');
	json_signed(&listing->json, "now", timeline_now(listing->timeline));
	if (!lists_builds(listing))
		json_open(&listing->json, "windows", '[');
	return 1;
}

static int finish(struct window_list *listing)
{
	int error;

	if (lists_builds(listing)) {
		put_builds(listing);
	} else {
		put_window(listing);
		json_close(&listing->json, ']');
	}
	json_close(&listing->json, '}');
	error = fclose(listing->json.out) ? -ENOMEM : 0;
	listing->json.out = NULL;
	return error;
}

int window_list_step(struct window_list *listing)
{
	int more;

	/* Windows that were merged meanwhile could be missing or come twice. */
	if (!listing->begun || (listing->begun < BEGIN_MOST &&
				listing->changes !=
				timeline_changes(listing->timeline)))
		return begin(listing);
	more = timeline_heads(listing->timeline, &listing->place,
			      listing->query.from, listing->query.to,
			      lists_builds(listing) ? add_build : add_window,
			      listing);
	return more ? more : finish(listing);
}

const char *window_list_text(const struct window_list *listing)
{
	return listing->text;
}

struct window_list *window_list_new(struct timeline *timeline,
			    const struct query *query)
{
	struct window_list *listing = calloc(1, sizeof(*listing));

	if (!listing)
		return NULL;
	listing->timeline = timeline;
	listing->query = *query;
	return listing;
}

void window_list_free(struct window_list *listing)
{
	if (!listing)
		return;
	clear(listing);
	free(listing);
}

char *listing_now(const struct config *config, int64_t now, const char *trouble)
{
	struct json json = { .out = NULL };
	char *text = NULL;
	size_t size;

	json.out = open_memstream(&text, &size);
	if (!json.out)
		return NULL;
	json_open(&json, NULL, '{');
	json_signed(&json, "now", now);
	json_string(&json, "version", HWPROF_VERSION);
	json_bool(&json, "ready", !trouble);
	if (trouble)
		json_string(&json, "trouble", trouble);
	else
		json_null(&json, "trouble");
	json_unsigned(&json, "window", config->window);
	json_unsigned(&json, "budget_permille", config->budget_permille);
	json_unsigned(&json, "keep_minutes", config->keep_minutes);
	json_unsigned(&json, "keep_ten_minutes", config->keep_ten_minutes);
	json_close(&json, '}');
	if (!fclose(json.out))
		return text;
	free(text);
	return NULL;
}
