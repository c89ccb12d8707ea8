/* SPDX-License-Identifier: GPL-2.0-only */
/* A page of HTML with scripts, a policy that names them, and data. */
#ifndef HWPROF_HTML_PAGE_H
#define HWPROF_HTML_PAGE_H

#include <stdio.h>

enum { HTML_MESSAGE = 512 };

struct html_page;

/*
 * Reads the libraries that the page has in it. Returns 0 or -1; @message then
 * says what is wrong, and what to install. Free the page, also on failure, with
 * html_page_free().
 */
int html_page_new(struct html_page **page, char message[HTML_MESSAGE]);
void html_page_free(struct html_page *page);

/*
 * Returns the page's policy, as in a header Content-Security-Policy. The caller
 * frees it. NULL: out of memory.
 */
char *html_page_policy(const struct html_page *page);

/* Writes the page with the elements of @data in it. */
void html_page_put(const struct html_page *page, const char *title,
		   const char *data, FILE *out);

/*
 * Writes " 'sha256-...'", which names the script or style sheet @text in a
 * policy.
 */
void html_policy_source(const char *text, FILE *out);

/* The page's own script and style sheet, made from tools/html/ at build. */
extern const char html_script[], html_style[];

#endif /* HWPROF_HTML_PAGE_H */
