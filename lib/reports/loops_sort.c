// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "loops.h"

typedef int (*compare_fn)(const struct hwprof_loop *a,
			  const struct hwprof_loop *b);

/* Compares numbers: the largest first. */
static int larger(double a, double b)
{
	return (a < b) - (a > b);
}

static int by_share(const struct hwprof_loop *a, const struct hwprof_loop *b)
{
	return larger(a->share, b->share);
}

static int by_entries(const struct hwprof_loop *a, const struct hwprof_loop *b)
{
	return larger(a->entries_seen, b->entries_seen);
}

static int by_iterations(const struct hwprof_loop *a,
			 const struct hwprof_loop *b)
{
	return larger(a->entries_seen + a->back_edges_seen,
		      b->entries_seen + b->back_edges_seen);
}

/* Compares trip counts. Unknown ones come last. */
static int by_trip(const struct hwprof_loop *a, const struct hwprof_loop *b)
{
	return larger(isnan(a->trip) ? -1 : a->trip,
		      isnan(b->trip) ? -1 : b->trip);
}

static int by_head(const struct hwprof_loop *a, const struct hwprof_loop *b)
{
	return (a->head > b->head) - (a->head < b->head);
}

static int compare_names(const char *a, const char *b)
{
	if (!a || !b)
		return !a - !b;
	return strcmp(a, b);
}

static int by_function(const struct hwprof_loop *a, const struct hwprof_loop *b)
{
	return compare_names(a->function, b->function);
}

static int by_object(const struct hwprof_loop *a, const struct hwprof_loop *b)
{
	return compare_names(a->object, b->object);
}

static const struct {
	const char *name;
	compare_fn compare;
} keys[] = {
	{ "share", by_share },
	{ "entries", by_entries },
	{ "iterations", by_iterations },
	{ "trip", by_trip },
	{ "head", by_head },
	{ "function", by_function },
	{ "object", by_object },
};

enum {
	KEY_COUNT = sizeof(keys) / sizeof(keys[0]),
	KEYS_MAX = 16,		/* keys of one sort */
};

static compare_fn find_key(const char *name, size_t length)
{
	size_t i;

	for (i = 0; i < KEY_COUNT; i++)
		if (strlen(keys[i].name) == length &&
		    !strncmp(keys[i].name, name, length))
			return keys[i].compare;
	return NULL;
}

static int compare_entries(const void *a, const void *b, void *context)
{
	const struct loop_entry *x = *(struct loop_entry *const *)a;
	const struct loop_entry *y = *(struct loop_entry *const *)b;
	const compare_fn *compare = context;
	int order;

	for (; *compare; compare++) {
		order = (*compare)(&x->loop, &y->loop);
		if (order)
			return order;
	}
	/* Entries are sorted by place, which makes the order total. */
	return x < y ? -1 : x > y;
}

int hwprof_loops_sort(struct hwprof_profile *profile, const char *text)
{
	struct hwprof_loops *loops = (struct hwprof_loops *)profile;
	compare_fn wanted[KEYS_MAX + 1] = { NULL };
	size_t count = 0;

	for (;;) {
		size_t length = strcspn(text, ",");

		if (count == KEYS_MAX)
			return snprintf(profile->message,
					sizeof(profile->message),
					"more than %d sort keys", KEYS_MAX),
			       -EINVAL;
		wanted[count] = find_key(text, length);
		if (!wanted[count++]) {
			snprintf(profile->message, sizeof(profile->message),
				 "unknown sort key '%.*s'; keys are: %s",
				 length < 64 ? (int)length : 64, text,
				 HWPROF_LOOPS_SORT_KEYS);
			return -EINVAL;
		}
		if (!text[length])
			break;
		text += length + 1;
	}
	qsort_r(loops->order, loops->count, sizeof(*loops->order),
		compare_entries, wanted);
	return 0;
}
