// SPDX-License-Identifier: LGPL-2.1-or-later
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "tree.h"

struct list {
	void **items;		/* NULL: only count */
	size_t count;
};

void *tree_get(void **root, const void *key, size_t size, tree_compare compare,
	       bool *is_new)
{
	void **found = tfind(key, root, compare), *copy;

	*is_new = !found;
	if (found)
		return *found;
	copy = malloc(size);
	if (!copy)
		return NULL;
	memcpy(copy, key, size);
	if (!tsearch(copy, root, compare)) {
		free(copy);
		return NULL;
	}
	return copy;
}

static void list_item(const void *node, VISIT visit, void *context)
{
	struct list *list = context;

	if (visit != postorder && visit != leaf)
		return;
	if (list->items)
		list->items[list->count] = *(void *const *)node;
	list->count++;
}

void *tree_list(const void *root, size_t *count)
{
	struct list list = { .count = 0 };

	twalk_r(root, list_item, &list);
	list.items = calloc(list.count + 1, sizeof(*list.items));
	if (!list.items)
		return NULL;
	list.count = 0;
	twalk_r(root, list_item, &list);
	*count = list.count;
	return list.items;
}
