/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages for browsers: the one at /, which shows windows of time, and those of
 * profiles, which a worker makes as 'hwprof report --html' does.
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

/* Answers a question of a profile's page, for which @job has the page. */
enum answer job_page(const void *job, int out);

#endif /* HWPROFD_PAGE_H */
