// SPDX-License-Identifier: GPL-2.0-only
/* Opens the files of a report, makes its profiles, and prints them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "command.h"
#include "remote.h"
#include "report.h"

enum { OTHER_FILES = 256 };	/* objects and other open files, roughly */

/*
 * Raises the limit of open files, because all files are open at the same time,
 * beside the objects. If that is not enough, opening the next file fails with a
 * message.
 */
static void allow_files(size_t count)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) ||
	    limit.rlim_cur >= count + OTHER_FILES)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int read_profile(const struct report *report,
			const struct report_kind *kind,
			struct hwprof_profile **profile,
			struct hwprof_file *const *files, size_t count)
{
	const struct hwprof_options options = {
		.flags = report->flags | report->of,
		.hot = report->hot,
		.symfs = report->symfs,
		.debuginfo = report->debuginfo,
		.function = report->function,
	};
	int error;

	if (!report->replay)
		return hwprof_profile_read(profile, kind->kind, files, count,
					   &options);
	error = hwprof_profile_replay_all(profile, kind->kind, files, count,
					  &options, report->replay);
	/* Clear the line of progress. */
	if (report->replay->progress)
		fputs("\r\033[K", stderr);
	return error;
}

/* The file that failed has the message. */
int report_read(const struct report *report, const struct report_kind *kind,
		size_t first, size_t count, struct hwprof_profile **profile,
		bool *nothing)
{
	struct hwprof_file **files = calloc(count, sizeof(*files));
	size_t opened = 0, i;
	int error = 0;

	if (!files)
		return failed("out of memory");
	allow_files(count);
	while (opened < count && !error) {
		error = remote_file_open(&files[opened],
					 report->files[first + opened]);
		opened++;
	}
	if (!error)
		error = read_profile(report, kind, profile, files, count);
	if (nothing && (error == -ENOENT || error == -EOPNOTSUPP) &&
	    opened == count) {
		*nothing = true;
		error = 0;
	}
	for (i = 0; i < opened; i++) {
		if (error && *hwprof_file_error(files[i]))
			failed("%s", hwprof_file_error(files[i]));
		hwprof_file_close(files[i]);
	}
	free(files);
	return error ? STATUS_FAILED : STATUS_OK;
}

int report_files(const struct report *report, const struct report_kind *kind)
{
	size_t count = report->diff ? 1 : report->file_count;
	struct hwprof_profile *profile = NULL, *after = NULL;
	int status = report_read(report, kind, 0, count, &profile, NULL);

	if (!status && report->diff)
		status = report_read(report, kind, 1, 1, &after, NULL);
	if (!status)
		status = report->diff ?
			 report_diff(report, kind, profile, after) :
			 report_print(report, kind, profile);
	hwprof_profile_free(after);
	hwprof_profile_free(profile);
	return status;
}
