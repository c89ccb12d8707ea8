// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "wholes.h"

enum { WHOLE_MAX = 120 };	/* recordings that are added up */

static size_t count_wholes(const struct part *parts, size_t count)
{
	size_t wholes = 0, i;

	for (i = 0; i < count; i++)
		wholes += part_kind_is_whole(parts[i].head.kind);
	return wholes;
}

/* Opens the recordings. One that cannot be read is left out. */
static void open_files(struct wholes *wholes, const struct part *parts,
		       size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		struct hwprof_file **file = &wholes->files[wholes->count];
		int fd = part_kind_is_whole(parts[i].head.kind) ?
			 part_unpack(&parts[i]) : -1;

		if (fd < 0)
			continue;
		if (hwprof_file_open_fd(file, fd, "the store"))
			hwprof_file_close(*file);
		else
			wholes->count++;
	}
}

static enum answer fail(char message[WORKER_MESSAGE], enum answer answer,
			const char *sentence)
{
	snprintf(message, WORKER_MESSAGE, "%s", sentence);
	return answer;
}

static enum answer read_profile(struct wholes *wholes, enum hwprof_kind kind,
				const struct hwprof_options *options,
				char message[WORKER_MESSAGE])
{
	struct hwprof_file **files = wholes->files;
	size_t i = 0;

	if (!hwprof_profile_read(&wholes->profile, kind, files, wholes->count,
				 options))
		return ANSWER_OK;
	while (i + 1 < wholes->count && !*hwprof_file_error(files[i]))
		i++;
	return fail(message, ANSWER_FAILED, hwprof_file_error(files[i]));
}

enum answer wholes_read(struct wholes *wholes, const struct part *parts,
			size_t count, enum hwprof_kind kind,
			const struct hwprof_options *options,
			char message[WORKER_MESSAGE])
{
	size_t recordings = count_wholes(parts, count);

	*wholes = (struct wholes){ .count = 0 };
	if (recordings > WHOLE_MAX) {
		snprintf(message, WORKER_MESSAGE,
			 "there are more than %d recordings of that in this time: ask for less time",
			 WHOLE_MAX);
		return ANSWER_WRONG;
	}
	wholes->files = calloc(recordings + 1, sizeof(*wholes->files));
	if (!wholes->files)
		return fail(message, ANSWER_FAILED, "out of memory");
	open_files(wholes, parts, count);
	if (wholes->count)
		return read_profile(wholes, kind, options, message);
	return fail(message, ANSWER_NOTHING,
		    "nothing was collected of that in this time");
}

void wholes_free(struct wholes *wholes)
{
	size_t i;

	hwprof_profile_free(wholes->profile);
	for (i = 0; i < wholes->count; i++)
		hwprof_file_close(wholes->files[i]);
	free(wholes->files);
}
