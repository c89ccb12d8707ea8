/* SPDX-License-Identifier: GPL-2.0-only */
/* Work for workers (worker.h): merging recordings, and answering questions. */
#ifndef HWPROFD_JOBS_H
#define HWPROFD_JOBS_H

#include "parts.h"
#include "push_body.h"
#include "query.h"
#include "worker.h"
#include "tools/html_page.h"

enum { JOB_MESSAGE = 512 };

/**
 * struct job - What a worker works on
 * @parts: parts of windows.
 * @before: those of the time that @parts are compared with, for job_page().
 * @recording: true if the descriptor that is kept for the worker is a recording
 *	to merge, instead of @parts.
 * @drop_whole: leaves out parts that are whole recordings, for job_merge().
 * @query: for job_answer() and job_page().
 * @symbols: folder with files by build id; NULL: none.
 * @push: for job_answer(), which then writes the body of a request instead of a
 *	response; NULL otherwise.
 * @page: what is around the data of job_page(), which does not need it.
 */
struct job {
	struct parts parts, before;
	bool recording;
	bool drop_whole;
	struct query query;
	const char *symbols;
	const struct push_body *push;
	struct html_page *page;
};

/* Merges, and writes a stream of parts: see parts_read(). */
enum answer job_merge(const void *job, int out);

/*
 * Merges @parts as far as @query chooses it by labels. Returns a descriptor of
 * the recording that they make, at its beginning; -ENODATA if it has no rows;
 * or another negative errno, with a sentence in @message unless that stays
 * empty.
 */
int job_recording(const struct parts *parts, const struct query *query,
		  char message[JOB_MESSAGE]);

/* Answers a question of profiles: writes the body of the response. */
enum answer job_answer(const void *job, int out);

/* Answers QUERY_LABELS, and QUERY_BUILDS of some labels. In list_job.c. */
enum answer job_list(const void *job, int out);

/*
 * Answers QUERY_RANGES: hot ranges, and how many events of each window are in
 * them. In range_job.c.
 */
enum answer job_ranges(const void *job, int out);

/*
 * Merges what the job has, as far as the labels of the question choose it. If
 * the result @replaces the parts, only damaged ones may be left out. The caller
 * frees *@merge, also after a failure. Returns 0 or a negative errno, with a
 * sentence in @message unless that stays empty.
 */
struct merge;
int job_merged(struct merge **merge, const struct job *job, bool replaces,
	       char message[JOB_MESSAGE]);

#endif /* HWPROFD_JOBS_H */
