/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a reader of numbers has to know besides: a sentence each. */
#ifndef HWPROF_WARNINGS_H
#define HWPROF_WARNINGS_H

#include <stddef.h>

struct warnings {
	char **sentences;
	size_t count;
};

/* -ENOMEM. */
int warnings_add(struct warnings *warnings, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Those from @first on are of @name, which is put before them. -ENOMEM. */
int warnings_name(struct warnings *warnings, size_t first, const char *name);
/* Forgets those from @count on. */
void warnings_cut(struct warnings *warnings, size_t count);
/* NULL behind the last one. */
const char *warnings_get(const struct warnings *warnings, size_t index);
void warnings_free(struct warnings *warnings);

#endif /* HWPROF_WARNINGS_H */
