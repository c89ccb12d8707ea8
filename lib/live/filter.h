/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Filters: which functions are profiled, as perf's address filters say it. */
#ifndef HWPROF_FILTER_H
#define HWPROF_FILTER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	FILTER_RANGES_MAX = 8,
	FILTER_WORDS_MAX = 4096,	/* the kernel takes a page */
};

/*
 * Writes @text in the kernel's words. @text has parts with commas between them:
 * FUNCTION@FILE, or OFFSET/SIZE@FILE with numbers of bytes in the file. FILE is
 * a path, or a program that PATH finds. A function may have several ranges: its
 * name with a suffix (.cold, .part.0) is its, too. Returns 0, or a negative
 * errno with a sentence in @message.
 */
int filter_resolve(const char *text, char *words, size_t size, char *message,
		   size_t message_size);

/* Where a function is. */
struct filter_function {
	char path[PATH_MAX];		/* of the file */
	uint64_t offset;		/* in the file */
	/* Its address, if the program is not moved when it is loaded; else 0 */
	uint64_t address;
};

/*
 * Finds @function in @file, which are as in a filter. Returns 0, or a negative
 * errno with a sentence in @message.
 */
int filter_find_function(struct filter_function *result, const char *function,
			 const char *file, char *message, size_t message_size);

#endif /* HWPROF_FILTER_H */
