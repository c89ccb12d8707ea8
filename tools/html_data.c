// SPDX-License-Identifier: GPL-2.0-only
/* The data of a page: what `report --json` writes, and code and source. */
#include <errno.h>
#include <stdlib.h>

#include "base/json.h"
#include "export/flow_graph.h"
#include "export/listing.h"
#include "html_data.h"
#include "html_text.h"
#include "profile/json_common.h"
#include "profile/profile.h"

enum {
	LISTED_PATHS = 500,	/* with disassembly */
	LISTED_GRAPHS = 100,
	LIMIT = 20000,		/* of things in a list, without a limit */
	LIMIT_PATHS = 3000,
	LIMIT_CHANGES = 5000,
};

static size_t limit_of(const struct html_options *html,
		       enum hwprof_kind kind)
{
	if (html->limit)
		return html->limit;
	if (html->diff)
		return LIMIT_CHANGES;
	return kind == HWPROF_KIND_PATHS ? LIMIT_PATHS : LIMIT;
}

/* --- one profile --------------------------------------------------------- */

/* Writes the code of what the page draws. Returns 0 or -ENOMEM. */
static int put_code(const struct html_options *html,
		    const struct hwprof_profile *profile, struct json *json)
{
	enum hwprof_kind kind = hwprof_profile_kind(profile);
	struct listing *listing = listing_new();
	int error = listing ? 0 : -ENOMEM;

	if (!error && kind == HWPROF_KIND_PATHS)
		error = listing_add_paths(listing, profile, LISTED_PATHS);
	if (!error && kind == HWPROF_KIND_EDGES)
		error = flow_graphs_put(json, profile, LISTED_GRAPHS, listing);
	if (!error)
		error = listing_put(listing, json, !html->no_source);
	listing_free(listing);
	return error;
}

/*
 * Writes the profile as the next member of @json, whose writer does not know
 * that. Returns 0 or a negative errno.
 */
static int put_report(const struct html_options *html,
		      const struct hwprof_profile *profile, struct json *json)
{
	const struct hwprof_json_options options = {
		.limit = limit_of(html, hwprof_profile_kind(profile)),
		.min_share = html->min_share,
	};

	fputs(",\n\"report\": ", json->out);
	return hwprof_profile_json(profile, &options, json->out);
}

static int put_profile(const struct html_options *html,
		       struct hwprof_profile *profile, struct json *json)
{
	int error = put_code(html, profile, json);

	json_unsigned(json, "count",
		      profile_kind_of(hwprof_profile_kind(profile))
			      ->count(profile));
	json_string(json, "event", hwprof_profile_event(profile));
	return error ? error : put_report(html, profile, json);
}

/* --- a difference -------------------------------------------------------- */

static bool is_exact(const struct hwprof_profile *profile, size_t index)
{
	return index == HWPROF_NOTHING ||
	       hwprof_contexts_get(profile, index)->basis == HWPROF_BASIS_EXACT;
}

/* Writes what changed at each node of the second tree. */
static void put_nodes(struct json *json, const struct hwprof_diff *diff,
		      const struct hwprof_profile *before,
		      const struct hwprof_profile *after)
{
	size_t i;

	json_open(json, "nodes", '[');
	for (i = 0; i < hwprof_diff_count(diff); i++) {
		const struct hwprof_change *change = hwprof_diff_get(diff, i);

		if (change->after == HWPROF_NOTHING)
			continue;
		json_open(json, NULL, '{');
		json_unsigned(json, "after", change->after);
		json_number(json, "share_change", change->share);
		json_number(json, "share_change_low", change->share_low);
		json_number(json, "share_change_high", change->share_high);
		json_bool(json, "exact", is_exact(before, change->before) &&
					 is_exact(after, change->after));
		json_close(json, '}');
	}
	json_close(json, ']');
}

static int put_diff(const struct html_options *html,
		    const struct hwprof_profile *before,
		    const struct hwprof_profile *after, struct json *json)
{
	bool tree = hwprof_profile_kind(after) == HWPROF_KIND_CCT;
	struct hwprof_diff *diff;
	int error = hwprof_profile_diff(&diff, before, after);

	if (error)
		return error;
	json_unsigned(json, "count", hwprof_diff_count(diff));
	json_warnings(json, "warnings_before", before);
	json_warnings(json, "warnings_after", after);
	if (tree)
		put_nodes(json, diff, before, after);
	fputs(",\n\"diff\": ", json->out);
	error = hwprof_diff_json(diff, limit_of(html, HWPROF_KINDS),
				 json->out);
	if (!error && tree)
		error = put_report(html, after, json);
	hwprof_diff_free(diff);
	return error;
}

/* --- all kinds ----------------------------------------------------------- */

/* Writes the data of one kind as JSON. Returns 0 or a negative errno. */
static int put_kind(const struct html_options *html,
		    struct hwprof_profile *profile,
		    struct hwprof_profile *after, FILE *out)
{
	enum hwprof_kind kind = hwprof_profile_kind(profile);
	struct json json = { .out = out };
	int error;

	json_open(&json, NULL, '{');
	json_string(&json, "kind", hwprof_kind_name(kind));
	json_string(&json, "units", hwprof_kind_units(kind));
	error = after ? put_diff(html, profile, after, &json) :
			put_profile(html, profile, &json);
	json_close(&json, '}');
	return error;
}

/*
 * Writes the element that has JSON, packed: names in it can be no markup then.
 * Returns 0 or -ENOMEM.
 */
static int put_element(const char *id, const char *json, size_t size, FILE *out)
{
	int error;

	fprintf(out, "<script type=\"application/octet-stream\" id=\"data-%s\">",
		id);
	error = put_packed(json, size, out);
	fputs("</script>\n", out);
	return error;
}

int html_data_put(const struct html_options *html,
		  struct hwprof_profile *profile, struct hwprof_profile *after,
		  FILE *out)
{
	char *text = NULL;
	size_t size;
	FILE *json = open_memstream(&text, &size);
	int error;

	if (!json)
		return -ENOMEM;
	error = put_kind(html, profile, after, json);
	if (fclose(json))
		error = -ENOMEM;
	if (!error)
		error = put_element(hwprof_kind_name(
				    hwprof_profile_kind(profile)), text, size,
				    out);
	free(text);
	return error;
}

int html_about_put(const struct html_options *html, const char *const *names,
		   size_t count, unsigned int kinds, FILE *out)
{
	struct json json = { .line = true };
	char *text = NULL;
	size_t size, i;
	int kind, error;

	json.out = open_memstream(&text, &size);
	if (!json.out)
		return -ENOMEM;
	json_open(&json, NULL, '{');
	json_string(&json, "version", HWPROF_VERSION);
	json_bool(&json, "diff", html->diff);
	json_bool(&json, "replayed", html->replayed);
	json_string(&json, "limit", html->limit_name);
	json_open(&json, "files", '[');
	for (i = 0; i < count; i++)
		json_string(&json, NULL, names[i]);
	json_close(&json, ']');
	json_open(&json, "kinds", '[');
	for (kind = 0; kind < HWPROF_KINDS; kind++)
		if (kinds >> kind & 1)
			json_string(&json, NULL, hwprof_kind_name(kind));
	json_close(&json, ']');
	json_close(&json, '}');
	error = fclose(json.out) ? -ENOMEM :
				   put_element("about", text, size, out);
	free(text);
	return error;
}
