/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Texts that may be missing, and the names of files in paths. */
#ifndef HWPROF_TEXT_H
#define HWPROF_TEXT_H

#include <string.h>

/* Returns the text, or "" for NULL. */
static inline const char *text_or_empty(const char *text)
{
	return text ? text : "";
}

/* Compares as strcmp() does; NULL is "". */
static inline int text_compare(const char *a, const char *b)
{
	return strcmp(text_or_empty(a), text_or_empty(b));
}

/* Returns the part of @path behind its last slash. */
static inline const char *path_file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

#endif /* HWPROF_TEXT_H */
