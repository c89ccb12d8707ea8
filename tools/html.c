// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "html.h"
#include "html_data.h"
#include "html_page.h"

static struct html_options options_of(const struct report *report)
{
	return (struct html_options){
		.limit = report->limit, .limit_name = "--limit",
		.min_share = report->min_share < 0 ? 0 : report->min_share,
		.no_source = report->no_source, .diff = report->diff,
		.replayed = report->replay,
	};
}

/*
 * Adds the data of one kind, and its bit to *@had. Returns the exit status.
 */
static int add_kind(const struct report *report, enum hwprof_kind kind,
		    unsigned int *had, bool found, FILE *out)
{
	const struct html_options options = options_of(report);
	const struct report_kind *about = report_kind_of(kind);
	struct hwprof_profile *profile = NULL, *after = NULL;
	size_t count = report->diff ? 1 : report->file_count;
	bool nothing = false;
	int status = report_read(report, about, 0, count, &profile,
				 found ? &nothing : NULL);

	if (!status && !nothing && report->diff)
		status = report_read(report, about, 1, 1, &after,
				     found ? &nothing : NULL);
	if (!status && !nothing && report->sort &&
	    hwprof_loops_sort(profile, report->sort))
		status = usage_error("%s", hwprof_profile_error(profile));
	if (!status && !nothing && html_data_put(&options, profile, after, out))
		status = failed("out of memory");
	if (!status && !nothing)
		*had |= 1U << kind;
	hwprof_profile_free(after);
	hwprof_profile_free(profile);
	return status;
}

static char *title_of(const struct report *report)
{
	char *title;

	if (asprintf(&title, "hwprof: %s%s%s", report->files[0],
		     report->file_count == 1 ? "" : report->diff ? " → " : ", ",
		     report->file_count == 1 ? "" : report->files[1]) < 0)
		return NULL;
	return title;
}

static int write_page(const struct report *report, const struct html_page *page,
		      const char *data)
{
	bool standard = !strcmp(report->html, "-");
	char *title = title_of(report);
	int status = STATUS_OK;
	FILE *out;

	if (!title)
		return failed("out of memory");
	out = standard ? stdout : fopen(report->html, "we");
	if (!out)
		status = failed("%s: %s", report->html, strerror(errno));
	else
		html_page_put(page, clean(title), data, out);
	if (out)
		status = output_close(out);
	free(title);
	return status;
}

/* Makes the data of all kinds, and writes the page. */
static int fill_page(const struct report *report, const struct html_page *page,
		     unsigned int kinds, bool found)
{
	const struct html_options options = options_of(report);
	unsigned int had = 0;
	int kind, status = STATUS_OK;
	char *data = NULL;
	size_t size;
	FILE *out = open_memstream(&data, &size);

	if (!out)
		return failed("out of memory");
	for (kind = 0; !status && kind < HWPROF_KINDS; kind++)
		if (kinds >> kind & 1)
			status = add_kind(report, kind, &had, found, out);
	if (!status && !had)
		status = failed("%s: no stacks that can be replayed: record with 'perf record -b' or -g",
				report->files[0]);
	if (!status && html_about_put(&options, report->files,
				      report->file_count, had, out))
		status = failed("out of memory");
	if (fclose(out) && !status)
		status = failed("out of memory");
	if (!status)
		status = write_page(report, page, data);
	free(data);
	return status;
}

int report_html(const struct report *report, unsigned int kinds, bool found)
{
	char message[HTML_MESSAGE];
	struct html_page *page;
	int status;

	if (html_page_new(&page, message))
		status = failed("%s", message);
	else
		status = fill_page(report, page, kinds, found);
	html_page_free(page);
	return status;
}
