/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reports as one page of HTML, which needs no network. html_data.c makes the
 * data of each kind of profile, html_page.c the page, and html_text.c packs
 * JSON.
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

#endif /* HWPROF_HTML_H */
