/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reports as one page of HTML, which needs no network. html.c makes the data of
 * each kind of profile, html_page.c the page, and html_text.c packs JSON.
 */
#ifndef HWPROF_HTML_H
#define HWPROF_HTML_H

#include "report.h"

/*
 * Writes the page of the report's files to report->html. @kinds: bits 1 << enum
 * hwprof_kind. With @found, kinds that the files cannot have are left out, as
 * long as there is one that they have. Returns the exit status.
 */
int report_html(const struct report *report, unsigned int kinds, bool found);

struct html_page;

/*
 * Reads the libraries that the page has in it. Returns the exit status, after a
 * message that says what to install. Free the page, also on failure, with
 * html_page_free(). All of these are in html_page.c.
 */
int html_page_new(struct html_page **page);
void html_page_free(struct html_page *page);
/*
 * Writes the page with the elements of @data in it to @path; "-" is standard
 * output. Returns the exit status.
 */
int html_page_write(const struct html_page *page, const char *path,
		    const char *title, const char *data);

/* The page's own script and style sheet, made from tools/html/ at build. */
extern const char html_script[], html_style[];

#endif /* HWPROF_HTML_H */
