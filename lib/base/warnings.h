/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sentences about what a reader of the counts should know. */
#ifndef HWPROF_WARNINGS_H
#define HWPROF_WARNINGS_H

#include <stddef.h>

struct warnings {
	char **sentences;
	size_t count;
};

/* Returns 0 or -ENOMEM. */
int warnings_add(struct warnings *warnings, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Adds copies of all of @from. Returns 0 or -ENOMEM. */
int warnings_add_all(struct warnings *warnings, const struct warnings *from);
/* Puts @name before the warnings from @first on. Returns 0 or -ENOMEM. */
int warnings_name(struct warnings *warnings, size_t first, const char *name);
/* Removes the warnings from @count on. */
void warnings_cut(struct warnings *warnings, size_t count);
/* Returns a warning; NULL after the last one. */
const char *warnings_get(const struct warnings *warnings, size_t index);
void warnings_free(struct warnings *warnings);

#endif /* HWPROF_WARNINGS_H */
