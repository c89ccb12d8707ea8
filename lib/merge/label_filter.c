// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string.h>

#include "label_filter.h"

#define DIGITS	"0123456789abcdef"

bool label_filter_is_set(const struct label_filter *filter)
{
	return *filter->program || filter->by_uid || filter->only_seen ||
	       *filter->cgroup || *filter->unit || *filter->container;
}

static bool ends_with(const char *word, size_t length, const char *end)
{
	size_t size = strlen(end);

	return length > size && !memcmp(word + length - size, end, size);
}

static bool is_unit(const char *word, size_t length)
{
	return ends_with(word, length, ".service") ||
	       ends_with(word, length, ".scope");
}

size_t label_unit(const char *cgroup, const char **unit)
{
	size_t found = 0, length;

	for (; *cgroup; cgroup += length) {
		cgroup += strspn(cgroup, "/");
		length = strcspn(cgroup, "/");
		if (!is_unit(cgroup, length))
			continue;
		*unit = cgroup;
		found = length;
	}
	return found;
}

const char *label_container(const char *cgroup)
{
	const char *found = NULL;
	size_t length;

	for (; *cgroup; cgroup += length) {
		cgroup += strcspn(cgroup, DIGITS);
		length = strspn(cgroup, DIGITS);
		if (length == LABEL_CONTAINER)
			found = cgroup;
	}
	return found;
}

/* Returns true if a part of the path between slashes is @name. */
static bool has_part(const char *path, const char *name)
{
	size_t size = strlen(name), length;

	for (; *path; path += length) {
		path += strspn(path, "/");
		length = strcspn(path, "/");
		if (length == size && !memcmp(path, name, size))
			return true;
	}
	return false;
}

static bool is_below(const char *path, const char *cgroup)
{
	size_t length = strlen(cgroup);

	while (length && cgroup[length - 1] == '/')
		length--;
	return !strncmp(path, cgroup, length) &&
	       (!path[length] || path[length] == '/') && *path;
}

/* Any container of the path counts, since containers may be in others. */
static bool is_in_container(const char *path, const char *id)
{
	size_t length;

	for (; *path; path += length) {
		path += strcspn(path, DIGITS);
		length = strspn(path, DIGITS);
		if (length == LABEL_CONTAINER && !strncmp(path, id, strlen(id)))
			return true;
	}
	return false;
}

bool label_is_wanted(const struct label_filter *filter, const char *program,
		     const struct label *label)
{
	if (*filter->program && strcmp(filter->program, program))
		return false;
	if (filter->only_seen && !label->seen)
		return false;
	if (filter->by_uid && (label->uid != filter->uid ||
			       label->uid == LABEL_NO_UID))
		return false;
	if (*filter->cgroup && !is_below(label->cgroup, filter->cgroup))
		return false;
	if (*filter->unit && !has_part(label->cgroup, filter->unit))
		return false;
	return !*filter->container ||
	       is_in_container(label->cgroup, filter->container);
}
