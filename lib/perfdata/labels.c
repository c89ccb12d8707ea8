// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <search.h>
#include <stdlib.h>

#include "base/row_origin.h"
#include "base/tree.h"
#include "labels.h"

enum { VERSION = 1 };

/* A label in the file. */
struct written {
	uint32_t pid, uid;
	uint32_t seen;
	uint32_t cgroup;		/* number of the path */
};

static int compare(const void *a, const void *b)
{
	const struct label *x = a, *y = b;

	return compare_u64(x->pid, y->pid);
}

struct label *labels_find(const struct label_table *labels, uint32_t pid)
{
	const struct label key = { .pid = pid };
	struct label **found = tfind(&key, &labels->tree, compare);

	return found ? *found : NULL;
}

/* Returns the path without its beginning, if it is too long. */
static const char *end_of(const char *path)
{
	size_t length = strlen(path);

	return length < LABEL_PATH ? path : path + length - LABEL_PATH + 1;
}

int labels_set(struct label_table *labels, const struct label *label)
{
	struct numbered *cgroup;
	struct label *own;
	bool is_new;

	if (labels->count >= LABEL_TABLE_MAX &&
	    !labels_find(labels, label->pid))
		return 0;
	cgroup = numbers_text(&labels->cgroups, end_of(label->cgroup), &is_new);
	if (!cgroup)
		return -ENOMEM;
	own = tree_get(&labels->tree, label, sizeof(*label), compare, &is_new);
	if (!own)
		return -ENOMEM;
	labels->count += is_new;
	*own = *label;
	own->cgroup = cgroup->text;
	own->path = cgroup->number;
	return 0;
}

int labels_doubt(struct label_table *labels)
{
	size_t count = 0, i;
	struct label **all = tree_list(labels->tree, &count);

	for (i = 0; all && i < count; i++)
		all[i]->seen = false;
	free(all);
	return all || !labels->count ? 0 : -ENOMEM;
}

void labels_free(struct label_table *labels)
{
	tdestroy(labels->tree, free);
	numbers_free(&labels->cgroups);
	*labels = (struct label_table){ .count = 0 };
}

/* --- the section ---------------------------------------------------------- */

static void put_u32(FILE *out, uint32_t value)
{
	fwrite(&value, sizeof(value), 1, out);
}

static void put_paths(const struct numbers *paths, FILE *out)
{
	size_t i;

	put_u32(out, paths->count);
	for (i = 0; i < paths->count; i++)
		fwrite(paths->list[i]->text, 1,
		       strlen(paths->list[i]->text) + 1, out);
}

size_t labels_put(const struct label_table *labels, FILE *out)
{
	size_t count = 0, used = 0, i;
	struct label **all = tree_list(labels->tree, &count);

	put_u32(out, VERSION);
	put_paths(&labels->cgroups, out);
	for (i = 0; all && i < count; i++) {
		const struct written written = {
			all[i]->pid, all[i]->uid, all[i]->seen, all[i]->path,
		};

		if (!all[i]->used)
			continue;
		fwrite(&written, sizeof(written), 1, out);
		used++;
	}
	free(all);
	return used;
}

static int parse_label(struct label_table *labels, const struct numbers *paths,
		       struct byte_reader *body)
{
	struct written written;
	struct label label;

	if (!reader_copy(body, &written, sizeof(written)) ||
	    written.cgroup >= paths->count)
		return -EBADMSG;
	label = (struct label){
		.pid = written.pid, .uid = written.uid, .seen = written.seen,
		.cgroup = paths->list[written.cgroup]->text,
	};
	return labels_set(labels, &label);
}

/* Paths in the file have numbers in the order of their first coming. */
static int parse_paths(struct numbers *paths, struct byte_reader *body)
{
	uint32_t count;
	bool is_new;

	if (!reader_u32(body, &count))
		return -EBADMSG;
	while (count--) {
		const char *path = reader_string(body);

		if (!path)
			return -EBADMSG;
		if (!numbers_text(paths, path, &is_new))
			return -ENOMEM;
		reader_skip(body, strlen(path) + 1);
	}
	return 0;
}

int labels_parse(struct label_table *labels, struct byte_reader body)
{
	struct numbers paths = { .count = 0 };
	uint32_t version;
	int error;

	if (!reader_u32(&body, &version) || version != VERSION)
		return -EBADMSG;
	error = parse_paths(&paths, &body);
	while (!error && reader_left(&body))
		error = parse_label(labels, &paths, &body);
	numbers_free(&paths);
	return error;
}
