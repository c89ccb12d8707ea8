// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finds the calling contexts that ran a path, for events with both paths and
 * cct. Rows of paths have the ids of contexts whose rows are in the same
 * session.
 */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "contexts.h"
#include "paths.h"
#include "base/tree.h"
#include "profile/inner.h"

/* --- rows, summed --------------------------------------------------------- */

static int compare_runs(const void *a, const void *b)
{
	const struct path_run *x = a, *y = b;
	int order = compare_u64((uintptr_t)x->path, (uintptr_t)y->path);

	return order ? order : compare_u64(x->id, y->id);
}

int path_contexts_note(struct hwprof_paths *paths, struct collected_path *path,
		       const struct hwprof_row_path *row)
{
	struct path_run key = { .path = path }, *run;
	bool is_new;

	/* A live session has rows of one kind, and keeps them. */
	if (!(row->flags & HWPROF_PATH_IN_CONTEXT) ||
	    !paths->profile.facts.several)
		return 0;
	memcpy(&key.id, &row->jumps[row->spelled], sizeof(key.id));
	run = tree_get(&paths->runs, &key, sizeof(key), compare_runs, &is_new);
	if (!run)
		return -ENOMEM;
	run->count += row->count;
	run->cycles += row->cycles;
	if (is_new) {
		run->next = path->runs;
		path->runs = run;
	}
	return 0;
}

/* Call sites are merged, because paths only tell chains of procedures. */
int path_contexts_take(struct hwprof_profile *profile,
		       const struct hwprof_sample *sample)
{
	struct hwprof_paths *paths = (struct hwprof_paths *)profile;

	if (!sample->rows || sample->row->type != HWPROF_ROW_CONTEXT)
		return 0;
	return inner_take(&paths->contexts, &contexts_kind, profile,
			  profile->flags | HWPROF_MERGE_SITES, sample);
}

/* --- rows in their places ------------------------------------------------- */

int path_contexts_begin(struct hwprof_paths *paths)
{
	return paths->contexts ?
	       inner_place(paths->contexts, &paths->profile) : 0;
}

static int append(struct path_entry *entry, const struct path_ran *ran)
{
	size_t count = entry->ran_count;

	if (!(count & (count - 1))) {
		struct path_ran *all = reallocarray(entry->ran,
						    count ? 2 * count : 1,
						    sizeof(*all));

		if (!all)
			return -ENOMEM;
		entry->ran = all;
	}
	entry->ran[entry->ran_count++] = *ran;
	return 0;
}

/* A context that was evicted, or whose row was lost, has no node. */
int path_contexts_add(struct hwprof_paths *paths, struct path_entry *entry,
		      const struct collected_path *path)
{
	const struct path_run *run;

	for (run = path->runs; run && paths->contexts; run = run->next) {
		const struct path_ran ran = {
			.node = contexts_node(paths->contexts,
					      path->origin.session, run->id),
			.count = run->count, .cycles = run->cycles,
		};

		if (ran.node != SIZE_MAX && append(entry, &ran))
			return -ENOMEM;
	}
	return 0;
}

void path_contexts_end(struct hwprof_paths *paths)
{
	tdestroy(paths->runs, free);
	paths->runs = NULL;
	if (paths->contexts)
		inner_forget(paths->contexts);
}

/* --- of all files --------------------------------------------------------- */

static int compare_nodes(const void *a, const void *b)
{
	const struct path_ran *x = a, *y = b;

	return compare_u64(x->node, y->node);
}

static int compare_counts(const void *a, const void *b)
{
	const struct path_ran *x = a, *y = b;
	int order = compare_u64(y->count, x->count);

	return order ? order : compare_nodes(a, b);
}

/* Merges the entries of each node, and sorts: most frequent first. */
static void merge(struct path_entry *entry)
{
	struct path_ran *all = entry->ran;
	size_t count = 0, i;

	if (!entry->ran_count)
		return;
	qsort(all, entry->ran_count, sizeof(*all), compare_nodes);
	for (i = 1; i < entry->ran_count; i++) {
		if (all[i].node == all[count].node) {
			all[count].count += all[i].count;
			all[count].cycles += all[i].cycles;
		} else {
			all[++count] = all[i];
		}
	}
	entry->ran_count = count + 1;
	qsort(all, entry->ran_count, sizeof(*all), compare_counts);
}

int path_contexts_finish(struct hwprof_paths *paths)
{
	size_t i;

	if (!paths->contexts)
		return 0;
	for (i = 0; i < paths->count; i++)
		merge(paths->entries[i]);
	return contexts_kind.finish(paths->contexts);
}

void path_contexts_free(struct hwprof_paths *paths)
{
	path_contexts_end(paths);
	inner_free(paths->contexts);
}

size_t hwprof_paths_contexts(const struct hwprof_profile *profile, size_t index)
{
	const struct hwprof_paths *paths = (const void *)profile;

	return paths->entries[index]->ran_count;
}

void hwprof_paths_context(const struct hwprof_profile *profile, size_t index,
			  size_t number, struct hwprof_path_context *context)
{
	const struct hwprof_paths *paths = (const void *)profile;
	const struct hwprof_contexts *contexts = (const void *)paths->contexts;
	const struct path_ran *ran = &paths->entries[index]->ran[number];

	*context = (struct hwprof_path_context){
		.context = &contexts->tree.nodes[ran->node].context,
		.count = ran->count, .cycles = ran->cycles,
	};
}
