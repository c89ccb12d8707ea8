// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a recording. The reader must end, with loops or with an error
 * message. Objects are not opened, since their names could be any file of this
 * machine.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hwprof.h"

static FILE *sink;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	sink = fopen("/dev/null", "w");
	return sink ? 0 : 1;
}

static int see(void *context, const struct hwprof_sample *sample)
{
	const struct hwprof_row_branches *branches;
	uint64_t *sum = context;
	uint32_t i;

	if (!sample->row)
		return 0;
	*sum += ((const uint8_t *)sample->row)[sample->row->size - 1];
	if (sample->row->type != HWPROF_ROW_BRANCHES)
		return 0;
	branches = (const void *)sample->row;
	for (i = 0; i < branches->count; i++)
		*sum += branches->branches[i].to;
	return 0;
}

static int open_bytes(struct hwprof_file **file, const uint8_t *bytes,
		      size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	lseek(fd, 0, SEEK_SET);
	return hwprof_file_open_fd(file, fd, "fuzz");
}

static void need_sentence(int error, const struct hwprof_file *file)
{
	if (error && !*hwprof_file_error(file))
		abort();
}

/* Opens the same recording twice, to read both as one. */
static int open_both(struct hwprof_file *files[2], const uint8_t *bytes,
		     size_t size)
{
	int error = open_bytes(&files[0], bytes, size);

	return error ? error : open_bytes(&files[1], bytes, size);
}

static void close_both(struct hwprof_file *files[2], int error)
{
	/* Both files have the same error; the first one reports it. */
	need_sentence(error, files[0]);
	hwprof_file_close(files[0]);
	if (files[1])
		hwprof_file_close(files[1]);
}

static void see_changes(const struct hwprof_diff *diff)
{
	size_t i;

	for (i = 0; i < hwprof_diff_count(diff); i++) {
		const struct hwprof_change *change = hwprof_diff_get(diff, i);

		if (change->share || change->before == HWPROF_NOTHING)
			abort();
	}
}

/* Compares a profile with itself. */
static void see_diff(struct hwprof_diff *diff)
{
	see_changes(diff);
	if (hwprof_diff_procedures(diff))
		see_changes(hwprof_diff_procedures(diff));
	if (hwprof_diff_json(diff, 0, sink))
		abort();
	hwprof_diff_free(diff);
}

static void read_kind(const uint8_t *bytes, size_t size, enum hwprof_kind kind,
		      unsigned int flags)
{
	const struct hwprof_options options = {
		.flags = flags | HWPROF_NO_OBJECTS,
	};
	struct hwprof_file *files[2] = { NULL };
	struct hwprof_profile *profile = NULL;
	struct hwprof_diff *diff;
	int error = open_both(files, bytes, size);

	if (!error)
		error = hwprof_profile_read(&profile, kind, files, 2, &options);
	close_both(files, error);
	if (!profile)
		return;
	if (hwprof_profile_json(profile, NULL, sink) ||
	    hwprof_profile_diff(&diff, profile, profile))
		abort();
	if (kind == HWPROF_KIND_CCT && hwprof_contexts_folded(profile, sink))
		abort();
	see_diff(diff);
	hwprof_profile_free(profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct hwprof_file *file;
	unsigned int flags;
	uint64_t sum = 0;
	int error, kind;

	error = open_bytes(&file, bytes, size);
	if (!error)
		error = hwprof_file_samples(file, see, &sum);
	need_sentence(error, file);
	hwprof_file_close(file);

	flags = sum & (HWPROF_PER_PROCESS | HWPROF_MERGE_SITES);
	for (kind = 0; kind < HWPROF_KINDS; kind++)
		read_kind(bytes, size, kind, flags);
	return 0;
}
