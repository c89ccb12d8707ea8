// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "page.h"
#include "tools/html_data.h"

/* One of the two recordings of a comparison, or the only one. */
struct side {
	char name[PAGE_NAME];
	int fd;				/* the recording */
};

struct making {
	const struct job *job;
	struct side sides[2];		/* before and after; or the only one */
	size_t count;
	struct html_options html;
	unsigned int had;		/* kinds: bits 1 << enum hwprof_kind */
	char message[JOB_MESSAGE];
};

/* Makes the recording of @parts, which is the next side. */
static int add_side(struct making *making, const struct parts *parts,
		    int64_t from, int64_t to, const char *build_id)
{
	struct side *side = &making->sides[making->count];

	page_name(side->name, from, to, build_id);
	side->fd = job_recording(parts, &making->job->query, making->message);
	if (side->fd == -ENODATA)
		snprintf(making->message, sizeof(making->message),
			 "nothing was collected of that from %s", side->name);
	if (side->fd < 0)
		return side->fd;
	making->count++;
	return 0;
}

static int add_sides(struct making *making)
{
	const struct query *query = &making->job->query;
	int error = 0;

	if (query->diff)
		error = add_side(making, &making->job->before,
				 query->before_from, query->before_to,
				 query->before_build_id);
	return error ? error : add_side(making, &making->job->parts,
					query->from, query->to,
					query->build_id);
}

/*
 * Reads a profile of one kind. A recording is read once after each opening.
 * Returns 0; -ENOENT or -EOPNOTSUPP if it has none; or another negative errno.
 */
static int read_kind(struct making *making, const struct side *side,
		     enum hwprof_kind kind, struct hwprof_profile **profile)
{
	const struct hwprof_options options = {
		.flags = HWPROF_TRUSTED_FILES,
		.debuginfo = making->job->symbols,
	};
	int fd = dup(side->fd), error;
	struct hwprof_file *file;

	if (fd < 0 || lseek(fd, 0, SEEK_SET)) {
		error = -errno;
		if (fd >= 0)
			close(fd);
		return error;
	}
	error = hwprof_file_open_fd(&file, fd, side->name);
	if (!error)
		error = hwprof_profile_read(profile, kind, &file, 1,
					    &options);
	if (error)
		snprintf(making->message, sizeof(making->message), "%s",
			 hwprof_file_error(file));
	hwprof_file_close(file);
	return error;
}

/* Adds the data of one kind, if all sides have it. */
static int add_kind(struct making *making, enum hwprof_kind kind, FILE *out)
{
	struct hwprof_profile *profiles[2] = { NULL, NULL };
	int error = 0;
	size_t i;

	for (i = 0; i < making->count && !error; i++)
		error = read_kind(making, &making->sides[i], kind,
				  &profiles[i]);
	if (!error)
		error = html_data_put(&making->html, profiles[0], profiles[1],
				      out);
	if (!error)
		making->had |= 1U << kind;
	hwprof_profile_free(profiles[0]);
	hwprof_profile_free(profiles[1]);
	return error == -ENOENT || error == -EOPNOTSUPP ? 0 : error;
}

static int add_data(struct making *making, FILE *out)
{
	const char *names[2] = { making->sides[0].name, making->sides[1].name };
	int wanted = making->job->query.kind, kind, error = 0;

	for (kind = 0; kind < HWPROF_KINDS && !error; kind++)
		if (wanted < 0 || kind == wanted)
			error = add_kind(making, kind, out);
	if (!error && !making->had) {
		snprintf(making->message, sizeof(making->message),
			 "nothing was collected of that in %s",
			 making->html.diff ? "both times" : "this time");
		error = -ENODATA;
	}
	return error ? error : html_about_put(&making->html, names,
					      making->count, making->had, out);
}

static int make_data(struct making *making, int fd)
{
	FILE *out = fdopen(fd, "w");
	int error = out ? add_sides(making) : -ENOMEM;

	if (!error)
		error = add_data(making, out);
	if (!error && (fflush(out) || ferror(out)))
		error = -EIO;
	return error;
}

enum answer job_page(const void *context, int out)
{
	const struct job *job = context;
	struct making making = {
		.job = job,
		.html = {
			.limit = job->query.limit,
			.limit_name = "limit=N in the address",
			.no_source = true, .diff = job->query.diff,
		},
	};
	int error = make_data(&making, out);
	size_t i;

	for (i = 0; i < making.count; i++)
		close(making.sides[i].fd);
	if (!error)
		return ANSWER_OK;
	return worker_fail(out, error == -ENODATA ? ANSWER_NOTHING :
			   ANSWER_FAILED, "%s", *making.message ?
			   making.message : strerror(-error));
}
