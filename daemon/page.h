/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages for browsers: the one at /, which shows windows of time, and those of
 * profiles, whose data a worker makes as 'hwprof report --html' does.
 */
#ifndef HWPROFD_PAGE_H
#define HWPROFD_PAGE_H

#include "jobs.h"
#include "tools/html_page.h"

/**
 * struct page_front - The page at /
 * @text: its HTML.
 * @policy: the header Content-Security-Policy.
 */
struct page_front {
	char *text, *policy;
};

/* Returns 0 or -ENOMEM. Free it, also then, with page_front_free(). */
int page_front_new(struct page_front *front);
void page_front_free(struct page_front *front);

/*
 * Returns the header Content-Security-Policy of a profile's page, which the
 * caller frees. NULL: out of memory.
 */
char *page_policy(const struct html_page *page);

/*
 * Answers a question of a profile's page with the elements of its data. The
 * page around them is made by page_around(), outside of the worker.
 */
enum answer job_page(const void *job, int out);

enum { PAGE_NAME = 160 };

/* Writes "2026-11-26 20:51:00 to 20:52:00 UTC, build 77b4". */
void page_name(char name[PAGE_NAME], int64_t from, int64_t to,
	       const char *build_id);

/*
 * Returns true if @data is elements of data and nothing else: whoever has taken
 * a worker over could write markup there that leads elsewhere.
 */
bool page_data_is_clean(const char *data);

/*
 * Makes the page around the worker's @data, a descriptor. Returns that of the
 * page; -EBADMSG if the data is not clean; -EFBIG if it is too long for a page;
 * or another negative errno.
 */
int page_around(const struct html_page *page, const struct query *query,
		int data);

#endif /* HWPROFD_PAGE_H */
