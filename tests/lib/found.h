/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds things in profiles. Functions return NULL if there is none. */
#ifndef HWPROF_TEST_FOUND_H
#define HWPROF_TEST_FOUND_H

#include "hwprof.h"

#include <stdbool.h>

/* Returns the loop at @head. */
const struct hwprof_loop *found_loop(const struct hwprof_profile *loops,
				     uint64_t head);
/* Returns the first warning that contains @words. */
const char *found_warning(const struct hwprof_profile *profile,
			  const char *words);
/* Returns true if a warning contains @words. */
bool warns(const struct hwprof_profile *profile, const char *words);

#endif /* HWPROF_TEST_FOUND_H */
