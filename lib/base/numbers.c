// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "numbers.h"
#include "tree.h"
#include "array.h"

static int compare(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;

	if (x->text)
		return strcmp(x->text, y->text);
	return memcmp(x->words, y->words, sizeof(x->words));
}

static struct numbered *get(struct numbers *numbers,
			    const struct numbered *like, bool *is_new)
{
	struct numbered **list = array_grow(numbers->list, &numbers->room,
					    numbers->count + 1, sizeof(*list));
	struct numbered *entry;

	*is_new = false;
	if (!list)
		return NULL;
	numbers->list = list;
	entry = tree_get(&numbers->tree, like, sizeof(*like), compare, is_new);
	if (!entry)
		*is_new = false;
	if (!*is_new)
		return entry;
	entry->number = numbers->count;
	numbers->list[numbers->count++] = entry;
	return entry;
}

struct numbered *numbers_text(struct numbers *numbers, const char *text,
			      bool *is_new)
{
	/* An empty text is not copied: it must not be the caller's. */
	const struct numbered like = {
		.text = text && *text ? (char *)text : "",
	};
	struct numbered *entry = get(numbers, &like, is_new);

	if (!entry || !*is_new || !*like.text)
		return entry;
	entry->text = strdup(like.text);
	if (entry->text)
		return entry;
	entry->text = "";
	return NULL;
}

struct numbered *numbers_words(struct numbers *numbers,
			       const uint64_t words[NUMBERED_WORDS],
			       bool *is_new)
{
	struct numbered like = { .text = NULL };

	memcpy(like.words, words, sizeof(like.words));
	return get(numbers, &like, is_new);
}

int numbers_add_texts(struct numbers *numbers, const struct numbers *from)
{
	bool is_new;
	size_t i;

	for (i = 0; i < from->count; i++)
		if (!numbers_text(numbers, from->list[i]->text, &is_new))
			return -ENOMEM;
	return 0;
}

uint64_t number_of_text(struct numbers *numbers, const char *text,
			bool *failed)
{
	bool is_new;
	struct numbered *entry = numbers_text(numbers, text, &is_new);

	*failed |= !entry;
	return entry ? entry->number : 0;
}

uint64_t number_of_words(struct numbers *numbers,
			 const uint64_t words[NUMBERED_WORDS], bool *failed)
{
	bool is_new;
	struct numbered *entry = numbers_words(numbers, words, &is_new);

	*failed |= !entry;
	return entry ? entry->number + 1 : 0;
}

static void free_entry(void *node)
{
	struct numbered *entry = node;

	if (entry->text && *entry->text)
		free(entry->text);
	free(entry);
}

void numbers_free(struct numbers *numbers)
{
	tdestroy(numbers->tree, free_entry);
	free(numbers->list);
	*numbers = (struct numbers){ .tree = NULL };
}
