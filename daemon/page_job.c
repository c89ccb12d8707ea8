// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "page.h"
#include "tools/html_data.h"

enum { NAME = 160 };

/* One of the two recordings of a comparison, or the only one. */
struct side {
	char name[NAME];
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

/* Writes "2026-11-26 20:51:00 to 20:52:00 UTC, build 77b4". */
static void name_side(char name[NAME], int64_t from, int64_t to,
		      const char *build_id)
{
	time_t times[2] = { from, to };
	char first[64] = "?", last[64] = "?";
	struct tm begin, end;

	if (gmtime_r(&times[0], &begin) && gmtime_r(&times[1], &end)) {
		bool same = begin.tm_yday == end.tm_yday &&
			    begin.tm_year == end.tm_year;

		strftime(first, sizeof(first), "%Y-%m-%d %H:%M:%S", &begin);
		strftime(last, sizeof(last), same ? "%H:%M:%S" :
			 "%Y-%m-%d %H:%M:%S", &end);
	}
	snprintf(name, NAME, "%s to %s UTC%s%s", first, last,
		 *build_id ? ", build " : "", build_id);
}

/* Makes the recording of @parts, which is the next side. */
static int add_side(struct making *making, const struct parts *parts,
		    int64_t from, int64_t to, const char *build_id)
{
	struct side *side = &making->sides[making->count];

	name_side(side->name, from, to, build_id);
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

static int write_page(struct making *making, const char *data, int fd)
{
	const char *after = making->html.diff ? making->sides[1].name : "";
	char title[2 * NAME + 32];
	FILE *out = fdopen(fd, "w");

	if (!out)
		return -errno;
	snprintf(title, sizeof(title), "hwprof: %s%s%s", making->sides[0].name,
		 *after ? " \u2192 " : "", after);
	html_page_put(making->job->page, title, data, out);
	return fflush(out) || ferror(out) ? -EIO : 0;
}

static int make_page(struct making *making, int fd)
{
	char *data = NULL;
	size_t size;
	FILE *out = open_memstream(&data, &size);
	int error = out ? add_sides(making) : -ENOMEM;

	if (!error)
		error = add_data(making, out);
	if (out && fclose(out) && !error)
		error = -ENOMEM;
	if (!error)
		error = write_page(making, data, fd);
	free(data);
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
	int error = make_page(&making, out);
	size_t i;

	for (i = 0; i < making.count; i++)
		close(making.sides[i].fd);
	if (!error)
		return ANSWER_OK;
	return worker_fail(out, error == -ENODATA ? ANSWER_NOTHING :
			   ANSWER_FAILED, "%s", *making.message ?
			   making.message : strerror(-error));
}
