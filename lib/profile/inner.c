// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>

#include "inner.h"

struct hwprof_profile *inner_new(const struct profile_kind *kind,
				 const struct hwprof_profile *outer,
				 unsigned int flags)
{
	struct hwprof_profile *inner = calloc(1, kind->size);

	if (!inner)
		return NULL;
	inner->kind = kind;
	inner->flags = flags;
	inner->objects = outer->objects;
	return inner;
}

int inner_take(struct hwprof_profile *inner,
	       const struct hwprof_profile *outer,
	       const struct hwprof_sample *sample)
{
	inner->file = outer->file;
	return inner->kind->take(inner, sample);
}

int inner_place(struct hwprof_profile *inner,
		const struct hwprof_profile *outer)
{
	inner->file = outer->file;
	inner->file_count = outer->file_count;
	inner->facts.processes = outer->facts.processes;
	return profile_place(inner);
}

void inner_forget(struct hwprof_profile *inner)
{
	profile_free_rows(inner);
	metrics_free(&inner->facts.metrics);
	inner->facts = (struct recording_facts){ .rows = 0 };
}

void inner_free(struct hwprof_profile *inner)
{
	if (!inner)
		return;
	inner_forget(inner);
	inner->kind->destroy(inner);
	warnings_free(&inner->warnings);
	free(inner);
}
