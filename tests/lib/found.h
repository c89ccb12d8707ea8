/* SPDX-License-Identifier: GPL-2.0-only */
/* What a test looks for in loops. NULL: it is not there. */
#ifndef HWPROF_TEST_FOUND_H
#define HWPROF_TEST_FOUND_H

#include "hwprof.h"

/* The loop at @head. */
const struct hwprof_loop *found_loop(const struct hwprof_profile *loops,
				     uint64_t head);
/* The first warning with these @words. */
const char *found_warning(const struct hwprof_profile *loops,
			  const char *words);

#endif /* HWPROF_TEST_FOUND_H */
