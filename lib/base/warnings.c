// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "warnings.h"

int warnings_add(struct warnings *warnings, const char *format, ...)
{
	char **all = reallocarray(warnings->sentences, warnings->count + 1,
				  sizeof(*all));
	va_list args;
	int got;

	if (!all)
		return -ENOMEM;
	warnings->sentences = all;
	va_start(args, format);
	got = vasprintf(&all[warnings->count], format, args);
	va_end(args);
	if (got < 0)
		return -ENOMEM;
	warnings->count++;
	return 0;
}

int warnings_add_all(struct warnings *warnings, const struct warnings *from)
{
	int error = 0;
	size_t i;

	for (i = 0; i < from->count; i++)
		error |= warnings_add(warnings, "%s", from->sentences[i]);
	return error;
}

int warnings_name(struct warnings *warnings, size_t first, const char *name)
{
	for (; first < warnings->count; first++) {
		char *named;

		if (asprintf(&named, "%s: %s", name,
			     warnings->sentences[first]) < 0)
			return -ENOMEM;
		free(warnings->sentences[first]);
		warnings->sentences[first] = named;
	}
	return 0;
}

const char *warnings_get(const struct warnings *warnings, size_t index)
{
	return index < warnings->count ? warnings->sentences[index] : NULL;
}

void warnings_cut(struct warnings *warnings, size_t count)
{
	while (warnings->count > count)
		free(warnings->sentences[--warnings->count]);
}

void warnings_free(struct warnings *warnings)
{
	warnings_cut(warnings, 0);
	free(warnings->sentences);
}
