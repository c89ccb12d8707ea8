/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A profile inside another one, of other rows of the same events. It borrows
 * the objects and, while a file is read, the file and its processes.
 */
#ifndef HWPROF_INNER_H
#define HWPROF_INNER_H

#include "profile.h"

/*
 * Adds a sample of the file that @outer reads to *@inner, for which it makes a
 * profile of @kind if that is NULL. Returns as kind->take.
 */
int inner_take(struct hwprof_profile **inner, const struct profile_kind *kind,
	       const struct hwprof_profile *outer, unsigned int flags,
	       const struct hwprof_sample *sample);
/*
 * inner_place() places the rows of a file when @outer places its own, and
 * returns as kind->place. inner_forget() then frees them.
 */
int inner_place(struct hwprof_profile *inner,
		const struct hwprof_profile *outer);
void inner_forget(struct hwprof_profile *inner);
/* Frees the profile; NULL is allowed. */
void inner_free(struct hwprof_profile *inner);

#endif /* HWPROF_INNER_H */
