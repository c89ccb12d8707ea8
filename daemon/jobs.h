/* SPDX-License-Identifier: GPL-2.0-only */
/* Work for workers (worker.h): merging recordings, and answering questions. */
#ifndef HWPROFD_JOBS_H
#define HWPROFD_JOBS_H

#include "parts.h"
#include "push_body.h"
#include "query.h"
#include "worker.h"

/**
 * struct job - What a worker works on
 * @parts: parts of windows.
 * @recording: true if the descriptor that is kept for the worker is a recording
 *	to merge, instead of @parts.
 * @query: for job_answer().
 * @symbols: folder with files by build id; NULL: none.
 * @push: for job_answer(), which then writes the body of a request instead of a
 *	response; NULL otherwise.
 */
struct job {
	struct parts parts;
	bool recording;
	struct query query;
	const char *symbols;
	const struct push_body *push;
};

/* Merges, and writes a stream of parts: see parts_read(). */
enum answer job_merge(const void *job, int out);

/* Answers a question of profiles: writes the body of the response. */
enum answer job_answer(const void *job, int out);

#endif /* HWPROFD_JOBS_H */
