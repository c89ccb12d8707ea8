/* SPDX-License-Identifier: GPL-2.0-only */
/* The data that a page has in it, made from profiles. */
#ifndef HWPROF_HTML_DATA_H
#define HWPROF_HTML_DATA_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "hwprof.h"

/**
 * struct html_options - What is in the data of a page
 * @limit: things in a list; 0: a default for each kind.
 * @limit_name: what sets the limit, for a sentence on the page.
 * @min_share: least share of a context.
 * @no_source: leave out the text of lines of source.
 * @diff: the page compares two profiles of each kind.
 * @replayed: the profiles were made from stacks of perf.
 */
struct html_options {
	uint64_t limit;
	const char *limit_name;
	double min_share;
	bool no_source, diff, replayed;
};

/*
 * Writes the element of a page that has one kind's data: of @profile, or of its
 * difference to @after if that is not NULL. Returns 0 or a negative errno.
 */
int html_data_put(const struct html_options *html,
		  struct hwprof_profile *profile, struct hwprof_profile *after,
		  FILE *out);

/*
 * Writes the element that says what the page is about. @names: of the
 * recordings, @count of them. @kinds: bits 1 << enum hwprof_kind of those that
 * have an element. Returns 0 or -ENOMEM.
 */
int html_about_put(const struct html_options *html, const char *const *names,
		   size_t count, unsigned int kinds, FILE *out);

#endif /* HWPROF_HTML_DATA_H */
