// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>

#include "inner.h"

static struct hwprof_profile *inner_new(const struct profile_kind *kind,
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

int inner_take(struct hwprof_profile **inner, const struct profile_kind *kind,
	       const struct hwprof_profile *outer, unsigned int flags,
	       const struct hwprof_sample *sample)
{
	if (!*inner)
		*inner = inner_new(kind, outer, flags);
	if (!*inner)
		return -ENOMEM;
	(*inner)->file = outer->file;
	(*inner)->facts.stretches = outer->facts.stretches;
	return kind->take(*inner, sample);
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
	/* These are the outer one's. */
	inner->facts.processes = NULL;
	inner->facts.stretches = NULL;
	profile_reset(inner);
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
